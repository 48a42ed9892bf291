// SPDX-License-Identifier: Apache-2.0
// Copy and reduce against memcpy and the bandwidth limit. Bytes per second count what is read and
// what is written; `of_limit` is their share of what the quickest copy of that size moves, be it
// memcpy or a copy past the caches. A reduction reads more than it writes, so it can exceed 1.
//
//   bench_kernels --benchmark_filter=reduce/f32/sum
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "engine/kernels/kernels.hpp"

namespace peal {
namespace {

constexpr std::int64_t kSmallest = 4 << 10;
constexpr std::int64_t kLargest = 64 << 20;

struct FreePages {
    void operator()(std::byte* memory) const {
        ::operator delete[](memory, std::align_val_t{4096});
    }
};
using Pages = std::unique_ptr<std::byte[], FreePages>;

// Written once, so that the pages are there. All ones: sums and products stay clear of denormals,
// which would cost extra.
Pages pages(std::size_t bytes, Element element = Element::u8) {
    Pages memory(new (std::align_val_t{4096}) std::byte[bytes]);
    engine::kernels::map(MapOp::fill, element, 1, memory.get(), nullptr, bytes / bytes_of(element));
    return memory;
}

double seconds_of_best_copy(std::size_t bytes) {
    constexpr int kTries = 9;
    using Clock = std::chrono::steady_clock;
    const Pages from = pages(bytes);
    const Pages to = pages(bytes);
    const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
    const auto seconds = [&](auto copy) {
        const auto start = Clock::now();
        for (std::size_t i = 0; i < repeats; ++i) {
            copy();
            benchmark::ClobberMemory();
        }
        return std::chrono::duration<double>(Clock::now() - start).count() /
               static_cast<double>(repeats);
    };
    double best = 1e9;
    for (int i = 0; i < kTries; ++i) {
        best = std::min(best, seconds([&] { std::memcpy(to.get(), from.get(), bytes); }));
        best = std::min(best, seconds([&] {
                            engine::kernels::copy_bytes(to.get(), from.get(), bytes,
                                                        engine::kernels::Stores::bypass);
                            engine::kernels::fence_streams();
                        }));
    }
    return best;
}

// Bytes per second, measured when first asked for.
double bandwidth_limit(std::size_t bytes) {
    static std::map<std::size_t, double> known;
    const auto [entry, is_new] = known.try_emplace(bytes, 0);
    if (is_new) entry->second = static_cast<double>(2 * bytes) / seconds_of_best_copy(bytes);
    return entry->second;
}

void count_bytes(benchmark::State& state, std::size_t bytes, std::size_t streams) {
    const std::int64_t moved = state.iterations() * static_cast<std::int64_t>(bytes * streams);
    state.SetBytesProcessed(moved);
    state.counters["of_limit"] = benchmark::Counter(
        static_cast<double>(moved) / bandwidth_limit(bytes), benchmark::Counter::kIsRate);
}

template <class Copy>
void copy(benchmark::State& state, Copy copy_function) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const Pages from = pages(bytes);
    const Pages to = pages(bytes);
    for (auto _ : state) {
        copy_function(to.get(), from.get(), bytes);
        benchmark::ClobberMemory();
    }
    count_bytes(state, bytes, 2);
}

void reduce(benchmark::State& state, Element element, ReduceOp op, std::size_t sources) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const Pages to = pages(bytes, element);
    std::vector<Pages> from;
    std::vector<const void*> pointers;
    for (std::size_t s = 0; s < sources; ++s) {
        from.push_back(pages(bytes, element));
        pointers.push_back(from.back().get());
    }
    for (auto _ : state) {
        engine::kernels::reduce(element, op, to.get(), pointers, bytes / bytes_of(element));
        benchmark::ClobberMemory();
    }
    count_bytes(state, bytes, sources + 1);
}

void register_copies() {
    const auto add = [](const char* label, auto function) {
        benchmark::RegisterBenchmark(label,
                                     [function](benchmark::State& state) { copy(state, function); })
            ->RangeMultiplier(8)
            ->Range(kSmallest, kLargest);
    };
    add("memcpy", [](void* to, const void* from, std::size_t n) { std::memcpy(to, from, n); });
    add("copy", [](void* to, const void* from, std::size_t n) {
        engine::kernels::copy_bytes(to, from, n);
    });
    add("copy/bypass", [](void* to, const void* from, std::size_t n) {
        engine::kernels::copy_bytes(to, from, n, engine::kernels::Stores::bypass);
        engine::kernels::fence_streams();
    });
}

void register_reductions() {
    for (const Element element : kElements) {
        for (const ReduceOp op : kReduceOps) {
            for (const std::size_t sources : {2, 4, 8}) {
                const std::string label = "reduce/" + std::string(name(element)) + "/" +
                                          std::string(name(op)) + "/" + std::to_string(sources);
                benchmark::RegisterBenchmark(
                    label.c_str(),
                    [=](benchmark::State& state) { reduce(state, element, op, sources); })
                    ->RangeMultiplier(8)
                    ->Range(kSmallest, kLargest);
            }
        }
    }
}

}  // namespace
}  // namespace peal

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    peal::register_copies();
    peal::register_reductions();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
