// SPDX-License-Identifier: Apache-2.0
// What happens when the ranks disagree, one dies, or one does not come. Rank 0 tells.
//
//   peal launch -n 2 faults mismatch|death|timeout
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "peal/communicator.hpp"
#include "peal/error.hpp"

namespace {

using namespace std::chrono_literals;
using peal::Communicator;

void mismatch(Communicator& comm) {
    std::vector<float> buffer(comm.rank() == 1 ? 999 : 1000);
    comm.allreduce(buffer);
}

void death(Communicator& comm) {
    std::vector<float> buffer(1000);
    comm.allreduce(buffer);
    if (comm.rank() == 1) {
        std::this_thread::sleep_for(200ms);  // by now the others wait
        std::raise(SIGKILL);
    }
    comm.allreduce(buffer);
}

void timeout(Communicator& comm) {
    comm.set_timeout(200ms);
    if (comm.rank() == 1) std::this_thread::sleep_for(1s);
    comm.barrier();
}

void fail(Communicator& comm, std::string_view how) {
    if (how == "mismatch") mismatch(comm);
    if (how == "death") death(comm);
    if (how == "timeout") timeout(comm);
}

}  // namespace

int main(int argc, char** argv) {
    Communicator comm = Communicator::connect();
    try {
        fail(comm, argc > 1 ? argv[1] : "");
    } catch (const peal::Error& error) {
        if (comm.rank() == 0) std::printf("%s\n", error.what());
    }
}
