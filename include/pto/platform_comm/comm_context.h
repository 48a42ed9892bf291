// SPDX-License-Identifier: Apache-2.0
// What a kernel knows of its communication domain.
#pragma once

#include <cstddef>
#include <cstdint>

inline constexpr std::size_t COMM_MAX_RANK_NUM = 64;

struct CommContext {
    std::uint64_t workSpace;
    std::uint64_t workSpaceSize;
    std::uint32_t rankId;
    std::uint32_t rankNum;
    std::uint64_t winSize;  // bytes of one rank's window
    // Where each rank's window is. The copy of a window pointer p on another rank is
    // windowsIn[peer] + (p - windowsIn[rankId]).
    std::uint64_t windowsIn[COMM_MAX_RANK_NUM];
    std::uint64_t windowsOut[COMM_MAX_RANK_NUM];
};

static_assert(sizeof(CommContext) == 1056);
static_assert(offsetof(CommContext, workSpaceSize) == 8);
static_assert(offsetof(CommContext, rankId) == 16);
static_assert(offsetof(CommContext, rankNum) == 20);
static_assert(offsetof(CommContext, winSize) == 24);
static_assert(offsetof(CommContext, windowsIn) == 32);
static_assert(offsetof(CommContext, windowsOut) == 544);
