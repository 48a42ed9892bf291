// SPDX-License-Identifier: Apache-2.0
#include "pacer.hpp"

#include <algorithm>

namespace peal::bench {
namespace {

constexpr double kBatchSeconds = 1e-3;
constexpr std::uint32_t kMostCalls = 1 << 20;
constexpr int kFewestBatches = 3;
constexpr int kMostBatches = 1000;
// One batch may be disturbed, so quick calls are calibrated several times.
constexpr int kCalibrations = 4;
constexpr double kSlowCall = 5e-3;
// However few batches there were.
constexpr double kLongestSeconds = 0.5;

}  // namespace

Batch Pacer::next(double last_seconds) {
    if (last_.calls == 0) return last_ = {1, false};
    if (!last_.timed) {
        last_ = calibrate(last_seconds);
        timed_since_ = Clock::now();
        return last_;
    }
    ++timed_batches_;
    return enough() ? Batch{} : last_;
}

// Everything that passes counts, so that slow meetings do not prolong the measurement.
bool Pacer::enough() const {
    const double spent = std::chrono::duration<double>(Clock::now() - timed_since_).count();
    if (timed_batches_ >= kMostBatches || spent >= kLongestSeconds) return true;
    return spent >= seconds_ && timed_batches_ >= kFewestBatches;
}

Batch Pacer::calibrate(double last_seconds) {
    if (single_calls_) return {1, true};
    const double call = std::max(last_seconds / last_.calls, 1e-10);
    quickest_call_ = calibrations_ == 0 ? call : std::min(quickest_call_, call);
    ++calibrations_;
    const auto wanted = static_cast<std::uint32_t>(
        std::clamp(kBatchSeconds / quickest_call_, 1.0, double{kMostCalls}));
    const bool is_sure = calibrations_ >= kCalibrations || quickest_call_ >= kSlowCall;
    if (is_sure && wanted <= 2 * last_.calls) return {wanted, true};
    // A first call says little about the next ones.
    return {std::min(wanted, 8 * last_.calls), false};
}

}  // namespace peal::bench
