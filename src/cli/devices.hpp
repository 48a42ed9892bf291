// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace peal::cli {

inline constexpr int kMinDevices = 2;
inline constexpr int kMaxDevices = 16;

// "0-3", "5-6", "0,2,4", "0-1,4". Throws Error(usage) when the list is malformed, names a device
// twice, or does not have 2..16 devices.
std::vector<int> parse_devices(const std::string& text);

// "host", "a2a3sim" or "a5sim". Throws Error(usage) for anything else.
void check_platform(const std::string& platform);

}  // namespace peal::cli
