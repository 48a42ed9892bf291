// SPDX-License-Identifier: Apache-2.0
// What is around a shim, in its process: it is called as the host of a chip would, launches kernels
// and makes tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pto/argument_list.hpp"
#include "pto/library.hpp"
#include "pto/recorder.hpp"
#include "pto/trace_report.hpp"
#include "pto_orchestration_api.h"

namespace peal::pto {

// There is one in a process.
class ShimHost {
public:
    // Calls the kernel of that place in Callee::kernels.
    using Launch = std::function<void(std::size_t kernel, std::int64_t* arguments)>;

    // Says in `at` which of its launches the shim is in.
    ShimHost(const KernelRun& run, const Library& library, const Messenger& messenger,
             ShimLaunch& at, Launch launch);
    ShimHost(const ShimHost&) = delete;
    ShimHost& operator=(const ShimHost&) = delete;

    // One call of the shim. Those of its arguments that are tensors have descriptors.
    void call(const ArgumentList& given, const std::vector<ChipTensor>& descriptors);

private:
    void expect_arguments(const ChipTaskArgs& arguments) const;
    void submit(const ::pto::orchestration::Submission& task);
    std::uint64_t create(std::uint64_t bytes, DataType type,
                         const ::pto::orchestration::Where& where);
    [[noreturn]] void refuse(const ::pto::orchestration::Where& where,
                             const std::string& words) const;

    static ShimHost* self_;

    const KernelRun& run_;
    const Library& library_;
    const Messenger& messenger_;
    ShimLaunch& at_;
    const Launch launch_;
};

}  // namespace peal::pto
