// SPDX-License-Identifier: Apache-2.0
// A child process of the driver.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace peal::bench {

// Starts the command in a process group of its own, its input empty and its output appended to the
// file `log`. It is killed when the driver dies. Throws std::system_error.
pid_t spawn(const std::vector<std::string>& command, const std::string& log);

// Whether it has ended; waits for that at most this long.
bool has_ended(pid_t pid, int milliseconds);

// Ends the group at once and waits for its leader.
void end_group(pid_t leader);

}  // namespace peal::bench
