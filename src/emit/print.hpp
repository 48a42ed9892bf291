// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "emit/cpp.hpp"
#include "emit/frame.hpp"
#include "emit/steps.hpp"
#include "peal/pto.hpp"

namespace peal::emitter {

// The kernel as C++, for people to read.
std::string print_kernel(const DeviceProgram& program, const Frame& frame, const Facts& facts,
                         const Trouble& trouble, pto::Device device);

}  // namespace peal::emitter
