// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"
#include "worker/kernel_source.hpp"

namespace peal {
namespace {

const std::string& only_kernel(const ir::Program& program) {
    if (program.kernels.size() == 1) return program.kernels[0].name;
    std::vector<std::string_view> names;
    for (const ir::Kernel& kernel : program.kernels) names.push_back(kernel.name);
    throw Error(Fault::usage,
                fmt::format("expected a program of one kernel, found {}; name one",
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

DeviceKernel::DeviceKernel(ir::Program program, std::string_view kernel, Bindings bindings)
    : source_(worker::source_of(std::move(program), kernel, std::move(bindings))) {}

DeviceKernel::DeviceKernel(ir::Program program, Bindings bindings) {
    const std::string kernel = only_kernel(program);
    source_ = worker::source_of(std::move(program), kernel, std::move(bindings));
}

DeviceKernel::DeviceKernel(Collective collective)
    : source_(worker::source_of(std::move(collective))) {}

DeviceKernel::DeviceKernel(std::vector<Plan> plans)
    : source_(worker::source_of(std::move(plans))) {}

const std::string& DeviceKernel::name() const { return source_->name(); }

DeviceKernel DeviceKernel::holding(std::vector<Held> windows) const {
    DeviceKernel same = *this;
    same.holds_ = std::move(windows);
    return same;
}

DeviceKernel DeviceKernel::proved_in(const ProvedRun& run) const {
    DeviceKernel same = *this;
    same.run_ = run.record_;
    return same;
}

std::vector<WindowSpec> DeviceKernel::windows(int nranks) const {
    const worker::CompiledPtr kernel = source_->compiled_for(nranks);
    std::vector<WindowSpec> specs;
    for (const Buffer& buffer : kernel->plans[0].buffers) {
        if (buffer.kind == BufferKind::window) {
            specs.push_back(
                {.name = buffer.name, .element = buffer.element, .shape = {buffer.elements()}});
        } else if (buffer.kind == BufferKind::signal) {
            specs.push_back({.name = buffer.name,
                             .element = buffer.element,
                             .cells = buffer.cells,
                             .cell_stride = buffer.cell_stride});
        }
    }
    return specs;
}

}  // namespace peal
