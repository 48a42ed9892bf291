// SPDX-License-Identifier: Apache-2.0
// Devices and platforms as the command line names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peal/plan.hpp"

namespace peal::worker {

// How many devices a driver may have.
inline constexpr int kMinDriverDevices = 2;
inline constexpr int kMaxDriverDevices = 16;

// "0-3", "5-6", "0,2,4", "0-1,4". Throws Error(usage) when the list is malformed, names a device
// twice, or does not have kMinDriverDevices..kMaxDriverDevices devices.
std::vector<int> parse_devices(const std::string& text);

// "host", "a2a3sim" or "a5sim". Throws Error(usage) for anything else.
void check_platform(const std::string& platform);

// The limits of the device that a platform simulates. Of a host there are none.
DeviceRules rules_of(std::string_view platform);

}  // namespace peal::worker
