// SPDX-License-Identifier: Apache-2.0
// Peal against Open MPI, MPICH and Gloo in one interleaved run. docs/benchmarks.md says how.
//
//   compare --budget 780 --docs docs        the whole table
//   compare --quick                         two minutes, nothing written
//   compare --further --docs docs           scans, counts that differ, and messages
//   compare --sweep --docs docs             odd sizes: is there a cliff?
//   compare --noise 0,1,2 --docs docs       beside busy processes
//   compare --hosts a,b --docs docs         between machines of tools/with-hosts
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "compare/report.hpp"
#include "compare/scene.hpp"
#include "compare/season.hpp"

namespace peal::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
    double budget_seconds = 780;
    std::vector<int> ranks;
    std::vector<std::string> tasks;
    std::vector<std::size_t> sizes;
    std::vector<std::string> contenders;
    bool quick = false;
    bool further = false;
    bool sweep = false;
    std::vector<int> noise;
    bool pins_noise = false;
    std::vector<std::string> hosts;
    std::string programs = fs::read_symlink("/proc/self/exe").parent_path();
    std::string peal = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "peal";
    std::string csv;
    std::string docs;
};

constexpr double kQuickSeconds = 100;
constexpr int kQuickRounds = 3;

void declare(CLI::App& app, Options& options) {
    app.add_option("--budget", options.budget_seconds, "seconds for the whole run, roughly");
    app.add_option("--ranks", options.ranks, "numbers of ranks")->delimiter(',');
    app.add_option("--collectives", options.tasks,
                   "which collectives; those of --further only if they are named")
        ->delimiter(',');
    app.add_option("--sizes", options.sizes, "bytes of one rank's input")->delimiter(',');
    app.add_option("--contenders", options.contenders, "who takes part")->delimiter(',');
    app.add_flag("--quick", options.quick, "warm buffers only, in about two minutes");
    app.add_flag("--further", options.further,
                 "scans, counts that differ, and messages, warm buffers only; with --quick in "
                 "about two minutes");
    app.add_flag("--sweep", options.sweep, "odd sizes, two ranks unless --ranks says otherwise");
    app.add_option("--noise", options.noise,
                   "numbers of busy processes to measure beside, warm buffers only")
        ->delimiter(',')
        ->check(CLI::Range(0, 64));
    app.add_flag("--pin-noise", options.pins_noise, "one of the busy processes keeps to a core");
    app.add_option("--hosts", options.hosts,
                   "names of machines of tools/with-hosts, within which this runs: one and two "
                   "ranks on each unless --ranks says otherwise, warm buffers only")
        ->delimiter(',');
    app.add_option("--programs", options.programs, "where the contenders' programs are");
    app.add_option("--peal", options.peal, "the peal command");
    app.add_option("--csv", options.csv, "file for all rows");
    app.add_option("--docs", options.docs, "directory of benchmarks.md, to write the results into");
}

Choice choice_of(const Options& options) {
    Choice choice;
    choice.cold = !options.quick && !options.further && !options.sweep && options.noise.empty() &&
                  options.hosts.empty();
    choice.limits = !options.further && !options.sweep && options.noise.empty();
    if (!options.noise.empty()) {
        choice.noise = options.noise;
        choice.uneven = true;
    }
    choice.sizes = options.sweep ? sweep_sizes() : table_sizes();
    if (options.sweep) choice.ranks = {2};
    if (options.further) choice.tasks.assign(kFurtherTasks.begin(), kFurtherTasks.end());
    if (!options.hosts.empty()) {
        choice.hosts = static_cast<int>(options.hosts.size());
        choice.ranks = {choice.hosts, 2 * choice.hosts};
    }
    if (!options.ranks.empty()) choice.ranks = options.ranks;
    if (!options.sizes.empty()) choice.sizes = options.sizes;
    if (!options.tasks.empty()) choice.tasks.clear();
    for (const std::string& task : options.tasks) {
        const auto known = task_from(task);
        if (!known) throw CLI::ValidationError("--collectives", "unknown: " + task);
        choice.tasks.push_back(*known);
    }
    return choice;
}

std::vector<Entry> entries_of(const Options& options) {
    std::vector<Entry> entries = roster(options.programs, options.peal, options.hosts);
    if (options.contenders.empty()) return entries;
    std::erase_if(entries, [&](const Entry& entry) {
        return entry.team != Team::limits &&
               std::find(options.contenders.begin(), options.contenders.end(), entry.name) ==
                   options.contenders.end();
    });
    return entries;
}

// Where the results go.
struct Page {
    std::string section;
    std::string (*report)(const Results&, const Choice&);
    bool has_plot = false;
};

Page page_of(const Options& options) {
    if (options.sweep) return {"sweep", sweep_report};
    if (options.further) return {"further", further_report};
    if (!options.noise.empty()) return {"noise", noise_report};
    if (!options.hosts.empty()) return {"hosts", hosts_report};
    return {"results", full_report, true};
}

int compare(const Options& options, const std::string& directory) {
    SeasonOptions season;
    season.budget_seconds = options.budget_seconds;
    if (options.quick) {
        season.budget_seconds = kQuickSeconds;
        season.rounds = kQuickRounds;
    }
    season.pins_noise = options.pins_noise;
    season.directory = directory;
    std::ofstream csv(options.csv.empty() ? "/dev/null" : options.csv);
    csv << csv_header();
    const Choice choice = choice_of(options);
    const Results results = run_season(entries_of(options), points_of(choice), season,
                                       [&](const std::vector<Row>& rows) {
                                           for (const Row& row : rows) csv << csv_line(row);
                                           csv.flush();
                                       });
    const Page page = page_of(options);
    const std::string text = page.report(results, choice);
    if (options.docs.empty()) {
        fmt::print("{}", text);
        return 0;
    }
    const fs::path docs = options.docs;
    splice(docs / "benchmarks.md", page.section, text);
    if (page.has_plot) std::ofstream(docs / "benchmarks.svg") << plot(results, choice);
    return 0;
}

}  // namespace
}  // namespace peal::bench

int main(int argc, char** argv) {
    CLI::App app("Peal against Open MPI, MPICH and Gloo, in one interleaved run");
    peal::bench::Options options;
    peal::bench::declare(app, options);
    CLI11_PARSE(app, argc, argv);
    return peal::bench::on_scene(!options.hosts.empty(), [&](const std::string& directory) {
        try {
            return peal::bench::compare(options, directory);
        } catch (const std::exception& error) {
            fmt::print(stderr, "compare: {}\n", error.what());
            return 1;
        }
    });
}
