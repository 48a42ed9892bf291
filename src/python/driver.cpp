// SPDX-License-Identifier: Apache-2.0
// Drivers for Python: tasks of bare addresses. Whoever passes an address keeps what is there.
#include "peal/driver.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "peal/error.hpp"
#include "python/module.hpp"
#include "python/values.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

Direction direction_from(const std::string& word) {
    for (const Direction direction : {Direction::in, Direction::out, Direction::inout}) {
        if (name(direction) == word) return direction;
    }
    throw Error(Fault::usage,
                fmt::format("direction: expected in, out or inout, found '{}'", word));
}

// base, offset, element, shape, strides, waits, writes
using TensorTuple = std::tuple<std::uint64_t, std::uint64_t, std::string,
                               std::vector<std::uint64_t>, std::vector<std::uint64_t>, bool, bool>;
using ArgumentTuple = std::pair<std::vector<TensorTuple>, std::vector<std::uint64_t>>;

DriverTensor tensor_from(const TensorTuple& tuple) {
    const auto& [base, offset, element, shape, strides, waits, writes] = tuple;
    const auto known = element_from(element);
    if (!known) throw Error(Fault::usage, fmt::format("there is no element type '{}'", element));
    return {base, offset, *known, shape, strides, waits, writes};
}

DriverArguments arguments_from(const ArgumentTuple& tuple) {
    DriverArguments arguments;
    for (const TensorTuple& tensor : tuple.first) arguments.tensors.push_back(tensor_from(tensor));
    arguments.scalars = tuple.second;
    return arguments;
}

std::unique_ptr<Driver> make_driver(std::vector<int> devices, std::string platform,
                                    const std::string& check) {
    DriverOptions options;
    options.worker.devices = std::move(devices);
    options.worker.platform = std::move(platform);
    options.worker.engine = DeviceEngine::in_process;
    options.worker.max_timings = 0;
    if (check == "off") {
        options.check = DriverCheck::off;
    } else if (check == "error") {
        options.check = DriverCheck::error;
    } else if (check != "warn") {
        throw Error(Fault::usage,
                    fmt::format("PEAL_CHECK: expected warn, error or off, found '{}'", check));
    }
    return unlocked([&] { return std::make_unique<Driver>(std::move(options)); });
}

void submit(Driver& driver, const DriverCallable& callable, std::vector<int> chips,
            const std::vector<ArgumentTuple>& arguments) {
    DriverTask task{callable, std::move(chips), {}};
    for (const ArgumentTuple& each : arguments) task.arguments.push_back(arguments_from(each));
    driver.submit(task);
}

void run(Driver& driver) {
    try {
        unlocked([&] { driver.start(); });
        wait_for_python([&](std::chrono::nanoseconds limit) { return driver.wait_for(limit); },
                        std::nullopt);
    } catch (py::error_already_set&) {
        driver.stop();
        throw;
    }
}

void add_domain(py::module_& module) {
    py::class_<DriverDomain>(module, "DriverDomain", "Windows on several chips.")
        .def_readonly("id", &DriverDomain::id)
        .def_readonly("windows", &DriverDomain::windows, "Addresses, by rank in the domain.")
        .def_readonly("contexts", &DriverDomain::contexts,
                      "Addresses of what kernels know of the domain, by rank in it.");
}

void add_callable(py::module_& module) {
    py::class_<pto::Shim>(module, "PtoShim", "An orchestration shim, compiled.")
        .def(py::init([](const std::string& path, std::vector<std::string> include_directories) {
                 pto::KernelOptions options;
                 options.include_directories = std::move(include_directories);
                 return unlocked([&] { return pto::Shim::compile(path, options); });
             }),
             py::arg("path"), py::arg("include_directories") = std::vector<std::string>{})
        .def_property_readonly("path", &pto::Shim::path)
        .def_property_readonly("library", &pto::Shim::library);
    py::class_<DriverCallable>(module, "DriverCallable", "A shim and the kernels that it launches.")
        .def(py::init([](std::string name, const pto::Shim& shim, std::string entry,
                         std::string config, std::vector<std::pair<int, pto::Kernel>> kernels,
                         const std::vector<std::string>& signature) {
                 DriverCallable callable;
                 callable.program = std::make_shared<pto::ChipProgram>(
                     pto::ChipProgram{std::move(name), shim, std::move(entry), std::move(config),
                                      std::move(kernels)});
                 for (const std::string& word : signature) {
                     callable.signature.push_back(direction_from(word));
                 }
                 return callable;
             }),
             py::arg("name"), py::arg("shim"), py::arg("entry"), py::arg("config"),
             py::arg("kernels"), py::arg("signature"));
}

}  // namespace

void add_driver(py::module_& module) {
    add_domain(module);
    add_callable(module);
    const auto release = py::call_guard<py::gil_scoped_release>();
    py::class_<Driver>(module, "Driver",
                       "Hands chip tasks to devices, each proved before it first runs. Memory is "
                       "named by its address, and stays until the run is over.")
        .def(py::init(&make_driver), py::arg("devices"), py::arg("platform") = "host",
             py::arg("check") = "warn")
        .def("allocate_domain", &Driver::allocate_domain, py::arg("chips"), py::arg("bytes"),
             release, "Zeroed windows.")
        .def("release_domain", &Driver::release_domain, py::arg("id"), release)
        .def("allocate", &Driver::allocate, py::arg("chip"), py::arg("bytes"), release,
             "Zeroed memory of a chip; its address.")
        .def("free", &Driver::free, py::arg("address"), release)
        .def("copy", &Driver::copy, py::arg("to"), py::arg("source"), py::arg("bytes"), release)
        .def("submit", &submit, py::arg("callable"), py::arg("chips"), py::arg("arguments"),
             "Remembers a task for run(). The arguments of each chip are tensors (base, offset, "
             "element, shape, strides, waits, writes) and scalars.")
        .def("run", &run, "Carries out what was submitted.")
        .def("stop", &Driver::stop, release, "Forgets what was submitted.")
        .def("close", &Driver::close, release)
        .def_property_readonly("summary", [](const Driver& driver) {
            const DriverSummary summary = driver.summary();
            return std::tuple(summary.proved, summary.refuted, summary.undecided);
        });
}

}  // namespace peal::python
