// SPDX-License-Identifier: Apache-2.0
// Ranks that take themselves to be on several hosts: processes of this machine, of which each host
// has shared memory of its own, and TCP over the loopback between them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peal/communicator.hpp"

namespace peal::hosts::test {

struct HostsOutcome {
    std::vector<int> status;            // by rank: as the process ended; negative: by a signal
    std::vector<std::string> messages;  // by rank: what it threw; "" if nothing

    bool is_well() const;
    std::string text() const;
};

// The way from one rank to another that is slow; unless said, none is. And whether the loopback is
// treated as an adapter that reaches memory by itself.
struct Wires {
    int slow_from = -1, slow_to = -1;
    bool are_direct = false;
};

// Ranks are numbered host by host. A rank that throws is asked no more, and leaves.
HostsOutcome run_on_hosts(const std::vector<int>& ranks_of_hosts,
                          const std::function<void(Communicator&)>& body, Wires wires = {});

// What a rank does before it connects: UCX takes TCP over the loopback, unless UCX_TLS says what.
void use_loopback();

// Why hosts cannot be tried here; "" if they can.
std::string why_no_hosts();

}  // namespace peal::hosts::test
