// SPDX-License-Identifier: Apache-2.0
// peal tune: measures the recipes on this machine and writes the profile that communicators read.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/commands.hpp"
#include "cli/cross_over.hpp"
#include "cli/measure.hpp"
#include "cli/profile_file.hpp"
#include "cli/table.hpp"
#include "collectives/catalogue.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

struct TuneCommand {
    std::vector<std::string> ranks = {"2", "4", "8"};
    std::string output;
    bool quick = false;
};

// How thoroughly.
struct Effort {
    std::vector<std::uint64_t> input_bytes;
    std::vector<std::uint64_t> stage_bytes;
    double seconds = 0;  // for each measurement
    int rounds = 0;      // over all candidates; the best one counts, so a disturbance does not
};

constexpr std::uint64_t kKiB = 1 << 10;

Effort effort_of(const TuneCommand& command) {
    if (command.quick) {
        return {{64, 4 * kKiB, 64 * kKiB, 1024 * kKiB}, {256 * kKiB, 1024 * kKiB}, 1e-3, 1};
    }
    Effort effort{{}, {}, 1e-2, 2};
    for (std::uint64_t bytes = 64; bytes <= 16384 * kKiB; bytes *= 4) {
        effort.input_bytes.push_back(bytes);
    }
    for (std::uint64_t bytes = 256 * kKiB; bytes <= 4096 * kKiB; bytes *= 2) {
        effort.stage_bytes.push_back(bytes);
    }
    return effort;
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

// ---------------------------------------------------------------------------- what to measure

// Private data is staged: in a line or a ring (push, pull), or through a small window (pipeline);
// or it is reached. What works on a window works for any size; little data on one may be staged
// too.
std::vector<Candidate> candidates_for(CollectiveKind kind, bool on_window, const Effort& effort) {
    std::vector<Candidate> candidates;
    for (const Recipe& recipe : recipes(kind)) {
        if (recipe.has_lanes) continue;  // a rank of a communicator has one lane
        const std::string name(recipe.name);
        if (!facts_of(kind).has_data() || (on_window && offers(kind, name, Placement::window))) {
            candidates.push_back({name});
        } else if (recipe.reuse == Reuse::later) {
            candidates.push_back({name, 0, false});
        } else if (on_window) {
            continue;
        } else if (collectives::entry(kind, name).use == collectives::TargetUse::stages_in_ring) {
            for (const std::uint64_t stage : effort.stage_bytes)
                candidates.push_back({name, stage});
        } else if ((name == "mesh" || name == "joint") && comm::may_reach(kind, name)) {
            candidates.push_back({name, 0, false, true});
        }
    }
    return candidates;
}

// A survey, and the loads that stand for its sizes.
struct Field {
    Survey survey;
    std::vector<Load> loads;
};

// Bytes as rules count them.
std::uint64_t message_bytes(const Load& load, int nranks) {
    return facts_of(load.kind).counts_pairs() ? input_bytes(load, nranks)
                                              : load.count * sizeof(float);
}

Field field_for(CollectiveKind kind, bool on_window, int nranks, const Effort& effort) {
    Field field{{kind, on_window, {}, candidates_for(kind, on_window, effort), {}}, {}};
    for (const std::uint64_t bytes : effort.input_bytes) {
        const Load load{kind, on_window, count_for(kind, bytes, nranks)};
        const std::uint64_t size = message_bytes(load, nranks);
        if (!field.loads.empty() && size == field.survey.sizes.back()) continue;
        field.loads.push_back(load);
        field.survey.sizes.push_back(size);
    }
    field.survey.seconds.assign(
        field.survey.candidates.size(),
        std::vector<double>(field.loads.size(), std::numeric_limits<double>::infinity()));
    return field;
}

// Everything that a profile must have rules for.
std::vector<Field> fields_for(int nranks, const Effort& effort) {
    std::vector<Field> fields;
    for (const bool on_window : {false, true}) {
        for (const CollectiveKind kind : kCollectives) {
            if (on_window && !is_called_on_windows(kind)) continue;
            fields.push_back(field_for(kind, on_window, nranks, effort));
        }
    }
    return fields;
}

// ---------------------------------------------------------------------------- measuring

// One candidate, for all collectives that have it.
struct Trial {
    bool on_window = false;
    Candidate candidate;

    bool operator==(const Trial&) const = default;
};

std::vector<Trial> trials_of(const std::vector<Field>& fields) {
    std::vector<Trial> trials;
    for (const Field& field : fields) {
        for (const Candidate& candidate : field.survey.candidates) {
            const Trial trial{field.survey.on_window, candidate};
            if (std::find(trials.begin(), trials.end(), trial) == trials.end()) {
                trials.push_back(trial);
            }
        }
    }
    return trials;
}

// The times of the trial's candidate in a field; null if it is not for this field.
std::vector<double>* seconds_in(Field& field, const Trial& trial) {
    const std::vector<Candidate>& candidates = field.survey.candidates;
    const auto found = std::find(candidates.begin(), candidates.end(), trial.candidate);
    if (field.survey.on_window != trial.on_window || found == candidates.end()) return nullptr;
    return &field.survey.seconds[static_cast<std::size_t>(found - candidates.begin())];
}

void run_trial(const Trial& trial, std::vector<Field>& fields, int nranks, double seconds) {
    comm::Table table;
    std::vector<Load> loads;
    std::vector<double*> results;
    for (Field& field : fields) {
        std::vector<double>* const times = seconds_in(field, trial);
        if (!times) continue;
        table.rules.push_back({field.survey.kind, comm::where_of(trial.on_window), kMaxRanks,
                               comm::Rule::kAny, trial.candidate.recipe,
                               trial.candidate.stage_bytes, trial.candidate.reach});
        loads.insert(loads.end(), field.loads.begin(), field.loads.end());
        for (double& time : *times) results.push_back(&time);
    }
    const comm::Table rest = comm::built_in_table();
    table.rules.insert(table.rules.end(), rest.rules.begin(), rest.rules.end());
    const ForcedProfile forced(table);
    const std::vector<Timing> timings = measure(nranks, loads, {seconds, trial.candidate.recipe});
    for (std::size_t i = 0; i < timings.size(); ++i) {
        if (timings[i].was_measured) *results[i] = std::min(*results[i], timings[i].median);
    }
}

std::vector<Field> survey(int nranks, const Effort& effort) {
    std::vector<Field> fields = fields_for(nranks, effort);
    const std::vector<Trial> trials = trials_of(fields);
    const std::size_t all = trials.size() * static_cast<std::size_t>(effort.rounds);
    for (std::size_t i = 0; i < all; ++i) {
        const Trial& trial = trials[i % trials.size()];
        fmt::print(stderr, "{} ranks, {:>2} of {}: {}{}{}\n", nranks, i + 1, all,
                   trial.candidate.recipe,
                   trial.candidate.stage_bytes == 0
                       ? ""
                       : fmt::format(" through {} KiB", trial.candidate.stage_bytes / kKiB),
                   trial.on_window         ? " on windows"
                   : trial.candidate.reach ? " between private buffers"
                                           : "");
        run_trial(trial, fields, nranks, effort.seconds);
    }
    return fields;
}

// ---------------------------------------------------------------------------- the result

std::string table_text(const comm::Table& table) {
    std::vector<std::vector<std::string>> rows = {
        {"collective", "data", "ranks up to", "bytes up to", "recipe", "stage KiB"}};
    const auto data_of = [](const comm::Rule& rule) {
        return rule.where == comm::Where::window  ? "window"
               : rule.where == comm::Where::hosts ? "between hosts"
               : rule.reach                       ? "reached"
                                                  : "private";
    };
    for (const comm::Rule& rule : table.rules) {
        rows.push_back({std::string(name(rule.kind)), data_of(rule),
                        rule.max_ranks == kMaxRanks ? "any" : std::to_string(rule.max_ranks),
                        rule.max_bytes == comm::Rule::kAny ? "any" : std::to_string(rule.max_bytes),
                        rule.recipe,
                        rule.stage_bytes == 0 ? "-" : std::to_string(rule.stage_bytes / kKiB)});
    }
    return to_table(rows);
}

int tune(const TuneCommand& command) {
    const std::vector<int> ranks = parse_ranks(command.ranks);
    const std::string path = command.output.empty() ? comm::profile_path() : command.output;
    if (path.empty()) {
        throw Error(Fault::usage,
                    "tune: there is no place where programs look for a profile, HOME is not set "
                    "to a directory of the user's own: name a file with -o");
    }
    expect_writable(path);
    fmt::print(stderr, "the profile will be written to {}\n", path);
    const Effort effort = effort_of(command);
    comm::Table table{path, {}};
    for (const int nranks : ranks) {
        const int max_ranks = nranks == ranks.back() ? kMaxRanks : nranks;
        for (const Field& field : survey(nranks, effort)) {
            const std::vector<comm::Rule> rules = rules_from(field.survey, max_ranks);
            table.rules.insert(table.rules.end(), rules.begin(), rules.end());
        }
    }
    base::write_text(path, comm::to_json(table), "profile");
    fmt::print("{}\nwritten to {}\n", table_text(table), path);
    if (!command.output.empty()) fmt::print("use it with PEAL_PROFILE={}\n", path);
    return kFine;
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
        "Examples:\n"
        "  peal tune\n"
        "  peal tune -n 2,4 -o profile.json --quick");
    tuner->callback([command] { return tune(*command); });
}

}  // namespace peal::cli
