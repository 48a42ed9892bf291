// SPDX-License-Identifier: Apache-2.0
// Memory that Python objects hold: numpy arrays, anything with the buffer protocol or __dlpack__.
// It is used where it is; nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "peal/communicator_calls.hpp"
#include "peal/element.hpp"
#include "peal/worker_tensor.hpp"
#include "python/module.hpp"

namespace peal::python {

// Elements one after another.
struct Array {
    void* data = nullptr;
    std::uint64_t count = 0;
    Element element = Element::f32;
    bool is_writable = false;

    Memory memory() const { return {data, count, element}; }
    ConstMemory const_memory() const { return {data, count, element}; }
};

// What the memory is for; it begins the messages: "allreduce: out".
struct Purpose {
    const char* call = "";
    const char* argument = "";
    bool writes = false;
};

// A plain numpy array that will do, in a few nanoseconds; false for everything else, right or
// wrong. The memory lives as long as the object.
bool quick_array(PyObject* object, bool writes, Array& array);

// The memory of an object, and whatever keeps it there: the object itself, its buffer or its
// capsule. Made and destroyed with the interpreter's lock.
class HeldArray {
public:
    // Throws Error(usage) that says what was expected.
    HeldArray(py::handle object, const Purpose& purpose);
    ~HeldArray();
    HeldArray(const HeldArray&) = delete;
    HeldArray& operator=(const HeldArray&) = delete;

    const Array& array() const { return array_; }
    const Dimensions& shape() const { return shape_; }

private:
    void take_buffer(py::handle object);
    void take_capsule(py::handle object);
    [[noreturn]] void refuse(const std::string& found) const;

    Purpose purpose_;
    Array array_;
    Dimensions shape_;
    py::object keeper_;
    Py_buffer buffer_ = {};
    bool has_buffer_ = false;
};

// The element type that a word, a dtype of numpy or torch, or a type of either means. Throws
// Error(usage).
Element element_from_python(py::handle type);

// Memory as an array of numpy, with its owner kept alive. The bits of bf16, which numpy has not,
// are uint16.
py::object to_numpy(void* data, Element element, const Dimensions& shape, bool is_writable,
                    py::handle owner);

// How the buffer protocol describes it.
py::buffer_info to_buffer(void* data, Element element, const Dimensions& shape, bool is_writable);

// Adds peal.bits().
void add_memory(py::module_& module);

}  // namespace peal::python
