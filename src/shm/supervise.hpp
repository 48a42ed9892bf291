// SPDX-License-Identifier: Apache-2.0
// Looking after ranks that are child processes: start them, hand on signals, notice at once when
// one dies, and leave none behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shm/light_sleep.hpp"
#include "shm/signal_gate.hpp"
#include "shm/world.hpp"

namespace peal::shm {

// How long the others may take when a rank has failed.
struct GracePeriod {
    std::chrono::milliseconds before_sigterm{2000};
    std::chrono::milliseconds before_sigkill{1000};  // after SIGTERM
    // Ranks that have not connected by then, while others have, are named.
    std::chrono::milliseconds to_connect{10000};
    // Ranks that wait in a call answer an inquiry long before that.
    std::chrono::milliseconds to_answer{1000};
};

struct JobEnd {
    // The worst exit status of all ranks; 128 + the number of a signal. A rank that the supervisor
    // had to end does not count.
    int status = 0;
    int first_failed = -1;  // rank
    std::string story;      // of that rank: "rank 2 was killed by signal 9 (Killed)"
};

class Supervisor {
public:
    // `master` is a pidfd of the process for whom this one does nothing else: then all children of
    // this process are ranks or what ranks have left behind, and all of them end with the job, and
    // with the master. -1: there is none, and this process may have children of its own.
    // `first` is the rank of the first child: a world may have ranks that are elsewhere.
    explicit Supervisor(std::shared_ptr<World> world, GracePeriod grace = {}, int master = -1,
                        int first = 0);
    // Kills what still runs.
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    // Starts the next rank: a child process that runs `body` and ends with the status it returns,
    // without running this process's exit handlers. The child dies with the thread that called.
    // Throws Error(resource).
    void start(const std::function<int()>& body);

    // Who is told, once, which ranks others wait for because they have not connected: "after 10.0 s
    // ranks 1, 3 of 4 have not connected (processes 71, 73); the others wait for them".
    void on_late_ranks(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

    // Who is told where the ranks stand (src/shm/inquiry.hpp) when somebody asks: with SIGQUIT,
    // and with SIGINT, which is handed on after that. A second SIGINT waits for no answer. While no
    // rank is connected, and if nobody wants to be told, both are signals like others.
    void on_question(std::function<void(const std::string&)> tell) { tell_all_ = std::move(tell); }

    // And who asks every so often: zero is never.
    void ask_every(std::chrono::milliseconds interval);

    // Who is told, once and at once, of the first child that fails.
    void on_failure(std::function<void(int rank, const std::string& story)> tell) {
        tell_failure_ = std::move(tell);
    }

    // Waits for all ranks that are children. A rank fails if a signal ends it, if its status is not
    // 0, or if it was here and did not leave. The first failure raises the alarm; ranks that do not
    // end then are ended, and so they are when somebody else has raised it and this process gets a
    // SIGCHLD. So are, with a master, processes that ranks have left behind.
    JobEnd wait();

private:
    struct Child {
        pid_t pid = 0;
        int descriptor = -1;  // a pidfd; -1 once the child is reaped
        bool ended_by_us = false;
    };

    [[noreturn]] void become_rank(pid_t parent, const std::function<int()>& body) const noexcept;
    bool has_master() const { return master_ >= 0; }
    bool master_is_gone() const;
    void look_up();
    void poll_once();
    void take_signals();
    void take(SignalGate::Signal signal);
    void inquire(SignalGate::Signal signal);
    void ask_in_time();
    void end_inquiry();
    void hand_on(SignalGate::Signal signal);
    bool is_anybody_here() const;
    void reap_all_dead();
    void end_all_at_once();
    void reap(std::size_t index);
    void note_failure(int rank, int status, std::string story);
    void look_abroad();
    void begin_to_insist();
    int rank_of(std::size_t child) const { return first_ + static_cast<int>(child); }
    void insist();
    void kill_all(int signal);
    void look_for_late_ranks();
    int milliseconds_left() const;

    std::shared_ptr<World> world_;
    GracePeriod grace_;
    const int master_;
    const int first_;
    SignalGate gate_;
    LightSleep sleep_;
    std::vector<Child> children_;
    int running_ = 0;
    JobEnd verdict_;
    std::exception_ptr ended_;  // by a watch
    bool insists_ = false;
    int next_signal_ = 0;  // what those that still run get at insist_at_; 0: they have done nothing
    std::chrono::steady_clock::time_point insist_at_{};
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point look_at_ = begin_ + grace_.to_connect;
    std::function<void(const std::string&)> tell_;  // empty: nobody, or it has been told
    std::function<void(const std::string&)> tell_all_;
    std::function<void(int, const std::string&)> tell_failure_;
    std::chrono::milliseconds interval_{0};  // of questions
    std::chrono::steady_clock::time_point ask_at_ = std::chrono::steady_clock::time_point::max();
    // The inquiry that is under way; 0: none.
    std::uint32_t inquiry_ = 0;
    std::chrono::steady_clock::time_point answers_until_{};
    SignalGate::Signal after_answers_{};  // to be handed on
};

}  // namespace peal::shm
