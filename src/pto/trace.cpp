// SPDX-License-Identifier: Apache-2.0
// From kernels to plans: run it for each rank and for many generations, write down what it does,
// and name its lines.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "plan/access.hpp"
#include "platform_comm/comm_context.h"
#include "pto/callees.hpp"
#include "pto/transcribe.hpp"

namespace peal::pto {
namespace {

namespace fs = std::filesystem;

// ---------------------------------------------------------------------------- the source

// All files that instructions come from, the kernel's own first.
class SourceBook {
public:
    explicit SourceBook(const std::string& path)
        : own_(fs::absolute(path).lexically_normal()), name_(path) {
        add(own_.string(), "");
    }

    // The line of the whole source.
    std::uint32_t line(const std::string& file, std::uint32_t line) {
        auto found = first_lines_.find(file);
        if (found == first_lines_.end()) {
            add(file, fs::path(file).filename());
            found = first_lines_.find(file);
        }
        return found->second + line - 1;
    }

    SourcePtr source() && {
        return std::make_shared<const Source>(name_, std::move(text_), std::move(included_));
    }

private:
    void add(const std::string& file, const std::string& shown) {
        std::ifstream stream(file, std::ios::binary);
        std::ostringstream content;
        content << stream.rdbuf();
        std::string text = content.str();
        if (!text.empty() && text.back() != '\n') text += '\n';
        first_lines_[file] = lines_ + 1;
        if (!shown.empty()) included_.push_back({shown, lines_ + 1});
        lines_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
        text_ += text;
    }

    fs::path own_;
    std::string name_, text_;
    std::uint32_t lines_ = 0;
    std::map<std::string, std::uint32_t> first_lines_;
    std::vector<Source::Part> included_;
};

// ---------------------------------------------------------------------------- generations

// All generations that are claimed, and at least so many: what comes back after a few calls shows.
constexpr std::int64_t kInARow = 32;
// Behind them, numbers around powers of two up to this one, and some that have no small divisor.
constexpr std::int64_t kLargestPower = 1 << 16;
constexpr std::array<std::int64_t, 5> kPrimes = {97, 997, 9973, 99'991, 999'983};

std::vector<std::int64_t> generations_of(const std::vector<Parameter>& parameters, int calls) {
    const bool has_generation =
        std::any_of(parameters.begin(), parameters.end(),
                    [](const Parameter& p) { return p.kind == Parameter::Kind::generation; });
    if (!has_generation) return {0};
    std::set<std::int64_t> generations(kPrimes.begin(), kPrimes.end());
    for (std::int64_t power = 1; power <= kLargestPower; power *= 2) {
        generations.insert({power - 1, power});
    }
    for (std::int64_t i = 0; i < std::max<std::int64_t>(calls, kInARow); ++i) generations.insert(i);
    return {generations.begin(), generations.end()};
}

// ---------------------------------------------------------------------------- all ranks

class Tracer {
public:
    Tracer(const TraceRequest& request, std::vector<RankFrame> ranks)
        : request_(request), ranks_(std::move(ranks)), book_(request.source) {}

    // Which words are signals is known when all ranks have been listened to.
    TracedRanks trace() && {
        listen_to_all();
        std::vector<std::vector<std::uint64_t>> created(ranks_.size());
        if (make_created(created)) listen_to_all();
        const std::set<std::size_t> with_signals = find_signals();
        std::vector<Plan> plans;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) plans.push_back(plan_of(rank));
        const SourcePtr source = std::move(book_).source();
        for (Plan& plan : plans) plan.source = source;
        for (std::size_t rank = 0; rank < plans.size(); ++rank) {
            expect_separate(plans[rank], launches_[rank]);
        }
        for (const Placed& placed : ranks_[0].frame.layout.placed) {
            if (placed.finds_signals) expect_apart({{&plans, placed.buffer, placed.signals}});
        }
        return {std::move(plans), {with_signals.begin(), with_signals.end()}, std::move(created)};
    }

private:
    void listen_to_all() {
        addresses_.clear();
        recordings_.clear();
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            addresses_.push_back(
                std::make_unique<AddressSpace>(ranks_[rank].frame.layout, static_cast<int>(rank)));
            recordings_.push_back(ranks_[rank].is_idle ? std::vector<Recording>() : listen(rank));
        }
    }

    // What shims create is known when they have run. Who creates less than others has the rest,
    // too, and leaves it alone: the buffers of all ranks are the same ones.
    bool make_created(std::vector<std::vector<std::uint64_t>>& created) {
        std::vector<Created> most;
        for (const std::vector<Recording>& recordings : recordings_) {
            if (recordings.empty()) continue;
            const std::vector<Created>& own = recordings[0].created;
            for (std::size_t i = 0; i < own.size(); ++i) {
                if (i == most.size()) most.push_back(own[i]);
                expect_same_type(own[i], most[i], i);
                most[i].bytes = std::max(most[i].bytes, own[i].bytes);
            }
        }
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            const std::vector<Recording>& recordings = recordings_[rank];
            for (std::size_t i = 0; i < most.size(); ++i) {
                const bool is_own = !recordings.empty() && i < recordings[0].created.size();
                const std::uint64_t bytes = is_own ? recordings[0].created[i].bytes : most[i].bytes;
                ranks_[rank].frame.layout.add_created(most[i].element, bytes);
                created[rank].push_back(bytes);
            }
        }
        return !most.empty();
    }
    void expect_same_type(const Created& one, const Created& other, std::size_t number) const {
        if (one.element == other.element) return;
        throw Error(
            Fault::program,
            fmt::format("{}: tensor {} that the shim creates is of {} on one rank and of {} "
                        "on another: expected the same",
                        request_.name, number, name(other.element), name(one.element)));
    }

    KernelRun run_of(std::size_t rank, int block, int blocks) const {
        TraceOptions options = request_.options;
        options.blocks = blocks;
        return {&request_.callee,
                &ranks_[rank].frame,
                addresses_[rank].get(),
                static_cast<int>(rank),
                static_cast<int>(ranks_.size()),
                request_.generations,
                options,
                block};
    }

    // How many blocks there are, a shim says.
    std::vector<Recording> listen(std::size_t rank) const {
        int blocks = request_.options.blocks;
        std::vector<Recording> recordings = {record(run_of(rank, 0, blocks))};
        if (recordings[0].blocks > 1) {
            blocks = recordings[0].blocks;
            recordings = {record(run_of(rank, 0, blocks))};
        }
        for (int block = 1; block < blocks; ++block) {
            recordings.push_back(record(run_of(rank, block, blocks)));
        }
        return recordings;
    }

    std::set<std::size_t> find_signals() {
        std::set<std::size_t> with_signals;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            for (const Recording& recording : recordings_[rank]) {
                for (const Recorded& one : recording.operations) {
                    note_signal(one.operation, rank, with_signals);
                }
            }
        }
        for (const std::size_t place : with_signals) {
            for (RankFrame& rank : ranks_) rank.frame.layout.have_signals(place);
        }
        return with_signals;
    }
    void note_signal(const ::pto::trace::Operation& operation, std::size_t rank,
                     std::set<std::size_t>& places) const {
        using ::pto::trace::Op;
        const bool is_signal = operation.op == Op::notify_set || operation.op == Op::notify_add ||
                               operation.op == Op::wait;
        if (!is_signal) return;
        const auto location = addresses_[rank]->find(operation.cell);
        if (!location || !location->placed->finds_signals) return;
        const std::vector<Placed>& placed = ranks_[rank].frame.layout.placed;
        places.insert(static_cast<std::size_t>(location->placed - placed.data()));
    }

    Plan plan_of(std::size_t rank) {
        const std::vector<Recording>& recordings = recordings_[rank];
        Plan plan = empty_plan(rank);
        launches_.emplace_back();
        for (std::size_t block = 0; block < recordings.size(); ++block) {
            Transcript transcript = transcribe(
                recordings[block],
                run_of(rank, static_cast<int>(block), static_cast<int>(recordings.size())));
            name_lines(transcript, recordings[block]);
            launches_.back() = transcript.launches;
            add_lane(plan, std::move(transcript), block);
        }
        return plan;
    }

    void name_lines(Transcript& transcript, const Recording& recording) {
        for (std::size_t i = 0; i < transcript.instructions.size(); ++i) {
            const Recorded& origin = recording.operations[transcript.origins[i]];
            transcript.instructions[i].line =
                book_.line(recording.files[origin.file], origin.operation.line);
        }
    }

    // A lane's shifts come behind those of the lanes before it. Lanes may have other turns:
    // together they have as many as it takes until all come again.
    static void add_turns(Plan& plan, Transcript& transcript) {
        if (transcript.turns.shifts.empty()) return;
        const auto signal =
            std::find_if(plan.buffers.begin(), plan.buffers.end(),
                         [](const Buffer& b) { return b.kind == BufferKind::signal; });
        if (signal == plan.buffers.end()) {
            throw Error(Fault::program,
                        fmt::format("{}: its memory moves with the generation, but there are no "
                                    "signals: the generation is that of a signal",
                                    plan.kernel));
        }
        plan.turns.signal = static_cast<std::uint16_t>(signal - plan.buffers.begin());
        const auto before = static_cast<std::uint16_t>(plan.turns.shifts.size());
        const auto move = [&](Range& range) {
            if (range.shift != 0) range.shift = static_cast<std::uint16_t>(range.shift + before);
        };
        for (Instruction& instruction : transcript.instructions) {
            plan::for_each_range(instruction.action, move);
        }
        plan.turns.count = std::lcm(plan.turns.count, transcript.turns.count);
        plan.turns.shifts.insert(plan.turns.shifts.end(), transcript.turns.shifts.begin(),
                                 transcript.turns.shifts.end());
        for (Shift& shift : plan.turns.shifts) {
            const std::size_t own = shift.by.size();
            while (shift.by.size() < plan.turns.count) {
                shift.by.push_back(shift.by[shift.by.size() - own]);
            }
        }
    }

    static void add_lane(Plan& plan, Transcript transcript, std::size_t block) {
        add_turns(plan, transcript);
        std::vector<Instruction>& list = plan.instructions;
        if (block > 0) plan.lanes.push_back(static_cast<std::uint32_t>(list.size()));
        plan.tile_bytes = std::max(plan.tile_bytes, transcript.tile_bytes);
        list.insert(list.end(), std::make_move_iterator(transcript.instructions.begin()),
                    std::make_move_iterator(transcript.instructions.end()));
    }

    Plan empty_plan(std::size_t rank) const {
        Plan plan;
        plan.kernel = request_.name;
        plan.rank = static_cast<std::int32_t>(rank);
        plan.nranks = static_cast<std::int32_t>(ranks_.size());
        plan.buffers = ranks_[rank].frame.layout.buffers;
        plan.advance = ranks_[rank].frame.layout.advance;
        return plan;
    }

    const TraceRequest& request_;
    std::vector<RankFrame> ranks_;
    SourceBook book_;
    std::vector<std::unique_ptr<AddressSpace>> addresses_;
    std::vector<std::vector<Recording>> recordings_;  // by rank and block
    std::vector<std::vector<std::size_t>> launches_;  // by rank
};

void check_counts(int nranks, const TraceOptions& options) {
    if (options.calls < 1) {
        throw Error(Fault::usage,
                    fmt::format("a kernel is traced for 1 call or more, found {}", options.calls));
    }
    if (options.blocks < 1 || options.blocks > kMaxLanes) {
        throw Error(Fault::usage,
                    fmt::format("a rank has 1 to {} blocks, found {}", kMaxLanes, options.blocks));
    }
    if (nranks >= 1 && nranks <= static_cast<int>(COMM_MAX_RANK_NUM)) return;
    throw Error(Fault::usage,
                fmt::format("PTO kernels have 1 to {} ranks, found {}", COMM_MAX_RANK_NUM, nranks));
}

}  // namespace

TracedRanks trace_ranks(const TraceRequest& request, std::vector<RankFrame> ranks) {
    check_counts(static_cast<int>(ranks.size()), request.options);
    return Tracer(request, std::move(ranks)).trace();
}

std::vector<Plan> trace(const Kernel& kernel, const std::vector<Parameter>& parameters, int nranks,
                        const TraceOptions& options) {
    check_counts(nranks, options);
    const TraceRequest request{kernel.name(), Callee::of(kernel), kernel.path(),
                               generations_of(parameters, options.calls), options};
    return trace_ranks(request, std::vector<RankFrame>(static_cast<std::size_t>(nranks),
                                                       {frame_of(parameters, nranks)}))
        .plans;
}

}  // namespace peal::pto
