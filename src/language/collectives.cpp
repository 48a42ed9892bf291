// SPDX-License-Identifier: Apache-2.0
#include "language/collectives.hpp"

namespace peal::language {
namespace {

std::string_view short_name(const ir::OpSpec& spec) {
    return spec.name.substr(spec.name.rfind('.') + 1);
}

}  // namespace

const ir::OpSpec* collective_named(std::string_view name) {
    for (const ir::OpSpec& spec : ir::all_ops()) {
        if (spec.composite && short_name(spec) == name) return &spec;
    }
    return nullptr;
}

std::vector<std::string_view> collective_names() {
    std::vector<std::string_view> names;
    for (const ir::OpSpec& spec : ir::all_ops()) {
        if (spec.composite) names.push_back(short_name(spec));
    }
    return names;
}

}  // namespace peal::language
