// SPDX-License-Identifier: Apache-2.0
// Kernels that a worker has seen: proved if that is wanted, and put where its devices find them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/as_run.hpp"
#include "peal/check.hpp"
#include "peal/worker.hpp"
#include "worker/arena.hpp"
#include "worker/compiled_kernel.hpp"
#include "worker/task_node.hpp"

namespace peal::worker {

// What is behind a ProvedRun. In builds for tests it is written down when the first of its calls is
// submitted, and proved after them; in others there is nothing to keep.
class RunRecord {
public:
    RunRecord(const std::vector<CheckStage>& calls, bool once);

    // Once, however often it is asked for. Safe to call from several threads.
    void write();

private:
    std::optional<checker::CallsHere> calls_;  // if they are to be written down
    const bool once_;
    std::once_flag written_;
};

// How a kernel is called, and what its calls may count on.
struct KernelUse {
    bool together = false;    // all ranks are in one task, so nobody begins before all have ended
                              // the last one
    std::vector<Held> holds;  // windows that hold something when a call begins
    std::shared_ptr<RunRecord> run;  // that whoever submits it has proved; null: none

    bool operator==(const KernelUse&) const = default;
};

class KernelStore {
public:
    KernelStore(std::shared_ptr<const Arena> arena, bool check, std::string platform)
        : arena_(std::move(arena)), check_(check), platform_(std::move(platform)) {}

    // Throws Error(wrong) or Error(bound) if the kernel is not proved, Error(usage) if a window
    // that holds something is none of its, Error(resource) if there is no memory for its plans.
    // Safe to call from several threads.
    LoadedPtr load(const CompiledPtr& kernel, const KernelUse& use);

    // What has been proved so far.
    std::vector<KernelProof> proofs() const;

private:
    static constexpr std::size_t kKept = 1024;

    LoadedPtr put(const CompiledPtr& kernel) const;

    const std::shared_ptr<const Arena> arena_;
    const bool check_;
    const std::string platform_;
    mutable std::mutex mutex_;
    struct Entry {
        LoadedPtr kernel;
        std::vector<KernelUse> uses;  // that it is ready for
    };
    std::unordered_map<std::uint64_t, Entry> entries_;  // by the kernel's number
    std::vector<KernelProof> proofs_;
};

// Returns if the kernel is proved for several calls in a row, within the limits of the platform; if
// it came with pipes, as it was given and as devices carry it out. What stands in the user's store
// of proofs is not proved again.
// Throws Error(wrong) with the counterexample, or Error(bound).
KernelProof prove(const CompiledKernel& kernel, const KernelUse& use, std::string_view platform);

}  // namespace peal::worker
