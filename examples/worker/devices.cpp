// SPDX-License-Identifier: Apache-2.0
#include "devices.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "peal/error.hpp"

namespace examples {
namespace {

// How many devices a driver may have, and the largest number of one.
constexpr std::size_t kMinDevices = 2, kMaxDevices = 16;
constexpr int kMaxDeviceId = 1023;

[[noreturn]] void reject(const std::string& text, const std::string& why) {
    throw peal::Error(peal::Fault::usage,
                      "devices '" + text + "': " + why + "; write for example 0-3 or 0,2,4");
}

int parse_id(const std::string& text, std::string_view id) {
    int value = -1;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), value);
    if (error != std::errc{} || end != id.data() + id.size() || value < 0 || value > kMaxDeviceId) {
        reject(text, "'" + std::string(id) + "' is not a device number (0.." +
                         std::to_string(kMaxDeviceId) + ")");
    }
    return value;
}

void add_range(const std::string& text, std::string_view range, std::vector<int>& devices) {
    const auto dash = range.find('-');
    const int first = parse_id(text, range.substr(0, dash));
    const int last =
        dash == std::string_view::npos ? first : parse_id(text, range.substr(dash + 1));
    if (last < first) reject(text, "the range " + std::string(range) + " runs backwards");
    for (int id = first; id <= last; ++id) {
        if (std::find(devices.begin(), devices.end(), id) != devices.end()) {
            reject(text, "device " + std::to_string(id) + " appears twice");
        }
        devices.push_back(id);
    }
}

}  // namespace

std::vector<int> parse_devices(const std::string& text) {
    std::vector<int> devices;
    std::stringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) add_range(text, part, devices);
    if (devices.size() < kMinDevices || devices.size() > kMaxDevices) {
        reject(text, "expected 2..16 devices, found " + std::to_string(devices.size()));
    }
    return devices;
}

}  // namespace examples
