// SPDX-License-Identifier: Apache-2.0
// Where kernels come from: a program, a built-in collective, or plans. Whatever it is, given
// arguments and a number of ranks it becomes a CompiledKernel.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peal/worker_kernel.hpp"
#include "worker/compiled_kernel.hpp"

namespace peal::worker {

// A kernel, and for each of its buffers the place of its argument.
struct Resolved {
    CompiledPtr kernel;
    std::span<const std::size_t> argument_of;  // lives as long as the source
};

class KernelSource {
public:
    virtual ~KernelSource() = default;

    const std::string& name() const { return name_; }

    // For arguments of all members of a call, or of the only one. What is not memory must be the
    // same for all. Throws Error(usage) when the arguments do not fit the parameters: their number,
    // scalars for memory and so on, and dimensions; sizes in bytes and element types are for the
    // caller to check. Safe to call from several threads.
    virtual Resolved resolve(std::span<const Arguments> members, int nranks) = 0;
    // Without arguments. Error(usage) if that is not enough.
    virtual CompiledPtr resolve(int nranks) = 0;

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
