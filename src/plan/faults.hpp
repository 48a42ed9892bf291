// SPDX-License-Identifier: Apache-2.0
// What makes a plan invalid: the one definition. `validate` (peal/plan.hpp) throws the first fault,
// the checker reports or rejects in the same words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

struct PlanFault {
    enum class Kind : std::uint8_t {
        plan,          // rank, number of buffers, 'advance', lanes, turns
        buffer,        // sizes, cells, generation of one buffer
        agreement,     // a rank says otherwise than rank 0, or stands at another's place
        instruction,   // sizes, types, pipes or values that no run could give a meaning to
        input_write,   // over an argument that is only read
        tile_overlap,  // tiles of one instruction overlap
        out_of_range,  // ranks, bytes or cells that do not exist
    };
    Kind kind = Kind::plan;
    std::size_t place = 0;                   // of the plan, among those of all ranks
    std::optional<std::size_t> instruction;  // its index
    std::optional<std::size_t> buffer;       // its index
    std::string memory;                      // "data@2[0..64)", "sig[3]@1"; may be empty
    std::string where;                       // the plan, and its instruction or buffer
    std::string message;                     // what is wrong there
};

// "plan ring, rank 1 of 4, instruction 7 (ring.peal:12), copy out[0..8) <- inp[0..4): ..."
std::string to_text(const PlanFault& fault);

// In the order of the plan, at most one for each buffer and each instruction. Instructions are
// looked at only where there is nothing wrong with the buffers.
std::vector<PlanFault> faults_of(const Plan& plan);

// The same for each rank, and what it and rank 0 disagree on. Instructions are looked at only where
// they agree.
std::vector<PlanFault> faults_of(const std::vector<Plan>& plans);

// The part of it that only all ranks together can get wrong. Each plan is valid, plans[r].rank is r
// and there is one for each rank.
std::vector<PlanFault> disagreements_of(const std::vector<Plan>& plans);

// What is wrong with one instruction of a plan whose buffers are valid and that takes no turns.
std::optional<PlanFault> fault_of_instruction(const Plan& plan, std::size_t index);

// Whether its ranges move by shifts that there are.
std::optional<PlanFault> fault_of_shifts(const Plan& plan, std::size_t index);

}  // namespace peal::plan
