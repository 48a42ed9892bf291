// SPDX-License-Identifier: Apache-2.0
#include "language/scope.hpp"

#include <utility>

#include <fmt/format.h>

namespace peal::language {

std::string_view describe(Entity::Kind kind) {
    switch (kind) {
        case Entity::Kind::memory: return "a memory parameter";
        case Entity::Kind::table: return "a table of integers";
        case Entity::Kind::scalar: return "a scalar parameter";
        case Entity::Kind::symbol: return "a size that a shape names";
        case Entity::Kind::counter: return "a counter";
        case Entity::Kind::value: return "a variable";
        case Entity::Kind::broken: return "not defined";
    }
    return "";
}

void Scope::close() {
    for (const auto& [name, entity] : blocks_.back()) ended_[name] = entity.span;
    blocks_.pop_back();
}

void Scope::define(const std::string& name, Entity entity) {
    blocks_.back()[name] = std::move(entity);
}

Entity* Scope::find(std::string_view name) {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
        const auto it = block->find(name);
        if (it != block->end()) return &it->second;
    }
    return nullptr;
}

std::vector<std::string_view> Scope::visible() const {
    std::vector<std::string_view> names;
    for (const Block& block : blocks_) {
        for (const auto& [name, entity] : block) names.push_back(name);
    }
    return names;
}

std::optional<Span> Scope::ended(std::string_view name) const {
    const auto it = ended_.find(name);
    if (it == ended_.end()) return std::nullopt;
    return it->second;
}

std::string Names::next(const std::string& name) {
    if (used_.insert(name).second) return name;
    int& number = numbers_[name];
    std::string fresh;
    do {
        fresh = fmt::format("{}_{}", name, ++number);
    } while (words_.contains(fresh) || !used_.insert(fresh).second);
    return fresh;
}

}  // namespace peal::language
