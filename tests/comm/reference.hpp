// SPDX-License-Identifier: Apache-2.0
// What a collective must give, by plain loops over small whole numbers. Sums, products and extrema
// of these are exact in every element type and in any order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "peal/collective.hpp"
#include "peal/communicator.hpp"

namespace peal::comm::test {

using Numbers = std::vector<int>;

// The element that stands for a whole number that it can hold exactly.
template <ElementType T>
T element(int number) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    if constexpr (std::is_same_v<T, bf16>) {
        return static_cast<bf16>(bits >> 16);
    } else if constexpr (std::is_same_v<T, f16>) {
        if (number == 0) return f16{0};
        constexpr std::uint32_t kExponentShift = (127 - 15) << 10;
        return static_cast<f16>((bits >> 31) << 15 |
                                (((bits & 0x7fffffff) >> 13) - kExponentShift));
    } else {
        return static_cast<T>(number);
    }
}

template <ElementType T>
std::vector<T> elements(const Numbers& numbers) {
    std::vector<T> result(numbers.size());
    std::transform(numbers.begin(), numbers.end(), result.begin(), element<T>);
    return result;
}

// A collective call, without its buffers, and the ranks that make it.
struct Task {
    CollectiveKind kind = CollectiveKind::barrier;
    int nranks = 1;
    std::uint64_t count = 0;
    ReduceOp op = ReduceOp::sum;
    int root = 0;
    std::vector<std::int64_t> counts = {};  // where a table says how much
    unsigned seed = 0;                      // of the inputs
    bool with_negatives = true;

    bool has_pieces() const {
        return kind == CollectiveKind::allgather_v || kind == CollectiveKind::reduce_scatter_v;
    }
    // What the ranks before this one have of all pieces, and what it has.
    std::size_t before(int rank) const {
        return static_cast<std::size_t>(
            std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0}));
    }
    std::size_t piece(int rank) const {
        return static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
    }
    std::size_t block() const { return static_cast<std::size_t>(count); }
    std::int64_t count_between(int from, int to) const {
        return counts[static_cast<std::size_t>(from * nranks + to)];
    }
};

// One of some size: what else there is to choose follows from the seed.
inline Task task_of(CollectiveKind kind, int nranks, std::uint64_t count, unsigned seed) {
    Task task{.kind = kind, .nranks = nranks, .count = count, .seed = seed};
    task.op = kReduceOps[seed % kReduceOps.size()];
    if (has_root(kind)) task.root = static_cast<int>(seed) % nranks;
    for (std::size_t i = 0; i < table_entries(kind, nranks); ++i) {
        task.counts.push_back(static_cast<std::int64_t>(count * (i * 5 % 7) / 7));
    }
    return task;
}

inline bool has_input_blocks(CollectiveKind kind) {
    return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter ||
           kind == CollectiveKind::all_to_all;
}
inline bool has_output_blocks(CollectiveKind kind) {
    return kind == CollectiveKind::allgather || kind == CollectiveKind::gather ||
           kind == CollectiveKind::all_to_all;
}

inline std::size_t input_size(const Task& task, int rank) {
    if (task.kind == CollectiveKind::all_to_all_v) {
        std::int64_t sum = 0;
        for (int to = 0; to < task.nranks; ++to) sum += task.count_between(rank, to);
        return static_cast<std::size_t>(sum);
    }
    if (task.kind == CollectiveKind::allgather_v) return task.piece(rank);
    if (task.kind == CollectiveKind::reduce_scatter_v) return task.before(task.nranks);
    const auto blocks = static_cast<std::size_t>(has_input_blocks(task.kind) ? task.nranks : 1);
    return blocks * task.block();
}

// 1, 2 or 3, perhaps with a minus: never zero, whose sign would matter in a product.
inline Numbers input_of(const Task& task, int rank) {
    Numbers numbers(input_size(task, rank));
    std::uint32_t state = task.seed * 7919 + static_cast<std::uint32_t>(rank) * 104729 + 1;
    // By pointer: tests are not optimised, and iterators cost them more than all else here.
    for (int *number = numbers.data(), *end = number + numbers.size(); number != end; ++number) {
        state = state * 1664525 + 1013904223;
        *number = static_cast<int>(1 + (state >> 16) % 3);
        if (task.with_negatives && (state >> 24) % 2 != 0) *number = -*number;
    }
    return numbers;
}

inline int combined(ReduceOp op, int a, int b) {
    switch (op) {
        case ReduceOp::sum: return a + b;
        case ReduceOp::prod: return a * b;
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::min: return std::min(a, b);
    }
    return 0;
}

// Of the ranks before `end`.
inline Numbers combination(const Task& task, int end) {
    Numbers result = input_of(task, 0);
    for (int rank = 1; rank < end; ++rank) {
        const Numbers next = input_of(task, rank);
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = combined(task.op, result[i], next[i]);
        }
    }
    return result;
}

inline Numbers slice(const Numbers& numbers, std::size_t begin, std::size_t length) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(length)};
}

inline Numbers received(const Task& task, int rank) {
    Numbers result;
    for (int from = 0; from < task.nranks; ++from) {
        std::int64_t before = 0;
        for (int to = 0; to < rank; ++to) before += task.count_between(from, to);
        const Numbers part = slice(input_of(task, from), static_cast<std::size_t>(before),
                                   static_cast<std::size_t>(task.count_between(from, rank)));
        result.insert(result.end(), part.begin(), part.end());
    }
    return result;
}

inline bool gets_output(const Task& task, int rank) {
    const bool root_only =
        task.kind == CollectiveKind::reduce || task.kind == CollectiveKind::gather;
    if (task.kind == CollectiveKind::exscan) return rank > 0;
    return !root_only || rank == task.root;
}

// What `rank` must hold afterwards; empty where it gets nothing.
inline Numbers output_of(const Task& task, int rank) {
    using enum CollectiveKind;
    if (!gets_output(task, rank)) return {};
    const std::size_t own = static_cast<std::size_t>(rank) * task.block();
    Numbers all;
    switch (task.kind) {
        case allreduce:
        case reduce: return combination(task, task.nranks);
        case reduce_scatter: return slice(combination(task, task.nranks), own, task.block());
        case reduce_scatter_v:
            return slice(combination(task, task.nranks), task.before(rank), task.piece(rank));
        case scan: return combination(task, rank + 1);
        case exscan: return combination(task, rank);
        case broadcast: return input_of(task, task.root);
        case scatter: return slice(input_of(task, task.root), own, task.block());
        case all_to_all_v: return received(task, rank);
        case barrier: return {};
        default: break;
    }
    for (int from = 0; from < task.nranks; ++from) {  // allgather, allgather_v, gather, all_to_all
        const Numbers whole = input_of(task, from);
        const Numbers part = task.kind == all_to_all ? slice(whole, own, task.block()) : whole;
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

}  // namespace peal::comm::test
