// SPDX-License-Identifier: Apache-2.0
// Runs with known inputs, and what comes out compared: rank by rank, whoever carries out the plans,
// and all ranks in process.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "golden/golden.hpp"
#include "peal/check.hpp"
#include "peal/engine.hpp"

namespace peal::golden {

// The memory of all ranks for one set of plans: private buffers, and windows that live across
// calls. Windows and signals are those given by name in `shared`, or made here.
class Stage {
public:
    using Shared = std::map<std::string, SymmetricMemory*, std::less<>>;
    explicit Stage(const std::vector<Plan>& plans, const Shared& shared = {});

    // Buffer b of `rank`, as memory.
    std::byte* memory(int rank, std::size_t buffer);
    int nranks() const { return static_cast<int>(arguments_.size()); }
    const std::vector<std::vector<Binding>>& bindings() const { return bindings_; }

private:
    std::vector<std::unique_ptr<SymmetricMemory>> owned_;
    std::vector<SymmetricMemory*> symmetric_;    // by buffer; null for arguments
    std::vector<std::vector<Bytes>> arguments_;  // by rank, then buffer
    std::vector<std::vector<Binding>> bindings_;
};

// The own part of a rank's buffer b.
using RankMemory = std::function<std::byte*(std::size_t b)>;

// What is done around the calls of a run, rank by rank.
struct RankWork {
    int calls = 1;
    std::chrono::milliseconds timeout{0};
    // Around each call; in processes, in the rank's own. What `after` returns is wrong with the
    // result.
    std::function<void(int rank, int call, const RankMemory& memory)> before;
    std::function<std::optional<std::string>(int rank, int call, const RankMemory& memory)> after;
};

// Puts known inputs in at the ports before each call, other ones each time, and compares what comes
// out with the collective's meaning. Refers to the plans.
RankWork rehearsal_of(const std::vector<Plan>& plans, const Collective& collective,
                      const Ports& ports, int calls);

struct Outcome {
    std::optional<std::string> wrong;  // the first difference from golden
    double seconds = 0;                // of the fastest call
};

// Carries out the plans in process, until something is wrong.
Outcome run(const std::vector<Plan>& plans, Stage& stage, InProcessEngine& engine,
            const RankWork& work);

// A rehearsal of the plans on memory of its own.
Outcome rehearse(const std::vector<Plan>& plans, const Collective& collective, const Ports& ports,
                 int calls, const EngineOptions& options);

// The same for a built-in collective, compiled here.
Outcome rehearse(const Collective& collective, int nranks, int calls, const EngineOptions& options);

}  // namespace peal::golden
