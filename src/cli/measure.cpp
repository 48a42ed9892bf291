// SPDX-License-Identifier: Apache-2.0
#include "cli/measure.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "collectives/rules.hpp"
#include "peal/error.hpp"
#include "shm/machine.hpp"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBatchSeconds = 1e-3;
constexpr double kMostCalls = 1 << 20;
constexpr std::size_t kFewestBatches = 3;
constexpr std::size_t kMostBatches = 1000;

// ---------------------------------------------------------------------------- memory

// Memory that this process shares with the children it forks.
template <class T>
class SharedWithChildren {
public:
    explicit SharedWithChildren(std::size_t size)
        : bytes_(std::max<std::size_t>(1, size * sizeof(T))) {
        void* memory =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        items_ = {static_cast<T*>(memory), size};
        std::uninitialized_default_construct(items_.begin(), items_.end());
    }
    ~SharedWithChildren() { munmap(items_.data(), bytes_); }
    SharedWithChildren(const SharedWithChildren&) = delete;
    SharedWithChildren& operator=(const SharedWithChildren&) = delete;

    std::span<T> items() const { return items_; }

private:
    std::size_t bytes_;
    std::span<T> items_;
};

// A private buffer of ones, in huge pages where the system gives them.
class Ones {
public:
    explicit Ones(std::uint64_t count) {
        constexpr std::size_t kHugePage = std::size_t{2} << 20;
        const std::size_t bytes = count * sizeof(float);
        const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
        const bool large = bytes >= kHugePage;
        memory_.reset(static_cast<float*>(large ? std::aligned_alloc(kHugePage, whole)
                                                : std::malloc(std::max<std::size_t>(bytes, 1))));
        if (!memory_) throw std::bad_alloc();
        if (large) madvise(memory_.get(), whole, MADV_HUGEPAGE);
        items_ = {memory_.get(), count};
        std::fill(items_.begin(), items_.end(), 1.0F);
    }
    std::span<float> items() const { return items_; }

private:
    struct Free {
        void operator()(float* memory) const { std::free(memory); }
    };
    std::unique_ptr<float, Free> memory_;
    std::span<float> items_;
};

Collective collective_of(const Load& load, int nranks) {
    Collective collective;
    collective.kind = load.kind;
    collective.count = load.count;
    if (facts_of(load.kind).is_counted()) {
        collective.count = 0;
        collective.counts.assign(table_entries(load.kind, nranks),
                                 static_cast<std::int64_t>(load.count));
    }
    return collective;
}

// ---------------------------------------------------------------------------- one load

// One load on one rank: its buffers, and the call of each iteration.
class Exercise {
public:
    Exercise(Communicator& comm, const Load& load)
        : kind_(load.kind),
          collective_(collective_of(load, comm.nranks())),
          nranks_(comm.nranks()) {
        const std::uint64_t given = input_count(collective_, comm.rank(), nranks_);
        const std::uint64_t got = output_count(collective_, comm.rank(), nranks_);
        if (load.on_window) {
            window_.emplace(comm.window<float>(std::max(given, got)));
        } else {
            input_.emplace(given);
            output_.emplace(got);
        }
    }

    Call call(std::uint64_t iteration) const {
        using enum CollectiveKind;
        const int root =
            has_root(kind_) ? static_cast<int>(iteration % static_cast<std::uint64_t>(nranks_)) : 0;
        if (kind_ == barrier) return call::barrier();
        if (window_) return call::in_window(kind_, *window_, ReduceOp::sum, root);
        if (kind_ == broadcast) return call::broadcast(output_->items(), root);
        Call call = call::between(kind_, input_->items(), output_->items(), ReduceOp::sum, root);
        call.counts = collective_.counts;
        return call;
    }

private:
    CollectiveKind kind_;
    Collective collective_;
    int nranks_;
    std::optional<Ones> input_, output_;
    std::optional<Window<float>> window_;
};

// Every rank gets the slowest one's time, so all decide alike how to go on.
class Batches {
public:
    Batches(Communicator& comm, const Exercise& exercise) : comm_(comm), exercise_(exercise) {}

    // Seconds per call.
    double run(std::uint64_t calls) {
        comm_.barrier();
        const Clock::time_point start = Clock::now();
        for (std::uint64_t i = 0; i < calls; ++i) comm_.run(exercise_.call(iteration_++));
        std::array<double, 1> seconds = {
            std::chrono::duration<double>(Clock::now() - start).count()};
        comm_.allreduce(seconds, ReduceOp::max);
        return seconds[0] / static_cast<double>(calls);
    }

private:
    Communicator& comm_;
    const Exercise& exercise_;
    std::uint64_t iteration_ = 0;
};

// The first call pays for everything that is done once; then batches grow.
std::uint64_t calls_per_batch(Batches& batches) {
    batches.run(1);
    std::uint64_t calls = 1;
    for (;;) {
        const double seconds = std::max(batches.run(calls), 1e-10);
        const auto wanted =
            static_cast<std::uint64_t>(std::clamp(kBatchSeconds / seconds, 1.0, kMostCalls));
        if (wanted <= 2 * calls) return wanted;
        calls = std::min(wanted, 8 * calls);
    }
}

Timing time(Communicator& comm, const Load& load, const MeasureOptions& options) {
    const Exercise exercise(comm, load);
    const auto recipe_in_use = [&] { return comm.recipe(exercise.call(0)); };
    const std::string recipe = recipe_in_use();
    if (!options.recipe.empty() && recipe != options.recipe) return {};
    const std::vector<Recipe>& all = recipes(load.kind);
    const auto used = std::find_if(all.begin(), all.end(),
                                   [&](const Recipe& each) { return each.name == recipe; });
    Batches batches(comm, exercise);
    const std::uint64_t calls = calls_per_batch(batches);
    if (recipe_in_use() != recipe) return {};  // private memory turned out to be out of reach
    std::vector<double> seconds;
    double spent = 0;
    while (seconds.size() < kFewestBatches ||
           (spent < options.seconds && seconds.size() < kMostBatches)) {
        seconds.push_back(batches.run(calls));
        spent += seconds.back() * static_cast<double>(calls);
    }
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds.front(),
            static_cast<std::uint32_t>(used - all.begin()), true};
}

}  // namespace

std::uint64_t count_for(CollectiveKind kind, std::uint64_t bytes, int nranks) {
    const CollectiveFacts facts = facts_of(kind);
    const auto divide_up = [](std::uint64_t amount, std::uint64_t by) {
        return amount / by + (amount % by != 0 ? 1 : 0);
    };
    if (!facts.has_data()) return 0;
    const std::uint64_t elements = divide_up(bytes, sizeof(float));
    const bool has_parts =
        facts.input == Share::blocks || facts.input == Share::pieces || facts.counts_pairs();
    return has_parts ? divide_up(elements, static_cast<std::uint64_t>(nranks)) : elements;
}

std::uint64_t input_bytes(const Load& load, int nranks) {
    return input_count(collective_of(load, nranks), 0, nranks) * sizeof(float);
}

bool is_called_on_windows(CollectiveKind kind) {
    const auto rules = collectives::rules();
    return std::any_of(rules.begin(), rules.end(), [kind](const collectives::Rule& rule) {
        return rule.kind == kind && rule.where == collectives::Where::window;
    });
}

void expect_memory_for(const std::vector<Load>& loads, int nranks, int here) {
    std::uint64_t most = 0;
    for (const Load& load : loads) {
        const Collective collective = collective_of(load, nranks);
        most = std::max(most,
                        input_count(collective, 0, nranks) + output_count(collective, 0, nranks));
    }
    const std::uint64_t needed = most * sizeof(float) * static_cast<std::uint64_t>(here);
    const std::uint64_t available = shm::available_memory_bytes();
    if (needed > available) {
        throw Error(Fault::resource,
                    fmt::format("the buffers of {} ranks need {}, but this machine has {} left; "
                                "use fewer bytes or ranks",
                                here, shm::memory_text(needed), shm::memory_text(available)));
    }
}

std::vector<Timing> measure(Communicator& comm, const std::vector<Load>& loads,
                            const MeasureOptions& options) {
    std::vector<Timing> timings;
    for (const Load& load : loads) timings.push_back(time(comm, load, options));
    return timings;
}

std::vector<Timing> measure(int nranks, const std::vector<Load>& loads,
                            const MeasureOptions& options) {
    expect_memory_for(loads, nranks, nranks);
    const SharedWithChildren<Timing> timings(loads.size());
    const int status = Communicator::fork(nranks, [&](Communicator& comm) {
        const std::vector<Timing> all = measure(comm, loads, options);
        if (comm.rank() == 0) std::copy(all.begin(), all.end(), timings.items().begin());
    });
    if (status != 0) {
        throw Error(Fault::resource, fmt::format("a rank ended with status {}", status));
    }
    return {timings.items().begin(), timings.items().end()};
}

}  // namespace peal::cli
