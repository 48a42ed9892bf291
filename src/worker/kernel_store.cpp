// SPDX-License-Identifier: Apache-2.0
#include "worker/kernel_store.hpp"

#include <algorithm>
#include <vector>

#include "engine/run_record.hpp"
#include "worker/prove.hpp"
#include "worker/wire.hpp"

namespace peal::worker {

LoadedPtr KernelStore::load(const CompiledPtr& kernel, bool together) {
    const std::lock_guard lock(mutex_);
    if (check_ && !proved_.contains({kernel->id, together})) {
        prove(*kernel, together, platform_);
        proved_.insert({kernel->id, together});
    }
    record_set(kernel->plans, together ? CallOrder::together : CallOrder::free);
    const auto found = loaded_.find(kernel->id);
    if (found != loaded_.end()) return found->second;
    // What tasks still use stays alive with them, and what is needed again is put there again.
    if (loaded_.size() >= kKept) {
        loaded_.clear();
        proved_.clear();
    }
    return loaded_.emplace(kernel->id, put(kernel)).first->second;
}

LoadedPtr KernelStore::put(const CompiledPtr& kernel) const {
    auto loaded = std::make_shared<LoadedKernel>();
    loaded->kernel = kernel;
    std::vector<std::byte> all;
    for (const Plan& plan : kernel->plans) {
        const std::vector<std::byte> bytes = to_bytes(plan);
        loaded->parts.push_back({all.size(), bytes.size()});
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    loaded->memory = arena_->allocate(all.size());
    std::copy(all.begin(), all.end(), loaded->memory->data());
    for (LoadedKernel::Part& part : loaded->parts) part.offset += loaded->memory->offset();
    return loaded;
}

}  // namespace peal::worker
