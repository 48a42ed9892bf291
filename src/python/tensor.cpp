// SPDX-License-Identifier: Apache-2.0
#include "python/tensor.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "peal/error.hpp"
#include "python/values.hpp"

namespace peal::python {
namespace {

Dimensions shape_from(const std::optional<py::object>& shape, const Dimensions& otherwise) {
    if (!shape) return otherwise;
    if (PyIndex_Check(shape->ptr()) != 0) return {py::cast<std::uint64_t>(*shape)};
    return py::cast<Dimensions>(*shape);
}

HeldTensor make(const py::object& array, const std::optional<py::object>& shape) {
    HeldTensor held = tensor_of(array, {"Tensor", "array", false});
    if (shape) held.tensor = held.tensor.reshaped(shape_from(shape, {}));
    return held;
}

HeldTensor item(const HeldTensor& held, const py::slice& slice) {
    const Dimensions& shape = held.tensor.shape();
    if (shape.empty()) throw Error(Fault::usage, "a tensor without dimensions has no slices");
    py::ssize_t begin = 0, end = 0, step = 0, count = 0;
    slice.compute(static_cast<py::ssize_t>(shape.front()), &begin, &end, &step, &count);
    if (step != 1) throw Error(Fault::usage, fmt::format("slice: expected step 1, found {}", step));
    const auto first = static_cast<std::uint64_t>(begin);
    return {held.tensor.slice(first, first + static_cast<std::uint64_t>(count)), held.array};
}

std::vector<HeldTensor> split(const HeldTensor& held, int parts) {
    std::vector<HeldTensor> all;
    for (const Tensor& part : held.tensor.split(parts)) all.push_back({part, held.array});
    return all;
}

py::tuple shape_of(const Dimensions& shape) {
    py::tuple tuple(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) tuple[i] = shape[i];
    return tuple;
}

py::object array_of(const py::object& self) {
    const Tensor& tensor = py::cast<const HeldTensor&>(self).tensor;
    return to_numpy(tensor.data(), tensor.element(), tensor.shape(), !tensor.is_read_only(), self);
}

// A number of Python or numpy. numpy's have the buffer protocol, too, and are no memory.
bool is_number(py::handle value) {
    if (PyLong_Check(value.ptr()) != 0 || PyFloat_Check(value.ptr()) != 0) return true;
    PyObject* const numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    return numpy != nullptr && py::isinstance(value, py::handle(numpy).attr("generic"));
}

Argument number_of(py::handle value) {
    if (PyIndex_Check(value.ptr()) != 0) return integer_from("argument", value);
    return PyFloat_AsDouble(value.ptr());
}

}  // namespace

HeldTensor tensor_of(py::handle object, const Purpose& purpose) {
    if (py::isinstance<HeldTensor>(object)) return py::cast<HeldTensor>(object);
    auto held = std::make_shared<HeldArray>(object, purpose);
    const Array& array = held->array();
    Tensor tensor = array.is_writable ? Tensor(array.memory(), held->shape())
                                      : Tensor(array.const_memory(), held->shape());
    return {std::move(tensor), std::move(held)};
}

void HeldArguments::add(py::handle value, const Purpose& purpose, Direction direction) {
    if (py::isinstance<DomainWindow>(value)) {
        arguments.emplace_back(py::cast<DomainWindow>(value));
    } else if (is_number(value)) {
        arguments.push_back(number_of(value));
    } else if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0) {
        arguments.emplace_back(table_from(purpose.argument, value));
    } else {
        HeldTensor held = tensor_of(value, purpose);
        arguments.emplace_back(std::move(held.tensor), direction);
        if (held.array) arrays.push_back(std::move(held.array));
    }
}

void add_tensor(py::module_& module) {
    py::class_<HeldTensor>(
        module, "Tensor", py::buffer_protocol(),
        "An element type, a shape and memory: the host's or a device's. It is a view.\n\n"
        "Tensor(array) is a view of a numpy array, or of anything with the buffer protocol or\n"
        "__dlpack__. Worker.alloc() gives memory on a device. numpy.asarray(tensor) and\n"
        "tensor.array look at the memory itself; do so while no task that uses it is pending.")
        .def(py::init(&make), py::arg("array"), py::arg("shape") = py::none())
        .def_property_readonly(
            "shape", [](const HeldTensor& self) { return shape_of(self.tensor.shape()); },
            "Elements per dimension.")
        .def_property_readonly(
            "dtype", [](const HeldTensor& self) { return name(self.tensor.element()); },
            "The element type: \"f32\".")
        .def_property_readonly(
            "rank", [](const HeldTensor& self) { return self.tensor.rank(); },
            "The device whose memory it is; -1 for the host's.")
        .def_property_readonly(
            "nbytes", [](const HeldTensor& self) { return self.tensor.bytes(); }, "Its bytes.")
        .def_property_readonly(
            "is_read_only", [](const HeldTensor& self) { return self.tensor.is_read_only(); },
            "Whether it can be read only.")
        .def_property_readonly("array", &array_of,
                               "The memory as a numpy array; the bits of bf16 as uint16.")
        .def(
            "reshape",
            [](const HeldTensor& self, const py::object& shape) {
                return HeldTensor{self.tensor.reshaped(shape_from(shape, {})), self.array};
            },
            py::arg("shape"), "The same memory with another shape of as many elements.")
        .def("split", &split, py::arg("parts"), "Equal slices of the first dimension.")
        .def("__getitem__", &item, py::arg("slice"), "Elements [begin:end] of the first dimension.")
        .def("__len__",
             [](const HeldTensor& self) {
                 return self.tensor.shape().empty() ? 0 : self.tensor.shape().front();
             })
        .def("__repr__",
             [](const HeldTensor& self) {
                 const int rank = self.tensor.rank();
                 return fmt::format("<peal.Tensor {} on {}>",
                                    to_text(self.tensor.element(), self.tensor.shape()),
                                    rank < 0 ? "the host" : fmt::format("device {}", rank));
             })
        .def_buffer([](HeldTensor& self) {
            return to_buffer(self.tensor.data(), self.tensor.element(), self.tensor.shape(),
                             !self.tensor.is_read_only());
        });

    py::class_<ShardedTensor>(
        module, "ShardedTensor",
        "One tensor in equal parts along its first dimension, a part on each\n"
        "of several devices.")
        .def_property_readonly(
            "shape", [](const ShardedTensor& self) { return shape_of(self.shape()); },
            "Of the whole.")
        .def("__len__", &ShardedTensor::size)
        .def(
            "__getitem__",
            [](const ShardedTensor& self, std::size_t i) {
                if (i >= self.size()) throw py::index_error();
                return HeldTensor{self[i], nullptr};
            },
            py::arg("index"), "The part on one device.");
}

}  // namespace peal::python
