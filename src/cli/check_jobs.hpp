// SPDX-License-Identifier: Apache-2.0
// What `peal check` has to do: plan sets of one program for several rank counts and lengths.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/call_sequence.hpp"
#include "cli/target.hpp"
#include "peal/check.hpp"

namespace peal::cli {

struct CheckCommand {
    TargetOptions target;
    std::string ranks;               // "4", "2..16" or "2,4,8..10"; empty: 4, or what --hosts says
    std::vector<std::string> after;  // collectives that run before the target, on the same windows
    std::string expect;
    bool bytes = false;  // reports speak bytes, not elements of the declared shapes
};

// What a proof of the job says about results.
struct Claim {
    std::string result;  // the collective; empty: nothing, only the protocol is checked
    std::string order;   // of a reduction: "same bits" on all ranks, or "any order"; else empty
};

// One sequence of calls to check.
struct CheckJob {
    int nranks = 0;
    std::uint64_t count = 0;
    Claim claim;
    std::vector<Held> holds;  // of the target
    int lanes = 1;            // of each rank, where --lanes or a recipe says it
    checker::CallSequence calls;
    bool has_generations = false;  // of a kernel that was traced for each of them
    // The same without a word on orders: where ranks may combine in orders of their own, that is
    // told and no violation. Nothing: they must not.
    std::optional<checker::CallSequence> any_order;
    std::string note;  // what is told
};

// All jobs of one program or recipe: proved together or not at all. Plans are made one job at a
// time, since all of them together may be large.
struct CheckSubject {
    std::string what;
    std::string recipe;
    std::string counts;  // "P+1, 4P+3, 1, P-1, 0" or "256"; empty when there is no length
    std::vector<std::pair<int, std::uint64_t>> points;  // ranks and count
    TargetOptions options;
    std::optional<pto::Kernel> pto_kernel;  // compiled once for all points
    bool is_foreign = false;                // a file of another project
};

// In the order of the list, each once.
std::vector<int> parse_ranks(const std::string& text);
std::vector<CheckSubject> subjects_of(const CheckCommand& command);
// The length among those of `nranks` ranks that is what `point` is among its own.
std::uint64_t count_on(const CheckSubject& subject, std::pair<int, std::uint64_t> point,
                       int nranks);
// Throws RequirementError when the kernel refuses the rank count or length, and Error(bound) when
// the plans are not made by the deadline.
CheckJob make_job(const CheckCommand& command, const CheckSubject& subject, int nranks,
                  std::uint64_t count, std::chrono::steady_clock::time_point deadline);

}  // namespace peal::cli
