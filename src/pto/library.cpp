// SPDX-License-Identifier: Apache-2.0
#include "pto/library.hpp"

#include <unistd.h>

#include <functional>
#include <optional>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "pto/child.hpp"
#include "pto/common/record.hpp"
#include "pto/trace_report.hpp"
#include "pto_orchestration_api.h"

namespace peal::pto {
namespace {

namespace device = ::pto::trace;

namespace shim = ::pto::orchestration;

// What is wrong with a library; empty: nothing.
using Inspect = std::function<std::string(void* library)>;

void require(const std::string& source, const std::string& library,
             std::chrono::milliseconds timeout, const Inspect& inspect) {
    constexpr std::string_view kFine = "fine";
    const auto look = [&](int descriptor) {
        void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        const std::string wrong =
            handle ? inspect(handle) : fmt::format("cannot be loaded: {}", dlerror());
        const std::string_view answer = wrong.empty() ? kFine : std::string_view(wrong);
        say(descriptor, answer.data(), answer.size());
        _exit(0);
    };
    const auto deadline = ChildClock::now() + timeout;
    const ChildLimits limits{[&] { return deadline; },
                             [](std::string_view said) { return speech_limit(said, 0); }};
    const ChildEnd end = run_in_child(look, limits);
    if (end.said == kFine && !end.timed_out) return;
    const auto reason = [&]() -> std::string {
        if (end.timed_out) {
            return fmt::format(
                "cannot be loaded: its start-up code does not return: it was stopped after {} ms",
                timeout.count());
        }
        if (end.said_too_much) return "cannot be loaded: its start-up code floods the tracer";
        if (!end.said.empty()) return end.said;
        return "cannot be loaded: its start-up code ends the process";
    };
    throw Error(Fault::program, fmt::format("{} {}", source, reason()));
}

// Of the headers that it was compiled with; nothing if it uses none.
std::optional<std::uint32_t> version_of(void* library, const char* name) {
    using Version = std::uint32_t (*)();
    const auto version = reinterpret_cast<Version>(dlsym(library, name));
    return version ? std::optional(version()) : std::nullopt;
}

}  // namespace

void require_entry(const std::string& kernel, const std::string& library,
                   std::chrono::milliseconds timeout) {
    require(kernel, library, timeout, [](void* handle) -> std::string {
        if (!dlsym(handle, "kernel_entry")) {
            return "has no entry: expected extern \"C\" void kernel_entry(int64_t* args)";
        }
        const auto version = version_of(handle, "peal_pto_version");
        if (!version) return "uses no PTO instruction: include pto/pto-inst.hpp";
        return *version == device::kVersion ? "" : "was compiled with other PTO headers";
    });
}

void require_shim(const std::string& shim, const std::string& library,
                  std::chrono::milliseconds timeout) {
    require(shim, library, timeout, [](void* handle) -> std::string {
        const auto version = version_of(handle, "peal_orchestration_version");
        if (!version) return "submits no kernel: include pto_orchestration_api.h";
        return *version == shim::kVersion ? "" : "was compiled with other orchestration headers";
    });
}

}  // namespace peal::pto
