// SPDX-License-Identifier: Apache-2.0
// What happens when the ranks disagree, one dies, one does not come, or all wait for each other.
//
//   peal launch -n 2 faults mismatch|death|timeout|deadlock|hang
//   peal launch -n 4 faults uncaught
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "peal/communicator.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"

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

constexpr const char* kProgram = R"(
kernel swap(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    let other = (rank + 1) % nranks
    wait sig[other] >= 1
    data@other = inp
    notify sig@other[rank] += 1
    out = data
}
)";

// Each waits for the other's data before it sends its own. `peal check` finds it too.
void deadlock(Communicator& comm) {
    const auto source = std::make_shared<peal::Source>("swap.peal", kProgram);
    peal::Bindings sizes;
    sizes.integers["n"] = 8;
    const peal::Kernel swap = comm.kernel(peal::parse(source), "swap", sizes);
    const peal::Window<float> data = comm.window<float>(8);
    const peal::WindowMemory signals = comm.signals(static_cast<std::uint64_t>(comm.nranks()));
    const std::vector<float> mine(8, 1.0F);
    std::vector<float> theirs(8);
    comm.run(swap, mine, theirs, data, signals);
}

// Each looks for a message of the other again and again. Nobody can know that neither will send one
// instead.
void hang(Communicator& comm) {
    float message = 0;
    comm.barrier();
    peal::Pending pending = comm.start_recv(message, 1 - comm.rank());
    while (!pending.test()) std::this_thread::sleep_for(1ms);
}

void fail(Communicator& comm, std::string_view how) {
    if (how == "hang") hang(comm);
    if (how == "deadlock") deadlock(comm);
    if (how == "mismatch") mismatch(comm);
    if (how == "death") death(comm);
    if (how == "timeout") timeout(comm);
}

}  // namespace

int main(int argc, char** argv) {
    Communicator comm = Communicator::connect();
    const std::string_view how = argc > 1 ? argv[1] : "";
    if (how == "uncaught") mismatch(comm);
    try {
        fail(comm, how);
    } catch (const peal::Error& error) {
        if (comm.rank() == 0) std::printf("%s\n", error.what());
    }
}
