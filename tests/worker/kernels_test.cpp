// SPDX-License-Identifier: Apache-2.0
// Kernels of every origin, and their proofs.
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "peal/builder.hpp"
#include "support/temporary_cache.hpp"
#include "worker/kit.hpp"

namespace peal::worker::test {
namespace kernels_test {

class Kernels : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Kernels, ::testing::ValuesIn(engines()), engine_name);

std::vector<float> ramp(std::uint64_t count, int rank) {
    std::vector<float> values(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(rank * 1000) + static_cast<float>(i);
    }
    return values;
}

// What rank `rank` must get.
std::vector<float> expected(const Collective& c, int rank, int nranks) {
    std::vector<float> result;
    const auto n = c.count;
    const auto input = [&](int r, std::uint64_t i) {
        return static_cast<float>(r * 1000) + static_cast<float>(i);
    };
    const auto sum_at = [&](std::uint64_t i) {
        float sum = 0;
        for (int r = 0; r < nranks; ++r) sum += input(r, i);
        return sum;
    };
    for (std::uint64_t i = 0; i < output_count(c, rank, nranks); ++i) {
        const auto block = static_cast<int>(i / n);
        const auto own = static_cast<std::uint64_t>(rank) * n;
        switch (c.kind) {
            case CollectiveKind::allreduce: result.push_back(sum_at(i)); break;
            case CollectiveKind::reduce_scatter: result.push_back(sum_at(own + i)); break;
            case CollectiveKind::allgather: result.push_back(input(block, i % n)); break;
            case CollectiveKind::broadcast: result.push_back(input(c.root, i)); break;
            default: result.push_back(input(block, own + i % n)); break;  // all_to_all
        }
    }
    return result;
}

TEST_P(Kernels, BuiltInCollectivesGiveTheirResults) {
    using enum CollectiveKind;
    for (const int nranks : {2, 4, 8}) {
        Worker worker = worker_of(nranks);
        for (const CollectiveKind kind :
             {allreduce, reduce_scatter, allgather, broadcast, all_to_all}) {
            for (const Recipe& recipe : recipes(kind)) {
                Collective c = collective(kind, Element::f32, 24);
                c.recipe = recipe.name;
                c.root = kind == broadcast ? 1 : 0;
                const DeviceKernel kernel(c);
                const Domain domain =
                    worker.allocate_domain({.name = "all", .windows = kernel.windows(nranks)});
                std::vector<std::vector<float>> in, out;
                for (int r = 0; r < nranks; ++r) {
                    in.push_back(ramp(input_count(c, r, nranks), r));
                    out.emplace_back(output_count(c, r, nranks));
                }
                for (int call = 0; call < 3; ++call) {
                    worker.submit_group(kernel, domain, per_rank(nranks, [&](int r) {
                                            const auto rank = static_cast<std::size_t>(r);
                                            return Arguments{Tensor(std::as_const(in[rank])),
                                                             Tensor(out[rank]), domain["data"],
                                                             domain["signal"]};
                                        }));
                }
                worker.wait();
                for (int r = 0; r < nranks; ++r) {
                    EXPECT_EQ(out[static_cast<std::size_t>(r)], expected(c, r, nranks))
                        << name(kind) << " " << recipe.name << " rank " << r << " of " << nranks;
                }
            }
        }
    }
}

TEST_P(Kernels, FromTheBuilder) {
    ir::KernelBuilder k("double_it");
    const ir::ExprPtr n = k.Symbol("n");
    const ir::ExprPtr x = k.Tensor("x", Element::i32, {n});
    auto& body = k.Body();
    const ir::ExprPtr tile = body.Load(x, ir::integer(0), n);
    body.Store(body.Combine(ReduceOp::sum, tile, tile), x, ir::integer(0));
    const DeviceKernel kernel(std::move(k).Finish());
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a = numbers(4, 1);
    worker.submit(kernel, 0, {inout(Tensor(a))}).wait();
    EXPECT_EQ(a, (std::vector<std::int32_t>{2, 4, 6, 8}));
    std::vector<std::int32_t> b = numbers(2, 5);  // another shape
    worker.submit(kernel, 0, {Tensor(b)}).wait();
    EXPECT_EQ(b, (std::vector<std::int32_t>{10, 12}));
}

TEST_P(Kernels, FromPlans) {
    Worker worker = worker_of(2);
    const DeviceKernel sum(compile(collective(CollectiveKind::allreduce, Element::i32, 4), 2));
    const Domain domain = worker.allocate_domain({.name = "d", .windows = sum.windows(2)});
    std::vector<std::int32_t> a = numbers(4, 0), b(4), c(4);
    worker
        .submit_group(sum, domain,
                      {{Tensor(std::as_const(a)), Tensor(b), domain["data"], domain["signal"]},
                       {Tensor(std::as_const(a)), Tensor(c), domain["data"], domain["signal"]}})
        .wait();
    EXPECT_EQ(c, (std::vector<std::int32_t>{0, 2, 4, 6}));
}

TEST_P(Kernels, WithScalarsAndTables) {
    Worker worker = worker_of(1);
    const DeviceKernel scaled = kernel(
        "kernel scaled(x: in f32[n], y: out f32[n], by: f32, at: index[2]) {\n"
        "    y = x * by\n"
        "    y[at[0]; at[1]] = x[at[0]; at[1]]\n"
        "}");
    std::vector<float> x = {1, 2, 3, 4}, y(4);
    worker.submit(scaled, 0, {Tensor(x), Tensor(y), 0.5, std::vector<std::int64_t>{1, 2}}).wait();
    EXPECT_EQ(y, (std::vector<float>{0.5, 2, 3, 2}));
    worker.submit(scaled, 0, {Tensor(x), Tensor(y), 3, std::vector<std::int64_t>{0, 1}}).wait();
    EXPECT_EQ(y, (std::vector<float>{1, 6, 9, 12}));
    Bindings bound;
    bound.numbers["by"] = 2;
    bound.tables["at"] = {0, 0};
    const DeviceKernel fixed(program("kernel scaled(x: in f32[n], y: out f32[n], by: f32, at: "
                                     "index[2]) { y = x * by y[at[0]; at[1]] = x[at[0]; at[1]] }"),
                             bound);
    worker.submit(fixed, 0, {Tensor(x), Tensor(y)}).wait();
    EXPECT_EQ(y, (std::vector<float>{2, 4, 6, 8}));
}

// ---------------------------------------------------------------------------- proofs

TEST(Proofs, UnprovedKernelsAreRefused) {
    Worker worker({.ranks = 2, .engine = DeviceEngine::in_process, .check = true});
    // Nobody waits: the peer may not have written yet.
    const DeviceKernel racy = kernel(
        "kernel racy(inp: in f32[n], out: out f32[n], data: window f32[n]) {\n"
        "    data = inp\n"
        "    out = data@(1 - rank)\n"
        "}");
    const Domain domain = worker.allocate_domain(
        {.name = "d", .windows = {{.name = "data", .element = Element::f32, .shape = {4}}}});
    std::vector<float> a(4), b(4), c(4), d(4);
    const std::string message = message_of(Fault::wrong, [&] {
        worker.submit_group(
            racy, domain,
            {{Tensor(a), Tensor(b), domain["data"]}, {Tensor(c), Tensor(d), domain["data"]}});
    });
    EXPECT_THAT(message, ::testing::StartsWith("kernel racy on 2 ranks is not proved: data race"));
    EXPECT_THAT(message, ::testing::HasSubstr("\n  rank 0, call 0: "));
    EXPECT_TRUE(worker.timings().empty());
}

TEST(Proofs, EveryBuiltInCollectiveIsProvedOnEveryPlatform) {
    for (const char* platform : {"host", "a2a3sim", "a5sim"}) {
        Worker worker(
            {.ranks = 3, .platform = platform, .engine = DeviceEngine::in_process, .check = true});
        for (const Recipe& recipe : recipes(CollectiveKind::allreduce)) {
            Collective c = collective(CollectiveKind::allreduce, Element::f32, 6);
            c.recipe = recipe.name;
            const DeviceKernel kernel(c);
            const Domain domain =
                worker.allocate_domain({.name = "d", .windows = kernel.windows(3)});
            std::vector<std::vector<float>> in(3, ramp(6, 1)), out(3, std::vector<float>(6));
            worker
                .submit_group(kernel, domain,
                              per_rank(3,
                                       [&](int r) {
                                           const auto rank = static_cast<std::size_t>(r);
                                           return Arguments{Tensor(in[rank]), Tensor(out[rank]),
                                                            domain["data"], domain["signal"]};
                                       }))
                .wait();
            EXPECT_EQ(out[2][5], 3 * 1005.0F) << recipe.name;
        }
    }
}

// A window that an earlier task has filled.
TEST(Proofs, CountOnWhatWindowsHold) {
    Worker worker({.ranks = 2, .engine = DeviceEngine::in_process, .check = true});
    const DeviceKernel put =
        kernel("kernel put_there(inp: in f32[n], data: window f32[n]) { data = inp }");
    const DeviceKernel take =
        kernel("kernel take(out: out f32[n], data: window f32[n]) { out = data }");
    const Domain domain = worker.allocate_domain(
        {.name = "d", .windows = {{.name = "data", .element = Element::f32, .shape = {4}}}});
    std::vector<float> a = ramp(4, 1), out0(4), out1(4);
    const auto submit = [&](const DeviceKernel& what, std::vector<float>& x,
                            std::vector<float>& y) {
        worker
            .submit_group(what, domain, {{Tensor(x), domain["data"]}, {Tensor(y), domain["data"]}})
            .wait();
    };
    submit(put, a, a);
    EXPECT_THAT(message_of(Fault::wrong, [&] { submit(take, out0, out1); }),
                ::testing::StartsWith("kernel take on 2 ranks is not proved: read of unwritten"));
    submit(take.holding({{"data"}}), out0, out1);
    EXPECT_EQ(out0, a);
    EXPECT_EQ(message_of(Fault::usage, [&] { submit(take.holding({{"date"}}), out0, out1); }),
              "kernel take: 'date' is said to hold input, but it has no such window");
    ASSERT_EQ(worker.proofs().size(), 2U);
    EXPECT_EQ(worker.proofs()[1].kernel, "take");
    EXPECT_EQ(worker.proofs()[1].ranks, 2);
    EXPECT_TRUE(worker.proofs()[1].any_calls);
    EXPECT_TRUE(worker.proofs()[1].any_order);
}

// What reads a window that another call of the run has filled is not proved by itself.
TEST(Proofs, AreLeftToWhoeverProvedTheWholeRun) {
    Worker worker({.ranks = 2, .engine = DeviceEngine::in_process, .check = true});
    const auto plans_of = [](std::string_view text, std::string_view name) {
        return compile(program(text), name, Bindings{{{"n", 4}}, {}, {}}, 2);
    };
    const std::vector<Plan> put = plans_of(
        "kernel put_there(inp: in f32[n], data: window f32[n]) { data = inp }", "put_there");
    const std::vector<Plan> take =
        plans_of("kernel take(out: out f32[n], data: window f32[n]) { out = data }", "take");
    const ProvedRun run({{&put, nullptr, {}}, {&take, nullptr, {}}}, true);
    const Domain domain = worker.allocate_domain(
        {.name = "d", .windows = {{.name = "data", .element = Element::f32, .shape = {4}}}});
    std::vector<std::vector<float>> in = {ramp(4, 1), ramp(4, 2)}, out(2, std::vector<float>(4));
    const auto submit = [&](const std::vector<Plan>& plans, std::vector<std::vector<float>>& of) {
        worker
            .submit_group(DeviceKernel(plans).proved_in(run), domain,
                          {{Tensor(of[0]), domain["data"]}, {Tensor(of[1]), domain["data"]}})
            .wait();
    };
    submit(put, in);
    submit(take, out);
    EXPECT_EQ(out, in);
    EXPECT_TRUE(worker.proofs().empty());
}

// What is drained and not fenced is proved under one order of memory, and said to be.
TEST(Proofs, SayUnderWhichOrder) {
    const auto plans = [](bool is_fenced) {
        std::vector<Plan> all(2);
        for (std::int32_t me = 0; me < 2; ++me) {
            Plan& plan = all[static_cast<std::size_t>(me)];
            plan.kernel = is_fenced ? "fenced_put" : "drained_put";
            plan.rank = me;
            plan.nranks = 2;
            plan.buffers = {{"inp", BufferKind::argument, Direction::in, Element::f32, 16, 0, 0},
                            {"out", BufferKind::argument, Direction::out, Element::f32, 16, 0, 0},
                            {"data", BufferKind::window, Direction::inout, Element::f32, 16, 0, 0},
                            {"sig", BufferKind::signal, Direction::inout, Element::i32, 0, 1, 64}};
            plan.advance = {0, 0, 0, 1};
            const auto add = [&](Action action, Pipe pipe) {
                plan.instructions.push_back({std::move(action), pipe, 0});
            };
            add(Copy{{2, 1 - me, 0, 16}, {0, me, 0, 16}}, Pipe::store);
            add(PipeBarrier{Pipe::all}, Pipe::none);
            if (is_fenced) add(Fence{}, Pipe::none);
            add(Notify{NotifyOp::set, {3, 1 - me, 0}, {1, 1}}, Pipe::none);
            add(Wait{Compare::ge, {3, me, 0}, {1, 1}}, Pipe::none);
            add(Copy{{1, me, 0, 16}, {2, me, 0, 16}}, Pipe::store);
        }
        return all;
    };
    for (const bool is_fenced : {false, true}) {
        Worker worker({.ranks = 2, .engine = DeviceEngine::in_process, .check = true});
        const DeviceKernel put(plans(is_fenced));
        const Domain domain = worker.allocate_domain({.name = "d", .windows = put.windows(2)});
        std::vector<std::vector<float>> in(2, ramp(4, 1)), out(2, std::vector<float>(4));
        worker
            .submit_group(put, domain,
                          per_rank(2,
                                   [&](int r) {
                                       const auto rank = static_cast<std::size_t>(r);
                                       return Arguments{Tensor(in[rank]), Tensor(out[rank]),
                                                        domain["data"], domain["sig"]};
                                   }))
            .wait();
        EXPECT_EQ(out, in);
        ASSERT_EQ(worker.proofs().size(), 1U);
        EXPECT_EQ(worker.proofs()[0].any_order, is_fenced);
    }
}

TEST(Proofs, AKernelIsProvedOnce) {
    const peal::test::TemporaryCache cache;
    const auto prove = [](const char* platform) {
        Worker worker(
            {.ranks = 2, .platform = platform, .engine = DeviceEngine::in_process, .check = true});
        const DeviceKernel kernel(collective(CollectiveKind::barrier, Element::f32, 0));
        const Domain domain = worker.allocate_domain({.name = "d", .windows = kernel.windows(2)});
        worker
            .submit_group(kernel, domain,
                          per_rank(2, [&](int) { return Arguments{domain["signal"]}; }))
            .wait();
    };
    const auto written = [&] {
        std::map<std::string, std::filesystem::file_time_type> files;
        for (const auto& file : std::filesystem::directory_iterator(cache.proofs())) {
            files[file.path()] = file.last_write_time();
        }
        return files;
    };
    prove("host");
    const auto first = written();
    EXPECT_EQ(first.size(), 1u);
    prove("host");
    EXPECT_EQ(written(), first) << "it was in the store";
    prove("a2a3sim");
    EXPECT_EQ(written().size(), 2u) << "other rules are another question";
}

// ---------------------------------------------------------------------------- timings

TEST_P(Kernels, AreTimed) {
    Worker worker({.ranks = 2, .engine = GetParam(), .max_timings = 3});
    const DeviceKernel sum = allreduce(Element::i32, 4);
    const Domain domain = worker.allocate_domain({.name = "d", .windows = sum.windows(2)});
    std::vector<std::int32_t> a = numbers(4, 0), b(4), c(4);
    worker.submit_host([] {}, {}, {.name = "forgotten"}).wait();
    worker.submit_host([] {}, {}, {.name = "prepare"}).wait();
    worker
        .submit_group(sum, domain,
                      {{Tensor(std::as_const(a)), Tensor(b), domain["data"], domain["signal"]},
                       {Tensor(std::as_const(a)), Tensor(c), domain["data"], domain["signal"]}})
        .wait();
    EXPECT_THROW(worker.submit_host([] { throw 1; }, {}, {.name = "bad"}).wait(), int);
    const std::vector<TaskTiming> timings = worker.timings();
    ASSERT_EQ(timings.size(), 3U);
    EXPECT_EQ(timings[0].name, "prepare");
    EXPECT_EQ(timings[1].id, 3U);
    EXPECT_EQ(timings[1].parts.size(), 2U);
    EXPECT_GT(timings[1].bytes, 64U);
    EXPECT_EQ(timings[2].state, TaskState::failed);
    for (const TaskTiming& timing : timings) {
        EXPECT_LE(timing.queued, timing.dispatched);
        EXPECT_LE(timing.queued, timing.started());
        EXPECT_LE(timing.started(), timing.ended());
        EXPECT_LE(timing.ended(), timing.finished);
    }
    EXPECT_THAT(to_table(timings), ::testing::HasSubstr("allreduce  2 ranks"));
    const auto trace = nlohmann::json::parse(to_trace(timings));
    const auto is_wait = [](const auto& event) { return event["name"] == "wait"; };
    const auto& events = trace["traceEvents"];
    EXPECT_EQ(events.size() - std::count_if(events.begin(), events.end(), is_wait),
              4U + 3U);  // parts, then names of tracks
    EXPECT_EQ(trace["traceEvents"][1]["name"], "allreduce");
    EXPECT_EQ(trace["traceEvents"][1]["ph"], "X");
    EXPECT_EQ(message_of(Fault::resource, [&] { worker.write_trace("/nowhere/trace.json"); }),
              "cannot write the trace /nowhere/trace.json: No such file or directory");
}

}  // namespace kernels_test
}  // namespace peal::worker::test
