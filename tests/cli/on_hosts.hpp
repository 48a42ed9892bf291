// SPDX-License-Identifier: Apache-2.0
// Runs commands beside machines that are namespaces (tools/with-hosts).
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace peal::test {

// A line of shell on a machine that is connected to machines of these names. $peal is the command,
// and enter-host an agent for it. Nothing it started is left when it returns.
Ran on_hosts(const std::vector<std::string>& names, const std::string& shell);

// A line of shell that tells on standard error what a job has left behind on these machines:
// processes, files in /dev/shm, memory segments, and sockets that listen or are connected.
std::string what_is_left_on(const std::vector<std::string>& names);

// Why machines cannot be made here, or jobs on them; "" if they can.
std::string why_no_hosts();

// Why mpirun starts no job of ours; "" if it does.
std::string why_no_mpirun();

}  // namespace peal::test
