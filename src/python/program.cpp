// SPDX-License-Identifier: Apache-2.0
// Programs: .peal text in, and each form on the road to plans as text.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "peal/lower.hpp"
#include "peal/plan.hpp"
#include "peal/program.hpp"
#include "python/module.hpp"
#include "python/values.hpp"

namespace peal::python {
namespace {

std::vector<std::string> kernel_names(const ir::Program& program) {
    std::vector<std::string> names;
    for (const ir::Kernel& kernel : program.kernels) names.push_back(kernel.name);
    return names;
}

ir::Program parse_text(std::string text, std::string name) {
    return parse(std::make_shared<const Source>(std::move(name), std::move(text)));
}

std::string show_plan(const ir::Program& program, const ir::Kernel& kernel, int rank, int ranks,
                      const py::dict& sizes) {
    if (ranks < 1 || ranks > kMaxRanks) {
        throw Error(Fault::usage, fmt::format("ranks: expected 1..{}, found {}", kMaxRanks, ranks));
    }
    if (rank < 0 || rank >= ranks) {
        throw Error(Fault::usage, fmt::format("rank: expected 0..{}, found {}", ranks - 1, rank));
    }
    const Bindings bindings = bindings_from(kernel, sizes);
    const std::vector<Plan> plans = compile(program, kernel.name, bindings, ranks);
    return to_text(plans[static_cast<std::size_t>(rank)]);
}

std::string show(const ir::Program& program, const std::string& form, int rank, int ranks,
                 const std::string& kernel, const py::kwargs& sizes) {
    if (form == "plan") {
        return show_plan(program, kernel_of(program, kernel), rank, ranks, sizes);
    }
    if (form != "ir" && form != "lowered") {
        throw Error(Fault::usage,
                    fmt::format("form: expected 'ir', 'lowered' or 'plan', found '{}'", form));
    }
    const ir::Program shown = form == "ir" ? program : lower(program);
    return kernel.empty() ? print(shown) : print(kernel_of(shown, kernel));
}

std::string representation(const ir::Program& program) {
    return fmt::format("<peal.Program {}: {}>",
                       program.source ? program.source->name() : "built by a program",
                       fmt::join(kernel_names(program), ", "));
}

}  // namespace

const ir::Kernel& kernel_of(const ir::Program& program, const std::string& wanted) {
    const std::vector<std::string> names = kernel_names(program);
    if (names.empty()) throw Error(Fault::usage, "the program has no kernel");
    if (wanted.empty() && names.size() == 1) return program.kernels.front();
    if (wanted.empty()) {
        throw Error(Fault::usage, fmt::format("the program has {} kernels; say which: kernel='{}'",
                                              names.size(), fmt::join(names, "' or kernel='")));
    }
    if (const ir::Kernel* kernel = program.find(wanted)) return *kernel;
    throw Error(Fault::usage, fmt::format("the program has no kernel '{}'; it has {}", wanted,
                                          fmt::join(names, ", ")));
}

void add_program(py::module_& module) {
    py::class_<ir::Program>(module, "Program",
                            "A program: kernels that every rank runs. parse() makes one of text.")
        .def_property_readonly("kernels", &kernel_names, "The names of its kernels.")
        .def_property_readonly(
            "source",
            [](const ir::Program& program) { return program.source ? program.source->text() : ""; },
            "The text that it was read from; empty if a program built it.")
        .def_property_readonly(
            "name",
            [](const ir::Program& program) { return program.source ? program.source->name() : ""; },
            "The name of that text: a path.")
        .def("show", &show, py::arg("form") = "ir", py::arg("rank") = 0, py::arg("ranks") = 4,
             py::arg("kernel") = "",
             "The program as text: as it is ('ir'), with its collectives written out ('lowered'),\n"
             "or as the instructions of one rank ('plan'). A plan needs values for the symbols,\n"
             "scalars and tables of the kernel: program.show('plan', rank=1, ranks=4, n=256).")
        .def(
            "lower", [](const ir::Program& program) { return lower(program); },
            "The program with its collectives written out, and only primitive ops left.")
        .def(
            "__eq__", [](const ir::Program& a, const ir::Program& b) { return equal(a, b); },
            py::is_operator())
        .def("__hash__", [](const ir::Program& program) { return ir::hash(program); })
        .def("__str__", [](const ir::Program& program) { return print(program); })
        .def("__repr__", &representation);

    module.def("parse", &parse_text, py::arg("text"), py::arg("name") = "<text>",
               "Parses and verifies the text of a .peal program. Raises ProgramError with every\n"
               "error found; `name` is what they call the text.");
    module.def(
        "parse_file",
        [](const py::object& path) {
            return parse_file(
                py::cast<std::string>(py::module_::import("os").attr("fspath")(path)));
        },
        py::arg("path"), "Parses and verifies a .peal file.");
}

}  // namespace peal::python
