// SPDX-License-Identifier: Apache-2.0
// Proofs of kernels that a host hands to its devices call by call, on windows that it makes.
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include "peal/check.hpp"
#include "peal/error.hpp"
#include "peal/page.hpp"
#include "peal/worker_kernel.hpp"
#include "python/module.hpp"
#include "python/values.hpp"
#include "python/waiting.hpp"

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
    int claim = -1;    // the first of those made that holds
    std::string page;  // where the first refutation is drawn
    std::vector<Refutation> refutations;
};

// What a kernel computes: collective, op, root, the buffer of its input, that of its result.
using Claim = std::tuple<std::string, std::string, int, std::string, std::string>;

std::uint16_t buffer_named(const Plan& plan, const std::string& wanted) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        if (plan.buffers[b].name == wanted) return static_cast<std::uint16_t>(b);
    }
    throw Error(Fault::usage, fmt::format("the kernel has no buffer '{}'", wanted));
}

// None if the buffers have other sizes. Ranks may add in orders of their own.
std::optional<Meaning> meaning_of_claim(const Claim& claim, const std::vector<Plan>& plans) {
    const auto& [kind, op, root, input, output] = claim;
    const Plan& plan = plans.front();
    const Ports ports{buffer_named(plan, input), buffer_named(plan, output)};
    const auto nranks = static_cast<int>(plans.size());
    Collective collective;
    collective.kind = word_from("collective", kind, kCollectives);
    collective.op = word_from("op", op, kReduceOps);
    collective.root = root;
    collective.element = plan.buffers[ports.input].element;
    const std::uint64_t given = plan.buffers[ports.input].elements();
    const bool is_blocks = facts_of(collective.kind).input == Share::blocks;
    collective.count = is_blocks ? given / plans.size() : given;
    if (input_count(collective, 0, nranks) != given ||
        output_count(collective, 0, nranks) != plan.buffers[ports.output].elements() ||
        plan.buffers[ports.output].element != collective.element) {
        return std::nullopt;
    }
    Meaning meaning = meaning_of(collective, plans, ports);
    meaning.same_bits = false;
    return meaning;
}

std::uint32_t line_of(const peal::Step& step, const std::vector<CheckStage>& stages) {
    const Plan& plan =
        (*stages[static_cast<std::size_t>(step.stage)].plans)[static_cast<std::size_t>(step.rank)];
    return step.index < 0 ? 0 : plan.instructions[static_cast<std::size_t>(step.index)].line;
}

Refutation refutation_of(const Violation& violation, const std::vector<CheckStage>& stages) {
    Refutation made{std::string(name(violation.kind)), violation.message, {}, {}};
    for (const peal::Step& step : violation.steps) {
        if (const std::uint32_t line = line_of(step, stages); line > 0) made.lines.push_back(line);
    }
    for (const peal::Step& step : violation.schedule) {
        made.schedule.push_back(to_text(step, stages));
    }
    return made;
}

std::string names_of(const std::vector<std::vector<Plan>>& kernels) {
    std::vector<std::string> names;
    for (const std::vector<Plan>& plans : kernels) {
        if (!plans.empty()) names.push_back(plans.front().kernel);
    }
    return fmt::format("kernel {}", fmt::join(names, ", "));
}

// The stages of one turn of the host, and how often it comes.
class Turn {
public:
    Turn(const std::vector<std::vector<Plan>>& kernels, bool zeroed, double max_seconds) {
        options_.max_seconds = max_seconds;
        options_.progress = tell_if_slow(names_of(kernels), max_seconds);
        for (const std::vector<Plan>& plans : kernels) {
            if (!plans.empty()) {
                stages_.push_back({&plans, nullptr, {}, fresh_windows(plans)});
            } else if (!stages_.empty()) {
                add_meeting();
            }
        }
        if (stages_.empty()) throw Error(Fault::usage, "there is no kernel to prove");
        if (zeroed) {  // every call begins as the first did, so one is all of them
            options_.calls = 1;
            options_.any_calls = false;
        } else {  // the host hands out a call when all ranks have returned from the last
            add_meeting();
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    const std::vector<CheckStage>& stages() const { return stages_; }
    ProofAnswer prove(const Meaning* meaning) {
        stages_.front().meaning = meaning;
        return check_once(stages_, options_);
    }

private:
    void add_meeting() {
        if (turn_.empty()) turn_ = host_turn(static_cast<int>(stages_.front().plans->size()));
        stages_.push_back(host_turn_stage(turn_));
    }

    std::vector<Plan> turn_;
    std::vector<CheckStage> stages_;
    CheckOptions options_;
};

ProvedRun hosted_run(const std::vector<std::vector<Plan>>& kernels, bool zeroed) {
    const Turn once(kernels, true, 0);  // a run says by itself that all return before the next
    return {once.stages(), zeroed};
}

// The first claim that holds of a kernel whose protocol is proved. -1: none.
int first_that_holds(const std::vector<Claim>& claims, const std::vector<Plan>& plans, Turn& turn) {
    for (std::size_t c = 0; c < claims.size(); ++c) {
        const std::optional<Meaning> meaning = meaning_of_claim(claims[c], plans);
        if (meaning && turn.prove(&*meaning).report.verdict == Verdict::proved) {
            return static_cast<int>(c);
        }
    }
    return -1;
}

HostedProof prove_hosted(const std::vector<std::vector<Plan>>& kernels, bool zeroed,
                         double max_seconds, const std::vector<Claim>& claims,
                         const std::string& page_title) {
    Turn turn(kernels, zeroed, max_seconds);
    if (!claims.empty() && kernels.size() != 1) {
        throw Error(Fault::usage, "claims are made of one kernel");
    }
    const ProofAnswer answer = turn.prove(nullptr);
    const CheckReport& report = answer.report;
    HostedProof made;
    made.verdict = report.verdict == Verdict::bound ? "bound" : name(report.verdict);
    made.bound = report.bound;
    made.from_store = answer.from_store;
    for (const Violation& each : report.violations) {
        made.refutations.push_back(refutation_of(each, turn.stages()));
    }
    if (!page_title.empty() && !report.violations.empty()) {
        made.page = write_page(page_title, report.violations.front(), turn.stages());
    }
    // What had to be explored is not explored again for every claim.
    if (report.verdict == Verdict::proved && report.method == CheckMethod::linear) {
        made.claim = first_that_holds(claims, kernels.front(), turn);
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
        .def_readonly("claim", &HostedProof::claim,
                      "The first claim that holds; -1: none, or none was made.")
        .def_readonly("page", &HostedProof::page, "Where the first refutation is drawn.")
        .def_readonly("refutations", &HostedProof::refutations, "Shortest first.");
    module.def(
        "prove_hosted",
        [](const std::vector<std::vector<Plan>>& kernels, bool zeroed, double max_seconds,
           const std::vector<Claim>& claims, const std::string& page_title) {
            return unlocked(
                [&] { return prove_hosted(kernels, zeroed, max_seconds, claims, page_title); });
        },
        py::arg("kernels"), py::arg("zeroed") = true, py::arg("max_seconds") = 60.0,
        py::arg("claims") = std::vector<Claim>{}, py::arg("page_title") = "",
        "Proves the plans of all ranks of a kernel whose windows hold zeros at first, and which "
        "is\n"
        "called when all ranks have returned from the call before. `zeroed`: every call finds\n"
        "windows and cells zeroed, as the first did; otherwise they keep what the last call left,\n"
        "and any number of calls is proved. A list without plans among the kernels is a turn of "
        "the\n"
        "host: what is before it is over on all ranks.\n"
        "Claims of what a kernel computes, (collective, op, root, input, output), are tried in\n"
        "order. With a title, what is refuted is drawn on a page.");
    module.def("hosted_run", &hosted_run, py::arg("kernels"), py::arg("zeroed") = true,
               "Such kernels as the run that they were proved as; see DeviceKernel.proved_in().");
}

}  // namespace peal::python
