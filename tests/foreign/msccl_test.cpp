// SPDX-License-Identifier: Apache-2.0
// Algorithms of MSCCL: read, refused, proved, and run against golden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foreign/algorithms.hpp"
#include "foreign/foreign.hpp"
#include "foreign/runs.hpp"
#include "peal/diagnostic.hpp"
#include "peal/error.hpp"

namespace peal::test {
namespace msccl_test {

using ::testing::HasSubstr;

foreign::ForeignPlans read(const std::string& text, const foreign::ReadOptions& options = {}) {
    return foreign::read_plans(source_of("made.xml", text), options);
}

CheckReport checked(const foreign::ForeignPlans& foreign) {
    const std::optional<Meaning> meaning = foreign::meaning_of(foreign);
    return check({{&foreign.plans, meaning ? &*meaning : nullptr, {}}});
}

std::string refusal_of(const std::string& text) { return refusal("made.xml", text); }

// Right on every rank count, with two slots or more, out of place and in place; and what is proved
// runs. With one slot each rank holds the message that the next one needs a slot to hand on.
TEST(Msccl, RingsProveAndRun) {
    for (int nranks = 2; nranks <= 6; ++nranks) {
        for (const int channels : {1, 2}) {
            for (const int slots : {1, 2, 3}) {
                foreign::ReadOptions options;
                options.slots = slots;
                options.in_place = slots == 3;
                const foreign::ForeignPlans ring = read(ring_allreduce(nranks, channels), options);
                const CheckReport report = checked(ring);
                if (slots == 1) {
                    ASSERT_EQ(report.verdict, Verdict::violated);
                    EXPECT_EQ(report.violations.front().kind, ViolationKind::deadlock);
                    continue;
                }
                EXPECT_EQ(report.verdict, Verdict::proved) << nranks << " ranks";
                EXPECT_EQ(report.method, CheckMethod::linear) << report.why_explored;
                expect_runs(ring, slots);
            }
        }
    }
}

TEST(Msccl, ChainsProveAndRun) {
    for (const int nranks : {2, 3, 5}) {
        const foreign::ForeignPlans chain = read(chain_broadcast(nranks, 2, 5));
        EXPECT_EQ(checked(chain).verdict, Verdict::proved);
        expect_runs(chain, nranks);
    }
}

// Without the root's own copy its output is written by nobody.
TEST(Msccl, AnOutputThatNobodyWrites) {
    std::string text = chain_broadcast(3, 1, 2);
    const auto copy = text.find("<tb id=\"1\"");
    text.erase(copy, text.find("</tb>", copy) + 5 - copy);
    const CheckReport report = checked(read(text));
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations.front().kind, ViolationKind::unwritten_read);
}

// Two thread blocks of one rank: the second sends what the first receives.
std::string relay(const char* announces, const char* waits) {
    return algo_text("custom", 3, 1,
                     "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n"
                     "<tb id=\"0\" send=\"1\" recv=\"-1\">\n" +
                         step_text(0, "s", "i", 0, "o", 0) +
                         "</tb></gpu>\n"
                         "<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n"
                         "<tb id=\"0\" send=\"-1\" recv=\"0\">\n" +
                         step_text(0, "r", "i", 0, "o", 0, announces) +
                         "</tb>\n<tb id=\"1\" send=\"2\" recv=\"-1\">\n" +
                         step_text(0, "s", "o", 0, "o", 0, waits) +
                         "</tb></gpu>\n"
                         "<gpu id=\"2\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n"
                         "<tb id=\"0\" send=\"-1\" recv=\"1\">\n" +
                         step_text(0, "r", "i", 0, "o", 0) + "</tb></gpu>\n");
}

TEST(Msccl, DependenciesOrderTheThreadBlocksOfARank) {
    const char* waits = " depid=\"0\" deps=\"0\"";
    EXPECT_EQ(checked(read(relay(" hasdep=\"1\"", waits))).verdict, Verdict::proved);
    const CheckReport race = checked(read(relay(" hasdep=\"1\"", "")));
    ASSERT_EQ(race.verdict, Verdict::violated);
    EXPECT_THAT(race.violations.front().message, HasSubstr("output"));
    // What nobody announces is waited for in vain.
    const CheckReport stuck = checked(read(relay("", waits)));
    ASSERT_EQ(stuck.verdict, Verdict::violated);
    EXPECT_EQ(stuck.violations.front().kind, ViolationKind::deadlock);
}

// Files of other makers list thread blocks as they come, and leave out what they mean.
TEST(Msccl, WhatIsLeftOutAndOutOfOrder) {
    std::string text = relay(" hasdep=\"1\"", " depid=\"0\" deps=\"0\"");
    const auto cut = [&](const std::string& from, const std::string& to) {
        const std::size_t begin = text.find(from), end = text.find(to, begin);
        std::string piece = text.substr(begin, end - begin);
        text.erase(begin, end - begin);
        return piece;
    };
    const std::string first = cut("<tb id=\"0\" send=\"-1\" recv=\"0\">", "<tb id=\"1\"");
    text.insert(text.find("</gpu>", text.find("<tb id=\"1\"")), first);
    const std::string gpu = cut("<gpu id=\"0\"", "<gpu id=\"1\"");
    text.insert(text.find("</algo>"), gpu);
    cut(" coll=", " ngpus=");
    cut(" ngpus=", " nchunksperloop=");
    EXPECT_EQ(checked(read(text)).verdict, Verdict::proved);
    EXPECT_FALSE(read(text).collective.has_value());
}

TEST(Msccl, CountsAreOfWholeChunks) {
    foreign::ReadOptions options;
    options.count = 12;
    const foreign::ForeignPlans ring = read(ring_allreduce(3, 1), options);
    EXPECT_EQ(ring.count, 12U);
    EXPECT_EQ(ring.collective->count, 12U);
    EXPECT_EQ(ring.plans[0].buffers[ring.ports.input].elements(), 12U);
    options.count = 13;
    try {
        read(ring_allreduce(3, 1), options);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_STREQ(
            error.what(),
            "--count: expected a multiple of 3, which is how many chunks a rank has, found "
            "13");
    }
}

TEST(Msccl, WhatIsRefusedAndWhy) {
    const std::string ring = ring_allreduce(2, 1);
    const auto changed = [&](const std::string& from, const std::string& to) {
        return refusal_of(changed_text(ring, from, to));
    };
    EXPECT_EQ(changed("type=\"s\"", "type=\"z\""),
              "made.xml:4:1: error: type: expected one of cpy, nop, r, rcs, re, rrc, rrcs, rrs, s, "
              "found 'z'");
    EXPECT_EQ(
        changed("srcbuf=\"i\"", "srcbuf=\"x\""),
        "made.xml:4:1: error: srcbuf: expected i, o or s (input, output, scratch), found 'x'");
    EXPECT_EQ(changed("srcoff=\"0\"", "srcoff=\"7\""),
              "made.xml:4:1: error: expected chunks of the input, which has 2, found 7..7");
    EXPECT_EQ(changed("srcoff=\"0\"", "scroff=\"0\""),
              "made.xml:4:1: error: <step> has no attribute 'scroff'");
    EXPECT_EQ(changed("cnt=\"1\"", "cnt=\"two\""),
              "made.xml:4:1: error: cnt: expected 1..1048576, found 'two'");
    EXPECT_EQ(changed(" s=\"0\"", " s=\"4\""),
              "made.xml:4:1: error: s: expected 0, since steps are numbered from 0, found '4'");
    EXPECT_EQ(changed("send=\"1\"", "send=\"-1\""),
              "made.xml:4:1: error: it sends, but its <tb> has send=\"-1\"");
    EXPECT_EQ(changed("chan=\"0\"", "chan=\"1\""),
              "made.xml:5:1: error: it receives message 0 from GPU 1 on channel 1, which sends 0");
    EXPECT_EQ(changed("ngpus=\"2\"", "ngpus=\"3\""),
              "made.xml:1:1: error: expected as many <gpu> as ngpus says, 1..1024, found 2");
    EXPECT_EQ(changed("<gpu id=\"1\"", "<gpu id=\"0\""),
              "made.xml:9:1: error: id: expected GPUs 0..1, each once, found 0");
    EXPECT_EQ(changed("coll=\"allreduce\"", "coll=\"alreduce\""),
              "made.xml:1:1: error: coll: expected allreduce, allgather, reduce_scatter, alltoall, "
              "broadcast or custom, found 'alreduce'");
    EXPECT_EQ(changed("proto=\"Simple\"", "proto=\"Foo\""),
              "made.xml:1:1: error: proto: expected Simple, LL, LL128, found 'Foo'");
    EXPECT_EQ(changed("nchannels=\"1\"", "nchannels=\"0\""),
              "made.xml:1:1: error: nchannels: expected 1..1048576, found '0'");
    EXPECT_EQ(changed("<tb ", "<bt "),
              "made.xml:3:1: error: this is no XML: xml error mismatched element");
    EXPECT_EQ(refusal_of("<gpu/>"), "made.xml:1:1: error: expected <algo>, found <gpu>");
    EXPECT_EQ(refusal_of(""), "made.xml:1:1: error: this is no XML: xml error empty document");
}

}  // namespace msccl_test
}  // namespace peal::test
