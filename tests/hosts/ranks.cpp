// SPDX-License-Identifier: Apache-2.0
#include "hosts/ranks.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <stdexcept>

#include "peal/error.hpp"

namespace peal::test {
namespace {

struct Child {
    pid_t pid = -1;
    base::Descriptor heard;
};

std::string all_from(int descriptor) {
    std::string text;
    char piece[4096];
    for (ssize_t bytes; (bytes = read(descriptor, piece, sizeof piece)) > 0;) {
        text.append(piece, static_cast<std::size_t>(bytes));
    }
    return text;
}

Child start(const std::function<std::string()>& body) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        std::string text;
        try {
            text = body();
        } catch (const std::exception& error) {
            text = std::string("error: ") + error.what();
        }
        [[maybe_unused]] const ssize_t written = write(ends[1], text.data(), text.size());
        _exit(0);
    }
    close(ends[1]);
    return {pid, base::Descriptor(ends[0])};
}

}  // namespace

void NeedsSecret::SetUp() {
    try {
        hosts::new_secret_text();
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
}

std::vector<std::string> told_by_ranks(int nranks,
                                       const std::function<std::string(int rank)>& body) {
    std::vector<Child> children;
    for (int rank = 0; rank < nranks; ++rank) {
        children.push_back(start([&] { return body(rank); }));
    }
    std::vector<std::string> told;
    for (const Child& child : children) {
        told.push_back(all_from(child.heard.get()));
        int status = 0;
        waitpid(child.pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) told.back() = "died";
    }
    return told;
}

Venue::Venue(int nranks, Hub hub, const std::string& host) : nranks_(nranks) {
    address.host = host;
    listener_ = hosts::listen_at(address);
    if (hub == Hub::with_first_rank) return;
    hub_ = fork();
    if (hub_ == 0) {
        std::vector<std::string> hosts;
        for (int rank = 0; rank < nranks; ++rank) hosts.push_back("host" + std::to_string(rank));
        const hosts::Rendezvous rendezvous(std::move(listener_), hosts::Secret(secret),
                                           {nranks, -1, hosts});
        for (;;) pause();
    }
    listener_.reset();
}

Venue::~Venue() {
    if (hub_ < 0) return;
    kill(hub_, SIGKILL);
    waitpid(hub_, nullptr, 0);
}

hosts::Invitation Venue::invitation(int rank) const {
    hosts::Invitation invitation;
    invitation.rank = rank;
    invitation.nranks = nranks_;
    invitation.address = address;
    invitation.secret = secret;
    invitation.host = "host" + std::to_string(rank);
    invitation.to_meet = timeout;
    return invitation;
}

std::unique_ptr<hosts::Guest> Venue::come(int rank) {
    std::unique_ptr<hosts::Rendezvous> hub;
    if (hub_ < 0 && rank == 0) {
        hub = std::make_unique<hosts::Rendezvous>(std::move(listener_), hosts::Secret(secret),
                                                  hosts::Rendezvous::Party{nranks_, 0, {}});
    }
    listener_.reset();
    return std::make_unique<hosts::Guest>(invitation(rank), std::move(hub));
}

}  // namespace peal::test
