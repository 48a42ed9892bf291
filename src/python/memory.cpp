// SPDX-License-Identifier: Apache-2.0
#include "python/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/numpy.h>

#include "peal/error.hpp"

namespace peal::python {
namespace {

constexpr const char* kExpected =
    "a contiguous array of f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32 or u64 (numpy, the "
    "buffer protocol, or __dlpack__ on the CPU)";

// ---------------------------------------------------------------------------- element types

// As numpy and torch call them.
struct LongName {
    std::string_view name;
    Element element;
};
constexpr std::array kLongNames = {
    LongName{"float16", Element::f16}, LongName{"bfloat16", Element::bf16},
    LongName{"float32", Element::f32}, LongName{"float64", Element::f64},
    LongName{"int8", Element::i8},     LongName{"int16", Element::i16},
    LongName{"int32", Element::i32},   LongName{"int64", Element::i64},
    LongName{"uint8", Element::u8},    LongName{"uint16", Element::u16},
    LongName{"uint32", Element::u32},  LongName{"uint64", Element::u64},
    LongName{"half", Element::f16},    LongName{"float", Element::f64},
    LongName{"double", Element::f64},  LongName{"int", Element::i64},
};

std::optional<Element> element_spelled(std::string_view text) {
    if (const auto element = element_from(text)) return element;
    for (const LongName& each : kLongNames) {
        if (each.name == text) return each.element;
    }
    return std::nullopt;
}

std::string_view long_name(Element element) {
    return std::find_if(kLongNames.begin(), kLongNames.end(),
                        [&](const LongName& each) { return each.element == element; })
        ->name;
}

std::optional<Element> float_of(std::size_t bytes) {
    switch (bytes) {
        case 2: return Element::f16;
        case 4: return Element::f32;
        case 8: return Element::f64;
        default: return std::nullopt;
    }
}
std::optional<Element> integer_of(std::size_t bytes, bool is_signed) {
    switch (bytes) {
        case 1: return is_signed ? Element::i8 : Element::u8;
        case 2: return is_signed ? Element::i16 : Element::u16;
        case 4: return is_signed ? Element::i32 : Element::u32;
        case 8: return is_signed ? Element::i64 : Element::u64;
        default: return std::nullopt;
    }
}

// Of the struct module: "f", "<i", "=Q".
std::optional<Element> element_of_format(const char* format, std::size_t bytes) {
    if (format == nullptr) return Element::u8;
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    if (*format == '\0' || format[1] != '\0') return std::nullopt;
    if (std::strchr("efd", *format) != nullptr) return float_of(bytes);
    if (std::strchr("bhilqn", *format) != nullptr) return integer_of(bytes, true);
    if (std::strchr("BHILQN", *format) != nullptr) return integer_of(bytes, false);
    return std::nullopt;
}

const char* format_of(Element element) {
    switch (element) {
        case Element::f16: return "e";
        case Element::bf16: return "H";
        case Element::f32: return "f";
        case Element::f64: return "d";
        case Element::i8: return "b";
        case Element::i16: return "h";
        case Element::i32: return "i";
        case Element::i64: return "q";
        case Element::u8: return "B";
        case Element::u16: return "H";
        case Element::u32: return "I";
        case Element::u64: return "Q";
    }
    return "B";
}

// ---------------------------------------------------------------------------- numpy

using NumpyArray = py::detail::PyArray_Proxy;
using NumpyType = py::detail::PyArrayDescr_Proxy;
using Numpy = py::detail::npy_api;

// Found when the first array comes along; numpy is not loaded for its sake.
bool is_numpy_array(PyObject* object) {
    static PyTypeObject* array_type = nullptr;
    PyTypeObject* const type = Py_TYPE(object);
    if (type == array_type) return true;
    if (array_type != nullptr || std::strcmp(type->tp_name, "numpy.ndarray") != 0) return false;
    const py::object modules = py::module_::import("sys").attr("modules");
    if (!modules.contains("numpy")) return false;
    const py::object found = modules["numpy"].attr("ndarray");
    if (found.ptr() != reinterpret_cast<PyObject*>(type)) return false;
    array_type = type;
    return true;
}

// By number of numpy's types, which do not change.
constexpr std::array<std::int8_t, 13> element_table() {
    std::array<std::int8_t, 13> table{};
    table.fill(-1);
    const auto set = [&](int type, Element element) {
        table[static_cast<std::size_t>(type)] = static_cast<std::int8_t>(element);
    };
    set(Numpy::NPY_BYTE_, Element::i8);
    set(Numpy::NPY_UBYTE_, Element::u8);
    set(Numpy::NPY_SHORT_, Element::i16);
    set(Numpy::NPY_USHORT_, Element::u16);
    set(Numpy::NPY_INT_, Element::i32);
    set(Numpy::NPY_UINT_, Element::u32);
    set(Numpy::NPY_LONG_, sizeof(long) == 8 ? Element::i64 : Element::i32);
    set(Numpy::NPY_ULONG_, sizeof(long) == 8 ? Element::u64 : Element::u32);
    set(Numpy::NPY_LONGLONG_, Element::i64);
    set(Numpy::NPY_ULONGLONG_, Element::u64);
    set(Numpy::NPY_FLOAT_, Element::f32);
    set(Numpy::NPY_DOUBLE_, Element::f64);
    return table;
}
constexpr int kNumpyHalf = 23;

std::optional<Element> element_of_numpy(const NumpyType& type) {
    static constexpr auto table = element_table();
    if (type.byteorder == '>') return std::nullopt;
    if (type.type_num == kNumpyHalf) return Element::f16;
    if (type.type_num < 0 || type.type_num >= static_cast<int>(table.size())) return std::nullopt;
    const std::int8_t element = table[static_cast<std::size_t>(type.type_num)];
    return element < 0 ? std::nullopt : std::optional(static_cast<Element>(element));
}

// ---------------------------------------------------------------------------- __dlpack__

// The part of the structure that is the same in all versions without a version.
struct DlTensor {
    void* data;
    std::int32_t device_type, device_id;
    std::int32_t ndim;
    std::uint8_t code, bits;
    std::uint16_t lanes;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null: contiguous
    std::uint64_t byte_offset;
};
constexpr int kDlCpu = 1;

std::optional<Element> element_of(const DlTensor& tensor) {
    enum Code : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4 };
    if (tensor.lanes != 1 || tensor.bits % 8 != 0) return std::nullopt;
    const std::size_t bytes = tensor.bits / 8;
    switch (tensor.code) {
        case integer: return integer_of(bytes, true);
        case unsigned_integer: return integer_of(bytes, false);
        case floating: return float_of(bytes);
        case bfloat: return bytes == 2 ? std::optional(Element::bf16) : std::nullopt;
        default: return std::nullopt;
    }
}

bool is_contiguous(const DlTensor& tensor) {
    if (tensor.strides == nullptr) return true;
    std::int64_t expected = 1;
    for (int i = tensor.ndim - 1; i >= 0; --i) {
        if (tensor.shape[i] == 0) return true;
        if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
        expected *= tensor.shape[i];
    }
    return true;
}

// ---------------------------------------------------------------------------- peal.bits

// An array whose bits mean something else than its type says.
struct Bits {
    py::object array;
    Element element;
};

Bits bits(const py::object& array, const py::object& dtype) {
    const Element element = element_from_python(dtype);
    const HeldArray held(array, {"bits", "array", false});
    if (bytes_of(held.array().element) != bytes_of(element)) {
        throw Error(Fault::usage,
                    fmt::format("bits: expected elements of {} bytes for {}, found {}",
                                bytes_of(element), name(element), name(held.array().element)));
    }
    return {array, element};
}

std::string shape_text(const Dimensions& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string type_text(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace

bool quick_array(PyObject* object, bool writes, Array& array) {
    if (!is_numpy_array(object)) return false;
    const auto& numpy = *reinterpret_cast<const NumpyArray*>(object);
    const int needed = Numpy::NPY_ARRAY_C_CONTIGUOUS_ | Numpy::NPY_ARRAY_ALIGNED_ |
                       (writes ? Numpy::NPY_ARRAY_WRITEABLE_ : 0);
    if ((numpy.flags & needed) != needed) return false;
    const auto element = element_of_numpy(*reinterpret_cast<const NumpyType*>(numpy.descr));
    if (!element) return false;
    std::uint64_t count = 1;
    for (int i = 0; i < numpy.nd; ++i) count *= static_cast<std::uint64_t>(numpy.dimensions[i]);
    array = {numpy.data, count, *element, (numpy.flags & Numpy::NPY_ARRAY_WRITEABLE_) != 0};
    return true;
}

// ---------------------------------------------------------------------------- held

HeldArray::HeldArray(py::handle object, const Purpose& purpose) : purpose_(purpose) {
    if (py::isinstance<Bits>(object)) {
        const Bits& bits = py::cast<const Bits&>(object);
        const HeldArray inner(bits.array, purpose);
        array_ = inner.array_;
        array_.element = bits.element;
        shape_ = inner.shape_;
        keeper_ = bits.array;  // what is behind it stays with it
        return;
    }
    if (quick_array(object.ptr(), purpose.writes, array_)) {
        const auto& numpy = *reinterpret_cast<const NumpyArray*>(object.ptr());
        shape_.assign(numpy.dimensions, numpy.dimensions + numpy.nd);
        keeper_ = py::reinterpret_borrow<py::object>(object);
        return;
    }
    if (PyObject_CheckBuffer(object.ptr()) != 0) {
        take_buffer(object);
    } else if (py::hasattr(object, "__dlpack__")) {
        take_capsule(object);
    } else {
        refuse(type_text(object));
    }
    if (purpose_.writes && !array_.is_writable) refuse("a read-only array, which is to be written");
}

HeldArray::~HeldArray() {
    if (has_buffer_) PyBuffer_Release(&buffer_);
}

void HeldArray::refuse(const std::string& found) const {
    throw Error(Fault::usage, fmt::format("{}: {}: expected {}, found {}", purpose_.call,
                                          purpose_.argument, kExpected, found));
}

void HeldArray::take_buffer(py::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_FULL_RO) != 0) {
        const py::error_already_set error;
        refuse(fmt::format("{}: {}", type_text(object),
                           py::cast<std::string>(py::str(error.value()))));
    }
    has_buffer_ = true;
    const auto bytes = static_cast<std::size_t>(buffer_.itemsize);
    const auto element = element_of_format(buffer_.format, bytes);
    if (!element) {
        refuse(fmt::format("elements '{}' of {} bytes", buffer_.format, bytes));
    }
    shape_.assign(buffer_.shape, buffer_.shape + buffer_.ndim);
    if (PyBuffer_IsContiguous(&buffer_, 'C') == 0) {
        const std::vector<Py_ssize_t> strides(buffer_.strides, buffer_.strides + buffer_.ndim);
        refuse(fmt::format("a {} of shape {} with gaps: strides of [{}] bytes", type_text(object),
                           shape_text(shape_), fmt::join(strides, ", ")));
    }
    array_ = {buffer_.buf, static_cast<std::uint64_t>(buffer_.len) / bytes, *element,
              buffer_.readonly == 0};
    if (reinterpret_cast<std::uintptr_t>(buffer_.buf) % bytes != 0) refuse("unaligned memory");
}

void HeldArray::take_capsule(py::handle object) {
    try {
        const auto device = py::cast<py::tuple>(object.attr("__dlpack_device__")());
        if (py::cast<int>(device[0]) != kDlCpu) refuse("memory that is not the CPU's");
        keeper_ = object.attr("__dlpack__")();
    } catch (const py::error_already_set& error) {
        refuse(fmt::format("{}: {}", type_text(object),
                           py::cast<std::string>(py::str(error.value()))));
    }
    const void* const pointer = PyCapsule_GetPointer(keeper_.ptr(), "dltensor");
    if (pointer == nullptr) throw py::error_already_set();
    const auto& tensor = *static_cast<const DlTensor*>(pointer);
    const auto element = python::element_of(tensor);
    if (!element) {
        refuse(fmt::format("elements of {} bits of type code {}", tensor.bits, tensor.code));
    }
    shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
    if (!is_contiguous(tensor)) {
        refuse(fmt::format("a {} of shape {} with gaps", type_text(object), shape_text(shape_)));
    }
    array_ = {static_cast<std::byte*>(tensor.data) + tensor.byte_offset, count_of(shape_), *element,
              true};
}

// ---------------------------------------------------------------------------- types and arrays

Element element_from_python(py::handle type) {
    std::string text;
    if (py::isinstance<py::str>(type)) {
        text = py::cast<std::string>(type);
    } else if (py::hasattr(type, "name")) {  // numpy.dtype
        text = py::cast<std::string>(py::str(type.attr("name")));
    } else if (py::hasattr(type, "__name__")) {  // numpy.float32, float
        text = py::cast<std::string>(type.attr("__name__"));
    } else {  // torch.float32
        text = py::cast<std::string>(py::str(type));
    }
    if (const std::size_t dot = text.rfind('.'); dot != std::string::npos) text.erase(0, dot + 1);
    if (const auto element = element_spelled(text)) return *element;
    std::vector<std::string_view> names;
    for (const Element each : kElements) names.push_back(name(each));
    throw Error(Fault::usage, fmt::format("dtype: there is no element type '{}'; choose one of {}",
                                          text, fmt::join(names, ", ")));
}

py::object to_numpy(void* data, Element element, const Dimensions& shape, bool is_writable,
                    py::handle owner) {
    const std::string_view type = element == Element::bf16 ? "uint16" : long_name(element);
    const std::vector<py::ssize_t> dimensions(shape.begin(), shape.end());
    py::array array(py::dtype(std::string(type)), dimensions, data, owner);
    if (!is_writable) array.attr("setflags")(py::arg("write") = false);
    return array;
}

py::buffer_info to_buffer(void* data, Element element, const Dimensions& shape, bool is_writable) {
    std::vector<py::ssize_t> dimensions(shape.begin(), shape.end());
    auto strides = std::vector<py::ssize_t>(shape.size());
    auto step = static_cast<py::ssize_t>(bytes_of(element));
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step *= dimensions[i];
    }
    const auto count = static_cast<py::ssize_t>(shape.size());
    return {data,
            static_cast<py::ssize_t>(bytes_of(element)),
            format_of(element),
            count,
            std::move(dimensions),
            std::move(strides),
            !is_writable};
}

void add_memory(py::module_& module) {
    py::class_<Bits>(module, "Bits", "An array whose bits are those of another element type.")
        .def_readonly("array", &Bits::array, "The array.")
        .def_property_readonly(
            "dtype", [](const Bits& bits) { return name(bits.element); },
            "What its bits are: \"bf16\".");
    module.def("bits", &bits, py::arg("array"), py::arg("dtype"),
               "The array with its bits taken as another element type of the same size. numpy has\n"
               "no bf16: peal.bits(array_of_uint16, \"bf16\") goes wherever an array does.");
}

}  // namespace peal::python
