// SPDX-License-Identifier: Apache-2.0
// peal tune: measures the recipes on this machine, or between the hosts of the job that it is a
// rank of, and writes the profile that communicators read.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/commands.hpp"
#include "cli/profile_file.hpp"
#include "cli/table.hpp"
#include "cli/tune_survey.hpp"
#include "comm/window.hpp"
#include "hosts/job.hpp"
#include "peal/error.hpp"
#include "shm/membership.hpp"
#include "shm/story.hpp"

namespace peal::cli {
namespace {

using comm::Where;

struct TuneCommand {
    std::vector<std::string> ranks;  // empty: the usual ones
    std::string output;
    bool quick = false;
};

Effort effort_of(const TuneCommand& command) {
    return command.quick ? quick_effort() : thorough_effort();
}

std::vector<int> parse_ranks(const std::vector<std::string>& texts) {
    std::vector<int> ranks;
    for (const std::string& text : texts) {
        int number = 0;
        const char* const end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc() || stopped != end || number < 2 || number > kMaxRanks) {
            throw Error(Fault::usage,
                        fmt::format("tune: -n: expected numbers of ranks from 2 to {}, found '{}'",
                                    kMaxRanks, text));
        }
        ranks.push_back(number);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

// ---------------------------------------------------------------------------- the result

// Where the profile will be, which is told before anything is measured.
std::string place_for_profile(const TuneCommand& command) {
    const std::string path = command.output.empty() ? comm::profile_path() : command.output;
    if (path.empty()) {
        throw Error(Fault::usage,
                    "tune: there is no place where programs look for a profile, HOME is not set "
                    "to a directory of the user's own: name a file with -o");
    }
    expect_writable(path);
    fmt::print(stderr, "the profile will be written to {}\n", path);
    return path;
}

std::string data_of(const comm::Rule& rule) {
    if (rule.where == Where::hosts) {
        return fmt::format("between {} hosts of {}", rule.max_hosts, rule.max_per_host);
    }
    return rule.where == Where::window ? "window" : rule.reach ? "reached" : "private";
}

std::string text_of(const std::vector<comm::Rule>& rules) {
    std::vector<std::vector<std::string>> rows = {
        {"collective", "data", "ranks up to", "bytes up to", "recipe", "stage KiB"}};
    for (const comm::Rule& rule : rules) {
        rows.push_back({std::string(name(rule.kind)), data_of(rule),
                        rule.max_ranks == kMaxRanks ? "any" : std::to_string(rule.max_ranks),
                        rule.max_bytes == comm::Rule::kAny ? "any" : std::to_string(rule.max_bytes),
                        rule.recipe,
                        rule.stage_bytes == 0 ? "-" : std::to_string(rule.stage_bytes >> 10)});
    }
    return to_table(rows);
}

void write_profile(const TuneCommand& command, const std::string& path, const comm::Table& table,
                   const std::vector<comm::Rule>& measured) {
    base::write_text(path, comm::to_json(table), "profile");
    fmt::print("{}\nwritten to {}\n", text_of(measured), path);
    if (!command.output.empty()) fmt::print("use it with PEAL_PROFILE={}\n", path);
}

void add_rules(const std::vector<Survey>& surveys, const RuleLimits& limits,
               std::vector<comm::Rule>& rules) {
    for (const Survey& survey : surveys) {
        const std::vector<comm::Rule> more = rules_from(survey, limits);
        rules.insert(rules.end(), more.begin(), more.end());
    }
}

// ---------------------------------------------------------------------------- on this machine

Ground machine_with(int nranks) {
    const auto measured = [nranks](const comm::Table& table, const std::vector<Load>& loads,
                                   const MeasureOptions& options) {
        const ForcedProfile forced(table);
        return measure(nranks, loads, options);
    };
    const auto tell = [nranks](const std::string& progress) {
        fmt::print(stderr, "{} ranks, {}\n", nranks, progress);
    };
    return {nranks, {Where::staging, Where::window}, measured, tell};
}

int tune_here(const TuneCommand& command) {
    const std::vector<int> ranks = parse_ranks(
        command.ranks.empty() ? std::vector<std::string>{"2", "4", "8"} : command.ranks);
    const std::string path = place_for_profile(command);
    std::vector<comm::Rule> measured;
    for (const int nranks : ranks) {
        const int max_ranks = nranks == ranks.back() ? kMaxRanks : nranks;
        add_rules(survey(machine_with(nranks), effort_of(command)), {max_ranks}, measured);
    }
    comm::Table table{path, measured};
    const std::vector<comm::Rule> kept = own_rules_between_hosts(path);
    table.rules.insert(table.rules.end(), kept.begin(), kept.end());
    write_profile(command, path, table, measured);
    return kFine;
}

// ---------------------------------------------------------------------------- in a job

// This process as a rank among others.
struct Place {
    std::shared_ptr<shm::World> world;
    int rank = 0;
    std::shared_ptr<hosts::Job> job;  // null: a launcher has started all of them here
    bool has_launcher = false;        // of ours, which prints the first error of all ranks
};

std::optional<Place> place_among_ranks() {
    const bool has_launcher = std::getenv(shm::kLauncherVariable) != nullptr;
    if (auto job = hosts::join()) return Place{job->world(), job->rank(), job, has_launcher};
    if (std::getenv(shm::kWorldVariable) == nullptr) return std::nullopt;
    const shm::Membership membership = shm::join_world();
    return Place{membership.world, membership.rank, nullptr, has_launcher};
}

// Once for all ranks: without a launcher rank 0 says it, and hears of what ends another.
int end_in(const Error& error, const Place& place) {
    if (place.job != nullptr) place.job->fail(error.what());
    if (place.has_launcher) {
        shm::tell_story(*place.world, place.rank, error.what());
    } else if (place.rank == 0) {
        fmt::print(stderr, "peal: {}\n", error.what());
    }
    return exit_code_for(error.fault());
}

void expect_hosts(const TuneCommand& command, const Place& place) {
    if (!command.ranks.empty()) {
        throw Error(Fault::usage,
                    "tune: -n is for measuring on one machine; here it is a rank of a job, whose "
                    "ranks are those that its launcher started: leave out -n");
    }
    if (place.job == nullptr || !place.job->spans_hosts()) {
        throw Error(Fault::usage,
                    "tune: all ranks of this job are on one host, where it starts ranks itself: "
                    "run it without a launcher, for example: peal tune -n 2,4");
    }
}

comm::Spread spread_of(const hosts::Job& job, int nranks) {
    std::vector<std::int64_t> hosts;
    for (int rank = 0; rank < nranks; ++rank) hosts.push_back(job.host_of(rank));
    return collectives::spread_of(hosts);
}

// The times are the slowest rank's, so all ranks come to the same rules.
std::vector<comm::Rule> measured_between_hosts(const TuneCommand& command, const hosts::Job& job,
                                               Communicator& comm) {
    const int nranks = comm.nranks();
    const comm::Spread spread = spread_of(job, nranks);
    const auto measured = [&](const comm::Table& table, const std::vector<Load>& loads,
                              const MeasureOptions& options) {
        Communicator part =
            comm::Inside::choosing_by(comm, std::make_shared<const comm::Table>(table));
        return measure(part, loads, options);
    };
    const auto tell = [&](const std::string& progress) {
        if (comm.rank() != 0) return;
        fmt::print(stderr, "{} ranks on {} hosts, {}\n", nranks, spread.hosts, progress);
    };
    const Ground ground{nranks, {Where::hosts}, measured, tell};
    const Effort effort = effort_of(command);
    expect_memory_for(loads_on(ground, effort), nranks, job.ranks_here());
    std::vector<comm::Rule> rules;
    add_rules(survey(ground, effort), {nranks, spread.hosts, spread.per_host}, rules);
    return rules;
}

int tune_as_rank(const TuneCommand& command, const Place& place) {
    std::optional<Communicator> comm;  // the others hear of an error before it goes
    try {
        expect_hosts(command, place);
        const bool writes = place.rank == 0;
        const std::string path = writes ? place_for_profile(command) : "";
        setenv(comm::kProfileVariable, "", 1);  // what is replaced need not be right
        comm.emplace(comm::Inside::connect(place.job));
        const auto measured = measured_between_hosts(command, *place.job, *comm);
        if (!writes) return kFine;
        comm::Table table = table_at(path);
        put_between_hosts(measured, table);
        write_profile(command, path, table, measured);
        return kFine;
    } catch (const Error& error) {
        return end_in(error, place);
    }
}

int tune(const TuneCommand& command) {
    const std::optional<Place> place = place_among_ranks();
    return place ? tune_as_rank(command, *place) : tune_here(command);
}

}  // namespace

void add_tune(CommandLine& line) {
    auto command = std::make_shared<TuneCommand>();
    Command* tuner = line.add_subcommand(
        "tune", "measure the recipes on this machine and write the profile that chooses them");
    tuner
        ->add_option("-n", command->ranks,
                     "numbers of ranks to measure (default 2,4,8); the largest stands for more")
        ->delimiter(',');
    tuner->add_option("-o", command->output, "the file to write (default: where programs look)");
    tuner->add_flag("--quick", command->quick, "fewer sizes, shorter: seconds instead of minutes");
    tuner->footer(
        "As the ranks of a job on several hosts it measures between these, and adds what it finds "
        "to\nthe profile that is there.\n\n"
        "Examples:\n"
        "  peal tune\n"
        "  peal tune -n 2,4 -o profile.json --quick\n"
        "  peal launch -n 4 --hosts a,b peal tune");
    tuner->callback([command] { return tune(*command); });
}

}  // namespace peal::cli
