// SPDX-License-Identifier: Apache-2.0
// What the names of a kernel mean at one point of its text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "peal/ir.hpp"
#include "peal/source.hpp"

namespace peal::language {

struct Entity {
    enum class Kind : std::uint8_t {
        memory,   // a tensor or window parameter
        table,    // a table parameter
        scalar,   // a scalar parameter
        symbol,   // a name in a shape
        counter,  // of a loop or a fold
        value,    // a variable; the text may assign it again
        broken,   // its definition has an error, which was reported
    };
    Kind kind = Kind::broken;
    ir::VarPtr var;  // for a value: what it is bound to now
    Span span;
};

std::string_view describe(Entity::Kind kind);  // "a loop counter"

// Blocks inside each other. A name is visible from its definition to the end of its block, and no
// inner block may hide it.
class Scope {
public:
    Scope() : blocks_(1) {}

    void open() { blocks_.emplace_back(); }
    void close();

    void define(const std::string& name, Entity entity);
    Entity* find(std::string_view name);  // null: not visible

    std::vector<std::string_view> visible() const;
    // Where a name was defined that is not visible any more.
    std::optional<Span> ended(std::string_view name) const;

private:
    using Block = std::map<std::string, Entity, std::less<>>;
    std::vector<Block> blocks_;
    std::map<std::string, Span, std::less<>> ended_;
};

// The names of IR variables: the first definition of a source name keeps it, later ones get a
// number that no word of the kernel has.
class Names {
public:
    // `words` must outlive the names.
    explicit Names(const std::set<std::string>& words) : words_(words) {}
    std::string next(const std::string& name);

private:
    const std::set<std::string>& words_;
    std::set<std::string> used_;
    std::map<std::string, int> numbers_;  // the last number given to a name
};

}  // namespace peal::language
