// SPDX-License-Identifier: Apache-2.0
// From a child process to the program that it is to be, and how the parent hears that it is.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

namespace peal::cli {

// A supervisor needs a few descriptors for each rank. The ranks keep the limit there was.
class DescriptorLimit {
public:
    DescriptorLimit();
    void restore() const;

private:
    rlimit before_{};
};

// Tells the launcher why a program could not be started. An exec that succeeds closes the pipe.
class ExecReport {
public:
    // Throws Error(resource).
    ExecReport();
    ~ExecReport();
    ExecReport(const ExecReport&) = delete;
    ExecReport& operator=(const ExecReport&) = delete;

    // In a child.
    void tell(int error) const;
    // In the launcher, when all children are there: 0 once every one of them runs its program.
    int first_error();

private:
    int ends_[2] = {-1, -1};
};

// The terminal, or whatever it is, speaks to one rank: this one has nothing to read.
void close_input();

// Returns only if the program cannot be started: with the reason.
int run_program(const std::vector<std::string>& program);

}  // namespace peal::cli
