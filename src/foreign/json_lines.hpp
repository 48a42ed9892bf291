// SPDX-License-Identifier: Apache-2.0
// JSON whose values know their line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peal/source.hpp"

namespace peal::foreign {

struct JsonField;

class JsonNode {
public:
    enum class Kind : std::uint8_t { nothing, truth, integer, number, text, list, object };

    Kind kind = Kind::nothing;
    std::uint32_t line = 1;
    bool truth = false;
    std::int64_t integer = 0;
    std::string text;
    std::vector<JsonField> fields;  // of an object, in order; of a list without names

    // The field of that name, or null.
    const JsonNode* find(std::string_view name) const;
    const char* kind_name() const;
};

struct JsonField {
    std::string name;
    JsonNode value;
};

// Throws ProgramError at the line where it is no JSON.
JsonNode json_with_lines(const Source& source);

}  // namespace peal::foreign
