// SPDX-License-Identifier: Apache-2.0
// Devices as the drivers' command lines name them.
#pragma once

#include <string>
#include <vector>

namespace examples {

// "0-3", "5-6", "0,2,4", "0-1,4". Throws peal::Error(usage) when the list is malformed, names a
// device twice, or does not have 2..16 devices.
std::vector<int> parse_devices(const std::string& text);

}  // namespace examples
