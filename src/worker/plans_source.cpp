// SPDX-License-Identifier: Apache-2.0
// Kernels that come as plans: the builder of somebody else, or a traced kernel.
#include <numeric>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "worker/kernel_source.hpp"

namespace peal::worker {
namespace {

// As many as the first plan has buffers: its arguments follow them. None where there is no plan.
std::vector<std::size_t> in_order(const std::vector<Plan>& plans) {
    std::vector<std::size_t> places(plans.empty() ? 0 : plans[0].buffers.size());
    std::iota(places.begin(), places.end(), 0);
    return places;
}

class PlansSource : public KernelSource {
public:
    explicit PlansSource(CompiledPtr kernel)
        : KernelSource(kernel->plans[0].kernel), kernel_(std::move(kernel)) {}

    CompiledPtr compiled_for(std::span<const Arguments> members, int nranks) override {
        const std::size_t expected = kernel_->argument_of.size();
        for (const Arguments& arguments : members) {
            if (arguments.size() == expected) continue;
            throw Error(Fault::usage, fmt::format("kernel {}: expected {} arguments, found {}",
                                                  name(), expected, arguments.size()));
        }
        return compiled_for(nranks);
    }

    CompiledPtr compiled_for(int nranks) override {
        if (static_cast<int>(kernel_->plans.size()) != nranks) {
            throw Error(Fault::usage, fmt::format("kernel {}: its plans are for {} ranks, found {}",
                                                  name(), kernel_->plans.size(), nranks));
        }
        return kernel_;
    }

private:
    CompiledPtr kernel_;
};

}  // namespace

std::shared_ptr<KernelSource> source_of(std::vector<Plan> plans) {
    std::vector<std::size_t> arguments = in_order(plans);
    return std::make_shared<PlansSource>(
        std::make_shared<CompiledKernel>(std::move(plans), std::move(arguments)));
}

}  // namespace peal::worker
