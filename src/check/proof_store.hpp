// SPDX-License-Identifier: Apache-2.0
// Proofs, kept so that a plan is proved once and not at every run.
//
// Each record is a file of its own in proofs/ of the cache directory, under the digest of what it
// is about. It is written beside its place and renamed, and never changed: processes need not wait
// for each other, and whoever reads one reads a whole one. Everything in there may be deleted at
// any time. A record counts only if it can be read, is from this version of the checker, and is
// about exactly what is asked; anything else is as if it were not there.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "check/proof_record.hpp"

namespace peal::checker {

class ProofStore {
public:
    static constexpr std::size_t kMost = 4096;  // records; the oldest go

    // Makes the directory if it is not there. Throws Error(resource) if that cannot be, or if it is
    // not the user's alone to write to: who can write there can claim anything.
    explicit ProofStore(std::filesystem::path directory, std::size_t most = kMost);

    const std::filesystem::path& directory() const { return directory_; }

    std::optional<ProofRecord> find(const ProofSubject& subject) const;

    // Throws Error(resource) when it cannot be written.
    void add(const ProofRecord& record) const;

    std::vector<ProofRecord> list() const;  // the latest first
    std::size_t clear() const;              // how many there were

private:
    std::filesystem::path place_of(const ProofSubject& subject) const;
    void drop_oldest() const;

    std::filesystem::path directory_;
    std::size_t most_;
};

// proofs/ in the cache directory. Throws as the constructor does.
ProofStore user_proof_store();

// What stands in the user's store for it, if anything does.
std::optional<CheckReport> find_proof(const std::vector<CheckStage>& stages,
                                      const CheckOptions& options);

// Puts it there, if it is a proof.
void keep_proof(const std::vector<CheckStage>& stages, const CheckOptions& options,
                const CheckReport& report);

}  // namespace peal::checker
