// SPDX-License-Identifier: Apache-2.0
// What Python passes, as what kernels are made of.
#pragma once

#include <string>

#include "peal/bindings.hpp"
#include "peal/ir.hpp"
#include "python/module.hpp"

namespace peal::python {

// The kernel of that name, or the only one if no name is given. Throws Error(usage).
const ir::Kernel& kernel_of(const ir::Program& program, const std::string& wanted);

// Symbols, scalars and tables by name. An integer goes for a scalar that is floating. Throws
// Error(usage) for a value that is none of the three.
Bindings bindings_from(const ir::Kernel& kernel, const py::dict& values);

}  // namespace peal::python
