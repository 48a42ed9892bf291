// SPDX-License-Identifier: Apache-2.0
// Drivers: addresses, order, proofs, and what is refused.
#include "peal/driver.hpp"

#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "check/proof_store.hpp"
#include "pto/kernel_file.hpp"
#include "support/temporary_cache.hpp"

namespace peal {
namespace driver_test {

using pto::KernelFolder;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr const char* kShim = R"(#include "pto_orchestration_api.h"
extern "C" void forward(const ChipTaskArgs& args) {
    CoreTaskArgs task;
    for (int i = 0; i < args.tensor_count(); ++i) task.add_inout(args.tensor(i).ref());
    for (int i = 0; i < args.scalar_count(); ++i) task.add_scalar(args.scalar(i));
    rt_submit_aiv_task(0, task);
}
)";

constexpr const char* kMemory = R"(
    using Memory = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
    Tile<TileType::Vec, float, 1, 64> tile;
    TASSIGN(tile, 0);
)";

// input, output, window, context: hands its input to the next rank.
constexpr const char* kRotate = R"(
    auto* context = reinterpret_cast<CommContext*>(args[3]);
    const int next = (context->rankId + 1) % context->rankNum;
    float* window = pointer<float>(args[2]);
    int32_t* cell = reinterpret_cast<int32_t*>(window + 64);
    Memory in(pointer<float>(args[0])), out(pointer<float>(args[1])), here(window),
        there(remote(context, window, next));
    TPUT(there, in, tile);
    SYNC
    TNOTIFY(Signal(remote(context, cell, next)), 1, NotifyOp::AtomicAdd);
    TWAIT(Signal(cell), COUNT, WaitCmp::GE);
    TLOAD(tile, here);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    TSTORE(out, tile);
)";

// input, output: twice the input.
constexpr const char* kTwice = R"(
    Memory in(pointer<float>(args[0])), out(pointer<float>(args[1]));
    TLOAD(tile, in);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(tile, tile, tile);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, tile);
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
}

using Row = std::vector<float>;

class DriverTest : public testing::Test {
protected:
    DriverCallable callable(const std::string& name, const std::string& body,
                            std::vector<Direction> signature) {
        const auto kernel = pto::Kernel::compile(folder_.write_body(kMemory + body, name + ".cpp"));
        const auto shim = pto::Shim::compile(folder_.write("shim.cpp", kShim));
        return {std::make_shared<pto::ChipProgram>(
                    pto::ChipProgram{name, shim, "forward", "", {{0, kernel}}}),
                std::move(signature)};
    }
    static constexpr const char* kDrain = "pipe_barrier(PIPE_ALL);";
    DriverCallable rotate(const std::string& count = "1", const std::string& sync = kDrain) {
        std::string body = replaced(kRotate, "COUNT", count);
        body = replaced(body, "SYNC", sync);
        return callable("rotate", body, {Direction::in, Direction::out, Direction::inout});
    }
    DriverCallable twice() { return callable("twice", kTwice, {Direction::in, Direction::out}); }

    static DriverOptions options(int chips, DriverCheck check = DriverCheck::error) {
        DriverOptions options;
        options.worker.ranks = chips;
        options.worker.platform = "a2a3sim";
        options.worker.engine = DeviceEngine::in_process;
        options.check = check;
        return options;
    }
    DriverOptions with_pages(int chips, DriverCheck check) {
        DriverOptions all = options(chips, check);
        all.pages = folder_.path() / "pages";
        return all;
    }

    static DriverTensor host(const Row& row, bool waits, bool writes) {
        return {reinterpret_cast<std::uint64_t>(row.data()),
                0,
                Element::f32,
                {row.size()},
                {},
                waits,
                writes};
    }
    static DriverArguments rotate_arguments(const DriverDomain& domain, std::size_t rank,
                                            const Row& in, const Row& out) {
        return {{host(in, true, false),
                 host(out, false, true),
                 {domain.windows[rank], 0, Element::f32, {64}, {}, true, true}},
                {domain.contexts[rank]}};
    }
    // By chip.
    static std::vector<Row> rows(std::size_t count) {
        std::vector<Row> all(count, Row(64));
        for (std::size_t i = 0; i < count; ++i) {
            std::iota(all[i].begin(), all[i].end(), static_cast<float>(100 * i));
        }
        return all;
    }

    KernelFolder folder_;
};

TEST_F(DriverTest, RunsTasksOfSingleChipsTogether) {
    Driver driver(options(3));
    const DriverCallable kernel = rotate();
    const std::vector<Row> in = rows(3);
    for (int call = 0; call < 3; ++call) {
        std::vector<Row> out(3, Row(64, -1));
        // Chips 2, 0, 1 are ranks 0, 1, 2.
        const DriverDomain domain = driver.allocate_domain({2, 0, 1}, 1024);
        for (std::size_t rank = 0; rank < 3; ++rank) {
            const auto chip = static_cast<std::size_t>(std::vector{2, 0, 1}[rank]);
            driver.submit({kernel,
                           {static_cast<int>(chip)},
                           {rotate_arguments(domain, rank, in[chip], out[chip])}});
        }
        driver.release_domain(domain.id);  // when the run is over
        driver.run();
        EXPECT_THAT(out, ElementsAre(in[2], in[0], in[1]));
    }
    EXPECT_EQ(driver.summary().proved, 1);
    EXPECT_EQ(driver.summary().refuted, 0);
}

// The second group begins when the first is over, since it reads what the first has written: that
// makes it right to use the window again.
TEST_F(DriverTest, LetsAGroupWaitForAllOfAnother) {
    const std::vector<Row> in = rows(2);
    std::vector<Row> middle(2, Row(64)), out(2, Row(64));
    const DriverCallable first = rotate("1"), second = rotate("2");
    const auto submit = [&](Driver& driver, bool waits) {
        const DriverDomain domain = driver.allocate_domain({0, 1}, 1024);
        const auto group = [&](const DriverCallable& kernel, const std::vector<Row>& from,
                               const std::vector<Row>& to) {
            DriverTask task{kernel, {0, 1}, {}};
            for (std::size_t rank = 0; rank < 2; ++rank) {
                task.arguments.push_back(rotate_arguments(domain, rank, from[rank], to[rank]));
                for (DriverTensor& tensor : task.arguments.back().tensors) tensor.waits &= waits;
            }
            driver.submit(task);
        };
        group(first, in, middle);
        group(second, middle, out);
        driver.run();
    };
    Driver driver(options(2));
    submit(driver, true);
    EXPECT_THAT(middle, ElementsAre(in[1], in[0]));
    EXPECT_THAT(out, ElementsAre(in[0], in[1]));
    EXPECT_EQ(driver.summary().proved, 1);
    // Without that, rank 0 may put into a window that rank 1 still reads.
    Driver other(with_pages(2, DriverCheck::error));
    EXPECT_THAT(pto::error_of(folder_, [&] { submit(other, false); }),
                StartsWith("rotate on 2 ranks is not proved: data race: "));
}

TEST_F(DriverTest, OrdersTasksByWhatTheyWrite) {
    Driver driver(options(2));
    const DriverCallable kernel = twice();
    const Row in(64, 1);
    Row a(64), b(64);
    const std::uint64_t device = driver.allocate(1, 256);
    DriverTensor on_chip{device, 0, Element::f32, {64}, {}, true, true};
    driver.submit({kernel, {0}, {{{host(in, true, false), host(a, false, true)}, {}}}});
    driver.submit({kernel, {1}, {{{host(a, true, false), on_chip}, {}}}});
    driver.submit({kernel, {1}, {{{on_chip, host(b, false, true)}, {}}}});
    driver.run();
    EXPECT_THAT(b, Each(8));
    Row copy(64);
    driver.copy(reinterpret_cast<std::uint64_t>(copy.data()), device, 256);
    EXPECT_THAT(copy, Each(4));
    driver.free(device);
    EXPECT_THAT(pto::error_of(folder_, [&] { driver.free(device); }), HasSubstr("is no memory"));
    EXPECT_EQ(driver.summary().proved, 1);
}

TEST_F(DriverTest, SaysWhatIsNotProved) {
    const DriverCallable wrong = rotate("1", "");
    const std::vector<Row> in = rows(2);
    std::vector<Row> out(2, Row(64));
    const auto run = [&](Driver& driver) {
        const DriverDomain domain = driver.allocate_domain({0, 1}, 1024);
        for (std::size_t rank = 0; rank < 2; ++rank) {
            driver.submit({wrong,
                           {static_cast<int>(rank)},
                           {rotate_arguments(domain, rank, in[rank], out[rank])}});
        }
        driver.run();
    };
    Driver strict(with_pages(2, DriverCheck::error));
    const std::string error = pto::error_of(folder_, [&] { run(strict); });
    EXPECT_THAT(error, HasSubstr("rotate on 2 ranks is not proved: data race: "));
    EXPECT_THAT(error, HasSubstr(fmt::format("line {}", pto::kBodyLine + 11)));
    EXPECT_THAT(error, HasSubstr(fmt::format("\n      rotate.cpp:{}: ", pto::kBodyLine + 11)));
    EXPECT_THAT(error, HasSubstr("  the counterexample: pages/"));
    EXPECT_EQ(strict.summary().refuted, 1);
    EXPECT_EQ(pto::error_of(folder_, [&] { run(strict); }), error);  // each time

    Driver lenient(with_pages(2, DriverCheck::warn));
    testing::internal::CaptureStderr();
    run(lenient);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                StartsWith("peal: rotate on 2 ranks is not proved: data race: "));
    testing::internal::CaptureStderr();
    run(lenient);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // once

    Driver silent(options(2, DriverCheck::off));
    run(silent);
    EXPECT_EQ(silent.summary().proved + silent.summary().refuted, 0);
}

TEST_F(DriverTest, BeginsWithSignalsThatAreZero) {
    Driver driver(options(2));
    const DriverCallable kernel = rotate();
    const std::vector<Row> in = rows(2);
    std::vector<Row> out(2, Row(64, -1));
    const auto submit_after_copying = [&](std::uint64_t offset, std::int32_t word) {
        const DriverDomain domain = driver.allocate_domain({0, 1}, 1024);
        driver.copy(domain.windows[1] + offset, reinterpret_cast<std::uint64_t>(&word), 4);
        for (int chip = 0; chip < 2; ++chip) {
            const auto rank = static_cast<std::size_t>(chip);
            driver.submit({kernel, {chip}, {rotate_arguments(domain, rank, in[rank], out[rank])}});
        }
        driver.release_domain(domain.id);
    };
    submit_after_copying(0, 7);  // data, which the kernel writes over
    driver.run();
    EXPECT_THAT(out, ElementsAre(in[1], in[0]));
    submit_after_copying(256, 0);
    driver.run();
    submit_after_copying(256, 1);  // the ring that the kernel waits for
    EXPECT_EQ(pto::error_of(folder_, [&] { driver.run(); }),
              "rotate: bytes [256..260) of chip 1's window are a signal and hold 1: a proof "
              "begins with signals that are zero; copy data only");
    driver.run();  // nothing is left to do
}

// A store that is drained and not fenced: seen by all, or not.
TEST_F(DriverTest, SaysWhatIsProvedUnderOneOrderOnly) {
    const auto summary_of = [&](const std::string& sync) {
        Driver driver(options(2));
        const DriverCallable kernel = rotate("1", sync);
        const std::vector<Row> in = rows(2);
        std::vector<Row> out(2, Row(64));
        const DriverDomain domain = driver.allocate_domain({0, 1}, 1024);
        for (std::size_t rank = 0; rank < 2; ++rank) {
            driver.submit({kernel,
                           {static_cast<int>(rank)},
                           {rotate_arguments(domain, rank, in[rank], out[rank])}});
        }
        driver.run();
        return driver.summary();
    };
    const DriverSummary drained = summary_of(kDrain);
    EXPECT_EQ(drained.proved, 1);
    EXPECT_EQ(drained.proved_if_drained, 1);
    const DriverSummary fenced = summary_of(std::string(kDrain) + " dsb(DSB_DDR);");
    EXPECT_EQ(fenced.proved, 1);
    EXPECT_EQ(fenced.proved_if_drained, 0);
}

// Pipes are only in what is given: what runs has a proof of its own.
TEST_F(DriverTest, ProvesWhatIsGivenAndWhatRuns) {
    const test::TemporaryCache cache;
    Driver driver(options(2));
    const DriverCallable kernel = rotate();
    const std::vector<Row> in = rows(2);
    std::vector<Row> out(2, Row(64));
    const DriverDomain domain = driver.allocate_domain({0, 1}, 1024);
    for (int chip = 0; chip < 2; ++chip) {
        const auto rank = static_cast<std::size_t>(chip);
        driver.submit({kernel, {chip}, {rotate_arguments(domain, rank, in[rank], out[rank])}});
    }
    driver.run();
    std::vector<std::string> proofs;
    for (const checker::ProofRecord& record : checker::user_proof_store().list()) {
        const checker::ProofSubject& subject = record.subject;
        proofs.push_back(fmt::format("{} of {} tile bytes, {}", record.kernels,
                                     subject.device.tile_bytes, subject.memory_order));
    }
    EXPECT_THAT(proofs, UnorderedElementsAre("rotate of 196608 tile bytes, drained",
                                             "rotate of 0 tile bytes, any"));
}

TEST_F(DriverTest, RefusesWhatCannotBe) {
    Driver driver(options(2));
    const DriverCallable kernel = rotate();
    const std::vector<Row> in = rows(2);
    std::vector<Row> out(2, Row(64));
    const DriverDomain domain = driver.allocate_domain({0, 1}, 1024);
    const auto error = [&](const DriverTask& task) {
        const std::string text = pto::error_of(folder_, [&] { driver.submit(task); });
        driver.stop();
        return text;
    };
    const DriverArguments fine = rotate_arguments(domain, 0, in[0], out[0]);
    EXPECT_EQ(error({kernel, {2}, {fine}}), "rotate: expected chips 0..1, found 2");
    EXPECT_EQ(error({kernel, {0, 0}, {fine, fine}}), "rotate: chip 0 is named twice");
    EXPECT_EQ(error({kernel, {0, 1}, {fine}}),
              "rotate: expected the arguments of 2 chips, found 1");
    EXPECT_EQ(error({kernel, {1}, {fine}}),
              "rotate on chip 1: tensor 2 is of chip 0's window; pass each chip its own, the "
              "context leads to the others");
    DriverArguments far = fine;
    far.tensors[2].shape = {300};
    EXPECT_EQ(error({kernel, {0}, {far}}),
              "rotate on chip 0: tensor 2 ends at byte 1200 of a window of 1024");
    DriverArguments twice = fine;
    twice.tensors[1].base = twice.tensors[0].base + 4;
    EXPECT_THAT(error({kernel, {0}, {twice}}),
                HasSubstr("two tensors overlap in memory in part, and one is written"));
    EXPECT_THAT(pto::error_of(folder_,
                              [&] {
                                  driver.allocate_domain({0, 0}, 64);
                              }),
                HasSubstr("rank 0 is named twice"));
    EXPECT_EQ(pto::error_of(folder_, [&] { driver.allocate_domain({0}, 0); }),
              "a domain's window has at least one byte");

    // A domain is fresh once.
    const auto run = [&] {
        for (std::size_t rank = 0; rank < 2; ++rank) {
            driver.submit({kernel,
                           {static_cast<int>(rank)},
                           {rotate_arguments(domain, rank, in[rank], out[rank])}});
        }
        driver.run();
    };
    run();
    EXPECT_THAT(pto::error_of(folder_, run),
                StartsWith("rotate: its domain was used by tasks that have run"));
    driver.stop();

    // Who waits for nobody waits for ever: the proof says so.
    const DriverDomain lonely = driver.allocate_domain({0, 1}, 1024);
    driver.submit({kernel, {0}, {rotate_arguments(lonely, 0, in[0], out[0])}});
    EXPECT_THAT(pto::error_of(folder_, [&] { driver.run(); }),
                StartsWith("rotate on 2 ranks is not proved: deadlock: "));
}

}  // namespace driver_test
}  // namespace peal
