// SPDX-License-Identifier: Apache-2.0
// Calls that copy between the ranks' private buffers directly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <latch>
#include <thread>

#include "comm/attempt.hpp"
#include "comm/outcomes.hpp"
#include "comm/profile.hpp"
#include "comm/profile_variable.hpp"
#include "comm/routine.hpp"
#include "shm/leftovers.hpp"
#include "shm/shared.hpp"

namespace peal::comm {
namespace reach_test {

using test::Attempt;
using test::Ranks;
using test::Task;

// A profile in which these recipes reach private buffers, whatever the size.
struct ReachingProfile : test::ProfileWith {
    ReachingProfile(CollectiveKind kind, std::string recipe)
        : ProfileWith({kind, Where::staging, kMaxRanks, Rule::kAny, std::move(recipe), 0, true}) {}
};

struct Case {
    CollectiveKind kind;
    std::string name;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            if (!may_reach(kind, recipe.name)) continue;
            list.push_back({kind, std::string(recipe.name)});
        }
    }
    return list;
}

std::vector<Case> cases_with_placements() {
    std::vector<Case> list = cases();
    std::erase_if(list, [](const Case& recipe) {
        return recipe.kind == CollectiveKind::broadcast;  // it has one buffer
    });
    return list;
}

class Reach : public testing::TestWithParam<std::tuple<Ranks, Case>> {};

TEST_P(Reach, GivesWhatItMust) {
    const auto& [ranks, recipe] = GetParam();
    const ReachingProfile profile(recipe.kind, recipe.name);
    for (const int nranks : {1, 2, 3, 5}) {
        test::run_ranks(ranks, nranks, [&](Communicator& comm) {
            for (const std::uint64_t count : {0, 1, 13, 1000, 9001}) {
                Task task{.kind = recipe.kind, .nranks = nranks, .count = count, .seed = 3};
                if (has_root(task.kind)) task.root = nranks / 2;
                test::attempt<std::int16_t>(comm, task);
                test::attempt<double>(comm, task);
            }
        });
    }
}

// Who has its data in place and who has not must not matter to others.
class ReachPlacements : public Reach {};

TEST_P(ReachPlacements, MayDiffer) {
    const auto& [ranks, recipe] = GetParam();
    const ReachingProfile profile(recipe.kind, recipe.name);
    test::run_ranks(ranks, 3, [&](Communicator& comm) {
        for (unsigned turn = 0; turn < 6; ++turn) {
            const Task task{.kind = recipe.kind, .nranks = 3, .count = 501, .seed = turn};
            const Attempt<float> call(comm, task);
            if ((turn + static_cast<unsigned>(comm.rank())) % 2 == 0) {
                call.separate();
            } else {
                call.in_place();
            }
        }
    });
}

std::string case_name(const testing::TestParamInfo<std::tuple<Ranks, Case>>& info) {
    const auto& [ranks, recipe] = info.param;
    return fmt::format("{}_{}_{}", name(recipe.kind), recipe.name,
                       ranks == Ranks::threads ? "threads" : "processes");
}

INSTANTIATE_TEST_SUITE_P(All, Reach,
                         testing::Combine(testing::Values(Ranks::threads, Ranks::processes),
                                          testing::ValuesIn(cases())),
                         case_name);

INSTANTIATE_TEST_SUITE_P(All, ReachPlacements,
                         testing::Combine(testing::Values(Ranks::threads, Ranks::processes),
                                          testing::ValuesIn(cases_with_placements())),
                         case_name);

// ---- where the system does not allow it

// From here on the system calls fail, in this process and its children. False: there are no
// filters.
bool forbid_reaching() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr int kNoFilter = 77;

// Ranks whose private memory is out of reach; their worst status.
int fork_out_of_reach(int nranks, const std::function<void(Communicator&)>& body) {
    const pid_t child = fork();
    if (child == 0) _exit(forbid_reaching() ? Communicator::fork(nranks, body) : kNoFilter);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OutOfReach, AnotherRecipeIsTaken) {
    const ReachingProfile profile(CollectiveKind::all_to_all, "mesh");
    const int status = fork_out_of_reach(3, [](Communicator& comm) {
        const Task task{.kind = CollectiveKind::all_to_all, .nranks = 3, .count = 70001};
        for (int i = 0; i < 3; ++i) test::attempt<float>(comm, task);
        const std::vector<float> input(3 * task.count);
        std::vector<float> output(input.size());
        const Call call = call::all_to_all(input, output);
        if (comm.recipe(call) != "pipeline") throw std::runtime_error(comm.recipe(call));
        Prepared prepared = comm.prepare(call);
        prepared.run();
    });
    if (status == kNoFilter) GTEST_SKIP() << "the system installs no filters";
    EXPECT_EQ(status, 0);
}

// A call prepared before anything is known.
TEST(OutOfReach, APreparedCallChangesItsRecipe) {
    const ReachingProfile profile(CollectiveKind::allgather, "mesh");
    const int status = fork_out_of_reach(2, [](Communicator& comm) {
        const std::vector<int> input(1000, comm.rank());
        std::vector<int> output(2000, -1);
        Prepared prepared = comm.prepare(call::allgather(input, output));
        for (int i = 0; i < 3; ++i) {
            std::fill(output.begin(), output.end(), -1);
            prepared.run();
            for (std::size_t at = 0; at < output.size(); ++at) {
                if (output[at] != static_cast<int>(at / 1000)) throw std::runtime_error("wrong");
            }
        }
    });
    if (status == kNoFilter) GTEST_SKIP() << "the system installs no filters";
    EXPECT_EQ(status, 0);
}

// ---- other ways to call

// The members of a split communicator are not the ranks of the world.
TEST_P(ReachPlacements, OfASplitInAnyOrder) {
    const auto& [ranks, recipe] = GetParam();
    const ReachingProfile profile(recipe.kind, recipe.name);
    test::run_ranks(ranks, 5, [&](Communicator& comm) {
        Communicator some = comm.split(comm.rank() % 2, -comm.rank());
        const Task task{.kind = recipe.kind, .nranks = some.nranks(), .count = 777, .seed = 4};
        test::attempt<float>(some, task);
        test::attempt<float>(some, task);
    });
}

TEST_P(ReachPlacements, StartedAndWaitedFor) {
    const auto& [ranks, recipe] = GetParam();
    const ReachingProfile profile(recipe.kind, recipe.name);
    test::run_ranks(ranks, 3, [&](Communicator& comm) {
        const bool gathers = recipe.kind == CollectiveKind::allgather;
        const std::vector<int> input(gathers ? 500 : 1500, comm.rank());
        std::vector<int> first(1500, -1), second(1500, -1);
        const auto call = [&](std::vector<int>& output) {
            return call::between(recipe.kind, input, output);
        };
        Pending one = comm.start(call(first));
        Pending two = comm.start(call(second));
        two.wait();
        one.wait();
        for (std::size_t i = 0; i < first.size(); ++i) {
            const int from = static_cast<int>(i / 500);
            if (first[i] != from || second[i] != from) throw std::runtime_error("wrong");
        }
    });
}

// ---- which calls reach

// All ranks of a call take the same staging, wherever their data is.
TEST(ReachingRoutine, IsMadeForEveryRankAndPlacement) {
    for (const Case& recipe : cases()) {
        Table table = built_in_table();
        table.rules.insert(table.rules.begin(), {recipe.kind, Where::staging, kMaxRanks, Rule::kAny,
                                                 recipe.name, 0, true});
        for (int nranks = 1; nranks <= 9; ++nranks) {
            for (int rank = 0; rank < nranks; ++rank) {
                for (const Placement placement : {Placement::separate, Placement::in_place}) {
                    const Shape shape{.kind = recipe.kind,
                                      .element = Element::f32,
                                      .placement = placement,
                                      .count = 100};
                    EXPECT_EQ(make_routine(shape, table, rank, nranks, {})->staging, Staging::reach)
                        << name(recipe.kind) << " " << recipe.name << ", rank " << rank << " of "
                        << nranks;
                }
            }
        }
    }
}

// ---- faults

// Where ranks in other processes leave what they were told.
struct Messages {
    char text[3][1024] = {};

    void put(int rank, const std::string& message) {
        std::snprintf(text[rank], sizeof text[rank], "%s", message.c_str());
    }
};

TEST(ReachFaults, ABufferThatIsNoMemoryIsReportedToAll) {
    const ReachingProfile profile(CollectiveKind::allgather, "mesh");
    const shm::test::Shared<Messages> messages;
    Communicator::fork(2, [&](Communicator& comm) {
        std::vector<float> buffer(2000);
        std::span<float> mine = buffer;
        if (comm.rank() == 1) {
            void* const nothing =
                mmap(nullptr, 8000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            mine = {static_cast<float*>(nothing), 2000};
        }
        messages->put(
            comm.rank(), test::told_by([&] {
                comm.run(call::in_place(CollectiveKind::allgather, mine, ReduceOp::sum, 0));
            }));
    });
    for (const int rank : {0, 1}) {
        EXPECT_THAT(messages->text[rank],
                    testing::MatchesRegex(
                        "cannot copy from or to the buffer of rank [01]: Bad address; is every "
                        "rank's buffer memory that can be read and written.\n"
                        "  rank 0: allgather of 1000 f32\n  rank 1: allgather of 1000 f32"));
    }
}

// Rank 1 fails outside of any call while others copy from and to each other's buffers, which they
// free when they are told.
TEST(ReachFaults, NobodyCopiesFromOrToABufferThatIsGone) {
    const ReachingProfile profile(CollectiveKind::all_to_all, "mesh");
    for (int turn = 0; turn < 10; ++turn) {
        std::vector<std::string> messages(3);
        std::latch have_met(3);  // nobody is in the barrier any more
        const auto body = [&](Communicator& comm) {
            if (turn % 2 == 0) comm.barrier();
            have_met.arrive_and_wait();
            if (comm.rank() == 1) throw std::runtime_error("on purpose");
            messages[static_cast<std::size_t>(comm.rank())] = test::told_by([&] {
                const std::vector<float> input(3 << 20, 1);
                std::vector<float> output(input.size());
                comm.all_to_all(input, output);
            });
        };
        EXPECT_THROW(Communicator::threads(3, body), std::runtime_error);
        for (const std::size_t rank : {0, 2}) {
            EXPECT_THAT(messages[rank],
                        testing::StartsWith(fmt::format("rank 1 died; rank {} was in all_to_all of "
                                                        "1048576 f32 (call ",
                                                        rank)));
        }
    }
}

TEST(ReachFaults, ARankThatDiesWhileOthersCopyIsNamed) {
    const ReachingProfile profile(CollectiveKind::all_to_all, "mesh");
    for (int turn = 0; turn < 8; ++turn) {
        const shm::test::Leftovers before = shm::test::leftovers();
        const shm::test::Shared<Messages> messages;
        Communicator::fork(3, [&](Communicator& comm) {
            const std::vector<float> input(3 << 18);
            std::vector<float> output(input.size());
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * turn);
            messages->put(comm.rank(), test::told_by([&] {
                              for (;;) {
                                  comm.all_to_all(input, output);
                                  if (comm.rank() == 1 && std::chrono::steady_clock::now() >= end) {
                                      raise(SIGKILL);
                                  }
                              }
                          }));
        });
        for (const int rank : {0, 2}) {
            EXPECT_THAT(
                messages->text[rank],
                testing::MatchesRegex(fmt::format(
                    "rank 1 died; rank {} was in all_to_all of 262144 f32 .call [0-9]+.", rank)));
        }
        EXPECT_EQ(shm::test::leftovers(), before);
    }
}

}  // namespace reach_test
}  // namespace peal::comm
