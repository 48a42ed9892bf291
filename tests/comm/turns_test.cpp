// SPDX-License-Identifier: Apache-2.0
// The proof that calls placed by place_call() do not disturb each other, whatever their sequence:
// the premises of docs/proof.md ("Any sequence of calls") hold for every routine and for the turns.
// And random sequences of calls, with the plans that the ranks would run in the memory that they
// would use, are given to the checker.
#include "comm/call_place.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>

#include "check/call_sequence.hpp"
#include "check/causal_run.hpp"
#include "check/touch.hpp"
#include "comm/group_memory.hpp"
#include "comm/routine.hpp"
#include "plan/access.hpp"
#include "plan/between_hosts.hpp"

namespace peal::comm {
namespace turns_test {

// Those that calls can have.
constexpr std::array kOfCalls = {Placement::separate, Placement::in_place, Placement::window};

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
        : PlacedCalls(nranks, ring_bytes, {kBoxBytes, ring_bytes / 2, 8 << 20}, care) {}
    PlacedCalls(int nranks, std::uint64_t ring_bytes, RoutineLimits limits, Care care,
                std::uint64_t slots = Turns::kSlots)
        : nranks_(nranks), limits_(limits), turns_(ring_bytes, nranks, slots), care_(care) {}

    // Ranks on these hosts.
    PlacedCalls& between(std::vector<std::int64_t> hosts) {
        hosts_ = std::move(hosts);
        return *this;
    }

    void add(const Shape& shape) {
        std::vector<std::unique_ptr<Routine>> routines = routines_for(shape);
        meet_if_needed(needs_of(*routines[0]));
        place(routines, shape);
        last_ = std::move(routines[0]);
    }

    // A kernel that is prepared. Nobody hears from anybody in it: no kernel tells less.
    void add_kernel() {
        meet_if_needed({});
        place_call(turns_, {});
        Stage stage;
        for (int rank = 0; rank < nranks_; ++rank) {
            Plan& plan = stage.plans.emplace_back();
            plan.kernel = "silent";
            plan.rank = rank;
            plan.nranks = nranks_;
        }
        stages_.push_back(std::move(stage));
    }

    std::vector<CheckStage> stages() const {
        std::vector<CheckStage> stages;
        for (const Stage& stage : stages_) {
            const bool is_kernel = stage.memory.empty();
            stages.push_back({&stage.plans, is_kernel ? nullptr : &stage.meaning, stage.memory});
        }
        return stages;
    }
    CheckReport check() const {
        CheckOptions once;
        once.calls = 1;
        once.any_calls = false;
        return peal::check(stages(), once);
    }
    const Routine& last() const { return *last_; }
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
            list.push_back(make_routine(shape, table_, rank, nranks_, limits_, hosts_));
        }
        return list;
    }

    void meet_if_needed(const MemoryNeeds& needs) {
        if (!care_.meets || !must_meet(turns_, needs)) return;
        place(routines_for({.kind = CollectiveKind::barrier}), {});
        ++meetings_;
    }

    void place(const std::vector<std::unique_ptr<Routine>>& routines, const Shape& shape) {
        const Routine& first = *routines[0];
        const CallPlace at = place_call(turns_, needs_of(first));
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
    std::vector<std::int64_t> hosts_;
    Table table_ = built_in_table();
    Turns turns_;
    Care care_;
    std::vector<Stage> stages_;
    std::unique_ptr<Routine> last_;
    int meetings_ = 0;
};

// ---------------------------------------------------------------------------- any sequence

// What every execution of one call has in common: who has heard of whose entry on its return, and
// how the parts of windows are touched.
class Contract : public checker::CausalRun::Observer {
public:
    explicit Contract(const checker::Model& model)
        : model_(model), first_agent_(static_cast<std::size_t>(model.nranks), checker::kNone) {
        for (checker::AgentId agent = 0; agent < model.agents.size(); ++agent) {
            checker::AgentId& first = first_agent_[rank_of(agent)];
            if (first == checker::kNone) first = agent;
        }
        at_return_.resize(first_agent_.size());
        touches_.resize(first_agent_.size());
        for (const checker::Storage& storage : model.storages) {
            if (storage.kind != BufferKind::window) continue;
            for (int rank = 0; rank < model.nranks; ++rank) {
                windows_.insert(storage.first_region + static_cast<checker::RegionId>(rank));
            }
        }
    }

    void on_event(checker::Event event, const checker::Clocks& clocks) override {
        const checker::Op& op = model_.op(event);
        if (op.kind != checker::OpKind::data) return;
        const std::size_t me = rank_of(event.agent);
        const auto row = clocks.row(event.agent);
        checker::for_each_touch(
            model_, event,
            [&](checker::RegionId region, std::uint64_t, std::uint64_t, const checker::Use&) {
                if (!windows_.contains(region)) return;
                const auto owner = static_cast<std::size_t>(model_.regions[region].rank);
                asks_first_ &= owner == me || row[first_agent_[owner]] > 0;
                touches_[owner].push_back(clocks.now(event.agent));
            });
        if (op.origin == checker::Origin::consumes) at_return_[me].assign(row.begin(), row.end());
    }

    // On its return `rank` knows that `other` has been called.
    bool hears(std::size_t rank, std::size_t other) const {
        return rank == other || at_return_[rank][first_agent_[other]] > 0;
    }
    // Nobody touches another rank's part of a window before it knows that the other was called.
    bool asks_first() const { return asks_first_; }
    // On its return each rank knows of all that was done to its part.
    bool leaves_free() const {
        for (std::size_t rank = 0; rank < touches_.size(); ++rank) {
            for (const checker::Epoch touch : touches_[rank]) {
                if (at_return_[rank][touch.agent] < touch.time) return false;
            }
        }
        return true;
    }

private:
    std::size_t rank_of(checker::AgentId agent) const {
        return static_cast<std::size_t>(model_.agents[agent].rank);
    }

    const checker::Model& model_;
    std::vector<checker::AgentId> first_agent_;  // by rank: the one that is called
    std::set<checker::RegionId> windows_;
    std::vector<std::vector<std::uint32_t>> at_return_;  // by rank: its clock
    std::vector<std::vector<checker::Epoch>> touches_;   // by rank whose part it is
    bool asks_first_ = true;
};

// Values lie between those of this call and those of the next, and are set, not added.
bool counts_from_its_generation(const Plan& plan) {
    const auto is_within = [&](const Cell& cell, const Value& value) {
        return value.per_generation == 1 && value.constant >= 1 &&
               value.constant <= plan.advance[cell.buffer];
    };
    return std::all_of(
        plan.instructions.begin(), plan.instructions.end(), [&](const Instruction& instruction) {
            if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
                return notify->op == NotifyOp::set && is_within(notify->cell, notify->value);
            }
            const auto* wait = std::get_if<Wait>(&instruction.action);
            return !wait || (wait->compare == Compare::ge && is_within(wait->cell, wait->value));
        });
}

// Whether `rank` hears from `other` in a call of this pattern.
bool must_hear(SyncPattern sync, std::size_t root, std::size_t rank, std::size_t other) {
    switch (sync) {
        case SyncPattern::all_from_all: return true;
        case SyncPattern::all_from_root: return other == root;
        case SyncPattern::root_from_all: return rank == root;
        case SyncPattern::all_from_below: return other < rank;
    }
    return false;
}

bool keeps_to_its_pattern(const Contract& contract, const Routine& routine, std::size_t nranks) {
    const auto root = static_cast<std::size_t>(routine.shape.root);
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        for (std::size_t other = 0; other < nranks; ++other) {
            if (!must_hear(routine.sync, root, rank, other)) continue;
            if (!contract.hears(rank, other)) return false;
        }
    }
    return true;
}

// What a routine must keep for any sequence of calls to be right: empty, or what it does not.
// The calls are none yet.
std::string broken_premise(const Shape& shape, PlacedCalls call, std::set<Staging>& seen) {
    call.add(shape);
    seen.insert(call.last().staging);
    const std::vector<CheckStage> stages = call.stages();
    if (stages.size() != 1) return "it meets first";
    if (call.check().verdict != Verdict::proved) return "alone it is not right";
    for (const Plan& plan : *stages[0].plans) {
        if (!counts_from_its_generation(plan))
            return "its signals do not count from the generation";
    }
    const CheckOptions options;
    checker::Meter meter(options);
    const checker::Model model = checker::build_model(stages, 1, MemoryOrder::drained, meter);
    checker::Findings findings(model);
    Contract contract(model);
    checker::CausalRun run(model, contract, findings);
    run.run(meter);
    if (!run.broken_assumption().empty()) return run.broken_assumption();
    if (!keeps_to_its_pattern(contract, call.last(), stages[0].plans->size()))
        return "not all are heard";
    const Staging staging = call.last().staging;
    const bool has_turns = staging == Staging::none || staging == Staging::line ||
                           staging == Staging::box || staging == Staging::ring;
    if (has_turns) return "";
    if (!contract.asks_first()) return "it touches a part before its rank is called";
    return contract.leaves_free() ? "" : "a part is still touched when its rank returns";
}

TEST(AnySequence, EveryRoutineKeepsWhatItNeeds) {
    std::set<Staging> seen;
    for (const int nranks : {2, 3, 4, 8}) {
        for (const CollectiveKind kind : kCollectives) {
            for (const Placement placement : kOfCalls) {
                for (const std::uint64_t count : {0, 1, 13, 100, 300, 70000, 500000}) {
                    for (const int root : {0, nranks - 1}) {
                        Shape shape{.kind = kind};
                        const bool has_data = kind != CollectiveKind::barrier;
                        if (!has_data && (count != 0 || placement != kOfCalls[0])) continue;
                        if (root != 0 && !has_root(kind)) continue;
                        if (has_data) {
                            shape.element = Element::f32;
                            shape.root = root;
                        }
                        const std::size_t entries = has_data ? table_entries(kind, nranks) : 0;
                        if (entries > 0) {
                            if (count > 1000 || placement != Placement::separate) continue;
                            for (std::size_t k = 0; k < entries; ++k) {
                                shape.counts.push_back(static_cast<std::int64_t>(count * (k % 3)));
                            }
                        } else if (has_data) {
                            shape.count = count;
                            shape.placement = placement;
                        }
                        const bool on_window = shape.placement == Placement::window;
                        if (on_window && built_in_table().choices(kind, true, 0, nranks).empty()) {
                            continue;
                        }
                        EXPECT_EQ(broken_premise(shape, PlacedCalls(nranks, 16384, {}), seen), "")
                            << name(kind) << ", " << nranks << " ranks, " << count << " elements, "
                            << "root " << root << ", placement " << static_cast<int>(placement);
                    }
                }
            }
        }
    }
    using enum Staging;
    EXPECT_EQ(seen, (std::set{none, line, box, ring, bulk, window, reach}));
}

const std::vector<std::vector<std::int64_t>> kLayouts = {{0, 1}, {0, 0, 1, 1}, {1, 0, 1}};

// Calls each(shape, hosts) for what takes every kind of memory between hosts.
void for_each_between_hosts(
    const std::function<void(const Shape& shape, const std::vector<std::int64_t>& hosts)>& each) {
    for (const auto& hosts : kLayouts) {
        const auto nranks = static_cast<int>(hosts.size());
        for (const CollectiveKind kind : kCollectives) {
            for (const std::uint64_t count : {0, 1, 13, 300, 20000}) {
                Shape shape{.kind = kind};
                if (kind == CollectiveKind::barrier && count != 0) continue;
                if (kind != CollectiveKind::barrier) shape.element = Element::f32;
                for (std::size_t k = 0; k < table_entries(kind, nranks); ++k) {
                    shape.counts.push_back(static_cast<std::int64_t>(count * (k % 3)));
                }
                if (shape.counts.empty()) shape.count = count;
                if (has_root(kind)) shape.root = nranks - 1;
                each(shape, hosts);
            }
        }
    }
}

TEST(AnySequence, EveryRoutineBetweenHostsKeepsWhatItNeeds) {
    constexpr StagingRoom kRoom = kRoomBetweenHosts;
    std::set<Staging> seen;
    for_each_between_hosts([&](const Shape& shape, const std::vector<std::int64_t>& hosts) {
        const auto nranks = static_cast<int>(hosts.size());
        PlacedCalls calls(nranks, kRoom.ring_bytes, limits_of(nranks, kRoom), {}, kRoom.slots);
        calls.between(hosts);
        EXPECT_EQ(broken_premise(shape, std::move(calls), seen), "")
            << name(shape.kind) << ", " << nranks << " ranks, " << shape.count << " elements";
    });
    using enum Staging;
    EXPECT_EQ(seen, (std::set{none, line, box, ring, bulk}));
}

// So what is proved here is what a network may do.
TEST(AnySequence, NoRoutineCountsOnAPutToAnotherHostBeforeAFence) {
    int deferred = 0;
    for_each_between_hosts([&](const Shape& shape, const std::vector<std::int64_t>& hosts) {
        const auto nranks = static_cast<int>(hosts.size());
        for (int rank = 0; rank < nranks; ++rank) {
            const auto routine = make_routine(shape, built_in_table(), rank, nranks,
                                              limits_of(nranks, kRoomBetweenHosts), hosts);
            const Plan& plan = routine->plan;
            EXPECT_EQ(plan::between_hosts(plan, plan::far_from(rank, hosts)), plan);
            for (const Instruction& each : plan.instructions) deferred += each.group != 0 ? 1 : 0;
        }
    });
    EXPECT_GT(deferred, 0);
}

// A message is a broadcast between two, of which the first is always the root, in less memory.
Shape message_of(std::uint64_t bytes) {
    return {.kind = CollectiveKind::broadcast,
            .element = Element::f32,
            .placement = Placement::in_place,
            .count = bytes / 4};
}

PlacedCalls no_messages(bool reach) {
    constexpr StagingRoom room = kRoomForMessages;
    return {2, room.ring_bytes, limits_of(2, room, reach), {}, room.slots};
}

TEST(AnySequence, MessagesKeepWhatTheyNeed) {
    std::set<Staging> seen;
    for (const bool reach : {true, false}) {
        for (const std::uint64_t bytes :
             {4U, 48U, 52U, 512U, 516U, 1024U, 1028U, 16U << 10, 40000U, 128U << 10,
              (128U << 10) + 4, 448U << 10, (448U << 10) + 4, 1536U << 10, (1536U << 10) + 4,
              5U << 20}) {
            EXPECT_EQ(broken_premise(message_of(bytes), no_messages(reach), seen), "") << bytes;
        }
    }
    using enum Staging;
    EXPECT_EQ(seen, (std::set{line, box, ring, bulk, reach}));
}

// More messages than are kept, of sizes that take every kind of memory: the two meet in between.
TEST(TurnsProof, HoldsForMessages) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        std::mt19937 random(seed);
        PlacedCalls calls = no_messages(true);
        for (int i = 0; i < 120; ++i) {
            constexpr std::uint64_t kBytes[] = {4, 40, 200, 800, 5000, 60000, 300000, 1200000};
            calls.add(message_of(kBytes[random() % std::size(kBytes)]));
        }
        const CheckReport report = calls.check();
        EXPECT_EQ(report.verdict, Verdict::proved) << "seed " << seed;
        EXPECT_GE(calls.meetings(), 3);
    }
}

// By rank: the last turn that it knows every other to have entered.
class Knowledge {
public:
    explicit Knowledge(int nranks)
        : known_(static_cast<std::size_t>(nranks),
                 std::vector<std::int64_t>(static_cast<std::size_t>(nranks), -1)) {}

    void hear(std::size_t rank, std::size_t other, std::uint64_t turn) {
        known_[rank][other] = static_cast<std::int64_t>(turn);
    }
    // Everybody knows that everybody has entered a turn after this one, and so has returned from
    // it.
    bool all_are_through(std::uint64_t turn) const {
        for (std::size_t rank = 0; rank < known_.size(); ++rank) {
            for (std::size_t other = 0; other < known_.size(); ++other) {
                if (rank != other && known_[rank][other] <= static_cast<std::int64_t>(turn)) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    std::vector<std::vector<std::int64_t>> known_;
};

// Memory of a turn is given away again only when everybody knows that all are through with it,
// whatever the calls.
TEST(AnySequence, TurnsGiveMemoryAwayWhenAllAreThrough) {
    constexpr std::uint64_t kRing = 1000;
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const int nranks = 2 + static_cast<int>(random() % 4);
        const unsigned full = random() % 12;  // so rare are full turns
        Turns turns(kRing, nranks, seed % 2 == 0 ? Turns::kSlots : Turns::kMostSlots);
        Knowledge knowledge(nranks);
        struct Taken {
            std::uint64_t number, begin, end;
        };
        std::vector<Taken> taken;
        // A kernel has no pattern.
        const auto call = [&](std::optional<SyncPattern> sync, int root, std::uint64_t bytes) {
            const Turns::Turn turn = turns.take(bytes);
            for (const Taken& other : taken) {
                const bool meets_slot = turns.slot_of(other.number) == turn.slot;
                const bool meets_bytes = bytes > 0 && other.begin < turn.ring_offset + bytes &&
                                         turn.ring_offset < other.end;
                if (meets_slot || meets_bytes) {
                    ASSERT_TRUE(knowledge.all_are_through(other.number))
                        << "seed " << seed << ", turn " << turn.number << " after " << other.number;
                }
            }
            taken.push_back({turn.number, turn.ring_offset, turn.ring_offset + bytes});
            if (!sync) return;
            for (std::size_t rank = 0; rank < static_cast<std::size_t>(nranks); ++rank) {
                for (std::size_t other = 0; other < static_cast<std::size_t>(nranks); ++other) {
                    const bool hears =
                        must_hear(*sync, static_cast<std::size_t>(root), rank, other);
                    if (hears) knowledge.hear(rank, other, turn.number);
                }
            }
            turns.over(turn.number, *sync, root);
        };
        for (int i = 0; i < 300; ++i) {
            if (random() % 8 == 0) {
                if (turns.must_meet(0)) call(SyncPattern::all_from_all, 0, 0);
                call(std::nullopt, 0, 0);
            }
            const std::uint64_t bytes = random() % 3 == 0 ? 0 : 1 + random() % (kRing / 2);
            if (turns.must_meet(bytes)) call(SyncPattern::all_from_all, 0, 0);
            constexpr std::array kOthers = {SyncPattern::all_from_root, SyncPattern::root_from_all,
                                            SyncPattern::all_from_below};
            const bool is_full = random() % 12 < full;
            const SyncPattern sync =
                is_full ? SyncPattern::all_from_all : kOthers[random() % kOthers.size()];
            call(sync, static_cast<int>(random() % static_cast<unsigned>(nranks)), bytes);
        }
    }
}

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

// A kernel takes a slot, tells nobody anything, and so brings the next meeting nearer.
TEST(TurnsProof, HoldsForKernelsBetweenCalls) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        PlacedCalls calls(nranks, 16384, {});
        RandomShapes shapes(static_cast<unsigned>(nranks), nranks);
        for (int i = 0; i < 60; ++i) {
            calls.add(shapes.next());
            for (int kernels = i % 4; kernels > 0; --kernels) calls.add_kernel();
        }
        EXPECT_EQ(fault_of(calls.check()), "") << nranks << " ranks";
        EXPECT_GT(calls.meetings(), 0);
    }
}

TEST(TurnsProof, FailsForKernelsWithoutMeetings) {
    PlacedCalls calls(3, 16384, {.meets = false});
    for (int i = 0; i < 5; ++i) {
        calls.add({.kind = CollectiveKind::broadcast,
                   .element = Element::f32,
                   .placement = Placement::in_place,
                   .count = 1});
        for (int kernels = 0; kernels < 15; ++kernels) calls.add_kernel();
    }
    EXPECT_EQ(calls.check().verdict, Verdict::violated);
}

TEST(TurnsProof, HoldsForRandomSequencesBetweenHosts) {
    for (const auto& hosts : kLayouts) {
        const auto nranks = static_cast<int>(hosts.size());
        PlacedCalls calls(nranks, 16384, {});
        calls.between(hosts);
        RandomShapes shapes(static_cast<unsigned>(nranks), nranks);
        for (int i = 0; i < 40; ++i) calls.add(shapes.next());
        EXPECT_EQ(fault_of(calls.check()), "") << nranks << " ranks";
    }
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
    for (const std::uint64_t slots : {Turns::kSlots, Turns::kMostSlots}) {
        Turns turns(1000, 2, slots);
        for (std::uint64_t turn = 0; turn < slots - 1; ++turn) {
            EXPECT_FALSE(turns.must_meet(0)) << turn;
            EXPECT_EQ(turns.take(0).slot, turn);
        }
        EXPECT_TRUE(turns.must_meet(0));
        turns.over(turns.take(0).number, SyncPattern::all_from_all, 0);
        EXPECT_FALSE(turns.must_meet(0));
        EXPECT_EQ(turns.take(0).slot, 0U);
    }
}

}  // namespace turns_test
}  // namespace peal::comm
