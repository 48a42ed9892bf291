// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "engine/core.hpp"
#include "engine/crew.hpp"
#include "peal/engine.hpp"

namespace peal {

struct InProcessEngine::Impl {
    Impl(int nranks, const EngineOptions& options);

    RunReport run(const std::vector<Plan>& plans,
                  const std::vector<std::vector<Binding>>& bindings);

    // binding.cpp. Throws Error(usage) when plans, bindings and engine do not fit together.
    void check(const std::vector<Plan>& plans,
               const std::vector<std::vector<Binding>>& bindings) const;
    void check_apart(const std::vector<Plan>& plans,
                     const std::vector<std::vector<Binding>>& bindings) const;
    void check_symmetric(const Buffer& buffer, const SymmetricMemory::State& memory) const;
    void bind(const std::vector<Plan>& plans, const std::vector<std::vector<Binding>>& bindings);
    static BoundBuffer bind(const Buffer& buffer, const Binding& binding);

    RunEnd carry_out(const std::vector<Plan>& plans);

    const int nranks;
    const bool threads_are_ours_to_choose;
    std::mutex one_run_at_a_time;
    Crew crew;
    std::optional<std::mt19937_64> random;
    // One entry per rank.
    std::vector<Tape> tapes;
    std::vector<std::vector<BoundBuffer>> bound;
    std::vector<Core> cores;               // one per lane of each rank
    std::optional<SymmetricMemory> tiles;  // tile memory of all ranks, as much as was ever needed
};

}  // namespace peal
