// SPDX-License-Identifier: Apache-2.0
// The proof that calls placed by place_call() do not disturb each other: random sequences of calls,
// with the plans that the ranks would run in the memory that they would use, are given to the
// checker.
#include "comm/call_place.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include <fmt/format.h>

#include "check/call_sequence.hpp"
#include "comm/routine.hpp"
#include "plan/access.hpp"

namespace peal::comm {
namespace turns_test {

// Small, so that random calls use every kind of memory.
constexpr std::uint64_t kBoxBytes = 512;

// What keeps calls apart, and what happens without it.
struct Care {
    bool meets = true;            // when must_meet() says so
    bool knows_who_hears = true;  // otherwise every call is taken for a full one
};

// Calls where place_call() puts them, for all ranks at once.
class PlacedCalls {
public:
    PlacedCalls(int nranks, std::uint64_t ring_bytes, Care care)
        : nranks_(nranks),
          limits_{kBoxBytes, ring_bytes / 2, 8 << 20},
          turns_(ring_bytes, nranks),
          care_(care) {}

    void add(const Shape& shape) {
        const std::vector<std::unique_ptr<Routine>> routines = routines_for(shape);
        if (care_.meets && must_meet(turns_, *routines[0])) {
            place(routines_for({.kind = CollectiveKind::barrier}), {});
            ++meetings_;
        }
        place(routines, shape);
    }

    CheckReport check() const {
        std::vector<CheckStage> stages;
        for (const Stage& stage : stages_) {
            stages.push_back({&stage.plans, &stage.meaning, stage.memory});
        }
        CheckOptions once;
        once.calls = 1;
        return peal::check(stages, once);
    }
    int meetings() const { return meetings_; }

private:
    struct Stage {
        std::vector<Plan> plans;
        Meaning meaning;
        std::vector<std::string> memory;
    };

    std::vector<std::unique_ptr<Routine>> routines_for(const Shape& shape) const {
        std::vector<std::unique_ptr<Routine>> list;
        for (int rank = 0; rank < nranks_; ++rank) {
            list.push_back(make_routine(shape, table_, rank, nranks_, limits_));
        }
        return list;
    }

    void place(const std::vector<std::unique_ptr<Routine>>& routines, const Shape& shape) {
        const Routine& first = *routines[0];
        const CallPlace at = place_call(turns_, first);
        Stage stage;
        for (const auto& routine : routines) {
            stage.plans.push_back(routine->plan);
            if (routine->staging == Staging::ring) shift_data(stage.plans.back(), at.piece);
        }
        stage.meaning = meaning_of(collective_of(first, shape), stage.plans);
        for (const Buffer& buffer : first.plan.buffers) {
            stage.memory.push_back(memory_of(buffer, first, at));
        }
        stages_.push_back(std::move(stage));
        if (!care_.knows_who_hears) routines[0]->sync = SyncPattern::all_from_all;
        end_call(turns_, first, at);
    }

    static void shift_data(Plan& plan, std::uint64_t offset) {
        const auto is_data = [&](std::uint16_t buffer) {
            return buffer != kTile && plan.buffers[buffer].kind == BufferKind::window;
        };
        for (Instruction& instruction : plan.instructions) {
            plan::for_each_range(instruction.action, [&](Range& range) {
                if (is_data(range.buffer)) range.offset += offset;
            });
        }
        for (Buffer& buffer : plan.buffers) {
            if (buffer.kind == BufferKind::window) buffer.bytes += offset;
        }
    }

    // A call without data is carried out as a barrier.
    static Collective collective_of(const Routine& routine, const Shape& shape) {
        Collective collective;
        collective.kind = CollectiveKind::barrier;
        if (routine.staging == Staging::none) return collective;
        collective.kind = shape.kind;
        collective.recipe = routine.collective.recipe;
        collective.element = shape.element;
        collective.op = shape.op;
        collective.count = shape.counts.empty() ? shape.count : 0;
        collective.counts = shape.counts;
        collective.root = shape.root;
        collective.placement = routine.collective.placement;
        return collective;
    }

    static std::string memory_of(const Buffer& buffer, const Routine& routine,
                                 const CallPlace& at) {
        if (buffer.kind == BufferKind::signal) return fmt::format("signals {}", at.turn.slot);
        if (buffer.kind == BufferKind::argument) {
            return fmt::format("{} {}", buffer.name, at.turn.number);
        }
        switch (routine.staging) {
            case Staging::line: return fmt::format("lines {}", at.piece);
            case Staging::box: return fmt::format("box {}", at.piece);
            case Staging::ring: return "ring";
            case Staging::bulk: return "bulk";
            case Staging::reach: return "reached";
            default: return "window";
        }
    }

    int nranks_;
    RoutineLimits limits_;
    Table table_ = built_in_table();
    Turns turns_;
    Care care_;
    std::vector<Stage> stages_;
    int meetings_ = 0;
};

// Mostly calls in which the first rank, or a root, waits for nobody and so runs ahead of the
// others.
class RandomShapes {
public:
    RandomShapes(unsigned seed, int nranks) : random_(seed), nranks_(nranks) {}

    Shape next() {
        Shape shape;
        shape.kind = random_() % 4 == 0 ? pick(kCollectives) : pick(kOneWay);
        if (shape.kind == CollectiveKind::barrier) return shape;
        shape.element = Element::f32;
        const bool other_root = has_root(shape.kind) && random_() % 8 == 0;
        if (other_root) shape.root = static_cast<int>(random_() % unsigned(nranks_));
        const std::size_t counts = table_entries(shape.kind, nranks_);
        for (std::size_t i = 0; i < counts; ++i) shape.counts.push_back(pick(kPairCounts));
        if (counts > 0) return shape;
        shape.count = pick(kCounts);
        shape.placement = pick(kOfCalls);
        const bool on_window = shape.placement == Placement::window;
        if (on_window && built_in_table().choices(shape.kind, true, 0, nranks_).empty()) {
            shape.placement = Placement::separate;
        }
        return shape;
    }

private:
    static constexpr std::array kOfCalls = {Placement::separate, Placement::in_place,
                                            Placement::window};
    static constexpr std::array kOneWay = {CollectiveKind::broadcast, CollectiveKind::scatter,
                                           CollectiveKind::exscan};
    static constexpr std::array<std::uint64_t, 10> kCounts = {0,  1,   3,   12,    13,
                                                              50, 100, 300, 70000, 500000};
    static constexpr std::array<std::int64_t, 5> kPairCounts = {0, 0, 1, 7, 40};

    template <class List>
    typename List::value_type pick(const List& list) {
        return list[random_() % list.size()];
    }

    std::mt19937 random_;
    int nranks_;
};

PlacedCalls random_sequence(unsigned seed, int nranks, std::uint64_t ring_bytes, Care care) {
    PlacedCalls calls(nranks, ring_bytes, care);
    RandomShapes shapes(seed, nranks);
    for (int i = 0; i < 60; ++i) calls.add(shapes.next());
    return calls;
}

std::string fault_of(const CheckReport& report) {
    if (report.verdict == Verdict::proved) return "";
    return report.violations.empty() ? report.bound : report.violations.front().message;
}

TEST(TurnsProof, HoldsForRandomSequences) {
    int meetings = 0;
    for (int nranks = 2; nranks <= 8; ++nranks) {
        for (const std::uint64_t ring_bytes : {4096, 16384}) {
            const auto seed = static_cast<unsigned>(nranks) + static_cast<unsigned>(ring_bytes);
            const PlacedCalls calls = random_sequence(seed, nranks, ring_bytes, {});
            EXPECT_EQ(fault_of(calls.check()), "") << nranks << " ranks, ring of " << ring_bytes;
            meetings += calls.meetings();
        }
    }
    EXPECT_GT(meetings, 0);
}

// In one direction. One element rides in a slot's lines, so that only slots come round; several
// hundred are staged in the ring.
PlacedCalls one_way(CollectiveKind kind, int nranks, std::uint64_t count, Care care) {
    PlacedCalls calls(nranks, 16384, care);
    for (int i = 0; i < 50; ++i) {
        calls.add({.kind = kind,
                   .element = Element::f32,
                   .placement = Placement::in_place,
                   .count = count});
    }
    return calls;
}

constexpr std::array kOneWay = {CollectiveKind::broadcast, CollectiveKind::scan,
                                CollectiveKind::exscan};

TEST(TurnsProof, HoldsForCallsInWhichNotEverybodyHearsFromAll) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        for (const std::uint64_t count : {1, 500}) {
            for (const CollectiveKind kind : kOneWay) {
                const PlacedCalls calls = one_way(kind, nranks, count, {});
                EXPECT_EQ(fault_of(calls.check()), "")
                    << name(kind) << ", " << nranks << " ranks, " << count;
                EXPECT_GE(calls.meetings(), 3);
            }
        }
    }
}

// Each rank is the root in its turn.
PlacedCalls rounds(int nranks, CollectiveKind kind, std::uint64_t count) {
    PlacedCalls calls(nranks, 1 << 20, {});
    for (int i = 0; i < 60; ++i) {
        Shape shape{.kind = kind, .element = Element::f32, .count = count};
        if (kind == CollectiveKind::broadcast) shape.placement = Placement::in_place;
        shape.root = i % nranks;
        calls.add(shape);
    }
    return calls;
}

TEST(TurnsProof, NeedsNoMeetingsWhereEverybodyIsTheRootInItsTurn) {
    using enum CollectiveKind;
    for (int nranks = 2; nranks <= 8; ++nranks) {
        for (const CollectiveKind kind : {broadcast, scatter, reduce, gather}) {
            for (const std::uint64_t count : {1, 100}) {
                const PlacedCalls calls = rounds(nranks, kind, count);
                EXPECT_EQ(fault_of(calls.check()), "") << nranks << " ranks, " << count;
                EXPECT_EQ(calls.meetings(), 0) << name(kind) << " " << nranks << " ranks";
            }
        }
    }
}

// What the proofs above are worth: without care the same calls are refuted.
TEST(TurnsProof, FailsWithoutMeetings) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        for (const std::uint64_t count : {1, 500}) {
            for (const Care careless : {Care{.meets = false}, Care{.knows_who_hears = false}}) {
                for (const CollectiveKind kind : kOneWay) {
                    EXPECT_EQ(one_way(kind, nranks, count, careless).check().verdict,
                              Verdict::violated)
                        << name(kind) << ", " << nranks << " ranks, " << count;
                }
            }
        }
    }
}

TEST(Turns, SlotsComeRoundAndBytesDoNotWrap) {
    Turns turns(1000, 2);
    EXPECT_EQ(turns.take(400).ring_offset, 0u);
    EXPECT_EQ(turns.take(400).ring_offset, 400u);
    EXPECT_FALSE(turns.must_meet(200));
    EXPECT_TRUE(turns.must_meet(201));  // would begin again at the start, which is in use
    turns.over(1, SyncPattern::all_from_all, 0);
    EXPECT_FALSE(turns.must_meet(400));
    EXPECT_TRUE(turns.must_meet(401));  // turn 1 may still be read
    const Turns::Turn third = turns.take(400);
    EXPECT_EQ(third.number, 2u);
    EXPECT_EQ(third.slot, 2u);
    EXPECT_EQ(third.ring_offset, 0u);
}

TEST(Turns, RootsThatFollowEachOtherReplaceAMeeting) {
    Turns turns(1000, 3);
    const auto take = [&](int root) {
        turns.over(turns.take(0).number, SyncPattern::all_from_root, root);
    };
    for (int turn = 0; turn < 13; ++turn) take(turn % 2);
    take(2);  // turn 13
    EXPECT_FALSE(turns.must_meet(0));
    take(2);
    EXPECT_FALSE(turns.must_meet(0));  // turn 15: all were heard in turn 11 or later
    for (int turn = 15; turn < 26; ++turn) take(0);
    EXPECT_TRUE(turns.must_meet(0));  // rank 1 was heard in turn 11 for the last time
    take(1);
    EXPECT_FALSE(turns.must_meet(0));
}

// In one direction and then in the other: a scan, and a broadcast from the last rank.
TEST(Turns, OfScansReplaceOnlyTheRootsAtTheEnds) {
    Turns turns(1000, 2);
    const auto take = [&](SyncPattern sync, int root) {
        turns.over(turns.take(0).number, sync, root);
    };
    for (int turn = 0; turn < 15; ++turn) take(SyncPattern::all_from_below, 0);
    EXPECT_TRUE(turns.must_meet(0));  // rank 0 has heard from nobody
    take(SyncPattern::all_from_root, 1);
    EXPECT_FALSE(turns.must_meet(0));  // all were heard in turn 14 or later
}

TEST(Turns, ASlotIsKeptForTheMeeting) {
    Turns turns(1000, 2);
    for (std::uint64_t turn = 0; turn < Turns::kSlots - 1; ++turn) {
        EXPECT_FALSE(turns.must_meet(0)) << turn;
        turns.take(0);
    }
    EXPECT_TRUE(turns.must_meet(0));
    turns.over(turns.take(0).number, SyncPattern::all_from_all, 0);
    EXPECT_FALSE(turns.must_meet(0));
}

}  // namespace turns_test
}  // namespace peal::comm
