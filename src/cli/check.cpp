// SPDX-License-Identifier: Apache-2.0
// peal check: prove a program over every interleaving, or show the shortest way it breaks.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/file.hpp"
#include "check/proof_store.hpp"
#include "cli/check_jobs.hpp"
#include "cli/check_report.hpp"
#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "cli/proof.hpp"
#include "draw/diagram.hpp"
#include "draw/fold.hpp"
#include "draw/svg.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

struct CheckArguments {
    CheckCommand command;
    CheckOptions options;
    std::string svg;
    bool json = false;
    bool full = false;  // the whole picture, on the rank count that was asked for
};

constexpr double kMostSeconds = 1e9;  // that clocks can count

void show_progress(const CheckProgress& progress) {
    const double rate =
        progress.seconds > 0 ? static_cast<double>(progress.states) / progress.seconds : 0;
    fmt::print(stderr, "peal: {} states, {:.0f}/s, frontier {}, {} MiB, {:.0f} s\n",
               progress.states, rate, progress.frontier, progress.memory_bytes >> 20,
               progress.seconds);
}

struct Run {
    SubjectResult result;
    CheckJob deciding;  // what result.last speaks of
    // Where the violation is shown: on fewer ranks, if they have it too.
    CheckJob smaller;
    CheckReport on_fewer;

    bool is_on_fewer() const { return !on_fewer.violations.empty(); }
    const CheckReport& shown() const { return is_on_fewer() ? on_fewer : result.last; }
    std::vector<CheckStage> stages() const {
        return (is_on_fewer() ? smaller : deciding).calls.stages();
    }
};

std::chrono::steady_clock::time_point deadline_of(const CheckOptions& options) {
    using Clock = std::chrono::steady_clock;
    const bool is_short = options.max_seconds < kMostSeconds;
    const std::chrono::duration<double> most(is_short ? options.max_seconds : kMostSeconds);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
}

// The bounds hold for the making of plans and the checking of them together.
CheckReport make_and_check(const CheckCommand& command, CheckOptions options,
                           const CheckSubject& subject, CheckJob& job) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    try {
        job = make_job(command, subject, job.nranks, job.count, deadline_of(options));
    } catch (const Error& error) {
        if (error.fault() != Fault::bound) throw;
        CheckReport report;
        report.verdict = Verdict::bound;
        report.calls = options.calls;
        report.seconds = seconds();
        report.bound = fmt::format("{} seconds: {}", options.max_seconds, error.what());
        return report;
    }
    options.seconds_spent = seconds();
    const std::vector<CheckStage> stages = job.calls.stages();
    const CheckReport report = check(stages, options);
    keep_proof(stages, options, report);
    return report;
}

// Whether `require` refuses a rank count whatever the length. What it says of some lengths only is
// for the user to choose.
bool refuses_all(const CheckArguments& arguments, const CheckSubject& subject, int nranks) {
    return std::all_of(subject.points.begin(), subject.points.end(), [&](const auto& point) {
        if (point.first != nranks) return true;
        try {
            make_job(arguments.command, subject, nranks, point.second,
                     deadline_of(arguments.options));
        } catch (const RequirementError&) {
            return true;
        }
        return false;
    });
}

Exclusion exclusion_of(int nranks, const RequirementError& error) {
    const Diagnostic& why = error.diagnostics().front();
    return {nranks, fmt::format("{}, line {}", why.message, why.span.line)};
}

void add_report(Run& run, CheckJob job, const CheckReport& report, bool asks_redundant) {
    SubjectResult& result = run.result;
    ++result.checks;
    result.events += report.events;
    result.states += report.states;
    result.seconds += report.seconds;
    result.claim = job.claim;
    const bool is_first = result.ranks.empty() || result.ranks.back() != job.nranks;
    if (asks_redundant && is_first && report.verdict == Verdict::proved) {
        result.redundant.push_back(redundant_at(job, report));
    }
    if (is_first) result.ranks.push_back(job.nranks);
    // While all prove, the first that warns speaks for all, or the first: it has an ordinary
    // length.
    const bool warns_first = !report.warnings.empty() && result.last.warnings.empty();
    if (report.verdict == Verdict::proved && result.checks != 1 && !warns_first) return;
    result.last = report;
    result.last_nranks = job.nranks;
    result.last_count = job.count;
    run.deciding = std::move(job);
}

Run check_subject(const CheckArguments& arguments, const CheckSubject& subject) {
    Run run;
    run.result.subject = &subject;
    const int first = subject.points.front().first;
    const int last = subject.points.back().first;
    for (const auto& [nranks, count] : subject.points) {
        std::vector<Exclusion>& excluded = run.result.excluded;
        if (!excluded.empty() && excluded.back().nranks == nranks) continue;
        CheckJob job;
        job.nranks = nranks;
        job.count = count;
        try {
            CheckOptions options = arguments.options;
            const std::vector<int>& done = run.result.ranks;
            // One length of each rank count tells what is redundant.
            options.find_redundant &= done.empty() || done.back() != nranks;
            const CheckReport report = make_and_check(arguments.command, options, subject, job);
            add_report(run, std::move(job), report, options.find_redundant);
            if (report.verdict != Verdict::proved) break;
        } catch (const RequirementError& error) {
            if (first == last || !refuses_all(arguments, subject, nranks)) throw;
            excluded.push_back(exclusion_of(nranks, error));
        }
    }
    if (run.result.ranks.empty()) {
        const Exclusion& why = run.result.excluded.front();
        throw Error(Fault::usage,
                    fmt::format("-n '{}': the kernel excludes every one; for {} ranks: {}",
                                arguments.command.ranks, why.nranks, why.why));
    }
    return run;
}

// The counterexample on the fewest ranks that have one of its kind. Rank counts that cannot be
// checked, for whatever reason, are passed over; so are all when it takes long.
void look_on_fewer(const CheckArguments& arguments, Run& run) {
    constexpr double kMostSecondsMore = 1;
    const SubjectResult& result = run.result;
    const ViolationKind kind = result.last.violations.front().kind;
    CheckOptions options = arguments.options;
    options.find_redundant = options.explain = false;
    options.progress = nullptr;
    const double most = std::max(kMostSecondsMore, result.last.seconds);
    double spent = 0;
    for (int nranks = 2; nranks < result.last_nranks && spent < most; ++nranks) {
        const auto& checked = result.ranks;
        if (std::find(checked.begin(), checked.end(), nranks) != checked.end()) continue;
        options.max_seconds = most - spent;
        CheckJob job;
        job.nranks = nranks;
        job.count = count_on(*result.subject, {result.last_nranks, result.last_count}, nranks);
        try {
            CheckReport report = make_and_check(arguments.command, options, *result.subject, job);
            spent += report.seconds;
            if (report.violations.empty() || report.violations.front().kind != kind) continue;
            run.smaller = std::move(job);
            run.on_fewer = std::move(report);
            return;
        } catch (const Error&) {
        }
    }
}

int exit_code_for(Verdict verdict) {
    switch (verdict) {
        case Verdict::proved: return kFine;
        case Verdict::violated: return kWrong;
        case Verdict::bound: return kBoundReached;
    }
    return kWrong;
}

void print_findings(const Run& run, const CheckArguments& arguments) {
    const CheckReport& report = run.shown();
    const std::vector<CheckStage> stages = run.stages();
    if (run.is_on_fewer()) {
        fmt::print("shown on {} ranks, the fewest that have it; --full shows it on {}\n",
                   run.smaller.nranks, run.result.last_nranks);
    }
    if (report.method == CheckMethod::exploration && !report.why_explored.empty()) {
        fmt::print("explored, because {}\n", report.why_explored);
    }
    if (report.verdict == Verdict::bound)
        fmt::print("not proved: bound reached: {}\n", report.bound);
    if (!report.violations.empty()) {
        fmt::print("\n{}", violation_text(report.violations.front(), stages, arguments.full));
        if (report.violations.size() > 1) {
            fmt::print("\nand {} more:\n", report.violations.size() - 1);
            for (std::size_t i = 1; i < report.violations.size(); ++i) {
                fmt::print("  {}: {}\n", name(report.violations[i].kind),
                           report.violations[i].message);
            }
        }
    }
    fmt::print("{}", warnings_text(report, stages));
    if (arguments.options.find_redundant) fmt::print("{}", redundant_text(run.result.redundant));
    if (arguments.options.explain) fmt::print("\n{}", explanation_text(report, stages));
}

void write_svg(const Run& run, const std::string& path, bool full) {
    if (run.shown().violations.empty()) return;
    const draw::Diagram diagram = draw::diagram_of(run.shown().violations.front(), run.stages());
    write_text(path, draw::to_svg(full ? diagram : draw::folded(diagram)), "picture");
}

int run_check(CheckArguments arguments) {
    if (arguments.options.calls < 1) {
        throw Error(Fault::usage,
                    fmt::format("--calls: expected at least 1, found {}", arguments.options.calls));
    }
    arguments.options.progress = show_progress;
    arguments.options.device = device_rules(arguments.command.target);
    arguments.options.strict_loads = arguments.command.target.strict_loads;
    arguments.command.target.calls = arguments.options.calls;
    const std::vector<CheckSubject> subjects = subjects_of(arguments.command);
    std::vector<SubjectResult> results;
    Run deciding;  // the first that did not prove, or the last
    for (const CheckSubject& subject : subjects) {
        Run run = check_subject(arguments, subject);
        results.push_back(run.result);
        const bool settled =
            deciding.result.subject && deciding.result.last.verdict != Verdict::proved;
        if (!settled) deciding = std::move(run);
    }
    const bool may_have_fewer = !deciding.result.last.violations.empty() &&
                                deciding.result.subject->points.front().first != 0;
    if (may_have_fewer && !arguments.full) look_on_fewer(arguments, deciding);
    if (arguments.json) {
        fmt::print("{}\n", to_json(results, deciding.deciding.calls.stages()));
    } else {
        fmt::print("{}", summary_text(results));
        print_findings(deciding, arguments);
    }
    if (!arguments.svg.empty()) write_svg(deciding, arguments.svg, arguments.full);
    return exit_code_for(deciding.result.last.verdict);
}

}  // namespace

void add_check(CommandLine& line) {
    Command* command =
        line.add_subcommand("check", "prove over every interleaving, or show how it breaks");
    auto arguments = std::make_shared<CheckArguments>();
    CheckCommand& what = arguments->command;
    add_target_options(*command, what.target);
    command->add_option("-n,--ranks", what.ranks,
                        "ranks: 4, a range 2..16 or a list 2,4,8 (default 4)");
    command->add_option("--calls", arguments->options.calls,
                        "calls in a row on the same windows (default 3)");
    command->add_option(
        "--after", what.after,
        "collectives that run before it on the same windows: name or name:algorithm");
    command->add_option("--expect", what.expect,
                        "the collective that a kernel or plan must compute");
    command->add_option("--max-states", arguments->options.max_states,
                        "bound of the exploration (default 100000000)");
    command->add_option("--max-seconds", arguments->options.max_seconds,
                        "bound of the exploration (default 600)");
    command->add_flag("--explain", arguments->options.explain,
                      "for each pair of conflicting accesses, what orders them");
    command->add_flag("--redundant", arguments->options.find_redundant,
                      "notifies and waits that could be left out, one at a time, and what they do "
                      "to the critical path");
    command->add_flag("--bytes", what.bytes,
                      "reports speak bytes, not elements of the declared shapes");
    command->add_flag("--full", arguments->full,
                      "every step of the counterexample, on the rank count that was asked for");
    add_store_option(*command);
    command->add_flag("--json", arguments->json, "the report as JSON");
    command->add_option("--svg", arguments->svg, "write the counterexample as a picture");
    command->footer(
        "The target is a collective, file.peal[:kernel], a PTO kernel.cpp, plan.json, or all.\n"
        "Exit codes: 0 proved, 1 violated, 2 bad usage or program, 3 bound reached.\n"
        "Examples:\n"
        "  peal check all --algo all -n 2..16\n"
        "  peal check allreduce --algo ring -n 8 --count 1000\n"
        "  peal check allreduce --after broadcast:tree -n 4\n"
        "  peal check mine.peal -n 2..4 --expect allreduce --svg race.svg\n"
        "  peal check examples/pto/allreduce_ring.cpp -n 2..16 --as allreduce --device a5");
    command->callback([arguments] { return run_check(*arguments); });
}

}  // namespace peal::cli
