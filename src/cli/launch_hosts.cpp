// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_hosts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "base/children.hpp"
#include "base/descriptor.hpp"
#include "cli/command_line.hpp"
#include "cli/host_words.hpp"
#include "cli/output_pump.hpp"
#include "cli/start_program.hpp"
#include "hosts/address.hpp"
#include "hosts/secret.hpp"
#include "hosts/waiting.hpp"
#include "peal/error.hpp"
#include "shm/signal_gate.hpp"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = HostWord::Kind;
using base::Descriptor;

constexpr std::chrono::milliseconds kToAnswer{1500};  // a host asks its ranks for a second
constexpr std::chrono::milliseconds kForAgents{3000};
constexpr std::size_t kPiece = 65536;

[[noreturn]] void reject_launch(Fault fault, const std::string& why) {
    throw Error(fault, fmt::format("launch: {}", why));
}

// Nobody may be there to hear it.
void tell_user(const std::string& what) {
    std::fputs(fmt::format("peal: launch: {}\n", what).c_str(), stderr);
}

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char letter : text) out += letter == '\'' ? "'\\''" : std::string(1, letter);
    return out + "'";
}

std::vector<std::string> agent_words(const HostsCommand& command) {
    if (command.agent.empty()) return {"ssh", "-o", "BatchMode=yes", "-T"};
    std::istringstream text(command.agent);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) reject_launch(Fault::usage, "--rsh: expected a command, found nothing");
    return words;
}

// At the first host, under the number that others know it by.
hosts::Address place_to_meet(const HostsCommand& command) {
    if (!command.rendezvous.empty()) {
        const bool has_port = command.rendezvous.find(':') != std::string::npos;
        return has_port ? hosts::address_from(command.rendezvous, "--rendezvous")
                        : hosts::Address{command.rendezvous, 0};
    }
    if (command.shares.size() == 1) return {"127.0.0.1", 0};
    const std::string& first = command.shares[0].host;
    std::string number;
    try {
        number = hosts::number_of(first);
    } catch (const Error& error) {
        reject_launch(Fault::usage,
                      fmt::format("{}; say with --rendezvous under which address of the first host "
                                  "the others reach it",
                                  error.what()));
    }
    if (hosts::is_own_loop(number)) {
        reject_launch(Fault::usage,
                      fmt::format("'{}' is {} here, where no other host reaches it; say with "
                                  "--rendezvous under which address of that host they do",
                                  first, number));
    }
    return {number, 0};
}

// What says how Peal and UCX work, and what the user names.
std::vector<std::string> environment_of(const HostsCommand& command) {
    std::vector<std::string> variables;
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view text = *one;
        if (text.starts_with("PEAL_") || text.starts_with("UCX_")) variables.emplace_back(text);
    }
    for (const std::string& name : command.environment) {
        if (name.find('=') != std::string::npos) {
            variables.push_back(name);
        } else if (const char* const value = std::getenv(name.c_str())) {
            variables.push_back(fmt::format("{}={}", name, value));
        } else {
            reject_launch(Fault::usage, fmt::format("--env: {} is not set here", name));
        }
    }
    return variables;
}

class Conductor {
public:
    Conductor(const HostsCommand& command, int front)
        : command_(command),
          front_(front),
          place_(place_to_meet(command)),
          secret_(hosts::new_secret_text()),
          environment_(environment_of(command)),
          gate_(shm::SignalGate::Children::too) {
        std::signal(SIGPIPE, SIG_IGN);
        std::signal(SIGTTIN, SIG_IGN);  // who is in the background has no keyboard
        for (const HostShare& share : command.shares) hosts_.push_back(start_agent(share));
        give_job(hosts_[0]);
    }
    // Agents that are still there are of no use any more.
    ~Conductor() {
        for (Host& host : hosts_) end_agent(host, Clock::now());
    }
    Conductor(const Conductor&) = delete;
    Conductor& operator=(const Conductor&) = delete;

    int run() {
        while (!is_over()) look_once();
        const int lost = pump_.finish();
        tell_end();
        if (status_ == 0 && lost != 0) {
            reject_launch(Fault::resource,
                          fmt::format("cannot write what the ranks said: {}", std::strerror(lost)));
        }
        // What they hear now is that the launcher is gone.
        for (Host& host : hosts_) host.link.reset();
        const Clock::time_point deadline = Clock::now() + kForAgents;
        for (Host& host : hosts_) end_agent(host, deadline);
        return status_;
    }

private:
    struct Host {
        HostShare share;
        pid_t agent = -1;
        Descriptor agent_end;  // a pidfd
        std::optional<hosts::Link> link;
        bool has_job = false;
        bool has_ended = false;
        Clock::time_point heard = Clock::now();
        std::optional<std::string> standing;
        std::string story, error;  // of its end
    };

    // ---- agents

    Host start_agent(const HostShare& share) const {
        int ends[2] = {-1, -1};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) refuse_agent();
        Descriptor ours(ends[0]), theirs(ends[1]);
        fcntl(ours.get(), F_SETFL, O_NONBLOCK);
        std::vector<std::string> words = agent_words(command_);
        words.push_back(share.host);
        const std::string peal = command_.peal.empty()
                                     ? std::filesystem::read_symlink("/proc/self/exe").string()
                                     : command_.peal;
        words.push_back(fmt::format("exec {} host-side", quoted(peal)));
        const pid_t parent = getpid();
        const pid_t pid = fork();
        if (pid < 0) refuse_agent();
        if (pid == 0) become_agent(parent, theirs.get(), words);
        Host host;
        host.share = share;
        host.agent = pid;
        host.agent_end = Descriptor(base::pidfd_of(pid));
        host.link.emplace(std::move(ours), kLongestWord);
        return host;
    }

    [[noreturn]] static void refuse_agent() {
        reject_launch(Fault::resource,
                      fmt::format("cannot start an agent: {}", std::strerror(errno)));
    }

    // A session of its own: what is typed at the terminal is the launcher's to hand on.
    [[noreturn]] void become_agent(pid_t parent, int channel,
                                   const std::vector<std::string>& words) const {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) raise(SIGKILL);
        setsid();
        gate_.open();
        std::signal(SIGPIPE, SIG_DFL);
        std::signal(SIGTTIN, SIG_DFL);
        dup2(channel, STDIN_FILENO);
        dup2(channel, STDOUT_FILENO);
        const int error = run_program(words);
        fmt::print(stderr, "peal: launch: cannot run '{}': {}\n", words[0], std::strerror(error));
        std::fflush(stderr);
        _exit(kBadUsage);
    }

    void end_agent(Host& host, Clock::time_point deadline) const {
        if (host.agent < 0) return;
        if (!hosts::wait_for(host.agent_end.get(), POLLIN, deadline)) kill(host.agent, SIGKILL);
        while (waitpid(host.agent, nullptr, 0) < 0 && errno == EINTR) {
        }
        host.agent = -1;
    }

    void give_job(Host& host) {
        HostJob job;
        job.share = host.share;
        job.nranks = command_.nranks;
        job.secret = secret_;
        job.listens = &host == hosts_.data();
        job.rendezvous = place_.text();
        if (job.listens) {
            for (const Host& each : hosts_) {
                job.hosts.insert(job.hosts.end(), static_cast<std::size_t>(each.share.count),
                                 each.share.host);
            }
        }
        job.is_prefixed = command_.is_prefixed;
        job.directory = std::filesystem::current_path().string();
        job.environment = environment_;
        job.program = command_.program;
        cli::say(*host.link, word_of(job));
        host.has_job = true;
    }

    // ---- the loop

    bool is_over() const {
        return std::all_of(hosts_.begin(), hosts_.end(),
                           [](const Host& host) { return host.has_ended; });
    }

    void look_once() {
        std::vector<pollfd> watched = {
            {gate_.descriptor(), POLLIN, 0},
            {front_, POLLIN, 0},
            {wants_input() ? STDIN_FILENO : -1, POLLIN, 0},
        };
        const bool is_full = pump_.is_full();
        for (const Host& host : hosts_) {
            const bool is_open = host.link && !host.link->is_over();
            const int events =
                (is_full ? 0 : POLLIN) | (is_open && host.link->has_unsent() ? POLLOUT : 0);
            watched.push_back(
                {is_open ? host.link->descriptor() : -1, static_cast<short>(events), 0});
            watched.push_back({host.has_ended ? -1 : host.agent_end.get(), POLLIN, 0});
        }
        constexpr std::chrono::milliseconds kMost = kBetweenPings;
        const Clock::time_point next =
            command_.report.count() > 0 ? std::min(next_ping_, ask_at_) : next_ping_;
        const int left = std::min(is_full ? 20 : static_cast<int>(kMost.count()),
                                  hosts::milliseconds_until(next));
        poll(watched.data(), watched.size(), asked_ ? std::min(left, 20) : left);
        if (watched[1].revents != 0) end_without_front();
        if (watched[0].revents != 0) take_signals();
        if (watched[2].revents != 0) take_input();
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            hear(hosts_[i], is_full, watched[4 + 2 * i].revents != 0);
        }
        ping();
        ask_in_time();
        if (asked_) tell_standings();
    }

    void hear(Host& host, bool is_full, bool agent_is_gone) {
        if (!host.link) return;
        host.link->flush();
        if (!is_full) host.link->receive();
        while (auto word = next_word(*host.link)) {
            host.heard = Clock::now();
            take(host, *word);
        }
        if (is_full) host.heard = Clock::now();  // nobody listened
        if (host.has_ended) return;
        if (host.link->is_over() || (agent_is_gone && !is_full)) {
            lose(host, how_agent_ended(host));
        } else if (Clock::now() - host.heard > longest_silence() && host.has_job) {
            lose(host, "it does not answer");
        }
    }

    std::string how_agent_ended(Host& host) const {
        constexpr std::chrono::milliseconds kMoment{500};
        int status = 0;
        const bool has_ended =
            hosts::wait_for(host.agent_end.get(), POLLIN, Clock::now() + kMoment) &&
            waitpid(host.agent, &status, WNOHANG) == host.agent;
        if (!has_ended) return "the connection to it ended";
        host.agent = -1;
        const std::string agent = agent_words(command_)[0];
        if (WIFSIGNALED(status)) {
            return fmt::format("{} was killed by signal {} ({})", agent, WTERMSIG(status),
                               strsignal(WTERMSIG(status)));
        }
        return fmt::format("{} ended with status {}", agent, WEXITSTATUS(status));
    }

    void lose(Host& host, const std::string& why) {
        host.has_ended = true;
        host.story = fmt::format("host {} is lost: {}", host.share.host, why);
        host.link.reset();
        note_failure(host, host.share.first, kBadUsage);
    }

    void note_failure(const Host& where, int rank, int status) {
        status_ = std::max(status_, status);
        failed_hosts_.push_back(&where);
        for (Host& host : hosts_) {
            if (&host == &where || !host.link) continue;
            cli::say(*host.link, {Kind::failed, rank});
            // One that has not begun has nothing to end.
            if (!host.has_job) {
                host.has_ended = true;
                host.link.reset();
            }
        }
    }

    void take(Host& host, HostWord word) {
        const std::string text = word.texts.empty() ? "" : word.texts[0];
        switch (word.kind) {
            case Kind::listening: return begin_elsewhere(text);
            case Kind::out: return pump_.put(STDOUT_FILENO, text);
            case Kind::err: return pump_.put(STDERR_FILENO, text);
            case Kind::input: input_is_owed_ = false; return;
            case Kind::standing: host.standing = text; return;
            case Kind::late: return tell_user(fmt::format("host {}: {}", host.share.host, text));
            case Kind::failed: return note_failure(host, word.number, 0);
            case Kind::cannot:
                host.has_ended = true;
                host.story = fmt::format("host {}: {}", host.share.host, text);
                return note_failure(host, host.share.first, kBadUsage);
            case Kind::end:
                host.has_ended = true;
                status_ = std::max(status_, word.number);
                if (word.texts.size() == 2) {
                    host.story =
                        text.empty() ? "" : fmt::format("host {}: {}", host.share.host, text);
                    host.error = word.texts[1];
                }
                return;
            default: return;
        }
    }

    void begin_elsewhere(const std::string& address) {
        place_ = hosts::address_from(address, "--rendezvous");
        for (Host& host : hosts_) {
            if (!host.has_job && host.link) give_job(host);
        }
    }

    void ping() {
        if (Clock::now() < next_ping_) return;
        next_ping_ = Clock::now() + kBetweenPings;
        for (Host& host : hosts_) {
            if (host.link && host.link->unsent() < kPiece) cli::say(*host.link, {Kind::ping});
        }
    }

    // Hosts that lose their launcher end their ranks.
    [[noreturn]] void end_without_front() {
        for (Host& host : hosts_) {
            if (host.agent >= 0) kill(host.agent, SIGKILL);
        }
        std::_Exit(128 + SIGKILL);
    }

    // ---- input and signals

    bool wants_input() const {
        return !input_is_over_ && !input_is_owed_ && hosts_[0].has_job && hosts_[0].link &&
               !hosts_[0].has_ended;
    }

    void take_input() {
        std::string piece(kPiece, '\0');
        const ssize_t bytes = read(STDIN_FILENO, piece.data(), piece.size());
        if (bytes < 0 && errno == EINTR) return;
        piece.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
        input_is_over_ = piece.empty();
        input_is_owed_ = true;
        cli::say(*hosts_[0].link, {Kind::input, -1, {std::move(piece)}});
    }

    void take_signals() {
        while (const auto signal = gate_.next()) {
            if (signal.number == SIGCHLD) continue;
            for (Host& host : hosts_) {
                if (host.link) cli::say(*host.link, {Kind::signal, signal.number});
            }
            if (signal.number != SIGINT && signal.number != SIGQUIT) continue;
            await_standings();
        }
    }

    void await_standings() {
        for (Host& host : hosts_) host.standing.reset();
        asked_ = Clock::now() + kToAnswer;
    }

    void ask_in_time() {
        if (command_.report.count() == 0 || Clock::now() < ask_at_) return;
        ask_at_ = Clock::now() + command_.report;
        for (Host& host : hosts_) {
            if (host.link && host.has_job) cli::say(*host.link, {Kind::standing});
        }
        await_standings();
    }

    // Once, when all have answered or nobody does any more.
    void tell_standings() {
        const auto is_awaited = [](const Host& host) { return !host.has_ended && !host.standing; };
        const bool is_late = Clock::now() >= *asked_;
        if (!is_late && std::any_of(hosts_.begin(), hosts_.end(), is_awaited)) return;
        asked_.reset();
        std::string text;
        for (const Host& host : hosts_) {
            if (!host.standing) continue;
            text += fmt::format(
                "\n host {}:{}", host.share.host,
                host.standing->substr(std::min(host.standing->find('\n'), host.standing->size())));
        }
        if (!text.empty()) tell_user("who waits for whom:" + text);
    }

    // Deaths are told; of errors that ranks have told of, the first, from which the others follow.
    void tell_end() const {
        bool has_told = false;
        std::vector<const Host*> told;
        for (const Host* host : failed_hosts_) {
            if (std::find(told.begin(), told.end(), host) != told.end()) continue;
            told.push_back(host);
            if (!host->story.empty()) tell_user(host->story);
            if (host->error.empty() || std::exchange(has_told, true)) continue;
            tell_user(fmt::format("host {}: {}", host->share.host, host->error));
        }
    }

    const HostsCommand& command_;
    const int front_;
    hosts::Address place_;
    const std::string secret_;
    const std::vector<std::string> environment_;
    shm::SignalGate gate_;
    OutputPump pump_;
    std::vector<Host> hosts_;
    std::vector<const Host*> failed_hosts_;  // in the order in which they failed
    int status_ = 0;
    bool input_is_owed_ = false, input_is_over_ = false;
    Clock::time_point next_ping_ = Clock::now();
    Clock::time_point ask_at_ = Clock::now() + command_.report;
    std::optional<Clock::time_point> asked_;  // until when answers are waited for
};

}  // namespace

int conduct(const HostsCommand& command, int front) { return Conductor(command, front).run(); }

}  // namespace peal::cli
