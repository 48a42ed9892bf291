// SPDX-License-Identifier: Apache-2.0
// The in-process engine: all ranks in one process, on the cores there are. A rank that has to wait
// is set aside and resumed, so no thread ever blocks for a rank and a plan of 64 ranks runs on two
// cores, or on one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal {

struct EngineOptions {
    int threads = 0;  // 0: one per core, at most one per rank
    // With a seed, one thread carries out one instruction at a time of a rank drawn at random: a
    // random interleaving, the same one for the same seed.
    std::optional<std::uint64_t> seed;
};

// Symmetric memory: the same number of bytes on every rank, zeroed, each rank's part aligned to a
// page. Signal memory also remembers its generation. It lives across calls.
class SymmetricMemory {
public:
    static SymmetricMemory window(int nranks, std::uint64_t bytes);
    static SymmetricMemory signal(int nranks, std::uint64_t cells,
                                  std::uint64_t cell_stride = kCacheLineBytes);
    SymmetricMemory(SymmetricMemory&&) noexcept;
    SymmetricMemory& operator=(SymmetricMemory&&) noexcept;
    ~SymmetricMemory();

    int nranks() const;
    BufferKind kind() const;
    std::uint64_t bytes() const;  // per rank
    std::byte* on(int rank) const;
    std::int64_t generation() const;

private:
    friend class InProcessEngine;
    struct State;
    explicit SymmetricMemory(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// What a plan's buffer is bound to on one rank: private memory or symmetric memory.
struct Binding {
    std::span<std::byte> argument;
    SymmetricMemory* symmetric = nullptr;
};

struct RunReport {
    double seconds = 0;
    std::uint64_t instructions = 0;  // of all ranks
};

class InProcessEngine {
public:
    explicit InProcessEngine(int nranks, EngineOptions options = {});
    ~InProcessEngine();

    // Carries out plans[r] on rank r, once, with bindings[r][b] for buffer b. The plans must be
    // valid (peal/plan.hpp); sizes and kinds of bindings are checked: Error(usage).
    //
    // When no rank can go on, throws Error(wrong) at once; the report names for each rank its
    // instruction, source line, signal, the value seen and expected, and the peer that should have
    // rung and where that peer stands. Windows are then in an undefined state.
    RunReport run(const std::vector<Plan>& plans,
                  const std::vector<std::vector<Binding>>& bindings);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace peal
