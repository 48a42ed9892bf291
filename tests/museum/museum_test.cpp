// SPDX-License-Identifier: Apache-2.0
// The museum of synchronisation bugs: the checker finds every one of them, as what it is and in a
// few steps, and proves the mended form.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "museum/exhibit.hpp"
#include "museum/plan_exhibits.hpp"
#include "museum/verdicts.hpp"
#include "peal/error.hpp"
#include "plan/access.hpp"

namespace peal::museum {
namespace {

using ::testing::HasSubstr;

// ---------------------------------------------------------------------------- meaning

bool has_blocks(CollectiveKind kind) {
    return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter ||
           kind == CollectiveKind::all_to_all;
}

// The collective whose sizes are those of the kernel's buffers.
Collective collective_for(const Exhibit& exhibit, const Plan& plan) {
    Collective collective;
    collective.kind = *exhibit.meaning;
    collective.in_place = exhibit.in_place;
    if (collective.kind == CollectiveKind::barrier) return collective;
    const Buffer& input = plan.buffers[ports_of(collective, plan).input];
    collective.element = input.element;
    collective.count = input.bytes / bytes_of(input.element);
    if (has_blocks(collective.kind)) collective.count /= static_cast<std::uint64_t>(plan.nranks);
    return collective;
}

// ---------------------------------------------------------------------------- one form

// A kernel of an exhibit, compiled for some ranks, with what it should mean.
class Compiled {
public:
    Compiled(const Exhibit& exhibit, const std::string& kernel, const Bindings& settings,
             int nranks)
        : exhibit_(exhibit),
          title_(fmt::format("{} {}, {} ranks", exhibit.id, kernel, nranks)),
          plans_(compile(exhibit.program, kernel, settings, nranks)) {
        if (exhibit.meaning) meaning_ = meaning_of(collective_for(exhibit, plans_[0]), plans_);
        stages_ = {{&plans_, exhibit.meaning ? &meaning_ : nullptr, {}}};
    }
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;

    const std::vector<Plan>& plans() const { return plans_; }
    const std::vector<CheckStage>& stages() const { return stages_; }

    void place(const std::map<std::string, std::string>& memory) {
        for (const Buffer& buffer : plans_[0].buffers) {
            const auto found = memory.find(buffer.name);
            stages_[0].memory.push_back(found == memory.end() ? buffer.name : found->second);
        }
    }

    CheckReport check() const {
        CheckOptions options;
        options.calls = exhibit_.calls;
        CheckReport report = peal::check(stages_, options);
        tell(title_, report);
        return report;
    }

private:
    const Exhibit& exhibit_;
    std::string title_;
    std::vector<Plan> plans_;
    Meaning meaning_;
    std::vector<CheckStage> stages_;
};

// Windows that somebody writes and nobody reads.
std::set<std::string> dead_windows(const std::vector<Plan>& plans) {
    std::set<std::string> read, written;
    for (const Plan& plan : plans) {
        const auto note_in = [&plan](std::set<std::string>& names) {
            return [&plan, &names](const Range& range) {
                if (is_tile(range) || plan.buffers[range.buffer].kind != BufferKind::window) return;
                names.insert(plan.buffers[range.buffer].name);
            };
        };
        for (const Instruction& instruction : plan.instructions) {
            for_each_access(instruction.action, note_in(read), note_in(written));
        }
    }
    std::set<std::string> dead;
    std::set_difference(written.begin(), written.end(), read.begin(), read.end(),
                        std::inserter(dead, dead.end()));
    return dead;
}

template <class Work>
void expect_rejected(const std::string& message, Work&& work) {
    try {
        work();
        ADD_FAILURE() << "accepted; expected: " << message;
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(message));
    }
}

// What follows the prefix, or nothing.
std::string after(std::string_view prefix, const std::string& text) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : "";
}

// ---------------------------------------------------------------------------- tests

class Museum : public ::testing::TestWithParam<std::string> {
protected:
    void expect_broken(const std::string& kernel, int nranks) const {
        const auto check_form = [&](const auto& judge) {
            Compiled form(exhibit_, kernel, exhibit_.broken_settings, nranks);
            if (!exhibit_.broken_memory.empty()) form.place(exhibit_.broken_memory);
            judge(form);
        };
        if (const std::string message = after("rejected, ", exhibit_.expect); !message.empty()) {
            expect_rejected(message,
                            [&] { check_form([](const Compiled& form) { form.check(); }); });
        } else if (const std::string window = after("dead copy into ", exhibit_.expect);
                   !window.empty()) {
            check_form([&](const Compiled& form) {
                EXPECT_EQ(dead_windows(form.plans()), std::set<std::string>{window});
                expect_proved(form.check(), form.stages());
            });
        } else {
            check_form([&](const Compiled& form) {
                const CheckReport report = form.check();
                expect_found(report, form.stages(), exhibit_.expect);
                const bool is_smallest = nranks == exhibit_.ranks.front();
                if (is_smallest) expect_short(report, form.stages());
            });
        }
    }

    const Exhibit exhibit_ = load_exhibit(GetParam());
};

TEST_P(Museum, BrokenIsFound) {
    if (!exhibit_.warning.empty()) {
        EXPECT_THAT(to_text(exhibit_.warnings, nullptr), HasSubstr(exhibit_.warning));
    }
    for (const std::string& kernel : exhibit_.broken_kernels) {
        for (const int nranks : exhibit_.ranks) {
            SCOPED_TRACE(fmt::format("{} of {} ranks", kernel, nranks));
            expect_broken(kernel, nranks);
        }
    }
}

TEST_P(Museum, MendedIsProved) {
    for (const int nranks : exhibit_.ranks) {
        SCOPED_TRACE(fmt::format("{} ranks", nranks));
        const Compiled form(exhibit_, "mended", exhibit_.mended_settings, nranks);
        expect_proved(form.check(), form.stages());
        EXPECT_THAT(dead_windows(form.plans()), ::testing::IsEmpty());
        if (exhibit_.mended_says.empty()) continue;
        expect_rejected(exhibit_.mended_says, [&] {
            compile(exhibit_.program, "mended", exhibit_.broken_settings, nranks);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Exhibit, Museum, ::testing::ValuesIn(exhibit_ids()),
                         [](const auto& info) { return info.param; });

class PlanMuseum : public ::testing::TestWithParam<PlanExhibit> {
protected:
    // Asks the checker about one form and hands the answer on.
    template <class Judge>
    void check_each(Form form, std::string_view name, Judge&& judge) const {
        const PlanExhibit& exhibit = GetParam();
        for (const int nranks : exhibit.ranks) {
            const test::Plans plans = exhibit.build(nranks, form);
            Collective collective;
            collective.kind = exhibit.meaning;
            collective.count = exhibit.count;
            const Meaning meaning = meaning_of(collective, plans.list());
            const std::vector<CheckStage> stages = {{&plans.list(), &meaning, {}}};
            CheckOptions options;
            options.device = exhibit.device;
            const CheckReport report = check(stages, options);
            tell(fmt::format("{} {}, {} ranks", exhibit.id, name, nranks), report);
            judge(report, stages, nranks == exhibit.ranks.front());
        }
    }
};

TEST_P(PlanMuseum, BrokenIsFound) {
    check_each(Form::broken, "broken",
               [&](const CheckReport& report, const auto& stages, bool is_smallest) {
                   expect_found(report, stages, name(GetParam().expect));
                   if (is_smallest) expect_short(report, stages);
               });
}

TEST_P(PlanMuseum, MendedIsProved) {
    check_each(Form::mended, "mended", [](const CheckReport& report, const auto& stages, bool) {
        expect_proved(report, stages);
    });
}

INSTANTIATE_TEST_SUITE_P(Exhibit, PlanMuseum, ::testing::ValuesIn(plan_exhibits()),
                         [](const auto& info) { return info.param.id; });

// ---------------------------------------------------------------------------- the catalogue

TEST(MuseumCatalogue, NothingIsMissing) {
    std::vector<std::string> shown = exhibit_ids();
    for (const PlanExhibit& exhibit : plan_exhibits()) shown.push_back(exhibit.id);
    EXPECT_THAT(shown, ::testing::IsSupersetOf(
                           {"S1",  "S2",  "S3",  "S4",  "S5",  "S6",  "S7",  "S8", "S9", "S10",
                            "S11", "S12", "U1",  "U2",  "U3",  "U4",  "U5",  "U6", "U7", "U8",
                            "U11", "U12", "U14", "U15", "G1",  "G3",  "G4",  "G5", "G6", "G9",
                            "G11", "G12", "G13", "G14", "G15", "G16", "G17", "G18"}));
}

// "deadlock", "rejected", "dead copy": the expectation without its details.
std::string short_form(const std::string& expect) {
    if (expect.starts_with("rejected, ")) return "rejected";
    return expect.starts_with("dead copy into ") ? "dead copy" : expect;
}

TEST(MuseumCatalogue, TheDocsSayHowEachIsFound) {
    std::map<std::string, std::string> found_as;
    for (const std::string& id : exhibit_ids()) {
        found_as[id] = short_form(load_exhibit(id).expect);
    }
    for (const PlanExhibit& exhibit : plan_exhibits()) found_as[exhibit.id] = name(exhibit.expect);

    std::ifstream file(std::string(PEAL_SOURCE_DIR) + "/docs/museum.md");
    std::map<std::string, std::string> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("| ")) rows[line.substr(2, line.find(' ', 2) - 2)] = line;
    }
    for (const auto& [id, kind] : found_as) {
        EXPECT_THAT(rows[id], HasSubstr("| " + kind + " |")) << id;
    }
}

}  // namespace
}  // namespace peal::museum
