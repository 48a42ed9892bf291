// SPDX-License-Identifier: Apache-2.0
// Proofs of kernels that a host hands to its devices call by call, on windows that it makes.
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "peal/check.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "python/module.hpp"

namespace peal::python {
namespace {

// Where nobody wrote yet, a window holds the zeros that it was made with.
std::vector<Held> fresh_windows(const std::vector<Plan>& plans) {
    std::vector<Held> holds;
    for (const Buffer& buffer : plans.front().buffers) {
        if (buffer.kind == BufferKind::window) holds.push_back({buffer.name, Held::What::fresh});
    }
    return holds;
}

struct Refutation {
    std::string kind;
    std::string message;
    std::vector<std::uint32_t> lines;   // of the steps involved, in the source
    std::vector<std::string> schedule;  // one step after another
};

struct HostedProof {
    std::string verdict;
    std::string bound;
    bool from_store = false;
    std::vector<Refutation> refutations;
};

std::uint32_t line_of(const peal::Step& step, const std::vector<CheckStage>& stages) {
    const Plan& plan =
        (*stages[static_cast<std::size_t>(step.stage)].plans)[static_cast<std::size_t>(step.rank)];
    return step.index < 0 ? 0 : plan.instructions[static_cast<std::size_t>(step.index)].line;
}

Refutation refutation_of(const Violation& violation, const std::vector<CheckStage>& stages) {
    Refutation made{std::string(name(violation.kind)), violation.message, {}, {}};
    for (const peal::Step& step : violation.steps) made.lines.push_back(line_of(step, stages));
    for (const peal::Step& step : violation.schedule) {
        made.schedule.push_back(to_text(step, stages));
    }
    return made;
}

HostedProof prove_hosted(const std::vector<std::vector<Plan>>& kernels, bool zeroed,
                         double max_seconds) {
    std::vector<CheckStage> stages;
    for (const std::vector<Plan>& plans : kernels) {
        if (plans.empty()) throw Error(Fault::usage, "there are no plans to prove");
        stages.push_back({&plans, nullptr, {}, fresh_windows(plans)});
    }
    if (stages.empty()) throw Error(Fault::usage, "there is no kernel to prove");
    CheckOptions options;
    options.max_seconds = max_seconds;
    std::vector<Plan> turn;
    if (zeroed) {  // every call begins as the first did, so one is all of them
        options.calls = 1;
        options.any_calls = false;
    } else {  // the host hands out a call when all ranks have returned from the last
        Collective barrier;
        barrier.kind = CollectiveKind::barrier;
        turn = compile(barrier, static_cast<int>(kernels.front().size()));
        stages.push_back({&turn, nullptr, {"the host's turn"}, {}});
    }
    const ProofAnswer answer = check_once(stages, options);
    HostedProof made{
        std::string(name(answer.report.verdict)), answer.report.bound, answer.from_store, {}};
    for (const Violation& each : answer.report.violations) {
        made.refutations.push_back(refutation_of(each, stages));
    }
    return made;
}

}  // namespace

void add_host_turn(py::module_& module) {
    py::class_<Refutation>(module, "Refutation", "A way in which a kernel goes wrong.")
        .def_readonly("kind", &Refutation::kind, "A data race, a deadlock, ...")
        .def_readonly("message", &Refutation::message, "One sentence: who, what, where.")
        .def_readonly("lines", &Refutation::lines, "Of the steps involved, in the source.")
        .def_readonly("schedule", &Refutation::schedule, "An order of events that shows it.");
    py::class_<HostedProof>(module, "HostedProof", "The verdict on a kernel that a host calls.")
        .def_readonly("verdict", &HostedProof::verdict, "proved, violated or bound.")
        .def_readonly("bound", &HostedProof::bound, "The limit that was reached.")
        .def_readonly("from_store", &HostedProof::from_store, "It was proved before.")
        .def_readonly("refutations", &HostedProof::refutations, "Shortest first.");
    module.def(
        "prove_hosted", &prove_hosted, py::arg("kernels"), py::arg("zeroed") = true,
        py::arg("max_seconds") = 600.0, py::call_guard<py::gil_scoped_release>(),
        "Proves the plans of all ranks of a kernel whose windows hold zeros at first, and which "
        "is\n"
        "called when all ranks have returned from the call before. `zeroed`: every call finds\n"
        "windows and cells zeroed, as the first did; otherwise they keep what the last call left,\n"
        "and any number of calls is proved.");
}

}  // namespace peal::python
