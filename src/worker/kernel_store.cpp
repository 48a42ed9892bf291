// SPDX-License-Identifier: Apache-2.0
#include "worker/kernel_store.hpp"

#include <algorithm>
#include <vector>

#include "engine/run_record.hpp"
#include "worker/wire.hpp"

namespace peal::worker {

LoadedPtr KernelStore::load(const CompiledPtr& kernel, bool together) {
    const std::lock_guard lock(mutex_);
    // What tasks still use stays alive with them, and what is needed again is put there again.
    if (entries_.size() >= kKept && !entries_.contains(kernel->id)) entries_.clear();
    Entry& entry = entries_[kernel->id];
    bool& is_proved = together ? entry.is_proved_together : entry.is_proved_alone;
    if (check_ && !is_proved) {
        prove(*kernel, together, platform_);
        is_proved = true;
    }
    engine::record_set(kernel->plans,
                       together ? engine::CallOrder::together : engine::CallOrder::free);
    if (!entry.kernel) entry.kernel = put(kernel);
    return entry.kernel;
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
