// SPDX-License-Identifier: Apache-2.0
// Nothing unproved runs by default: whatever the built-in table picks is proved, at the borders of
// its rules and beyond.
#include "comm/profile.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "check/call_sequence.hpp"
#include "comm/group_memory.hpp"
#include "comm/profile_variable.hpp"
#include "comm/routine.hpp"
#include "peal/communicator.hpp"
#include "shm/thrown.hpp"

namespace peal::comm {
namespace table_test {

using shm::test::message_of;
using test::ProfileVariable;

constexpr std::uint64_t kElementBytes = 4;

Shape shape_of(const Rule& rule, std::uint64_t bytes, int nranks) {
    Shape shape;
    shape.kind = rule.kind;
    if (rule.kind == CollectiveKind::barrier) return shape;
    shape.element = Element::f32;
    shape.placement = rule.where == Where::window ? Placement::window : Placement::separate;
    if (has_root(rule.kind)) shape.root = nranks / 2;
    shape.count = bytes / kElementBytes;
    if (facts_of(rule.kind).counts_ranks()) {  // the largest piece is `bytes`
        shape.counts.assign(static_cast<std::size_t>(nranks), 1);
        shape.counts[0] = static_cast<std::int64_t>(std::exchange(shape.count, 0));
    }
    if (rule.kind != CollectiveKind::all_to_all_v) return shape;
    // The rank that gets most gets `bytes` in all.
    shape.counts.assign(static_cast<std::size_t>(nranks * nranks), 1);
    shape.counts[1] = static_cast<std::int64_t>(shape.count) - (nranks - 1);
    shape.count = 0;
    return shape;
}

struct Picked {
    Collective collective;
    std::vector<Plan> plans;
};

Picked pick(const Shape& shape, int nranks, bool reach) {
    const Table table = built_in_table();
    const RoutineLimits limits = limits_of(nranks, kRoomForCollectives, reach);
    Picked picked;
    for (int rank = 0; rank < nranks; ++rank) {
        const auto routine = make_routine(shape, table, rank, nranks, limits);
        picked.collective.recipe = routine->collective.recipe;
        picked.collective.placement = routine->collective.placement;
        picked.plans.push_back(routine->plan);
    }
    picked.collective.kind = shape.kind;
    picked.collective.element = shape.element;
    picked.collective.count = shape.count;
    picked.collective.counts = shape.counts;
    picked.collective.root = shape.root;
    return picked;
}

// "", or what is wrong.
std::string fault_of(const Picked& picked) {
    checker::CallSequence calls;
    calls.add(picked.collective, picked.plans);
    CheckOptions twice;
    twice.calls = 2;
    const CheckReport report = check(calls.stages(), twice);
    if (report.verdict == Verdict::proved) return "";
    return report.violations.empty() ? report.bound : report.violations.front().message;
}

// Enough to go through the staging window in a few chunks, a block for each rank or not.
std::uint64_t chunks_bytes(const Rule& rule, int nranks) {
    using enum CollectiveKind;
    constexpr std::uint64_t kFewChunks = 3 << 20;
    const bool blocks =
        rule.kind == reduce_scatter || rule.kind == all_to_all || rule.kind == scatter;
    const std::uint64_t bytes =
        blocks ? kFewChunks / static_cast<std::uint64_t>(nranks) : kFewChunks;
    return bytes / kElementBytes * kElementBytes;
}

// Calls that the rules of one collective are for.
struct Field {
    CollectiveKind kind;
    bool on_window;
    bool reach;  // whether private memory is in reach
};

std::vector<Field> fields() {
    std::vector<Field> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const Field& field :
             {Field{kind, false, true}, {kind, false, false}, {kind, true, true}}) {
            if (!built_in_table().choices(kind, field.on_window, 0, 2).empty()) {
                list.push_back(field);
            }
        }
    }
    return list;
}

std::string field_name(const testing::TestParamInfo<Field>& info) {
    return std::string(name(info.param.kind)) + (info.param.on_window ? "_window" : "") +
           (info.param.reach ? "" : "_out_of_reach");
}

// A rule that picks, and the smallest and the largest message that it picks for.
struct Border {
    Rule rule;
    std::uint64_t least, most;
};

std::vector<Border> borders(const Field& field, int nranks) {
    std::vector<Border> list;
    std::uint64_t least = 64;
    for (const Rule& rule : built_in_table().rules) {
        const bool applies = rule.kind == field.kind && rule.where == where_of(field.on_window) &&
                             nranks <= rule.max_ranks && (field.reach || !rule.reach);
        if (!applies || rule.max_bytes < least) continue;
        const bool takes_any = rule.max_bytes == Rule::kAny;
        const std::uint64_t most =
            takes_any ? std::max(least, chunks_bytes(rule, nranks)) : rule.max_bytes;
        list.push_back({rule, least, most});
        if (takes_any) break;
        least = rule.max_bytes + kElementBytes;
    }
    return list;
}

class BuiltInTable : public testing::TestWithParam<Field> {};

TEST_P(BuiltInTable, IsProvedAtTheBordersOfItsRules) {
    const Field& field = GetParam();
    for (int nranks = 2; nranks <= 16; ++nranks) {
        for (const Border& border : borders(field, nranks)) {
            const auto picked = [&](std::uint64_t bytes) {
                return pick(shape_of(border.rule, bytes, nranks), nranks, field.reach);
            };
            SCOPED_TRACE(testing::Message() << nranks << " ranks, " << border.least << " to "
                                            << border.most << " bytes");
            const Picked least = picked(border.least);
            EXPECT_EQ(fault_of(least), "");
            // Small ranges are picked by this rule; more than the ring holds goes to a later one.
            EXPECT_EQ(least.collective.recipe, border.rule.recipe);
            const bool is_looked_at = nranks <= 3 || nranks == 5 || nranks == 8 || nranks == 16;
            if (is_looked_at) {
                EXPECT_EQ(fault_of(picked(border.most)), "");
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInTable, testing::ValuesIn(fields()), field_name);

// ---- profiles

TEST(Profile, IsTheTableAsJson) {
    Table table = built_in_table();
    table.rules[0].max_ranks = 7;
    const Table same = table_from_json(to_json(table), "there");
    EXPECT_EQ(same.rules, table.rules);
    EXPECT_EQ(same.origin, "there");
    EXPECT_EQ(to_json(same), to_json(table));
}

TEST(Profile, IsReadable) {
    const Table table{
        "",
        {{CollectiveKind::allreduce, Where::staging, 4, 1024, "push", 0, false},
         {CollectiveKind::broadcast, Where::staging, 2, Rule::kAny, "joint", 0, true},
         {CollectiveKind::barrier, Where::staging, kMaxRanks, Rule::kAny, "mesh", 0, false}}};
    EXPECT_EQ(to_json(table),
              "{\"peal_profile\": 1, \"rules\": [\n"
              "  {\"collective\":\"allreduce\",\"max_ranks\":4,\"max_bytes\":1024,"
              "\"recipe\":\"push\"},\n"
              "  {\"collective\":\"broadcast\",\"max_ranks\":2,\"recipe\":\"joint\","
              "\"reach\":true},\n"
              "  {\"collective\":\"barrier\",\"recipe\":\"mesh\"}\n"
              "]}\n");
}

std::string complaint(std::string_view text) {
    const std::string message = message_of(Fault::usage, [&] { table_from_json(text, "p.json"); });
    const std::string start = "profile p.json: ";
    const std::string end =
        "; write a new one with `peal tune`, or remove it to use the built-in table";
    EXPECT_EQ(message.substr(0, start.size()), start);
    EXPECT_TRUE(message.ends_with(end)) << message;
    return message.substr(start.size(), message.size() - start.size() - end.size());
}

std::string complaint_about_rule(const std::string& rule) {
    return complaint("{\"peal_profile\": 1, \"rules\": [" + rule + "]}");
}

TEST(Profile, SaysWhatIsWrong) {
    EXPECT_EQ(complaint("{"), "it is not JSON");
    EXPECT_EQ(complaint("[]"), "expected an object with \"peal_profile\": 1");
    EXPECT_EQ(complaint("{\"peal_profile\": 2}"), "expected an object with \"peal_profile\": 1");
    EXPECT_EQ(complaint("{\"peal_profile\": 1}"), "expected 'rules'");
    EXPECT_EQ(complaint("{\"peal_profile\": 1, \"rules\": []}"),
              "no rule for allreduce of any size on any number of ranks");
}

TEST(Profile, SaysWhatIsWrongWithARule) {
    EXPECT_EQ(complaint_about_rule("5"), "rule 0: expected an object");
    EXPECT_EQ(complaint_about_rule("{}"), "rule 0: expected a text 'collective'");
    EXPECT_EQ(complaint_about_rule("{\"colective\": 1}"), "rule 0: unknown word 'colective'");
    EXPECT_EQ(complaint_about_rule("{\"collective\": \"sum\"}"),
              "rule 0: there is no collective 'sum'");
    EXPECT_EQ(complaint_about_rule("{\"collective\": \"barrier\"}"),
              "rule 0: expected a text 'recipe'");
    // Older profiles say "mode".
    for (const char* word : {"recipe", "mode"}) {
        EXPECT_EQ(
            complaint_about_rule(fmt::format(R"({{"collective": "barrier", "{}": "fast"}})", word)),
            "rule 0: barrier has no recipe 'fast'");
    }
    EXPECT_EQ(complaint_about_rule("{\"collective\": \"allreduce\", \"recipe\": \"lanes\"}"),
              "rule 0: recipe 'lanes' of allreduce is for ranks with several lanes; a rank of a "
              "communicator has one");
    EXPECT_EQ(complaint_about_rule(
                  "{\"collective\": \"all_to_all_v\", \"on_window\": true, \"recipe\": \"push\"}"),
              "rule 0: all_to_all_v has no recipe 'push' on a window");
    EXPECT_EQ(complaint_about_rule(
                  "{\"collective\": \"barrier\", \"recipe\": \"mesh\", \"max_bytes\": -1}"),
              "rule 0: expected 'max_bytes' to be a number from 0 to 4611686018427387904");
    EXPECT_EQ(complaint_about_rule(
                  "{\"collective\": \"barrier\", \"recipe\": \"mesh\", \"max_ranks\": 1025}"),
              "rule 0: expected 'max_ranks' to be a number from 0 to 1024");
    EXPECT_EQ(complaint_about_rule("{\"collective\": \"allreduce\", \"recipe\": \"pipeline\", "
                                   "\"stage_bytes\": 8388609}"),
              "rule 0: expected 'stage_bytes' to be a number from 0 to 8388608");
    EXPECT_EQ(complaint_about_rule(
                  "{\"collective\": \"allreduce\", \"recipe\": \"mesh\", \"on_window\": 1}"),
              "rule 0: expected 'on_window' to be true or false");
    EXPECT_EQ(complaint_about_rule(
                  "{\"collective\": \"allreduce\", \"recipe\": \"mesh\", \"reach\": true}"),
              "rule 0: allreduce has no recipe 'mesh' that reaches private buffers");
    EXPECT_EQ(complaint_about_rule("{\"collective\": \"broadcast\", \"recipe\": \"mesh\", "
                                   "\"on_window\": true, \"reach\": true}"),
              "rule 0: 'reach' is for private buffers");
    EXPECT_EQ(complaint_about_rule(R"({"collective": "allreduce", "recipe": "hosts"})"),
              "rule 0: allreduce has no recipe 'hosts'");
    EXPECT_EQ(
        complaint_about_rule(R"({"collective": "allreduce", "recipe": "push", "max_per_host": 2})"),
        "rule 0: 'max_per_host' is for rules with 'between_hosts'");
    EXPECT_EQ(complaint_about_rule(R"({"collective": "broadcast", "recipe": "mesh",
                                       "between_hosts": true, "reach": true})"),
              "rule 0: 'reach' is for ranks of one host");
    EXPECT_EQ(complaint_about_rule(R"({"collective": "allreduce", "recipe": "hosts",
                                       "between_hosts": true, "on_window": true})"),
              "rule 0: 'between_hosts' is for data anywhere, leave out 'on_window'");
    EXPECT_EQ(complaint_about_rule(R"({"collective": "allreduce", "recipe": "hosts",
                                       "between_hosts": true, "max_hosts": 4})"),
              "no rule for allreduce of any size on any number of ranks");
}

// Of one machine, as `peal tune` writes it.
TEST(Profile, WithoutHostsLeavesTheirRulesAlone) {
    Table table = built_in_table();
    std::erase_if(table.rules, [](const Rule& rule) { return rule.where == Where::hosts; });
    EXPECT_EQ(table_from_json(to_json(table), "there").rules, built_in_table().rules);
    table.rules.push_back({CollectiveKind::barrier, Where::hosts, kMaxRanks, Rule::kAny, "mesh"});
    EXPECT_EQ(complaint(to_json(table)),
              "no rule for allreduce between hosts of any size on any number of ranks");
}

TEST(Profile, MustDoWithoutReach) {
    Table table = built_in_table();
    std::erase_if(table.rules, [](const Rule& rule) {
        return rule.kind == CollectiveKind::all_to_all && rule.where == Where::staging &&
               !rule.reach;
    });
    EXPECT_EQ(complaint(to_json(table)),
              "no rule for all_to_all of any size on any number of ranks");
}

TEST(Profile, ComesFromTheEnvironment) {
    const std::string path = testing::TempDir() + "peal_profile_test.json";
    Table table = built_in_table();
    table.rules.front().max_bytes = 77;
    std::ofstream(path) << to_json(table);
    const ProfileVariable variable(path);
    EXPECT_EQ(applicable_table().origin, path);
    EXPECT_EQ(applicable_table().rules, table.rules);
    std::filesystem::remove(path);
    EXPECT_EQ(message_of(Fault::usage, applicable_table),
              "cannot read the profile '" + path + "': No such file or directory");
}

TEST(Profile, NoneMeansBuiltIn) {
    const ProfileVariable variable("");
    EXPECT_EQ(applicable_table().origin, "built in");
    EXPECT_EQ(applicable_table().rules, built_in_table().rules);
}

TEST(Profile, ACommunicatorSaysWhichItHas) {
    const ProfileVariable variable("");
    Communicator::threads(2, [](Communicator& comm) { EXPECT_EQ(comm.profile(), "built in"); });
}

}  // namespace table_test
}  // namespace peal::comm
