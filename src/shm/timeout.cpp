// SPDX-License-Identifier: Apache-2.0
#include "shm/timeout.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "shm/deadline.hpp"

namespace peal::shm {

std::optional<std::chrono::milliseconds> timeout_from(std::string_view text) {
    constexpr std::int64_t kMost = 1'000'000'000;  // of any unit
    constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60'000}};
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
    if (error != std::errc() || number < 0 || number > kMost) return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(text.end() - end));
    if (number == 0 && unit.empty()) return std::chrono::milliseconds(0);
    for (const auto& [name, milliseconds] : kUnits) {
        if (unit == name) return std::chrono::milliseconds(number * milliseconds);
    }
    return std::nullopt;
}

std::chrono::milliseconds timeout_or(std::chrono::milliseconds otherwise) {
    const char* const text = std::getenv(kTimeoutVariable);
    if (text == nullptr) return otherwise;
    if (const auto timeout = timeout_from(text)) return *timeout;
    throw Error(Fault::usage, fmt::format("{}='{}': expected a time such as 500ms, 30s or 5m",
                                          kTimeoutVariable, text));
}

std::chrono::steady_clock::time_point deadline_after(std::chrono::steady_clock::time_point begin,
                                                     std::chrono::milliseconds timeout) {
    constexpr auto kNever = std::chrono::steady_clock::time_point::max();
    return timeout.count() > 0 ? after(begin, timeout) : kNever;
}

}  // namespace peal::shm
