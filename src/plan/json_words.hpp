// SPDX-License-Identifier: Apache-2.0
// The words that the writer and the reader of plan JSON have in common.
#pragma once

#include <string_view>

namespace peal::plan {

inline constexpr std::string_view kJsonFormat = "peal-plans";
inline constexpr int kJsonVersion = 1;

inline constexpr std::string_view kCopyWord = "copy";
inline constexpr std::string_view kReduceWord = "reduce";
inline constexpr std::string_view kAccumulateWord = "accumulate";
inline constexpr std::string_view kMapWord = "map";
inline constexpr std::string_view kNotifyWord = "notify";
inline constexpr std::string_view kWaitWord = "wait";
inline constexpr std::string_view kSetFlagWord = "set_flag";
inline constexpr std::string_view kWaitFlagWord = "wait_flag";
inline constexpr std::string_view kPipeBarrierWord = "pipe_barrier";
inline constexpr std::string_view kFenceWord = "fence";
inline constexpr std::string_view kEvictWord = "evict";

inline constexpr std::string_view kCacheGroup = "cache";  // Instruction::group: kCached

}  // namespace peal::plan
