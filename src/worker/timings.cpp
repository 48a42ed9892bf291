// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "peal/worker_task.hpp"

namespace peal {
namespace {

constexpr double kNanosecondsPerMicrosecond = 1000;

double microseconds(std::int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / kNanosecondsPerMicrosecond;
}

// "host", "rank 3", "4 ranks"
std::string place_of(const TaskTiming& timing) {
    if (timing.parts.empty()) return "-";
    if (timing.parts.size() > 1) return fmt::format("{} ranks", timing.parts.size());
    const int rank = timing.parts[0].rank;
    return rank < 0 ? "host" : fmt::format("rank {}", rank);
}

std::string_view word(TaskState state) { return state == TaskState::done ? "done" : "failed"; }

// Tracks are numbered from 1, the host's last, so that devices come first.
constexpr int kHostTrack = 1'000'000;
int track_of(int rank) { return rank < 0 ? kHostTrack : rank + 1; }

}  // namespace

std::int64_t TaskTiming::started() const {
    const auto first =
        std::min_element(parts.begin(), parts.end(),
                         [](const Part& a, const Part& b) { return a.started < b.started; });
    return first == parts.end() ? 0 : first->started;
}

std::int64_t TaskTiming::ended() const {
    const auto last = std::max_element(
        parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.ended < b.ended; });
    return last == parts.end() ? 0 : last->ended;
}

std::string to_table(const std::vector<TaskTiming>& timings) {
    std::size_t width = 4;
    for (const TaskTiming& timing : timings) width = std::max(width, timing.name.size());
    std::string text = fmt::format(
        "{:>6}  {:<{}}  {:<8}  {:>12}  {:>12}  {:>12}  {:>10}  {:>12}  {}\n", "task", "name", width,
        "where", "queued us", "started us", "ended us", "took us", "bytes", "state");
    for (const TaskTiming& timing : timings) {
        text += fmt::format(
            "{:>6}  {:<{}}  {:<8}  {:>12.1f}  {:>12.1f}  {:>12.1f}  {:>10.1f}  {:>12}  {}\n",
            timing.id, timing.name, width, place_of(timing), microseconds(timing.queued),
            microseconds(timing.started()), microseconds(timing.ended()),
            microseconds(timing.ended() - timing.started()), timing.bytes, word(timing.state));
    }
    return text;
}

std::string to_trace(const std::vector<TaskTiming>& timings) {
    nlohmann::json events = nlohmann::json::array();
    std::set<int> ranks;
    for (const TaskTiming& timing : timings) {
        for (const TaskTiming::Part& part : timing.parts) {
            ranks.insert(part.rank);
            events.push_back({{"name", timing.name},
                              {"cat", part.rank < 0 ? "host" : "device"},
                              {"ph", "X"},
                              {"pid", 1},
                              {"tid", track_of(part.rank)},
                              {"ts", microseconds(part.started)},
                              {"dur", microseconds(part.ended - part.started)},
                              {"args",
                               {{"task", timing.id},
                                {"queued_us", microseconds(timing.queued)},
                                {"finished_us", microseconds(timing.finished)},
                                {"bytes", timing.bytes},
                                {"state", word(timing.state)}}}});
        }
    }
    for (const int rank : ranks) {
        const std::string track = rank < 0 ? "host" : fmt::format("rank {}", rank);
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", 1},
                          {"tid", track_of(rank)},
                          {"args", {{"name", track}}}});
    }
    // Names are the program's own and need not be UTF-8.
    return nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace peal
