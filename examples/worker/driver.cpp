// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <CLI/CLI.hpp>

#include "devices.hpp"
#include "peal/error.hpp"

namespace examples {
namespace {

constexpr float kTolerance = 1e-3F;

int complain(const char* program, const char* what, int exit_code) {
    std::fprintf(stderr, "%s: %s\n", program, what);
    return exit_code;
}

}  // namespace

int drive(int argc, char** argv, const std::string& description, bool (*driver)(const Options&)) {
    Options options;
    std::string devices = "0-3";
    CLI::App app(description);
    app.add_option("-p,--platform", options.platform, "host, a2a3sim or a5sim")
        ->capture_default_str();
    app.add_option("-d,--devices", devices, "2..16 devices")->capture_default_str();
    app.add_flag("--timings", options.timings, "print when each task was where");
    app.add_option("--trace", options.trace, "a file to write that to, for ui.perfetto.dev");
    try {
        app.parse(argc, argv);
        options.devices = parse_devices(devices);
        return driver(options) ? 0 : 1;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const peal::Error& error) {
        return complain(argv[0], error.what(), error.fault() == peal::Fault::usage ? 2 : 1);
    }
}

peal::Worker start_worker(const Options& options) {
    return peal::Worker({.devices = options.devices, .platform = options.platform, .check = true});
}

void report(const peal::Worker& worker, const Options& options) {
    if (options.timings) std::fputs(peal::to_table(worker.timings()).c_str(), stdout);
    if (!options.trace.empty()) worker.write_trace(options.trace);
}

bool matches(const std::string& what, std::span<const float> found, std::span<const float> golden) {
    float largest = found.size() == golden.size() ? 0 : std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < std::min(found.size(), golden.size()); ++i) {
        const float difference = std::abs(found[i] - golden[i]);
        if (!(difference <= largest)) largest = difference;  // also where it is not a number
    }
    const bool right = largest <= kTolerance;
    std::printf("%s: largest difference %g, %s\n", what.c_str(), static_cast<double>(largest),
                right ? "right" : "WRONG");
    return right;
}

}  // namespace examples
