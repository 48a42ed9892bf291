// SPDX-License-Identifier: Apache-2.0
#include "worker/scheduler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"

namespace peal::worker {

void expect_fit_domains(const TaskNode& task) {
    for (const auto& domain : task.domains) {
        if (domain->broken.empty()) continue;
        throw Error(Fault::wrong,
                    fmt::format("the windows of domain '{}' are in an undefined state since a task "
                                "failed in the middle: {}; allocate a new domain",
                                domain->name, domain->broken));
    }
    if (!task.is_group) return;
    for (const SignalUse& use : task.signals) {
        const DomainState::Window& window = use.domain->windows[use.window];
        for (const std::int64_t generation : window.generations) {
            if (generation == window.generations[0]) continue;
            throw Error(Fault::usage,
                        fmt::format("signal '{}' of domain '{}': expected all ranks at the same "
                                    "generation, found {}; tasks of single ranks came before, and "
                                    "not the same number on each",
                                    window.spec.name, use.domain->name,
                                    fmt::join(window.generations, ", ")));
        }
    }
}

}  // namespace peal::worker
