// SPDX-License-Identifier: Apache-2.0
#include "worker/devices.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::worker {
namespace {

constexpr int kMaxDeviceId = 1023;

[[noreturn]] void reject_list(const std::string& text, const std::string& why) {
    throw Error(Fault::usage,
                fmt::format("devices '{}': {}; write for example 0-3 or 0,2,4", text, why));
}

int parse_id(const std::string& text, std::string_view id) {
    int value = -1;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), value);
    if (error != std::errc{} || end != id.data() + id.size() || value < 0 || value > kMaxDeviceId) {
        reject_list(text, fmt::format("'{}' is not a device number (0..{})", id, kMaxDeviceId));
    }
    return value;
}

void add_range(const std::string& text, std::string_view range, std::vector<int>& devices) {
    const auto dash = range.find('-');
    const int first = parse_id(text, range.substr(0, dash));
    const int last =
        dash == std::string_view::npos ? first : parse_id(text, range.substr(dash + 1));
    if (last < first) reject_list(text, fmt::format("the range {} runs backwards", range));
    for (int id = first; id <= last; ++id) {
        if (std::find(devices.begin(), devices.end(), id) != devices.end()) {
            reject_list(text, fmt::format("device {} appears twice", id));
        }
        devices.push_back(id);
    }
}

}  // namespace

std::vector<int> parse_devices(const std::string& text) {
    std::vector<int> devices;
    std::stringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) add_range(text, part, devices);
    const auto count = static_cast<int>(devices.size());
    if (count < kMinDriverDevices || count > kMaxDriverDevices) {
        reject_list(text, fmt::format("expected {}..{} devices, found {}", kMinDriverDevices,
                                      kMaxDriverDevices, count));
    }
    return devices;
}

void check_platform(const std::string& platform) {
    for (const std::string_view known : {"host", "a2a3sim", "a5sim"}) {
        if (platform == known) return;
    }
    throw Error(
        Fault::usage,
        fmt::format("there is no platform '{}'; choose one of host, a2a3sim, a5sim", platform));
}

DeviceRules rules_of(std::string_view platform) {
    if (platform == "a2a3sim") return DeviceRules::a2a3();
    if (platform == "a5sim") return DeviceRules::a5();
    return {};
}

}  // namespace peal::worker
