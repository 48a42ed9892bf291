// SPDX-License-Identifier: Apache-2.0
#include "shm/supervise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/children.hpp"
#include "peal/error.hpp"
#include "peal/watch.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"

namespace peal::shm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSignalBase = 128;
constexpr milliseconds kToHear{20};         // of a Ctrl-C, from the terminal
constexpr milliseconds kBetweenAnswers{5};  // nobody rings the supervisor

std::string story_of_signal(int rank, int signal) {
    return fmt::format("rank {} was killed by signal {} ({})", rank, signal, strsignal(signal));
}

// "rank 3", "ranks 1, 3"
std::string counted(const char* one, const char* many, const std::vector<std::string>& which) {
    return fmt::format("{} {}", which.size() == 1 ? one : many, fmt::join(which, ", "));
}

}  // namespace

Supervisor::Supervisor(std::shared_ptr<World> world, GracePeriod grace, int master, int first)
    : world_(std::move(world)),
      grace_(grace),
      master_(master),
      first_(first),
      gate_(has_master() ? SignalGate::Children::too : SignalGate::Children::not_theirs) {
    children_.reserve(world_->nranks());
    if (has_master()) base::adopt_orphans();
}

Supervisor::~Supervisor() {
    kill_all(SIGKILL);
    for (Child& child : children_) {
        if (child.descriptor < 0) continue;
        while (waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        close(child.descriptor);
    }
    if (has_master()) base::end_children({});
}

void Supervisor::start(const std::function<int()>& body) {
    const int rank = rank_of(children_.size());
    assert(rank < world_->nranks());
    const auto refuse = [&] {
        return Error(Fault::resource, fmt::format("cannot start rank {} of {} as a process: {}",
                                                  rank, world_->nranks(), std::strerror(errno)));
    };
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) become_rank(parent, body);
    if (pid < 0) throw refuse();
    const int descriptor = base::pidfd_of(pid);
    if (descriptor < 0) {
        const Error error = refuse();
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        throw error;
    }
    children_.push_back({pid, descriptor, false});
    ++running_;
}

void Supervisor::become_rank(pid_t parent, const std::function<int()>& body) const noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) raise(SIGKILL);  // it was gone before the line above
    for (const Child& sibling : children_) close(sibling.descriptor);
    gate_.open();
    sleep_.end();
    _exit(body());
}

JobEnd Supervisor::wait() {
    while (running_ > 0) {
        poll_once();
        look_up();
        look_abroad();
        insist();
        ask_in_time();
        end_inquiry();
        look_for_late_ranks();
    }
    if (has_master()) base::end_children(master_is_gone() ? milliseconds{} : grace_.before_sigterm);
    if (ended_) std::rethrow_exception(ended_);
    return verdict_;
}

// What ends the wait ends the ranks: they may have heard of it from the terminal, too.
void Supervisor::look_up() {
    if (ended_) return;
    try {
        Watch::look_up();
    } catch (...) {
        ended_ = std::current_exception();
        insists_ = true;
        next_signal_ = SIGINT;
        insist_at_ = from_now(kToHear);
    }
}

bool Supervisor::master_is_gone() const {
    pollfd master = {master_, POLLIN, 0};
    return poll(&master, 1, 0) > 0;
}

void Supervisor::poll_once() {
    std::vector<pollfd> watched = {{gate_.descriptor(), POLLIN, 0}, {master_, POLLIN, 0}};
    const std::size_t first_child = watched.size();
    // poll() skips the descriptor -1 of a child that is reaped, and of no master.
    for (const Child& child : children_) watched.push_back({child.descriptor, POLLIN, 0});
    if (poll(watched.data(), watched.size(), milliseconds_left()) <= 0) return;
    for (std::size_t i = 0; i < children_.size(); ++i) {
        if (watched[first_child + i].revents != 0) reap(i);
    }
    if (watched[1].revents != 0) end_all_at_once();
    if (watched[0].revents != 0) take_signals();
}

void Supervisor::take_signals() {
    while (const auto signal = gate_.next()) take(signal);
}

void Supervisor::take(SignalGate::Signal signal) {
    const bool is_question = signal.number == SIGINT || signal.number == SIGQUIT;
    if (signal.number == SIGCHLD) {
        reap_all_dead();
    } else if (signal.number == SIGINT && Watch::is_set()) {
        gate_.pass_on(SIGINT);  // to whoever watches
    } else if (is_question && tell_all_ && is_anybody_here()) {
        inquire(signal);
    } else {
        hand_on(signal);
    }
}

void Supervisor::inquire(SignalGate::Signal signal) {
    const bool is_second = after_answers_ && signal.number == SIGINT;
    if (is_second) answers_until_ = {};
    if (signal.number == SIGINT) after_answers_ = signal;
    if (inquiry_ != 0) return;
    inquiry_ = ask(*world_);
    answers_until_ = from_now(grace_.to_answer);
}

void Supervisor::ask_every(std::chrono::milliseconds interval) {
    interval_ = interval;
    ask_at_ = interval.count() > 0 ? from_now(interval) : Clock::time_point::max();
}

void Supervisor::ask_in_time() {
    if (Clock::now() < ask_at_) return;
    ask_at_ = from_now(interval_);
    if (is_anybody_here()) inquire({});
}

void Supervisor::end_inquiry() {
    if (inquiry_ == 0) return;
    if (Clock::now() < answers_until_ && is_awaited(*world_, inquiry_)) return;
    const auto count = static_cast<int>(children_.size());
    tell_all_(standings(*world_, std::exchange(inquiry_, 0), first_, count));
    if (const auto signal = std::exchange(after_answers_, {})) hand_on(signal);
}

// Of what the terminal sent, the ranks lack what they have left to this process.
void Supervisor::hand_on(SignalGate::Signal signal) {
    if (!signal.is_from_terminal) return kill_all(signal.number);
    for (int rank = 0; rank < world_->nranks(); ++rank) {
        const RankRecord& record = world_->header().ranks[rank];
        const bool is_here = record.state.load(std::memory_order_acquire) == RankState::here;
        if (is_here && signal.number == SIGINT && record.held_back.load()) {
            kill(record.pid.load(std::memory_order_relaxed), signal.number);
        }
    }
}

bool Supervisor::is_anybody_here() const {
    const auto is_here = [](const RankRecord& record) {
        return record.state.load(std::memory_order_acquire) == RankState::here;
    };
    const RankRecord* const ranks = world_->header().ranks;
    return std::any_of(ranks, ranks + world_->nranks(), is_here);
}

// Ranks, and processes that ranks have left behind.
void Supervisor::reap_all_dead() {
    siginfo_t info = {};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        const auto child = std::find_if(children_.begin(), children_.end(), [&](const Child& c) {
            return c.descriptor >= 0 && c.pid == info.si_pid;
        });
        if (child == children_.end()) {
            waitpid(info.si_pid, nullptr, WNOHANG);
        } else {
            reap(static_cast<std::size_t>(child - children_.begin()));
        }
        info.si_pid = 0;
    }
}

// Nobody is there who would wait for them.
void Supervisor::end_all_at_once() {
    for (Child& child : children_) child.ended_by_us = true;
    kill_all(SIGKILL);
    for (std::size_t i = 0; i < children_.size(); ++i) {
        if (children_[i].descriptor >= 0) reap(i);
    }
}

void Supervisor::reap(std::size_t index) {
    Child& child = children_[index];
    const int rank = rank_of(index);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(child.descriptor);
    child.descriptor = -1;
    --running_;
    std::atomic<RankState>& state = world_->header().ranks[rank].state;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        note_failure(rank, kSignalBase + signal, story_of_signal(rank, signal));
    } else if (WEXITSTATUS(status) != 0) {
        note_failure(rank, WEXITSTATUS(status),
                     fmt::format("rank {} ended with status {}", rank, WEXITSTATUS(status)));
    } else if (state.load(std::memory_order_acquire) == RankState::here) {
        note_failure(rank, 1, fmt::format("rank {} ended without leaving its communicator", rank));
    } else {
        world_->dismiss(rank);
    }
}

void Supervisor::note_failure(int rank, int status, std::string story) {
    world_->raise_alarm(rank);
    if (children_[static_cast<std::size_t>(rank - first_)].ended_by_us) return;
    verdict_.status = std::max(verdict_.status, status);
    if (verdict_.first_failed >= 0) return;
    verdict_.first_failed = rank;
    verdict_.story = std::move(story);
    if (tell_failure_) tell_failure_(rank, verdict_.story);
    begin_to_insist();
}

// A rank of which this process is not the parent.
void Supervisor::look_abroad() {
    const int failed = world_->failed_rank();
    if (failed < 0 || insists_) return;
    const bool is_ours = failed >= first_ && failed < rank_of(children_.size());
    if (!is_ours) begin_to_insist();
}

void Supervisor::begin_to_insist() {
    if (std::exchange(insists_, true)) return;
    next_signal_ = SIGTERM;
    insist_at_ = from_now(grace_.before_sigterm);
}

void Supervisor::insist() {
    if (next_signal_ == 0 || Clock::now() < insist_at_) return;
    for (Child& child : children_) child.ended_by_us = child.descriptor >= 0;
    kill_all(next_signal_);
    const bool is_request = next_signal_ == SIGINT;
    next_signal_ = is_request ? SIGTERM : next_signal_ == SIGTERM ? SIGKILL : 0;
    insist_at_ = from_now(is_request ? grace_.before_sigterm : grace_.before_sigkill);
}

void Supervisor::kill_all(int signal) {
    // Not reaped, so the number is still theirs.
    for (const Child& child : children_) {
        if (child.descriptor >= 0) kill(child.pid, signal);
    }
}

// Programs that never connect are nobody's business; so it looks again while no rank is here.
void Supervisor::look_for_late_ranks() {
    const Clock::time_point now = Clock::now();
    if (!tell_ || now < look_at_) return;
    look_at_ = now + grace_.to_connect;
    std::vector<std::string> late;
    std::vector<std::string> processes;
    bool any_here = false;
    for (std::size_t i = 0; i < children_.size(); ++i) {
        const RankState state =
            world_->header().ranks[rank_of(i)].state.load(std::memory_order_relaxed);
        any_here |= state == RankState::here;
        if (state != RankState::absent || children_[i].descriptor < 0) continue;
        late.push_back(std::to_string(rank_of(i)));
        processes.push_back(std::to_string(children_[i].pid));
    }
    if (!any_here) return;
    const auto tell = std::exchange(tell_, nullptr);
    if (late.empty()) return;
    const bool is_one = late.size() == 1;
    tell(fmt::format("after {:.1f} s {} of {} {} not connected ({}); the others wait for {}",
                     std::chrono::duration<double>(now - begin_).count(),
                     counted("rank", "ranks", late), world_->nranks(), is_one ? "has" : "have",
                     counted("process", "processes", processes), is_one ? "it" : "them"));
}

int Supervisor::milliseconds_left() const {
    Clock::time_point next = Clock::time_point::max();
    if (next_signal_ != 0) next = insist_at_;
    next = std::min(next, ask_at_);
    if (tell_) next = std::min(next, look_at_);
    if (inquiry_ != 0) next = std::min(next, from_now(kBetweenAnswers));
    if (Watch::is_set()) next = std::min(next, from_now(Watch::kInterval));
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now());
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kMost));
}

}  // namespace peal::shm
