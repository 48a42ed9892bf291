// SPDX-License-Identifier: Apache-2.0
// Signals: int32 cells in windows.
#pragma once

#include <cstdint>

#include "pto/common/constants.hpp"

namespace pto::comm {

class Signal {
public:
    Signal(std::int32_t* cell) : cell_(cell) {}  // NOLINT(google-explicit-constructor)
    Signal(volatile std::int32_t* cell)          // NOLINT(google-explicit-constructor)
        : cell_(const_cast<std::int32_t*>(cell)) {}

    std::int32_t* data() const { return cell_; }

private:
    std::int32_t* cell_;
};

enum class NotifyOp { AtomicAdd, Set };
enum class WaitCmp { EQ, NE, GT, GE, LT, LE };

}  // namespace pto::comm
