// SPDX-License-Identifier: Apache-2.0
#include "cli/tune_survey.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "collectives/catalogue.hpp"

namespace peal::cli {
namespace {

using collectives::Entry;
using comm::Where;

constexpr std::uint64_t kKiB = 1 << 10;

// ---------------------------------------------------------------------------- what to measure

// Between hosts only what the built-in table takes there: the limits of its rules are what differs
// between networks.
bool is_measured(const Entry& entry, CollectiveKind kind, Where where) {
    if (entry.row.has_lanes) return false;  // a rank of a communicator has one lane
    const auto table = collectives::rules();
    return where != Where::hosts ||
           std::any_of(table.begin(), table.end(), [&](const comm::Rule& rule) {
               return rule.kind == kind && rule.where == where && rule.recipe == entry.row.name;
           });
}

std::vector<Entry> entries_for(CollectiveKind kind, Where where) {
    std::vector<Entry> entries = collectives::entries(kind);
    const std::vector<Entry>& of_hosts = collectives::entries_of_hosts(kind);
    if (where == Where::hosts) entries.insert(entries.end(), of_hosts.begin(), of_hosts.end());
    std::erase_if(entries, [&](const Entry& entry) { return !is_measured(entry, kind, where); });
    return entries;
}

// Private data is staged: in a line or a ring (push, pull), or through a small window (pipeline);
// or it is reached. What works on a window works for any size; little data on one may be staged
// too. Between hosts all is staged.
std::vector<Candidate> candidates_for(CollectiveKind kind, Where where, const Effort& effort) {
    const bool on_window = where == Where::window;
    std::vector<Candidate> candidates;
    for (const Entry& entry : entries_for(kind, where)) {
        const std::string name(entry.row.name);
        if (!facts_of(kind).has_data() || (on_window && offers(kind, name, Placement::window))) {
            candidates.push_back({name});
        } else if (entry.row.reuse == Reuse::later) {
            candidates.push_back({name, 0, false});
        } else if (on_window) {
            continue;
        } else if (entry.use == collectives::TargetUse::stages_in_ring) {
            for (const std::uint64_t stage : effort.stage_bytes)
                candidates.push_back({name, stage});
        } else if (where == Where::staging && (name == "mesh" || name == "joint") &&
                   comm::may_reach(kind, name)) {
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

Field field_for(CollectiveKind kind, Where where, int nranks, const Effort& effort) {
    Field field{{kind, where, {}, candidates_for(kind, where, effort), {}}, {}};
    for (const std::uint64_t bytes : effort.input_bytes) {
        const Load load{kind, where == Where::window, count_for(kind, bytes, nranks)};
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
std::vector<Field> fields_for(const Ground& ground, const Effort& effort) {
    std::vector<Field> fields;
    for (const Where where : ground.places) {
        for (const CollectiveKind kind : kCollectives) {
            if (where == Where::window && !is_called_on_windows(kind)) continue;
            fields.push_back(field_for(kind, where, ground.nranks, effort));
        }
    }
    return fields;
}

// ---------------------------------------------------------------------------- measuring

// One candidate, for all collectives that have it.
struct Trial {
    Where where = Where::staging;
    Candidate candidate;

    bool operator==(const Trial&) const = default;
};

std::vector<Trial> trials_of(const std::vector<Field>& fields) {
    std::vector<Trial> trials;
    for (const Field& field : fields) {
        for (const Candidate& candidate : field.survey.candidates) {
            const Trial trial{field.survey.where, candidate};
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
    if (field.survey.where != trial.where || found == candidates.end()) return nullptr;
    return &field.survey.seconds[static_cast<std::size_t>(found - candidates.begin())];
}

void run_trial(const Ground& ground, const Trial& trial, std::vector<Field>& fields,
               double seconds) {
    comm::Table table;
    std::vector<Load> loads;
    std::vector<double*> results;
    for (Field& field : fields) {
        std::vector<double>* const times = seconds_in(field, trial);
        if (!times) continue;
        table.rules.push_back({field.survey.kind, trial.where, kMaxRanks, comm::Rule::kAny,
                               trial.candidate.recipe, trial.candidate.stage_bytes,
                               trial.candidate.reach});
        loads.insert(loads.end(), field.loads.begin(), field.loads.end());
        for (double& time : *times) results.push_back(&time);
    }
    const comm::Table rest = comm::built_in_table();
    table.rules.insert(table.rules.end(), rest.rules.begin(), rest.rules.end());
    const std::vector<Timing> timings =
        ground.measure(table, loads, {seconds, trial.candidate.recipe});
    for (std::size_t i = 0; i < timings.size(); ++i) {
        if (timings[i].was_measured) *results[i] = std::min(*results[i], timings[i].median);
    }
}

std::string text_of(const Trial& trial) {
    return fmt::format("{}{}{}", trial.candidate.recipe,
                       trial.candidate.stage_bytes == 0
                           ? ""
                           : fmt::format(" through {} KiB", trial.candidate.stage_bytes / kKiB),
                       trial.where == Where::window ? " on windows"
                       : trial.candidate.reach      ? " between private buffers"
                                                    : "");
}

}  // namespace

Effort quick_effort() {
    return {{64, 4 * kKiB, 64 * kKiB, 1024 * kKiB}, {256 * kKiB, 1024 * kKiB}, 1e-3, 1};
}

Effort thorough_effort() {
    Effort effort{{}, {}, 1e-2, 2};
    for (std::uint64_t bytes = 64; bytes <= 16384 * kKiB; bytes *= 4) {
        effort.input_bytes.push_back(bytes);
    }
    for (std::uint64_t bytes = 256 * kKiB; bytes <= 4096 * kKiB; bytes *= 2) {
        effort.stage_bytes.push_back(bytes);
    }
    return effort;
}

std::vector<Load> loads_on(const Ground& ground, const Effort& effort) {
    std::vector<Load> loads;
    for (const Field& field : fields_for(ground, effort)) {
        loads.insert(loads.end(), field.loads.begin(), field.loads.end());
    }
    return loads;
}

std::vector<Survey> survey(const Ground& ground, const Effort& effort) {
    std::vector<Field> fields = fields_for(ground, effort);
    const std::vector<Trial> trials = trials_of(fields);
    const std::size_t all = trials.size() * static_cast<std::size_t>(effort.rounds);
    for (std::size_t i = 0; i < all; ++i) {
        const Trial& trial = trials[i % trials.size()];
        ground.tell(fmt::format("{:>2} of {}: {}", i + 1, all, text_of(trial)));
        run_trial(ground, trial, fields, effort.seconds);
    }
    std::vector<Survey> surveys;
    for (Field& field : fields) surveys.push_back(std::move(field.survey));
    return surveys;
}

}  // namespace peal::cli
