// SPDX-License-Identifier: Apache-2.0
#include "worker/kernel_store.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "engine/run_record.hpp"
#include "peal/error.hpp"
#include "worker/wire.hpp"

namespace peal::worker {

namespace {

void expect_windows(const CompiledKernel& kernel, const std::vector<Held>& holds) {
    const Plan& plan = kernel.plans[0];
    for (const Held& held : holds) {
        const bool is_there =
            std::any_of(plan.buffers.begin(), plan.buffers.end(), [&](const Buffer& buffer) {
                return buffer.kind == BufferKind::window && buffer.name == held.window;
            });
        if (is_there) continue;
        throw Error(Fault::usage, fmt::format("kernel {}: '{}' is said to hold {}, but it has no "
                                              "such window",
                                              plan.kernel, held.window, name(held.what)));
    }
}

void record(const CompiledKernel& kernel, const KernelUse& use) {
    if (use.run) return use.run->write();
    if (!engine::records_runs()) return;
    const engine::CallOrder order =
        use.together ? engine::CallOrder::together : engine::CallOrder::free;
    if (use.holds.empty()) return engine::record_set(kernel.plans, order);
    engine::RecordedCall call{&kernel.plans, {}, {}};
    for (const Held& held : use.holds) call.holds.emplace_back(held.window, name(held.what));
    engine::record_sequence({call}, order, engine::Times::again);
}

}  // namespace

LoadedPtr KernelStore::load(const CompiledPtr& kernel, const KernelUse& use) {
    const std::lock_guard lock(mutex_);
    // What tasks still use stays alive with them, and what is needed again is put there again.
    if (entries_.size() >= kKept && !entries_.contains(kernel->id)) entries_.clear();
    Entry& entry = entries_[kernel->id];
    if (std::find(entry.uses.begin(), entry.uses.end(), use) == entry.uses.end()) {
        expect_windows(*kernel, use.holds);
        if (check_ && !use.run) proofs_.push_back(prove(*kernel, use, platform_));
        record(*kernel, use);
        entry.uses.push_back(use);
    }
    if (!entry.kernel) entry.kernel = put(kernel);
    return entry.kernel;
}

std::vector<KernelProof> KernelStore::proofs() const {
    const std::lock_guard lock(mutex_);
    return proofs_;
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
