// SPDX-License-Identifier: Apache-2.0
// What `peal check` says.
#pragma once

#include <string>
#include <vector>

#include "cli/check_jobs.hpp"
#include "peal/check.hpp"

namespace peal::cli {

// A rank count that `require` of the kernel refuses.
struct Exclusion {
    int nranks = 0;
    std::string why;  // "required: nranks % 2 == 0, found 1 (kernel k, rank 0 of 3), line 4"
};

// All jobs of one subject, up to the first that did not prove.
struct SubjectResult {
    const CheckSubject* subject = nullptr;
    std::vector<int> ranks;  // that were checked
    std::vector<Exclusion> excluded;
    Claim claim;
    CheckReport last;  // of the job that decided: the one that did not prove, or the first
    int last_nranks = 0;
    std::uint64_t last_count = 0;
    std::uint64_t checks = 0;
    std::uint64_t events = 0;
    std::uint64_t states = 0;
    double seconds = 0;
};

// What was asked, what came out; below it what was left out, and a word where no result was asked.
std::string summary_text(const std::vector<SubjectResult>& results);

// Kind, the instructions involved with their source lines, bytes, terms, and the diagram.
std::string violation_text(const Violation& violation, const std::vector<CheckStage>& stages);
// Each warning with the line that it is about, and how to have it as an error; empty: there is
// none.
std::string warnings_text(const CheckReport& report, const std::vector<CheckStage>& stages);
std::string redundant_text(const CheckReport& report, const std::vector<CheckStage>& stages);
std::string explanation_text(const CheckReport& report, const std::vector<CheckStage>& stages);
std::string to_json(const std::vector<SubjectResult>& results,
                    const std::vector<CheckStage>& stages);

}  // namespace peal::cli
