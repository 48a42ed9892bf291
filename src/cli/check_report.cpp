// SPDX-License-Identifier: Apache-2.0
#include "cli/check_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "draw/diagram.hpp"
#include "draw/terminal.hpp"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

const Plan& plan_of(const Step& step, const std::vector<CheckStage>& stages) {
    return (
        *stages[static_cast<std::size_t>(step.stage)].plans)[static_cast<std::size_t>(step.rank)];
}

// The text of the line that a step comes from; empty for what the caller does.
std::string source_line(const Step& step, const std::vector<CheckStage>& stages) {
    const Plan& plan = plan_of(step, stages);
    if (step.index < 0 || !plan.source) return {};
    const std::uint32_t line = plan.instructions[static_cast<std::size_t>(step.index)].line;
    std::string_view text = plan.source->line(line);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text.empty() ? std::string()
                        : fmt::format("{}: {}", plan.source->full_place(line), text);
}

// A file of plans knows itself how many there are.
std::string ranks_text(const SubjectResult& result) {
    const auto& points = result.subject->points;
    const int first = points.front().first == 0 ? result.last_nranks : points.front().first;
    const int last = points.back().first == 0 ? result.last_nranks : points.back().first;
    return first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
}

// Where a proof failed, only that point is spoken of.
std::pair<std::string, std::string> scope(const SubjectResult& result) {
    if (result.last.verdict == Verdict::proved) return {ranks_text(result), result.subject->counts};
    const bool has_length = !result.subject->counts.empty();
    return {std::to_string(result.last_nranks),
            has_length ? std::to_string(result.last_count) : "-"};
}

std::string work_text(const SubjectResult& result) {
    return result.states > 0 ? fmt::format("{} states", result.states)
                             : fmt::format("{} events", result.events);
}

Json step_json(const Step& step, const std::vector<CheckStage>& stages) {
    return {{"call", step.call},
            {"rank", step.rank},
            {"instruction", step.index},
            {"text", to_text(step, stages)},
            {"source", source_line(step, stages)}};
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

std::string summary_table(const std::vector<SubjectResult>& results) {
    std::vector<std::vector<std::string>> rows = {
        {"program", "algorithm", "ranks", "counts", "calls", "verdict", "method", "work", "time"}};
    for (const SubjectResult& result : results) {
        const auto [ranks, counts] = scope(result);
        rows.push_back({result.subject->what, result.subject->algorithm, ranks,
                        counts.empty() ? "-" : counts, std::to_string(result.last.calls),
                        std::string(name(result.last.verdict)),
                        std::string(name(result.last.method)), work_text(result),
                        duration_text(result.seconds)});
    }
    return to_table(rows);
}

std::string violation_text(const Violation& violation, const std::vector<CheckStage>& stages) {
    std::string text = fmt::format("{}: {}\n", name(violation.kind), violation.message);
    for (const Step& step : violation.steps) {
        text += fmt::format("  {}\n", to_text(step, stages));
        const std::string line = source_line(step, stages);
        if (!line.empty()) text += fmt::format("      {}\n", line);
    }
    if (!violation.memory.empty()) text += fmt::format("  bytes:    {}\n", violation.memory);
    if (!violation.found.empty()) text += fmt::format("  found:    {}\n", violation.found);
    if (!violation.expected.empty()) text += fmt::format("  expected: {}\n", violation.expected);
    return text + "\n" + draw::to_terminal(draw::diagram_of(violation, stages));
}

std::string warnings_text(const CheckReport& report, const std::vector<CheckStage>& stages) {
    if (report.warnings.empty()) return {};
    std::string text = "\n";
    for (const Violation& warning : report.warnings) {
        text += fmt::format("warning: {}\n", warning.message);
        const std::string line = source_line(warning.steps.front(), stages);
        if (!line.empty()) text += fmt::format("      {}\n", line);
    }
    return text + "--strict-loads makes this an error, --outstanding-loads says nothing of it\n";
}

std::string redundant_text(const CheckReport& report, const std::vector<CheckStage>& stages) {
    std::string text;
    for (const Redundant& each : report.redundant) {
        Step step;
        step.stage = each.stage;
        step.rank = each.rank;
        step.index = each.index;
        text += fmt::format("redundant: {}; without it everything still proves\n",
                            to_text(step, stages));
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

std::string to_json(const std::vector<SubjectResult>& results,
                    const std::vector<CheckStage>& stages) {
    Json list = Json::array();
    for (const SubjectResult& result : results) {
        const auto [ranks, counts] = scope(result);
        Json entry = {{"program", result.subject->what},
                      {"algorithm", result.subject->algorithm},
                      {"ranks", ranks},
                      {"counts", counts},
                      {"calls", result.last.calls},
                      {"verdict", name(result.last.verdict)},
                      {"method", name(result.last.method)},
                      {"checks", result.checks},
                      {"events", result.events},
                      {"states", result.states},
                      {"seconds", result.seconds}};
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
