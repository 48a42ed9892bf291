// SPDX-License-Identifier: Apache-2.0
// What the executor of MSCCL++ does with a plan, as plans of ours.
//
// A signal adds one to a counter of the peer, and the k-th wait on a channel waits for k. Packets
// carry a flag with every few bytes: whoever reads them waits for the flag of this call. That is a
// cell for each stretch of scratch that is written or read as a whole. A barrier of thread blocks
// is a cell for each of them, a semaphore a counter of its releases.
//
// What is asked of a port channel is done later, by a proxy and the network, in order. That is one
// more lane for each such channel. A flush waits until the lane has done what was asked before. A
// call of ours ends after all its lanes, a kernel does not: so the last put must be flushed.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "foreign/mscclpp.hpp"
#include "foreign/trouble.hpp"
#include "foreign/writer.hpp"
#include "peal/error.hpp"

namespace peal::foreign {
namespace {

constexpr std::size_t kMostOperations = 200'000;  // of a GPU, loops unrolled

// An operation, and the part of its memory that it works on: that of one round of a loop.
struct Round {
    const PlusOperation* operation = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t most = UINT64_MAX;
};
using Rounds = std::vector<Round>;

// How often something is done in a call, and by whom.
struct Use {
    std::set<std::size_t> blocks;
    std::int64_t times = 0;
    std::uint32_t line = 0;
    std::int64_t number = 0;  // as the file has it

    void add(std::size_t block, std::uint32_t at, std::int64_t which) {
        if (blocks.empty()) line = at;
        number = which;
        blocks.insert(block);
        ++times;
    }
};

// What a port channel is asked for: bytes, a signal, or first the one and then the other.
struct Asked {
    std::uint32_t line = 0;
    Range dst, src;  // of no length: none
    bool signals = false;
    bool packets = false;  // with their flags
};

// Rank, peer or -1, number.
using Thing = std::tuple<int, std::int64_t, std::int64_t>;

class PlusTranslator {
public:
    PlusTranslator(const PlusPlan& plan, const ReadOptions& options)
        : plan_(plan),
          options_(options),
          sides_(sides()),
          elements_(chunk_elements(sides_, options, default_elements())),
          chunk_(elements_ * bytes_of(options.element)),
          writer_(plan.name, nranks(), plan.source, options, elements_) {
        if (chunk_ % alignment() != 0) {
            throw Error(Fault::usage,
                        fmt::format("--count: chunks of {} bytes are not aligned to {}", chunk_,
                                    alignment()));
        }
    }

    ForeignPlans translate() && {
        unroll();
        count();
        add_buffers();
        collect_packets();
        for (int rank = 0; rank < nranks(); ++rank) {
            for (std::size_t block = 0; block < gpu(rank).blocks.size(); ++block) {
                writer_.begin_lane(rank);
                for (const Round& round : rounds_of(rank, block)) write_round(rank, block, round);
            }
        }
        for (const auto& [thing, list] : asked_) write_proxy(thing, list);
        const std::uint16_t scratch = scratch_, packet = packet_;
        ForeignPlans result = finish(std::move(writer_), sides_, buffers_, options_, elements_);
        if (plan_.alternates) result.alternating = {scratch, packet};
        return result;
    }

private:
    int nranks() const { return static_cast<int>(plan_.gpus.size()); }
    const PlusGpu& gpu(int rank) const { return plan_.gpus[static_cast<std::size_t>(rank)]; }
    const Rounds& rounds_of(int rank, std::size_t block) const {
        return rounds_[static_cast<std::size_t>(rank)][block];
    }
    [[noreturn]] void refuse(std::uint32_t line, const std::string& message) const {
        foreign::refuse(*plan_.source, line, message);
    }
    template <class Each>
    void for_each_round(Each&& each) const {
        for (int rank = 0; rank < nranks(); ++rank) {
            for (std::size_t block = 0; block < gpu(rank).blocks.size(); ++block) {
                for (const Round& round : rounds_of(rank, block)) each(rank, block, round);
            }
        }
    }
    template <class Each>
    void for_each_operation(Each&& each) const {
        const auto visit = [&](const PlusOperation& operation, auto&& self) -> void {
            each(operation);
            for (const PlusOperation& inner : operation.operations) self(inner, self);
        };
        for (const PlusGpu& gpu : plan_.gpus) {
            for (const PlusBlock& block : gpu.blocks) {
                for (const PlusOperation& operation : block.operations) visit(operation, visit);
            }
        }
    }

    // ------------------------------------------------------------------------ sizes

    Sides sides() const {
        Sides sides;
        sides.kind = options_.kind ? options_.kind : collective_called(plan_.collective);
        sides.in_place = plan_.in_place;
        if (options_.in_place && !plan_.in_place) {
            throw Error(Fault::usage,
                        fmt::format("--in-place: {} is out of place", plan_.source->name()));
        }
        for (const PlusGpu& each : plan_.gpus) {
            sides.input = std::max(sides.input, static_cast<std::uint64_t>(each.input));
            sides.output = std::max(sides.output, static_cast<std::uint64_t>(each.output));
        }
        if (!sides.kind) return sides;
        const CollectiveFacts facts = facts_of(*sides.kind);
        const auto ranks = static_cast<std::uint64_t>(nranks());
        const std::uint64_t all =
            facts.output_is_larger()
                ? std::max(sides.output, sides.input * ranks)
                : std::max(sides.input,
                           facts.input_is_larger() ? sides.output * ranks : sides.output);
        if (all == 0 || (facts.has_blocks() && all % ranks != 0)) {
            refuse(plan_.line, fmt::format("{}: expected chunks for each of {} ranks, found {}",
                                           plan_.collective, ranks, all));
        }
        sides.counted = facts.has_blocks() ? all / ranks : all;
        sides.input = facts.output_is_larger() ? sides.counted : all;
        sides.output = facts.input_is_larger() ? sides.counted : all;
        return sides;
    }

    std::uint64_t alignment() const {
        return std::lcm(static_cast<std::uint64_t>(plan_.alignment),
                        static_cast<std::uint64_t>(bytes_of(options_.element)));
    }
    // Enough that every part of a chunk has some, and loops three rounds.
    std::uint64_t default_elements() const {
        std::uint64_t slices = 1, bytes = 0;
        for_each_operation([&](const PlusOperation& operation) {
            slices = std::max(slices, static_cast<std::uint64_t>(operation.slices));
            if (operation.type != PlusType::pipeline) return;
            const auto unit = static_cast<std::uint64_t>(operation.unit_bytes);
            bytes = std::max(bytes, 2 * unit / static_cast<std::uint64_t>(operation.unit_chunks));
        });
        const std::uint64_t step = alignment() * slices;
        return (bytes / step + 1) * step / bytes_of(options_.element);
    }

    void unroll() {
        for (const PlusGpu& gpu : plan_.gpus) {
            std::size_t all = 0;
            auto& blocks = rounds_.emplace_back();
            for (const PlusBlock& block : gpu.blocks) {
                Rounds& rounds = blocks.emplace_back();
                for (const PlusOperation& operation : block.operations) {
                    add_rounds(operation, rounds);
                    if (all + rounds.size() > kMostOperations) too_many(operation);
                }
                all += rounds.size();
            }
        }
    }
    void add_rounds(const PlusOperation& operation, Rounds& rounds) const {
        if (operation.type != PlusType::pipeline) {
            rounds.push_back({&operation});
            return;
        }
        const auto unit = static_cast<std::uint64_t>(operation.unit_bytes);
        const std::uint64_t bytes = static_cast<std::uint64_t>(operation.unit_chunks) * chunk_;
        const std::uint64_t times = (bytes + unit - 1) / unit;
        if (times > kMostOperations) too_many(operation);
        for (std::uint64_t i = 0; i < times; ++i) {
            for (const PlusOperation& inner : operation.operations) {
                rounds.push_back({&inner, i * unit, unit});
            }
        }
    }
    [[noreturn]] void too_many(const PlusOperation& operation) const {
        refuse(operation.line,
               fmt::format("a GPU has more than {} operations, loops unrolled: use fewer elements",
                           kMostOperations));
    }

    // ------------------------------------------------------------------------ memory

    static bool is_packets(const PlusOperation& operation, bool is_source, std::size_t i) {
        switch (operation.type) {
            // A port channel moves packets that are packets already.
            case PlusType::put_packets: return !is_source || !operation.channels.empty();
            case PlusType::read_put_packets: return true;
            case PlusType::unpack_packets: return is_source;
            case PlusType::reduce_packets: return i > 0;
            default: return false;
        }
    }

    // Packets take twice the space of what they carry, so the two do not mix in one memory.
    void add_buffers() {
        std::uint32_t packets = 0, plain = 0;  // lines
        std::uint64_t scratch = 0;
        for (const PlusGpu& each : plan_.gpus) {
            scratch = std::max(scratch, static_cast<std::uint64_t>(each.scratch));
        }
        for_each_operation([&](const PlusOperation& operation) {
            const auto look = [&](const std::vector<PlusPlace>& places, bool is_source) {
                for (std::size_t i = 0; i < places.size(); ++i) {
                    const bool is_scratch = places[i].buffer == PlusBuffer::scratch;
                    const bool is_packet = is_packets(operation, is_source, i);
                    if (is_packet && !is_scratch) {
                        refuse(operation.line, "packets are in scratch: expected type s");
                    }
                    if (is_packet) packets = operation.line;
                    if (!is_packet && is_scratch) plain = operation.line;
                }
            };
            look(operation.src, true);
            look(operation.dst, false);
        });
        if (packets > 0 && plain > 0) {
            refuse(plain, fmt::format("this uses scratch as it is, line {} as packets: plans with "
                                      "both are not read",
                                      packets));
        }
        buffers_ = add_sides(writer_, sides_, true, addressed_by_peers());
        scratch_ = writer_.add_memory("scratch", BufferKind::window, Direction::inout, scratch);
        channel_ = writer_.add_signal("channel");
        packet_ = writer_.add_signal("packet");
        asked_for_ = writer_.add_signal("asked");
        done_ = writer_.add_signal("done");
        barrier_ = writer_.add_signal("barrier");
        semaphore_ = writer_.add_signal("semaphore");
    }
    bool addressed_by_peers() const {
        bool found = false;
        for_each_round([&](int rank, std::size_t, const Round& round) {
            for (const auto* places : {&round.operation->src, &round.operation->dst}) {
                for (const PlusPlace& place : *places) {
                    found |= place.rank != rank && place.buffer != PlusBuffer::scratch;
                }
            }
        });
        return found;
    }

    // Where slice i of n of so many bytes begins.
    std::uint64_t slice_begin(std::uint64_t bytes, std::int64_t i, std::int64_t n) const {
        const auto unit = static_cast<std::uint64_t>(plan_.alignment);
        const auto index = static_cast<std::uint64_t>(i), slices = static_cast<std::uint64_t>(n);
        const std::uint64_t units = bytes / unit;
        return (index * (units / slices) + std::min(index, units % slices)) * unit;
    }

    // Of no length where a round has nothing left.
    Range range(const Round& round, const PlusPlace& place) const {
        const PlusOperation& operation = *round.operation;
        std::uint64_t size = 0, shift = 0;
        std::uint16_t buffer = scratch_;
        const char* what = "scratch";
        switch (place.buffer) {
            case PlusBuffer::input:
                size = sides_.input;
                shift = sides_.input_offset(place.rank);
                buffer = buffers_.input;
                what = "input";
                break;
            case PlusBuffer::output:
                size = sides_.output;
                shift = sides_.output_offset(place.rank);
                buffer = buffers_.output;
                what = "output";
                break;
            case PlusBuffer::scratch:
                size = static_cast<std::uint64_t>(gpu(place.rank).scratch);
                break;
        }
        const auto index = static_cast<std::uint64_t>(place.index);
        const auto chunks = static_cast<std::uint64_t>(place.chunks);
        if (index + chunks > size) {
            refuse(operation.line,
                   fmt::format("expected chunks of the {} of GPU {}, which has {}, found {}..{}",
                               what, place.rank, size, index, index + chunks - 1));
        }
        const std::uint64_t begin = slice_begin(chunks * chunk_, operation.slice, operation.slices);
        const std::uint64_t bytes =
            slice_begin(chunks * chunk_, operation.slice + 1, operation.slices) - begin;
        const std::uint64_t offset = std::min(round.offset, bytes);
        return {buffer, place.rank, (index + shift) * chunk_ + begin + offset,
                std::min(bytes - offset, round.most)};
    }

    // ------------------------------------------------------------------------ packets

    void collect_packets() {
        for_each_round([&](int, std::size_t, const Round& round) {
            const auto add = [&](const std::vector<PlusPlace>& places, bool is_source) {
                for (std::size_t i = 0; i < places.size(); ++i) {
                    if (!is_packets(*round.operation, is_source, i)) continue;
                    const Range packets = range(round, places[i]);
                    ends_[packets.rank].insert({packets.offset, packets.offset + packets.length});
                }
            };
            add(round.operation->src, true);
            add(round.operation->dst, false);
        });
    }
    template <class Each>
    void for_each_packet(const Range& packets, Each&& each) {
        const std::set<std::uint64_t>& ends = ends_[packets.rank];
        for (auto at = ends.find(packets.offset); *at != packets.offset + packets.length; ++at) {
            each(writer_.cell(packet_, packets.rank, *at));
        }
    }
    void await_packets(int rank, std::uint32_t line, const Range& packets) {
        for_each_packet(packets, [&](const Cell& cell) { writer_.wait(rank, line, cell, 1, 1); });
    }
    void put_packets(int rank, std::uint32_t line, const Range& packets, const Range& from) {
        writer_.copy(rank, line, packets, from);
        for_each_packet(packets, [&](const Cell& cell) { writer_.notify(rank, line, cell, 1, 1); });
    }

    // ------------------------------------------------------------------------ counters

    void count() {
        for_each_round([&](int rank, std::size_t block, const Round& round) {
            const PlusOperation& operation = *round.operation;
            for (const PlusChannel& channel : operation.channels) {
                const Thing thing = thing_of(rank, channel);
                const bool is_signal = operation.type == PlusType::signal || operation.then_signals;
                const bool is_put = !operation.src.empty();
                if (is_signal) signals_[thing].add(block, operation.line, channel.number);
                if (operation.type == PlusType::wait) {
                    waits_[thing].add(block, operation.line, channel.number);
                }
                if (!channel.is_port || operation.type == PlusType::wait) continue;
                if (operation.type != PlusType::flush) {
                    asks_[thing].add(block, operation.line, channel.number);
                }
                if (is_put) open_puts_[thing] = operation.line;
                if (operation.type == PlusType::flush || operation.then_flushes) {
                    open_puts_.erase(thing);
                }
            }
            for (const std::int64_t semaphore : operation.semaphores) {
                (operation.type == PlusType::release ? releases_ : acquires_)[{rank, -1, semaphore}]
                    .add(block, operation.line, semaphore);
            }
            if (operation.type == PlusType::barrier) {
                Meeting& meeting = meetings_[{rank, -1, operation.barrier}];
                ++meeting.times[block];
                meeting.blocks = operation.blocks;
                meeting.line = operation.line;
            }
        });
        expect_one(signals_, "signalled on channel");
        expect_one(waits_, "awaited on channel");
        expect_one(asks_, "asked of port channel");
        expect_one(acquires_, "acquired as semaphore");
        for (const auto& [thing, line] : open_puts_) {
            refuse(line,
                   "no flush follows this put on a port channel: it may be under way when the "
                   "kernel returns, and that is not modelled");
        }
        for (const auto& [thing, meeting] : meetings_) expect_whole(thing, meeting);
    }
    // Then the k-th is the k-th of one list.
    void expect_one(const std::map<Thing, Use>& uses, std::string_view what) const {
        for (const auto& [thing, use] : uses) {
            if (use.blocks.size() == 1) continue;
            refuse(use.line, fmt::format("GPU {}: thread blocks {} and {} share what is {} {}: "
                                         "which of them is first is left open, and such plans are "
                                         "not read",
                                         std::get<0>(thing), *use.blocks.begin(),
                                         *std::next(use.blocks.begin()), what, use.number));
        }
    }

    struct Meeting {
        std::map<std::size_t, std::int64_t> times;  // by thread block
        std::int64_t blocks = 0;
        std::uint32_t line = 0;
    };
    void expect_whole(const Thing& thing, const Meeting& meeting) const {
        const auto found = static_cast<std::int64_t>(meeting.times.size());
        if (found != meeting.blocks) {
            refuse(meeting.line, fmt::format("barrier {}: expected the {} thread blocks that "
                                             "num_threadblocks says, found {}",
                                             std::get<2>(thing), meeting.blocks, found));
        }
        for (const auto& [block, times] : meeting.times) {
            const auto& [first, wanted] = *meeting.times.begin();
            if (times == wanted) continue;
            refuse(meeting.line,
                   fmt::format("barrier {}: thread block {} comes {} times, thread block {} {} "
                               "times",
                               std::get<2>(thing), first, wanted, block, times));
        }
    }

    // The number of this one among those of its call.
    std::int64_t next(std::map<Thing, std::int64_t>& done, const Thing& thing) {
        return ++done[thing];
    }

    // Numbers of port channels are told apart from those of memory channels.
    static Thing thing_of(int rank, const PlusChannel& channel) {
        return {rank, channel.peer, 2 * channel.number + (channel.is_port ? 1 : 0)};
    }
    void signal(const Thing& thing, std::uint32_t line) {
        const auto& [rank, peer, number] = thing;
        writer_.notify(rank, line, writer_.cell(channel_, static_cast<int>(peer), rank, number),
                       next(signalled_, thing), signals_.at(thing).times);
    }
    void write_channel(int rank, const PlusOperation& operation, const PlusChannel& channel) {
        const Thing thing = thing_of(rank, channel);
        const auto& [self, peer, number] = thing;
        if (operation.type == PlusType::wait) {
            writer_.wait(rank, operation.line, writer_.cell(channel_, rank, peer, number),
                         next(awaited_, thing), waits_.at(thing).times);
        } else if (operation.type == PlusType::flush) {
            flush(thing, operation.line);
        } else if (channel.is_port) {
            ask(thing, {operation.line, {}, {}, true, false});
        } else {
            signal(thing, operation.line);
        }
    }

    void ask(const Thing& thing, const Asked& what) {
        const auto& [rank, peer, number] = thing;
        asked_[thing].push_back(what);
        writer_.notify(rank, what.line, writer_.cell(asked_for_, rank, peer, number),
                       static_cast<std::int64_t>(asked_[thing].size()), asks_.at(thing).times);
    }
    void flush(const Thing& thing, std::uint32_t line) {
        const auto& [rank, peer, number] = thing;
        const auto all = static_cast<std::int64_t>(asked_[thing].size());
        if (all == 0) return;
        writer_.wait(rank, line, writer_.cell(done_, rank, peer, number), all,
                     asks_.at(thing).times);
    }
    void write_proxy(const Thing& thing, const std::vector<Asked>& list) {
        const auto& [rank, peer, number] = thing;
        const auto per_call = static_cast<std::int64_t>(list.size());
        if (list.empty()) return;
        writer_.begin_lane(rank);
        for (std::int64_t k = 0; k < per_call; ++k) {
            const Asked& asked = list[static_cast<std::size_t>(k)];
            writer_.wait(rank, asked.line, writer_.cell(asked_for_, rank, peer, number), k + 1,
                         per_call);
            if (asked.dst.length > 0 && asked.packets) {
                put_packets(rank, asked.line, asked.dst, asked.src);
            } else if (asked.dst.length > 0) {
                writer_.copy(rank, asked.line, asked.dst, asked.src);
            }
            if (asked.signals) signal(thing, asked.line);
            writer_.notify(rank, asked.line, writer_.cell(done_, rank, peer, number), k + 1,
                           per_call);
        }
    }

    void write_barrier(int rank, std::size_t block, const PlusOperation& operation) {
        const Meeting& meeting = meetings_.at({rank, -1, operation.barrier});
        const std::int64_t time =
            next(met_, {rank, operation.barrier, static_cast<std::int64_t>(block)});
        const std::int64_t per_call = meeting.times.at(block);
        const auto cell_of = [&](std::size_t each) {
            return writer_.cell(barrier_, rank, operation.barrier, each);
        };
        writer_.notify(rank, operation.line, cell_of(block), time, per_call);
        for (const auto& [other, times] : meeting.times) {
            if (other != block) {
                writer_.wait(rank, operation.line, cell_of(other), time, per_call);
            }
        }
    }

    // Releases of several thread blocks add up; those of one are counted by it.
    void write_semaphore(int rank, const PlusOperation& operation, std::int64_t number) {
        const Thing thing{rank, -1, number};
        const Cell cell = writer_.cell(semaphore_, rank, number);
        if (operation.type == PlusType::release) {
            const Use& use = releases_.at(thing);
            if (use.blocks.size() == 1) {
                writer_.notify(rank, operation.line, cell, next(released_, thing), use.times);
            } else {
                writer_.write(rank, operation.line, Notify{NotifyOp::add, cell, {1, 0}});
            }
            return;
        }
        const std::int64_t held = gpu(rank).semaphores[static_cast<std::size_t>(number)];
        writer_.wait(rank, operation.line, cell, next(acquired_, thing) - held,
                     acquires_.at(thing).times);
    }

    // ------------------------------------------------------------------------ operations

    void write_round(int rank, std::size_t block, const Round& round) {
        const PlusOperation& operation = *round.operation;
        if (operation.src.empty()) {
            for (const PlusChannel& channel : operation.channels) {
                write_channel(rank, operation, channel);
            }
        }
        for (const std::int64_t semaphore : operation.semaphores) {
            write_semaphore(rank, operation, semaphore);
        }
        if (operation.type == PlusType::barrier) write_barrier(rank, block, operation);
        if (!operation.src.empty()) write_data(rank, round);
    }

    void write_data(int rank, const Round& round) {
        const PlusOperation& operation = *round.operation;
        const std::uint32_t line = operation.line;
        std::vector<Range> src, dst;
        for (const PlusPlace& place : operation.src) src.push_back(range(round, place));
        for (const PlusPlace& place : operation.dst) dst.push_back(range(round, place));
        const bool reads_packets = operation.type == PlusType::read_put_packets;
        if (!operation.channels.empty() && reads_packets && src[0].length > 0) {
            await_packets(rank, line, src[0]);
        }
        for (std::size_t i = 0; i < operation.channels.size(); ++i) {
            const Thing thing = thing_of(rank, operation.channels[i]);
            ask(thing, {line, dst[i], reads_packets ? src[0] : src[i], operation.then_signals,
                        operation.type != PlusType::put});
            if (operation.then_flushes) flush(thing, line);
        }
        if (src.front().length == 0 || !operation.channels.empty()) return;
        for (std::size_t i = 0; i < src.size(); ++i) {
            if (is_packets(operation, true, i)) await_packets(rank, line, src[i]);
        }
        switch (operation.type) {
            case PlusType::put:
            case PlusType::get:
            case PlusType::copy:
            case PlusType::unpack_packets:
                for (std::size_t i = 0; i < dst.size(); ++i) {
                    writer_.copy(rank, line, dst[i], src[i]);
                }
                break;
            case PlusType::put_packets:
                for (std::size_t i = 0; i < dst.size(); ++i) {
                    put_packets(rank, line, dst[i], src[i]);
                }
                break;
            case PlusType::read_put_packets:
                for (const Range& each : dst) put_packets(rank, line, each, src[0]);
                break;
            case PlusType::reduce_packets:
                std::rotate(src.begin(), src.begin() + 1, src.end());  // packets come first
                writer_.reduce(rank, line, dst[0], src);
                for (std::size_t i = 1; i < dst.size(); ++i) {
                    put_packets(rank, line, dst[i], dst[0]);
                }
                break;
            default:
                writer_.reduce(rank, line, dst[0], src);
                for (std::size_t i = 1; i < dst.size(); ++i) {
                    writer_.copy(rank, line, dst[i], dst[0]);
                }
        }
    }

    const PlusPlan& plan_;
    const ReadOptions& options_;
    Sides sides_;
    std::uint64_t elements_, chunk_;
    Writer writer_;
    SideBuffers buffers_;
    std::uint16_t scratch_ = 0, channel_ = 0, packet_ = 0, barrier_ = 0, semaphore_ = 0;
    std::uint16_t asked_for_ = 0, done_ = 0;
    std::vector<std::vector<Rounds>> rounds_;  // by rank and thread block
    std::map<int, std::set<std::uint64_t>> ends_;
    std::map<Thing, Use> signals_, waits_, asks_, releases_, acquires_;
    std::map<Thing, std::uint32_t> open_puts_;  // lines
    std::map<Thing, std::vector<Asked>> asked_;
    std::map<Thing, std::int64_t> signalled_, awaited_, released_, acquired_, met_;
    std::map<Thing, Meeting> meetings_;
};

}  // namespace

ForeignPlans plans_of(const PlusPlan& plan, const ReadOptions& options) {
    return PlusTranslator(plan, options).translate();
}

}  // namespace peal::foreign
