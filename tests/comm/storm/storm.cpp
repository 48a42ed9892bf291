// SPDX-License-Identifier: Apache-2.0
#include "comm/storm/storm.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <new>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/children.hpp"
#include "comm/storm/calls.hpp"

namespace peal::storm {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMostRanks = 8;
constexpr std::chrono::seconds kDeadline{120};  // a trial takes some milliseconds

class Notes {
public:
    Notes() : notes_(new (shared()) Note[kMostRanks]) {}
    ~Notes() { munmap(notes_, sizeof(Note[kMostRanks])); }
    Notes(const Notes&) = delete;
    Notes& operator=(const Notes&) = delete;
    Note& operator[](int rank) const { return notes_[rank]; }

private:
    static void* shared() {
        void* const memory = mmap(nullptr, sizeof(Note[kMostRanks]), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        return memory;
    }
    Note* notes_;
};

std::set<std::string> shared_files() {
    std::set<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/dev/shm", ignored)) {
        names.insert(entry.path().filename());
    }
    return names;
}

pid_t start(const Trial& trial, const Notes& notes) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    _exit(Communicator::fork(
        trial.nranks, [&](Communicator& comm) { call_all(comm, trial, notes[comm.rank()]); }));
}

// Watches one trial from outside.
class Watch {
public:
    explicit Watch(const Trial& trial)
        : trial_(trial), files_before_(shared_files()), job_(start(trial, notes_)) {
        descriptor_ = base::pidfd_of(job_);
    }
    ~Watch() { close(descriptor_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    std::string complaint() {
        make_trouble();
        if (!has_ended(kDeadline)) return hang();
        waitpid(job_, &status_, 0);
        std::string found = leftovers();
        for (int rank = 0; rank < trial_.nranks && found.empty(); ++rank) found = about(rank);
        return found.empty() ? about_status() : found;
    }

private:
    // ---- trouble that comes from outside

    void make_trouble() {
        const Trouble trouble = trial_.trouble;
        if (trouble != Trouble::kill && trouble != Trouble::stop && trouble != Trouble::orphan) {
            return;
        }
        while (notes_[trial_.victim].call < trial_.when && !has_ended({})) usleep(50);
        usleep(static_cast<useconds_t>(trial_.delay_us));
        if (trouble == Trouble::kill) signal_victim(SIGKILL);
        if (trouble == Trouble::orphan && !has_ended({})) kill(job_, SIGKILL);
        for (int i = 0; trouble == Trouble::stop && i < 3; ++i) {
            signal_victim(SIGSTOP);
            usleep(static_cast<useconds_t>(5 * trial_.delay_us));
            signal_victim(SIGCONT);
            usleep(static_cast<useconds_t>(trial_.delay_us));
        }
    }

    // A process that has finished may be reaped by its parent at any time, and is left alone.
    void signal_victim(int signal) {
        const Note& note = notes_[trial_.victim];
        if (note.state == Note::calling) kill(note.pid, signal);
    }

    // ---- the end

    bool has_ended(std::chrono::milliseconds limit) const {
        pollfd job = {descriptor_, POLLIN, 0};
        return poll(&job, 1, static_cast<int>(limit.count())) > 0;
    }

    std::string hang() {
        std::string text = fmt::format("no end after {} s", kDeadline.count());
        for (int rank = 0; rank < trial_.nranks; ++rank) {
            const Note& note = notes_[rank];
            text += fmt::format("\n  rank {}, process {}: state {}, call {} {}", rank,
                                note.pid.load(), note.state.load(), note.call.load(), note.message);
        }
        kill(job_, SIGKILL);
        waitpid(job_, nullptr, 0);
        leftovers();
        return text;
    }

    // Orphans are this process's children. Those of a killed job are dying; nobody else may be
    // there.
    std::string leftovers() {
        const Clock::time_point deadline = Clock::now() + kDeadline;
        for (;;) {
            int status = 0;
            const pid_t pid = waitpid(-1, &status, WNOHANG);
            if (pid < 0 && errno == ECHILD) break;
            if (pid > 0 && trial_.trouble != Trouble::orphan) {
                return fmt::format("process {} was left behind", pid);
            }
            if (pid == 0 && trial_.trouble != Trouble::orphan) return "a process was left behind";
            if (Clock::now() > deadline) return "processes outlive the one that looked after them";
            if (pid == 0) usleep(200);
        }
        return shared_files() == files_before_ ? "" : "there are other files in /dev/shm";
    }

    std::string about(int rank) const {
        const Note& note = notes_[rank];
        if (note.wrong[0] != '\0') return note.wrong;
        const bool is_victim = rank == trial_.victim;
        switch (trial_.trouble) {
            case Trouble::none:
            case Trouble::stop: return expect(rank, Note::finished, {});
            case Trouble::kill: return is_victim ? "" : expect_told(rank, true);
            case Trouble::mismatch: return expect_told(rank, false);
            case Trouble::leave:
                return is_victim ? expect(rank, Note::finished, {}) : expect_told(rank, false);
            case Trouble::orphan: return "";
        }
        return "";
    }

    std::string expect(int rank, Note::State state, std::string_view hint) const {
        const Note& note = notes_[rank];
        if (note.state == state) return "";
        return fmt::format("rank {} ended in state {}{}: {}", rank, note.state.load(), hint,
                           note.message);
    }

    // A rank that was not told of a death needed no further word of the victim.
    std::string expect_told(int rank, bool of_death) const {
        const Note& note = notes_[rank];
        if (of_death && note.state == Note::finished) return "";
        std::string complaint = expect(rank, Note::told, ", not with an error");
        if (!complaint.empty()) return complaint;
        const std::string_view message = note.message;
        const auto says = [&](std::string_view part) {
            return message.find(part) != std::string_view::npos;
        };
        const bool fits = of_death ? says(" died; ") || says("cannot copy from or to the buffer") ||
                                         says("has failed")
                                   : says("the ranks made different calls:") ||
                                         says("has left the communicator while");
        if (fits) return "";
        return fmt::format("rank {} was told something else: {}", rank, message);
    }

    std::string about_status() const {
        if (trial_.trouble == Trouble::orphan) return "";
        // The signal may find that the victim has just finished, or has even left.
        const bool finished = notes_[trial_.victim].state == Note::finished;
        const bool may_be_killed = trial_.trouble == Trouble::kill;
        const int status = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
        const bool fits =
            may_be_killed ? status == 128 + SIGKILL || (finished && status == 0) : status == 0;
        return fits ? "" : fmt::format("the job ended with status {}", status);
    }

    const Trial& trial_;
    const Notes notes_;
    const std::set<std::string> files_before_;
    const pid_t job_;
    int descriptor_ = -1;
    int status_ = 0;
};

}  // namespace

std::string complaint_about(const Trial& trial) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::string found = Watch(trial).complaint();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    return found.empty() ? found : fmt::format("{}\n{}", to_text(trial), found);
}

}  // namespace peal::storm
