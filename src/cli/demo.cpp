// SPDX-License-Identifier: Apache-2.0
// peal demo: the collectives on four ranks, compared with golden; then a program that runs right
// and is wrong, refuted.
#include <fmt/format.h>

#include "cli/broken.hpp"
#include "cli/check_report.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "golden/rehearse.hpp"
#include "peal/check.hpp"
#include "peal/program.hpp"

namespace peal::cli {
namespace {

constexpr int kRanks = 4;
constexpr int kCalls = 20;

// Whether all are right.
bool show_collectives() {
    std::vector<std::vector<std::string>> rows = {
        {"collective", "recipe", "ranks", "elements", "golden", "time"}};
    bool all_right = true;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            Collective collective;
            collective.kind = kind;
            collective.recipe = recipe.name;
            collective.count = !facts_of(kind).has_data()          ? 0
                               : kind == CollectiveKind::allreduce ? 256
                                                                   : 64;
            collective.counts.assign(table_entries(kind, kRanks), 64);
            const golden::Outcome outcome = golden::rehearse(collective, kRanks, kCalls, {});
            all_right = all_right && !outcome.wrong;
            rows.push_back({std::string(name(kind)), std::string(recipe.name),
                            std::to_string(kRanks), std::to_string(collective.count),
                            outcome.wrong ? fmt::format("WRONG: {}", *outcome.wrong) : "ok",
                            duration_text(outcome.seconds)});
        }
    }
    fmt::print("{}", to_table(rows));
    return all_right;
}

// Whether it is refuted. Two ranks make the smallest picture.
bool refute_broken() {
    constexpr int ranks = 2;
    Collective collective;
    collective.count = 3;
    const auto source =
        std::make_shared<const Source>(kBrokenProgram, std::string(broken_program()));
    Bindings bindings;
    bindings.integers["n"] = 3;
    const std::vector<Plan> plans = compile(parse(source), "hasty_allreduce", bindings, ranks);
    // One thread, so that the ranks take turns: this order of events is a kind one.
    EngineOptions taking_turns;
    taking_turns.threads = 1;
    const golden::Outcome outcome = golden::rehearse(
        plans, collective, ports_of(collective, plans.front()), kCalls, taking_turns);
    const Meaning meaning = meaning_of(collective, plans);
    const std::vector<CheckStage> stages = {{&plans, &meaning, {}}};
    const CheckReport report = check(stages);
    fmt::print(
        "\nWhat a run cannot show: this program returns before its peers have read it.\n\n{}",
        broken_program());
    fmt::print("\nRun {} times on {} ranks, and compared with golden: {}\n", kCalls, ranks,
               outcome.wrong.value_or("ok"));
    fmt::print("Checked over every order of events: {}\n\n", name(report.verdict));
    const bool refuted = report.verdict == Verdict::violated;
    if (refuted) fmt::print("{}", violation_text(report.violations.front(), stages, false));
    return refuted;
}

void show_next_commands() {
    fmt::print(
        "\nTry next, at the top of the sources:\n"
        "  build/peal check {} -n 2..4 --expect allreduce --svg race.svg\n"
        "  build/peal check examples/mesh_allreduce.peal -n 2..16 --expect allreduce --explain\n"
        "  build/peal run examples/mesh_allreduce.peal -n 4 --expect allreduce --calls 1000\n",
        kBrokenProgram);
}

int demo() {
    const bool all_right = show_collectives();
    const bool refuted = refute_broken();
    show_next_commands();
    return all_right && refuted ? kFine : kWrong;
}

}  // namespace

void add_demo(CommandLine& line) {
    Command* command = line.add_subcommand(
        "demo", "every collective and recipe on four ranks; a broken one refuted");
    command->footer(
        "Each result is compared with golden; the broken program is shown with its picture.\n\n"
        "Examples:\n"
        "  peal demo");
    command->callback([] { return demo(); });
}

}  // namespace peal::cli
