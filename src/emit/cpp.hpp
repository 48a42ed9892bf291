// SPDX-License-Identifier: Apache-2.0
// Expressions and names of a kernel as C++.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emit/facts.hpp"
#include "emit/trouble.hpp"
#include "peal/ir.hpp"

namespace peal::emit {

std::string_view cpp_type(Element element);

// Min, Max, Log2, FloorDiv and FloorMod in it are functions that stand beside the kernel
// (helpers.hpp).
class CppText {
public:
    CppText(const Facts& facts, const Trouble& trouble) : facts_(&facts), trouble_(trouble) {}

    // What is known from here on.
    const Facts& facts() const { return *facts_; }
    void know(const Facts& facts) { facts_ = &facts; }

    std::string expr(const ir::ExprPtr& expr);
    // As part of a larger expression, in parentheses if need be.
    std::string factor(const ir::ExprPtr& expr);       // right of * or /
    std::string term_of_sum(const ir::ExprPtr& expr);  // right of a + whose terms may be regrouped
    std::string comparand(const ir::ExprPtr& expr);    // of <
    // A number for elements of this type.
    std::string number(const ir::ExprPtr& expr, Element element);

    // A name for a variable of the program that begins here: its own, unless C++ or somebody in an
    // open block has that already.
    std::string declare(const std::string& variable);
    std::string name(const std::string& variable);
    // A name that nobody in an open block has.
    std::string fresh(const std::string& hint);

    // Names belong to the innermost open block.
    void open_block() { blocks_.emplace_back(); }
    void close_block();

    // How generation(signal) is written.
    std::string generation(const std::string& signal) const;
    void set_generation(const std::string& signal, const std::string& text) {
        generations_[signal] = text;
    }

private:
    struct Piece {
        std::string text;
        int binding;
    };
    Piece piece(const ir::ExprPtr& expr);
    Piece of_unary(const ir::Unary& node);
    Piece of_binary(const ir::Binary& node);
    Piece of_call(const ir::Call& node);
    Piece of_fold(const ir::Fold& node);
    Piece called(std::string_view function, const ir::Binary& node);
    std::string text(const ir::ExprPtr& expr, int loosest);

    const Facts* facts_;
    const Trouble& trouble_;
    std::vector<std::vector<std::string>> blocks_;
    std::map<std::string, std::string, std::less<>> names_;
    std::set<std::string, std::less<>> taken_;
    std::map<std::string, std::string, std::less<>> generations_;
};

}  // namespace peal::emit
