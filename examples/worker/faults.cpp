// SPDX-License-Identifier: Apache-2.0
// What a worker says when tasks wait for each other, a device dies, or a kernel is wrong.
//
//   faults deadlock|death|refused
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "peal/program.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;
using namespace std::chrono_literals;

DeviceKernel kernel_of(const char* name, const char* text) {
    return DeviceKernel(parse(std::make_shared<Source>(name, text)));
}

Domain pair_of(Worker& worker) {
    return worker.allocate_domain(
        {.name = "pair",
         .windows = {{.name = "data", .shape = {4}},
                     {.name = "sig", .element = Element::i32, .cells = 2}}});
}

constexpr const char* kAnswer = R"(kernel answer(sig: window i32[nranks]) {
    wait sig[1 - rank] >= 1
    notify sig[rank]@(1 - rank) = 1
}
)";

// Each waits for the other to begin.
void deadlock() {
    Worker worker({.ranks = 2});
    const Domain pair = pair_of(worker);
    const DeviceKernel answer = kernel_of("answer.peal", kAnswer);
    const Task left = worker.submit(answer, 0, {pair["sig"]}, {.name = "left"});
    const Task right = worker.submit(answer, 1, {pair["sig"]}, {.name = "right"});
    left.wait();
}

constexpr const char* kMeet = R"(kernel meet(sig: window i32[nranks]) {
    notify sig[rank]@(1 - rank) = generation(sig) + 1
    wait sig[1 - rank] >= generation(sig) + 1
    advance sig by 1
}
)";

// Rank 1 dies while it waits for rank 0. New devices do better.
void death() {
    Worker worker({.ranks = 2});
    const Domain pair = pair_of(worker);
    const DeviceKernel meet = kernel_of("meet.peal", kMeet);

    const Task early = worker.submit(meet, 1, {pair["sig"]}, {.name = "early"});
    std::this_thread::sleep_for(100ms);  // by now it waits
    kill(worker.process_of(1), SIGKILL);
    while (worker.state() == WorkerState::ready) std::this_thread::sleep_for(1ms);
    try {
        early.wait();
    } catch (const Error& error) {
        std::printf("%s\n", error.what());
    }

    worker.restart();  // new devices; windows are zero again, tensors are as they were
    worker.submit_group(meet, pair, {{pair["sig"]}, {pair["sig"]}}).wait();
    std::printf("after restart() they meet\n");
}

constexpr const char* kHasty = R"(kernel hasty(inp: in f32[n], out: out f32[n],
             data: window f32[n], sig: window i32[nranks]) {
    data = inp
    notify sig[rank]@(1 - rank) = generation(sig) + 1
    out = data@(1 - rank)
    wait sig[1 - rank] >= generation(sig) + 1
    advance sig by 1
}
)";

// It reads the peer's data before it knows that they are there.
void refused() {
    Worker worker({.ranks = 2, .check = true});
    const Domain pair = pair_of(worker);
    const DeviceKernel hasty = kernel_of("hasty.peal", kHasty);
    std::vector<float> a(4), b(4), c(4), d(4);
    worker.submit_group(hasty, pair,
                        {{Tensor(a), Tensor(b), pair["data"], pair["sig"]},
                         {Tensor(c), Tensor(d), pair["data"], pair["sig"]}});
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view how = argc == 2 ? argv[1] : "";
    try {
        if (how == "deadlock") return deadlock(), 0;
        if (how == "death") return death(), 0;
        if (how == "refused") return refused(), 0;
    } catch (const Error& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: faults deadlock|death|refused\n");
    return 2;
}
