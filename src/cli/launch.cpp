// SPDX-License-Identifier: Apache-2.0
// peal launch: one program in many processes, one rank each.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/front.hpp"
#include "cli/launch_hosts.hpp"
#include "cli/rank_output.hpp"
#include "cli/start_program.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "shm/membership.hpp"
#include "shm/story.hpp"
#include "shm/supervise.hpp"
#include "shm/timeout.hpp"

namespace peal::cli {
namespace {

struct LaunchCommand {
    int nranks = 0;
    bool prefix = false;
    std::string timeout, report;       // as they were written
    std::vector<std::string> program;  // and its arguments
    std::string hosts;                 // as they were written
    std::string agent, peal, rendezvous;
    std::vector<std::string> environment;
};

[[noreturn]] void reject(Fault fault, const std::string& message) {
    throw Error(fault, fmt::format("launch: {}", message));
}

void expect_sane(const LaunchCommand& command) {
    if (command.nranks < 1 || command.nranks > kMaxRanks) {
        reject(Fault::usage,
               fmt::format("-n: expected 1..{} ranks, found {}", kMaxRanks, command.nranks));
    }
    for (const auto& [name, text] :
         {std::pair("--timeout", command.timeout), std::pair("--report", command.report)}) {
        if (text.empty() || shm::timeout_from(text)) continue;
        reject(Fault::usage,
               fmt::format("{}: expected a time such as 500ms, 30s or 5m, found '{}'", name, text));
    }
    if (command.program.empty()) {
        reject(Fault::usage, "no program to run; write for example: peal launch -n 4 program");
    }
}

// How often the ranks are asked where they stand; zero is never.
std::chrono::milliseconds report_interval(const LaunchCommand& command) {
    return shm::timeout_from(command.report).value_or(std::chrono::milliseconds(0));
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
    if (command.prefix) output.emplace(RankOutput::Ranks{0, command.nranks});
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
                setenv(shm::kTimeoutVariable, command.timeout.c_str(), 1);
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
    supervisor.ask_every(report_interval(command));
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

int launch_on_hosts(const LaunchCommand& command) {
    HostsCommand job;
    job.shares = shares_of(command.hosts, command.nranks);
    job.nranks = command.nranks;
    job.agent = command.agent;
    job.peal = command.peal;
    job.rendezvous = command.rendezvous;
    job.is_prefixed = command.prefix;
    job.environment = command.environment;
    if (!command.timeout.empty()) {
        job.environment.push_back(fmt::format("{}={}", shm::kTimeoutVariable, command.timeout));
    }
    job.report = report_interval(command);
    job.program = command.program;
    say_how_to_ask();
    return run_behind_front([&](int front) { return conduct(job, front); });
}

void expect_no_options_of_hosts(const LaunchCommand& command) {
    const std::pair<const char*, bool> options[] = {{"--rsh", !command.agent.empty()},
                                                    {"--peal", !command.peal.empty()},
                                                    {"--rendezvous", !command.rendezvous.empty()},
                                                    {"--env", !command.environment.empty()}};
    for (const auto& [name, is_given] : options) {
        if (is_given) reject(Fault::usage, fmt::format("{} is for --hosts", name));
    }
}

int launch(const LaunchCommand& command) {
    expect_sane(command);
    if (!command.hosts.empty()) return launch_on_hosts(command);
    expect_no_options_of_hosts(command);
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
    launcher->add_option("--report", command->report,
                         "print every so often, such as 30s, who waits for whom");
    launcher
        ->add_option("--hosts", command->hosts,
                     "on which hosts, in blocks: a,b or with places a:3,b:5")
        ->group("Several hosts");
    launcher
        ->add_option("--rsh", command->agent,
                     "what starts a command on a host, called with the host and the command; "
                     "unless said: ssh")
        ->group("Several hosts");
    launcher->add_option("--peal", command->peal, "where this command is on the hosts")
        ->group("Several hosts");
    launcher
        ->add_option("--rendezvous", command->rendezvous,
                     "the address of the first host at which the ranks meet, host or host:port")
        ->group("Several hosts");
    launcher
        ->add_option("--env", command->environment,
                     "a variable for the ranks, NAME or NAME=value; PEAL_ and UCX_ ones have it")
        ->one_value_each()
        ->group("Several hosts");
    launcher->add_option("program", command->program, "the program and its arguments");
    launcher->footer(
        "Examples:\n"
        "  peal launch -n 4 ./program and its arguments\n"
        "  peal launch -n 2 --prefix ./program\n"
        "  peal launch -n 8 --hosts node1,node2 ./program\n"
        "  peal launch -n 4 --timeout 30s ./program\n"
        "  peal launch -n 4 sh -c 'echo rank $PEAL_RANK of $PEAL_NRANKS'");
    launcher->positionals_at_end();  // what follows the program is the program's
    launcher->callback([command] { return launch(*command); });
}

}  // namespace peal::cli
