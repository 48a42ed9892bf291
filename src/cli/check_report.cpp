// SPDX-License-Identifier: Apache-2.0
#include "cli/check_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/ranges.hpp"
#include "check/mend.hpp"
#include "check/steps.hpp"
#include "cli/table.hpp"
#include "draw/pictures.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWide = 100'000;  // columns, for who wants to see everything

// Where a proof failed, only that point is spoken of.
std::pair<std::string, std::string> scope(const SubjectResult& result) {
    if (result.last.verdict == Verdict::proved) {
        return {base::ranges_text(result.ranks), result.subject->counts};
    }
    const bool has_length = !result.subject->counts.empty();
    return {std::to_string(result.last_nranks),
            has_length ? std::to_string(result.last_count) : "-"};
}

// With the order of memory, where the other one makes a difference.
std::string verdict_text(const SubjectResult& result) {
    std::string verdict(name(result.last.verdict));
    if (!result.last.any_order && result.last.verdict != Verdict::bound) {
        verdict += fmt::format(" ({})", name(result.last.order));
    }
    if (result.expected == Verdict::proved) return verdict;
    return verdict + (result.is_as_expected() ? ", as expected" : ", not expected");
}

std::string claim_text(const Claim& claim) {
    if (claim.result.empty()) return "protocol only";
    return fmt::format("as {}{}{}", claim.result, claim.order.empty() ? "" : ", ", claim.order);
}

std::vector<int> excluded_ranks(const SubjectResult& result) {
    std::vector<int> ranks;
    for (const Exclusion& each : result.excluded) ranks.push_back(each.nranks);
    return ranks;
}

// Below the table.
std::string held_text(const Held& held) {
    switch (held.what) {
        case Held::What::input: return fmt::format("{} holds input", held.window);
        case Held::What::zeros: return fmt::format("{} is cleared", held.window);
        case Held::What::fresh: return fmt::format("{} is as it was made, zeros", held.window);
    }
    return {};
}

bool is_for_any(const SubjectResult& result) {
    return result.any_calls && result.last.verdict == Verdict::proved;
}

constexpr std::string_view kGoesOn =
    "the kernel goes on as in the generations that it was traced for";

std::string notes_text(const SubjectResult& result) {
    std::string text;
    for (const Held& held : result.holds) {
        text += (text.empty() ? "when a call begins: " : "; ") + held_text(held);
    }
    if (!text.empty()) text += "\n";
    if (result.lanes > 1) {
        text += fmt::format("{}each rank has {} lanes\n",
                            result.subject->recipe == "-" ? "" : result.subject->recipe + ": ",
                            result.lanes);
    }
    if (!result.excluded.empty()) {
        text += fmt::format("excluded, for {} ranks: {}\n", result.excluded.front().nranks,
                            result.excluded.front().why);
    }
    if (!result.why_not_any.empty() && result.last.verdict == Verdict::proved) {
        text += fmt::format("not any number of calls: {}\n", result.why_not_any);
    }
    if (is_for_any(result) && result.is_traced_by_generation) {
        text += fmt::format("any number of calls: if {}\n", kGoesOn);
    }
    if (!result.note.empty() && result.last.verdict == Verdict::proved) text += result.note + "\n";
    if (result.claim.result.empty() && result.last.verdict == Verdict::proved) {
        text += fmt::format(
            "protocol only: no result was asked for; {} NAME names the collective "
            "that it must be\n",
            result.subject->pto_kernel ? "--as" : "--expect");
    }
    return text;
}

std::string calls_text(const SubjectResult& result) {
    return is_for_any(result) ? "any" : std::to_string(result.last.calls);
}

// Cells are numbers of so many bits; those of which most is asked have room for the fewest calls.
std::string room_text(const std::vector<SubjectResult>& results) {
    std::uint64_t least = 0;
    for (const SubjectResult& result : results) {
        const bool counts = is_for_any(result) && result.calls_that_fit != 0;
        if (counts && (least == 0 || result.calls_that_fit < least)) least = result.calls_that_fit;
    }
    if (least == 0) return {};
    return fmt::format("any number of calls: 32 bits of a signal have room for {}\n", least);
}

// What a proof says of every interleaving.
Json holds_json(const SubjectResult& result) {
    Json list = Json::array();
    if (result.last.verdict != Verdict::proved) return list;
    for (const std::string_view what :
         {"no data race", "no deadlock", "no stale signal", "no read of unwritten bytes",
          "signals end where the next call expects them", "no overflow"}) {
        list.push_back(what);
    }
    if (!result.claim.result.empty()) list.push_back("result " + claim_text(result.claim));
    return list;
}

std::string work_text(const SubjectResult& result) {
    if (result.from_store == result.checks) return "from store";
    return result.states > 0 ? fmt::format("{} states", result.states)
                             : fmt::format("{} events", result.events);
}

Json step_json(const Step& step, const std::vector<CheckStage>& stages) {
    return {{"call", step.call},
            {"rank", step.rank},
            {"instruction", step.index},
            {"text", to_text(step, stages)},
            {"source", checker::source_line(step, stages)}};
}

Json violation_json(const Violation& violation, const std::vector<CheckStage>& stages) {
    Json steps = Json::array();
    Json schedule = Json::array();
    for (const Step& step : violation.steps) steps.push_back(step_json(step, stages));
    for (const Step& step : violation.schedule) schedule.push_back(step_json(step, stages));
    return {{"kind", name(violation.kind)},
            {"message", violation.message},
            {"memory", violation.memory},
            {"found", violation.found},
            {"expected", violation.expected},
            {"steps", steps},
            {"schedule", schedule}};
}

Json violations_json(const std::vector<Violation>& violations,
                     const std::vector<CheckStage>& stages) {
    Json list = Json::array();
    for (const Violation& violation : violations) {
        list.push_back(violation_json(violation, stages));
    }
    return list;
}

}  // namespace

std::string case_name(const CheckSubject& subject) {
    std::vector<std::string> parts;
    if (subject.recipe != "-") parts.push_back(subject.recipe);
    std::vector<int> ranks;
    for (const auto& [nranks, count] : subject.points) {
        if (nranks > 0 && (ranks.empty() || ranks.back() != nranks)) ranks.push_back(nranks);
    }
    if (!ranks.empty()) parts.push_back(base::ranges_text(ranks) + " ranks");
    if (!subject.counts.empty()) parts.push_back(subject.counts + " elements");
    return parts.empty() ? "all" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string summary_text(const std::vector<SubjectResult>& results) {
    std::vector<std::vector<std::string>> rows = {{"program", "recipe", "ranks", "counts", "calls",
                                                   "result", "verdict", "method", "work", "time"}};
    std::string notes;
    for (const SubjectResult& result : results) {
        if (result.trouble) {
            rows.push_back({result.subject->what, result.subject->recipe, "-", "-", "-", "-",
                            "error", "-", "-", "-"});
            continue;
        }
        const auto [ranks, counts] = scope(result);
        rows.push_back({result.subject->what, result.subject->recipe, ranks,
                        counts.empty() ? "-" : counts, calls_text(result), claim_text(result.claim),
                        verdict_text(result), std::string(name(result.last.method)),
                        work_text(result), duration_text(result.seconds)});
        if (!result.excluded.empty()) {
            rows.push_back({result.subject->what, result.subject->recipe,
                            base::ranges_text(excluded_ranks(result)), "-", "-", "-", "excluded",
                            "-", "-", "-"});
        }
        const std::string note = notes_text(result);
        if (notes.find(note) == std::string::npos) notes += note;
    }
    return to_table(rows) + notes + room_text(results);
}

draw::Diagram diagram_of(const Violation& violation, const std::vector<CheckStage>& stages,
                         bool full) {
    if (full) return draw::diagram_of(violation, stages, draw::Grain::instruction);
    return draw::folded(draw::diagram_of(violation, stages));
}

std::string violation_text(const Violation& violation, const std::vector<CheckStage>& stages,
                           bool full) {
    std::string text = fmt::format("{}: {}\n", name(violation.kind), violation.message);
    if (const std::string circle = checker::circle_text(violation, stages); !circle.empty()) {
        text += circle + "\n";
    }
    text += checker::steps_text(violation, stages);
    if (!violation.memory.empty()) text += fmt::format("  memory:   {}\n", violation.memory);
    if (!violation.found.empty()) text += fmt::format("  found:    {}\n", violation.found);
    if (!violation.expected.empty()) text += fmt::format("  expected: {}\n", violation.expected);
    return text + "\n" +
           draw::to_terminal(diagram_of(violation, stages, full),
                             {.width = full ? kWide : draw::TerminalOptions{}.width});
}

std::string warnings_text(const CheckReport& report, const std::vector<CheckStage>& stages) {
    if (report.warnings.empty()) return {};
    std::string text = "\n";
    for (const Violation& warning : report.warnings) {
        text += fmt::format("warning: {}\n", warning.message);
        const std::string line = checker::source_line(warning.steps.front(), stages);
        if (!line.empty()) text += fmt::format("      {}\n", line);
    }
    return text + "--strict-loads makes this an error, --outstanding-loads says nothing of it\n";
}

RedundantAt redundant_at(const CheckJob& job, const CheckReport& report) {
    RedundantAt result{job.nranks, job.count, report.redundant_cut, {}};
    const std::vector<CheckStage> stages = job.calls.stages();
    for (const Redundant& each : report.redundant) {
        const Step step{0, each.stage, each.rank, each.index, -1};
        const Plan& plan = checker::plan_of(step, stages);
        const Instruction& what = plan.instructions[static_cast<std::size_t>(each.index)];
        const std::string place = plan::place_text(what, plan);
        const std::string text = plan::report_text(what, plan);
        result.syncs.push_back(
            {each.rank, place.empty() ? text : fmt::format("{} ({})", text, place),
             what.line == 0 || !plan.source ? text
                                            : fmt::format("{} ({})", text.substr(0, text.find(' ')),
                                                          plan.source->place(what.line)),
             each.steps_with, each.steps_without});
    }
    return result;
}

std::string RedundantAt::Sync::text() const { return fmt::format("rank {}: {}", rank, what); }

namespace {

constexpr std::size_t kMostSyncs = 24;  // that are listed one by one: a screen of them

std::string each_text(const std::vector<RedundantAt::Sync>& syncs) {
    std::string text;
    for (const RedundantAt::Sync& sync : syncs) {
        text += fmt::format("  {}; critical path {} steps, without it {}\n", sync.text(),
                            sync.steps_with, sync.steps_without);
    }
    return text;
}

// The same step of several ranks and rounds.
struct SameSyncs {
    const RedundantAt::Sync* first = nullptr;
    std::vector<int> ranks;
    std::size_t how_many = 0;
    std::uint64_t least = 0, most = 0;  // steps without one of them
};

std::string folded_text(const std::vector<RedundantAt::Sync>& syncs) {
    std::vector<SameSyncs> folded;
    for (const RedundantAt::Sync& sync : syncs) {
        auto at = std::find_if(folded.begin(), folded.end(), [&](const SameSyncs& each) {
            return each.first->step == sync.step;
        });
        if (at == folded.end()) {
            at = folded.insert(at, {&sync, {}, 0, sync.steps_without, sync.steps_without});
        }
        if (at->ranks.empty() || at->ranks.back() != sync.rank) at->ranks.push_back(sync.rank);
        ++at->how_many;
        at->least = std::min(at->least, sync.steps_without);
        at->most = std::max(at->most, sync.steps_without);
    }
    std::string text;
    for (const SameSyncs& each : folded) {
        text += fmt::format(
            "  {}: {} on rank{} {}, such as {}; critical path {} steps, without "
            "one {}\n",
            each.first->step, each.how_many, each.ranks.size() == 1 ? "" : "s",
            base::ranges_text(each.ranks), each.first->text(), each.first->steps_with,
            each.least == each.most ? std::to_string(each.least)
                                    : fmt::format("{}..{}", each.least, each.most));
    }
    return text;
}

std::string redundant_text(const RedundantAt& at, const std::string& title, bool full) {
    std::string text = fmt::format("\n{}{} rank{}: ", title, at.nranks, at.nranks == 1 ? "" : "s");
    const bool is_folded = !full && at.syncs.size() > kMostSyncs;
    if (at.syncs.empty()) {
        text += "no notify or wait is redundant\n";
    } else {
        text += fmt::format(
            "{} alone redundant (without any one everything still proves, without several it may "
            "not{}):\n",
            at.syncs.size(), is_folded ? "; --full lists each" : "");
    }
    text += is_folded ? folded_text(at.syncs) : each_text(at.syncs);
    if (at.cut) text += "  the time was over before all were tried: --max-seconds\n";
    return text;
}

}  // namespace

std::string redundant_text(const std::vector<SubjectResult>& results, bool full) {
    std::string text;
    for (const SubjectResult& result : results) {
        if (!result.redundant) continue;
        const CheckSubject& subject = *result.subject;
        std::string title;
        if (results.size() > 1) {
            title = subject.what + (subject.recipe == "-" ? "" : " " + subject.recipe) + ", ";
        }
        if (result.redundant->empty()) {
            text += fmt::format(
                "\n--redundant: {}nothing is proved here that a sync could be left out of\n",
                title);
        }
        for (const RedundantAt& at : *result.redundant) text += redundant_text(at, title, full);
    }
    return text;
}

std::string explanation_text(const CheckReport& report, const std::vector<CheckStage>& stages) {
    std::string text;
    for (const Explanation& each : report.explanations) {
        text += fmt::format("{}\n  comes before\n{}\n  both touch {} ({} such pair{})\n",
                            to_text(each.first, stages), to_text(each.second, stages), each.memory,
                            each.pairs, each.pairs == 1 ? "" : "s");
        if (each.chain.empty()) text += "  in program order\n";
        for (const Explanation::Link& link : each.chain) {
            text += fmt::format("    {}\n      lets pass  {}\n", to_text(link.notify, stages),
                                to_text(link.wait, stages));
        }
        text += "\n";
    }
    return text;
}

namespace {

Json redundant_json(const std::vector<RedundantAt>& list) {
    Json json = Json::array();
    for (const RedundantAt& at : list) {
        for (const RedundantAt::Sync& sync : at.syncs) {
            json.push_back({{"ranks", at.nranks},
                            {"text", sync.text()},
                            {"critical_path", sync.steps_with},
                            {"critical_path_without", sync.steps_without}});
        }
    }
    return json;
}

}  // namespace

std::string to_json(const std::vector<SubjectResult>& results) {
    Json list = Json::array();
    for (const SubjectResult& result : results) {
        if (result.trouble) {
            list.push_back({{"program", result.subject->what},
                            {"recipe", result.subject->recipe},
                            {"verdict", "error"},
                            {"error", result.trouble->what()}});
            continue;
        }
        const std::vector<CheckStage> stages = result.calls.stages();
        const auto [ranks, counts] = scope(result);
        Json entry = {
            {"program", result.subject->what},
            {"recipe", result.subject->recipe},
            {"ranks", ranks},
            {"counts", counts},
            {"calls", is_for_any(result) ? Json("any") : Json(result.last.calls)},
            {"result", result.claim.result.empty() ? "protocol only" : result.claim.result},
            {"order", result.claim.order},
            {"holds", holds_json(result)},
            {"verdict", name(result.last.verdict)},
            {"memory_order", result.last.any_order ? "any" : name(result.last.order)},
            {"method", name(result.last.method)},
            {"checks", result.checks},
            {"from_store", result.from_store},
            {"events", result.events},
            {"states", result.states},
            {"seconds", result.seconds}};
        for (const Held& held : result.holds) entry["windows"][held.window] = name(held.what);
        if (result.lanes > 1) entry["lanes"] = result.lanes;
        if (result.redundant) entry["alone_redundant"] = redundant_json(*result.redundant);
        for (const Exclusion& each : result.excluded) {
            entry["excluded"].push_back({{"ranks", each.nranks}, {"why", each.why}});
        }
        if (is_for_any(result) && result.calls_that_fit != 0) {
            entry["calls_that_fit"] = result.calls_that_fit;
        }
        if (!result.why_not_any.empty()) entry["why_not_any"] = result.why_not_any;
        if (is_for_any(result) && result.is_traced_by_generation) entry["assumed"] = kGoesOn;
        if (!result.note.empty()) entry["note"] = result.note;
        if (!result.last.why_explored.empty()) entry["why_explored"] = result.last.why_explored;
        if (!result.last.bound.empty()) entry["bound"] = result.last.bound;
        if (!result.last.violations.empty()) {
            entry["violations"] = violations_json(result.last.violations, stages);
        }
        if (!result.last.warnings.empty()) {
            entry["warnings"] = violations_json(result.last.warnings, stages);
        }
        list.push_back(entry);
    }
    return list.dump(2);
}

}  // namespace peal::cli
