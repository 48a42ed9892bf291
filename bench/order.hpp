// SPDX-License-Identifier: Apache-2.0
// What the driver asks of every rank of a contender, and what each answers: one text message each
// way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task.hpp"

namespace peal::bench {

struct Order {
    Task task = Task::barrier;
    std::size_t bytes = 0;
    std::string way = "-";  // which of the library's ways to do it
    bool cold = false;      // the input is rewritten before every call
    double seconds = 0.02;  // to spend in timed batches
};

// When a rank began and ended the calls of one batch, on the clock that all processes share.
struct BatchTime {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

struct Answer {
    std::string trouble;      // empty, or why there is no result
    double cpu_seconds = 0;   // that this rank spent on the order
    std::uint64_t calls = 0;  // in each batch
    std::vector<BatchTime> batches;
};

std::string print(const Order& order);
std::string print(const Answer& answer);
// Throw std::runtime_error on anything that print() does not give.
Order parse_order(const std::string& text);
Answer parse_answer(const std::string& text);

}  // namespace peal::bench
