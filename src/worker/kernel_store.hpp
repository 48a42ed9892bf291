// SPDX-License-Identifier: Apache-2.0
// Kernels that a worker has seen: proved if that is wanted, and put where its devices find them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "worker/arena.hpp"
#include "worker/compiled_kernel.hpp"
#include "worker/task_node.hpp"

namespace peal::worker {

class KernelStore {
public:
    KernelStore(std::shared_ptr<const Arena> arena, bool check, std::string platform)
        : arena_(std::move(arena)), check_(check), platform_(std::move(platform)) {}

    // `together`: all ranks are in one task, so nobody begins before all have ended the last one.
    // Throws Error(wrong) or Error(bound) if the kernel is not proved, Error(resource) if there is
    // no memory for its plans. Safe to call from several threads.
    LoadedPtr load(const CompiledPtr& kernel, bool together);

private:
    static constexpr std::size_t kKept = 1024;

    LoadedPtr put(const CompiledPtr& kernel) const;

    const std::shared_ptr<const Arena> arena_;
    const bool check_;
    const std::string platform_;
    std::mutex mutex_;
    struct Entry {
        LoadedPtr kernel;
        bool is_proved_together = false, is_proved_alone = false;
    };
    std::unordered_map<std::uint64_t, Entry> entries_;  // by the kernel's number
};

// Returns if the kernel is proved for several calls in a row, within the limits of the platform; if
// it came with pipes, as it was given and as devices carry it out. What stands in the user's store
// of proofs is not proved again.
// Throws Error(wrong) with the counterexample, or Error(bound). `together`: between two calls all
// ranks have returned from the first.
void prove(const CompiledKernel& kernel, bool together, std::string_view platform);

}  // namespace peal::worker
