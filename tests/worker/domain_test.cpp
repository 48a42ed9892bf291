// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace domain_test {

class Domains : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Domains, ::testing::ValuesIn(engines()), engine_name);

TEST_P(Domains, KnowTheirRanksAndWindows) {
    Worker worker = worker_of(4);
    Domain domain = worker.allocate_domain(
        {.name = "odd",
         .ranks = {3, 1},
         .windows = {{.name = "data", .element = Element::f16, .shape = {3, 5}},
                     {.name = "sig", .element = Element::i64, .cells = 2}}});
    EXPECT_EQ(domain.name(), "odd");
    EXPECT_EQ(domain.nranks(), 2);
    EXPECT_EQ(domain.rank_of(3), 0);
    EXPECT_EQ(domain.rank_of(1), 1);
    EXPECT_FALSE(domain.has(0));
    EXPECT_EQ(message_of(Fault::usage, [&] { domain.rank_of(0); }),
              "domain 'odd': rank 0 of the worker is not in it; it has 3, 1");
    EXPECT_EQ(message_of(Fault::usage, [&] { domain.window("dta"); }),
              "domain 'odd': there is no window 'dta'; it has data, sig");
    for (const int device : {3, 1}) {
        const Tensor data = domain.view("data", device);
        EXPECT_EQ(to_text(data.element(), data.shape()), "f16[3, 5]");
        EXPECT_EQ(data.rank(), device);
        const Tensor signals = domain.view("sig", device);
        EXPECT_EQ(to_text(signals.element(), signals.shape()), "u8[128]");
        for (const Tensor& part : {data, signals}) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % kCacheLineBytes, 0U);
        }
    }
    EXPECT_GE(domain.view("data", 1).data() - domain.view("data", 3).data(), 64);
}

TEST_P(Domains, RefuseWhatCannotBe) {
    Worker worker = worker_of(2);
    const auto said = [&](DomainSpec spec) {
        spec.name = "d";
        return message_of(Fault::usage, [&] { worker.allocate_domain(spec); });
    };
    EXPECT_EQ(said({.ranks = {0, 2}}), "domain 'd': expected ranks 0..1, found 2");
    EXPECT_EQ(said({.ranks = {1, 1}}), "domain 'd': rank 1 is named twice");
    EXPECT_EQ(said({.windows = {{.name = "w"}}}),
              "domain 'd': window 'w': expected a shape or cells, found neither");
    EXPECT_EQ(said({.windows = {{.name = "w", .shape = {1}, .cells = 1}}}),
              "domain 'd': window 'w': expected a shape or cells, found both");
    EXPECT_EQ(said({.windows = {{.name = "w", .cells = 1}}}),
              "domain 'd': window 'w': expected signals of i32 or i64, found f32");
    EXPECT_EQ(
        said({.windows = {{.name = "w", .element = Element::i64, .cells = 1, .cell_stride = 4}}}),
        "domain 'd': window 'w': expected cells at multiples of 8 bytes, found 4");
    EXPECT_EQ(said({.windows = {{.name = "w", .shape = {1}}, {.name = "w", .shape = {1}}}}),
              "domain 'd': there are two windows 'w'");
}

// Windows of many domains, released in any order, are zero when they are handed out again.
TEST_P(Domains, AreZeroedAndReleasedInAnyOrder) {
    Worker worker = worker_of(2);
    std::vector<Domain> domains;
    for (int round = 0; round < 60; ++round) {
        domains.push_back(worker.allocate_domain(
            {.name = "d", .windows = {{.name = "data", .element = Element::u8, .shape = {5000}}}}));
        for (const int rank : {0, 1}) {
            const auto bytes = domains.back().view("data", rank).span<std::uint8_t>();
            ASSERT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](auto b) { return b == 0; }));
            std::fill(bytes.begin(), bytes.end(), 0xff);
        }
        if (domains.size() > 4) {
            const auto victim = domains.begin() + (round * 7) % static_cast<int>(domains.size());
            victim->release();
            domains.erase(victim);
        }
    }
}

TEST_P(Domains, OverlapWithAnotherRankInEach) {
    constexpr int kRanks = 4;
    Worker worker = worker_of(kRanks);
    const DeviceKernel rank_of = kernel(R"(
kernel who(out: inout i32[n], data: window i32[n], sig: window i32[nranks]) {
    data = out * 0 + rank
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    out = data@((rank + 1) % nranks)
    for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }
    for peer in peers { wait sig[peer] >= generation(sig) + 2 }
    advance sig by 2
}
)");
    std::vector<Domain> domains;
    for (const std::vector<int>& ranks :
         {std::vector<int>{0, 1, 2, 3}, std::vector<int>{3, 1}, std::vector<int>{2, 3, 0}}) {
        domains.push_back(worker.allocate_domain(
            {.name = "d",
             .ranks = ranks,
             .windows = {{.name = "data", .element = Element::i32, .shape = {4}},
                         {.name = "sig", .element = Element::i32, .cells = 4}}}));
    }
    for (int call = 0; call < 5; ++call) {
        std::vector<std::vector<std::vector<std::int32_t>>> results(domains.size());
        for (std::size_t d = 0; d < domains.size(); ++d) {
            const Domain& domain = domains[d];
            results[d].assign(static_cast<std::size_t>(domain.nranks()),
                              std::vector<std::int32_t>(4));
            worker.submit_group(rank_of, domain, per_rank(domain.nranks(), [&](int r) {
                                    return Arguments{
                                        Tensor(results[d][static_cast<std::size_t>(r)]),
                                        domain["data"], domain["sig"]};
                                }));
        }
        worker.wait();
        for (std::size_t d = 0; d < domains.size(); ++d) {
            for (int r = 0; r < domains[d].nranks(); ++r) {
                EXPECT_EQ(results[d][static_cast<std::size_t>(r)],
                          std::vector<std::int32_t>(4, (r + 1) % domains[d].nranks()));
            }
        }
    }
}

TEST_P(Domains, KeepTheirContentsFromTaskToTask) {
    Worker worker = worker_of(1);
    const DeviceKernel store = kernel("kernel store(a: in i32[n], w: window i32[n, 1]) { w = a }");
    const DeviceKernel fetch =
        kernel("kernel fetch(a: out i32[n], w: window i32[n, 1]) { a = w }").holding({{"w"}});
    const Domain domain = worker.allocate_domain(
        {.name = "d", .windows = {{.name = "w", .element = Element::i32, .shape = {4, 1}}}});
    std::vector<std::int32_t> a = numbers(4, 3), b(4);
    worker.submit(store, 0, {Tensor(a), domain["w"]});
    worker.submit(fetch, 0, {Tensor(b), domain["w"]}).wait();
    EXPECT_EQ(b, a);
}

// A domain that is released while tasks still use it goes when they are done.
TEST_P(Domains, OutliveTheirReleaseAsLongAsTasksNeedThem) {
    Worker worker = worker_of(2);
    const DeviceKernel sum = allreduce(Element::i32, 4);
    std::vector<std::int32_t> ones(4, 1), a(4), b(4);
    for (int round = 0; round < 20; ++round) {
        Domain domain = worker.allocate_domain({.name = "d", .windows = sum.windows(2)});
        worker.submit_group(
            sum, domain,
            {{Tensor(std::as_const(ones)), Tensor(a), domain["data"], domain["signal"]},
             {Tensor(std::as_const(ones)), Tensor(b), domain["data"], domain["signal"]}});
        domain.release();
    }
    worker.wait();
    EXPECT_EQ(a, std::vector<std::int32_t>(4, 2));
    EXPECT_EQ(b, std::vector<std::int32_t>(4, 2));
}

}  // namespace domain_test
}  // namespace peal::worker::test
