// SPDX-License-Identifier: Apache-2.0
// The museum of synchronisation bugs: the checker finds every one of them, as what it is and in a
// few steps, and proves the mended form. Here those that are kernels.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "museum/exhibit.hpp"
#include "museum/verdicts.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "plan/access.hpp"

namespace peal::museum {
namespace museum_test {

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
    if (exhibit.in_place) collective.placement = Placement::window;
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
        stages_ = {{&plans_, exhibit.meaning ? &meaning_ : nullptr, {}, exhibit.holds}};
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
                if (plan::is_tile(range) || plan.buffers[range.buffer].kind != BufferKind::window)
                    return;
                names.insert(plan.buffers[range.buffer].name);
            };
        };
        for (const Instruction& instruction : plan.instructions) {
            plan::for_each_access(instruction.action, note_in(read), note_in(written));
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

}  // namespace museum_test
}  // namespace peal::museum
