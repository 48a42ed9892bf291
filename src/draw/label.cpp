// SPDX-License-Identifier: Apache-2.0
#include "draw/label.hpp"

#include "plan/text.hpp"

namespace peal::draw {

std::string short_label(const Instruction& instruction, const Plan& plan, std::int64_t generation) {
    return to_text(instruction, plan, {.brief = true, .generation = generation, .elements = true});
}

}  // namespace peal::draw
