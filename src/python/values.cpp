// SPDX-License-Identifier: Apache-2.0
#include "python/values.hpp"

#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "peal/error.hpp"

namespace peal::python {
namespace {

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

[[noreturn]] void refuse(const std::string& name, py::handle value, const char* expected) {
    throw Error(Fault::usage,
                fmt::format("{}: expected {}, found {}", name, expected, type_name(value)));
}

// Integers of Python and of numpy are those that have __index__.
bool is_integer(py::handle value) { return PyIndex_Check(value.ptr()) != 0; }

}  // namespace

std::int64_t integer_from(const std::string& name, py::handle value) {
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) throw py::error_already_set();
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        throw Error(Fault::usage, fmt::format("{}: {} does not fit 64 bits", name,
                                              py::cast<std::string>(py::str(index))));
    }
    return number;
}

std::uint64_t count_from(const std::string& name, py::handle value) {
    if (!is_integer(value)) refuse(name, value, "an integer");
    const std::int64_t number = integer_from(name, value);
    if (number < 0) {
        throw Error(Fault::usage, fmt::format("{}: expected 0 or more, found {}", name, number));
    }
    return static_cast<std::uint64_t>(number);
}

std::vector<std::int64_t> table_from(const std::string& name, py::handle value) {
    std::vector<std::int64_t> table;
    for (const py::handle entry : py::reinterpret_borrow<py::iterable>(value)) {
        if (is_integer(entry)) {
            table.push_back(integer_from(name, entry));
        } else if (py::isinstance<py::iterable>(entry)) {  // rows
            const std::vector<std::int64_t> row = table_from(name, entry);
            table.insert(table.end(), row.begin(), row.end());
        } else {
            refuse(name, entry, "integers in the table");
        }
    }
    return table;
}

Bindings bindings_from(const ir::Kernel& kernel, const py::dict& values) {
    Bindings bindings;
    for (const auto& [key, value] : values) {
        const std::string name = py::cast<std::string>(key);
        const ir::Param* param = kernel.find(name);
        const bool is_scalar = param && param->var->type.kind == ir::Type::Kind::scalar;
        if (is_scalar && is_float(param->var->type.element)) {
            const double number = PyFloat_AsDouble(value.ptr());
            if (number == -1.0 && PyErr_Occurred() != nullptr) {
                PyErr_Clear();
                refuse(name, value, "a number");
            }
            bindings.numbers[name] = number;
        } else if (is_integer(value)) {
            bindings.integers[name] = integer_from(name, value);
        } else if (py::isinstance<py::iterable>(value) && !py::isinstance<py::str>(value)) {
            bindings.tables[name] = table_from(name, value);
        } else {
            refuse(name, value, "an integer, or a table of integers");
        }
    }
    return bindings;
}

}  // namespace peal::python
