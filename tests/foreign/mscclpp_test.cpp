// SPDX-License-Identifier: Apache-2.0
// Execution plans of MSCCL++: read, refused, proved, and run against golden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/call_sequence.hpp"
#include "foreign/algorithms.hpp"
#include "foreign/foreign.hpp"
#include "foreign/runs.hpp"
#include "peal/diagnostic.hpp"
#include "peal/error.hpp"

namespace peal::test {
namespace mscclpp_test {

using ::testing::HasSubstr;

foreign::ForeignPlans read(const std::string& text) {
    return foreign::read_plans(source_of("made.json", text), {});
}

CheckReport checked(const foreign::ForeignPlans& foreign) {
    checker::CallSequence calls;
    calls.add_alternating(foreign.plans, foreign::meaning_of(foreign), foreign.alternating);
    return check(calls.stages());
}

void expect_right(const std::string& text) {
    const foreign::ForeignPlans foreign = read(text);
    const CheckReport report = checked(foreign);
    EXPECT_EQ(report.verdict, Verdict::proved)
        << (report.violations.empty() ? "" : report.violations.front().message);
    EXPECT_EQ(report.method, CheckMethod::linear) << report.why_explored;
    if (foreign.collective) expect_runs(foreign, 1);
}

std::string refusal_of(const std::string& text) { return refusal("made.json", text); }

// "i0" is chunk 0 of the own input, "1o2" chunk 2 of the output of rank 1.
struct At {
    int rank;  // -1: the own
    char buffer;
    int index;
};

// A plan for ranks that are all connected: remote buffer 3 * peer + k is i, o or s of the peer,
// channel p the one to the p-th other rank.
class Maker {
public:
    Maker(std::string collective, int nranks, int input, int output, int scratch)
        : collective_(std::move(collective)),
          nranks_(nranks),
          input_(input),
          output_(output),
          scratch_(scratch),
          gpus_(static_cast<std::size_t>(nranks)) {}

    bool in_place = true;
    bool alternates = false;
    int semaphores = 0;
    std::string type = "memory";  // of all channels

    void block(int rank) { gpus_[static_cast<std::size_t>(rank)].emplace_back(); }
    void op(int rank, const std::string& text) {
        gpus_[static_cast<std::size_t>(rank)].back().push_back(text);
    }
    void data(int rank, const std::string& name, const std::vector<At>& src,
              const std::vector<At>& dst, const std::string& more = "") {
        op(rank, data_text(rank, name, src, dst, more));
    }
    std::string data_text(int rank, const std::string& name, const std::vector<At>& src,
                          const std::vector<At>& dst, const std::string& more = "") const {
        const auto places = [&](const std::vector<At>& list) {
            std::vector<std::string> texts;
            for (const At& at : list) texts.push_back(place(rank, at));
            return fmt::format("{}", fmt::join(texts, ", "));
        };
        const std::string channel =
            name == "copy" ? "" : fmt::format(R"("channel_type": "{}", )", type);
        return fmt::format(R"({{"name": "{}", {}"src_buff": [{}], "dst_buff": [{}]{}}})", name,
                           channel, places(src), places(dst), more);
    }
    std::string sync_text(int rank, const std::string& name, int peer) const {
        return fmt::format(R"({{"name": "{}", "channel_ids": [{}], "channel_type": "{}"}})", name,
                           peer < rank ? peer : peer - 1, type);
    }
    void sync(int rank, const std::string& name, int peer) {
        op(rank, sync_text(rank, name, peer));
    }
    // Everybody tells everybody, and hears from everybody.
    void meet(int rank) {
        for (const char* name : {"signal", "wait"}) {
            for (int peer = 0; peer < nranks_; ++peer) {
                if (peer != rank) sync(rank, name, peer);
            }
        }
    }

    std::string text() const {
        std::vector<std::string> gpus;
        for (int rank = 0; rank < nranks_; ++rank) gpus.push_back(gpu(rank));
        return fmt::format(R"({{"name": "made", "collective": "{}", "protocol": "Simple",
"inplace": {}, "use_double_scratch_buffer": {}, "gpus": [
{}
]}})",
                           collective_, in_place, alternates, fmt::join(gpus, ",\n"));
    }

private:
    static std::string place(int rank, const At& at) {
        if (at.rank < 0 || at.rank == rank) {
            return fmt::format(R"({{"type": "{}", "index": {}, "size": 1}})", at.buffer, at.index);
        }
        const int peer = at.rank < rank ? at.rank : at.rank - 1;
        const int kind = at.buffer == 'i' ? 0 : at.buffer == 'o' ? 1 : 2;
        return fmt::format(R"({{"buffer_id": {}, "index": {}, "size": 1}})", 3 * peer + kind,
                           at.index);
    }
    std::string gpu(int rank) const {
        std::vector<std::string> blocks, remote, ids, peers, channels, held;
        for (int peer = 0; peer < nranks_; ++peer) {
            if (peer == rank) continue;
            channels.push_back(std::to_string(peers.size()));
            peers.push_back(std::to_string(peer));
            for (const char* kind : {"i", "o", "s"}) {
                ids.push_back(std::to_string(remote.size()));
                remote.push_back(
                    fmt::format(R"({{"rank": {}, "type": "{}", "access_channel_types": ["{}"]}})",
                                peer, kind, type));
            }
        }
        for (int i = 0; i < semaphores; ++i) held.push_back(R"({"init_value": 0})");
        for (const auto& ops : gpus_[static_cast<std::size_t>(rank)]) {
            blocks.push_back(fmt::format(
                R"({{"id": {}, "ops": [
{}
], "channels": [{{"channel_type": "{}", "channel_ids": [{}]}}],
"remote_buffer_refs": [{{"access_channel_type": "{}", "remote_buffer_ids": [{}]}}]}})",
                blocks.size(), fmt::join(ops, ",\n"), type, fmt::join(channels, ", "), type,
                fmt::join(ids, ", ")));
        }
        return fmt::format(
            R"({{"id": {}, "input_chunks": {}, "output_chunks": {}, "scratch_chunks": {},
"threadblocks": [
{}
],
"channels": [{{"channel_type": "{}", "connected_to": [{}]}}],
"remote_buffers": [{}], "semaphores": [{}]}})",
            rank, input_, output_, scratch_, fmt::join(blocks, ",\n"), type, fmt::join(peers, ", "),
            fmt::join(remote, ", "), fmt::join(held, ", "));
    }

    std::string collective_;
    int nranks_, input_, output_, scratch_;
    std::vector<std::vector<std::vector<std::string>>> gpus_;  // by rank and thread block
};

// Each rank reduces its own chunk, from the memory of all, and sends it to all.
Maker direct_allreduce(int nranks) {
    Maker maker("allreduce", nranks, nranks, nranks, 0);
    for (int rank = 0; rank < nranks; ++rank) {
        maker.block(rank);
        maker.meet(rank);
        std::vector<At> all = {{-1, 'i', rank}};
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer != rank) all.push_back({peer, 'i', rank});
        }
        maker.data(rank, "rres", all, all);
        maker.meet(rank);
    }
    return maker;
}

TEST(Mscclpp, DirectAllreduceProvesAndRuns) {
    for (int nranks = 2; nranks <= 5; ++nranks) expect_right(direct_allreduce(nranks).text());
}

// Without the first meeting a rank may be read before its input of this call is there.
TEST(Mscclpp, NobodyMayBeReadTooEarly) {
    Maker maker("allreduce", 2, 2, 2, 0);
    for (int rank = 0; rank < 2; ++rank) {
        maker.block(rank);
        maker.data(rank, "rres", {{-1, 'i', rank}, {1 - rank, 'i', rank}},
                   {{-1, 'i', rank}, {1 - rank, 'i', rank}});
        maker.meet(rank);
    }
    const CheckReport report = checked(read(maker.text()));
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations.front().kind, ViolationKind::data_race);
}

// Packets say themselves that they are there. In one scratch buffer the next call overwrites what
// may not have been read yet; in two that are used in turn it does not.
TEST(Mscclpp, PacketsNeedTwoScratchBuffers) {
    const auto exchange = [](bool alternates) {
        Maker maker("allreduce", 2, 1, 1, 1);
        maker.alternates = alternates;
        for (int rank = 0; rank < 2; ++rank) {
            maker.block(rank);
            maker.data(rank, "ppkt", {{-1, 'i', 0}}, {{1 - rank, 's', 0}});
            maker.data(rank, "repkt", {{-1, 'i', 0}, {-1, 's', 0}}, {{-1, 'i', 0}});
        }
        return maker.text();
    };
    expect_right(exchange(true));
    const CheckReport report = checked(read(exchange(false)));
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(report.violations.front().memory, HasSubstr("scratch@"));
}

TEST(Mscclpp, PacketsAreReducedCopiedSentAndUnpacked) {
    Maker maker("allreduce", 2, 2, 2, 3);
    maker.alternates = true;
    for (int rank = 0; rank < 2; ++rank) {
        const int other = 1 - rank;
        maker.block(rank);
        maker.data(rank, "ppkt", {{-1, 'i', other}}, {{other, 's', other}});
        maker.block(rank);
        maker.data(rank, "recspkt", {{-1, 'i', rank}, {-1, 's', rank}},
                   {{-1, 'i', rank}, {-1, 's', 2}, {other, 's', rank == 0 ? 0 : 1}});
        maker.block(rank);
        maker.data(rank, "upkt", {{-1, 's', other}}, {{-1, 'i', other}});
    }
    // What is unpacked over the input of the first thread block comes after that was put.
    expect_right(maker.text());
}

// Thread blocks of a rank meet at a barrier, or by a semaphore; without, they race.
TEST(Mscclpp, ThreadBlocksMeet) {
    const auto handed_on = [](const std::string& first, const std::string& second) {
        Maker maker("custom", 1, 1, 1, 1);
        maker.in_place = false;
        maker.semaphores = 1;
        maker.block(0);
        maker.data(0, "copy", {{-1, 'i', 0}}, {{-1, 's', 0}});
        maker.op(0, first);
        maker.block(0);
        maker.op(0, second);
        maker.data(0, "copy", {{-1, 's', 0}}, {{-1, 'o', 0}});
        return maker.text();
    };
    const std::string barrier = R"({"name": "barrier", "barrier_id": 0, "num_threadblocks": 2})";
    const std::string nop = R"({"name": "nop"})";
    expect_right(handed_on(barrier, barrier));
    expect_right(handed_on(R"({"name": "sem_release", "semaphore_ids": [0]})",
                           R"({"name": "sem_acquire", "semaphore_ids": [0]})"));
    EXPECT_EQ(checked(read(handed_on(nop, nop))).verdict, Verdict::violated);
    EXPECT_EQ(refusal_of(handed_on(barrier, nop)),
              "made.json:7:1: error: barrier 0: expected the 2 thread blocks that num_threadblocks "
              "says, found 1");
}

// Three rounds, each with its own part of the chunk.
TEST(Mscclpp, PipelinesAreUnrolled) {
    Maker maker("custom", 2, 1, 1, 1);
    maker.in_place = false;
    for (int rank = 0; rank < 2; ++rank) {
        const int other = 1 - rank;
        maker.block(rank);
        maker.meet(rank);
        const std::vector<std::string> ops = {
            maker.data_text(rank, "put", {{-1, 'i', 0}}, {{other, 'o', 0}}),
            maker.sync_text(rank, "signal", other), maker.sync_text(rank, "wait", other)};
        maker.op(rank, fmt::format(R"({{"name": "pipeline", "iter_context": {{"unit_size": 64, )"
                                   R"("num_chunks": 1}}, "ops": [{}]}})",
                                   fmt::join(ops, ", ")));
    }
    expect_right(maker.text());
    const foreign::ForeignPlans plans = read(maker.text());
    std::vector<std::uint64_t> copied;
    for (const Instruction& instruction : plans.plans[0].instructions) {
        if (const auto* copy = std::get_if<Copy>(&instruction.action)) {
            copied.push_back(copy->dst.length);
        }
    }
    EXPECT_EQ(copied, (std::vector<std::uint64_t>{64, 64, 16}));
}

// Each thread block of a group has its part of the chunks.
TEST(Mscclpp, ThreadBlocksShareAChunk) {
    Maker maker("allgather", 2, 1, 2, 0);
    maker.in_place = false;
    for (int rank = 0; rank < 2; ++rank) {
        const int other = 1 - rank;
        for (int part = 0; part < 2; ++part) {
            const std::string group =
                fmt::format(R"(, "tbg_info": {{"tb_id": {}, "tbg_size": 2}})", part);
            maker.block(rank);
            if (part == 0) maker.meet(rank);
            maker.op(rank, R"({"name": "barrier", "barrier_id": 0, "num_threadblocks": 2})");
            maker.data(rank, "put", {{-1, 'i', 0}}, {{other, 'o', rank}}, group);
            maker.data(rank, "copy", {{-1, 'i', 0}}, {{-1, 'o', rank}}, group);
            maker.op(rank, R"({"name": "barrier", "barrier_id": 0, "num_threadblocks": 2})");
            if (part == 0) maker.meet(rank);
        }
    }
    expect_right(maker.text());
}

// Two puts through a port channel from the same scratch. What is put is read later; a flush waits
// for that.
std::string two_puts(bool flushes_between, bool flushes_last) {
    Maker maker("custom", 2, 2, 2, 1);
    maker.in_place = false;
    maker.type = "port";
    for (int rank = 0; rank < 2; ++rank) {
        const int other = 1 - rank;
        const std::string channel = R"(, "channel_ids": [0])";
        maker.block(rank);
        maker.meet(rank);
        maker.data(rank, "copy", {{-1, 'i', 0}}, {{-1, 's', 0}});
        maker.data(rank, flushes_between ? "pwsf" : "pws", {{-1, 's', 0}}, {{other, 'o', 0}},
                   channel);
        maker.data(rank, "copy", {{-1, 'i', 1}}, {{-1, 's', 0}});
        maker.data(rank, "put", {{-1, 's', 0}}, {{other, 'o', 1}}, channel);
        maker.sync(rank, "signal", other);
        if (flushes_last) maker.sync(rank, "flush", other);
        for (int i = 0; i < 2; ++i) maker.sync(rank, "wait", other);
    }
    return maker.text();
}

TEST(Mscclpp, PutsThroughAPortAreDoneWhenTheyAreFlushed) {
    expect_right(two_puts(true, true));
    const CheckReport report = checked(read(two_puts(false, true)));
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(report.violations.front().memory, HasSubstr("scratch@"));
    EXPECT_EQ(refusal_of(two_puts(true, false)),
              "made.json:11:1: error: no flush follows this put on a port channel: it may be under "
              "way when the kernel returns, and that is not modelled");
}

// Packets are made in the own scratch, moved through a port, and unpacked by whoever waits for
// them.
std::string ported_packets(const std::string& name, bool waits_until_made) {
    Maker maker("custom", 2, 1, 1, 2);
    maker.in_place = false;
    maker.alternates = true;
    maker.type = "port";
    for (int rank = 0; rank < 2; ++rank) {
        const int other = 1 - rank;
        maker.block(rank);
        if (!waits_until_made) maker.block(rank);
        const std::string made = maker.data_text(rank, "copy", {{-1, 'i', 0}}, {{-1, 's', 0}});
        maker.op(rank, changed_text(made, "\"copy\"", "\"cpkt\""));
        if (!waits_until_made) maker.block(rank);
        maker.data(rank, name, {{-1, 's', 0}}, {{other, 's', 1}}, R"(, "channel_ids": [0])");
        maker.sync(rank, "flush", other);
        const std::string taken = maker.data_text(rank, "copy", {{-1, 's', 1}}, {{-1, 'o', 0}});
        maker.op(rank, changed_text(taken, "\"copy\"", "\"upkt\""));
    }
    return maker.text();
}

TEST(Mscclpp, PacketsGoThroughAPortAsTheyAre) {
    expect_right(ported_packets("ppkt", true));
    expect_right(ported_packets("rppkt", true));
    // Made by another thread block: only who looks at the flags knows that they are there.
    expect_right(ported_packets("rppkt", false));
    const CheckReport report = checked(read(ported_packets("ppkt", false)));
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(report.violations.front().memory, HasSubstr("scratch."));
}

TEST(Mscclpp, WhatIsRefusedAndWhy) {
    const std::string text = direct_allreduce(2).text();
    const auto changed = [&](const std::string& from, const std::string& to) {
        return refusal_of(changed_text(text, from, to));
    };
    EXPECT_EQ(changed("\"rres\"", "\"rress\""),
              "made.json:8:1: error: there is no operation 'rress'");
    EXPECT_EQ(changed("\"rres\"", "\"glres\""),
              "made.json:8:1: error: switch channels are not read: what a multicast reads and "
              "writes on the way is not modelled");
    EXPECT_EQ(changed("\"signal\"", "\"rlxsignal\""),
              "made.json:6:1: error: relaxed signals are not read: they order what is done and not "
              "what is seen, and that is not modelled");
    EXPECT_EQ(changed("\"channel_type\": \"memory\"", "\"channel_type\": \"port\""),
              "made.json:6:1: error: there are 0 channels of the thread block, found number 0");
    EXPECT_EQ(
        changed("\"index\": 0", "\"index\": 5"),
        "made.json:8:1: error: expected chunks of the input of GPU 0, which has 2, found 5..5");
    EXPECT_EQ(changed("\"buffer_id\": 0", "\"buffer_id\": 9"),
              "made.json:8:1: error: the thread block refers to 3 remote buffers, found number 9");
    EXPECT_EQ(changed("\"input_chunks\"", "\"inputChunks\""),
              "made.json:3:1: error: there is no field 'inputChunks' here");
    EXPECT_EQ(changed("\"inplace\": true", "\"inplace\": 1"),
              "made.json:2:1: error: expected true or false, found an integer");
    EXPECT_EQ(changed("\"inplace\": true", "\"inplace\": true, \"flavour\": 3"),
              "made.json:2:1: error: there is no field 'flavour' here");
    EXPECT_EQ(changed("\"allreduce\"", "\"alreduce\""),
              "made.json:1:1: error: there is no collective 'alreduce'");
    EXPECT_EQ(refusal_of("{\"gpus\": ["),
              "made.json:1:1: error: this is no JSON: unexpected end of input; expected '[', '{', "
              "or a literal");
    EXPECT_EQ(refusal_of("[]"), "made.json:1:1: error: expected an object, found a list");
}

}  // namespace mscclpp_test
}  // namespace peal::test
