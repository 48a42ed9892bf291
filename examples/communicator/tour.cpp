// SPDX-License-Identifier: Apache-2.0
// What docs/communicator.md shows, as one program.
//
//   peal launch -n 4 tour
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "peal/communicator.hpp"
#include "peal/program.hpp"

namespace {

using peal::Communicator;

// The tour stops where a result is wrong.
void expect(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}

void in_place_and_between(Communicator& comm) {
    const auto ranks = static_cast<std::size_t>(comm.nranks());
    const int rank = comm.rank();

    std::vector<float> gradient(1000, 1.0F);
    comm.allreduce(gradient);                       // in place: the sum of all
    comm.allreduce(gradient, peal::ReduceOp::max);  // or prod, max, min
    float loss = 0.5F;
    comm.allreduce(loss);  // a variable is a vector of one

    const std::vector<double> mine = {1.0 * rank, 2.0 * rank};
    std::vector<double> everybodys(2 * ranks);
    comm.allgather(mine, everybodys);  // from one buffer to another

    std::vector<int> blocks(3 * ranks, rank);
    comm.all_to_all(blocks);    // block d goes to rank d; block s comes from rank s
    comm.broadcast(blocks, 1);  // rank 1's vector, everywhere

    peal::Memory untyped{gradient.data(), gradient.size(), peal::Element::f32};
    comm.allreduce(untyped);  // a pointer and a type that is known only at run time

    const auto n = static_cast<float>(ranks);
    expect(gradient.front() == n * n, "allreduce");
    expect(everybodys.back() == 2.0 * (comm.nranks() - 1), "allgather");
    expect(blocks.front() == 0 && blocks.back() == comm.nranks() - 1, "all_to_all");
}

void neighbours(Communicator& comm) {
    const auto ranks = static_cast<std::size_t>(comm.nranks());
    const int rank = comm.rank();
    const std::size_t left = (static_cast<std::size_t>(rank) + ranks - 1) % ranks;
    const std::size_t right = (static_cast<std::size_t>(rank) + 1) % ranks;

    std::vector<std::int64_t> halo(ranks, 0);  // two elements to each neighbour, and from it
    halo[left] = halo[right] = 2;
    std::vector<double> edges(2 * ranks, 1.0 * rank), theirs(2 * ranks);
    comm.all_to_all_v(edges, theirs, peal::Pieces{halo}, peal::Pieces{halo});

    expect(theirs.front() == 1.0 * static_cast<double>(std::min(left, right)), "all_to_all_v");
}

void messages(Communicator& comm) {
    const int ranks = comm.nranks(), rank = comm.rank();
    const auto useful_work = [] {};

    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    const std::vector<float> mine(1000, 1.0F * static_cast<float>(rank));
    std::vector<float> theirs(1000);
    if (rank % 2 == 0) comm.send(mine, right);
    comm.recv(theirs, left);
    if (rank % 2 == 1) comm.send(mine, right);

    comm.sendrecv(mine, right, theirs, left);  // both at once: nobody has to be first

    peal::Pending coming = comm.start_recv(theirs, left);
    peal::Pending going = comm.start_send(mine, right);
    useful_work();
    coming.wait();
    going.wait();

    std::vector<double> row(12, rank);  // ten cells, and one of each neighbour's
    const std::span cells(row);
    comm.exchange({{left, cells.subspan(1, 1), cells.subspan(0, 1)},
                   {right, cells.subspan(10, 1), cells.subspan(11, 1)}});

    expect(theirs.back() == static_cast<float>(left), "messages");
    expect(row.front() == left && row[1] == rank && row.back() == right, "exchange");
}

void started_and_prepared(Communicator& comm) {
    std::vector<float> first(1000, 1.0F), second(1000, 2.0F);
    const auto useful_work = [] {};

    peal::Pending a = comm.start_allreduce(first);
    peal::Pending b = comm.start_allreduce(second);  // several may be under way
    useful_work();                                   // `first` and `second` belong to the calls
    b.wait();                                        // `a` was started before, so it is done too
    a.wait();

    peal::Prepared step = comm.prepare_allreduce(first);
    for (int i = 0; i < 3; ++i) step.run();  // or step.start(), then wait()

    const auto n = static_cast<float>(comm.nranks());
    expect(first.front() == n * n * n * n && second.front() == 2 * n, "started and prepared");
}

void windows(Communicator& comm) {
    peal::Window<float> window = comm.window<float>(1 << 20);  // on every rank, zeroed
    std::fill(window.span().begin(), window.span().end(), 1.0F);
    comm.allreduce(window);  // in the window itself: nothing is staged

    expect(window[0] == static_cast<float>(comm.nranks()), "allreduce in a window");
}

void halves(Communicator& comm) {
    Communicator half = comm.split(comm.rank() % 2);  // the even ranks, and the odd ones
    std::array<int, 1> ranks = {comm.rank()};
    half.allreduce(ranks);

    int expected = 0;
    for (int r = comm.rank() % 2; r < comm.nranks(); r += 2) expected += r;
    expect(ranks[0] == expected, "split");
}

constexpr const char* kProgram = R"(
kernel shift(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    barrier(sig)
    out = data@((rank + 1) % nranks)
    barrier(sig)
}
)";

void kernels(Communicator& comm) {
    const auto source = std::make_shared<peal::Source>("shift.peal", kProgram);
    const peal::ir::Program program = peal::parse(source);  // or parse_file("shift.peal")
    peal::Bindings sizes;
    sizes.integers["n"] = 100;
    const peal::Kernel shift = comm.kernel(program, "shift", sizes);
    const peal::Window<float> data = comm.window<float>(100);
    const peal::WindowMemory signals = comm.signals(static_cast<std::uint64_t>(comm.nranks()));

    const std::vector<float> mine(100, static_cast<float>(comm.rank()));
    std::vector<float> neighbours(100);
    comm.run(shift, mine, neighbours, data, signals);

    expect(neighbours[99] == static_cast<float>((comm.rank() + 1) % comm.nranks()), "kernel");
}

}  // namespace

int main() {
    Communicator comm = Communicator::connect();
    in_place_and_between(comm);
    neighbours(comm);
    if (comm.nranks() > 1) messages(comm);
    started_and_prepared(comm);
    windows(comm);
    halves(comm);
    kernels(comm);
    comm.barrier();
    if (comm.rank() == 0) std::printf("%d ranks: all as expected\n", comm.nranks());
}
