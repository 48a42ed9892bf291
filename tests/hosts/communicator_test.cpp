// SPDX-License-Identifier: Apache-2.0
// The communicator of a job on several hosts gives what one on one machine gives.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "comm/script.hpp"
#include "hosts/several_hosts.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"
#include "peal/source.hpp"
#include "shm/shared.hpp"

namespace peal::hosts {
namespace communicator_test {

using comm::test::Attempt;
using comm::test::Task;
using comm::test::task_of;

using Layout = std::vector<int>;  // ranks of each host

struct Place {
    Layout ranks;
    bool is_direct = false;
};

class OnHosts : public testing::TestWithParam<Place> {
protected:
    void SetUp() override {
        if (const std::string why = test::why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }
    static void run(const std::function<void(Communicator&)>& body) {
        const test::Wires wires = {.are_direct = GetParam().is_direct};
        EXPECT_EQ(test::run_on_hosts(GetParam().ranks, body, wires).text(), "");
    }
};

TEST_P(OnHosts, AnAllreduceOfAnyLengthIsRight) {
    run([](Communicator& comm) {
        unsigned seed = 0;
        for (const std::uint64_t count : {0, 1, 3, 12, 13, 100, 1000, 5000, 40000, 200001}) {
            comm::test::attempt<std::int32_t>(
                comm, task_of(CollectiveKind::allreduce, comm.nranks(), count, seed++));
        }
    });
}

TEST_P(OnHosts, EveryCollectiveIsRight) {
    run([](Communicator& comm) {
        unsigned seed = 0;
        for (const CollectiveKind kind : kCollectives) {
            for (const std::uint64_t count : {0, 1, 13, 300, 30001}) {
                comm::test::attempt<double>(comm, task_of(kind, comm.nranks(), count, seed++));
            }
        }
    });
}

// One of the types of elements.
template <ElementType... T>
void attempt_of_type(std::size_t type, Communicator& comm, Task task) {
    const Element element = std::array{element_of<T>...}[type];
    task.with_negatives = !is_unsigned(element);
    const bool is_narrow = element == Element::bf16 || element == Element::f16;
    if (is_narrow && task.op == ReduceOp::prod) task.op = ReduceOp::min;  // too much for its bits
    std::size_t i = 0;
    ((i++ == type ? comm::test::attempt<T>(comm, task) : void()), ...);
}

// Each collective with all of them, in lengths that fill no line.
TEST_P(OnHosts, OfEveryTypeAndOddLengths) {
    run([](Communicator& comm) {
        unsigned seed = 0;
        std::size_t type = 0;
        for (const CollectiveKind kind : kCollectives) {
            ++type;  // so that each has other lengths in the next
            for (std::size_t i = 0; i < kElements.size(); ++i) {
                const std::uint64_t count = std::array{7, 61, 4099}[i % 3];
                attempt_of_type<f16, bf16, float, double, std::int8_t, std::int16_t, std::int32_t,
                                std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                                std::uint64_t>(type++ % kElements.size(), comm,
                                               task_of(kind, comm.nranks(), count, seed++));
            }
        }
    });
}

// On communicators in which ranks have other numbers, and of ranks of all hosts and of one.
TEST_P(OnHosts, RandomSequencesOfCalls) {
    run([](Communicator& comm) {
        Communicator reversed = comm.split(0, -comm.rank());
        Communicator half = comm.split(comm.rank() % 2);
        comm::test::Script script(21, comm.nranks()), script_of_half(22, half.nranks());
        for (int i = 0; i < 60; ++i) {
            const bool in_place = (i + comm.rank()) % 3 == 0;
            comm::test::make(script.number(2) == 0 ? comm : reversed, script.next(), in_place);
            if (i % 2 == 0) comm::test::make(half, script_of_half.next(), in_place);
        }
    });
}

// Whoever is through with a call does something else, and nobody's call waits for that.
TEST_P(OnHosts, ACallNeedsNobodyWhoIsThroughWithIt) {
    if (GetParam().is_direct)
        GTEST_SKIP() << "over TCP UCX needs the other rank for each operation";
    struct Ended {
        std::atomic<int> calls = 0;
    };
    const shm::test::Shared<Ended> ended;
    run([&](Communicator& comm) {
        int calls = 0;
        for (const CollectiveKind kind : kCollectives) {
            for (const std::uint64_t count : {1, 300, 30001}) {
                comm::test::attempt<float>(comm, task_of(kind, comm.nranks(), count, 0));
                ended->calls.fetch_add(1);
                calls += comm.nranks();
                while (ended->calls.load() < calls) std::this_thread::yield();
            }
        }
    });
}

TEST_P(OnHosts, SoItIsOnWindows) {
    run([](Communicator& comm) {
        unsigned seed = 0;
        for (const CollectiveKind kind : kCollectives) {
            if (!Attempt<float>::works_in_window(kind)) continue;
            for (const std::uint64_t count : {1, 13, 300, 30001}) {
                const Task task = task_of(kind, comm.nranks(), count, seed++);
                const Attempt<float> call(comm, task);
                const auto window = comm.window<float>(Attempt<float>::window_size(task));
                call.in_window(window);
                call.in_window(window);
            }
        }
    });
}

// The ranks of a host, the first, second and so on of every host, all, and every other one.
TEST_P(OnHosts, PartsOfACommunicatorAlongAndAcrossHosts) {
    run([](Communicator& comm) {
        int host = 0, place = comm.rank();
        for (const int ranks : GetParam().ranks) {
            if (place < ranks) break;
            place -= ranks;
            ++host;
        }
        for (const int colour : {host, place, 0, comm.rank() % 2}) {
            Communicator part = comm.split(colour, -comm.rank());
            unsigned seed = 0;
            for (const std::uint64_t count : {1, 1000}) {
                for (const CollectiveKind kind :
                     {CollectiveKind::allreduce, CollectiveKind::broadcast,
                      CollectiveKind::all_to_all, CollectiveKind::barrier}) {
                    comm::test::attempt<float>(part, task_of(kind, part.nranks(), count, seed));
                }
                comm::test::attempt<float>(
                    comm, task_of(CollectiveKind::allgather, comm.nranks(), count, seed++));
            }
        }
    });
}

TEST_P(OnHosts, CallsThatWereStartedAndPrepared) {
    run([](Communicator& comm) {
        std::vector<std::int64_t> one(1000), two(3, 1), three(50000, 2);
        for (int round = 1; round <= 3; ++round) {
            std::fill(one.begin(), one.end(), comm.rank() * round);
            Pending first = comm.start_allreduce(one);
            Pending second = comm.start_allreduce(three, ReduceOp::max);
            while (!second.test()) {
            }
            first.wait();
            const int n = comm.nranks();
            if (one[999] != round * n * (n - 1) / 2 || three[49999] != 2) {
                throw std::runtime_error("a started call is wrong");
            }
        }
        Prepared prepared = comm.prepare_allreduce(two, ReduceOp::max);
        for (int round = 0; round < 40; ++round) {
            two[0] = 100 * round + comm.rank();
            prepared.run();
            if (two[0] != 100 * round + comm.nranks() - 1) {
                throw std::runtime_error("a prepared call is wrong");
            }
        }
    });
}

TEST_P(OnHosts, MessagesBetweenAllPairs) {
    run([](Communicator& comm) {
        for (const std::size_t count : {0U, 1U, 100U, 20000U, 400001U}) {
            std::vector<std::int32_t> sent(count), received(count * comm.nranks());
            std::fill(sent.begin(), sent.end(), comm.rank() + 1);
            std::vector<Neighbour> neighbours;
            for (int peer = 0; peer < comm.nranks(); ++peer) {
                const std::span<std::int32_t> part =
                    std::span(received).subspan(count * peer, count);
                if (peer != comm.rank()) neighbours.push_back({peer, sent, part});
            }
            comm.exchange(neighbours);
            for (const Neighbour& of : neighbours) {
                const auto* data = static_cast<const std::int32_t*>(of.received.data);
                if (std::any_of(data, data + count, [&](int x) { return x != of.rank + 1; })) {
                    throw std::runtime_error("a message is wrong");
                }
            }
        }
        // Small ones are kept for a receiver that does something else first.
        double value = comm.rank();
        if (comm.rank() == 0) comm.send(value, comm.nranks() - 1);
        comm.barrier();
        if (comm.rank() == comm.nranks() - 1) comm.recv(value, 0);
        if (comm.rank() == comm.nranks() - 1 && value != 0) throw std::runtime_error("not kept");
    });
}

constexpr const char* kMesh = R"(
kernel mesh_allreduce(inp: in f32[n], out: out f32[n],
                      data: window f32[n], sig: window i32[nranks]) {
    data = inp
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    acc = data@0
    for r in 1..nranks { acc = acc + data@r }
    out = acc
    for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }
    for peer in peers { wait sig[peer] >= generation(sig) + 2 }
    advance sig by 2
}
)";

TEST_P(OnHosts, KernelsOfTheUsers) {
    run([](Communicator& comm) {
        const ir::Program program = parse(std::make_shared<const Source>("mesh.peal", kMesh));
        const std::int64_t n = 300;
        Bindings bindings;
        bindings.integers["n"] = n;
        const Kernel kernel = comm.kernel(program, "mesh_allreduce", bindings);
        auto data = comm.window<float>(n);
        auto signal = comm.signals(static_cast<std::uint64_t>(comm.nranks()));
        std::vector<float> in(n), out(n);
        for (int round = 0; round < 5; ++round) {
            std::fill(in.begin(), in.end(), static_cast<float>(comm.rank() + round));
            comm.run(kernel, in, out, data, signal);
            const int all = comm.nranks();
            if (out[n - 1] != static_cast<float>(all * (all - 1) / 2 + all * round)) {
                throw std::runtime_error("a kernel is wrong");
            }
        }
    });
}

// Cells that several ranks add to, some of them from other hosts, and data that is put there.
constexpr const char* kCount = R"(
kernel count(inp: in i32[1], out: out i32[nranks],
             data: window i32[nranks], sig: window i32[2]) {
    data@0[rank; 1] = inp
    notify sig[0]@0 += 1
    if rank == 0 {
        wait sig[0] >= generation(sig) * nranks + nranks
        out = data
        for peer in peers { notify sig[1]@peer = generation(sig) + 1 }
    } else {
        wait sig[1] >= generation(sig) + 1
    }
    advance sig by 1
}
)";

TEST_P(OnHosts, KernelsThatAdd) {
    run([](Communicator& comm) {
        const ir::Program program = parse(std::make_shared<const Source>("count.peal", kCount));
        const Kernel kernel = comm.kernel(program, "count", {});
        const auto ranks = static_cast<std::size_t>(comm.nranks());
        auto data = comm.window<std::int32_t>(ranks);
        auto signal = comm.signals(2);
        std::vector<std::int32_t> in(1), out(ranks);
        for (int round = 0; round < 5; ++round) {
            in[0] = 10 * round + comm.rank();
            comm.run(kernel, in, out, data, signal);
            for (int rank = 0; comm.rank() == 0 && rank < comm.nranks(); ++rank) {
                if (out[static_cast<std::size_t>(rank)] != 10 * round + rank) {
                    throw std::runtime_error("a kernel that adds is wrong");
                }
            }
        }
    });
}

constexpr const char* kGather = R"(
kernel gather(inp: in f32[4], data: window f32[4]) {
    put data@0[0; 4] += inp[0; 4]
}
)";

TEST_P(OnHosts, AddingToWhatIsElsewhereIsRefused) {
    run([](Communicator& comm) {
        const ir::Program program = parse(std::make_shared<const Source>("gather.peal", kGather));
        std::string told;
        try {
            comm.kernel(program, "gather", {});
        } catch (const Error& error) {
            told = error.what();
        }
        const bool is_elsewhere = comm.rank() >= GetParam().ranks.front();
        const std::string expected =
            "gather: it accumulates in 'data' of rank 0, which is on another host; there, let each "
            "rank put its part into a place of its own and reduce them";
        if (told != (is_elsewhere ? expected : "")) throw std::runtime_error(told);
    });
}

std::string name_of(const testing::TestParamInfo<Place>& info) {
    std::string name;
    for (const int ranks : info.param.ranks) {
        name += (name.empty() ? "" : "_") + std::to_string(ranks);
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(Hosts, OnHosts,
                         testing::Values(Place{{1, 1}}, Place{{2, 2}}, Place{{3, 1}},
                                         Place{{1, 1, 2}}, Place{{3, 5}}, Place{{2, 2, 2, 2}}),
                         name_of);

// What an adapter is asked to do, in its order, is done by UCX in the progress of the other rank.
INSTANTIATE_TEST_SUITE_P(Direct, OnHosts,
                         testing::Values(Place{{1, 1}, true}, Place{{2, 2}, true},
                                         Place{{1, 1, 2}, true}),
                         name_of);

}  // namespace communicator_test
}  // namespace peal::hosts
