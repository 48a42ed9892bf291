// SPDX-License-Identifier: Apache-2.0
#include "runs/runs.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

#include "plan/compile_rank.hpp"

namespace peal::test {
namespace {

namespace fs = std::filesystem;

template <class Enum>
void read(std::istream& from, Enum& to) {
    int number = 0;
    from >> number;
    to = static_cast<Enum>(number);
}

std::optional<Collective> collective_of(const std::string& line) {
    if (line == "-") return std::nullopt;
    std::istringstream from(line);
    Collective collective;
    read(from, collective.kind);
    from >> collective.mode;
    read(from, collective.element);
    read(from, collective.op);
    from >> collective.count >> collective.root;
    read(from, collective.placement);
    from >> collective.stage_bytes;
    using Counts = std::istream_iterator<std::int64_t>;
    collective.counts.assign(Counts(from), Counts());
    return collective;
}

PlanSet read_set(const fs::path& file) {
    PlanSet set;
    std::ifstream from(file);
    std::string line;
    std::getline(from, line);
    set.nranks = std::stoi(line);
    std::getline(from, line);
    set.collective = collective_of(line);
    set.json.assign(std::istreambuf_iterator<char>(from), {});
    // Nobody uses the window of some recipes again before all have returned: where a call finds its
    // memory sees to that (src/comm/turns.hpp, proved for itself).
    const bool is_open =
        set.json.empty() && reuse_of(set.collective->kind, set.collective->mode) == Reuse::later;
    set.is_free = file.extension() == ".free" && !is_open;
    return set;
}

}  // namespace

std::vector<Plan> PlanSet::plans() const {
    if (!json.empty()) return plans_from_json(json);
    std::vector<Plan> plans;
    for (int rank = 0; rank < nranks; ++rank) {
        plans.push_back(compile_rank(*collective, rank, nranks));
    }
    return plans;
}

Runs read_runs(const fs::path& directory) {
    Runs runs;
    std::ifstream from(directory / "runs");
    for (std::string digest, what; from >> digest && std::getline(from, what);) {
        runs.carried_out.try_emplace(digest, what.substr(1));
    }
    std::map<std::string, PlanSet> sets;
    for (const auto& entry : fs::directory_iterator(directory)) {
        const std::string kind = entry.path().extension();
        if (kind != ".free" && kind != ".together") continue;
        PlanSet read = read_set(entry.path());
        const auto [at, is_new] = sets.try_emplace(entry.path().stem(), read);
        if (is_new) continue;
        at->second.is_free = false;
        if (!at->second.collective) at->second.collective = std::move(read.collective);
    }
    for (auto& [name, set] : sets) runs.sets.push_back(std::move(set));
    return runs;
}

}  // namespace peal::test
