// SPDX-License-Identifier: Apache-2.0
#include "check/proof_store.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/digest.hpp"
#include "check/recipes.hpp"
#include "peal/error.hpp"
#include "support/temporary_cache.hpp"

namespace peal {
namespace proof_store_test {

namespace fs = std::filesystem;
using test::TemporaryCache;

checker::ProofRecord record_number(int number) {
    checker::ProofRecord record;
    record.subject.digest = fmt::format("{:032x}", number);
    record.subject.meanings = "none";
    record.subject.ranks = 4;
    record.subject.calls = 3;
    record.subject.device = DeviceRules::a2a3();
    record.kernels = "ring";
    record.results = "protocol only";
    record.events = 12;
    record.proved_at = 1000 + number;
    return record;
}

std::size_t files_in(const fs::path& directory) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

fs::path only_file(const fs::path& directory) { return fs::directory_iterator(directory)->path(); }

void write(const fs::path& place, const std::string& text) { std::ofstream(place) << text; }

std::string text_of(const fs::path& place) {
    std::ifstream file(place);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const fs::path& directory) {
    try {
        const checker::ProofStore store(directory);
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::resource);
        return error.what();
    }
    return "no error";
}

// ---------------------------------------------------------------------------- records

TEST(ProofRecord, IsOneLineOfJsonAndBack) {
    const checker::ProofRecord record = record_number(7);
    EXPECT_EQ(
        to_text(record),
        R"({"digest":"00000000000000000000000000000007","kernels":"ring","results":"protocol only",)"
        R"("meanings":"none","ranks":4,"calls":3,"rounds_that_fit":0,"device":{"tile_bytes":196608,)"
        R"("tile_alignment":32,"one_outstanding_load":true},"strict_loads":false,)"
        R"("memory_order":"any",)"
        R"("method":"linear","events":12,"states":0,"checker":2,"proved_at":1007})"
        "\n");
    EXPECT_EQ(checker::proof_record_from(to_text(record)), record);
}

TEST(ProofRecord, EveryPartOfTheSubjectHasAKeyOfItsOwn) {
    const std::map<std::string, std::function<void(checker::ProofSubject&)>> changes = {
        {"nothing", [](checker::ProofSubject&) {}},
        {"digest", [](checker::ProofSubject& s) { s.digest += "0"; }},
        {"meanings", [](checker::ProofSubject& s) { s.meanings = "0"; }},
        {"ranks", [](checker::ProofSubject& s) { ++s.ranks; }},
        {"calls", [](checker::ProofSubject& s) { ++s.calls; }},
        {"tile_bytes", [](checker::ProofSubject& s) { ++s.device.tile_bytes; }},
        {"tile_alignment", [](checker::ProofSubject& s) { ++s.device.tile_alignment; }},
        {"one_outstanding_load",
         [](checker::ProofSubject& s) { s.device.one_outstanding_load = false; }},
        {"strict_loads", [](checker::ProofSubject& s) { s.strict_loads = true; }},
        {"memory_order", [](checker::ProofSubject& s) { s.memory_order = "fenced"; }},
        {"checker", [](checker::ProofSubject& s) { ++s.checker; }},
    };
    std::map<std::string, std::string> seen;
    for (const auto& [name, change] : changes) {
        checker::ProofSubject subject = record_number(1).subject;
        change(subject);
        const auto [at, is_new] = seen.emplace(checker::key_of(subject), name);
        EXPECT_TRUE(is_new) << name << " has the key of " << at->second;
    }
}

TEST(ProofDigest, EveryPartOfWhatIsCheckedChangesIt) {
    const std::vector<Plan> plans = test::mesh_allreduce(2, 8).list();
    Collective collective;
    collective.count = 2;
    const Meaning meaning = meaning_of(collective, plans);
    const std::map<std::string, std::function<void(std::vector<Plan>&, Meaning&, CheckStage&)>>
        changes = {
            {"nothing", [](auto&, auto&, auto&) {}},
            {"a plan", [](auto& all, auto&, auto&) { all[1].instructions.pop_back(); }},
            {"order of plans", [](auto& all, auto&, auto&) { std::swap(all[0], all[1]); }},
            {"no meaning", [](auto&, auto&, CheckStage& s) { s.meaning = nullptr; }},
            {"memory",
             [](auto&, auto&, CheckStage& s) {
                 s.memory = {"a", "b", "c", "d"};
             }},
            {"name", [](auto&, Meaning& m, auto&) { m.name += "2"; }},
            {"in_order", [](auto&, Meaning& m, auto&) { m.in_order ^= true; }},
            {"same_bits", [](auto&, Meaning& m, auto&) { m.same_bits ^= true; }},
            {"commutes", [](auto&, Meaning& m, auto&) { m.commutes ^= true; }},
            {"meets", [](auto&, Meaning& m, auto&) { m.meets ^= true; }},
            {"staged",
             [](auto&, Meaning& m, auto&) {
                 m.staged.push_back({0, 2, 0, 4});
             }},
            {"staged.rank",
             [](auto&, Meaning& m, auto&) {
                 m.staged.push_back({1, 2, 0, 4});
             }},
            {"staged.buffer",
             [](auto&, Meaning& m, auto&) {
                 m.staged.push_back({0, 1, 0, 4});
             }},
            {"staged.offset",
             [](auto&, Meaning& m, auto&) {
                 m.staged.push_back({0, 2, 4, 4});
             }},
            {"staged.length",
             [](auto&, Meaning& m, auto&) {
                 m.staged.push_back({0, 2, 0, 8});
             }},
            {"rank", [](auto&, Meaning& m, auto&) { m.outputs[0].rank ^= 1; }},
            {"buffer", [](auto&, Meaning& m, auto&) { ++m.outputs[0].buffer; }},
            {"offset", [](auto&, Meaning& m, auto&) { ++m.outputs[0].offset; }},
            {"length", [](auto&, Meaning& m, auto&) { ++m.outputs[0].length; }},
            {"op", [](auto&, Meaning& m, auto&) { m.outputs[0].op = ReduceOp::min; }},
            {"element", [](auto&, Meaning& m, auto&) { m.outputs[0].element = Element::i32; }},
            {"reduces", [](auto&, Meaning& m, auto&) { m.outputs[0].reduces ^= true; }},
            {"contributions",
             [](auto&, Meaning& m, auto&) {
                 auto list = *m.outputs[0].of;
                 list.pop_back();
                 m.outputs[0].of = std::make_shared<const std::vector<Contribution>>(list);
             }},
        };
    std::map<std::string, std::string> seen;
    for (const auto& [name, change] : changes) {
        std::vector<Plan> all = plans;
        Meaning changed = meaning;
        CheckStage stage{&all, &changed, {}};
        change(all, changed, stage);
        const auto [at, is_new] = seen.emplace(checker::digest({stage}), name);
        EXPECT_TRUE(is_new) << name << " has the digest of " << at->second;
    }
}

TEST(ProofDigest, DoesNotDependOnWhoSharesAList) {
    const std::vector<Plan> plans = test::mesh_allreduce(2, 8).list();
    Collective collective;
    collective.count = 2;
    const Meaning meaning = meaning_of(collective, plans);
    Meaning unshared = meaning;
    for (Expected& output : unshared.outputs) {
        output.of = std::make_shared<const std::vector<Contribution>>(*output.of);
    }
    EXPECT_EQ(checker::digest(unshared), checker::digest(meaning));
}

// ---------------------------------------------------------------------------- the store

TEST(ProofStore, FindsWhatWasPutThere) {
    const TemporaryCache cache;
    const checker::ProofStore store(cache.proofs());
    EXPECT_EQ(store.find(record_number(1).subject), std::nullopt);
    store.add(record_number(1));
    store.add(record_number(2));
    store.add(record_number(2));
    EXPECT_EQ(store.find(record_number(1).subject), record_number(1));
    EXPECT_EQ(store.find(record_number(3).subject), std::nullopt);
    EXPECT_THAT(store.list(), testing::ElementsAre(record_number(2), record_number(1)));
    EXPECT_EQ(checker::ProofStore(cache.proofs()).clear(), 2u);
    EXPECT_THAT(store.list(), testing::IsEmpty());
    EXPECT_EQ(store.find(record_number(1).subject), std::nullopt);
}

TEST(ProofStore, WhatIsNoRecordIsNotThere) {
    const TemporaryCache cache;
    const checker::ProofStore store(cache.proofs());
    const checker::ProofRecord record = record_number(1);
    store.add(record);
    const fs::path place = only_file(cache.proofs());
    const std::string whole = to_text(record);
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string text = whole;
        return text.replace(text.find(what), what.size(), by);
    };
    const std::vector<std::string> bad = {
        "",
        "\n",
        "{}",
        "[]",
        "null",
        whole.substr(0, whole.size() / 2),
        std::string(100, '\0'),
        std::string(2 << 20, ' ') + whole,
        replaced("\"ranks\":4", "\"ranks\":\"4\""),
        replaced("\"calls\":3", "\"cells\":3"),
        replaced("\"linear\"", "\"guessed\""),
        replaced("\"proved_at\":1001", "\"proved_at\":-1"),
        replaced("\"proved_at\":1001", "\"proved_at\":253402300800"),
        replaced("\"checker\":2", "\"checker\":0"),
        replaced("\"checker\":2", "\"checker\":1"),
    };
    for (const std::string& text : bad) {
        write(place, text);
        EXPECT_EQ(store.find(record.subject), std::nullopt) << text.substr(0, 400);
        EXPECT_THAT(store.list(), testing::IsEmpty()) << text.substr(0, 400);
    }
    // Whole, but about something else: it is under a name that is not its own.
    for (const std::string& text : {replaced("\"calls\":3", "\"calls\":4"),
                                    replaced("\"any\"", "\"fenced\""), replaced("0001", "0002")}) {
        write(place, text);
        EXPECT_EQ(store.find(record.subject), std::nullopt) << text;
        EXPECT_THAT(store.list(), testing::IsEmpty()) << text;
    }
    fs::remove(place);
    fs::create_directory(place);
    EXPECT_EQ(store.find(record.subject), std::nullopt);
    fs::remove(place);
    store.add(record);
    EXPECT_EQ(store.find(record.subject), record);
}

TEST(ProofStore, TheOldestGo) {
    const TemporaryCache cache;
    const checker::ProofStore store(cache.proofs(), 16);
    const auto age = [&](const fs::path& file, int hours) {
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    for (int i = 0; i < 16; ++i) {
        store.add(record_number(i));
        age(cache.proofs() + "/" + checker::key_of(record_number(i).subject) + ".json", 100 - i);
    }
    EXPECT_EQ(store.list().size(), 16u);
    store.add(record_number(16));
    EXPECT_EQ(files_in(cache.proofs()), 14u);
    for (int i = 0; i < 17; ++i) {
        EXPECT_EQ(store.find(record_number(i).subject).has_value(), i >= 3) << i;
    }
}

TEST(ProofStore, HalfWrittenFilesAreNotListedAndGrowOld) {
    const TemporaryCache cache;
    const checker::ProofStore store(cache.proofs(), 4);
    const fs::path draft = cache.proofs() + "/left.json.12-0";
    write(draft, "{");
    fs::last_write_time(draft, fs::file_time_type::clock::now() - std::chrono::hours(9));
    const fs::path fresh = cache.proofs() + "/fresh.json.13-0";
    write(fresh, "{");
    store.add(record_number(1));
    EXPECT_EQ(store.list().size(), 1u);
    EXPECT_EQ(store.clear(), 1u);
    EXPECT_TRUE(fs::exists(draft));
    for (int i = 0; i < 4; ++i) store.add(record_number(i));
    EXPECT_FALSE(fs::exists(draft));
    EXPECT_TRUE(fs::exists(fresh)) << "somebody may be writing it";
}

TEST(ProofStore, MustBeTheUsersAlone) {
    const TemporaryCache cache;
    const std::string place = cache.proofs();
    { const checker::ProofStore store(place); }
    struct stat status {};
    ASSERT_EQ(stat(place.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    for (const mode_t mode : {0770, 0707, 0777, 0720}) {
        chmod(place.c_str(), mode);
        EXPECT_EQ(refusal(place), place +
                                      " can be written by others: chmod go-w it or name another "
                                      "directory in PEAL_CACHE");
    }
    chmod(place.c_str(), 0755);
    EXPECT_EQ(refusal(place), "no error");
    fs::remove(place);
    fs::create_directory(cache.path() + "/elsewhere");
    fs::create_directory_symlink(cache.path() + "/elsewhere", place);
    EXPECT_EQ(refusal(place), place + " is no directory: name another directory in PEAL_CACHE");
    EXPECT_EQ(refusal("/dev/null/proofs"),
              "/dev/null/proofs cannot be made: name another directory in PEAL_CACHE");
}

TEST(ProofStore, OfSomebodyElseIsNotUsed) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    const TemporaryCache cache;
    const std::string place = cache.proofs();
    fs::create_directory(place);
    ASSERT_EQ(chown(place.c_str(), 12345, 12345), 0);
    chmod(place.c_str(), 0755);
    EXPECT_EQ(refusal(place),
              place + " belongs to somebody else: name another directory in PEAL_CACHE");
}

// Each of them puts records there, its own and such that others put there, too, lists and clears.
// Nobody may ever see a record that is not whole.
int use_at_once(const std::string& place, int process) {
    const checker::ProofStore store(place, 32);
    for (int round = 0; round < 60; ++round) {
        store.add(record_number(round));
        store.add(record_number(1000 * process + round));
        const auto found = store.find(record_number(round).subject);
        if (found && *found != record_number(round)) return 1;
        for (const checker::ProofRecord& record : store.list()) {
            if (record.subject.ranks != 4 || record.kernels != "ring") return 2;
        }
        if (round % 20 == 19 && process == 1) store.clear();
    }
    return 0;
}

TEST(ProofStore, ServesProcessesAtOnce) {
    const TemporaryCache cache;
    std::vector<pid_t> children;
    for (int process = 1; process <= 4; ++process) {
        const pid_t child = fork();
        if (child == 0) {
            int outcome = 3;
            try {
                outcome = use_at_once(cache.proofs(), process);
            } catch (const std::exception& error) {
                fmt::print(stderr, "{}\n", error.what());
            }
            _exit(outcome);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    const checker::ProofStore store(cache.proofs(), 32);
    store.add(record_number(1));
    EXPECT_LE(files_in(cache.proofs()), 32u);
    EXPECT_EQ(store.list().size(), files_in(cache.proofs())) << "nothing half written is left";
}

// ---------------------------------------------------------------------------- check_once

class CheckOnce : public testing::Test {
protected:
    std::vector<CheckStage> stages() const { return {{&plans_, nullptr, {}}}; }
    std::vector<Plan> plans_ = test::mesh_allreduce(3, 8).list();
    TemporaryCache cache_;
};

TEST_F(CheckOnce, ProvesOnce) {
    const ProofAnswer first = check_once(stages(), {});
    EXPECT_FALSE(first.from_store);
    const ProofAnswer second = check_once(stages(), {});
    EXPECT_TRUE(second.from_store);
    EXPECT_EQ(second.report.verdict, Verdict::proved);
    EXPECT_EQ(second.report.method, first.report.method);
    EXPECT_EQ(second.report.calls, first.report.calls);
    EXPECT_EQ(second.report.events, first.report.events);
    EXPECT_EQ(second.report.states, first.report.states);
    EXPECT_TRUE(checker::find_proof(stages(), {}).has_value());
}

TEST_F(CheckOnce, AnyNumberOfCallsAnswersForEach) {
    EXPECT_TRUE(check_once(stages(), {}).report.any_calls);
    for (const int calls : {1, 4, 1'000'000}) {
        CheckOptions options;
        options.calls = calls;
        const ProofAnswer answer = check_once(stages(), options);
        EXPECT_TRUE(answer.from_store);
        EXPECT_TRUE(answer.report.any_calls);
        EXPECT_EQ(answer.report.calls, calls);
        EXPECT_EQ(answer.report.calls_that_fit, 1'073'741'823u);
    }
    CheckOptions too_many;
    too_many.calls = 1'073'741'824;
    EXPECT_FALSE(checker::find_proof(stages(), too_many).has_value());
}

TEST_F(CheckOnce, ANumberOfCallsAnswersForItself) {
    CheckOptions options;
    options.any_calls = false;
    options.calls = 2;
    EXPECT_FALSE(check_once(stages(), options).from_store);
    EXPECT_TRUE(check_once(stages(), options).from_store);
    options.calls = 3;
    EXPECT_FALSE(check_once(stages(), options).from_store);
}

TEST_F(CheckOnce, AnotherQuestionIsAskedAnew) {
    check_once(stages(), {});
    CheckOptions device;
    device.device = DeviceRules::a5();
    EXPECT_FALSE(check_once(stages(), device).from_store);
    CheckOptions strict;
    strict.strict_loads = true;
    EXPECT_FALSE(check_once(stages(), strict).from_store);
    // How long one would have searched does not matter to what is proved.
    CheckOptions patient;
    patient.max_states = 5;
    patient.max_violations = 1;
    EXPECT_TRUE(check_once(stages(), patient).from_store);
    plans_[0].instructions.back().line = 70;
    EXPECT_TRUE(check_once(stages(), {}).from_store);
    plans_[0].kernel = "other";
    plans_[1].kernel = "other";
    plans_[2].kernel = "other";
    EXPECT_FALSE(check_once(stages(), {}).from_store);
}

TEST_F(CheckOnce, OnlyProofsAreKept) {
    plans_[0].instructions.pop_back();
    EXPECT_EQ(check_once(stages(), {}).report.verdict, Verdict::violated);
    EXPECT_EQ(files_in(cache_.proofs()), 0u);
    EXPECT_EQ(check_once(stages(), {}).report.verdict, Verdict::violated);
    CheckOptions bounded;
    bounded.max_memory_bytes = 1;
    plans_ = test::mesh_allreduce(3, 8).list();
    EXPECT_EQ(check_once(stages(), bounded).report.verdict, Verdict::bound);
    EXPECT_EQ(files_in(cache_.proofs()), 0u);
    checker::keep_proof(stages(), bounded, check(stages(), bounded));
    EXPECT_EQ(files_in(cache_.proofs()), 0u);
    checker::keep_proof(stages(), {}, check(stages(), {}));
    EXPECT_EQ(files_in(cache_.proofs()), 1u);
    EXPECT_TRUE(check_once(stages(), {}).from_store);
}

TEST_F(CheckOnce, CanBeTurnedOff) {
    check_once(stages(), {});
    const test::Variable off("PEAL_PROOFS", "off");
    EXPECT_FALSE(check_once(stages(), {}).from_store);
    EXPECT_FALSE(checker::find_proof(stages(), {}).has_value());
    fs::remove_all(cache_.proofs());
    checker::keep_proof(stages(), {}, check(stages(), {}));
    EXPECT_FALSE(fs::exists(cache_.proofs()));
}

TEST_F(CheckOnce, StagesMustFitTogether) {
    try {
        check_once({}, {});
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "check: there is nothing to check: no stages");
    }
}

TEST_F(CheckOnce, WithoutADirectoryItIsACheckAndSaysSoOnce) {
    const pid_t child = fork();
    if (child == 0) {
        const std::string told = cache_.path() + "/told";
        if (!freopen(told.c_str(), "w", stderr)) _exit(9);
        setenv("PEAL_CACHE", "/dev/null/x", 1);
        const bool proved = check_once(stages(), {}).report.verdict == Verdict::proved &&
                            !check_once(stages(), {}).from_store;
        fclose(stderr);
        _exit(proved ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text_of(cache_.path() + "/told"),
              "peal: proofs are not kept: /dev/null/x cannot be made: name another directory in "
              "PEAL_CACHE\n");
}

}  // namespace proof_store_test
}  // namespace peal
