// SPDX-License-Identifier: Apache-2.0
// What docs/hosts.md shows is true; its machines are namespaces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/document.hpp"
#include "cli/on_hosts.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace hosts_doc_test {

std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
    std::sort(lines.begin(), lines.end());
    return lines;
}

const std::string& document() {
    static const std::string text = read_file(PEAL_SOURCE_DIR "/docs/hosts.md");
    return text;
}

// "tools/with-hosts node1 node2 -- peal ...": ranks print in any order.
TEST(HostsDocument, EveryCommandDoesWhatItSays) {
    if (const std::string why = why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    int count = 0;
    for (const Block& block : fenced_blocks(document())) {
        if (block.tag != "console") continue;
        for (const Step& step : steps_of(block.text)) {
            ++count;
            ASSERT_EQ(step.words[0], "tools/with-hosts");
            const auto dashes = std::find(step.words.begin(), step.words.end(), "--");
            std::string line = "PATH=${peal%/*}:$PATH; ";
            for (auto word = dashes + 1; word < step.words.end(); ++word) {
                line += replaced(*word, "^build/examples/communicator", PEAL_EXAMPLES) + " ";
            }
            const Ran ran = on_hosts({step.words.begin() + 1, dashes}, line);
            EXPECT_EQ(sorted_lines(ran.out + ran.err), sorted_lines(step.output)) << line;
        }
    }
    EXPECT_EQ(count, 3);
}

// What stands for `ssh`: its last word is the line, and the host is the one that there is.
const char* const kAgent =
    "mkdir $PEAL_HOSTS/bin; "
    "printf '#!/bin/sh\\nfor last; do :; done\\n"
    "while [ \"$1\" != node1 ] && [ \"$1\" != node2 ]; do shift; done\\n"
    "exec enter-host \"$1\" \"$last\"\\n' >$PEAL_HOSTS/bin/ssh; "
    "chmod +x $PEAL_HOSTS/bin/ssh; PATH=$PEAL_HOSTS/bin:${peal%/*}:$PATH; ";

// With the names and the agent of machines that are none, the line for real ones is the same.
TEST(HostsDocument, TheFirstCommandRunsAProgram) {
    if (const std::string why = why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    const std::vector<Block> blocks = fenced_blocks(document());
    ASSERT_EQ(blocks[0].text, "peal launch -n 8 --hosts node1,node2 ./program\n");
    const Ran ran = on_hosts({"node1", "node2"},
                             std::string(kAgent) + "peal launch -n 8 --hosts node1,node2 hostname");
    EXPECT_EQ(sorted_lines(ran.out), (std::vector<std::string>{"node1", "node1", "node1", "node1",
                                                               "node2", "node2", "node2", "node2"}))
        << ran.err;
}

TEST(HostsDocument, RanksMeetByEnvironmentAsItSays) {
    if (const std::string why = why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    if (std::system("command -v openssl >/dev/null") != 0) GTEST_SKIP() << "there is no openssl";
    for (const Block& block : fenced_blocks(document())) {
        if (block.text.find("PEAL_SECRET") == std::string::npos) continue;
        const std::string program = PEAL_EXAMPLES "/mean";
        const Ran here = peal({"launch", "-n", "2", program});
        const Ran there =
            on_hosts({"node1", "node2"}, kAgent + replaced(block.text, "\\./program", program));
        EXPECT_EQ(sorted_lines(there.out), sorted_lines(here.out)) << there.err;
        return;
    }
    FAIL() << "there is no such block";
}

}  // namespace hosts_doc_test
}  // namespace peal::test
