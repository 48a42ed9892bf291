// SPDX-License-Identifier: Apache-2.0
// What `peal check` and `peal run` do, for programs that have no command line: the same targets,
// options, checks and reports. It is for the Python package, and not part of the installed library.
//
//   const TargetReport report = check_target({.target = "mine.peal",
//                                             .options = {{"ranks", "2..16"}, {"expect",
//                                             "allreduce"}}});
//   if (report.verdict == Verdict::violated) show(report.svg);
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peal/check.hpp"
#include "peal/element.hpp"
#include "peal/ir.hpp"
#include "peal/plan.hpp"

namespace peal {

// A collective, file.peal[:kernel], a PTO kernel.cpp, plan.json, a plan of MSCCL or MSCCL++; or
// what is at hand: a program, with the name of one of its kernels as target, or plans.
//
// Options have the names that `peal check --help` and `peal run --help` list, as one word each:
// "in_place". Errors speak of them by these. A flag is "true" or "false"; what takes several values
// may be named several times.
struct TargetRequest {
    std::string target = {};
    std::vector<std::pair<std::string, std::string>> options = {};
    std::shared_ptr<const ir::Program> program = nullptr;
    std::shared_ptr<const std::vector<Plan>> plans = nullptr;
};

struct TargetReport {
    Verdict verdict = Verdict::proved;
    std::string text;  // as `peal check` prints it, of options by these names
    std::string json;  // as --json does
    std::string svg;   // the counterexample as --svg draws it, or empty
};

// Throws Error(usage) for options that cannot be, and what making the plans throws.
TargetReport check_target(const TargetRequest& request);

// The plans of all ranks; of `ranks` ones, where the target does not say.
std::vector<Plan> plans_of_target(const TargetRequest& request);

// Elements of one rank's buffer.
struct TargetArray {
    std::string name;
    int rank = 0;
    Element element = Element::f32;
    std::vector<std::byte> bytes;
};

struct TargetRun {
    std::string collective;  // that it was compared with; empty: none
    std::string proof;       // "proved", the kind of a violation, "bound"; "-": not tried
    std::string reason;      // when it did not prove
    // The first difference from what the collective means. Of inputs that were given, for the
    // caller to find: sums of given numbers may be rounded in another order.
    std::optional<std::string> wrong;
    double seconds = 0;                // of the fastest call
    std::vector<TargetArray> outputs;  // what was written, by rank
    std::vector<TargetArray> golden;   // what the collective means for the inputs of the last call
};

// Carries the target out. Buffers that are read take what is given for them, or numbers that tell
// elements and ranks apart. Error(usage) for an input that does not fit; Error(wrong) or
// Error(bound) if --check was asked for and it is not proved, or nobody can go on.
TargetRun run_target(const TargetRequest& request, const std::vector<TargetArray>& inputs);

}  // namespace peal
