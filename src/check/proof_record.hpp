// SPDX-License-Identifier: Apache-2.0
// A proof, written down: of what, under which assumptions, what was proved and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

// What a proof is about. Two checks of the same subject have the same answer.
struct ProofSubject {
    std::string digest;    // of the calls with all ranks' plans (check/digest.hpp)
    std::string meanings;  // of each call: a digest, or "none": only its protocol; by commas
    int ranks = 0;
    int calls = 0;  // how often the sequence is run; 0: any number of times
    DeviceRules device;
    bool strict_loads = false;
    // What a proof was found under; "any" where the two make no difference.
    std::string memory_order = "any";
    int checker = kCheckerVersion;

    bool operator==(const ProofSubject&) const = default;
};
// Of options.calls calls. Throws as check() does when the stages do not fit together.
ProofSubject subject_of(const std::vector<CheckStage>& stages, const CheckOptions& options);

struct ProofRecord {
    ProofSubject subject;
    std::string kernels;  // of the calls, by commas
    std::string results;  // that each call is proved to have, as result_of() says it, by commas
    // Any number of rounds of calls, but no more than fit the cells; 0: without an end.
    std::uint64_t rounds_that_fit = 0;
    CheckMethod method = CheckMethod::linear;
    std::uint64_t events = 0;
    std::uint64_t states = 0;
    std::int64_t proved_at = 0;  // seconds since 1970

    bool operator==(const ProofRecord&) const = default;
};

// What is proved of a call with this meaning: the collective, or "protocol only".
std::string result_of(const Meaning* meaning);

// The digest of the whole subject: one record stands for it.
std::string key_of(const ProofSubject& subject);

// JSON, and back; nothing if that is no record of this checker.
std::string to_text(const ProofRecord& record);
std::optional<ProofRecord> proof_record_from(std::string_view text);

}  // namespace peal::checker
