// SPDX-License-Identifier: Apache-2.0
#include "draw/pictures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "draw/scenes.hpp"
#include "draw/svg_text.hpp"
#include "support/patterns.hpp"

namespace peal::draw {
namespace svg_test {

using test::overwritten_window;
using test::ring_deadlock;
using test::Scene;
using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t number = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++number;
    return number;
}

// Empty when every tag is closed in order, every attribute quoted and every & part of an entity.
std::string ill_formed(const std::string& xml) {
    const std::string tag = R"re(<(/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<]*")*)(/?)>)re";
    std::vector<std::string> open;
    for (const std::vector<std::string>& match : test::matches(xml, tag)) {
        if (!match[1].empty()) {
            if (open.empty() || open.back() != match[2]) return "closes " + match[2];
            open.pop_back();
        } else if (match[4].empty()) {
            open.push_back(match[2]);
        }
    }
    if (!open.empty()) return "leaves open " + open.back();
    const std::string values = test::replaced(xml, tag, "$3");  // and what is not a tag
    const std::string text = test::replaced(values, "&(amp|lt|gt|quot|#39);", "");
    return text.find_first_of("<&") == std::string::npos ? "" : "has a loose < or &";
}

TEST(Svg, IsWellFormed) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        EXPECT_EQ(ill_formed(to_svg(overwritten_window(nranks).diagram())), "");
        EXPECT_EQ(ill_formed(to_svg(ring_deadlock(nranks).diagram())), "");
    }
    EXPECT_EQ(ill_formed("<g><rect/></g>"), "");
    EXPECT_EQ(ill_formed("<g><rect></g>"), "closes g");
    EXPECT_EQ(ill_formed("<g>a < b</g>"), "has a loose < or &");
}

TEST(Svg, TextIsEscaped) {
    EXPECT_EQ(escape_xml("a <- b & \"c\" 'd' > é"),
              "a &lt;- b &amp; &quot;c&quot; &#39;d&#39; &gt; é");
    EXPECT_EQ(escape_xml("a\x01"
                         "b\xff"),
              "a\ufffdb\ufffd");
    Scene scene = ring_deadlock(2);
    scene.violation.memory = "<&>";
    scene.violation.message = "</svg> & \"more\"";
    const std::string svg = to_svg(scene.diagram());
    EXPECT_EQ(ill_formed(svg), "");
    EXPECT_THAT(svg, HasSubstr(">deadlock: &lt;&amp;&gt;</text>"));
    EXPECT_THAT(svg, HasSubstr(">&lt;/svg&gt; &amp; &quot;more&quot;</text>"));
}

TEST(Svg, ShowsEveryLaneStepArrowAndMark) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        const Diagram diagram = overwritten_window(nranks).diagram();
        const std::string svg = to_svg(diagram);
        EXPECT_EQ(count(svg, "class=\"rank\""), diagram.rails.size());
        EXPECT_EQ(count(svg, "<g>"), diagram.events.size());
        EXPECT_EQ(count(svg, "class=\"arrow\""), diagram.arrows.size());
        EXPECT_EQ(count(svg, "class=\"head\""), diagram.arrows.size());
        EXPECT_EQ(count(svg, "class=\"clash\""), 2u);
        EXPECT_EQ(count(svg, "class=\"bracket\""), 2u);
        EXPECT_EQ(count(svg, "class=\"call\""), static_cast<std::size_t>(nranks) + 1);
    }
    EXPECT_EQ(count(to_svg(ring_deadlock(5).diagram()), "class=\"clash blocked\""), 5u);
}

TEST(Svg, TellsTheWholeStory) {
    const std::string svg = to_svg(overwritten_window(2).diagram());
    EXPECT_THAT(svg, HasSubstr("class=\"title\" text-anchor=\"start\" xml:space=\"preserve\">"
                               "data race: data@1[0..64)</text>"));
    EXPECT_THAT(svg, HasSubstr("<title>rank 0, call 0: notify sig[0]@1 += 1</title>"));
    EXPECT_THAT(svg, HasSubstr("nothing orders them"));
    EXPECT_THAT(svg, Not(HasSubstr("not involved")));
}

// Instructions without a place, and what the caller does, have none.
TEST(Svg, SaysWhichLineEachStepComesFrom) {
    Scene scene = overwritten_window(2);
    EXPECT_EQ(count(to_svg(scene.diagram()), "class=\"place\""), 0u);
    const auto source = std::make_shared<const Source>("a.peal", "one\ntwo\n");
    for (Plan& plan : scene.plans.list()) {
        plan.source = source;
        plan.instructions[0].line = 2;
    }
    const std::string svg = to_svg(scene.diagram());
    EXPECT_EQ(ill_formed(svg), "");
    EXPECT_EQ(count(svg, "class=\"place\""), 3u);  // rank 1 stages again
    EXPECT_THAT(svg, HasSubstr("text-anchor=\"end\" xml:space=\"preserve\">line 2</text>"));
}

TEST(Svg, NamesTheRanksThatTakeNoPart) {
    Scene scene(4);
    scene.plans.on(2).drain();
    scene.step(0, 2, 0);
    scene.involve(0, 2, 0);
    EXPECT_THAT(to_svg(scene.diagram()), HasSubstr(">not involved: ranks 0, 1, 3</text>"));
}

TEST(Svg, NeedsNothingFromElsewhere) {
    const std::string svg = to_svg(overwritten_window(3).diagram());
    EXPECT_EQ(count(svg, "http"), 1u);  // its own name space
    EXPECT_THAT(svg, Not(HasSubstr("href")));
    EXPECT_THAT(svg, Not(HasSubstr("url(")));
}

}  // namespace svg_test
}  // namespace peal::draw
