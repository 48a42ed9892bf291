// SPDX-License-Identifier: Apache-2.0
// peal info: what the ranks of a job reach each other by.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ranges.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "comm/bootstrap.hpp"
#include "hosts/job.hpp"
#include "hosts/text_wire.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

// What this rank reaches each rank by.
std::string ways_from(hosts::Job& job, int nranks) {
    hosts::Parcel ways;
    for (int rank = 0; rank < nranks; ++rank) {
        ways.texts.push_back(job.is_far(rank) ? job.net().transport(rank) : "shared memory");
    }
    return pack(ways);
}

// A row for each pair of hosts, and more where their ranks go different ways.
std::string table_of(const hosts::Job& job, const std::vector<std::string>& names,
                     const std::vector<std::string>& answers) {
    struct Pair {
        std::set<int> from, to;
    };
    std::map<std::tuple<int, int, std::string>, Pair> pairs;
    const auto nranks = static_cast<int>(answers.size());
    for (int from = 0; from < nranks; ++from) {
        const auto ways = hosts::parcel_from(answers[static_cast<std::size_t>(from)], 0);
        for (int to = 0; ways && to < static_cast<int>(ways->texts.size()); ++to) {
            Pair& pair = pairs[{job.host_of(from), job.host_of(to),
                                ways->texts[static_cast<std::size_t>(to)]}];
            pair.from.insert(from);
            pair.to.insert(to);
        }
    }
    std::vector<std::vector<std::string>> rows = {{"from", "ranks", "to", "ranks", "by"}};
    for (const auto& [key, pair] : pairs) {
        const auto name = [&](const std::set<int>& ranks) {
            return names[static_cast<std::size_t>(*ranks.begin())];
        };
        rows.push_back({name(pair.from), base::ranges_text(pair.from), name(pair.to),
                        base::ranges_text(pair.to), std::get<2>(key)});
    }
    return to_table(rows);
}

int tell_of_hosts() {
    const auto job = hosts::join();
    if (!job) {
        throw Error(
            Fault::usage,
            "info: --hosts asks the ranks of a job; run it in one, for example: peal launch "
            "-n 4 --hosts a,b peal info --hosts");
    }
    const comm::WorldMember member(job->world(), job->rank(), job);
    const int nranks = job->meeting().nranks();
    const std::vector<std::string> answers = job->meeting().exchange(ways_from(*job, nranks));
    if (job->rank() != 0) return kFine;
    std::vector<std::string> names;
    for (int rank = 0; rank < nranks; ++rank) names.push_back(job->meeting().host_of(rank));
    fmt::print("{}", table_of(*job, names, answers));
    std::fflush(stdout);
    return kFine;
}

}  // namespace

void add_info(CommandLine& line) {
    auto of_hosts = std::make_shared<bool>(false);
    Command* info = line.add_subcommand("info", "say what the ranks of a job reach each other by");
    info->add_flag("--hosts", *of_hosts, "for each pair of hosts: shared memory, or which network");
    info->footer("Examples:\n  peal launch -n 4 --hosts a,b peal info --hosts");
    info->callback([of_hosts] {
        if (!*of_hosts) throw Error(Fault::usage, "info: say what about; there is --hosts");
        return tell_of_hosts();
    });
}

}  // namespace peal::cli
