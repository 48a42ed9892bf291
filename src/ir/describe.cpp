// SPDX-License-Identifier: Apache-2.0
#include "ir/describe.hpp"

#include <fmt/format.h>

namespace peal::ir {

std::string describe(const Type& type) {
    switch (type.kind) {
        case Type::Kind::none: return "nothing";
        case Type::Kind::boolean: return "a condition";
        case Type::Kind::scalar: return type.is_integer() ? "an integer" : "a floating scalar";
        case Type::Kind::table: return "a table of integers";
        case Type::Kind::tile: return fmt::format("a tile of {}", name(type.element));
        case Type::Kind::tensor: return fmt::format("a tensor of {}", name(type.element));
        case Type::Kind::window: return fmt::format("a window of {}", name(type.element));
        case Type::Kind::context: return "a communication context";
    }
    return "";
}

}  // namespace peal::ir
