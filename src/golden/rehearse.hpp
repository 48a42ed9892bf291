// SPDX-License-Identifier: Apache-2.0
// Running plans in process with known inputs and comparing what comes out.
#pragma once

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
    std::uint64_t bytes(int rank, std::size_t buffer) const;
    int nranks() const { return static_cast<int>(arguments_.size()); }
    const std::vector<std::vector<Binding>>& bindings() const { return bindings_; }

private:
    std::vector<std::unique_ptr<SymmetricMemory>> owned_;
    std::vector<SymmetricMemory*> symmetric_;    // by buffer; null for arguments
    std::vector<std::vector<Bytes>> arguments_;  // by rank, then buffer
    std::vector<std::vector<Binding>> bindings_;
};

// One call after another: puts known inputs in at the ports, and compares what comes out.
class Rehearsal {
public:
    Rehearsal(Stage& stage, const Collective& collective, const Ports& ports);

    void put_inputs(int call);
    // The first difference from golden, if there is one.
    std::optional<std::string> check_outputs(int call);

private:
    std::byte* at(int rank, std::size_t buffer, const Region& region);

    Stage& stage_;
    Collective collective_;
    Ports ports_;
    std::vector<Bytes> inputs_;
};

struct Outcome {
    std::optional<std::string> wrong;  // the first difference from golden
    double seconds = 0;                // of the fastest call
};

// Carries out the plans `calls` times in a row on the same windows, with other inputs each time,
// and compares each result with the collective's meaning.
Outcome rehearse(const std::vector<Plan>& plans, const Collective& collective, const Ports& ports,
                 int calls, const EngineOptions& options);

// The same for a built-in collective, compiled here.
Outcome rehearse(const Collective& collective, int nranks, int calls, const EngineOptions& options);

}  // namespace peal::golden
