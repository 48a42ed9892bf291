// SPDX-License-Identifier: Apache-2.0
#include "cli/check_run.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "check/mend.hpp"
#include "check/proof_store.hpp"
#include "cli/devices.hpp"
#include "cli/target.hpp"
#include "draw/pictures.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

constexpr double kMostSeconds = 1e9;  // that clocks can count
constexpr std::string_view kBothOrders = "both";

std::chrono::steady_clock::time_point deadline_of(const CheckOptions& options) {
    using Clock = std::chrono::steady_clock;
    const bool is_short = options.max_seconds < kMostSeconds;
    const std::chrono::duration<double> most(is_short ? options.max_seconds : kMostSeconds);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
}

ProofAnswer check_under(const CheckRequest& request, const std::vector<CheckStage>& stages,
                        const CheckOptions& options) {
    if (request.take_proofs) return check_once(stages, options);
    CheckReport report = check(stages, options);
    checker::keep_proof(stages, options, report);
    return {std::move(report), false};
}

// Under the order that was asked for, or both. What goes wrong under `drained` goes wrong under
// `fenced`, too, where more is possible.
ProofAnswer check_orders(const CheckRequest& request, const std::vector<CheckStage>& stages,
                         CheckOptions options) {
    if (request.order == name(MemoryOrder::fenced)) options.order = MemoryOrder::fenced;
    ProofAnswer answer = check_under(request, stages, options);
    if (request.order != kBothOrders || answer.report.any_order) return answer;
    answer.report.any_order = answer.report.verdict == Verdict::violated;
    if (answer.report.verdict != Verdict::proved) return answer;
    const CheckReport before = std::move(answer.report);
    const bool from_store = answer.from_store;
    options.order = MemoryOrder::fenced;
    options.seconds_spent += before.seconds;
    answer = check_under(request, stages, options);
    answer.from_store &= from_store;
    answer.report.any_order = answer.report.verdict == Verdict::proved;
    answer.report.events += before.events;
    answer.report.states += before.states;
    answer.report.seconds += before.seconds;
    return answer;
}

bool differs_in_order_only(const CheckReport& report) {
    const std::vector<Violation>& all = report.violations;
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const Violation& violation) {
        return !violation.orders.empty();
    });
}

// "output@2[5][0;4]" is in chunk 5.
std::string order_note(const Violation& violation) {
    const std::string& memory = violation.memory;
    const std::size_t begin = memory.find('[') + 1;
    const std::size_t end = memory.find_first_not_of("0123456789", begin);
    const std::size_t low = violation.steps[0].rank < violation.steps[1].rank ? 0 : 1;
    return fmt::format(
        "right, but ranks {} and {} add in different orders: chunk {}: {} against {}",
        violation.steps[low].rank, violation.steps[1 - low].rank, memory.substr(begin, end - begin),
        violation.orders[low], violation.orders[1 - low]);
}

// The bounds hold for the making of plans and the checking of them together.
ProofAnswer make_and_check(const CheckRequest& request, CheckOptions options,
                           const CheckSubject& subject, CheckJob& job) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    try {
        job = make_job(request.command, subject, job.nranks, job.count, deadline_of(options));
    } catch (const Error& error) {
        if (error.fault() != Fault::bound) throw;
        CheckReport report;
        report.verdict = Verdict::bound;
        report.calls = options.calls;
        report.seconds = seconds();
        report.bound = fmt::format("{} seconds: {}", options.max_seconds, error.what());
        return {std::move(report), false};
    }
    options.seconds_spent = seconds();
    const auto check_them = [&] {
        ProofAnswer answer = check_orders(request, job.calls.stages(), options);
        if (answer.from_store) answer.report.seconds = seconds() - options.seconds_spent;
        return answer;
    };
    ProofAnswer answer = check_them();
    if (job.any_order && differs_in_order_only(answer.report)) {
        job.note = order_note(answer.report.violations.front());
        job.claim.order = "orders differ";
        job.calls = *job.any_order;
        options.seconds_spent = seconds();
        const double before = answer.report.seconds;
        answer = check_them();
        answer.report.seconds += before;
    }
    return answer;
}

// Whether `require` refuses a rank count whatever the length. What it says of some lengths only is
// for the user to choose.
bool refuses_all(const CheckRequest& request, const CheckSubject& subject, int nranks) {
    return std::all_of(subject.points.begin(), subject.points.end(), [&](const auto& point) {
        if (point.first != nranks) return true;
        try {
            make_job(request.command, subject, nranks, point.second, deadline_of(request.options));
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

// What holds for all jobs is what holds for the one of which least does.
void add_calls(SubjectResult& result, const CheckReport& report) {
    const auto fewer = [](std::uint64_t a, std::uint64_t b) {
        return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);  // 0: without an end
    };
    result.calls_that_fit = fewer(result.calls_that_fit, report.calls_that_fit);
    if (report.any_calls || !result.any_calls) return;
    result.any_calls = false;
    result.why_not_any = report.why_not_any;
}

void add_report(SubjectResult& result, CheckJob job, const CheckReport& report,
                bool asks_redundant) {
    ++result.checks;
    result.events += report.events;
    result.states += report.states;
    result.seconds += report.seconds;
    result.claim = job.claim;
    result.holds = job.holds;
    result.lanes = job.lanes;
    result.is_traced_by_generation = job.has_generations;
    add_calls(result, report);
    if (result.note.empty()) result.note = job.note;
    const bool is_first = result.ranks.empty() || result.ranks.back() != job.nranks;
    if (asks_redundant && is_first && report.verdict == Verdict::proved) {
        result.redundant->push_back(redundant_at(job, report));
    }
    if (is_first) result.ranks.push_back(job.nranks);
    // While all prove, the first that warns speaks for all, or the first: it has an ordinary
    // length.
    const bool warns_first = !report.warnings.empty() && result.last.warnings.empty();
    if (report.verdict == Verdict::proved && result.checks != 1 && !warns_first) return;
    result.last = report;
    result.last_nranks = job.nranks;
    result.last_count = job.count;
    // Plans may be large, and of what is proved nothing more is said.
    const bool is_spoken_of = report.verdict != Verdict::proved || !report.warnings.empty() ||
                              !report.explanations.empty();
    result.calls = is_spoken_of ? std::move(job.calls) : checker::CallSequence();
}

void read_calls(const std::string& text, CheckOptions& options) {
    options.any_calls = text == "any";
    if (options.any_calls) return;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, options.calls);
    if (error == std::errc() && at == end && options.calls >= 1) return;
    throw Error(Fault::usage,
                fmt::format("--calls: expected any, or a number from 1 on, found {}", text));
}

}  // namespace

void add_request_options(Command& command, CheckRequest& request) {
    CheckCommand& what = request.command;
    add_target_options(command, what.target);
    command.add_option("-n,--ranks", what.ranks,
                       "ranks: 4, a range 2..16 or a list 2,4,8 (default 4)");
    command.add_option("--calls", request.calls,
                       "calls in a row on the same windows: a number, or any (default): any "
                       "number, where that can be shown, and otherwise 3");
    command.add_option("--order", request.order,
                       "when stores of a pipe are visible to the others: drained, fenced, or both "
                       "where they differ (default both)");
    command.add_option("--after", what.after,
                       "collectives that run before it on the same windows: name or name:recipe");
    command.add_option("--expect", what.expect,
                       "the collective that a kernel or plan must compute");
    command.add_option("--max-states", request.options.max_states,
                       "bound of the exploration (default 100000000)");
    command.add_option("--max-seconds", request.options.max_seconds,
                       "bound of the exploration (default 600)");
    command
        .add_flag("--explain", request.options.explain,
                  "for each pair of conflicting accesses, what orders them")
        ->group(kReportGroup);
    command
        .add_flag("--redundant", request.options.find_redundant,
                  "notifies and waits that could be left out, one at a time, and what they do "
                  "to the critical path")
        ->group(kReportGroup);
    command
        .add_flag("--bytes", what.bytes, "reports speak bytes, not elements of the declared shapes")
        ->group(kReportGroup);
    command
        .add_flag("--full", request.full,
                  "every step of the counterexample, on the rank count that was asked for, and "
                  "every redundant notify and wait")
        ->group(kReportGroup);
}

void prepare(CheckRequest& request) {
    read_calls(request.calls, request.options);
    const bool is_order = request.order == name(MemoryOrder::drained) ||
                          request.order == name(MemoryOrder::fenced) ||
                          request.order == kBothOrders;
    if (!is_order) {
        throw Error(
            Fault::usage,
            fmt::format("--order: expected drained, fenced or both, found '{}'", request.order));
    }
    request.options.device = device_rules(request.command.target);
    request.options.strict_loads = request.command.target.strict_loads;
    request.command.target.calls = request.options.calls;
}

Run check_subject(const CheckRequest& request, const CheckSubject& subject) {
    Run run;
    run.result.subject = &subject;
    if (request.options.find_redundant) run.result.redundant.emplace();
    run.is_for_both_orders = request.order == kBothOrders;
    const int first = subject.points.front().first;
    const int last = subject.points.back().first;
    for (const auto& [nranks, count] : subject.points) {
        std::vector<Exclusion>& excluded = run.result.excluded;
        if (!excluded.empty() && excluded.back().nranks == nranks) continue;
        CheckJob job;
        job.nranks = nranks;
        job.count = count;
        try {
            CheckOptions options = request.options;
            const std::vector<int>& done = run.result.ranks;
            // One length of each rank count tells what is redundant.
            options.find_redundant &= done.empty() || done.back() != nranks;
            const auto [report, from_store] = make_and_check(request, options, subject, job);
            run.result.from_store += from_store ? 1 : 0;
            add_report(run.result, std::move(job), report, options.find_redundant);
            if (report.verdict != Verdict::proved) break;
        } catch (const RequirementError& error) {
            if (first == last || !refuses_all(request, subject, nranks)) throw;
            excluded.push_back(exclusion_of(nranks, error));
        }
    }
    if (run.result.ranks.empty()) {
        const Exclusion& why = run.result.excluded.front();
        throw Error(Fault::usage,
                    fmt::format("-n '{}': the kernel excludes every one; for {} ranks: {}",
                                request.command.ranks, why.nranks, why.why));
    }
    return run;
}

void look_on_fewer(const CheckRequest& request, Run& run) {
    constexpr double kMostSecondsMore = 1;
    const SubjectResult& result = run.result;
    if (request.full || result.last.violations.empty() || result.last_nranks <= 2) return;
    if (result.subject->points.front().first == 0) return;  // a file of plans has its own
    const ViolationKind kind = result.last.violations.front().kind;
    CheckOptions options = request.options;
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
            CheckReport report = make_and_check(request, options, *result.subject, job).report;
            spent += report.seconds;
            if (report.violations.empty() || report.violations.front().kind != kind) continue;
            run.smaller = std::move(job);
            run.on_fewer = std::move(report);
            return;
        } catch (const Error&) {
        }
    }
}

std::vector<SubjectResult> results_of(const std::vector<Run>& runs) {
    std::vector<SubjectResult> results;
    for (const Run& run : runs) results.push_back(run.result);
    return results;
}

TargetRuns check_subjects(const CheckRequest& request, const std::vector<CheckSubject>& subjects) {
    TargetRuns all;
    for (const CheckSubject& subject : subjects) {
        all.runs.push_back(check_subject(request, subject));
    }
    const auto refuted = std::find_if(all.runs.begin(), all.runs.end(), [](const Run& run) {
        return run.result.last.verdict != Verdict::proved;
    });
    all.deciding = refuted == all.runs.end() ? all.runs.size() - 1
                                             : static_cast<std::size_t>(refuted - all.runs.begin());
    look_on_fewer(request, all.runs[all.deciding]);
    return all;
}

std::string picture_of(const Run& run, bool full) {
    if (run.shown().violations.empty()) return {};
    return draw::to_svg(diagram_of(run.shown().violations.front(), run.stages(), full));
}

namespace {

// A kernel that takes other arguments than it is given finds no memory where it looks.
bool may_be_misled(const Run& run) {
    const CheckSubject& subject = *run.result.subject;
    const CheckReport& report = run.shown();
    return subject.pto_kernel && subject.options.arguments.empty() && !report.violations.empty() &&
           report.violations.front().kind == ViolationKind::out_of_range;
}

}  // namespace

std::string findings_text(const Run& run, const CheckRequest& request) {
    const CheckReport& report = run.shown();
    const std::vector<CheckStage> stages = run.stages();
    std::string text;
    if (run.is_on_fewer()) {
        text += fmt::format("shown on {} ranks, the fewest that have it; --full shows it on {}\n",
                            run.smaller.nranks, run.result.last_nranks);
    }
    if (report.method == CheckMethod::exploration && !report.why_explored.empty()) {
        text += fmt::format("explored, because {}\n", report.why_explored);
    }
    if (report.verdict == Verdict::bound)
        text += fmt::format("not proved: bound reached: {}\n", report.bound);
    if (!report.violations.empty()) {
        text += fmt::format("\n{}", run.order_note());
        text += violation_text(report.violations.front(), stages, request.full);
        if (report.violations.size() > 1) {
            text += fmt::format("\nand {} more:\n", report.violations.size() - 1);
            for (std::size_t i = 1; i < report.violations.size(); ++i) {
                text += fmt::format("  {}: {}\n", name(report.violations[i].kind),
                                    report.violations[i].message);
            }
        }
    }
    if (may_be_misled(run)) {
        text += fmt::format(
            "\nthe kernel was given the arguments of --as {}; if it takes others, "
            "list them: --arg\n",
            run.result.subject->options.as);
    }
    if (!report.violations.empty()) {
        const auto more = checker::suggestion(report.violations.front(), stages, request.options);
        if (more) text += fmt::format("\nsuggestion: {}\n", *more);
    }
    text += warnings_text(report, stages);
    if (request.options.explain) text += "\n" + explanation_text(report, stages);
    return text;
}

}  // namespace peal::cli
