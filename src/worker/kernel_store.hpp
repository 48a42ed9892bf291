// SPDX-License-Identifier: Apache-2.0
// Kernels that a worker has seen: proved if that is wanted, and put where its devices find them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "worker/arena.hpp"
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
    std::unordered_map<std::uint64_t, LoadedPtr> loaded_;  // by the kernel's number
    std::set<std::pair<std::uint64_t, bool>> proved_;
};

}  // namespace peal::worker
