// SPDX-License-Identifier: Apache-2.0
// Equality, hashing and dumping, from the fields of each node.
#include <bit>
#include <functional>

#include <fmt/format.h>

#include "ir/fields.hpp"

namespace peal::ir {
namespace {

template <class T>
bool same(const T& a, const T& b) {
    if constexpr (kIsNodePtr<T>) {
        if (a == b) return true;
        if (!a || !b || a->kind != b->kind) return false;
        return dispatch(*a, [&](const auto& node) {
            using Node = std::remove_cvref_t<decltype(node)>;
            return same(node, static_cast<const Node&>(*b));
        });
    } else if constexpr (kIsVector<T>) {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (!same(a[i], b[i])) return false;
        }
        return true;
    } else if constexpr (HasFields<T>) {
        return std::apply(
            [&](const auto&... field) { return (same(a.*field.member, b.*field.member) && ...); },
            T::fields());
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    } else {
        return a == b;
    }
}

struct Hasher {
    std::size_t state = 0x9e3779b97f4a7c15ULL;

    void mix(std::size_t value) { state = (std::rotl(state, 5) ^ value) * 0x517cc1b727220a95ULL; }

    template <class T>
    void add(const T& value) {
        if constexpr (kIsNodePtr<T>) {
            if (!value) return mix(0);
            mix(static_cast<std::size_t>(value->kind) + 1);
            dispatch(*value, [&](const auto& node) { add(node); });
        } else if constexpr (kIsVector<T>) {
            mix(value.size());
            for (const auto& item : value) add(item);
        } else if constexpr (HasFields<T>) {
            for_each_field(value, [&](std::string_view, const auto& member) { add(member); });
        } else if constexpr (std::is_same_v<T, Attribute>) {
            add(value.name);
            std::visit([&](const auto& v) { add(v); }, value.value);
        } else if constexpr (std::is_same_v<T, double>) {
            mix(std::bit_cast<std::uint64_t>(value));
        } else if constexpr (std::is_enum_v<T>) {
            mix(static_cast<std::size_t>(value));
        } else {
            mix(std::hash<T>{}(value));
        }
    }
};

struct Dumper {
    std::string text;

    template <class T>
    void add(std::string_view label, const T& value, int depth) {
        if constexpr (kIsNodePtr<T>) {
            if (!value) return line(label, "-", depth);
            dispatch(*value, [&](const auto& node) { add(label, node, depth); });
        } else if constexpr (kIsVector<T>) {
            line(label, fmt::format("[{}]", value.size()), depth);
            for (const auto& item : value) add("-", item, depth + 1);
        } else if constexpr (HasFields<T>) {
            line(label, "", depth);
            for_each_field(value, [&](std::string_view field, const auto& member) {
                add(field, member, depth + 1);
            });
        } else if constexpr (std::is_same_v<T, Attribute>) {
            std::visit([&](const auto& v) { add(value.name, v, depth); }, value.value);
        } else if constexpr (std::is_enum_v<T>) {
            line(label, fmt::format("{}", static_cast<int>(value)), depth);
        } else {
            line(label, fmt::format("{}", value), depth);
        }
    }

    void line(std::string_view label, std::string_view value, int depth) {
        text += fmt::format("{:{}}{}: {}\n", "", depth * 2, label, value);
    }
};

template <class T>
std::size_t hash_of(const T& value) {
    Hasher hasher;
    hasher.add(value);
    return hasher.state;
}

template <class T>
std::string dump_of(std::string_view label, const T& value) {
    Dumper dumper;
    dumper.add(label, value, 0);
    return dumper.text;
}

}  // namespace

bool equal(const ExprPtr& a, const ExprPtr& b) { return same(a, b); }
bool equal(const Type& a, const Type& b) { return same(a, b); }
bool equal(const Kernel& a, const Kernel& b) { return same(a, b); }
bool equal(const Program& a, const Program& b) { return same(a, b); }
std::size_t hash(const Kernel& kernel) { return hash_of(kernel); }
std::size_t hash(const Program& program) { return hash_of(program); }
std::string dump(const Kernel& kernel) { return dump_of("kernel", kernel); }
std::string dump(const Program& program) { return dump_of("program", program); }

}  // namespace peal::ir
