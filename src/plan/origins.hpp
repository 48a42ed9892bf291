// SPDX-License-Identifier: Apache-2.0
// Where each range of an instruction that several were fused into is from. Kept for plans with
// notes, which are those that people read messages about; for others nothing is done.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "plan/notes.hpp"

namespace peal::plan {

class Origins {
public:
    explicit Origins(const Plan& plan) : is_kept_(plan.notes != nullptr) {
        if (is_kept_) lists_ = plan.notes->origins;
    }

    bool is_kept() const { return is_kept_; }

    static PlanNotes::SourcePlace own(const Instruction& instruction) {
        return {instruction.line, instruction.round};
    }

    // Of a range: sources in order, then the destination.
    PlanNotes::SourcePlace at(const Instruction& instruction, std::size_t range) const {
        return instruction.origins == 0 ? own(instruction) : lists_[instruction.origins - 1][range];
    }

    // Those of all ranges of an instruction with so many, which has none afterwards.
    std::vector<PlanNotes::SourcePlace> take(Instruction& instruction, std::size_t ranges) {
        if (instruction.origins == 0) {
            return std::vector<PlanNotes::SourcePlace>(ranges, own(instruction));
        }
        free_.push_back(instruction.origins);
        return std::move(lists_[std::exchange(instruction.origins, 0) - 1]);
    }

    void put(Instruction& instruction, std::vector<PlanNotes::SourcePlace> places) {
        const auto is_own = [&](const PlanNotes::SourcePlace& place) {
            return place == own(instruction);
        };
        if (std::all_of(places.begin(), places.end(), is_own)) {
            instruction.origins = 0;
            return;
        }
        if (instruction.origins == 0 && free_.empty()) {
            lists_.emplace_back();
            free_.push_back(static_cast<std::uint32_t>(lists_.size()));
        }
        if (instruction.origins == 0) {
            instruction.origins = free_.back();
            free_.pop_back();
        }
        is_changed_ = true;
        lists_[instruction.origins - 1] = std::move(places);
    }

    // The plan, whose instructions refer to them, gets them.
    void attach(Plan& plan) && {
        if (!is_changed_) return;
        PlanNotes notes = *plan.notes;
        notes.origins = std::move(lists_);
        plan.notes = std::make_shared<const PlanNotes>(std::move(notes));
    }

private:
    bool is_kept_;
    bool is_changed_ = false;
    std::vector<std::vector<PlanNotes::SourcePlace>> lists_;
    std::vector<std::uint32_t> free_;  // of them
};

}  // namespace peal::plan
