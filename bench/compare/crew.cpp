// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "contender_main.hpp"
#include "meeting.hpp"
#include "process.hpp"

namespace peal::bench {
namespace {

constexpr double kStartSeconds = 30;
constexpr double kAnswerSeconds = 30;
constexpr int kLeaveMs = 3000;
constexpr std::size_t kLongestAnswer = 1 << 16;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

int listen_at(const std::string& path, int backlog) {
    const int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    if (bind(door, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        listen(door, backlog) != 0) {
        throw CrewTrouble("cannot listen at " + path);
    }
    return door;
}

bool ready(int descriptor, double deadline) {
    pollfd poll_for{descriptor, POLLIN, 0};
    const double left = std::max(0.0, deadline - now());
    return poll(&poll_for, 1, static_cast<int>(left * 1000)) == 1;
}

std::string receive(int line) {
    std::string text(kLongestAnswer, '\0');
    const ssize_t length = recv(line, text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
}

// The ranks agree on the batches, so all answers have as many.
std::vector<double> slowest_rank_ns(const std::vector<Answer>& answers) {
    std::vector<double> slowest(answers.front().batches.size());
    for (const Answer& answer : answers) {
        for (std::size_t i = 0; i < slowest.size(); ++i) {
            const BatchTime& time = answer.batches.at(i);
            slowest[i] = std::max(slowest[i], static_cast<double>(time.end_ns - time.begin_ns) /
                                                  static_cast<double>(answer.calls));
        }
    }
    return slowest;
}

std::vector<double> first_to_last_ns(const std::vector<Answer>& answers) {
    std::vector<BatchTime> all = answers.front().batches;
    for (const Answer& answer : answers) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].begin_ns = std::min(all[i].begin_ns, answer.batches.at(i).begin_ns);
            all[i].end_ns = std::max(all[i].end_ns, answer.batches.at(i).end_ns);
        }
    }
    std::vector<double> spans;
    for (const BatchTime& time : all) {
        spans.push_back(static_cast<double>(time.end_ns - time.begin_ns));
    }
    return spans;
}

}  // namespace

Crew::Crew(const Entry& entry, int nranks, const std::string& directory)
    : nranks_(nranks), log_(directory + "/log"), ranks_(static_cast<std::size_t>(nranks)) {
    std::filesystem::create_directory(directory);
    make_hall(hall_path(directory));
    door_ = listen_at(socket_path(directory), nranks);
    try {
        start(entry, directory);
        gather();
    } catch (...) {
        for (const pid_t pid : launched_) end_group(pid);
        close(door_);
        throw;
    }
}

void Crew::start(const Entry& entry, const std::string& directory) {
    const int programs = entry.has_launcher() ? 1 : nranks_;
    for (int rank = 0; rank < programs; ++rank) {
        launched_.push_back(spawn(command(entry, directory, rank, nranks_), log_));
    }
}

void Crew::gather() {
    const double deadline = now() + kStartSeconds;
    for (int here = 0; here < nranks_;) {
        if (ready(door_, std::min(deadline, now() + 0.05))) {
            greet(accept4(door_, nullptr, nullptr, SOCK_CLOEXEC));
            ++here;
            continue;
        }
        const bool gone = std::any_of(launched_.begin(), launched_.end(),
                                      [](pid_t pid) { return has_ended(pid, 0); });
        if (gone || now() > deadline) throw CrewTrouble("did not start: " + last_words());
    }
}

void Crew::greet(int line) {
    int rank = -1;
    int pid = 0;
    const std::string hello = receive(line);
    if (std::sscanf(hello.c_str(), "%d %d", &rank, &pid) != 2 || rank < 0 || rank >= nranks_) {
        throw CrewTrouble("an unknown greeting: " + hello);
    }
    ranks_[static_cast<std::size_t>(rank)] = {line, pid};
}

Crew::~Crew() {
    for (const Rank& rank : ranks_) close(rank.line);
    close(door_);
    for (const pid_t pid : launched_) {
        if (!has_ended(pid, kLeaveMs)) {
            // A launcher may have put its ranks into groups of their own.
            for (const Rank& rank : ranks_) kill(rank.pid, SIGKILL);
        }
        end_group(pid);
    }
}

Measurement Crew::measure(const Order& order) {
    const std::string text = print(order);
    for (const Rank& rank : ranks_) send(rank.line, text.data(), text.size(), MSG_NOSIGNAL);
    const double deadline = now() + kAnswerSeconds;
    Measurement measured;
    std::vector<Answer> answers;
    for (int rank = 0; rank < nranks_; ++rank) {
        answers.push_back(hear(rank, deadline));
        if (!answers.back().trouble.empty()) throw CrewTrouble(answers.back().trouble);
        measured.cpu_seconds += answers.back().cpu_seconds;
    }
    measured.batches_ns = order.cold ? first_to_last_ns(answers) : slowest_rank_ns(answers);
    return measured;
}

Answer Crew::hear(int rank, double deadline) {
    const int line = ranks_[static_cast<std::size_t>(rank)].line;
    if (!ready(line, deadline)) throw CrewTrouble(fmt::format("rank {} hangs", rank));
    const std::string text = receive(line);
    if (text.empty()) throw CrewTrouble(fmt::format("rank {} died: {}", rank, last_words()));
    return parse_answer(text);
}

std::string Crew::last_words() const {
    std::ifstream log(log_);
    std::string last;
    for (std::string line; std::getline(log, line);) {
        if (line.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) last = line;
    }
    return last.empty() ? "no word" : last;
}

}  // namespace peal::bench
