// SPDX-License-Identifier: Apache-2.0
// Exceptions cross the border here, and nowhere else. Their classes are written in Python, where
// they can be read.
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "peal/compile.hpp"
#include "peal/diagnostic.hpp"
#include "peal/error.hpp"
#include "python/module.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

py::object class_of(const char* name) { return py::module_::import("peal._errors").attr(name); }

const char* word_for(Fault fault) {
    switch (fault) {
        case Fault::usage: return "usage";
        case Fault::program: return "program";
        case Fault::wrong: return "wrong";
        case Fault::bound: return "bound";
        case Fault::resource: return "resource";
    }
    return "";
}

py::list to_python(const std::vector<Diagnostic>& diagnostics) {
    const py::object diagnostic_class = class_of("Diagnostic");
    py::list list;
    for (const Diagnostic& each : diagnostics) {
        const bool is_error = each.severity == Diagnostic::Severity::error;
        list.append(diagnostic_class(is_error ? "error" : "warning", each.span.line,
                                     each.span.column, each.span.length, each.message, each.hint));
    }
    return list;
}

void raise_program_error(const char* class_name, const ProgramError& error) {
    const py::object type = class_of(class_name);
    const py::object exception = type(error.what(), to_python(error.diagnostics()));
    PyErr_SetObject(type.ptr(), exception.ptr());
}

void translate(std::exception_ptr pointer) {
    if (!pointer) return;
    try {
        std::rethrow_exception(pointer);
    } catch (const PythonFailure& failure) {
        failure.raise();
    } catch (const RequirementError& error) {
        raise_program_error("RequirementError", error);
    } catch (const ProgramError& error) {
        raise_program_error("ProgramError", error);
    } catch (const Error& error) {
        const py::object type = class_of("Error");
        const py::object exception = type(error.what(), word_for(error.fault()));
        PyErr_SetObject(type.ptr(), exception.ptr());
    }
}

}  // namespace

void raise(std::exception_ptr error) {
    try {
        translate(std::move(error));
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& other) {
        PyErr_SetString(PyExc_RuntimeError, other.what());
    }
}

void add_errors() { py::register_exception_translator(&translate); }

}  // namespace peal::python
