// SPDX-License-Identifier: Apache-2.0
// Plans, and what devices run: collectives, kernels of programs, plans and PTO kernels.
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "peal/collective.hpp"
#include "peal/error.hpp"
#include "peal/plan.hpp"
#include "peal/pto.hpp"
#include "peal/worker_kernel.hpp"
#include "python/memory.hpp"
#include "python/module.hpp"
#include "python/values.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

Collective collective_from_python(const std::string& kind, std::uint64_t count,
                                  const py::object& dtype, const std::string& op,
                                  const std::string& recipe, int root, const std::string& placement,
                                  std::vector<std::int64_t> counts) {
    Collective collective;
    collective.kind = word_from("collective", kind, kCollectives);
    collective.count = count;
    collective.element = element_from_python(dtype);
    collective.op = word_from("op", op, kReduceOps);
    collective.recipe = recipe;
    collective.root = root;
    collective.placement = word_from("placement", placement, kPlacements);
    collective.counts = std::move(counts);
    return collective;
}

constexpr std::array kHeld = {Held::What::input, Held::What::zeros, Held::What::fresh};

DeviceKernel kernel_of_collective(const std::string& kind, std::uint64_t count,
                                  const py::object& dtype, const std::string& op,
                                  const std::string& recipe, int root, const std::string& placement,
                                  std::vector<std::int64_t> counts) {
    return DeviceKernel(
        collective_from_python(kind, count, dtype, op, recipe, root, placement, std::move(counts)));
}

DeviceKernel kernel_of_program(const ir::Program& program, const std::string& kernel,
                               const py::kwargs& sizes) {
    const ir::Kernel& picked = kernel_of(program, kernel);
    return {program, picked.name, bindings_from(picked, sizes)};
}

std::vector<Plan> compile_program(const ir::Program& program, int ranks, const std::string& kernel,
                                  int lanes, bool fuse, const py::kwargs& sizes) {
    const ir::Kernel& picked = kernel_of(program, kernel);
    const Bindings bindings = bindings_from(picked, sizes);
    if (ranks < 1 || ranks > kMaxRanks) {
        throw Error(Fault::usage, fmt::format("ranks: expected 1..{}, found {}", kMaxRanks, ranks));
    }
    CompileOptions options;
    options.lanes = lanes;
    options.fuse = fuse;
    return unlocked([&] { return compile(program, picked.name, bindings, ranks, options); });
}

void add_plan(py::module_& module) {
    py::class_<Plan>(module, "Plan", "What one rank does: a flat list of instructions.")
        .def_readonly("kernel", &Plan::kernel, "The kernel that it is of.")
        .def_readonly("rank", &Plan::rank, "Whose it is.")
        .def_readonly("nranks", &Plan::nranks, "Of how many.")
        .def_property_readonly(
            "buffers",
            [](const Plan& plan) {
                std::vector<std::string> names;
                for (const Buffer& buffer : plan.buffers) names.push_back(buffer.name);
                return names;
            },
            "The names of its buffers: arguments follow them.")
        .def_property_readonly(
            "digest", [](const Plan& plan) { return digest(plan); },
            "32 digits; plans that do the same have the same.")
        .def("__len__", [](const Plan& plan) { return plan.instructions.size(); })
        .def(
            "__eq__", [](const Plan& a, const Plan& b) { return a == b; }, py::is_operator())
        .def("__hash__", [](const Plan& plan) { return std::hash<std::string>()(digest(plan)); })
        .def("__str__", [](const Plan& plan) { return to_text(plan); })
        .def("__repr__", [](const Plan& plan) {
            return fmt::format("<peal.Plan {}, rank {} of {}: {} instructions>", plan.kernel,
                               plan.rank, plan.nranks, plan.instructions.size());
        });
    module.def(
        "plans_from_json", [](const std::string& text) { return plans_from_json(text); },
        py::arg("text"), "The plans of all ranks, from a file that `peal show --json` wrote.");
    module.def(
        "plans_to_json", [](const std::vector<Plan>& plans) { return to_json(plans); },
        py::arg("plans"), "The plans of all ranks as the text of such a file.");
    module.def("compile_program", &compile_program, py::arg("program"), py::arg("ranks"),
               py::arg("kernel") = "", py::arg("lanes") = 1, py::arg("fuse") = true,
               "The plans of all ranks of a kernel, for these sizes.");
}

void add_device_kernel(py::module_& module) {
    py::class_<WindowSpec>(module, "WindowSpec",
                           "A window of a domain: data of a shape, or signals if `cells` is not 0.")
        .def(py::init([](std::string name, Dimensions shape, const py::object& dtype,
                         std::uint64_t cells, std::uint64_t cell_stride) {
                 return WindowSpec{std::move(name), element_from_python(dtype), std::move(shape),
                                   cells, cell_stride};
             }),
             py::arg("name"), py::arg("shape") = Dimensions{}, py::arg("dtype") = "f32",
             py::arg("cells") = 0, py::arg("cell_stride") = kCacheLineBytes)
        .def_readonly("name", &WindowSpec::name, "Its name.")
        .def_readonly("shape", &WindowSpec::shape, "Of each rank's part.")
        .def_property_readonly(
            "dtype", [](const WindowSpec& spec) { return name(spec.element); }, "The element type.")
        .def_readonly("cells", &WindowSpec::cells, "Signals of each rank's part.")
        .def_readonly("cell_stride", &WindowSpec::cell_stride, "Bytes from cell to cell.")
        .def("__repr__", [](const WindowSpec& spec) {
            return spec.cells != 0
                       ? fmt::format("<peal.WindowSpec {}: {} cells>", spec.name, spec.cells)
                       : fmt::format("<peal.WindowSpec {}: {}>", spec.name,
                                     to_text(spec.element, spec.shape));
        });

    py::class_<ProvedRun>(module, "ProvedRun",
                          "Calls that whoever submits them has proved as a whole.");
    py::class_<DeviceKernel>(
        module, "DeviceKernel",
        "A kernel for the devices of any worker: a kernel of a program, a built-in collective, or\n"
        "plans of any origin. It is compiled when it first meets arguments of some shape.")
        .def(py::init(&kernel_of_program), py::arg("program"), py::arg("kernel") = "",
             "A kernel of a program. Arguments follow its parameters. Further keywords give\n"
             "symbols, scalars and tables that are not to be passed as arguments.")
        .def(py::init(&kernel_of_collective), py::arg("collective"), py::arg("count") = 0,
             py::arg("dtype") = "f32", py::arg("op") = "sum", py::arg("recipe") = "auto",
             py::arg("root") = 0, py::arg("placement") = "separate",
             py::arg("counts") = std::vector<std::int64_t>{},
             "A built-in collective. Arguments: (input, output, data, signal), in place (buffer,\n"
             "data, signal), on a window (data, signal); a barrier has (signal).")
        .def(py::init<std::vector<Plan>>(), py::arg("plans"),
             "Plans of all ranks. Arguments follow Plan.buffers.")
        .def_property_readonly("name", &DeviceKernel::name, "The kernel's name.")
        .def("proved_in", &DeviceKernel::proved_in, py::arg("run"),
             "The same kernel, as a part of such runs: no worker proves it by itself.")
        .def(
            "holding",
            [](const DeviceKernel& kernel, const std::map<std::string, std::string>& windows) {
                std::vector<Held> holds;
                for (const auto& [window, what] : windows) {
                    holds.push_back({window, word_from("what a window holds", what, kHeld)});
                }
                return kernel.holding(std::move(holds));
            },
            py::arg("windows"),
            "The same kernel, of which these windows hold something when a call begins:\n"
            "{\"data\": \"input\"}, or \"zeros\" or \"fresh\". A worker that proves it counts on "
            "that.")
        .def("windows", &DeviceKernel::windows, py::arg("ranks"),
             "The windows that it needs on each of so many ranks, for Worker.allocate_domain().")
        .def("__repr__", [](const DeviceKernel& kernel) {
            return fmt::format("<peal.DeviceKernel {}>", kernel.name());
        });
}

std::vector<Plan> trace_kernel(const pto::Kernel& kernel, const std::vector<std::string>& arguments,
                               int ranks, int blocks, int calls, double timeout,
                               const py::kwargs& names) {
    Bindings bindings;
    for (const auto& [key, value] : names) {
        const std::string name = py::cast<std::string>(key);
        bindings.integers[name] = integer_from(name, value);
    }
    std::vector<pto::Parameter> parameters;
    for (const std::string& text : arguments) {
        parameters.push_back(pto::parameter_from(text, ranks, bindings));
    }
    pto::TraceOptions options;
    options.blocks = blocks;
    options.calls = calls;
    options.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(duration_of(timeout, "timeout"));
    return unlocked([&] { return pto::trace(kernel, parameters, ranks, options); });
}

void add_pto_kernel(py::module_& module) {
    py::class_<pto::Kernel>(
        module, "PtoKernel",
        "A C++ kernel of a tile processor, compiled with the system's compiler.")
        .def(py::init([](const std::string& path, std::vector<std::string> include_directories,
                         std::vector<std::string> defines, std::string compiler) {
                 pto::KernelOptions options;
                 options.include_directories = std::move(include_directories);
                 options.defines = std::move(defines);
                 options.compiler = std::move(compiler);
                 return unlocked([&] { return pto::Kernel::compile(path, options); });
             }),
             py::arg("path"), py::arg("include_directories") = std::vector<std::string>{},
             py::arg("defines") = std::vector<std::string>{}, py::arg("compiler") = "")
        .def_property_readonly("name", &pto::Kernel::name, "The file's, without its extension.")
        .def_property_readonly("path", &pto::Kernel::path, "Of the source.")
        .def_property_readonly("library", &pto::Kernel::library, "Of what was compiled.")
        .def_property_readonly(
            "declared",
            [](const pto::Kernel& kernel) { return pto::declared_in(kernel.path()).arguments; },
            "The arguments that the source says it has: \"in:f32[n]\".")
        .def("trace", &trace_kernel, py::arg("arguments"), py::arg("ranks"), py::arg("blocks") = 1,
             py::arg("calls") = 3, py::arg("timeout") = 10.0,
             "The plans of all ranks, with pipes and flags: what the kernel asks the device to do\n"
             "when it is called with these arguments: \"in:f32[256]\",\n"
             "\"window:f32[256]+signals:2x16\", \"scalar:7\", \"nranks\", \"rank\", \"context\",\n"
             "\"generation\". Further keywords are the names that they use.")
        .def("__repr__", [](const pto::Kernel& kernel) {
            return fmt::format("<peal.PtoKernel {}>", kernel.path());
        });
}

}  // namespace

void add_kernels(py::module_& module) {
    add_plan(module);
    add_device_kernel(module);
    add_pto_kernel(module);
}

}  // namespace peal::python
