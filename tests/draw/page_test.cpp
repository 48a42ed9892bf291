// SPDX-License-Identifier: Apache-2.0
#include "peal/page.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"
#include "draw/scenes.hpp"

namespace peal::draw {
namespace page_test {

using test::overwritten_window;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Page, ShowsTheCounterexampleUnderItsTitle) {
    const std::filesystem::path place =
        testing::TempDir() + "peal_pages_" + std::to_string(getpid());
    test::Scene scene = overwritten_window(2);
    scene.violation.message = "rank 0 reads what rank 1 writes: a < b";
    const std::vector<CheckStage> stages = {{&scene.plans.list(), nullptr, {}}};
    const std::string path = write_page("mine & yours", scene.violation, stages, place);
    EXPECT_THAT(path, StartsWith(place.string() + "/"));
    const std::string page = base::read_text(path, 1 << 20, "page");
    EXPECT_THAT(page, StartsWith("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
                                 "<title>mine &amp; yours</title>\n"));
    EXPECT_THAT(page, HasSubstr("<p>data race: rank 0 reads what rank 1 writes: a &lt; b</p>"));
    EXPECT_THAT(page, HasSubstr("<svg"));
    EXPECT_EQ(write_page("mine & yours", scene.violation, stages, place), path);
    EXPECT_NE(write_page("theirs", scene.violation, stages, place), path);
    std::vector<Plan> elsewhere = scene.plans.list();
    for (Plan& plan : elsewhere) plan.source = std::make_shared<Source>("a/<b>.py", "");
    const std::string other =
        write_page("mine & yours", scene.violation, {{&elsewhere, nullptr, {}}}, place);
    EXPECT_NE(other, path);
    EXPECT_THAT(base::read_text(other, 1 << 20, "page"), HasSubstr("\n<p>a/&lt;b&gt;.py</p>\n"));
    std::filesystem::remove_all(place);
}

}  // namespace page_test
}  // namespace peal::draw
