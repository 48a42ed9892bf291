// SPDX-License-Identifier: Apache-2.0
// peal launch --hosts: one job on several hosts. The launcher starts an agent for each, ssh for
// example, which starts `peal host-side` there, and speaks with it over the agent's input and
// output. What dies anywhere ends everywhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/host_list.hpp"

namespace peal::cli {

struct HostsCommand {
    std::vector<HostShare> shares;
    int nranks = 0;
    std::string agent;       // and its options, by blanks; "": ssh
    std::string peal;        // where the command is on the hosts; "": where it is here
    std::string rendezvous;  // where ranks meet, host or host:port; "": at the first host
    bool is_prefixed = false;
    std::chrono::milliseconds report{0};   // how often ranks are asked where they stand; 0: never
    std::vector<std::string> environment;  // NAME, or NAME=value
    std::vector<std::string> program;
};

// `front` as in look_after_ranks: a pidfd of the process that the user sees. Returns the worst
// status. Throws Error.
int conduct(const HostsCommand& command, int front);

}  // namespace peal::cli
