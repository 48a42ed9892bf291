// SPDX-License-Identifier: Apache-2.0
// Targets: what the command checks and runs. python/peal/_targets.py makes them pleasant.
#include "peal/targets.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "python/memory.hpp"
#include "python/module.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;
using GivenPlans = std::optional<std::vector<Plan>>;

TargetRequest request_of(std::string target, Options options, const ir::Program* program,
                         GivenPlans plans) {
    TargetRequest request{std::move(target), std::move(options)};
    if (program) request.program = std::make_shared<const ir::Program>(*program);
    if (plans) request.plans = std::make_shared<const std::vector<Plan>>(std::move(*plans));
    return request;
}

std::vector<TargetArray> inputs_of(const py::list& inputs) {
    std::vector<TargetArray> arrays;
    for (const py::handle each : inputs) {
        const auto input = py::cast<py::tuple>(each);
        TargetArray array;
        array.name = py::cast<std::string>(input[0]);
        array.rank = py::cast<int>(input[1]);
        const HeldArray held(input[2], {"run", array.name.c_str(), false});
        array.element = held.array().element;
        array.bytes.resize(held.array().count * bytes_of(array.element));
        if (!array.bytes.empty()) {
            std::memcpy(array.bytes.data(), held.array().data, array.bytes.size());
        }
        arrays.push_back(std::move(array));
    }
    return arrays;
}

// (name, rank, dtype, bytes)
py::list arrays_of(const std::vector<TargetArray>& arrays) {
    py::list list;
    for (const TargetArray& array : arrays) {
        list.append(py::make_tuple(
            array.name, array.rank, name(array.element),
            py::bytearray(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size())));
    }
    return list;
}

}  // namespace

void add_targets(py::module_& module) {
    module.def(
        "check_target",
        [](std::string target, Options options, const ir::Program* program, GivenPlans plans) {
            const TargetRequest request =
                request_of(std::move(target), std::move(options), program, std::move(plans));
            const TargetReport report = unlocked([&] { return check_target(request); });
            return py::make_tuple(name(report.verdict), report.text, report.json, report.svg);
        },
        py::arg("target"), py::arg("options"), py::arg("program") = nullptr,
        py::arg("plans") = py::none(), "(verdict, text, json, svg); use peal.check().");
    module.def(
        "plans_of_target",
        [](std::string target, Options options, const ir::Program* program, GivenPlans plans) {
            const TargetRequest request =
                request_of(std::move(target), std::move(options), program, std::move(plans));
            return unlocked([&] { return plans_of_target(request); });
        },
        py::arg("target"), py::arg("options"), py::arg("program") = nullptr,
        py::arg("plans") = py::none(), "The plans of all ranks; use peal.compile().");
    module.def(
        "run_target",
        [](std::string target, Options options, const ir::Program* program, GivenPlans plans,
           const py::list& inputs) {
            const TargetRequest request =
                request_of(std::move(target), std::move(options), program, std::move(plans));
            const std::vector<TargetArray> given = inputs_of(inputs);
            const TargetRun run = unlocked([&] { return run_target(request, given); });
            return py::make_tuple(run.collective, run.proof, run.reason, run.wrong, run.seconds,
                                  arrays_of(run.outputs), arrays_of(run.golden));
        },
        py::arg("target"), py::arg("options"), py::arg("program") = nullptr,
        py::arg("plans") = py::none(), py::arg("inputs") = py::list(),
        "(collective, proof, reason, wrong, seconds, outputs, golden); use peal.run().");
}

}  // namespace peal::python
