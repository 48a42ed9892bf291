// SPDX-License-Identifier: Apache-2.0
// Tensors of a worker as Python has them: with what keeps a host array where it is.
#pragma once

#include <memory>
#include <vector>

#include "peal/worker_kernel.hpp"
#include "peal/worker_tensor.hpp"
#include "python/memory.hpp"
#include "python/module.hpp"

namespace peal::python {

struct HeldTensor {
    Tensor tensor;
    std::shared_ptr<HeldArray> array;  // null: device memory, which keeps itself
};

// An array as a tensor that is read, and written if the array can be.
HeldTensor tensor_of(py::handle object, const Purpose& purpose);

// Arguments of a task, and the arrays that must stay until it is over.
struct HeldArguments {
    Arguments arguments;
    std::vector<std::shared_ptr<HeldArray>> arrays;

    // A tensor, an array, a window of a domain, a number or a table of integers.
    void add(py::handle value, const Purpose& purpose, Direction direction = Direction::unknown);
};

void add_tensor(py::module_& module);

}  // namespace peal::python
