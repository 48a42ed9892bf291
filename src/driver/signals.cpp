// SPDX-License-Identifier: Apache-2.0
// Which words of windows are signals, and that they are zero when a run begins.
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "driver/unit.hpp"
#include "peal/error.hpp"

namespace peal::driver {
namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::int32_t);

const Cell* cell_of(const Instruction& instruction) {
    if (const auto* notify = std::get_if<Notify>(&instruction.action)) return &notify->cell;
    if (const auto* wait = std::get_if<Wait>(&instruction.action)) return &wait->cell;
    return nullptr;
}

}  // namespace

std::vector<SignalWord> signals_of(const std::vector<PreparedStage>& stages) {
    std::set<SignalWord> words;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        for (const Plan& plan : stages[s].plans) {
            for (const Instruction& instruction : plan.instructions) {
                const Cell* cell = cell_of(instruction);
                if (cell) words.insert({s, cell->buffer, cell->rank, cell->index});
            }
        }
    }
    return {words.begin(), words.end()};
}

void expect_zeroed(const std::vector<Stage>& stages, const Unit& unit) {
    for (const SignalWord& signal : unit.signals) {
        const LiveDomain* domain =
            domain_of(stages[signal.stage], unit.stages[signal.stage], signal.buffer);
        const Tensor window = domain->domain.view(AddressBook::kWindow, signal.chip);
        const std::uint64_t begin = signal.word * kWordBytes;
        std::int32_t found = 0;
        std::memcpy(&found, window.data() + begin, kWordBytes);
        if (found == 0) continue;
        throw Error(Fault::usage,
                    fmt::format("{}: bytes [{}..{}) of chip {}'s window are a signal and hold {}: "
                                "a proof begins with signals that are zero; copy data only",
                                unit.name, begin, begin + kWordBytes, signal.chip, found));
    }
}

}  // namespace peal::driver
