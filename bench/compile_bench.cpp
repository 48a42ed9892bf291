// SPDX-License-Identifier: Apache-2.0
// What the first call of a new shape costs: `make bench-compile`. Each row states the limit that it
// must keep. bench_compile WORDS: the rows that begin so.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "plan/compile_rank.hpp"

namespace peal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSamples = 101;
constexpr std::uint64_t kSmallCount = 1000;
constexpr std::uint64_t kLargeCount = (64 << 20) / sizeof(float);

// us
constexpr double kFirstLimit = 50;  // with lowering
constexpr double kShapeLimit = 30;  // for a short plan
constexpr double kLongLimit = 300;  // for a long one between two ranks

double median(std::vector<double> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

double microseconds(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void set_count(Collective& collective, std::uint64_t count, int nranks) {
    if (!facts_of(collective.kind).has_data()) return;
    collective.count = count;
    if (!facts_of(collective.kind).is_counted()) return;
    collective.count = 0;
    collective.counts.assign(table_entries(collective.kind, nranks),
                             static_cast<std::int64_t>(count));
}

// The median time of the first call for each element type: nothing of that form is known then.
double first_call(Collective collective) {
    std::vector<double> times;
    set_count(collective, kSmallCount, 2);
    for (const Element element : kElements) {
        collective.element = element;
        const auto start = Clock::now();
        plan::compile_rank(collective, 1, 2);
        times.push_back(microseconds(start));
    }
    return median(std::move(times));
}

struct NewShape {
    double time = 0;
    std::size_t instructions = 0;
};

// The number of instructions grows with the ranks, and so may the time.
double limit_of(std::uint64_t count, int nranks) {
    return count == kSmallCount ? kShapeLimit : kLongLimit * nranks / 2;
}

NewShape new_shape(Collective collective, std::uint64_t count, int nranks) {
    NewShape result;
    std::vector<double> times;
    for (int i = 0; i < kSamples; ++i) {
        set_count(collective, count - static_cast<std::uint64_t>(i), nranks);
        const auto start = Clock::now();
        const Plan plan = plan::compile_rank(collective, 1, nranks);
        times.push_back(microseconds(start));
        result.instructions = plan.instructions.size();
    }
    result.time = median(std::move(times));
    return result;
}

std::string verdict(double time, double limit) {
    return time <= limit ? "ok" : fmt::format("MISSED (limit {:.0f})", limit);
}

void measure(CollectiveKind kind, const Recipe& recipe, Placement placement,
             std::string_view wanted) {
    Collective collective;
    collective.kind = kind;
    collective.recipe = recipe.name;
    collective.placement = placement;
    const std::string title = fmt::format("{} {} {}", name(kind), recipe.name, name(placement));
    if (!title.starts_with(wanted)) return;
    const double first = first_call(collective);
    fmt::print("{:<44} {:>26} {:>8.1f} us  {}\n", title, "with lowering", first,
               verdict(first, kFirstLimit));
    for (const int nranks : {2, 4, 8}) {
        for (const std::uint64_t count : {kSmallCount, kLargeCount}) {
            const NewShape shape = new_shape(collective, count, nranks);
            fmt::print("{:<44} {} ranks {:>5} instructions {:>8.1f} us  {}\n", title, nranks,
                       shape.instructions, shape.time,
                       verdict(shape.time, limit_of(count, nranks)));
        }
    }
    std::fflush(stdout);
}

void measure_all(std::string_view wanted) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (const Placement placement : kPlacements) {
                if (offers(kind, recipe.name, placement)) measure(kind, recipe, placement, wanted);
            }
        }
    }
}

}  // namespace
}  // namespace peal

int main(int argc, char** argv) { peal::measure_all(argc > 1 ? argv[1] : ""); }
