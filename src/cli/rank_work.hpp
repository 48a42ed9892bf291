// SPDX-License-Identifier: Apache-2.0
// What is done around the calls of a run, rank by rank, whoever carries them out.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace peal::cli {

// The own part of a rank's buffer b.
using RankMemory = std::function<std::byte*(std::size_t b)>;

struct RankWork {
    int calls = 1;
    std::chrono::milliseconds timeout{0};
    // Around each call; in processes, in the rank's own. What `after` returns is wrong with the
    // result.
    std::function<void(int rank, int call, const RankMemory& memory)> before;
    std::function<std::optional<std::string>(int rank, int call, const RankMemory& memory)> after;
};

}  // namespace peal::cli
