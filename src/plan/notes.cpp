// SPDX-License-Identifier: Apache-2.0
#include "plan/notes.hpp"

#include <fmt/format.h>

#include "plan/titles.hpp"

namespace peal::plan {
namespace {

const PlanNotes::Round& round_at(const Plan& plan, std::uint32_t round) {
    return plan.notes->rounds[round - 1];
}

// From the outermost loop on.
std::string rounds_text(const Plan& plan, std::uint32_t round) {
    std::string text;
    for (; round != 0; round = round_at(plan, round).around) {
        const PlanNotes::Round& here = round_at(plan, round);
        text = fmt::format("{}={}{}{}", plan.notes->names[here.name], here.value,
                           text.empty() ? "" : " ", text);
    }
    return text;
}

// Elements of one row of dimension `depth`.
std::uint64_t row_size(const std::vector<std::uint64_t>& shape, std::size_t depth) {
    std::uint64_t size = 1;
    for (std::size_t i = depth + 1; i < shape.size(); ++i) size *= shape[i];
    return size;
}

}  // namespace

const std::vector<std::uint64_t>* shape_of(const Plan& plan, std::uint16_t buffer) {
    if (!plan.notes || buffer >= plan.notes->shapes.size()) return nullptr;
    const std::vector<std::uint64_t>& shape = plan.notes->shapes[buffer];
    return shape.empty() ? nullptr : &shape;
}

std::string index_text(const std::vector<std::uint64_t>& shape, std::uint64_t index) {
    std::string text;
    for (std::size_t depth = 0; depth < shape.size(); ++depth) {
        const std::uint64_t row = row_size(shape, depth);
        text += fmt::format("[{}]", row == 0 ? 0 : index / row);
        if (row != 0) index %= row;
    }
    return text;
}

std::optional<std::string> element_text(const std::vector<std::uint64_t>& shape, Element element,
                                        std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t size = bytes_of(element);
    if (shape.empty() || offset % size != 0 || length % size != 0) return std::nullopt;
    const std::uint64_t first = offset / size;
    const std::uint64_t count = length / size;
    std::string text;
    std::uint64_t begin = first;
    for (std::size_t depth = 0; depth + 1 < shape.size(); ++depth) {
        const std::uint64_t row = row_size(shape, depth);
        if (row == 0) return std::nullopt;
        if (begin % row + count > row) {
            if (begin % row == 0 && count % row == 0) {
                return text + fmt::format("[{};{}]", begin / row, count / row);
            }
            return index_text(shape, first) + ".." + index_text(shape, first + count - 1);
        }
        text += fmt::format("[{}]", begin / row);
        begin %= row;
    }
    return text + fmt::format("[{};{}]", begin, count);
}

PlanNotes::SourcePlace place_of(const Instruction& instruction, const Plan& plan,
                                std::int32_t range) {
    if (range < 0 || instruction.origins == 0 || !plan.notes) {
        return {instruction.line, instruction.round};
    }
    return plan.notes->origins[instruction.origins - 1][static_cast<std::size_t>(range)];
}

std::string place_text(const Instruction& instruction, const Plan& plan, std::int32_t range) {
    const auto [line, round] = place_of(instruction, plan, range);
    std::string text = source_place(line, plan);
    if (text.empty() || round == 0 || !plan.notes) return text;
    return text + ", " + rounds_text(plan, round);
}

// A round is made after the one around it.
std::uint32_t common_round(const Plan& plan, std::uint32_t a, std::uint32_t b) {
    while (a != b) (a > b ? a : b) = round_at(plan, a > b ? a : b).around;
    return a;
}

}  // namespace peal::plan
