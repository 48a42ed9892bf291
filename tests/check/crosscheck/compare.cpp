// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/compare.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "check/crosscheck/naive.hpp"
#include "check/crosscheck/possible_step.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "plan/for_host.hpp"

namespace peal::test {
namespace {

constexpr std::size_t kMostStates = 1500;

using Kinds = std::set<ViolationKind>;

Kinds kinds_of(const CheckReport& report) {
    Kinds kinds;
    for (const Violation& violation : report.violations) kinds.insert(violation.kind);
    return kinds;
}

std::string text_of(const Kinds& kinds) {
    std::string text;
    for (const ViolationKind kind : kinds)
        text += (text.empty() ? "" : ", ") + std::string(name(kind));
    return text.empty() ? "nothing" : text;
}

// Where ranks race, what they read is anybody's guess and no method need say more.
Kinds causes(Kinds kinds, bool has_barrier) {
    if (kinds.contains(ViolationKind::data_race) || kinds.contains(ViolationKind::pipe_hazard)) {
        kinds.erase(ViolationKind::wrong_result);
        kinds.erase(ViolationKind::unwritten_read);
    }
    // Nor who has passed a barrier, where somebody is blocked before he comes to it.
    if (has_barrier && kinds.contains(ViolationKind::deadlock)) {
        kinds.erase(ViolationKind::wrong_result);
    }
    // A flag that is set twice has no meaning from there on.
    if (kinds.contains(ViolationKind::flag)) return {ViolationKind::flag};
    // Nor has a cell that overflowed: the run ends there.
    if (kinds.contains(ViolationKind::overflow)) return {ViolationKind::overflow};
    return kinds;
}

bool has_pipes(const RandomProgram& program) {
    for (const RandomStage& stage : program.stages) {
        for (const Plan& plan : stage.plans) {
            for (const Instruction& instruction : plan.instructions) {
                if (instruction.pipe != Pipe::none || instruction.group != 0) return true;
            }
        }
    }
    return false;
}

bool has_cache(const RandomProgram& program) {
    for (const RandomStage& stage : program.stages) {
        for (const Plan& plan : stage.plans) {
            for (const Instruction& instruction : plan.instructions) {
                if (instruction.group == kCached) return true;
            }
        }
    }
    return false;
}

bool has_clobber(const RandomProgram& program) {
    for (const RandomStage& stage : program.stages) {
        for (const Plan& plan : stage.plans) {
            for (const Instruction& instruction : plan.instructions) {
                const auto* map = std::get_if<Map>(&instruction.action);
                if (map && map->op == MapOp::clobber) return true;
            }
        }
    }
    return false;
}

bool has_early_flags(const RandomProgram& program) {
    for (const RandomStage& stage : program.stages) {
        for (const Plan& plan : stage.plans) {
            std::map<std::tuple<Pipe, Pipe, int>, int> is_set;
            for (const Instruction& instruction : plan.instructions) {
                if (const auto* set = std::get_if<SetFlag>(&instruction.action)) {
                    ++is_set[{set->from, set->to, set->event}];
                } else if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) {
                    if (--is_set[{wait->from, wait->to, wait->event}] < 0) return true;
                }
            }
        }
    }
    return false;
}

class Comparison {
public:
    Comparison(const RandomProgram& program, Tally& tally)
        : program_(program), stages_(program.list()), tally_(tally) {
        options_.calls = program.calls;
        options_.order = program.order;
        options_.max_violations = 100;
    }

    std::string run() {
        ++tally_.programs;
        const std::optional<CheckReport> report = checked(stages_);
        if (!report || is_about_one_plan(*report)) {
            ++tally_.malformed;
            return {};
        }
        truth_ = naive_check(stages_, program_.calls, program_.order, kMostStates);
        if (!truth_) {
            ++tally_.undecided;
            return {};
        }
        const bool is_linear =
            report->method == CheckMethod::linear && report->why_explored.empty();
        (is_linear ? tally_.linear : tally_.explored)++;
        (report->verdict == Verdict::proved ? tally_.proved : tally_.violated)++;
        tally_.visible += truth_->differs ? 1 : 0;
        compare(*report, is_linear);
        options_.explore = true;
        const CheckReport explored = check(stages_, options_);
        if (explored.verdict != report->verdict) {
            complain("the exploration says {}, the linear method {}", name(explored.verdict),
                     name(report->verdict));
        }
        compare(explored, false);
        options_.explore = false;
        if (report->verdict == Verdict::proved && complaint_.empty()) compare_more_calls(*report);
        if (report->verdict == Verdict::proved && complaint_.empty()) compare_forms();
        return complaint_;
    }

private:
    template <class... Args>
    void complain(fmt::format_string<Args...> format, Args&&... args) {
        complaint_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
    }

    // Nothing if it is refused.
    std::optional<CheckReport> checked(const std::vector<CheckStage>& stages) const {
        try {
            return check(stages, options_);
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    // These do not depend on the interleaving, and the naive interpreter does not know them.
    static bool is_about_one_plan(const CheckReport& report) {
        const Kinds kinds = kinds_of(report);
        return kinds.contains(ViolationKind::out_of_range) ||
               kinds.contains(ViolationKind::tile_memory);
    }

    void compare(const CheckReport& report, bool all_kinds) {
        const Kinds& truth = truth_->kinds;
        if (report.verdict == Verdict::bound) complain("bound reached: {}", report.bound);
        if ((report.verdict == Verdict::violated) != !truth.empty()) {
            complain("{} by {}, but the truth is: {}", name(report.verdict), name(report.method),
                     text_of(truth));
        }
        if (report.verdict == Verdict::proved && truth_->differs) {
            complain("proved by {}, but bytes differ", name(report.method));
        }
        if (truth_->is_unexplained) complain("a term is wrong whose bytes are right");
        const bool has_barrier =
            std::any_of(program_.stages.begin(), program_.stages.end(),
                        [](const RandomStage& stage) { return stage.meaning.meets; });
        const Kinds found = causes(kinds_of(report), has_barrier);
        const Kinds wanted = causes(truth, has_barrier);
        const bool takes_in_vain = truth.contains(ViolationKind::deadlock) && has_cache(program_);
        if (all_kinds && found != wanted && !takes_in_vain) {
            complain("found {}, but the truth is: {}", text_of(found), text_of(wanted));
        }
        for (const Violation& violation : report.violations) {
            ++tally_.kinds[violation.kind];
            if (!truth.contains(violation.kind) && !truth.contains(ViolationKind::flag) &&
                !takes_in_vain) {
                complain("found by {}, but not so: {}: {}", name(report.method),
                         name(violation.kind), violation.message);
            }
            if (has_pipes(program_)) continue;
            if (const std::string step = impossible_step(stages_, violation); !step.empty()) {
                complain("{}: {}", violation.message, step);
            }
        }
    }

    // What holds for any number of calls holds for these.
    void compare_more_calls(const CheckReport& report) {
        constexpr int kMostCalls = 7;
        CheckOptions more = options_;
        more.any_calls = false;
        more.max_states = kMostStates;
        more.calls = kMostCalls;
        tally_.any += report.any_calls ? 1 : 0;
        const CheckReport later = check(stages_, more);
        tally_.late += later.verdict == Verdict::violated ? 1 : 0;
        if (!report.any_calls) return;
        if (later.verdict != Verdict::proved) {
            complain("proved for any number of calls, but for {}: {}", more.calls,
                     text_of(kinds_of(later)));
        }
        for (more.calls = 2; more.calls <= 3; ++more.calls) {  // before it may have settled
            const CheckReport sooner = check(stages_, more);
            if (sooner.verdict == Verdict::proved) continue;
            complain("proved for any number of calls, but for {}: {}", more.calls,
                     text_of(kinds_of(sooner)));
        }
        for (int calls = program_.calls + 1; calls < kMostCalls; ++calls) {
            const std::optional<Truth> truth =
                naive_check(stages_, calls, program_.order, kMostStates / 4);
            if (!truth) return;
            if (truth->kinds.empty() && !truth->differs) continue;
            return complain("proved for any number of calls, but the truth for {} is: {}", calls,
                            text_of(truth->kinds));
        }
    }

    // As a core carries it out that does one thing after another, with fewer passes over memory.
    void compare_forms() {
        RandomProgram form = program_;
        bool is_other = false;
        try {
            for (RandomStage& stage : form.stages) {
                for (Plan& plan : stage.plans) {
                    const std::vector<Instruction> before = plan.instructions;
                    plan = fuse(plan::for_host(plan));
                    is_other |= plan.instructions != before;
                }
            }
        } catch (const Error& error) {
            return complain("proved, but it has no other form: {}", error.what());
        }
        if (!is_other) return;
        ++tally_.forms;
        tally_.early += has_early_flags(program_) ? 1 : 0;
        const CheckReport report = check(form.list(), options_);
        const std::optional<Truth> truth =
            naive_check(form.list(), form.calls, form.order, kMostStates);
        if (report.verdict != Verdict::proved) {
            complain("proved, but not in this form: {}\n{}", text_of(kinds_of(report)),
                     listing(form));
        }
        if (!truth) return;
        if (!truth->kinds.empty() || truth->differs) {
            complain("proved, but in this form the truth is: {}\n{}", text_of(truth->kinds),
                     listing(form));
        }
        const bool same_inputs = truth->inputs == truth_->inputs && !has_clobber(program_);
        if (same_inputs && truth->returned != truth_->returned) {
            complain("this form returns other bytes\n{}", listing(form));
        }
    }

    const RandomProgram& program_;
    std::vector<CheckStage> stages_;
    Tally& tally_;
    CheckOptions options_;
    std::optional<Truth> truth_;
    std::string complaint_;
};

}  // namespace

void Tally::add(const Tally& other) {
    programs += other.programs;
    undecided += other.undecided;
    malformed += other.malformed;
    linear += other.linear;
    explored += other.explored;
    proved += other.proved;
    violated += other.violated;
    visible += other.visible;
    any += other.any;
    late += other.late;
    forms += other.forms;
    early += other.early;
    for (const auto& [kind, count] : other.kinds) kinds[kind] += count;
}

std::string to_text(const Tally& tally) {
    std::string text = fmt::format(
        "{} programs: {} proved, {} violated ({} by bytes), {} malformed, {} undecided; {} linear, "
        "{} explored; {} for any number of calls, {} wrong later; {} other forms, {} with early "
        "flags;",
        tally.programs, tally.proved, tally.violated, tally.visible, tally.malformed,
        tally.undecided, tally.linear, tally.explored, tally.any, tally.late, tally.forms,
        tally.early);
    for (const auto& [kind, count] : tally.kinds) text += fmt::format(" {} {}", name(kind), count);
    return text;
}

std::string disagreement(const RandomProgram& program, Tally& tally) {
    return Comparison(program, tally).run();
}

}  // namespace peal::test
