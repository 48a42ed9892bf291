// SPDX-License-Identifier: Apache-2.0
#include "roster.hpp"

#include <unistd.h>

namespace peal::bench {
namespace {

using Words = std::vector<std::string>;

// In the launchers' command lines these stand for what is known only at the start.
constexpr std::string_view kRanks = "{ranks}";
constexpr std::string_view kDirectory = "{directory}";

Words operator+(Words left, const Words& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Words with_environment(Words variables) { return Words{"env"} + variables; }

Entry open_mpi(const std::string& name, const Words& environment, const Words& options) {
    // The session's files and the shared segments go where they are sure to be removed.
    const Words launcher =
        with_environment(environment + Words{"TMPDIR={directory}"}) +
        Words{"mpirun.openmpi", "--allow-run-as-root",         "--oversubscribe", "--quiet",
              "--mca",          "btl_vader_backing_directory", "{directory}"} +
        options + Words{"-n", "{ranks}"};
    return {name, "Open MPI", Team::peers, "openmpi_contender", launcher, {}};
}

Entry mpich(const std::string& name, const Words& environment) {
    const Words launcher = with_environment(environment + Words{"TMPDIR={directory}"}) +
                           Words{"mpiexec.hydra", "-n", "{ranks}"};
    return {name, "MPICH", Team::peers, "mpich_contender", launcher, {}};
}

Entry ours(const std::string& peal, const std::string& name, const std::string& buffers) {
    return {name,
            "Peal",
            Team::ours,
            "peal_contender",
            {peal, "launch", "-n", "{ranks}", "--"},
            Words{buffers}};
}

std::vector<Entry> all_entries(const std::string& peal) {
    // UCX is not chosen for shared memory alone unless it is told that any transport will do.
    const Words ucx = {"--mca",
                       "pml",
                       "ucx",
                       "--mca",
                       "opal_common_ucx_tls",
                       "any",
                       "--mca",
                       "opal_common_ucx_devices",
                       "any"};
    // The best for large allreduces: a segmented ring and huge pages for its buffers.
    const Words ring = {"--mca",
                        "pml",
                        "ob1",
                        "--mca",
                        "btl",
                        "vader,self",
                        "--mca",
                        "coll_tuned_use_dynamic_rules",
                        "1",
                        "--mca",
                        "coll_tuned_allreduce_algorithm",
                        "5",
                        "--mca",
                        "coll_tuned_allreduce_algorithm_segmentsize",
                        "1048576"};
    return {
        ours(peal, "peal", "private"),
        ours(peal, "peal-windows", "windows"),
        open_mpi("openmpi", {}, {}),
        open_mpi("openmpi-ucx", {"UCX_TLS=posix,self", "UCX_POSIX_SEG_SIZE=60000"}, ucx),
        open_mpi("openmpi-ring", {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}, ring),
        mpich("mpich", {}),
        mpich("mpich-shm", {"UCX_TLS=posix,self", "UCX_POSIX_SEG_SIZE=60000"}),
        {"gloo", "Gloo", Team::peers, "gloo_contender", {}, {}},
        {"machine", "machine", Team::limits, "limits_contender", {}, {}},
    };
}

std::string filled_in(std::string word, const std::string& directory, int nranks) {
    if (word == kRanks) return std::to_string(nranks);
    if (const auto at = word.find(kDirectory); at != std::string::npos) {
        word.replace(at, kDirectory.size(), directory);
    }
    return word;
}

Words gloo_ways(Task task, std::size_t bytes) {
    // Its synchronous mode deadlocks when a message does not fit into the sockets' buffers.
    constexpr std::size_t kMostSync = 64 << 10;
    if (is_further(task)) return {};
    if (task == Task::all_to_all) return {"calls"};
    const std::string other = task == Task::reduce_scatter ? "objects" : "calls";
    return bytes <= kMostSync ? Words{other, "sync"} : Words{other};
}

bool is_limit(Task task) {
    return task == Task::handoff || task == Task::copy || task == Task::add;
}

}  // namespace

std::vector<Entry> roster(const std::string& programs, const std::string& peal) {
    std::vector<Entry> present;
    for (Entry& entry : all_entries(peal)) {
        entry.program = programs + "/" + entry.program;
        if (access(entry.program.c_str(), X_OK) == 0) present.push_back(entry);
    }
    return present;
}

std::vector<std::string> ways(const Entry& entry, Task task, std::size_t bytes) {
    if (is_limit(task) != (entry.team == Team::limits)) return {};
    if (task == Task::copy || task == Task::add) return {"cached", "bypass"};
    if (entry.family == "Gloo") return gloo_ways(task, bytes);
    if (entry.team == Team::peers && task == Task::reduce_scatter) return {"block", "vector"};
    if (entry.team == Team::peers && task == Task::neighbours) return {"requests", "topology"};
    if (entry.name == "peal-windows" && task != Task::allreduce) return {};
    return {"-"};
}

std::vector<std::string> command(const Entry& entry, const std::string& directory, int rank,
                                 int nranks) {
    Words words;
    for (const std::string& word : entry.launcher) {
        words.push_back(filled_in(word, directory, nranks));
    }
    words = words + Words{entry.program, directory} + entry.arguments;
    if (!entry.has_launcher()) {
        words = words + Words{std::to_string(rank), std::to_string(nranks)};
    }
    return words;
}

}  // namespace peal::bench
