// SPDX-License-Identifier: Apache-2.0
// peal host-side: what `peal launch --hosts` starts on each host. It makes the memory that the
// ranks of this host share, starts them and looks after them; what it hears and says is in
// host_words.hpp.
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cli/commands.hpp"
#include "cli/front.hpp"
#include "cli/host_channel.hpp"
#include "cli/rank_output.hpp"
#include "cli/start_program.hpp"
#include "hosts/address.hpp"
#include "hosts/rendezvous.hpp"
#include "hosts/variables.hpp"
#include "peal/error.hpp"
#include "shm/membership.hpp"
#include "shm/story.hpp"
#include "shm/supervise.hpp"

namespace peal::cli {
namespace {

using Kind = HostWord::Kind;

// Of a rank, before its program runs.
void set_environment(const HostJob& job) {
    for (const std::string& variable : job.environment) {
        const std::size_t equals = variable.find('=');
        setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    setenv(hosts::kRanksVariable, std::to_string(job.nranks).c_str(), 1);
    setenv(hosts::kRendezvousVariable, job.rendezvous.c_str(), 1);
    setenv(hosts::kSecretVariable, job.secret.c_str(), 1);
    setenv(hosts::kHostVariable, job.share.host.c_str(), 1);
    setenv(hosts::kHubVariable, "launcher", 1);
}

// Status, then the story of a rank that died, or of the error that a rank told.
HostWord end_word(const shm::World& world, const shm::JobEnd& verdict) {
    HostWord word{Kind::end, verdict.status, {"", ""}};
    const bool has_failed = verdict.first_failed >= 0;
    if (has_failed && !world.header().ranks[verdict.first_failed].has_told.load()) {
        word.texts[0] = verdict.story;
    }
    if (const std::optional<shm::Story> story = shm::story_of(world)) {
        word.texts[1] = fmt::format("rank {}: {}", story->rank, story->error);
    }
    return word;
}

class HostSide {
public:
    HostSide(HostChannel& channel, HostJob job) : channel_(channel), job_(std::move(job)) {}

    int run(int front) {
        try {
            if (job_.listens) listen();
            if (chdir(job_.directory.c_str()) != 0) {
                throw Error(Fault::usage, fmt::format("cannot go to directory '{}': {}",
                                                      job_.directory, std::strerror(errno)));
            }
            return look_after_ranks(front);
        } catch (const Error& error) {
            channel_.say({Kind::cannot, -1, {error.what()}});
            channel_.start(front, {[](int) {}, [] {}, [](int) {}});
            channel_.await_end();
            return kBadUsage;
        }
    }

private:
    void listen() {
        hosts::Address address = hosts::address_from(job_.rendezvous, "--rendezvous");
        listener_ = hosts::listen_at(address);
        job_.rendezvous = address.text();
        channel_.say({Kind::listening, -1, {job_.rendezvous}});
    }

    int look_after_ranks(int front) {
        const HostShare& share = job_.share;
        const DescriptorLimit limit;
        const auto world = shm::World::create(job_.nranks);
        RankOutput output(
            {share.first, share.count, job_.is_prefixed},
            [this](int to, std::string_view text) { return channel_.say_output(to, text); });
        ExecReport report;
        const shm::Lifeline lifeline;
        shm::Supervisor supervisor(world, {}, channel_.end_descriptor(), share.first);
        for (int rank = share.first; rank < share.first + share.count; ++rank) {
            supervisor.start([&] {
                set_environment(job_);
                shm::invite(*world, rank, &lifeline);
                output.redirect(rank);
                if (rank == 0) dup2(channel_.input_descriptor(), STDIN_FILENO);
                std::signal(SIGPIPE, SIG_DFL);
                limit.restore();
                report.tell(run_program(job_.program));
                return static_cast<int>(kBadUsage);
            });
        }
        if (const int error = report.first_error(); error != 0) {
            throw Error(Fault::usage,
                        fmt::format("cannot run '{}': {}", job_.program[0], std::strerror(error)));
        }
        std::optional<hosts::Rendezvous> hub;
        if (listener_) {
            hub.emplace(std::move(listener_), hosts::Secret(job_.secret),
                        hosts::Rendezvous::Party{job_.nranks, -1, job_.hosts});
        }
        supervisor.on_failure([this](int rank, const std::string& story) {
            channel_.say({Kind::failed, rank, {story}});
        });
        supervisor.on_late_ranks([this](const std::string& who) {
            channel_.say({Kind::late, -1, {who}});
        });
        supervisor.on_question([this](const std::string& standing) {
            channel_.say({Kind::standing, -1, {standing}});
        });
        output.start();
        channel_.start(front, {
                                  [](int signal) { kill(getpid(), signal); },
                                  [&] { ask(*world); },
                                  [&](int rank) {
                                      world->raise_alarm(rank);
                                      kill(getpid(), SIGCHLD);  // the supervisor looks around
                                  },
                              });
        const shm::JobEnd verdict = supervisor.wait();
        output.finish();
        // Ranks that were ended because nobody stands before us any more have come to no end of
        // their own: the launcher finds this host lost, and tells the others.
        if (!channel_.is_gone()) channel_.say(end_word(*world, verdict));
        channel_.await_end();  // others may still meet here
        return verdict.status;
    }

    // To a supervisor SIGQUIT is a question once somebody is here, and a signal for the ranks
    // before.
    void ask(const shm::World& world) const {
        const HostShare& share = job_.share;
        for (int rank = share.first; rank < share.first + share.count; ++rank) {
            const bool is_here = world.header().ranks[rank].state.load() == shm::RankState::here;
            if (is_here) return void(kill(getpid(), SIGQUIT));
        }
        channel_.say({Kind::standing, -1, {"\n  no rank is connected"}});
    }

    HostChannel& channel_;
    HostJob job_;
    base::Descriptor listener_;
};

int host_side() {
    std::signal(SIGPIPE, SIG_IGN);  // its end is heard of otherwise
    return run_behind_front([](int front) {
        HostChannel channel;
        const std::optional<HostWord> word = channel.await_job();
        if (!word) return static_cast<int>(kBadUsage);
        HostJob job;
        try {
            job = job_from(*word);
        } catch (const Error& error) {
            channel.say({Kind::cannot, -1, {error.what()}});
            throw;
        }
        return HostSide(channel, std::move(job)).run(front);
    });
}

}  // namespace

void add_host_side(CommandLine& line) {
    Command* side =
        line.add_subcommand("host-side", "what peal launch --hosts starts on each host");
    side->footer("Nothing for people: it expects a launcher at its standard input and output.");
    side->hide();
    side->callback([] { return host_side(); });
}

}  // namespace peal::cli
