// SPDX-License-Identifier: Apache-2.0
#include "cli/devices.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/pto_target.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "worker/devices.hpp"

namespace peal::cli {
namespace {

// As its file says.
std::string device_of_kernel(const std::string& file) {
    std::string device;
    if (std::filesystem::is_regular_file(file)) device = pto::declared_in(file).device;
    return device.empty() ? "a2a3" : device;
}

// A PTO kernel is written for a device; plans of programs are not.
std::string device_of(const TargetOptions& options) {
    const bool on_devices = options.platform != "host";
    const std::string simulated =
        on_devices ? options.platform.substr(0, options.platform.size() - 3) : "";
    if (!options.device.empty()) {
        if (on_devices && options.device != simulated) {
            throw Error(Fault::usage, fmt::format("-p {} and --device {} disagree",
                                                  options.platform, options.device));
        }
        return options.device;
    }
    if (!is_pto_kernel(options.target)) return "host";
    return on_devices ? simulated : device_of_kernel(options.target);
}

DeviceRules rules_of(const std::string& device) {
    if (device == "host") return {};
    for (const pto::Device known : {pto::Device::a2a3, pto::Device::a5}) {
        if (device == pto::name(known)) return pto::rules_of(known);
    }
    throw Error(Fault::usage,
                fmt::format("there is no device '{}'; choose one of host, a2a3, a5", device));
}

}  // namespace

DeviceRules device_rules(const TargetOptions& options) {
    worker::check_platform(options.platform);
    if (options.outstanding_loads && options.strict_loads) {
        throw Error(Fault::usage, "--outstanding-loads and --strict-loads disagree");
    }
    DeviceRules rules = rules_of(device_of(options));
    if (options.outstanding_loads) rules.one_outstanding_load = false;
    return rules;
}

}  // namespace peal::cli
