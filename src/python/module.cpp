// SPDX-License-Identifier: Apache-2.0
#include "python/module.hpp"

#include "python/communicator.hpp"
#include "python/memory.hpp"
#include "python/tensor.hpp"

PYBIND11_MODULE(_peal, module) {
    module.doc() = "What include/peal declares, for Python. Use it as `peal`.";
    peal::python::add_errors();
    peal::python::add_memory(module);
    peal::python::add_program(module);
    peal::python::add_tensor(module);
    peal::python::add_kernels(module);
    peal::python::add_targets(module);
    peal::python::add_worker(module);
    peal::python::add_ir(module);
    peal::python::add_ir_tree(module);
    peal::python::add_host_turn(module);
    peal::python::add_driver(module);
    peal::python::add_communicator(module);
}
