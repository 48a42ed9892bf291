// SPDX-License-Identifier: Apache-2.0
#include "golden/golden.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "golden/number.hpp"

namespace peal::golden {
namespace {

using Numbers = std::vector<Number>;

// Sums stay small enough to be exact in every type, also over many ranks.
std::int64_t summand(Element element, int rank, std::int64_t i) {
    const bool narrow = element == Element::f16 || element == Element::bf16;
    if (narrow) return rank < 32 ? (i + rank) % 4 + 1 : 0;
    return i % 1000 + std::int64_t{100} * rank;
}

std::int64_t factor(int rank, std::int64_t i) { return rank < 6 ? 1 + (i + rank) % 2 : 1; }

std::int64_t contender(Element element, int rank, std::int64_t i) {
    const std::int64_t value = (i * 7 + std::int64_t{13} * rank) % 100;
    return is_unsigned(element) ? value : value - 50;
}

// Values that are only moved: as different as the type allows.
std::int64_t label(Element element, int rank, std::int64_t i) {
    const std::int64_t value = i + std::int64_t{100} * rank;
    switch (element) {
        case Element::bf16: return value % 251;
        case Element::f16: return value % 2039;
        case Element::f32: return value % 16777213;
        default: return value;
    }
}

std::int64_t value_at(const Collective& collective, bool is_reduced, int rank, std::int64_t i) {
    if (!is_reduced) return label(collective.element, rank, i);
    switch (collective.op) {
        case ReduceOp::sum: return summand(collective.element, rank, i);
        case ReduceOp::prod: return factor(rank, i);
        default: return contender(collective.element, rank, i);
    }
}

Numbers decode(Element element, const Bytes& bytes) {
    Numbers numbers(bytes.size() / bytes_of(element));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = load(element, bytes.data() + i * bytes_of(element));
    }
    return numbers;
}

Bytes encode(Element element, const Numbers& numbers) {
    Bytes bytes(numbers.size() * bytes_of(element));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        store(element, bytes.data() + i * bytes_of(element), numbers[i]);
    }
    return bytes;
}

// Of the ranks before `end`, which are some.
Numbers combined_before(const Collective& collective, const std::vector<Numbers>& inputs,
                        std::size_t end) {
    Numbers result = inputs[0];
    for (std::size_t r = 1; r < end; ++r) {
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = combine(collective.op, result[i], inputs[r][i]);
        }
    }
    return result;
}

Numbers part(const Numbers& numbers, std::uint64_t offset, std::uint64_t count) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(offset);
    return Numbers(begin, begin + static_cast<std::ptrdiff_t>(count));
}

Numbers slice(const Numbers& numbers, std::uint64_t block, std::uint64_t count) {
    return part(numbers, block * count, count);
}

Numbers joined(const std::vector<Numbers>& parts) {
    Numbers all;
    for (const Numbers& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

// What `rank` receives from everybody, in rank order.
Numbers exchanged(const Collective& collective, const std::vector<Numbers>& inputs,
                  std::size_t rank) {
    std::vector<Numbers> parts;
    for (const Numbers& input : inputs) parts.push_back(slice(input, rank, collective.count));
    return joined(parts);
}

Numbers exchanged_v(const Collective& collective, const std::vector<Numbers>& inputs,
                    std::size_t rank) {
    const std::size_t nranks = inputs.size();
    const Bytes untouched(bytes_of(collective.element), kUntouched);
    Numbers result(output_count(collective, static_cast<int>(rank), static_cast<int>(nranks)),
                   load(collective.element, untouched.data()));
    std::int64_t packed_at = 0;
    for (std::size_t from = 0; from < nranks; ++from) {
        const std::int64_t* row = collective.counts.data() + from * nranks;
        const bool is_packed = collective.sent_at.empty();
        const std::int64_t begin = is_packed ? std::accumulate(row, row + rank, std::int64_t{0})
                                             : collective.sent_at[from * nranks + rank];
        const std::int64_t at =
            is_packed ? packed_at : collective.received_at[rank * nranks + from];
        std::copy_n(inputs[from].begin() + begin, row[rank], result.begin() + at);
        packed_at += row[rank];
    }
    return result;
}

// `combined`: of all inputs, if the collective reduces.
std::optional<Numbers> result_of(const Collective& collective, const std::vector<Numbers>& inputs,
                                 const Numbers& combined, std::size_t rank) {
    if (!facts_of(collective.kind).gets(static_cast<int>(rank), collective.root)) {
        return std::nullopt;
    }
    const auto root = static_cast<std::size_t>(collective.root);
    switch (collective.kind) {
        case CollectiveKind::allreduce: return combined;
        case CollectiveKind::reduce_scatter: return slice(combined, rank, collective.count);
        case CollectiveKind::allgather: return joined(inputs);
        case CollectiveKind::broadcast: return inputs[root];
        case CollectiveKind::all_to_all: return exchanged(collective, inputs, rank);
        case CollectiveKind::all_to_all_v: return exchanged_v(collective, inputs, rank);
        case CollectiveKind::allgather_v: return joined(inputs);
        case CollectiveKind::reduce_scatter_v:
            return part(combined, own_offset(collective, int(rank)),
                        std::uint64_t(collective.counts[rank]));
        case CollectiveKind::reduce: return combined;
        case CollectiveKind::gather: return joined(inputs);
        case CollectiveKind::scatter: return slice(inputs[root], rank, collective.count);
        case CollectiveKind::scan: return combined_before(collective, inputs, rank + 1);
        case CollectiveKind::exscan: return combined_before(collective, inputs, rank);
        case CollectiveKind::barrier: return std::nullopt;
    }
    return std::nullopt;
}

// In a memory that holds input and output, a single block of several lies at its rank's place.
Region region(const Collective& collective, bool is_one_of_several, std::uint64_t size, int rank) {
    return {is_one_of_several ? own_offset(collective, rank) : 0, size};
}

}  // namespace

Bytes input(const Collective& collective, int rank, int nranks, int call) {
    const bool is_reduced = has_reduction(collective.kind);
    Numbers numbers(input_count(collective, rank, nranks));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i) + call;
        numbers[i] = number_of(collective.element, value_at(collective, is_reduced, rank, index));
    }
    return encode(collective.element, numbers);
}

std::vector<std::optional<Bytes>> expected(const Collective& collective, int nranks,
                                           const std::vector<Bytes>& inputs) {
    std::vector<Numbers> numbers;
    for (const Bytes& bytes : inputs) numbers.push_back(decode(collective.element, bytes));
    const Numbers combined = has_reduction(collective.kind)
                                 ? combined_before(collective, numbers, numbers.size())
                                 : Numbers();
    std::vector<std::optional<Bytes>> results;
    for (int rank = 0; rank < nranks; ++rank) {
        const auto result =
            result_of(collective, numbers, combined, static_cast<std::size_t>(rank));
        results.push_back(result ? std::optional(encode(collective.element, *result))
                                 : std::nullopt);
    }
    return results;
}

Region input_region(const Collective& collective, int rank, int nranks) {
    return region(collective, facts_of(collective.kind).output_is_larger(),
                  input_count(collective, rank, nranks), rank);
}

Region output_region(const Collective& collective, int rank, int nranks) {
    return region(collective, facts_of(collective.kind).input_is_larger(),
                  output_count(collective, rank, nranks), rank);
}

std::optional<std::string> difference(Element element, int rank, const std::byte* found,
                                      const Bytes& expected) {
    const std::size_t size = bytes_of(element);
    const std::size_t count = expected.size() / size;
    if (std::equal(expected.begin(), expected.end(), found)) return std::nullopt;
    std::size_t first = count;
    std::size_t differing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (std::equal(found + i * size, found + (i + 1) * size, expected.data() + i * size))
            continue;
        first = std::min(first, i);
        ++differing;
    }
    return fmt::format("rank {}: element {} is {}, expected {} ({} of {} differ)", rank, first,
                       to_text(load(element, found + first * size)),
                       to_text(load(element, expected.data() + first * size)), differing, count);
}

}  // namespace peal::golden
