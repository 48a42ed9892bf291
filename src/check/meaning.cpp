// SPDX-License-Identifier: Apache-2.0
// What the built-in collectives mean.
#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "plan/pipes.hpp"

namespace peal {
namespace {

class MeaningWriter {
public:
    MeaningWriter(const Collective& collective, int nranks, Ports ports)
        : collective_(collective),
          nranks_(nranks),
          ports_(ports),
          bytes_(collective.count * bytes_of(collective.element)),
          facts_(facts_of(collective.kind)) {
        meaning_.name = name(collective.kind);
    }

    Meaning write() && {
        stage_inputs();
        switch (collective_.kind) {
            case CollectiveKind::allreduce: allreduce(); break;
            case CollectiveKind::reduce_scatter: reduce_scatter(); break;
            case CollectiveKind::allgather: allgather(); break;
            case CollectiveKind::broadcast: broadcast(); break;
            case CollectiveKind::all_to_all: all_to_all(); break;
            case CollectiveKind::all_to_all_v: all_to_all_v(); break;
            case CollectiveKind::allgather_v: allgather_v(); break;
            case CollectiveKind::reduce_scatter_v: reduce_scatter_v(); break;
            case CollectiveKind::reduce: reduce(); break;
            case CollectiveKind::gather: gather(); break;
            case CollectiveKind::scatter: scatter(); break;
            case CollectiveKind::scan: scan(); break;
            case CollectiveKind::exscan: exscan(); break;
            case CollectiveKind::barrier: meaning_.meets = true; break;
        }
        return std::move(meaning_);
    }

private:
    // In one memory, block r of a vector of P blocks stays where block r is.
    std::uint64_t block(int rank) const { return static_cast<std::uint64_t>(rank) * bytes_; }
    std::uint64_t own_block(int rank) const {
        return is_apart(collective_.placement) ? 0 : block(rank);
    }

    // Arguments are staged anyway.
    void stage_inputs() {
        if (collective_.placement != Placement::window || !facts_.has_data()) return;
        const std::uint64_t length = facts_.input == Share::blocks ? block(nranks_) : bytes_;
        for (int rank = 0; rank < nranks_; ++rank) {
            if (!facts_.gives(rank, collective_.root)) continue;
            const std::uint64_t offset = facts_.output_is_larger() ? own_block(rank) : 0;
            meaning_.staged.push_back({rank, ports_.input, offset, length});
        }
    }
    void expect(int rank, std::uint64_t offset, std::uint64_t length, Contributions of) {
        meaning_.outputs.push_back({rank, ports_.output, offset, length, std::move(of),
                                    collective_.op, collective_.element, facts_.reduces});
    }
    Contributions from(int rank, std::uint64_t offset) const {
        return std::make_shared<const std::vector<Contribution>>(
            std::vector<Contribution>{{rank, ports_.input, offset}});
    }
    Contributions from_all(std::uint64_t offset) const { return from_below(nranks_, offset); }
    Contributions from_below(int end, std::uint64_t offset) const {
        std::vector<Contribution> all;
        for (int rank = 0; rank < end; ++rank) all.push_back({rank, ports_.input, offset});
        return std::make_shared<const std::vector<Contribution>>(std::move(all));
    }

    void allreduce() {
        meaning_.same_bits = true;
        const Contributions all = from_all(0);
        for (int rank = 0; rank < nranks_; ++rank) expect(rank, 0, bytes_, all);
    }
    void reduce() { expect(collective_.root, 0, bytes_, from_all(0)); }
    void reduce_scatter() {
        for (int rank = 0; rank < nranks_; ++rank) {
            expect(rank, own_block(rank), bytes_, from_all(block(rank)));
        }
    }
    void allgather() {
        for (int rank = 0; rank < nranks_; ++rank) expect_all_blocks(rank);
    }
    void gather() { expect_all_blocks(collective_.root); }
    void expect_all_blocks(int to) {
        for (int rank = 0; rank < nranks_; ++rank) {
            expect(to, block(rank), bytes_, from(rank, own_block(rank)));
        }
    }
    void broadcast() {
        const Contributions root = from(collective_.root, 0);
        for (int rank = 0; rank < nranks_; ++rank) expect(rank, 0, bytes_, root);
    }
    void scatter() {
        for (int rank = 0; rank < nranks_; ++rank) {
            expect(rank, own_block(rank), bytes_, from(collective_.root, block(rank)));
        }
    }
    void scan() {
        for (int rank = 0; rank < nranks_; ++rank) {
            expect(rank, 0, bytes_, from_below(rank + 1, 0));
        }
    }
    void exscan() {
        for (int rank = 1; rank < nranks_; ++rank) expect(rank, 0, bytes_, from_below(rank, 0));
    }
    void all_to_all() {
        for (int to = 0; to < nranks_; ++to) {
            for (int rank = 0; rank < nranks_; ++rank) {
                expect(to, block(rank), bytes_, from(rank, block(to)));
            }
        }
    }
    // Of the vector of all pieces: where that of `rank` begins, in bytes, and its length.
    std::uint64_t piece(int rank) const {
        return own_offset(collective_, rank) * bytes_of(collective_.element);
    }
    std::uint64_t own_piece(int rank) const {
        return is_apart(collective_.placement) ? 0 : piece(rank);
    }
    std::uint64_t piece_bytes(int rank) const {
        return static_cast<std::uint64_t>(collective_.counts[static_cast<std::size_t>(rank)]) *
               bytes_of(collective_.element);
    }
    void allgather_v() {
        for (int to = 0; to < nranks_; ++to) {
            for (int rank = 0; rank < nranks_; ++rank) {
                expect(to, piece(rank), piece_bytes(rank), from(rank, own_piece(rank)));
            }
        }
    }
    void reduce_scatter_v() {
        for (int rank = 0; rank < nranks_; ++rank) {
            expect(rank, own_piece(rank), piece_bytes(rank), from_all(piece(rank)));
        }
    }
    void all_to_all_v() {
        const auto ranks = static_cast<std::size_t>(nranks_);
        const auto bytes = [&](std::size_t rank, std::size_t to) {
            return static_cast<std::uint64_t>(collective_.counts[rank * ranks + to]) *
                   bytes_of(collective_.element);
        };
        const auto place = [&](std::int64_t offset) {
            return static_cast<std::uint64_t>(offset) * bytes_of(collective_.element);
        };
        std::vector<std::uint64_t> sent(ranks, 0);
        for (std::size_t to = 0; to < ranks; ++to) {
            std::uint64_t received = 0;
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const bool is_packed = collective_.sent_at.empty();
                expect(
                    static_cast<int>(to),
                    is_packed ? received : place(collective_.received_at[to * ranks + rank]),
                    bytes(rank, to),
                    from(static_cast<int>(rank),
                         is_packed ? sent[rank] : place(collective_.sent_at[rank * ranks + to])));
                received += bytes(rank, to);
                sent[rank] += bytes(rank, to);
            }
        }
    }

    const Collective& collective_;
    int nranks_;
    Ports ports_;
    std::uint64_t bytes_;
    CollectiveFacts facts_;
    Meaning meaning_;
};

using IsIt = std::function<bool(const Buffer&)>;

std::optional<std::uint16_t> find_buffer(const Plan& plan, const IsIt& is_it) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        if (is_it(plan.buffers[b])) return static_cast<std::uint16_t>(b);
    }
    return std::nullopt;
}

std::uint16_t find_buffer(const Plan& plan, std::string_view what, const IsIt& is_it) {
    if (const auto found = find_buffer(plan, is_it)) return *found;
    throw Error(Fault::usage, fmt::format("kernel {} has no {}: its meaning cannot be checked",
                                          plan.kernel, what));
}

bool is_window(const Buffer& buffer) { return buffer.kind == BufferKind::window; }

// An argument that is read, if the other direction is `out`, or written, if it is `in`.
IsIt argument_but(Direction other) {
    return [other](const Buffer& buffer) {
        return buffer.kind == BufferKind::argument && buffer.direction != other;
    };
}
constexpr std::string_view kToRead = "argument to read", kToWrite = "argument to write";

std::uint16_t input_of(const Plan& plan, const std::vector<Held>& holds) {
    for (const Held& held : holds) {
        if (held.what != Held::What::input) continue;
        return find_buffer(
            plan, fmt::format("window '{}' to hold its input", held.window),
            [&](const Buffer& buffer) { return is_window(buffer) && buffer.name == held.window; });
    }
    const bool has_arguments = find_buffer(plan, [](const Buffer& buffer) {
                                   return buffer.kind == BufferKind::argument;
                               }).has_value();
    return has_arguments ? find_buffer(plan, kToRead, argument_but(Direction::out))
                         : find_buffer(plan, "window", is_window);
}

}  // namespace

Ports ports_of(const Collective& collective, const Plan& plan) {
    if (!facts_of(collective.kind).has_data()) return {};
    const auto window = [&] { return find_buffer(plan, "window", is_window); };
    if (collective.placement == Placement::window) return {window(), window()};
    const std::uint16_t input = find_buffer(plan, kToRead, argument_but(Direction::out));
    if (collective.placement == Placement::into_window) return {input, window()};
    return {input, find_buffer(plan, kToWrite, argument_but(Direction::in))};
}

Ports ports_of(const Plan& plan, const std::vector<Held>& holds, std::string_view result) {
    const std::uint16_t input = input_of(plan, holds);
    if (!result.empty()) {
        const auto is_called = [&](const Buffer& buffer) {
            return buffer.name == result &&
                   (is_window(buffer) || argument_but(Direction::in)(buffer));
        };
        return {input, find_buffer(plan, fmt::format("window or argument to write '{}'", result),
                                   is_called)};
    }
    const auto written = find_buffer(plan, argument_but(Direction::in));
    if (!written && is_window(plan.buffers[input])) return {input, input};
    return {input, find_buffer(plan, kToWrite, argument_but(Direction::in))};
}

Meaning meaning_of(const Collective& collective, int nranks, Ports ports) {
    return MeaningWriter(collective, nranks, ports).write();
}

Meaning meaning_of(const Collective& collective, const std::vector<Plan>& plans) {
    if (plans.empty()) throw Error(Fault::usage, "there are no plans to give a meaning to");
    return meaning_of(collective, plans, ports_of(collective, plans[0]));
}

Meaning meaning_of(const Collective& collective, const std::vector<Plan>& plans, Ports ports) {
    Meaning meaning = meaning_of(collective, static_cast<int>(plans.size()), ports);
    if (std::any_of(plans.begin(), plans.end(), plan::uses_pipes)) meaning.same_bits = false;
    return meaning;
}

}  // namespace peal
