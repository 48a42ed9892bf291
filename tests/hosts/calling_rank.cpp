// SPDX-License-Identifier: Apache-2.0
// A rank that calls its communicator until it hears why it cannot: says when it is connected and
// has made its first calls, and then the error, with how long after the file $PEAL_CUT was written
// it came. What it calls is said on the command line; "recipes" says which profile and recipes it
// has instead.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/since_cut.hpp"
#include "peal/communicator.hpp"

namespace {

using peal::Communicator;

// Rank 0 computes, and so hears nothing of the net, and the others wait for it.
void wait_for_first(Communicator& comm) {
    if (comm.rank() == 0) peal::test::wait_for_cut();
    comm.barrier();
}

void pass_on(Communicator& comm) {
    const int next = (comm.rank() + 1) % comm.nranks();
    const int last = (comm.rank() + comm.nranks() - 1) % comm.nranks();
    int sent = comm.rank(), received = 0;
    if (comm.rank() == 0) comm.send(sent, next);
    comm.recv(received, last);
    if (comm.rank() != 0) comm.send(sent, next);
}

void call(Communicator& comm, std::string_view what) {
    static std::vector<float> some(10), many(1 << 20);
    if (what == "some") comm.allreduce(some);
    if (what == "many") comm.allreduce(many);
    if (what == "messages") pass_on(comm);
    if (what == "waiting") wait_for_first(comm);
}

// Of allreduce and broadcast, from little data to much.
void say_recipes(Communicator& comm) {
    std::string text(comm.profile());
    text += ":";
    for (const std::size_t bytes : {64, 65536, 4 << 20}) {
        std::vector<float> buffer(bytes / sizeof(float));
        text += " " + comm.recipe(peal::call::allreduce(buffer));
        text += " " + comm.recipe(peal::call::broadcast(buffer, 0));
    }
    fmt::print("{}\n", text);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    const char* const told = std::getenv("PEAL_RANK");
    const std::string rank = told == nullptr ? "?" : told;
    try {
        Communicator comm = Communicator::connect();
        if (what == "recipes") return say_recipes(comm), 0;
        if (what != "waiting") call(comm, what);
        fmt::print("rank {} is here\n", rank);
        std::fflush(stdout);
        for (;;) call(comm, what);
    } catch (const std::exception& error) {
        const std::string_view story = error.what();
        fmt::print("rank {} heard: {}{}\n", rank, story.substr(0, story.find('\n')),
                   peal::test::since_cut() > 3 ? ", late" : "");
    }
    return 1;
}
