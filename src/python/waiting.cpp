// SPDX-License-Identifier: Apache-2.0
#include "python/waiting.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::python {

std::shared_ptr<py::object> anywhere(py::object object) {
    return {new py::object(std::move(object)), [](py::object* held) {
                const py::gil_scoped_acquire lock;
                delete held;
            }};
}

PythonFailure::PythonFailure(py::error_already_set& error)
    : exception_(anywhere(error.value())),
      text_(fmt::format("{}: {}", Py_TYPE(exception_->ptr())->tp_name,
                        py::cast<std::string>(py::str(*exception_)))) {}

void PythonFailure::raise() const {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception_->ptr())), exception_->ptr());
}

void check_signals() {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return;
    py::error_already_set error;
    throw PythonFailure(error);
}

std::chrono::nanoseconds duration_of(double seconds, const char* what) {
    if (!(seconds >= 0)) {
        throw Error(Fault::usage,
                    fmt::format("{}: expected seconds, 0 or more, found {}", what, seconds));
    }
    constexpr double kMost = 1e9;  // thirty years
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::min(seconds, kMost)));
}

}  // namespace peal::python
