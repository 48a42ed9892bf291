// SPDX-License-Identifier: Apache-2.0
// Kernels that come as plans: the builder of somebody else, or a traced kernel.
#include <numeric>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "worker/kernel_source.hpp"

namespace peal::worker {
namespace {

class PlansSource : public KernelSource {
public:
    explicit PlansSource(CompiledPtr kernel)
        : KernelSource(kernel->plans[0].kernel),
          kernel_(std::move(kernel)),
          argument_of_(kernel_->plans[0].buffers.size()) {
        std::iota(argument_of_.begin(), argument_of_.end(), 0);
    }

    Resolved resolve(std::span<const Arguments> members, int nranks) override {
        for (const Arguments& arguments : members) {
            if (arguments.size() == argument_of_.size()) continue;
            throw Error(Fault::usage, fmt::format("kernel {}: expected {} arguments, found {}",
                                                  name(), argument_of_.size(), arguments.size()));
        }
        return {resolve(nranks), argument_of_};
    }

    CompiledPtr resolve(int nranks) override {
        if (static_cast<int>(kernel_->plans.size()) != nranks) {
            throw Error(Fault::usage, fmt::format("kernel {}: its plans are for {} ranks, found {}",
                                                  name(), kernel_->plans.size(), nranks));
        }
        return kernel_;
    }

private:
    CompiledPtr kernel_;
    std::vector<std::size_t> argument_of_;
};

}  // namespace

std::shared_ptr<KernelSource> source_of(std::vector<Plan> plans) {
    return std::make_shared<PlansSource>(std::make_shared<CompiledKernel>(std::move(plans)));
}

}  // namespace peal::worker
