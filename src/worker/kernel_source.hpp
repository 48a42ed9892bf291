// SPDX-License-Identifier: Apache-2.0
// A kernel on its way from the program to the devices. Each form is where the one before cannot be:
//
//   DeviceKernel    the user's handle, for any worker
//   KernelSource    what is behind it: a program, a built-in collective, or plans. It keeps what it
//                   has compiled for some sizes and ranks, for all workers
//   CompiledKernel  the plans of all ranks, once sizes and ranks are known
//   LoadedKernel    these plans in the memory of one worker, proved if that is wanted; its
//                   KernelStore keeps them
//   ReadyPlan       one of them as a device, a process of its own, carries it out and keeps it
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peal/worker_kernel.hpp"
#include "worker/compiled_kernel.hpp"

namespace peal::worker {

class KernelSource {
public:
    virtual ~KernelSource() = default;

    const std::string& name() const { return name_; }

    // For arguments of all members of a call, or of the only one. What is not memory must be the
    // same for all. Throws Error(usage) when the arguments do not fit the parameters: their number,
    // scalars for memory and so on, and dimensions; sizes in bytes and element types are for the
    // caller to check. Safe to call from several threads.
    virtual CompiledPtr compiled_for(std::span<const Arguments> members, int nranks) = 0;
    // Without arguments. Error(usage) if that is not enough.
    virtual CompiledPtr compiled_for(int nranks) = 0;

protected:
    explicit KernelSource(std::string name) : name_(std::move(name)) {}

private:
    std::string name_;
};

std::shared_ptr<KernelSource> source_of(std::vector<Plan> plans);
std::shared_ptr<KernelSource> source_of(ir::Program program, std::string_view kernel,
                                        Bindings bindings);
std::shared_ptr<KernelSource> source_of(Collective collective);

}  // namespace peal::worker
