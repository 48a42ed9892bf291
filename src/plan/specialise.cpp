// SPDX-License-Identifier: Apache-2.0
// Loops are unrolled, branches taken and values carried: what is left is a list of instructions.
#include <algorithm>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/watch.hpp"
#include "plan/specialise.hpp"
#include "plan/specialiser.hpp"

namespace peal::plan {
namespace {

constexpr std::uint64_t kRoundsPerLook = 1 << 12;  // at the clock

void require_time(const CompileOptions& options, int rank, int nranks) {
    Watch::look_up();
    if (!options.deadline || std::chrono::steady_clock::now() < *options.deadline) return;
    throw Error(
        Fault::bound,
        fmt::format("the time is over before the plan of rank {} of {} is made", rank, nranks));
}

// Lowering tells counters of one name apart by a number: peer, peer_1. In the text they are one.
std::string_view as_written(std::string_view name, std::string_view line) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    const bool is_numbered = digits != std::string_view::npos && digits > 0 &&
                             digits + 1 < name.size() && name[digits] == '_';
    if (!is_numbered || line.find(name) != std::string_view::npos) return name;
    return name.substr(0, digits);
}

void require_rank(int rank, int nranks) {
    if (nranks < 1 || nranks > kMaxRanks) {
        throw Error(Fault::usage, fmt::format("expected 1..{} ranks, found {}", kMaxRanks, nranks));
    }
    if (rank < 0 || rank >= nranks) {
        throw Error(Fault::usage,
                    fmt::format("expected a rank in 0..{}, found {}", nranks - 1, rank));
    }
}

// Lanes that all do the same would do it on the same memory at once.
void require_lanes(const ResolvedKernel& kernel, int lanes) {
    if (lanes < 1 || lanes > kMaxLanes) {
        throw Error(Fault::usage, fmt::format("expected 1..{} lanes, found {}", kMaxLanes, lanes));
    }
    if (lanes > 1 && !kernel.asks_lane) {
        throw Error(
            Fault::usage,
            fmt::format("kernel {} does not ask for `lane`: {} lanes would all do the same; "
                        "compile it with one",
                        kernel.origin->name, lanes));
    }
}

// A few rounds are sooner carried out.
bool is_worth_following(std::int64_t lo, std::int64_t hi) {
    constexpr std::int64_t kFewRounds = 16;
    constexpr std::int64_t kFar = std::int64_t{1} << 60;
    return -kFar < lo && lo < hi && hi < kFar && hi - lo >= kFewRounds;
}

}  // namespace

Specialiser::Specialiser(const ResolvedKernel& kernel, const Bindings& bindings, int rank,
                         int nranks, const CompileOptions& options)
    : Evaluator(kernel.source.get(), kernel.slots, kernel.memos),
      kernel_(kernel),
      bindings_(bindings),
      options_(options) {
    plan_.kernel = kernel.origin->name;
    plan_.rank = rank;
    plan_.nranks = nranks;
    plan_.source = kernel.source;
    if (kernel.source) notes_ = std::make_shared<PlanNotes>();
    define(kRankSlot, AffineInteger{rank, 0, 0});
    define(kNranksSlot, AffineInteger{nranks, 0, 0});
    define(kNlanesSlot, AffineInteger{options.lanes, 0, 0});
    bind_parameters();
}

Draft Specialiser::run() && {
    std::uint64_t tile_bytes = 0;
    std::vector<std::int64_t> advance = plan_.advance;
    for (int lane = 0; lane < options_.lanes; ++lane) {
        run_lane(lane);
        tile_bytes = std::max(tile_bytes, plan_.tile_bytes);
        for (std::size_t b = 0; b < advance.size(); ++b) {
            if (plan_.advance[b] == 0 || plan_.advance[b] == advance[b]) continue;
            if (advance[b] != 0) fail_advance(b, advance[b]);
            advance[b] = plan_.advance[b];
        }
    }
    plan_.tile_bytes = tile_bytes;
    plan_.advance = std::move(advance);
    settle_turns();
    plan_.notes = std::move(notes_);
    return {std::move(plan_), std::move(repeats_)};
}

// Each lane has tile memory of its own, and says by itself how far it moves a generation on.
void Specialiser::run_lane(int lane) {
    lane_ = lane;
    if (lane > 0) {
        plan_.lanes.push_back(static_cast<std::uint32_t>(plan_.instructions.size()));
        forget();
    }
    define(kLaneSlot, AffineInteger{lane, 0, 0});
    plan_.tile_bytes = 0;
    std::fill(plan_.advance.begin(), plan_.advance.end(), 0);
    run_body(kernel_.body);
}

void Specialiser::fail_advance(std::size_t signal, std::int64_t before) const {
    throw Error(Fault::program,
                fmt::format("{}: it advances '{}' by {}, a lane before it by {}: those lanes that "
                            "advance a signal advance it by the same amount",
                            who(), plan_.buffers[signal].name, plan_.advance[signal], before));
}

void Specialiser::run_body(const Body& body) {
    for (const Statement& statement : body.statements) {
        enter(statement.span);
        std::visit([&](const auto& what) { carry_out(what, statement.span); }, statement.what);
    }
}

void Specialiser::evaluate_all(const std::vector<Operand>& exprs,
                               std::vector<KernelValue>& values) {
    values.clear();
    for (const Operand expr : exprs) values.push_back(evaluate(*expr));
}

void Specialiser::carry_out(const Definition& definition, Span) {
    define(definition.slot, evaluate(*definition.value));
}

void Specialiser::carry_out(const Command& command, Span) { evaluate(*command.call); }

void Specialiser::carry_out(const Loop& loop, Span span) {
    const std::int64_t lo = integer(*loop.lo);
    const std::int64_t hi = integer(*loop.hi);
    std::vector<KernelValue> carried;
    carried.reserve(loop.carried.size());
    for (const Loop::Carried& value : loop.carried) carried.push_back(evaluate(*value.init));
    if (notes_) {
        loops_.push_back({name_number(as_written(loop.name, kernel_.source->line(span.line)))});
    }
    // Messages tell of every round, and what is carried may be anything.
    if (notes_ || follows_ || !carried.empty() || !is_worth_following(lo, hi)) {
        carry_out_rounds(loop, span, lo, hi, 0, carried);
    } else {
        follow_rounds(loop, span, lo, hi);
    }
    if (notes_) loops_.pop_back();
    for (std::size_t c = 0; c < carried.size(); ++c) define(loop.carried[c].result, carried[c]);
}

void Specialiser::carry_out_rounds(const Loop& loop, Span span, std::int64_t begin,
                                   std::int64_t end, std::int64_t step,
                                   std::vector<KernelValue>& carried) {
    for (std::int64_t i = begin; i < end; ++i) {
        count_round(span);
        if (notes_) loops_.back() = {loops_.back().name, i, 0};
        define(loop.counter, AffineInteger{.constant = i, .step = step});
        for (std::size_t c = 0; c < carried.size(); ++c) define(loop.carried[c].inner, carried[c]);
        run_body(loop.body);
        evaluate_all(loop.body.yields, carried);
    }
}

// Of periods that are alike, two are carried out.
void Specialiser::follow_rounds(const Loop& loop, Span span, std::int64_t lo, std::int64_t hi) {
    constexpr std::uint64_t kWorthIt = 4;
    std::vector<KernelValue> nothing;
    follows_ = true;
    std::int64_t rounds = 1;  // of a period
    while (lo < hi) {
        rounds = std::min(rounds, hi - lo);
        const auto periods_left = static_cast<std::uint64_t>((hi - lo) / rounds);
        const std::uint64_t tile_bytes = plan_.tile_bytes;
        Repeat found;
        found.begin = plan_.instructions.size();
        periods().begin(static_cast<std::uint64_t>(rounds), periods_left);
        carry_out_rounds(loop, span, lo, lo + rounds, rounds, nothing);
        lo += rounds;
        found.length = plan_.instructions.size() - found.begin;
        found.times = periods().alike();
        const auto wanted = static_cast<std::int64_t>(periods().wanted_rounds());
        if (found.times >= kWorthIt) {
            const std::uint64_t period_bytes = plan_.tile_bytes - tile_bytes;
            const std::uint64_t before = rounds_;
            carry_out_rounds(loop, span, lo, lo + rounds, rounds, nothing);
            lo += rounds;
            if (repeat(found, rounds_ - before, period_bytes)) {
                lo += static_cast<std::int64_t>(found.times - 2) * rounds;
            }
        }
        rounds = wanted;
    }
    follows_ = false;
}

// Takes the periods after the second for done, unless they would reach a limit on the way.
bool Specialiser::repeat(Repeat repeat, std::uint64_t rounds, std::uint64_t tile_bytes) {
    constexpr std::uint64_t kMostInAPeriod = std::uint64_t{1} << 38;
    constexpr std::uint64_t kMostBefore = std::uint64_t{1} << 61;
    const std::uint64_t times = repeat.times - 2;
    const std::uint64_t room = options_.max_instructions - plan_.instructions.size() - repeated_;
    if (plan_.instructions.size() != repeat.begin + 2 * repeat.length) return false;
    if (times * repeat.length > room || times * rounds > most_rounds() - rounds_ ||
        tile_bytes > kMostInAPeriod || plan_.tile_bytes > kMostBefore) {
        return false;
    }
    auto step = Step::between(first_period(plan_, repeat), second_period(plan_, repeat));
    if (!step) return false;
    repeated_ += times * repeat.length;
    rounds_ += times * rounds;
    plan_.tile_bytes += times * tile_bytes;
    if (repeat.length == 0) return true;
    repeat.step = *std::move(step);
    repeats_.push_back(std::move(repeat));
    return true;
}

std::uint32_t Specialiser::name_number(std::string_view name) {
    std::vector<std::string>& names = notes_->names;
    const auto it = std::find(names.begin(), names.end(), name);
    const auto number = static_cast<std::uint32_t>(it - names.begin());
    if (it == names.end()) names.emplace_back(name);
    return number;
}

// The round that an instruction is written down in.
std::uint32_t Specialiser::round_here() {
    if (loops_.empty() || loops_.back().round != 0) return loops_.empty() ? 0 : loops_.back().round;
    std::uint32_t around = 0;
    for (OpenLoop& loop : loops_) {
        if (loop.round == 0) {
            notes_->rounds.push_back({around, loop.name, loop.value});
            loop.round = static_cast<std::uint32_t>(notes_->rounds.size());
        }
        around = loop.round;
    }
    return around;
}

void Specialiser::carry_out(const Branch& branch, Span) {
    const Body& body = truth(*branch.condition) ? branch.taken : branch.otherwise;
    run_body(body);
    std::vector<KernelValue> values;
    evaluate_all(body.yields, values);
    for (std::size_t i = 0; i < values.size(); ++i) define(branch.results[i], values[i]);
}

void Specialiser::carry_out(const Uninlined& call, Span span) {
    fail(span, fmt::format("the call of kernel '{}' is not inlined", call.kernel),
         "lower the program first");
}

// Rounds of a loop that emit nothing cost time too.
std::uint64_t Specialiser::most_rounds() const {
    constexpr std::uint64_t kRoundsPerInstruction = 16;
    return options_.max_instructions * kRoundsPerInstruction;
}

void Specialiser::count_round(Span where) {
    if (++rounds_ > most_rounds()) {
        fail(where, fmt::format("the loops take more than {} rounds", most_rounds()),
             "plans are unrolled: use fewer, larger pieces, or raise max_instructions");
    }
    if (rounds_ % kRoundsPerLook == 0) require_time(options_, plan_.rank, plan_.nranks);
}

std::string Specialiser::who() const {
    const std::string lane =
        options_.lanes == 1 ? "" : fmt::format(", lane {} of {}", lane_, options_.lanes);
    return fmt::format("kernel {}, rank {} of {}{}", plan_.kernel, plan_.rank, plan_.nranks, lane);
}

const std::string& Specialiser::signal_name(std::uint16_t signal) const {
    return plan_.buffers[signal].name;
}

Draft specialise(const ResolvedKernel& kernel, const Bindings& bindings, int rank, int nranks,
                 const CompileOptions& options) {
    require_rank(rank, nranks);
    require_lanes(kernel, options.lanes);
    require_time(options, rank, nranks);
    require_bindings(kernel, bindings);
    return Specialiser(kernel, bindings, rank, nranks, options).run();
}

}  // namespace peal::plan

peal::Plan peal::specialise(const ir::Program& lowered, std::string_view kernel,
                            const Bindings& bindings, int rank, int nranks,
                            const CompileOptions& options) {
    return plan::written_out(
        plan::specialise(plan::resolve(lowered, kernel), bindings, rank, nranks, options));
}
