// SPDX-License-Identifier: Apache-2.0
// What is told of tasks that were run, that failed and that were not run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace timings_test {

using nlohmann::json;

// A host task, a group of two that failed on rank 1, and one that was to come after it.
std::vector<TaskTiming> story() {
    TaskTiming load{.id = 4, .name = "load", .queued = 1000, .dispatched = 1500, .finished = 4000};
    load.parts = {{-1, 2000, 4000}};
    load.bytes = 64;
    TaskTiming sum{.id = 5, .name = "sum", .state = TaskState::failed, .queued = 1100};
    sum.dispatched = 4000;
    sum.finished = 9000;
    sum.parts = {{0, 5000, 9000, 1500, {{6000, 7500, 3}}}, {1, 5500, 8000}};
    sum.bytes = 128;
    sum.after = {3, 4};  // 3 is forgotten
    TaskTiming use{.id = 6, .name = "use", .state = TaskState::failed, .queued = 1200};
    use.finished = 9100;
    use.parts = {{1, 0, 0}};
    use.bytes = 4096;
    use.not_run = "task 5 failed";
    use.after = {5};
    return {load, sum, use};
}

TEST(Timings, TellTheCulpritFromWhatWasNotRun) {
    EXPECT_EQ(to_table(story()),
              "  task  name  where        queued us    started us      ended us     took us        "
              " bytes  "
              "state\n"
              "     4  load  host               1.0           2.0           4.0         2.0        "
              "    64  "
              "done\n"
              "     5  sum   2 ranks            1.1           5.0           9.0         4.0        "
              "   128  "
              "failed\n"
              "     6  use   rank 1             1.2             -             -           -        "
              "     -  "
              "not run (task 5 failed)\n");
}

TEST(Timings, AreATraceWithWaitsArrowsAndMarks) {
    const auto facts = [](int task, double queued, double finished, int bytes, const char* state) {
        return json{{"task", task},
                    {"queued_us", queued},
                    {"finished_us", finished},
                    {"bytes", bytes},
                    {"state", state}};
    };
    const auto event = [](const char* name, const char* cat, const char* ph, int tid, double ts,
                          const json& more) {
        json made = {{"name", name}, {"cat", cat}, {"ph", ph},
                     {"pid", 1},     {"tid", tid}, {"ts", ts}};
        made.update(more);
        return made;
    };
    const auto slice = [&](const char* name, const char* cat, int tid, double ts, double dur,
                           const json& args) {
        return event(name, cat, "X", tid, ts, {{"dur", dur}, {"args", args}});
    };
    const auto track = [](int tid, const char* name) {
        return json{{"name", "thread_name"},
                    {"ph", "M"},
                    {"pid", 1},
                    {"tid", tid},
                    {"args", {{"name", name}}}};
    };
    json load = facts(4, 1.0, 4.0, 64, "done"), sum = facts(5, 1.1, 9.0, 128, "failed");
    load["waited_us"] = 0.0;
    json waiting = sum, other = sum;
    waiting["waited_us"] = 1.5;
    other["waited_us"] = 0.0;
    const json expected = {
        slice("load", "host", 1000000, 2.0, 2.0, load),
        slice("sum", "device", 1, 5.0, 4.0, waiting),
        slice("wait", "device", 1, 6.0, 1.5, {{"task", 5}, {"instruction", 3}}),
        slice("sum", "device", 2, 5.5, 2.5, other),
        event("use", "device", "i", 2, 9.1,
              {{"s", "t"}, {"args", facts(6, 1.2, 9.1, 0, "not run (task 5 failed)")}}),
        event("after", "dependency", "s", 1000000, 3.999, {{"id", 1}}),
        event("after", "dependency", "f", 1, 5.0, {{"id", 1}, {"bp", "e"}}),
        track(1000000, "host"),
        track(1, "rank 0"),
        track(2, "rank 1")};
    EXPECT_EQ(json::parse(to_trace(story()))["traceEvents"], expected);
}

class TimingsOf : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, TimingsOf, ::testing::ValuesIn(engines()), engine_name);

TEST_P(TimingsOf, TasksThatCouldNotRunSayBecauseOfWhich) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(4), b(4), c(4);
    const Task bad = worker.submit_host([] { throw 1; }, {out(Tensor(a))}, {.name = "bad"});
    const Task reader = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    const Task next = worker.submit(add_kernel(), 0, {Tensor(b), Tensor(c), 1});
    EXPECT_THROW(worker.wait(), int);
    const std::vector<TaskTiming> timings = worker.timings();
    ASSERT_EQ(timings.size(), 3U);
    EXPECT_EQ(timings[0].not_run, "");
    EXPECT_NE(timings[0].started(), 0);
    for (const TaskTiming& timing : {timings[1], timings[2]}) {
        EXPECT_EQ(timing.not_run, "task 1 failed");
        ASSERT_EQ(timing.parts.size(), 1U);
        EXPECT_EQ(timing.parts[0].rank, 0);
        EXPECT_EQ(timing.started(), 0);
    }
}

TEST_P(TimingsOf, TasksKnowWhatTheyCameAfter) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(4), b(4), c(4);
    worker.submit_host([] {}, {out(Tensor(a))});
    worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    worker.submit(add_kernel(), 0, {Tensor(b), Tensor(c), 1});
    worker.wait();
    const std::vector<TaskTiming> timings = worker.timings();
    ASSERT_EQ(timings.size(), 3U);
    EXPECT_EQ(timings[0].after, std::vector<std::uint64_t>());
    EXPECT_EQ(timings[1].after, std::vector<std::uint64_t>({1}));
    EXPECT_EQ(timings[2].after, std::vector<std::uint64_t>({2}));
}

}  // namespace timings_test
}  // namespace peal::worker::test
