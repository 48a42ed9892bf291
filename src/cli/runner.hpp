// SPDX-License-Identifier: Apache-2.0
// What carries out plans for a command: the in-process engine, ranks in processes, or the devices
// of a worker. A command says what is done around the calls and asks nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "golden/rehearse.hpp"
#include "peal/plan.hpp"

namespace peal::cli {

using golden::RankMemory;
using golden::RankWork;

struct RunOptions;

class Runner {
public:
    virtual ~Runner() = default;

    // Carries out all calls. What is wrong on the first rank that found something, and the fastest
    // call. A call that fails is an Error.
    virtual golden::Outcome run(const RankWork& work) = 0;

    // A private buffer of a rank, before and after the run.
    virtual std::byte* argument(int rank, std::size_t buffer) = 0;
};

// The runner that the options ask for. The plans must outlive it.
std::unique_ptr<Runner> make_runner(const std::vector<Plan>& plans, const RunOptions& options);

}  // namespace peal::cli
