// SPDX-License-Identifier: Apache-2.0
// How long proofs take, on one core: `make bench-check`. Each row states the limit that it must
// keep.
#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "check/call_sequence.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/program.hpp"

namespace peal {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
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

Prepared prepare(CollectiveKind kind, std::string_view mode, std::uint64_t count, int nranks) {
    Collective collective;
    collective.kind = kind;
    collective.mode = mode;
    collective.count = kind == CollectiveKind::barrier ? 0 : count;
    if (kind == CollectiveKind::all_to_all_v) {
        for (int i = 0; i < nranks * nranks; ++i) {
            collective.counts.push_back((i * 7) % (static_cast<std::int64_t>(count) + 1));
        }
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
    void add(const CheckReport& report) {
        ++checks;
        if (report.verdict != Verdict::proved) ++unproved;
    }
};

void print_row(std::string_view what, const Tally& tally, double seconds, double limit) {
    fmt::print("{:<58} {:>6} checks {:>4} unproved {:>8.2f} s  (limit {} s) {}\n", what,
               tally.checks, tally.unproved, seconds, limit,
               seconds <= limit && tally.unproved == 0 ? "ok" : "MISSED");
    std::fflush(stdout);
}

void every_recipe() {
    Tally tally;
    const auto start = Clock::now();
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (int nranks = 2; nranks <= 16; ++nranks) {
                const auto p = static_cast<std::uint64_t>(nranks);
                for (const std::uint64_t count :
                     {std::uint64_t{0}, std::uint64_t{1}, p - 1, p + 1, 4 * p + 3}) {
                    Prepared one = prepare(kind, recipe.mode, count, nranks);
                    CallSequence calls;
                    calls.add(one.collective, std::move(one.plans));
                    tally.add(check(calls.stages()));
                }
            }
        }
    }
    print_row("every recipe, 2..16 ranks, 5 counts, 3 calls", tally, seconds_since(start), 10);
}

void many_ranks(std::string_view mode) {
    Tally tally;
    const auto start = Clock::now();
    tally.add(check({prepare(CollectiveKind::allreduce, mode, 1027, 256).stage()}));
    print_row(fmt::format("allreduce {}, 256 ranks", mode), tally, seconds_since(start), 5);
}

void every_pair() {
    Tally tally;
    const auto start = Clock::now();
    CheckOptions options;
    options.calls = 2;
    for (int nranks = 2; nranks <= 8; ++nranks) {
        std::vector<Prepared> all;
        for (const CollectiveKind kind : kCollectives) {
            for (const Recipe& recipe : recipes(kind)) {
                if (recipe.reuse != "at once") continue;
                all.push_back(
                    prepare(kind, recipe.mode, static_cast<std::uint64_t>(nranks) + 1, nranks));
            }
        }
        for (const Prepared& first : all) {
            for (const Prepared& second : all)
                tally.add(check({first.stage(), second.stage()}, options));
        }
    }
    print_row("every ordered pair of closed recipes, shared windows, 2..8 ranks", tally,
              seconds_since(start), 30);
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
    const CheckReport report = check({stage}, options);
    const double rate = static_cast<double>(report.states) / report.seconds;
    fmt::print("{:<58} {:>6} states in {:.3f} s: {:.2f} million states/s (limit 1) {}\n",
               fmt::format("mesh barrier with == waits, {} ranks, explored", kRanks), report.states,
               report.seconds, rate / 1e6, rate >= 1e6 ? "ok" : "MISSED");
}

}  // namespace
}  // namespace peal

int main() {
    peal::every_recipe();
    peal::many_ranks("ring");
    peal::many_ranks("mesh");
    peal::every_pair();
    peal::exploration();
}
