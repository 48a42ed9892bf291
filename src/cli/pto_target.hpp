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

// With what the kernel's source says of itself in the places of what was not given.
TargetOptions with_declared(TargetOptions options);

// From here on, options are such.
pto::Kernel compile_kernel(const TargetOptions& options);

// The arguments of --arg or the preset of --as, and the plans that the kernel then has.
Target trace_kernel(const pto::Kernel& kernel, const TargetOptions& options);

// Elements per rank of a kernel that --as gives its arguments, and n where they are listed; nothing
// if no argument speaks of n.
std::optional<std::uint64_t> length_of(const TargetOptions& options);

}  // namespace peal::cli
