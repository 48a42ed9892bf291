// SPDX-License-Identifier: Apache-2.0
// What is behind peal/engine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "engine/core.hpp"
#include "engine/crew.hpp"
#include "peal/engine.hpp"

namespace peal::engine {

// Pages of our own: zeroed, and given back to the system.
struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* pages) const;
};
using Pages = std::unique_ptr<std::byte, Unmap>;

// A random interleaving of the ranks, the same one for the same random numbers: carries out one
// instruction at a time of a rank drawn at random, on this thread.
RunEnd interleave(std::span<Core> cores, std::mt19937_64& random);

}  // namespace peal::engine

namespace peal {

struct SymmetricMemory::State {
    int nranks = 0;
    BufferKind kind = BufferKind::window;
    std::uint64_t bytes = 0;        // per rank
    std::uint64_t rank_stride = 0;  // bytes, rounded up to whole pages
    std::uint64_t cell_stride = 0;  // signals only
    std::int64_t generation = 0;    // signals only
    engine::Pages pages;
};

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
    static engine::BoundBuffer bind(const Buffer& buffer, const Binding& binding);

    engine::RunEnd carry_out(const std::vector<Plan>& plans);

    const int nranks;
    const bool threads_are_ours_to_choose;
    std::mutex one_run_at_a_time;
    engine::Crew crew;
    std::optional<std::mt19937_64> random;
    // One entry per rank.
    std::vector<engine::Tape> tapes;
    std::vector<std::vector<engine::BoundBuffer>> bound;
    std::vector<engine::Core> cores;       // one per lane of each rank
    std::optional<SymmetricMemory> tiles;  // tile memory of all ranks, as much as was ever needed
};

}  // namespace peal
