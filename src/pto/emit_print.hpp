// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "peal/pto.hpp"
#include "pto/emit_cpp.hpp"
#include "pto/emit_frame.hpp"
#include "pto/emit_steps.hpp"

namespace peal::pto::emitter {

// The kernel as C++, for people to read.
std::string print_kernel(const DeviceProgram& program, const Frame& frame, const Facts& facts,
                         const Trouble& trouble, Device device);

}  // namespace peal::pto::emitter
