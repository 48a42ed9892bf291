// SPDX-License-Identifier: Apache-2.0
// Whatever is submitted, the result is that of running it in order.
#include <random>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace random_graphs_test {

constexpr int kRanks = 3;
constexpr std::uint64_t kCount = 64;
using Numbers = std::vector<std::int32_t>;

const DeviceKernel& mix_kernel() {
    static const DeviceKernel kKernel = kernel(R"(
kernel mix(a: in i32[n], b: inout i32[n], c: out i32[n]) {
    t = a + b
    c = t * 3
    b = t + 1
}
)");
    return kKernel;
}

// The tensors of a program, and what a program that runs in order has in them.
struct Memory {
    std::vector<Numbers> host;
    std::vector<Tensor> tensors;    // host memory first, then that of each device
    std::vector<Numbers> expected;  // of each tensor
};

// A slice of a tensor, by its numbers.
struct Slice {
    std::size_t tensor = 0;
    std::uint64_t begin = 0;
    std::uint64_t count = 0;

    bool overlaps(const Slice& other) const {
        return tensor == other.tensor && begin < other.begin + other.count &&
               other.begin < begin + count;
    }
    Tensor of(const Memory& memory) const {
        return memory.tensors[tensor].slice(begin, begin + count);
    }
    std::int32_t* in(Memory& memory) const { return memory.expected[tensor].data() + begin; }
};

class RandomProgram {
public:
    RandomProgram(Worker& worker, std::uint64_t seed)
        : worker_(worker), random_(seed), sum_(allreduce(Element::i32, 8)) {
        memory_.host.assign(3, Numbers(kCount));
        for (Numbers& numbers : memory_.host) memory_.tensors.emplace_back(numbers);
        for (int rank = 0; rank < kRanks; ++rank) {
            for (int i = 0; i < 2; ++i) {
                memory_.tensors.push_back(worker.alloc<std::int32_t>(rank, {kCount}));
            }
        }
        memory_.expected.assign(memory_.tensors.size(), Numbers(kCount));
        for (const std::vector<int>& ranks :
             {std::vector<int>{0, 1, 2}, std::vector<int>{2, 0}, std::vector<int>{1, 2}}) {
            domains_.push_back(
                worker.allocate_domain({.name = "d",
                                        .ranks = ranks,
                                        .windows = sum_.windows(static_cast<int>(ranks.size()))}));
        }
    }

    void run(int steps) {
        for (int i = 0; i < steps; ++i) step();
        worker_.wait();
        for (std::size_t t = 0; t < memory_.tensors.size(); ++t) {
            const std::span<std::int32_t> found = memory_.tensors[t].span<std::int32_t>();
            ASSERT_EQ(Numbers(found.begin(), found.end()), memory_.expected[t]) << "tensor " << t;
        }
    }

private:
    int draw(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

    // Of host memory or memory of that device; any device if -1.
    Slice draw_slice(int rank, std::uint64_t count) {
        Slice slice;
        do {
            slice.tensor = static_cast<std::size_t>(draw(static_cast<int>(memory_.tensors.size())));
        } while (rank >= 0 && memory_.tensors[slice.tensor].rank() >= 0 &&
                 memory_.tensors[slice.tensor].rank() != rank);
        slice.count = count;
        slice.begin =
            static_cast<std::uint64_t>(draw(static_cast<int>((kCount - count) / 4 + 1))) * 4;
        return slice;
    }
    // One that shares nothing with those.
    Slice draw_apart(int rank, std::uint64_t count, const std::vector<Slice>& others) {
        for (;;) {
            const Slice slice = draw_slice(rank, count);
            bool apart = true;
            for (const Slice& other : others) apart = apart && !slice.overlaps(other);
            if (apart) return slice;
        }
    }
    TaskOptions options() {
        TaskOptions result;
        if (!tasks_.empty() && draw(8) == 0) {
            result.after.push_back(
                tasks_[static_cast<std::size_t>(draw(static_cast<int>(tasks_.size())))]);
        }
        return result;
    }

    void step() {
        switch (draw(5)) {
            case 0:
            case 1: return mix();
            case 2: return copy();
            case 3: return reduce();
            default: return host();
        }
    }

    void mix() {
        const int rank = draw(kRanks);
        const std::uint64_t count = 4U << draw(3);
        const Slice a = draw_slice(rank, count);
        const Slice b = draw_apart(rank, count, {a});
        const Slice c = draw_apart(rank, count, {a, b});
        tasks_.push_back(worker_.submit(mix_kernel(), rank,
                                        {a.of(memory_), b.of(memory_), c.of(memory_)}, options()));
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::int32_t t = wrap(a.in(memory_)[i], b.in(memory_)[i], 1);
            c.in(memory_)[i] = wrap(t, 0, 3);
            b.in(memory_)[i] = wrap(t, 1, 1);
        }
    }

    void copy() {
        const std::uint64_t count = 4U << draw(3);
        const Slice from = draw_slice(-1, count);
        const Slice to = draw_apart(-1, count, {from});
        tasks_.push_back(worker_.copy(from.of(memory_), to.of(memory_), options()));
        std::copy_n(from.in(memory_), count, to.in(memory_));
    }

    void reduce() {
        const Domain& domain = domains_[static_cast<std::size_t>(draw(3))];
        std::vector<Slice> inputs, all;
        for (const int rank : domain.ranks()) inputs.push_back(draw_slice(rank, 8));
        all = inputs;
        for (const int rank : domain.ranks()) all.push_back(draw_apart(rank, 8, all));
        const auto ranks = static_cast<std::size_t>(domain.nranks());
        tasks_.push_back(worker_.submit_group(
            sum_, domain,
            per_rank(domain.nranks(),
                     [&](int r) {
                         const auto rank = static_cast<std::size_t>(r);
                         return Arguments{all[rank].of(memory_), all[ranks + rank].of(memory_),
                                          domain["data"], domain["signal"]};
                     }),
            options()));
        Numbers sum(8);
        for (const Slice& input : inputs) {
            for (std::size_t i = 0; i < 8; ++i) sum[i] = wrap(sum[i], input.in(memory_)[i], 1);
        }
        for (std::size_t r = 0; r < ranks; ++r)
            std::copy(sum.begin(), sum.end(), all[ranks + r].in(memory_));
    }

    // Devices' memory too: the host sees all of it.
    void host() {
        const std::uint64_t count = 4U << draw(3);
        const Slice from = draw_slice(-1, count);
        const Slice to = draw_apart(-1, count, {from});
        const Tensor source = from.of(memory_), target = to.of(memory_);
        tasks_.push_back(worker_.submit_host(
            [source, target] {
                for (std::size_t i = 0; i < source.count(); ++i) {
                    target.span<std::int32_t>()[i] =
                        wrap(target.span<std::int32_t>()[i], source.span<std::int32_t>()[i], 5);
                }
            },
            {in(source), inout(target)}, options()));
        for (std::uint64_t i = 0; i < count; ++i) {
            to.in(memory_)[i] = wrap(to.in(memory_)[i], from.in(memory_)[i], 5);
        }
    }

    // (a + b) * by, as a device computes it.
    static std::int32_t wrap(std::int32_t a, std::int32_t b, std::int32_t by) {
        return static_cast<std::int32_t>(
            (static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b)) *
            static_cast<std::uint32_t>(by));
    }

    Worker& worker_;
    std::mt19937_64 random_;
    DeviceKernel sum_;
    Memory memory_;
    std::vector<Domain> domains_;
    std::vector<Task> tasks_;
};

class RandomGraphs : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, RandomGraphs, ::testing::ValuesIn(engines()), engine_name);

TEST_P(RandomGraphs, EqualSequentialExecution) {
    Worker worker = worker_of(kRanks);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        RandomProgram(worker, seed).run(60);
        if (HasFatalFailure()) return;
    }
}

TEST_P(RandomGraphs, EqualSequentialExecutionWithinATightBound) {
    Worker worker({.ranks = kRanks, .engine = GetParam(), .max_pending = 2});
    RandomProgram(worker, 4711).run(200);
}

}  // namespace random_graphs_test
}  // namespace peal::worker::test
