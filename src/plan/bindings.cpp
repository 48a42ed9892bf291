// SPDX-License-Identifier: Apache-2.0
#include "plan/specialise.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"
#include "plan/arithmetic.hpp"

namespace peal::plan {
namespace {

using Names = std::vector<std::string_view>;

// What a kernel needs, in the order of its declaration.
struct Needs {
    Names integers, numbers, tables;
};

Needs needs_of(const ResolvedKernel& kernel) {
    Needs needs;
    for (const auto& symbol : kernel.symbols) needs.integers.push_back(symbol.name);
    for (const Parameter& parameter : kernel.parameters) {
        const ir::Var& var = parameter.var();
        if (var.type.kind == ir::Type::Kind::table) needs.tables.push_back(var.name);
        if (var.type.kind != ir::Type::Kind::scalar) continue;
        (var.type.is_integer() ? needs.integers : needs.numbers).push_back(var.name);
    }
    return needs;
}

template <class Values>
void compare_names(const Names& needed, const Values& given, std::string_view what,
                   std::vector<std::string>& problems) {
    for (const std::string_view name : needed) {
        if (!given.contains(name)) {
            problems.push_back(fmt::format("{} '{}' is missing", what, name));
        }
    }
    for (const auto& [name, value] : given) {
        if (std::find(needed.begin(), needed.end(), name) == needed.end()) {
            problems.push_back(fmt::format("there is no {} '{}'", what, name));
        }
    }
}

void check_scalar_ranges(const ResolvedKernel& kernel, const Bindings& bindings,
                         std::vector<std::string>& problems) {
    for (const Parameter& parameter : kernel.parameters) {
        const ir::Var& var = parameter.var();
        const auto it = bindings.integers.find(var.name);
        if (it == bindings.integers.end() || fits(it->second, var.type.element)) continue;
        problems.push_back(fmt::format("integer '{}' is {}, which is not a value of {}", it->first,
                                       it->second, name(var.type.element)));
    }
}

std::string list_of(const Needs& needs) {
    std::vector<std::string> parts;
    const auto add = [&](std::string_view what, const Names& names) {
        if (!names.empty()) parts.push_back(fmt::format("{} {}", what, fmt::join(names, ", ")));
    };
    add("integers", needs.integers);
    add("numbers", needs.numbers);
    add("tables", needs.tables);
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

void require_bindings(const ResolvedKernel& kernel, const Bindings& bindings) {
    const Needs needs = needs_of(kernel);
    std::vector<std::string> problems;
    compare_names(needs.integers, bindings.integers, "integer", problems);
    compare_names(needs.numbers, bindings.numbers, "number", problems);
    compare_names(needs.tables, bindings.tables, "table", problems);
    check_scalar_ranges(kernel, bindings, problems);
    if (problems.empty()) return;
    throw Error(Fault::usage, fmt::format("kernel {}: {}\nit needs {}", kernel.origin->name,
                                          fmt::join(problems, "; "), list_of(needs)));
}

}  // namespace peal::plan
