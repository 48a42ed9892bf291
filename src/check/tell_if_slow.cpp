// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "peal/check.hpp"

namespace peal {

std::function<void(const CheckProgress&)> tell_if_slow(std::string what, double max_seconds) {
    constexpr double kSlow = 5;
    return [what = std::move(what), max_seconds,
            told = std::make_shared<bool>(false)](const CheckProgress& progress) {
        if (*told || progress.seconds < kSlow) return;
        *told = true;
        fmt::print(stderr, "peal: {} is being proved; that takes {:g} s at most\n", what,
                   max_seconds);
    };
}

}  // namespace peal
