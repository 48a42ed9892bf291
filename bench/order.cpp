// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

namespace peal::bench {

std::string print(const Order& order) {
    return fmt::format("{} {} {} {} {}", name(order.task), order.bytes, order.way,
                       order.cold ? "cold" : "warm", order.seconds);
}

std::string print(const Answer& answer) {
    if (!answer.trouble.empty()) return "trouble " + answer.trouble;
    std::string text = fmt::format("done {} {}", answer.cpu_seconds, answer.calls);
    for (const auto& [begin, end] : answer.batches) text += fmt::format(" {} {}", begin, end);
    return text;
}

Order parse_order(const std::string& text) {
    std::istringstream words(text);
    std::string task;
    std::string warmth;
    Order order;
    words >> task >> order.bytes >> order.way >> warmth >> order.seconds;
    const auto known = task_from(task);
    if (!words || !known) throw std::runtime_error("not an order: " + text);
    order.task = *known;
    order.cold = warmth == "cold";
    return order;
}

Answer parse_answer(const std::string& text) {
    std::istringstream words(text);
    std::string kind;
    words >> kind;
    Answer answer;
    if (kind == "trouble") {
        std::getline(words >> std::ws, answer.trouble);
        return answer;
    }
    words >> answer.cpu_seconds >> answer.calls;
    if (kind != "done" || !words) throw std::runtime_error("not an answer: " + text);
    for (BatchTime time; words >> time.begin_ns >> time.end_ns;) answer.batches.push_back(time);
    return answer;
}

}  // namespace peal::bench
