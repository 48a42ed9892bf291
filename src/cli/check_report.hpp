// SPDX-License-Identifier: Apache-2.0
// What `peal check` says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/check_jobs.hpp"
#include "draw/diagram.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"

namespace peal::cli {

// A rank count that `require` of the kernel refuses.
struct Exclusion {
    int nranks = 0;
    std::string why;  // "required: nranks % 2 == 0, found 1 (kernel k, rank 0 of 3), line 4"
};

// What --redundant found for one rank count.
struct RedundantAt {
    int nranks = 0;
    std::uint64_t count = 0;
    bool cut = false;  // the time was over before all were tried
    struct Sync {
        int rank = 0;
        std::string what;  // "wait sig[0] >= 1 (line 7)"
        std::string step;  // what its line does in every rank and round: "wait (line 7)"
        std::uint64_t steps_with = 0, steps_without = 0;

        std::string text() const;  // "rank 1: wait sig[0] >= 1 (line 7)"
    };
    std::vector<Sync> syncs;
};
RedundantAt redundant_at(const CheckJob& job, const CheckReport& report);

// A line of a file.
struct FileLine {
    std::string file;
    std::uint32_t line = 0;  // 0: of the file as a whole
};

// All jobs of one subject, up to the first that did not prove.
struct SubjectResult {
    const CheckSubject* subject = nullptr;
    std::optional<FileLine> asked_at;    // in a project
    Verdict expected = Verdict::proved;  // a project may list what is wrong
    std::optional<Error> trouble;        // why it could not be checked
    std::vector<int> ranks;              // that were checked
    std::vector<Exclusion> excluded;
    Claim claim;
    std::vector<Held> holds;  // what is assumed of its windows
    int lanes = 1;            // see CheckJob
    std::string note;         // what a proof does not refute, and should be known
    std::optional<std::vector<RedundantAt>> redundant;  // if it was asked for
    CheckReport last;  // of the job that decided: the one that did not prove, or the first
    checker::CallSequence calls;  // that `last` speaks of; nothing where nothing more is said
    int last_nranks = 0;
    std::uint64_t last_count = 0;
    bool any_calls = true;  // all of them, as many calls as fit the cells; 0: without an end
    std::uint64_t calls_that_fit = 0;
    std::string why_not_any;
    bool is_traced_by_generation = false;  // any number of calls: those that were traced, and
                                           // others if the kernel goes on like that
    std::uint64_t checks = 0;
    std::uint64_t from_store = 0;  // of the checks
    std::uint64_t events = 0;
    std::uint64_t states = 0;
    double seconds = 0;

    bool is_as_expected() const { return !trouble && last.verdict == expected; }
};

// What is asked of it, in the same words whatever comes out: "ring, 2..16 ranks, 256 elements".
std::string case_name(const CheckSubject& subject);

// What was asked, what came out; below it what was left out, a word where no result was asked, why
// not any number of calls is claimed, and for how many there is room.
std::string summary_text(const std::vector<SubjectResult>& results);

// Of a large one the steps that matter, an operation of a kernel being one; unless all are asked
// for, instruction by instruction.
draw::Diagram diagram_of(const Violation& violation, const std::vector<CheckStage>& stages,
                         bool full);
// Kind, the instructions involved with their source lines, memory, terms, and the diagram.
std::string violation_text(const Violation& violation, const std::vector<CheckStage>& stages,
                           bool full);
// Each warning with the line that it is about, and how to have it as an error; empty: there is
// none.
std::string warnings_text(const CheckReport& report, const std::vector<CheckStage>& stages);
// Of one result, or of each under its name. A long list has one line for each step of the kernel,
// unless all is asked for.
std::string redundant_text(const std::vector<SubjectResult>& results, bool full);
std::string explanation_text(const CheckReport& report, const std::vector<CheckStage>& stages);
std::string to_json(const std::vector<SubjectResult>& results);

}  // namespace peal::cli
