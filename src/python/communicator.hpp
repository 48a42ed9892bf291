// SPDX-License-Identifier: Apache-2.0
// The communicator as Python has it.
#pragma once

#include <cstdint>
#include <memory>

#include "peal/communicator.hpp"
#include "python/memory.hpp"
#include "python/module.hpp"

namespace peal::python {

// Symmetric memory with an element type.
struct PythonWindow {
    WindowMemory memory;
    Element element = Element::f32;
    std::uint64_t count = 0;
    int rank = 0;                                // whose own part is `array`
    std::shared_ptr<Communicator> communicator;  // outlives it
};

// Waits look every now and then whether somebody pressed Ctrl-C.
void watch_signals(Communicator& communicator);

// Where in a Python program the call is made.
CallSite python_site();

// The collectives, as methods of the class Communicator: called often, so they read their arguments
// themselves.
void add_collectives(py::handle communicator_class);
// Pending and Prepared, which collectives return.
void add_started(py::module_& module);

void add_communicator(py::module_& module);

}  // namespace peal::python
