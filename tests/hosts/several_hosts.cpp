// SPDX-License-Identifier: Apache-2.0
#include "hosts/several_hosts.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "comm/window.hpp"
#include "hosts/job.hpp"
#include "hosts/slow_net.hpp"
#include "peal/error.hpp"
#include "shm/shared_text.hpp"

namespace peal::hosts::test {
namespace {

constexpr int kMostRanks = 16;
constexpr std::chrono::seconds kTimeout{60};

// Memory that all ranks share, whatever their hosts: for the tests' own purposes.
struct Table {
    std::atomic<int> arrived = 0, departed = 0;
    shm::SharedText<65536> texts[kMostRanks];
    enum Fate { none, left, died };
    std::atomic<int> fates[kMostRanks] = {};
    shm::SharedText<65536> messages[kMostRanks];
};

class TableMeeting final : public Meeting {
public:
    TableMeeting(Table& table, int rank, const std::vector<int>& host_ids)
        : table_(table), rank_(rank), told_(host_ids.size()) {
        for (const int host : host_ids) hosts_.push_back(fmt::format("h{}", host));
    }
    int rank() const override { return rank_; }
    int nranks() const override { return static_cast<int>(hosts_.size()); }
    const std::string& host_of(int rank) const override {
        return hosts_[static_cast<std::size_t>(rank)];
    }
    std::vector<std::string> exchange(std::string_view own) override {
        shm::put(table_.texts[rank_], own);
        meet(table_.arrived);
        std::vector<std::string> all;
        for (int rank = 0; rank < nranks(); ++rank) {
            all.emplace_back(shm::text_of(table_.texts[rank]));
        }
        meet(table_.departed);
        return all;
    }
    std::optional<News> news() override {
        for (int rank = 0; rank < nranks(); ++rank) {
            const int fate = table_.fates[rank].load();
            if (rank == rank_ || fate == Table::none || told_[static_cast<std::size_t>(rank)]) {
                continue;
            }
            told_[static_cast<std::size_t>(rank)] = true;
            return News{fate == Table::left ? News::Kind::left : News::Kind::died, rank, ""};
        }
        return std::nullopt;
    }
    void fail(std::string_view) override {}
    void leave() override { table_.fates[rank_].store(Table::left); }

private:
    void meet(std::atomic<int>& count) {
        count.fetch_add(1);
        const int all = ++rounds_[&count == &table_.arrived ? 0 : 1] * nranks();
        while (count.load() < all) {
            for (int rank = 0; rank < nranks(); ++rank) {
                if (table_.fates[rank].load() == Table::died) {
                    throw Error(Fault::wrong, fmt::format("rank {} died while connecting", rank));
                }
            }
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }

    Table& table_;
    int rank_;
    std::vector<std::string> hosts_;
    std::vector<bool> told_;
    int rounds_[2] = {0, 0};
};

struct Layout {
    std::vector<int> host_ids;                        // by rank
    std::vector<std::shared_ptr<shm::World>> worlds;  // by host
    Wires wires;
};

int run_rank(Table& table, const Layout& layout, int rank,
             const std::function<void(Communicator&)>& body) {
    use_loopback();
    try {
        const auto& world =
            layout
                .worlds[static_cast<std::size_t>(layout.host_ids[static_cast<std::size_t>(rank)])];
        world->enter(rank);
        auto meeting = std::make_unique<TableMeeting>(table, rank, layout.host_ids);
        const auto open = [&](int self) -> std::unique_ptr<Net> {
            auto net = open_net(self, layout.wires.are_direct);
            if (self != layout.wires.slow_from) return net;
            return std::make_unique<SlowNet>(std::move(net), layout.wires.slow_to);
        };
        auto job = std::make_shared<Job>(std::move(meeting),
                                         LocalWorld{{world, rank}, layout.host_ids}, open);
        Communicator comm = comm::Inside::connect(job);
        job.reset();
        try {
            body(comm);
        } catch (const std::exception& error) {
            shm::put(table.messages[rank], error.what());
        }
    } catch (const std::exception& error) {
        shm::put(table.messages[rank], error.what());
    }
    return shm::text_of(table.messages[rank]).empty() ? 0 : 1;
}

// Ends all that are left when one has had enough time.
void await(Table& table, const std::vector<pid_t>& ranks, std::vector<int>& status) {
    const auto end = std::chrono::steady_clock::now() + kTimeout;
    std::size_t ended = 0;
    while (ended < ranks.size()) {
        int how = 0;
        const pid_t pid = waitpid(-1, &how, WNOHANG);
        if (pid <= 0) {
            if (std::chrono::steady_clock::now() > end) {
                for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
                    if (table.fates[rank].load() != Table::died) kill(ranks[rank], SIGKILL);
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));  // nobody waits for us
            continue;
        }
        ++ended;
        const auto rank =
            static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), pid) - ranks.begin());
        status[rank] = WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
        if (table.fates[rank].load() == Table::none) table.fates[rank].store(Table::died);
    }
}

}  // namespace

bool HostsOutcome::is_well() const { return text().empty(); }

std::string HostsOutcome::text() const {
    std::string all;
    for (std::size_t rank = 0; rank < status.size(); ++rank) {
        if (status[rank] == 0 && messages[rank].empty()) continue;
        all += fmt::format("rank {} ended with {}: {}\n", rank, status[rank], messages[rank]);
    }
    return all;
}

void use_loopback() {
    if (std::getenv("UCX_TLS") != nullptr) return;
    setenv("UCX_TLS", "tcp", 1);
    setenv("UCX_NET_DEVICES", "lo", 0);
}

HostsOutcome run_on_hosts(const std::vector<int>& ranks_of_hosts,
                          const std::function<void(Communicator&)>& body, Wires wires) {
    const int nranks = std::accumulate(ranks_of_hosts.begin(), ranks_of_hosts.end(), 0);
    void* const memory =
        mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& table = *new (memory) Table;
    Layout layout;
    layout.wires = wires;
    for (std::size_t host = 0; host < ranks_of_hosts.size(); ++host) {
        layout.worlds.push_back(shm::World::create(nranks));
        layout.host_ids.insert(layout.host_ids.end(),
                               static_cast<std::size_t>(ranks_of_hosts[host]),
                               static_cast<int>(host));
    }
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < nranks; ++rank) {
        const pid_t pid = fork();
        if (pid == 0) {
            const int status = run_rank(table, layout, rank, body);
            std::fflush(nullptr);
            _exit(status);
        }
        ranks.push_back(pid);
    }
    HostsOutcome outcome;
    outcome.status.resize(static_cast<std::size_t>(nranks));
    await(table, ranks, outcome.status);
    for (int rank = 0; rank < nranks; ++rank) {
        outcome.messages.emplace_back(shm::text_of(table.messages[rank]));
    }
    munmap(memory, sizeof(Table));
    return outcome;
}

std::string why_no_hosts() {
    static const std::string kWhy = [] {
        const HostsOutcome outcome = run_on_hosts({1}, [](Communicator&) {
            try {
                open_net(0);
            } catch (const Error& error) {
                throw std::runtime_error(error.what());
            }
        });
        return outcome.messages[0];
    }();
    return kWhy;
}

}  // namespace peal::hosts::test
