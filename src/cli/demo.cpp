// SPDX-License-Identifier: Apache-2.0
// peal demo: the collectives on four ranks, compared with golden.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "golden/rehearse.hpp"

namespace peal::cli {
namespace {

constexpr int kRanks = 4;
constexpr int kCalls = 20;

int demo() {
    std::vector<std::vector<std::string>> rows = {
        {"collective", "algorithm", "ranks", "elements", "golden", "time"}};
    bool all_right = true;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            Collective collective;
            collective.kind = kind;
            collective.mode = recipe.mode;
            collective.count = !facts_of(kind).has_data()          ? 0
                               : kind == CollectiveKind::allreduce ? 256
                                                                   : 64;
            if (facts_of(kind).is_counted()) collective.counts.assign(kRanks * kRanks, 64);
            const golden::Outcome outcome = golden::rehearse(collective, kRanks, kCalls, {});
            all_right = all_right && !outcome.wrong;
            rows.push_back({std::string(name(kind)), std::string(recipe.mode),
                            std::to_string(kRanks), std::to_string(collective.count),
                            outcome.wrong ? fmt::format("WRONG: {}", *outcome.wrong) : "ok",
                            duration_text(outcome.seconds)});
        }
    }
    fmt::print("{}", to_table(rows));
    return all_right ? kFine : kWrong;
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
    CLI::App* command =
        app.add_subcommand("demo", "every collective and recipe on four ranks, against golden");
    command->callback([&exit_code] { exit_code = demo(); });
}

}  // namespace peal::cli
