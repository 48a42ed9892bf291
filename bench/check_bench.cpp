// SPDX-License-Identifier: Apache-2.0
// How long proofs take, in seconds of a core's time, which is the same beside other work:
// `make bench-check`. Each row states the limit that it must keep.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "check/call_sequence.hpp"
#include "check/credit_ring.hpp"
#include "foreign/algorithms.hpp"
#include "foreign/foreign.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/program.hpp"

namespace peal {
namespace {

// That this process has used so far.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Prepared {
    Collective collective;
    std::vector<Plan> plans;
    Meaning meaning;
    CheckStage stage() const {
        CheckStage stage;
        stage.plans = &plans;
        stage.meaning = &meaning;
        return stage;
    }
};

Prepared prepare(CollectiveKind kind, std::string_view recipe, std::uint64_t count, int nranks) {
    Collective collective;
    collective.kind = kind;
    collective.recipe = recipe;
    collective.count = facts_of(kind).has_data() ? count : 0;
    for (std::size_t i = 0; i < table_entries(kind, nranks); ++i) {
        collective.counts.push_back(static_cast<std::int64_t>(i * 7 % (count + 1)));
    }
    Prepared prepared;
    prepared.collective = collective;
    prepared.plans = compile(collective, nranks);
    prepared.meaning = meaning_of(collective, prepared.plans);
    return prepared;
}

struct Tally {
    std::uint64_t checks = 0;
    std::uint64_t unproved = 0;
    // What is not proved for any number of calls, where that is asked, is not proved.
    void add(const CheckReport& report, bool is_any = true) {
        ++checks;
        if (report.verdict != Verdict::proved || (is_any && !report.any_calls)) ++unproved;
    }
};

void print_row(std::string_view what, const Tally& tally, double seconds, double limit) {
    fmt::print("{:<58} {:>6} checks {:>4} unproved {:>8.2f} s  (limit {} s) {}\n", what,
               tally.checks, tally.unproved, seconds, limit,
               seconds <= limit && tally.unproved == 0 ? "ok" : "MISSED");
    std::fflush(stdout);
}

void every_recipe(int most_ranks, double limit) {
    Tally tally;
    const double start = cpu_seconds();
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (int nranks = 2; nranks <= most_ranks; ++nranks) {
                const auto p = static_cast<std::uint64_t>(nranks);
                for (const std::uint64_t count :
                     {std::uint64_t{0}, std::uint64_t{1}, p - 1, p + 1, 4 * p + 3}) {
                    Prepared one = prepare(kind, recipe.name, count, nranks);
                    checker::CallSequence calls;
                    calls.add(one.collective, std::move(one.plans));
                    tally.add(check(calls.stages()));
                }
            }
        }
    }
    print_row(fmt::format("every recipe, 2..{} ranks, 5 counts, any calls", most_ranks), tally,
              cpu_seconds() - start, limit);
}

void many_ranks(CollectiveKind kind, std::string_view recipe, std::uint64_t count, int nranks,
                double limit = 5) {
    Tally tally;
    const Prepared prepared = prepare(kind, recipe, count, nranks);
    const double start = cpu_seconds();
    tally.add(check({prepared.stage()}));
    print_row(fmt::format("{} {}, {} ranks, any calls", name(kind), recipe, nranks), tally,
              cpu_seconds() - start, limit);
}

// Two ranks that swap their input in pieces of four bytes, in an order that no cache likes.
std::vector<Plan> scattered(std::uint64_t pieces) {
    std::vector<Plan> plans(2);
    for (std::int32_t me = 0; me < 2; ++me) {
        Plan& plan = plans[static_cast<std::size_t>(me)];
        const std::uint64_t bytes = 4 * pieces;
        plan.kernel = "scattered";
        plan.rank = me;
        plan.nranks = 2;
        plan.buffers = {
            {"input", BufferKind::argument, Direction::in, Element::f32, bytes, 0, 0},
            {"output", BufferKind::argument, Direction::out, Element::f32, bytes, 0, 0},
            {"data", BufferKind::window, Direction::inout, Element::f32, bytes, 0, 0},
            {"signal", BufferKind::signal, Direction::inout, Element::i32, 0, 2, kCacheLineBytes}};
        plan.advance = {0, 0, 0, 1};
        const auto add = [&](Action action) {
            plan.instructions.push_back({std::move(action), Pipe::none, 0});
        };
        const auto copy_all = [&](std::uint16_t to, std::uint16_t from, std::int32_t whose) {
            for (std::uint64_t i = 0; i < pieces; ++i) {
                const std::uint64_t at = 4 * (i * 7919 % pieces);
                add(Copy{{to, me, at, 4}, {from, whose, at, 4}});
            }
        };
        const auto meet = [&](std::uint64_t cell) {
            add(Notify{NotifyOp::set, {3, 1 - me, cell}, {1, 1}});
            add(Wait{Compare::ge, {3, me, cell}, {1, 1}});
        };
        copy_all(2, 0, me);
        meet(0);
        copy_all(1, 2, 1 - me);
        meet(1);
    }
    return plans;
}

void many_pieces() {
    constexpr std::uint64_t kPieces = 100'000;
    Tally tally;
    const std::vector<Plan> plans = scattered(kPieces);
    CheckStage stage;
    stage.plans = &plans;
    const double start = cpu_seconds();
    tally.add(check({stage}));
    print_row(fmt::format("{} pieces, linear", kPieces), tally, cpu_seconds() - start, 3);
}

// Each lane passes a block to its neighbour and waits until that has taken it: 62 ranks of 32 lanes
// are 1,984 agents.
std::vector<Plan> ring_of_lanes(std::int32_t nranks, std::uint64_t lanes) {
    std::vector<Plan> plans(static_cast<std::size_t>(nranks));
    for (std::int32_t me = 0; me < nranks; ++me) {
        Plan& plan = plans[static_cast<std::size_t>(me)];
        plan.kernel = "ring_of_lanes";
        plan.rank = me;
        plan.nranks = nranks;
        plan.buffers = {
            {"data", BufferKind::window, Direction::inout, Element::f32, 4 * lanes, 0, 0},
            {"ready", BufferKind::signal, Direction::inout, Element::i32, 0, lanes, 64},
            {"taken", BufferKind::signal, Direction::inout, Element::i32, 0, lanes, 64}};
        plan.advance = {0, 1, 1};
        const auto add = [&](Action action) {
            plan.instructions.push_back({std::move(action), Pipe::none, 0});
        };
        const std::int32_t right = (me + 1) % nranks, left = (me + nranks - 1) % nranks;
        for (std::uint64_t lane = 0; lane < lanes; ++lane) {
            if (lane > 0)
                plan.lanes.push_back(static_cast<std::uint32_t>(plan.instructions.size()));
            add(Wait{Compare::ge, {2, me, lane}, {0, 1}});
            add(Map{MapOp::fill, Element::f32, 1, {0, right, 4 * lane, 4}, {}});
            add(Notify{NotifyOp::set, {1, right, lane}, {1, 1}});
            add(Wait{Compare::ge, {1, me, lane}, {1, 1}});
            add(Map{MapOp::clobber, Element::f32, 0, {0, me, 4 * lane, 4}, {}});
            add(Notify{NotifyOp::set, {2, left, lane}, {1, 1}});
        }
    }
    return plans;
}

void many_lanes() {
    Tally tally;
    const std::vector<Plan> plans = ring_of_lanes(62, 32);
    CheckStage stage;
    stage.plans = &plans;
    CheckOptions options;
    options.any_calls = false;  // news goes round the ring a hop per call
    const double start = cpu_seconds();
    tally.add(check({stage}, options), false);
    print_row("62 ranks of 32 lanes, 3 calls", tally, cpu_seconds() - start, 1);
}

// A published file of this size is read and checked while somebody waits for it.
void foreign_plan() {
    constexpr int kRanks = 64, kChannels = 16, kChunks = 11;
    const SourcePtr source =
        test::source_of("chain.xml", test::chain_broadcast(kRanks, kChannels, kChunks));
    Tally tally;
    const double start = cpu_seconds();
    const foreign::ForeignPlans foreign = foreign::read_plans(source, {});
    const std::optional<Meaning> meaning = foreign::meaning_of(foreign);
    tally.add(check({{&foreign.plans, &*meaning, {}}}), false);  // news goes back a hop per call
    print_row(fmt::format("XML, {} GPUs, {} thread blocks, {} steps, 3 calls", kRanks,
                          kRanks * kChannels + 1, kRanks * kChannels * kChunks + 1),
              tally, cpu_seconds() - start, 0.5);
}

// A bound holds within a fifth, of memory as the process has it. (So this comes first.)
void bounds() {
    const std::vector<Plan> plans = scattered(2'000);
    CheckStage stage;
    stage.plans = &plans;
    CheckOptions options;
    options.explore = true;
    options.calls = 320;
    options.max_memory_bytes = std::uint64_t{256} << 20;
    const CheckReport filled = check({stage}, options);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const long most = usage.ru_maxrss >> 10;
    fmt::print("{:<58} {}, counted {} MiB, {} MiB resident (limit 307) {}\n",
               "bound of 256 MiB, large contents", name(filled.verdict), filled.memory_bytes >> 20,
               most, most <= 307 ? "ok" : "MISSED");

    options.max_memory_bytes = std::uint64_t{8} << 30;
    options.max_seconds = 2;
    options.calls = 10'000;
    const auto start = std::chrono::steady_clock::now();
    const CheckReport report = check({stage}, options);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{:<58} {} after {:.2f} s (limit 2.4 s) {}\n", "bound of 2 s, large segments",
               name(report.verdict), seconds, seconds <= 2.4 ? "ok" : "MISSED");
}

void every_pair() {
    Tally tally;
    const double start = cpu_seconds();
    CheckOptions options;
    options.calls = 2;
    for (int nranks = 2; nranks <= 8; ++nranks) {
        std::vector<Prepared> all;
        for (const CollectiveKind kind : kCollectives) {
            for (const Recipe& recipe : recipes(kind)) {
                if (recipe.reuse != Reuse::at_once) continue;
                all.push_back(
                    prepare(kind, recipe.name, static_cast<std::uint64_t>(nranks) + 1, nranks));
            }
        }
        for (const Prepared& first : all) {
            for (const Prepared& second : all)
                tally.add(check({first.stage(), second.stage()}, options));
        }
    }
    print_row("every ordered pair of closed recipes, shared windows, 2..8 ranks", tally,
              cpu_seconds() - start, 30);
}

// Each collective by the first recipe that leaves its windows free, any number of times.
void every_triple() {
    Tally tally;
    const double start = cpu_seconds();
    for (int nranks = 2; nranks <= 8; ++nranks) {
        std::vector<Prepared> all;
        for (const CollectiveKind kind : kCollectives) {
            const auto& list = recipes(kind);
            const auto closed = std::find_if(list.begin(), list.end(), [](const Recipe& recipe) {
                return recipe.reuse == Reuse::at_once;
            });
            all.push_back(
                prepare(kind, closed->name, static_cast<std::uint64_t>(nranks) + 1, nranks));
        }
        for (const Prepared& first : all) {
            for (const Prepared& second : all) {
                for (const Prepared& third : all) {
                    tally.add(check({first.stage(), second.stage(), third.stage()}));
                }
            }
        }
    }
    print_row("every ordered triple of collectives, shared windows, 2..8 ranks", tally,
              cpu_seconds() - start, 30);
}

// A ring whose ranks take back what they have seen.
void credits() {
    const ir::Program program = parse(std::make_shared<Source>("ring.peal", test::kCreditRing));
    constexpr int kRanks = 16;
    Bindings bindings;
    bindings.integers["k"] = 4;
    Prepared ring;
    ring.plans = compile(program, "ring", bindings, kRanks);
    ring.collective.kind = CollectiveKind::allreduce;
    ring.collective.count = 4 * kRanks;
    ring.meaning = meaning_of(ring.collective, ring.plans);
    Tally tally;
    const double start = cpu_seconds();
    tally.add(check({ring.stage()}));
    print_row("ring allreduce with credits, 16 ranks, any calls", tally, cpu_seconds() - start, 1);
}

// A mesh barrier with waits for equality that a fast peer overtakes: outside the monotone fragment.
void exploration() {
    const ir::Program program = parse(std::make_shared<Source>("barrier.peal", R"(
kernel overtaken(sig: window i32[nranks]) {
    for peer in peers { notify sig[rank]@peer += 1 }
    for peer in peers { wait sig[peer] == 1 }
    for peer in peers { notify sig[rank]@peer += 1 }
}
)"));
    constexpr int kRanks = 9;
    const std::vector<Plan> plans = compile(program, "overtaken", {}, kRanks);
    CheckStage stage;
    stage.plans = &plans;
    CheckOptions options;
    options.calls = 1;
    const double start = cpu_seconds();
    const CheckReport report = check({stage}, options);
    const double seconds = cpu_seconds() - start;
    const double rate = static_cast<double>(report.states) / seconds;
    fmt::print("{:<58} {:>6} states in {:.3f} s: {:.2f} million states/s (limit 2) {}\n",
               fmt::format("mesh barrier with == waits, {} ranks, explored", kRanks), report.states,
               seconds, rate / 1e6, rate >= 2e6 ? "ok" : "MISSED");
}

}  // namespace
}  // namespace peal

// All, or those whose name begins with the word that is given.
int main(int argc, char** argv) {
    using namespace peal;
    using enum CollectiveKind;
    const std::vector<std::pair<std::string_view, std::function<void()>>> rows = {
        {"bounds", bounds},
        {"recipes16", [] { every_recipe(16, 6); }},
        {"recipes64", [] { every_recipe(64, 180); }},  // 90 s on two cores
        {"ring256", [] { many_ranks(allreduce, "ring", 1027, 256); }},
        {"ring512", [] { many_ranks(allreduce, "ring", 1027, 512, 10); }},
        {"mesh256", [] { many_ranks(allreduce, "mesh", 1027, 256); }},
        {"barrier1024", [] { many_ranks(barrier, "auto", 0, 1024); }},
        {"allgather1024", [] { many_ranks(allgather, "ring", 1, 1024); }},
        {"pieces", many_pieces},
        {"lanes", many_lanes},
        {"foreign", foreign_plan},
        {"pairs", every_pair},
        {"triples", every_triple},
        {"credits", credits},
        {"exploration", exploration},
    };
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    for (const auto& [name, row] : rows) {
        if (name.rfind(wanted, 0) == 0) row();
    }
}
