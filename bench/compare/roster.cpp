// SPDX-License-Identifier: Apache-2.0
#include "roster.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace peal::bench {
namespace {

using Words = std::vector<std::string>;

// In the launchers' command lines these stand for what is known only at the start.
constexpr std::string_view kRanks = "{ranks}";
constexpr std::string_view kDirectory = "{directory}";
constexpr std::string_view kHosts = "{hosts}";  // "a:2,b:2"

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
    return {name, "Open MPI", Team::peers, "openmpi_contender", launcher, {}, {}};
}

Entry mpich(const std::string& name, const Words& environment, const Words& options) {
    const Words launcher = with_environment(environment + Words{"TMPDIR={directory}"}) +
                           Words{"mpiexec.hydra"} + options + Words{"-n", "{ranks}"};
    return {name, "MPICH", Team::peers, "mpich_contender", launcher, {}, {}};
}

Entry gloo(const std::string& interface) {
    return {"gloo", "Gloo", Team::peers, "gloo_contender", {}, {interface}, {}};
}

Entry ours(const std::string& peal, const std::string& name, const std::string& buffers,
           const Words& options) {
    return {name,
            "Peal",
            Team::ours,
            "peal_contender",
            Words{peal, "launch", "-n", "{ranks}"} + options + Words{"--"},
            {buffers},
            {}};
}

// UCX is not chosen for shared memory or TCP alone unless it is told that any transport will do.
const Words kOverUcx = {"--mca",
                        "pml",
                        "ucx",
                        "--mca",
                        "opal_common_ucx_tls",
                        "any",
                        "--mca",
                        "opal_common_ucx_devices",
                        "any"};

std::vector<Entry> entries_here(const std::string& peal) {
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
        ours(peal, "peal", "private", {}),
        ours(peal, "peal-windows", "windows", {}),
        ours(peal, "peal-unaligned", "unaligned", {}),
        open_mpi("openmpi", {}, {}),
        open_mpi("openmpi-ucx", {"UCX_TLS=posix,self", "UCX_POSIX_SEG_SIZE=60000"}, kOverUcx),
        open_mpi("openmpi-ring", {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}, ring),
        mpich("mpich", {}, {}),
        mpich("mpich-shm", {"UCX_TLS=posix,self", "UCX_POSIX_SEG_SIZE=60000"}, {}),
        gloo("lo"),
        {"machine", "machine", Team::limits, "limits_contender", {}, {}, {}},
    };
}

// On machines of tools/with-hosts: their interface is eth0, and that of this one is hub.
std::vector<Entry> entries_on_hosts(const std::string& peal) {
    const Words orted = {"--host",
                         "{hosts}",
                         "--mca",
                         "plm_rsh_agent",
                         "enter-host",
                         "--mca",
                         "plm_rsh_no_tree_spawn",
                         "1",
                         "--mca",
                         "oob_tcp_if_include",
                         "hub,eth0"};
    const Words tcp = {
        "--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include",
        "eth0"};
    const Words hydra = {"-launcher", "rsh",     "-launcher-exec", "enter-host",
                         "-hosts",    "{hosts}", "-iface",         "hub"};
    // What makes UCX two to three times as fast over TCP, and what Peal sets itself.
    const Words segments = {"UCX_TCP_TX_SEG_SIZE=128k", "UCX_TCP_RX_SEG_SIZE=128k"};
    return {
        ours(peal, "peal", "private", {"--hosts", "{hosts}", "--rsh", "enter-host"}),
        open_mpi("openmpi", {}, orted + tcp),
        open_mpi("openmpi-ucx", segments, orted + kOverUcx),
        mpich("mpich", {}, hydra),
        mpich("mpich-segments", segments, hydra),
        gloo("eth0"),
        {"wire", "machine", Team::limits, "wire_contender", {}, {}, {}},
    };
}

std::string filled_in(std::string word, const std::string& directory, const Entry& entry,
                      int nranks) {
    if (word == kRanks) return std::to_string(nranks);
    if (word == kHosts) {
        const int each = nranks / static_cast<int>(entry.hosts.size());
        return fmt::format("{}:{}", fmt::join(entry.hosts, fmt::format(":{},", each)), each);
    }
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

}  // namespace

std::vector<Entry> roster(const std::string& programs, const std::string& peal,
                          const std::vector<std::string>& hosts) {
    std::vector<Entry> present;
    for (Entry& entry : hosts.empty() ? entries_here(peal) : entries_on_hosts(peal)) {
        entry.hosts = hosts;
        entry.program = programs + "/" + entry.program;
        if (access(entry.program.c_str(), X_OK) == 0) present.push_back(entry);
    }
    return present;
}

std::vector<std::string> ways(const Entry& entry, const Point& point) {
    const Task task = point.task;
    if (is_limit(task) != (entry.team == Team::limits)) return {};
    if (task == Task::copy) return {"cached", "distant", "bypass"};
    if (task == Task::add) return {"cached", "bypass"};
    if (task == Task::tcp || task == Task::tcp_both) return {"whole", "pieces"};
    if (entry.family == "Gloo") return gloo_ways(task, point.bytes);
    if (entry.team == Team::peers && task == Task::reduce_scatter) return {"block", "vector"};
    if (entry.team == Team::peers && task == Task::neighbours) return {"requests", "topology"};
    if (entry.name == "peal-windows" && task != Task::allreduce) return {};
    if (entry.name == "peal-unaligned") {  // compared with ours alone
        const bool is_compared = point.nranks == 2 && !point.cold && point.noise == 0 &&
                                 point.bytes > 0 && !is_further(task);
        return is_compared ? Words{"-"} : Words{};
    }
    return {"-"};
}

std::vector<std::string> command(const Entry& entry, const std::string& directory, int rank,
                                 int nranks) {
    Words words;
    for (const std::string& word : entry.launcher) {
        words.push_back(filled_in(word, directory, entry, nranks));
    }
    words = words + Words{entry.program, directory} + entry.arguments;
    if (!entry.has_launcher()) {
        words = words + Words{std::to_string(rank), std::to_string(nranks)};
        const auto host =
            static_cast<std::size_t>(rank) * entry.hosts.size() / static_cast<std::size_t>(nranks);
        if (!entry.hosts.empty()) {
            words = {"enter-host", entry.hosts[host],
                     fmt::format("exec '{}'", fmt::join(words, "' '"))};
        }
    }
    return words;
}

}  // namespace peal::bench
