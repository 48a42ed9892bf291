// SPDX-License-Identifier: Apache-2.0
// Running a kernel where it can do no harm: in a child process that it cannot leave, that is
// watched and ends with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pto/common/record.hpp"
#include "pto/layout.hpp"

namespace peal::pto {

// What a kernel asked the device to do. `file` of an operation counts in `files`.
struct Recorded {
    ::pto::trace::Operation operation;
    std::uint32_t file = 0;
};
struct Recording {
    std::vector<Recorded> operations;
    std::vector<std::string> files;
};

// One run of a kernel.
struct KernelRun {
    const Kernel* kernel = nullptr;
    const std::vector<Parameter>* parameters = nullptr;
    const Layout* layout = nullptr;
    const AddressSpace* addresses = nullptr;
    int rank = 0;
    int nranks = 1;
    std::int64_t generation = 0;
    TraceOptions options;
};

// Throws Error(program) when the kernel does not come to its end.
Recording record(const KernelRun& run);

// Throws Error(program) unless the library has an entry and was made with headers of ours.
void require_entry(const std::string& kernel, const std::string& library);

}  // namespace peal::pto
