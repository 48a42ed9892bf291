// SPDX-License-Identifier: Apache-2.0
// What MSCCL does with an algorithm, as plans.
//
// Everything between GPUs goes through connections: from a rank, to a rank, on a channel. The k-th
// send there meets the k-th receive. The sender waits until fewer than `slots` messages are under
// way, writes the message into memory of the receiver, and counts it as full; the receiver waits
// for that, reads, and counts it as free again. Each message of a call has memory of its own, so
// that only the counters say what may be overwritten. Between calls no more messages are under way
// than a call has.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "foreign/msccl.hpp"
#include "foreign/trouble.hpp"
#include "foreign/writer.hpp"
#include "peal/error.hpp"

namespace peal::foreign {
namespace {

constexpr std::uint64_t kChunkElements = 4;

// From, to, channel.
using Wire = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

struct Message {
    std::uint64_t begin = 0, chunks = 0;  // in `fifo` of the receiver
    std::uint32_t line = 0;               // of the send
};

struct Connection {
    const MscclBlock* sender = nullptr;
    const MscclBlock* receiver = nullptr;
    std::vector<Message> messages;
    std::size_t received = 0;

    auto per_call() const { return static_cast<std::int64_t>(messages.size()); }
};

class MscclTranslator {
public:
    MscclTranslator(const MscclAlgorithm& algorithm, const ReadOptions& options)
        : algorithm_(algorithm),
          options_(options),
          sides_(sides()),
          elements_(chunk_elements(sides_, options, kChunkElements)),
          writer_(algorithm.name, nranks(), algorithm.source, options, elements_) {}

    ForeignPlans translate() && {
        if (options_.slots < 1) {
            throw Error(Fault::usage,
                        fmt::format("--slots: expected at least 1, found {}", options_.slots));
        }
        collect_sends();
        match_receives();
        add_buffers();
        for (int rank = 0; rank < nranks(); ++rank) {
            for (const MscclBlock& block : gpu(rank).blocks) {
                writer_.begin_lane(rank);
                write_block(rank, block);
            }
        }
        return finish(std::move(writer_), sides_, buffers_, options_, elements_);
    }

private:
    int nranks() const { return static_cast<int>(algorithm_.gpus.size()); }
    const MscclGpu& gpu(int rank) const { return algorithm_.gpus[static_cast<std::size_t>(rank)]; }
    [[noreturn]] void refuse(std::uint32_t line, const std::string& message) const {
        foreign::refuse(*algorithm_.source, line, message);
    }

    // ------------------------------------------------------------------------ memory

    Sides sides() const {
        Sides sides;
        sides.kind = collective_called(algorithm_.collective);
        if (!sides.kind && algorithm_.collective != "custom") {
            refuse(algorithm_.line,
                   fmt::format("coll: expected allreduce, allgather, reduce_scatter, alltoall, "
                               "broadcast or custom, found '{}'",
                               algorithm_.collective));
        }
        if (options_.kind) sides.kind = options_.kind;
        sides.in_place = algorithm_.in_place && (options_.in_place || !algorithm_.out_of_place);
        if (options_.in_place && !algorithm_.in_place) {
            throw Error(Fault::usage, fmt::format("--in-place: {} is out of place only",
                                                  algorithm_.source->name()));
        }
        const auto all = static_cast<std::uint64_t>(algorithm_.chunks);
        if (!sides.kind) {
            for (const MscclGpu& each : algorithm_.gpus) {
                sides.input = std::max(sides.input, static_cast<std::uint64_t>(each.input));
                sides.output = std::max(sides.output, static_cast<std::uint64_t>(each.output));
            }
            return sides;
        }
        const CollectiveFacts facts = facts_of(*sides.kind);
        const auto ranks = static_cast<std::uint64_t>(nranks());
        if (facts.has_blocks() && all % ranks != 0) {
            refuse(algorithm_.line, fmt::format("nchunksperloop: expected a multiple of {} ranks, "
                                                "found {}",
                                                ranks, all));
        }
        sides.counted = facts.has_blocks() ? all / ranks : all;
        sides.input = facts.output_is_larger() ? sides.counted : all;
        sides.output = facts.input_is_larger() ? sides.counted : all;
        return sides;
    }

    bool writes_input() const {
        return any_step([](const MscclStep& step) {
            return step.writes() && step.dst.buffer == MscclBuffer::input;
        });
    }
    template <class Is>
    bool any_step(Is&& is) const {
        for (const MscclGpu& each : algorithm_.gpus) {
            for (const MscclBlock& block : each.blocks) {
                if (std::any_of(block.steps.begin(), block.steps.end(), is)) return true;
            }
        }
        return false;
    }

    void add_buffers() {
        buffers_ = add_sides(writer_, sides_, writes_input(), false);
        const auto most = [&](auto&& of) {
            std::uint64_t chunks = 0;
            for (int rank = 0; rank < nranks(); ++rank) chunks = std::max(chunks, of(rank));
            return chunks;
        };
        scratch_ = writer_.add_memory(
            "scratch", BufferKind::window, Direction::inout,
            most([&](int rank) { return static_cast<std::uint64_t>(gpu(rank).scratch); }));
        fifo_ = writer_.add_memory("fifo", BufferKind::window, Direction::inout,
                                   most([&](int rank) { return fifo_chunks_[rank]; }));
        full_ = writer_.add_signal("full");
        free_ = writer_.add_signal("free");
        done_ = writer_.add_signal("done");
    }

    // The chunks of a step at one of its places.
    Range range(int rank, const MscclStep& step, const MscclPlace& place) const {
        const auto chunks = static_cast<std::uint64_t>(step.chunks);
        const auto offset = static_cast<std::uint64_t>(place.offset);
        std::uint64_t size = 0;
        std::uint64_t shift = 0;
        std::uint16_t buffer = scratch_;
        const char* what = "scratch";
        switch (place.buffer) {
            case MscclBuffer::input:
                size = sides_.input;
                shift = sides_.input_offset(rank);
                buffer = buffers_.input;
                what = "input";
                break;
            case MscclBuffer::output:
                size = sides_.output;
                shift = sides_.output_offset(rank);
                buffer = buffers_.output;
                what = "output";
                break;
            case MscclBuffer::scratch: size = static_cast<std::uint64_t>(gpu(rank).scratch); break;
        }
        if (offset + chunks > size) {
            refuse(step.line, fmt::format("expected chunks of the {}, which has {}, found {}..{}",
                                          what, size, offset, offset + chunks - 1));
        }
        return writer_.range(buffer, rank, offset + shift, chunks);
    }

    // ------------------------------------------------------------------------ connections

    template <class Each>
    void for_each_block(Each&& each) {
        for (int rank = 0; rank < nranks(); ++rank) {
            for (const MscclBlock& block : gpu(rank).blocks) each(rank, block);
        }
    }

    void collect_sends() {
        for_each_block([&](int rank, const MscclBlock& block) {
            for (const MscclStep& step : block.steps) {
                if (!step.sends()) continue;
                Connection& connection = connections_[{rank, block.send, block.channel}];
                if (!connection.sender) connection.sender = &block;
                if (connection.sender != &block) {
                    refuse(block.line,
                           fmt::format("thread blocks {} and {} both send to GPU {} on channel {}: "
                                       "expected one for each connection",
                                       connection.sender->id, block.id, block.send, block.channel));
                }
                const auto chunks = static_cast<std::uint64_t>(step.chunks);
                std::uint64_t& used = fifo_chunks_[static_cast<int>(block.send)];
                connection.messages.push_back({used, chunks, step.line});
                used += chunks;
            }
        });
    }

    // What is received is what was sent; how often, the checker sees.
    void match_receives() {
        for_each_block([&](int rank, const MscclBlock& block) {
            for (const MscclStep& step : block.steps) {
                if (!step.receives()) continue;
                Connection& connection = connections_[{block.receive, rank, block.channel}];
                if (!connection.receiver) connection.receiver = &block;
                if (connection.receiver != &block) {
                    refuse(block.line,
                           fmt::format(
                               "thread blocks {} and {} both receive from GPU {} on channel "
                               "{}: expected one for each connection",
                               connection.receiver->id, block.id, block.receive, block.channel));
                }
                if (connection.received >= connection.messages.size()) {
                    refuse(step.line,
                           fmt::format("it receives message {} from GPU {} on channel {}, which "
                                       "sends {}",
                                       connection.received, block.receive, block.channel,
                                       connection.messages.size()));
                }
                const Message& message = connection.messages[connection.received++];
                if (message.chunks != static_cast<std::uint64_t>(step.chunks)) {
                    refuse(step.line, fmt::format("it receives {} chunks of the {} that line {} "
                                                  "sends",
                                                  step.chunks, message.chunks, message.line));
                }
            }
        });
        for (const auto& [wire, connection] : connections_) {
            if (connection.received == connection.messages.size()) continue;
            const Message& message = connection.messages[connection.received];
            refuse(message.line,
                   fmt::format("nobody receives this: GPU {} receives {} of {} "
                               "messages from GPU {} on channel {}",
                               std::get<1>(wire), connection.received, connection.messages.size(),
                               std::get<0>(wire), std::get<2>(wire)));
        }
    }

    // ------------------------------------------------------------------------ steps

    void write_block(int rank, const MscclBlock& block) {
        const auto steps = static_cast<std::int64_t>(block.steps.size());
        std::size_t sent = 0, received = 0;
        for (std::int64_t number = 0; number < steps; ++number) {
            const MscclStep& step = block.steps[static_cast<std::size_t>(number)];
            wait_for_needed(rank, step);
            write_step(rank, block, step, sent, received);
            sent += step.sends() ? 1 : 0;
            received += step.receives() ? 1 : 0;
            if (step.is_announced) {
                writer_.notify(rank, step.line, writer_.cell(done_, rank, block.id), number + 1,
                               steps);
            }
        }
    }

    void wait_for_needed(int rank, const MscclStep& step) {
        if (step.needs_block < 0) return;
        const MscclBlock& needed = gpu(rank).blocks[static_cast<std::size_t>(step.needs_block)];
        writer_.wait(rank, step.line, writer_.cell(done_, rank, needed.id), step.needs_step + 1,
                     static_cast<std::int64_t>(needed.steps.size()));
    }

    // Both ends of a step are there before it does anything, and are told after it has done all.
    void write_step(int rank, const MscclBlock& block, const MscclStep& step, std::size_t sent,
                    std::size_t received) {
        const Wire in{block.receive, rank, block.channel};
        const Wire out{rank, block.send, block.channel};
        if (step.receives()) await_full(in, received, step);
        if (step.sends()) await_free(out, sent, step);
        const Range from = step.receives() ? message(in, received) : Range{};
        const Range to = step.sends() ? message(out, sent) : Range{};
        const std::uint32_t line = step.line;
        const auto src = [&] { return range(rank, step, step.src); };
        const auto dst = [&] { return range(rank, step, step.dst); };
        switch (step.type) {
            case MscclType::nop: break;
            case MscclType::send: writer_.copy(rank, line, to, src()); break;
            case MscclType::receive: writer_.copy(rank, line, dst(), from); break;
            case MscclType::copy: writer_.copy(rank, line, dst(), src()); break;
            case MscclType::reduce: writer_.reduce(rank, line, dst(), {dst(), src()}); break;
            case MscclType::rcs:
                writer_.copy(rank, line, dst(), from);
                writer_.copy(rank, line, to, from);
                break;
            case MscclType::rrs: writer_.reduce(rank, line, to, {src(), from}); break;
            case MscclType::rrc: writer_.reduce(rank, line, dst(), {src(), from}); break;
            case MscclType::rrcs:
                writer_.reduce(rank, line, dst(), {src(), from});
                writer_.copy(rank, line, to, dst());
                break;
        }
        if (step.sends()) tell(full_, rank, static_cast<int>(block.send), out, sent, line);
        if (step.receives()) tell(free_, rank, static_cast<int>(block.receive), in, received, line);
    }

    Range message(const Wire& wire, std::size_t k) const {
        const Message& message = connections_.at(wire).messages[k];
        return writer_.range(fifo_, static_cast<int>(std::get<1>(wire)), message.begin,
                             message.chunks);
    }
    Cell cell(std::uint16_t signal, int rank, const Wire& wire) {
        return writer_.cell(signal, rank, std::get<0>(wire), std::get<1>(wire), std::get<2>(wire));
    }
    void await_full(const Wire& wire, std::size_t k, const MscclStep& step) {
        const auto rank = static_cast<int>(std::get<1>(wire));
        writer_.wait(rank, step.line, cell(full_, rank, wire), static_cast<std::int64_t>(k) + 1,
                     connections_.at(wire).per_call());
    }
    void await_free(const Wire& wire, std::size_t k, const MscclStep& step) {
        const auto rank = static_cast<int>(std::get<0>(wire));
        const std::int64_t per_call = connections_.at(wire).per_call();
        const std::int64_t slots = std::min<std::int64_t>(options_.slots, per_call);
        writer_.wait(rank, step.line, cell(free_, rank, wire),
                     static_cast<std::int64_t>(k) + 1 - slots, per_call);
    }
    void tell(std::uint16_t signal, int rank, int peer, const Wire& wire, std::size_t k,
              std::uint32_t line) {
        writer_.notify(rank, line, cell(signal, peer, wire), static_cast<std::int64_t>(k) + 1,
                       connections_.at(wire).per_call());
    }

    const MscclAlgorithm& algorithm_;
    const ReadOptions& options_;
    Sides sides_;
    std::uint64_t elements_;
    Writer writer_;
    SideBuffers buffers_;
    std::uint16_t scratch_ = 0, fifo_ = 0, full_ = 0, free_ = 0, done_ = 0;
    std::map<Wire, Connection> connections_;
    std::map<int, std::uint64_t> fifo_chunks_;  // by receiver
};

}  // namespace

ForeignPlans plans_of(const MscclAlgorithm& algorithm, const ReadOptions& options) {
    return MscclTranslator(algorithm, options).translate();
}

}  // namespace peal::foreign
