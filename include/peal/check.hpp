// SPDX-License-Identifier: Apache-2.0
// The checker: takes the plans of all ranks and decides, over every interleaving, whether they do
// what they must. The answer is "proved", a short counterexample, or an honest "bound reached".
// docs/proof.md says what is decided, under which assumptions, and why the answer can be trusted.
//
//   const std::vector<Plan> plans = compile(collective, 4);
//   const Meaning meaning = meaning_of(collective, plans);
//   const CheckReport report = check({{&plans, &meaning, {}}});
//   if (report.verdict == Verdict::violated) show(report.violations.front());
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "peal/plan.hpp"

namespace peal {

struct Collective;

// Which answers the checker gives. It is raised when anything that was proved may be refuted, or
// when what is checked changes: proofs that an earlier version wrote down then no longer count.
inline constexpr int kCheckerVersion = 2;

// ---------------------------------------------------------------------------- what it must mean

// What `rank` put into `buffer` for this call, from byte `offset` on.
struct Contribution {
    std::int32_t rank = 0;
    std::uint16_t buffer = 0;
    std::uint64_t offset = 0;
};
using Contributions = std::shared_ptr<const std::vector<Contribution>>;

// On return from a call, bytes [offset, offset + length) of rank's `buffer` hold these
// contributions: one of them is a copy, several are combined with `op`, each exactly once. The
// length is a whole number of elements.
struct Expected {
    std::int32_t rank = 0;
    std::uint16_t buffer = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    Contributions of;
    ReduceOp op = ReduceOp::sum;
    Element element = Element::f32;
    bool reduces = false;  // a combination, even of one contribution: no copy is asked for
};

// Bytes that the caller writes before each call: the input of an in-place collective in a window.
// Arguments need no entry: `in` and `inout` ones are always written before a call.
struct Staged {
    std::int32_t rank = 0;
    std::uint16_t buffer = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

// What a call does, seen from outside. Buffers are indices into Plan::buffers.
struct Meaning {
    std::string name;
    std::vector<Staged> staged;
    std::vector<Expected> outputs;
    bool in_order = false;  // combined in the order listed; otherwise in any order
    // Outputs of the same contributions are combined in the same order, unless atomic additions
    // gathered them (then there is no order to compare) or they are integers (then the order does
    // not matter).
    bool same_bits = false;
    // For that, a op b and b op a are the same bits: where a number that is none has one form only.
    bool commutes = false;
    bool meets = false;  // nobody returns before everybody has been called
};

// What a window holds when a call begins, on every rank. Of a window that nobody speaks of: what
// earlier calls left there, and before those nothing, so that reading it is a violation.
struct Held {
    enum class What : std::uint8_t {
        input,  // before each call the caller puts data there: a host, or an earlier task
        zeros,  // before each call the caller clears it
        fresh,  // the zeros that it was made with, until a call writes there; no caller does
    };
    std::string window;  // the name of a buffer of the plans
    What what = What::input;

    bool operator==(const Held&) const = default;
};
std::string_view name(Held::What what);

// Where a kernel takes its input and leaves its result: buffers of its plan.
struct Ports {
    std::uint16_t input = 0;
    std::uint16_t output = 0;
};

// The ports of a kernel that does `collective`: on a window its first data window, otherwise its
// first argument that is read and its first that is written. Throws Error(usage) if there is none.
Ports ports_of(const Collective& collective, const Plan& plan);

// The ports of a kernel that was written by hand. The input is in the first window that holds
// input; where none does, in the first argument that is read; where no argument is there at all, in
// the first window. The result is in the buffer called `result`; where that is empty, in the first
// argument that is written; where none is, in the window of the input. Throws Error(usage) if there
// is no such buffer.
Ports ports_of(const Plan& plan, const std::vector<Held>& holds, std::string_view result = {});

// What the collective means for these plans. Kernels of tile processors are held to a tolerance by
// those who write them: of plans with pipes the same bits are not asked.
Meaning meaning_of(const Collective& collective, const std::vector<Plan>& plans);
Meaning meaning_of(const Collective& collective, const std::vector<Plan>& plans, Ports ports);
Meaning meaning_of(const Collective& collective, int nranks, Ports ports);

// ---------------------------------------------------------------------------- what to check

// One call of the sequence that is checked.
struct CheckStage {
    const std::vector<Plan>* plans = nullptr;  // of all ranks
    const Meaning* meaning = nullptr;          // null: only the protocol is checked
    // The memory behind each buffer; stages share what has the same name. Empty: a buffer's own
    // name is the name of its memory.
    std::vector<std::string> memory;
    // Windows that hold something when the call begins, each once. What a meaning says is staged
    // in one of them is put there, whatever the rest of it holds.
    std::vector<Held> holds = {};
};

// What a host does between its tasks, as plans of so many ranks: all have returned from what is
// before it when one begins what is after it. The lines of its steps are nobody's.
std::vector<Plan> host_turn(int nranks);
// As a stage, on memory of its own.
CheckStage host_turn_stage(const std::vector<Plan>& turn);

// When what a pipe has stored is visible to the others. It makes a difference to plans with pipes
// only: where there are none, a notify makes everything before it visible. docs/proof.md, "Orders".
enum class MemoryOrder : std::uint8_t {
    drained,  // when the pipe has done it
    fenced,   // after the fence that follows
};
std::string_view name(MemoryOrder order);

// Whether these plans may behave differently under the two orders.
bool orders_differ(const std::vector<CheckStage>& stages);

struct CheckProgress {
    std::uint64_t events = 0;    // of the linear method
    std::uint64_t states = 0;    // of the exploration, from when it begins
    std::uint64_t frontier = 0;  // states not yet expanded
    std::uint64_t memory_bytes = 0;
    double seconds = 0;
};

// For CheckOptions::progress, of those who wait without having asked for a proof: when it has taken
// five seconds, stderr says once what is proved, and when that ends at the latest.
std::function<void(const CheckProgress&)> tell_if_slow(std::string what, double max_seconds);

struct CheckOptions {
    // The whole sequence of stages is run any number of times, if that can be shown, and otherwise
    // `calls` times; or just `calls` times.
    int calls = 3;
    bool any_calls = true;
    MemoryOrder order = MemoryOrder::drained;
    bool explore = false;  // explore even where the linear method would do
    std::uint64_t max_states = 100'000'000;
    std::uint64_t max_memory_bytes = std::uint64_t{8} << 30;
    double max_seconds = 600;
    double seconds_spent = 0;     // of them, before the check: making the plans
    bool explain = false;         // fill CheckReport::explanations (linear method only)
    bool find_redundant = false;  // fill CheckReport::redundant when the plans prove
    std::size_t max_violations = 8;
    DeviceRules device;
    bool strict_loads = false;  // outstanding loads are violations, not warnings
    std::function<void(const CheckProgress&)> progress;  // called at most once per second
};

// ---------------------------------------------------------------------------- what came out

enum class ViolationKind : std::uint8_t {
    data_race,       // two ranks touch the same bytes, not both reading or adding; no order
    deadlock,        // nobody can go on
    stale_signal,    // a wait passes on what an earlier call left in its cell
    unwritten_read,  // bytes are read that nobody wrote
    out_of_range,    // bytes or cells that do not exist
    signal_state,    // cells do not end where the next call expects them
    overflow,        // a value does not fit its cell
    pipe_hazard,     // as data_race, between pipes of one rank; or a rule of the device is broken
    flag,            // awaited without set, set twice, left set, no such event
    tile_memory,     // beyond what the device has, or misaligned; tiles placed by hand overlap
    wrong_result,    // the outputs are not what the collective means
};
std::string_view name(ViolationKind kind);

// One thing that one rank does: an instruction, or what its caller does around a call.
struct Step {
    static constexpr std::int32_t kStages = -1;    // the caller writes the inputs
    static constexpr std::int32_t kConsumes = -2;  // the caller reads the outputs

    std::int32_t call = 0;   // counted over the whole sequence, from 0
    std::int32_t stage = 0;  // whose plan
    std::int32_t rank = 0;
    std::int32_t index = 0;  // the instruction, or one of the above
    // In a schedule, for a wait: the position of the notify that let it pass; -1: none was needed.
    std::int32_t released_by = -1;
    // Of its ranges the one in question, sources in order and then the destination; -1: none in
    // particular. Of what several lines were fused into, it says which of them is meant.
    std::int32_t range = -1;
    // Not the instruction itself, but that others come to see what it has stored; or, before it,
    // that its cache takes what it will read.
    bool is_aside = false;

    bool operator==(const Step&) const = default;
};
// "rank 1, call 0: wait sig[0] >= 1 (line 7)"
std::string to_text(const Step& step, const std::vector<CheckStage>& stages);

struct Violation {
    ViolationKind kind = ViolationKind::data_race;
    std::string message;      // one sentence: who, what, where
    std::vector<Step> steps;  // the instructions involved; last, who wrote a wrong result
    std::string memory;       // the bytes or the cell in question, "data@2[0..64)"; may be empty
    std::string found;        // wrong_result: the term; signals: the value
    std::string expected;
    // Of a result that is right but for its order: how the two ranks of `steps` combine it, by the
    // ranks that contribute: "(0+1)+2" and "(0+2)+1".
    std::vector<std::string> orders;
    // An interleaving that shows it; the steps involved come last. A blocked wait is not part of
    // it. Static violations need no interleaving: the schedule is then the offending step.
    std::vector<Step> schedule;
};

enum class Verdict : std::uint8_t { proved, violated, bound };
enum class CheckMethod : std::uint8_t { linear, exploration };
std::string_view name(Verdict verdict);
std::string_view name(CheckMethod method);

// A notify or wait without which, alone, everything still proves. Without several of them at once
// it may not. The critical path is the longest chain of steps in a run in which everybody goes on
// as soon as it can: a notify that only saves time makes it shorter.
struct Redundant {
    std::int32_t stage = 0;
    std::int32_t rank = 0;
    std::int32_t index = 0;
    std::uint64_t steps_with = 0;  // of the critical path
    std::uint64_t steps_without = 0;
};

// Why two conflicting accesses of different ranks (or pipes) never clash: `first` comes before
// `second` because of this chain of notifies and the waits that they release.
struct Explanation {
    struct Link {
        Step notify, wait;
    };
    Step first, second;
    std::string memory;  // an example of the bytes that both touch
    std::vector<Link> chain;
    std::uint64_t pairs = 0;  // how many pairs of accesses of this sort there are
};

struct CheckReport {
    Verdict verdict = Verdict::proved;
    CheckMethod method = CheckMethod::linear;
    std::string why_explored;  // the assumption of the linear method that fails, and where
    std::string bound;         // the limit that was reached
    // Of the whole sequence, times its stages; or, if that was shown, any number of them, as many
    // as the cells have room for: so many, or, if that is 0, without an end.
    int calls = 0;
    bool any_calls = false;
    std::uint64_t calls_that_fit = 0;
    std::string why_not_any;  // asked for and proved, but not for any number: one sentence
    MemoryOrder order = MemoryOrder::drained;
    bool any_order = false;    // the other order makes no difference: the verdict holds under both
    std::uint64_t events = 0;  // linear: executed steps
    std::uint64_t states = 0;  // exploration: distinct states
    std::uint64_t memory_bytes = 0;
    double seconds = 0;
    std::vector<Violation> violations;  // shortest first
    std::vector<Violation> warnings;    // they change no verdict; at most max_violations
    std::vector<Redundant> redundant;
    bool redundant_cut = false;  // the time was over before all were tried
    std::vector<Explanation> explanations;
};

// Throws Error(usage) when the stages do not fit together. Plans that `validate` refuses are never
// proved: what is out of range and tiles that overlap are violations, all else is thrown as
// Error(program), in the words of `validate`.
CheckReport check(const std::vector<CheckStage>& stages, const CheckOptions& options = {});

// As check(), for those who need no more than to know that it is proved: what stands in the user's
// store of proofs is not checked again, and what is proved is put there. Without a store
// (PEAL_PROOFS=off, or a directory that cannot be used, of which stderr tells once) it is check().
// Throws Error(usage) when PEAL_PROOFS is neither on nor off.
struct ProofAnswer {
    CheckReport report;  // from the store: verdict, method, calls, events and states
    bool from_store = false;
};
ProofAnswer check_once(const std::vector<CheckStage>& stages, const CheckOptions& options = {});
// The same under both orders of memory, where they make a difference: what is proved under both has
// `any_order`, and what is proved under `drained` alone has not.
ProofAnswer check_orders_once(const std::vector<CheckStage>& stages, CheckOptions options = {});

}  // namespace peal
