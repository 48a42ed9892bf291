// SPDX-License-Identifier: Apache-2.0
// What the environment says to a rank of a job on several hosts, beside its number
// (shm/membership.hpp).
#pragma once

namespace peal::hosts {

inline constexpr const char* kRanksVariable = "PEAL_RANKS";            // of the job
inline constexpr const char* kRendezvousVariable = "PEAL_RENDEZVOUS";  // host:port
inline constexpr const char* kSecretVariable = "PEAL_SECRET";
inline constexpr const char* kHostVariable = "PEAL_HOST";  // what this one is called
// Set by a launcher, which has the hub; otherwise rank 0 has it.
inline constexpr const char* kHubVariable = "PEAL_HUB";
// Under PMIx: the address of its own at which rank 0 listens.
inline constexpr const char* kListenVariable = "PEAL_LISTEN";

}  // namespace peal::hosts
