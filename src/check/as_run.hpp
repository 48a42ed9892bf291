// SPDX-License-Identifier: Apache-2.0
// Calls that are proved as they are given, on their device, and as this machine runs them. The two
// differ where plans have pipes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

// Calls as this machine runs them (plan/for_host.hpp), with what their stages point to.
class CallsHere {
public:
    explicit CallsHere(const std::vector<CheckStage>& given);
    CallsHere(const CallsHere&) = delete;
    CallsHere& operator=(const CallsHere&) = delete;

    const std::vector<CheckStage>& stages() const { return stages_; }

private:
    std::map<const std::vector<Plan>*, std::vector<Plan>> plans_;  // by what they were made from
    std::vector<CheckStage> stages_;
};

// If both are proved, the proof of the calls as they are given, which is what is claimed; it is
// from the store if both are. Otherwise of the first that is not proved.
struct ProofOfRun {
    ProofAnswer answer;
    std::shared_ptr<const CallsHere> here;  // what is not proved; null: the calls as given
};

// Limits of a device are for the calls as given. Proofs go through the user's store, under both
// orders of memory. Throws as check() does.
ProofOfRun prove_as_run(const std::vector<CheckStage>& given, const CheckOptions& options);

// The same, with each of the two proved like this. Nothing if one of them is not tried.
using Prove = std::function<std::optional<ProofAnswer>(const std::vector<CheckStage>& stages,
                                                       const CheckOptions& options)>;
std::optional<ProofOfRun> prove_as_run(const std::vector<CheckStage>& given,
                                       const CheckOptions& options, const Prove& prove);

}  // namespace peal::checker
