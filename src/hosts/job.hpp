// SPDX-License-Identifier: Apache-2.0
// A process's place in a job that may be on several hosts: who is where, the way to those who are
// elsewhere, and what is heard of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/local_world.hpp"
#include "hosts/meeting.hpp"
#include "hosts/mirrors.hpp"
#include "hosts/net.hpp"
#include "shm/backoff.hpp"

namespace peal::hosts {

class Job {
public:
    // All ranks must call. Throws what Meeting::exchange() and open_net() throw, and Error(usage)
    // when a rank runs another version.
    using OpenNet = std::function<std::unique_ptr<Net>(int rank)>;
    Job(
        std::unique_ptr<Meeting> meeting, LocalWorld world,
        const OpenNet& open = [](int rank) { return open_net(rank); });
    // Returns when all ranks have left or something has failed: until then they may still need
    // memory of this rank.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    int rank() const { return world_.place.rank; }
    const std::shared_ptr<shm::World>& world() const { return world_.place.world; }
    Meeting& meeting() { return *meeting_; }

    bool spans_hosts() const { return net_ != nullptr; }
    // How many are on this host.
    int ranks_here() const;
    bool is_far(int rank) const { return host_of(rank) != host_of(this->rank()); }
    int host_of(int rank) const { return world_.host_ids[static_cast<std::size_t>(rank)]; }
    // "rank 2 on host b"
    std::string name_of(int rank) const;

    // ---- where hosts are several

    Net& net() { return *net_; }
    Mirrors& mirrors() { return mirrors_; }

    // Letters are about something, which has a number that its rank knows it by. They wait for
    // their reader, who may be called by any thread that makes progress.
    using Reader = std::function<void(int from, std::string_view text)>;
    // No letter is read meanwhile by another thread.
    std::unique_lock<std::recursive_mutex> hold_letters() { return std::unique_lock(mail_); }
    void read_letters_about(std::uint64_t subject, Reader reader);
    void stop_reading_about(std::uint64_t subject);
    // What is kept stays until it is let go, or the job is over.
    void keep(std::uint64_t subject, std::shared_ptr<void> what);
    void let_go(std::uint64_t subject);
    void keep_to_the_end(std::shared_ptr<void> what);
    void post(int rank, std::uint64_t subject, std::string_view text);

    void progress();
    // The same, unless it was just made.
    void glance() {
        if (shm::Clock::now() >= next_glance_.load(std::memory_order_relaxed)) progress();
    }
    // As shm::wait_until(), with progress.
    template <class Ready>
    shm::Waited wait_until(Ready&& ready, shm::Clock::time_point deadline) {
        FarBackoff backoff(*this);
        for (;;) {
            progress();
            if (ready()) return shm::Waited::ready;
            // The second look: what the failed rank did before it failed counts.
            if (world()->failed_rank() >= 0) {
                return ready() ? shm::Waited::ready : shm::Waited::alarm;
            }
            if (!backoff.pause(deadline)) return shm::Waited::deadline;
        }
    }

    // This rank ends by an error: all are told, and nobody is waited for.
    void fail(std::string_view story);

    // Asks what has happened to the others, and passes it on to the ranks of this host: a death
    // raises the alarm.
    void look();
    // How this rank has heard of the first loss, which may be a moment later than the alarm of this
    // host: the story, "" of a mere death; nothing if it has not heard.
    std::optional<std::string> loss_heard_of_until(shm::Clock::time_point end);
    std::optional<std::string> loss_heard_of();

private:
    // Spins, then sleeps until something comes from elsewhere; for a while only, since ranks of
    // this host do not wake it.
    class FarBackoff {
    public:
        explicit FarBackoff(Job& job);
        // False: it is late.
        bool pause(shm::Clock::time_point deadline);

    private:
        Job& job_;
        const bool has_core_;  // all ranks of this machine can have one
        const shm::Clock::time_point start_ = shm::Clock::now();
    };

    void find_way(const OpenNet& open);
    void connect();
    void hand_over(const Net::Letter& letter);
    void hear(const Meeting::News& news);
    int somebody_else() const;
    void part();

    std::unique_ptr<Meeting> meeting_;
    const LocalWorld world_;
    std::unique_ptr<Net> net_;
    Mirrors mirrors_;  // goes before the net

    std::atomic<shm::Clock::time_point> next_glance_{};
    std::recursive_mutex mail_;  // of the readers, who may post
    std::map<std::uint64_t, Reader> readers_;
    std::vector<Net::Letter> unread_;
    std::map<std::uint64_t, std::shared_ptr<void>> kept_;
    std::vector<std::shared_ptr<void>> kept_to_the_end_;
    std::mutex news_;
    std::optional<std::string> loss_;
    bool has_failed_ = false;
    std::vector<bool> parts_;  // by rank: it needs nobody's memory any more
};

// The job that this process is a rank of, as meet() finds it; nullptr: it is none. All ranks must
// call.
std::shared_ptr<Job> join();

}  // namespace peal::hosts
