// SPDX-License-Identifier: Apache-2.0
// Faults of PTO kernels: each is found as what it is and at its line, and its mended form is
// proved.
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "museum/pto/pto_exhibit.hpp"
#include "museum/verdicts.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/pto.hpp"

namespace peal::museum {
namespace pto_museum_test {

using pto::Device;

// One form of an exhibit, traced for some ranks.
class Traced {
public:
    Traced(const PtoExhibit& exhibit, bool mended, int nranks)
        : calls_(exhibit.calls),
          title_(fmt::format("{} {}, {} ranks", exhibit.id, mended ? "mended" : "broken", nranks)) {
        pto::KernelOptions options;
        if (mended) options.defines = {"MENDED"};
        Collective allreduce;
        allreduce.count = 64;
        const pto::Kernel kernel = pto::Kernel::compile(exhibit.path, options);
        plans_ = pto::trace(kernel, pto::preset(allreduce, nranks), nranks);
        meaning_ = meaning_of(allreduce, plans_);
        stages_ = {{&plans_, &meaning_, {}}};
    }
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

    const std::vector<CheckStage>& stages() const { return stages_; }

    CheckReport check_on(Device device, MemoryOrder order = MemoryOrder::drained,
                         bool is_strict = true) const {
        CheckOptions options;
        options.order = order;
        options.calls = calls_;
        options.device = rules_of(device);
        options.strict_loads = is_strict;
        CheckReport report = check(stages_, options);
        tell(fmt::format("{}, {}, {}", title_, name(device), name(order)), report);
        return report;
    }

    // The lines of the kernel that the report's violations of this kind name.
    std::set<std::uint32_t> lines_named(const CheckReport& report, std::string_view kind) const {
        std::set<std::uint32_t> lines;
        for (const Violation& violation : report.violations) {
            if (name(violation.kind) != kind) continue;
            for (const Step& step : violation.steps) {
                if (step.index < 0) continue;
                const Plan& plan = plans_[static_cast<std::size_t>(step.rank)];
                lines.insert(plan.instructions[static_cast<std::size_t>(step.index)].line);
            }
        }
        return lines;
    }

private:
    int calls_;
    std::string title_;
    std::vector<Plan> plans_;
    Meaning meaning_;
    std::vector<CheckStage> stages_;
};

class PtoMuseum : public ::testing::TestWithParam<std::string> {
protected:
    const PtoExhibit exhibit_ = load_pto_exhibit(GetParam());
};

TEST_P(PtoMuseum, BrokenIsFound) {
    for (const int nranks : exhibit_.ranks) {
        const Traced form(exhibit_, false, nranks);
        for (const Device device : {Device::a2a3, Device::a5}) {
            const std::string& expect =
                device == Device::a5 ? exhibit_.expect_on_a5 : exhibit_.expect;
            if (exhibit_.is_fenced) expect_proved(form.check_on(device), form.stages());
            const CheckReport report = form.check_on(
                device, exhibit_.is_fenced ? MemoryOrder::fenced : MemoryOrder::drained);
            if (expect == name(Verdict::proved)) {
                expect_proved(report, form.stages());
                continue;
            }
            expect_found(report, form.stages(), expect);
            EXPECT_THAT(form.lines_named(report, expect), ::testing::IsSupersetOf(exhibit_.faults))
                << text_of(report, form.stages());
        }
    }
}

TEST_P(PtoMuseum, MendedIsProved) {
    for (const int nranks : exhibit_.ranks) {
        const Traced form(exhibit_, true, nranks);
        for (const Device device : {Device::a2a3, Device::a5}) {
            for (const MemoryOrder order : {MemoryOrder::drained, MemoryOrder::fenced}) {
                expect_proved(form.check_on(device, order), form.stages());
            }
        }
    }
}

// Kernels that load like this run on the device: without being asked, it is a warning.
TEST(PtoMuseumLoads, AreAWarningUnlessAskedFor) {
    const PtoExhibit exhibit = load_pto_exhibit("two_loads_before_flag");
    const Traced form(exhibit, false, 2);
    const CheckReport strict = form.check_on(Device::a2a3);
    EXPECT_EQ(strict.verdict, Verdict::violated);
    EXPECT_EQ(strict.warnings.size(), 0u);
    const CheckReport report = form.check_on(Device::a2a3, MemoryOrder::drained, false);
    expect_proved(report, form.stages());
    ASSERT_EQ(report.warnings.size(), strict.violations.size());
    EXPECT_EQ(report.warnings[0].message, strict.violations[0].message);
    EXPECT_EQ(form.check_on(Device::a5, MemoryOrder::drained, false).warnings.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Exhibit, PtoMuseum, ::testing::ValuesIn(pto_exhibit_ids()),
                         [](const auto& info) { return info.param; });

TEST(PtoMuseumCatalogue, NothingIsMissing) {
    EXPECT_THAT(pto_exhibit_ids(), ::testing::IsSupersetOf({"self_zeroed_signals",
                                                            "local_mirror_read",
                                                            "two_loads_before_flag",
                                                            "packed_cells_with_set",
                                                            "no_barrier_before_notify",
                                                            "no_flags",
                                                            "missing_wait",
                                                            "in_place_without_second_barrier",
                                                            "overlapping_tiles",
                                                            "tile_past_capacity",
                                                            "unaligned_tile",
                                                            "wait_never_met",
                                                            "wrong_event_id",
                                                            "event_out_of_range",
                                                            "flag_never_awaited",
                                                            "notify_before_store",
                                                            "shared_cell",
                                                            "row_reused_for_all_rounds",
                                                            "second_call_on_window",
                                                            "atomic_put",
                                                            "notify_after_put",
                                                            "notify_after_get",
                                                            "event_of_a_put",
                                                            "cleared_by_scratch",
                                                            "drained_not_fenced",
                                                            "chunked_put_not_drained",
                                                            "async_put_reused",
                                                            "put_not_flushed",
                                                            "count_left_in_cache",
                                                            "count_from_cache"}));
}

TEST(PtoMuseumCatalogue, TheDocsSayHowEachIsFound) {
    std::ifstream file(PEAL_SOURCE_DIR "/docs/pto.md");
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& id : pto_exhibit_ids()) {
        EXPECT_THAT(document, ::testing::HasSubstr(
                                  fmt::format("| [`{0}`](../tests/museum/pto/{0}.cpp) | {1} |", id,
                                              load_pto_exhibit(id).expect)));
    }
}

}  // namespace pto_museum_test
}  // namespace peal::museum
