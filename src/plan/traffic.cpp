// SPDX-License-Identifier: Apache-2.0
#include "peal/plan.hpp"
#include "plan/access.hpp"

namespace peal {

Traffic traffic(const Plan& plan) {
    Traffic total;
    const auto is_remote = [&](const Range& range) {
        return !plan::is_tile(range) && range.rank != plan.rank;
    };
    const auto read = [&](const Range& range) {
        total.bytes_read += range.length;
        if (is_remote(range)) total.remote_bytes_read += range.length;
    };
    const auto write = [&](const Range& range) {
        total.bytes_written += range.length;
        if (is_remote(range)) total.remote_bytes_written += range.length;
    };
    for (const Instruction& instruction : plan.instructions) {
        plan::for_each_access(instruction.action, read, write);
        total.notifies += std::holds_alternative<Notify>(instruction.action);
        total.waits += std::holds_alternative<Wait>(instruction.action);
    }
    return total;
}

}  // namespace peal
