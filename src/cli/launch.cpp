// SPDX-License-Identifier: Apache-2.0
// peal launch: one program in many processes, one rank each.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/front.hpp"
#include "cli/rank_output.hpp"
#include "comm/settings.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "shm/membership.hpp"
#include "shm/story.hpp"
#include "shm/supervise.hpp"

namespace peal::cli {
namespace {

struct LaunchCommand {
    int nranks = 0;
    bool prefix = false;
    std::string timeout;               // as it was written
    std::vector<std::string> program;  // and its arguments
};

[[noreturn]] void reject(Fault fault, const std::string& message) {
    throw Error(fault, fmt::format("launch: {}", message));
}

// A supervisor needs a few descriptors for each rank. The ranks keep the limit there was.
class DescriptorLimit {
public:
    DescriptorLimit() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit all = before_;
        all.rlim_cur = all.rlim_max;
        setrlimit(RLIMIT_NOFILE, &all);
    }
    void restore() const { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

// Tells the launcher why a program could not be started. An exec that succeeds closes the pipe.
class ExecReport {
public:
    ExecReport() {
        if (pipe2(ends_, O_CLOEXEC) != 0) reject(Fault::resource, std::strerror(errno));
    }
    ~ExecReport() {
        close(ends_[0]);
        close(ends_[1]);
    }
    ExecReport(const ExecReport&) = delete;
    ExecReport& operator=(const ExecReport&) = delete;

    // In a child.
    void tell(int error) const {
        [[maybe_unused]] const ssize_t told = write(ends_[1], &error, sizeof error);
    }

    // In the launcher, when all children are there: 0 once every one of them runs its program.
    int first_error() {
        close(std::exchange(ends_[1], -1));
        int error = 0;
        while (read(ends_[0], &error, sizeof error) < 0 && errno == EINTR) {
        }
        return error;
    }

private:
    int ends_[2] = {-1, -1};
};

void expect_sane(const LaunchCommand& command) {
    if (command.nranks < 1 || command.nranks > kMaxRanks) {
        reject(Fault::usage,
               fmt::format("-n: expected 1..{} ranks, found {}", kMaxRanks, command.nranks));
    }
    if (!command.timeout.empty() && !comm::timeout_from(command.timeout)) {
        reject(Fault::usage, fmt::format("--timeout: expected a time such as 500ms, 30s or 5m, "
                                         "found '{}'",
                                         command.timeout));
    }
    if (command.program.empty()) {
        reject(Fault::usage, "no program to run; write for example: peal launch -n 4 program");
    }
}

// The terminal, or whatever it is, speaks to one rank.
void close_input() {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing > STDIN_FILENO) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
}

// Returns only if the program cannot be started: with the reason.
int run_program(const std::vector<std::string>& program) {
    std::vector<char*> argv;
    for (const std::string& argument : program) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    return errno;
}

// What a person at the terminal can do when nothing happens.
void say_how_to_ask() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr,
               "peal: launch: Ctrl-\\ shows who waits for whom; so does Ctrl-C, before it ends the "
               "ranks\n");
}

// One story: of ranks that ended in an error the first has told why, and the others say what
// follows from it. A rank that ended in another way is named.
void tell_end(const shm::World& world, const shm::JobEnd& verdict) {
    const bool has_failed = verdict.first_failed >= 0;
    if (has_failed && !world.header().ranks[verdict.first_failed].has_told.load()) {
        fmt::print(stderr, "peal: launch: {}\n", verdict.story);
    }
    if (const std::optional<shm::Story> story = shm::story_of(world)) {
        fmt::print(stderr, "peal: launch: rank {}: {}\n", story->rank, story->error);
    }
}

// `front` is a pidfd of the process that the user sees.
int look_after_ranks(const LaunchCommand& command, int front) {
    const DescriptorLimit limit;
    const auto world = shm::World::create(command.nranks);
    std::optional<RankOutput> output;
    if (command.prefix) output.emplace(command.nranks);
    ExecReport report;
    const shm::Lifeline lifeline;
    shm::Supervisor supervisor(world, {}, front);
    for (int rank = 0; rank < command.nranks; ++rank) {
        supervisor.start([&] {
            shm::invite(*world, rank, &lifeline);
            if (output) output->redirect(rank);
            if (rank != 0) close_input();
            limit.restore();
            if (!command.timeout.empty()) {
                setenv(comm::kTimeoutVariable, command.timeout.c_str(), 1);
            }
            report.tell(run_program(command.program));
            return static_cast<int>(kBadUsage);
        });
    }
    if (const int error = report.first_error(); error != 0) {
        reject(Fault::usage,
               fmt::format("cannot run '{}': {}", command.program[0], std::strerror(error)));
    }
    const auto say = [](const std::string& what) {
        fmt::print(stderr, "peal: launch: {}\n", what);
    };
    supervisor.on_late_ranks(say);
    supervisor.on_question(say);
    say_how_to_ask();
    if (output) output->start();
    const shm::JobEnd verdict = supervisor.wait();
    const int lost = output ? output->finish() : 0;
    tell_end(*world, verdict);
    if (lost != 0 && verdict.status == 0) {
        reject(Fault::resource,
               fmt::format("cannot write what the ranks said: {}", std::strerror(lost)));
    }
    return verdict.status;
}

int launch(const LaunchCommand& command) {
    expect_sane(command);
    return run_behind_front([&](int front) { return look_after_ranks(command, front); });
}

}  // namespace

void add_launch(CommandLine& line) {
    auto command = std::make_shared<LaunchCommand>();
    Command* launcher =
        line.add_subcommand("launch", "run a program in several processes that share memory");
    launcher->add_option("-n", command->nranks, "how many processes, one rank each")->required();
    launcher->add_flag("--prefix", command->prefix, "put \"[rank] \" before each line of output");
    launcher->add_option("--timeout", command->timeout,
                         "end calls that wait longer, such as 500ms, 30s or 5m, and say who waits "
                         "for whom (sets PEAL_TIMEOUT)");
    launcher->add_option("program", command->program, "the program and its arguments");
    launcher->footer(
        "Examples:\n"
        "  peal launch -n 4 ./program and its arguments\n"
        "  peal launch -n 2 --prefix ./program\n"
        "  peal launch -n 4 sh -c 'echo rank $PEAL_RANK of $PEAL_NRANKS'");
    launcher->positionals_at_end();  // what follows the program is the program's
    launcher->callback([command] { return launch(*command); });
}

}  // namespace peal::cli
