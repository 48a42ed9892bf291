// SPDX-License-Identifier: Apache-2.0
// PTO kernels as targets: C++ files that are compiled and traced.
#pragma once

#include <string>

#include "cli/target.hpp"
#include "peal/pto.hpp"

namespace peal::cli {

// A context has room for the windows of this many ranks.
inline constexpr int kMaxPtoRanks = 64;

// Whether the name ends as that of a C++ source does.
bool is_pto_kernel(const std::string& target);

void add_pto_options(Command& command, TargetOptions& options);
// Throws Error(usage) when an option that only PTO kernels have was given.
void refuse_pto_options(const TargetOptions& options);

pto::Kernel compile_kernel(const TargetOptions& options);

// The arguments of --arg or the preset of --as, and the plans that the kernel then has.
Target trace_kernel(const pto::Kernel& kernel, const TargetOptions& options);

// Elements per rank of a kernel that --as gives its arguments; nothing where --arg does.
std::optional<std::uint64_t> preset_count(const TargetOptions& options);

}  // namespace peal::cli
