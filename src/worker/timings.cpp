// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

// "done", "failed", "not run (task 5 failed)"
std::string outcome_of(const TaskTiming& timing) {
    if (!timing.not_run.empty()) return fmt::format("not run ({})", timing.not_run);
    return timing.state == TaskState::done ? "done" : "failed";
}

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

namespace {

constexpr const char* kRow = "{:>6}  {:<{}}  {:<8}  {:>12}  {:>12}  {:>12}  {:>10}  {:>12}  {}\n";

std::string row_of(const TaskTiming& timing, std::size_t width) {
    const auto time = [](std::int64_t at) { return fmt::format("{:.1f}", microseconds(at)); };
    // A task that failed before it was handed over has no times either.
    const bool ran = timing.started() != 0;
    const auto if_run = [&](std::string text) { return ran ? std::move(text) : "-"; };
    return fmt::format(fmt::runtime(kRow), timing.id, timing.name, width, place_of(timing),
                       time(timing.queued), if_run(time(timing.started())),
                       if_run(time(timing.ended())),
                       if_run(time(timing.ended() - timing.started())),
                       if_run(std::to_string(timing.bytes)), outcome_of(timing));
}

nlohmann::json event(const std::string& name, const char* phase, int rank, std::int64_t at) {
    return {{"name", name},          {"cat", rank < 0 ? "host" : "device"},
            {"ph", phase},           {"pid", 1},
            {"tid", track_of(rank)}, {"ts", microseconds(at)}};
}

nlohmann::json slice(const std::string& name, int rank, std::int64_t from, std::int64_t to) {
    nlohmann::json made = event(name, "X", rank, from);
    made["dur"] = microseconds(to - from);
    return made;
}

nlohmann::json facts_of(const TaskTiming& timing) {
    return {{"task", timing.id},
            {"queued_us", microseconds(timing.queued)},
            {"finished_us", microseconds(timing.finished)},
            {"bytes", timing.started() != 0 ? timing.bytes : 0},
            {"state", outcome_of(timing)}};
}

// A slice with the waits inside it, or a mark where it was not run.
void add_part(nlohmann::json& events, const TaskTiming& timing, const TaskTiming::Part& part) {
    if (part.started == 0) {
        nlohmann::json mark = event(timing.name, "i", part.rank, timing.finished);
        mark["s"] = "t";  // as high as its track
        mark["args"] = facts_of(timing);
        events.push_back(mark);
        return;
    }
    nlohmann::json made = slice(timing.name, part.rank, part.started, part.ended);
    made["args"] = facts_of(timing);
    made["args"]["waited_us"] = microseconds(part.waited);
    events.push_back(made);
    for (const TaskTiming::Wait& wait : part.waits) {
        nlohmann::json inside = slice("wait", part.rank, wait.from, wait.to);
        inside["args"] = {{"task", timing.id}, {"instruction", wait.instruction}};
        events.push_back(inside);
    }
}

// An arrow from the last part of one task to the first part of the next. Its ends lie inside.
void add_arrow(nlohmann::json& events, std::size_t number, const TaskTiming& from,
               const TaskTiming& to) {
    const auto last =
        std::max_element(from.parts.begin(), from.parts.end(),
                         [](const auto& a, const auto& b) { return a.ended < b.ended; });
    const auto first =
        std::min_element(to.parts.begin(), to.parts.end(),
                         [](const auto& a, const auto& b) { return a.started < b.started; });
    nlohmann::json begin =
        event("after", "s", last->rank, std::max(last->started, last->ended - 1));
    nlohmann::json end = event("after", "f", first->rank, first->started);
    end["bp"] = "e";
    for (nlohmann::json* half : {&begin, &end}) {
        (*half)["cat"] = "dependency";
        (*half)["id"] = number;
        events.push_back(*half);
    }
}

void add_arrows(nlohmann::json& events, const std::vector<TaskTiming>& timings) {
    std::map<std::uint64_t, const TaskTiming*> ran;
    for (const TaskTiming& timing : timings) {
        if (timing.started() != 0) ran[timing.id] = &timing;
    }
    std::size_t number = 0;
    for (const auto& [id, timing] : ran) {
        for (const std::uint64_t earlier : timing->after) {
            const auto found = ran.find(earlier);
            if (found != ran.end()) add_arrow(events, ++number, *found->second, *timing);
        }
    }
}

}  // namespace

std::string to_table(const std::vector<TaskTiming>& timings) {
    std::size_t width = 4;
    for (const TaskTiming& timing : timings) width = std::max(width, timing.name.size());
    std::string text = fmt::format(fmt::runtime(kRow), "task", "name", width, "where", "queued us",
                                   "started us", "ended us", "took us", "bytes", "state");
    for (const TaskTiming& timing : timings) text += row_of(timing, width);
    return text;
}

std::string to_trace(const std::vector<TaskTiming>& timings) {
    nlohmann::json events = nlohmann::json::array();
    std::set<int> ranks;
    for (const TaskTiming& timing : timings) {
        for (const TaskTiming::Part& part : timing.parts) {
            ranks.insert(part.rank);
            add_part(events, timing, part);
        }
    }
    add_arrows(events, timings);
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
