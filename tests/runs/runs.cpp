// SPDX-License-Identifier: Apache-2.0
#include "runs/runs.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

#include "plan/between_hosts.hpp"
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

std::optional<Collective> collective_of(const std::string& line, int nranks) {
    if (line == "-") return std::nullopt;
    std::istringstream from(line);
    Collective collective;
    read(from, collective.kind);
    from >> collective.recipe;
    read(from, collective.element);
    read(from, collective.op);
    from >> collective.count >> collective.root;
    read(from, collective.placement);
    std::size_t hosts = 0;
    from >> collective.stage_bytes >> collective.sets >> collective.lanes >> hosts;
    collective.hosts.resize(hosts);
    for (std::int64_t& host : collective.hosts) from >> host;
    using Counts = std::istream_iterator<std::int64_t>;
    std::vector<std::int64_t> tables{Counts(from), Counts()};  // as many as there are, in a row
    const auto take = [&](std::vector<std::int64_t>& table) {
        const auto end =
            tables.begin() + static_cast<std::ptrdiff_t>(
                                 std::min(tables.size(), table_entries(collective.kind, nranks)));
        table.assign(tables.begin(), end);
        tables.erase(tables.begin(), end);
    };
    take(collective.counts);
    take(collective.sent_at);
    take(collective.received_at);
    return collective;
}

// By the set's name. Nobody uses the window of some recipes again before all have returned: where a
// call finds its memory sees to that (src/comm/turns.hpp, proved for itself).
std::pair<std::string, PlanSet> read_compiled(const std::string& line) {
    std::istringstream from(line);
    std::string name, order, spec;
    PlanSet set;
    std::size_t hosts = 0;
    from >> name >> order >> set.nranks >> hosts;
    set.hosts.resize(hosts);
    for (std::int64_t& host : set.hosts) from >> host;
    from >> std::ws;
    std::getline(from, spec);
    set.collective = collective_of(spec, set.nranks);
    const bool is_open = reuse_of(set.collective->kind, set.collective->recipe) == Reuse::later;
    set.is_free = order == "free" && !is_open;
    return {name, std::move(set)};
}

PlanSet read_set(const fs::path& file) {
    PlanSet set;
    std::ifstream from(file);
    std::string line;
    std::getline(from, line);
    set.nranks = std::stoi(line);
    std::getline(from, line);
    set.collective = collective_of(line, set.nranks);
    set.json.assign(std::istreambuf_iterator<char>(from), {});
    set.is_free = file.extension() == ".free";
    return set;
}

Held held_of(const std::string& line) {
    using enum Held::What;
    const std::size_t space = line.find(' ');
    for (const Held::What what : {input, zeros, fresh}) {
        if (name(what) == line.substr(0, space)) return {line.substr(space + 1), what};
    }
    throw std::runtime_error("a record of runs: a window that holds '" + line + "'");
}

PlanSequence read_sequence(const fs::path& file) {
    std::ifstream from(file);
    PlanSequence sequence;
    std::string times, order;
    std::size_t calls = 0;
    from >> times >> order >> calls;
    sequence.is_once = times == "once";
    sequence.is_free = order == "free";
    std::string line;
    const auto next_line = [&] {
        std::getline(from, line);
        return line;
    };
    for (std::size_t i = 0; i < calls; ++i) {
        PlanSequence::Call& call = sequence.calls.emplace_back();
        std::size_t names = 0, held = 0, length = 0;
        from >> names >> held >> length;
        next_line();
        while (names-- > 0) call.memory.push_back(next_line());
        while (held-- > 0) call.holds.push_back(held_of(next_line()));
        std::string json(length, ' ');
        from.read(json.data(), static_cast<std::streamsize>(length));
        call.plans = plans_from_json(json);
    }
    return sequence;
}

}  // namespace

std::vector<Plan> PlanSet::plans() const {
    if (!json.empty()) return plans_from_json(json);
    std::vector<Plan> plans;
    for (int rank = 0; rank < nranks; ++rank) {
        plans.push_back(plan::compile_rank(*collective, rank, nranks));
    }
    return plan::between_hosts(std::move(plans), hosts);
}

Runs read_runs(const fs::path& directory) {
    Runs runs;
    std::ifstream from(directory / "runs");
    for (std::string digest, what; from >> digest && std::getline(from, what);) {
        std::string& commands = runs.carried_out[digest];
        if (commands.find(what) == std::string::npos)
            commands += commands.empty() ? what.substr(1) : ";" + what;
    }
    // Who carries plans out may know more of them than who makes them ready: what they are for,
    // what their windows hold, and that all ranks return from a call before the next.
    std::map<std::string, std::vector<PlanSet>> same_plans;
    std::ifstream compiled(directory / "compiled");
    std::set<std::string> lines;
    for (std::string line; std::getline(compiled, line);) lines.insert(line);
    for (const std::string& line : lines) {
        auto [name, set] = read_compiled(line);
        same_plans[name].push_back(std::move(set));
    }
    std::set<std::string> replaced;
    for (const auto& entry : fs::directory_iterator(directory)) {
        const std::string kind = entry.path().extension();
        if (kind == ".sequence" || kind == ".instead") {
            runs.sequences.push_back(read_sequence(entry.path()));
        }
        if (kind == ".instead") replaced.insert(entry.path().stem().stem());
        if (kind != ".free" && kind != ".together") continue;
        same_plans[entry.path().stem().stem()].push_back(read_set(entry.path()));
    }
    for (auto& [name, sets] : same_plans) {
        if (replaced.contains(name)) continue;
        const auto is_known = [](const PlanSet& set) { return set.collective.has_value(); };
        const bool is_free =
            std::all_of(sets.begin(), sets.end(), [](const PlanSet& set) { return set.is_free; });
        const bool any_known = std::any_of(sets.begin(), sets.end(), is_known);
        for (PlanSet& set : sets) {
            set.is_free = is_free;
            if (!any_known || is_known(set)) runs.sets.push_back(std::move(set));
        }
    }
    return runs;
}

}  // namespace peal::test
