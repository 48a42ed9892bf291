// SPDX-License-Identifier: Apache-2.0
// The module `peal._peal`: what include/peal declares, for Python. One function per file says what
// the file adds; module.cpp calls them in order.
#pragma once

#include <exception>

#include <pybind11/pybind11.h>

namespace peal::python {

namespace py = pybind11;

// peal::Error and what is derived from it become the exceptions of python/peal/_errors.py.
void add_errors();
// The same for functions that the interpreter calls itself: sets what it is to raise.
void raise(std::exception_ptr error);

// Programs: parse, show.
void add_program(py::module_& module);

// Plans, kernels for devices, PTO kernels.
void add_kernels(py::module_& module);

// Checking and running targets.
void add_targets(py::module_& module);

// Worker, Domain, Task.
void add_worker(py::module_& module);

// Nodes of the IR, for front ends that are written in Python.
void add_ir(py::module_& module);
// And what becomes of such nodes, for those that go on with them.
void add_ir_tree(py::module_& module);

// Proofs of kernels that a host calls on windows that it makes.
void add_host_turn(py::module_& module);

// Shims, chip programs, and the driver that hands them to devices.
void add_driver(py::module_& module);

}  // namespace peal::python
