// SPDX-License-Identifier: Apache-2.0
// One target of `peal check`, carried out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/check_jobs.hpp"
#include "cli/check_report.hpp"
#include "cli/command_line.hpp"
#include "peal/check.hpp"

namespace peal::cli {

// What is asked of one target.
struct CheckRequest {
    CheckCommand command;
    CheckOptions options;
    std::string calls = "any";
    std::string order = "both";  // drained, fenced, or both where they differ
    bool full = false;           // the whole picture, on the rank count that was asked for
    bool take_proofs = false;    // what stands in the store is not checked again
};

// The options that say what is checked. They are also the keys of a project (cli/project.hpp);
// those that say what is shown are in the group kReportGroup.
inline constexpr const char* kReportGroup = "Report";
void add_request_options(Command& command, CheckRequest& request);

// Fills in what follows from the options; throws Error(usage) for those that cannot be.
void prepare(CheckRequest& request);

struct Run {
    SubjectResult result;
    bool is_for_both_orders = false;
    // Where the violation is shown: on fewer ranks, if they have it too.
    CheckJob smaller;
    CheckReport on_fewer;

    bool is_on_fewer() const { return !on_fewer.violations.empty(); }
    const CheckReport& shown() const { return is_on_fewer() ? on_fewer : result.last; }
    // What a message of a violation begins with: that one order proves it, and the other does not.
    std::string_view order_note() const {
        const CheckReport& report = shown();
        const bool is_fenced_only =
            is_for_both_orders && !report.any_order && report.order == MemoryOrder::fenced;
        return is_fenced_only ? "proved under drained, refuted under fenced: " : "";
    }
    std::vector<CheckStage> stages() const {
        return (is_on_fewer() ? smaller.calls : result.calls).stages();
    }
};

// Refers to the subject.
Run check_subject(const CheckRequest& request, const CheckSubject& subject);

// The counterexample on the fewest ranks that have one of its kind, unless all is to be shown.
// Rank counts that cannot be checked, for whatever reason, are passed over; so are all when it
// takes long.
void look_on_fewer(const CheckRequest& request, Run& run);

// All subjects of a target; of these the one that is shown: the first that did not prove, or the
// last. Subjects must outlive it.
struct TargetRuns {
    std::vector<Run> runs;
    std::size_t deciding = 0;

    const Run& shown() const { return runs[deciding]; }
};
std::vector<SubjectResult> results_of(const std::vector<Run>& runs);
TargetRuns check_subjects(const CheckRequest& request, const std::vector<CheckSubject>& subjects);

// The counterexample that is shown, as a picture; empty if there is none.
std::string picture_of(const Run& run, bool full);

// Below its row: why it is not proved, or what else was asked for.
std::string findings_text(const Run& run, const CheckRequest& request);

}  // namespace peal::cli
