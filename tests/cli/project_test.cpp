// SPDX-License-Identifier: Apache-2.0
// peal check of a project, and what it writes for machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "cli/racy_kernel.hpp"
#include "support/patterns.hpp"
#include "support/temporary_cache.hpp"

namespace peal::test {
namespace project_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kRace =
    "rank 0 (`copy out[0;4] <- data@1[0;4]`, line 5, call 0) reads and rank 1 (`copy data[0;4] <- "
    "inp[0;4]`, line 2, call 1) writes data@1[0;4], and nothing orders them";

// A project in a directory of its own.
class Project {
public:
    explicit Project(const std::string& text) : file_("peal.toml", text) {}

    Project& with(const std::string& name, const std::string& text) {
        std::filesystem::create_directories(
            std::filesystem::path(file_.directory() + "/" + name).parent_path());
        std::ofstream(file_.directory() + "/" + name) << text;
        return *this;
    }
    std::string read(const std::string& name) const {
        return read_file(file_.directory() + "/" + name);
    }
    Ran check(const std::vector<std::string>& more = {}, const std::string& below = "") const {
        std::vector<std::string> arguments = {"check"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return peal(arguments, file_.directory() + below);
    }
    const std::string& directory() const { return file_.directory(); }

private:
    TemporaryFile file_;
};

std::string refusal_of(const std::string& text) {
    const Ran ran = Project(text).check();
    EXPECT_EQ(ran.exit_code, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    return ran.err;
}

TEST(ProjectDocument, EveryCommandDoesWhatItSays) {
    const Played played = play(read_file(PEAL_SOURCE_DIR "/docs/projects.md"));
    EXPECT_EQ(played.files, 4);
    EXPECT_EQ(played.sessions, 3);
}

TEST(PealProject, TheExamplesAreOne) {
    const Ran ran = peal({"check"}, PEAL_SOURCE_DIR "/examples");
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, EndsWith("\n12 checks: 12 as expected, 0 of them from the store\n"));
    EXPECT_THAT(ran.out, HasSubstr("  violated, as expected  "));
}

TEST(PealProject, WhatIsInTheStoreIsTakenFromThere) {
    const TemporaryCache cache;
    const Project project("[[check]]\ntarget = \"broadcast\"\nranks = \"2..3\"\ncount = [4, 5]\n");
    const Ran first = project.check();
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_THAT(first.out, EndsWith("\n2 checks: 2 as expected, 0 of them from the store\n"));
    const Ran again = project.check();
    EXPECT_EQ(without_times(again.out),
              "program    recipe  ranks  counts  calls  result        verdict  method  work        "
              "time\n"
              "broadcast  auto     2..3       4  any    as broadcast  proved   linear  from store  "
              "<time>\n"
              "broadcast  auto     2..3       5  any    as broadcast  proved   linear  from store  "
              "<time>\n"
              "2 checks: 2 as expected, 2 of them from the store\n");
    EXPECT_THAT(project.check({"--no-store"}).out, EndsWith(", 0 of them from the store\n"));
    EXPECT_THAT(project.check({"--json"}).out,
                HasSubstr("    \"checks\": 2,\n    \"from_store\": 2,\n"));
}

TEST(PealProject, IsFoundInDirectoriesAbove) {
    Project project(
        "[[check]]\ntarget = \"kernels/racy.peal\"\nranks = 2\nverdict = \"violated\"\n");
    project.with("kernels/racy.peal", kRacy);
    const Ran ran = project.check({}, "/kernels");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("\nkernels/racy.peal  -           2       3      3  protocol "
                                   "only  violated, as expected  linear  36 events  "));
    EXPECT_EQ(peal({"check", "../peal.toml"}, project.directory() + "/kernels").exit_code, 0);
    const TemporaryFile nothing("placeholder", "");
    const Ran none = peal({"check"}, nothing.directory());
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_EQ(none.err,
              "peal: check: expected a target, or a peal.toml here or in a directory above that "
              "lists what to check\n");
}

// Everything else is checked all the same; the exit code is the worst.
TEST(PealProject, TheExitCodeIsTheWorst) {
    const std::string fine = "[[check]]\ntarget = \"barrier\"\nranks = 2\n";
    const std::string bound =
        "[[check]]\ntarget = \"overtaken.peal\"\nranks = 4\ncalls = 1\nmax-states = 20\n";
    const std::string wrong = "[[check]]\ntarget = \"racy.peal\"\nranks = 2\ncount = 4\n";
    const std::string missing = "[[check]]\ntarget = \"missing.peal\"\n";
    const auto check = [](const std::string& text) {
        return Project(text)
            .with("racy.peal", kRacy)
            .with("overtaken.peal",
                  "kernel overtaken(sig: window i32[nranks]) {\n"
                  "    for peer in peers { notify sig[rank]@peer += 1 }\n"
                  "    for peer in peers { wait sig[peer] == 1 }\n"
                  "    for peer in peers { notify sig[rank]@peer += 1 }\n"
                  "}\n")
            .check();
    };
    EXPECT_EQ(check(fine).exit_code, 0);
    EXPECT_EQ(check(fine + bound).exit_code, 3);
    EXPECT_EQ(check(bound + wrong + fine).exit_code, 1);
    const Ran all = check(missing + bound + wrong + fine);
    EXPECT_EQ(all.exit_code, 2);
    EXPECT_THAT(all.out, StartsWith("peal.toml:1: missing.peal\n"
                                    "cannot read 'missing.peal': No such file or directory\n\n"
                                    "peal.toml:3: overtaken.peal\n"));
    EXPECT_THAT(all.out, HasSubstr("not proved: bound reached: 20 states\n"));
    EXPECT_THAT(all.out, HasSubstr(std::string("\ndata race: ") + kRace + "\n"));
    EXPECT_THAT(all.out, EndsWith("\n4 checks: 1 as expected, 0 of them from the store; 3 not\n"));
}

TEST(PealProject, AViolationThatIsExpectedMustBeThere) {
    const Ran ran = Project("[[check]]\ntarget = \"barrier\"\nranks = 2\nverdict = \"violated\"\n")
                        .check({"--github"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("  proved, not expected  "));
    EXPECT_THAT(ran.out, EndsWith("\n::error file=peal.toml,line=1,title=proved::a violation is "
                                  "expected, and it is proved\n"));
}

TEST(PealProject, MistakesAreToldWithTheirLine) {
    EXPECT_EQ(
        refusal_of("[default]\nranks = 2\n"),
        "peal.toml:1:2: error: there is no key 'default'\n"
        "    1 | [default]\n      |  ^~~~~~~\nhint: did you mean 'defaults'?\n"
        "peal.toml:1:1: error: expected what is to be checked: [[check]], and below it target "
        "= ...\n    1 | [default]\n      | ^\n");
    EXPECT_EQ(refusal_of("[[check]]\nranks = 2\n"),
              "peal.toml:1:1: error: expected target = a collective or a file\n"
              "    1 | [[check]]\n      | ^~~~~~~~~\n");
    EXPECT_EQ(refusal_of("[[check]]\ntarget = \"barrier\"\nranks = { from = 2 }\n"),
              "peal.toml:3:9: error: ranks: expected text or a list, found a table\n"
              "    3 | ranks = { from = 2 }\n      |         ^~~~~~~~~~~~\n");
    EXPECT_EQ(refusal_of("[[check]]\ntarget = \"barrier\"\nstrict-loads = [1]\n"),
              "peal.toml:3:17: error: strict-loads: expected true or false, found 1\n"
              "    3 | strict-loads = [1]\n      |                 ^\n");
    EXPECT_EQ(refusal_of("[[check]]\ntarget = \"barrier\"\ncount = []\n"),
              "peal.toml:3:9: error: count: expected an integer, found an empty list\n"
              "    3 | count = []\n      |         ^~\n");
    EXPECT_EQ(refusal_of("[[check]]\ntarget = \"barrier\"\nverdict = \"fine\"\n"),
              "peal.toml:1:1: error: verdict: expected 'proved' or 'violated', found 'fine'\n"
              "    1 | [[check]]\n      | ^\n");
    EXPECT_THAT(refusal_of("[[check]]\ntarget =\n"), StartsWith("peal.toml:2:9: error: "));
    EXPECT_THAT(refusal_of("[[check]]\ntarget = \"barrier\"\nzzz = 1\n"),
                HasSubstr("hint: the keys are target, recipe, hosts, count, dtype, "));
}

// Each value of the list is a window, not a check of its own.
TEST(PealProject, WindowsThatHoldSomething) {
    constexpr const char* kernel =
        "kernel taken(a: window f32[n], b: window f32[n], out: out f32[n]) { out = a + b }\n";
    const std::string check = "[[check]]\ntarget = \"taken.peal\"\nranks = 2\n";
    const Ran held =
        Project(check + "holds = [\"a\", \"b=zeros\"]\n").with("taken.peal", kernel).check();
    EXPECT_EQ(held.exit_code, 0) << held.out << held.err;
    EXPECT_THAT(held.out, EndsWith("\n1 check: 1 as expected, 0 of them from the store\n"));
    const Ran one = Project(check + "holds = \"a\"\n").with("taken.peal", kernel).check();
    EXPECT_EQ(one.exit_code, 1);
    EXPECT_THAT(one.out, HasSubstr("read of unwritten bytes: "));
    EXPECT_EQ(Project(check + "holds = \"c\"\n").with("taken.peal", kernel).check().exit_code, 2);
}

TEST(PealProject, WhatIsCheckedIsForTheFileToSay) {
    const Project project("[[check]]\ntarget = \"barrier\"\nranks = 2\n");
    EXPECT_EQ(project.check({"-n", "3"}).err,
              "peal: --ranks says what is checked: without a target, peal.toml does\n");
    EXPECT_EQ(project.check({"--svg", "a.svg"}).err, "peal: --svg is for one target: name it\n");
}

std::string without_seconds(const std::string& text) {
    return replaced(text, "time=\"[0-9.]+\"", "time=\"\"");
}

// Files are named as seen from where the command is given.
TEST(PealProject, ReportsForMachines) {
    Project project(
        "[[check]]\ntarget = \"barrier\"\nranks = 2\n"
        "[[check]]\ntarget = \"a b/racy.peal\"\nranks = 2\ncount = 4\n"
        "[[check]]\ntarget = \"no.peal\"\n");
    project.with("a b/racy.peal", kRacy);
    const Ran ran = project.check(
        {"../peal.toml", "--junit", "j.xml", "--sarif", "s.json", "--github"}, "/a b");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, "");
    const std::string race = kRace;
    const std::string missing = "cannot read 'no.peal': No such file or directory";
    EXPECT_THAT(ran.out,
                EndsWith("; 2 not\n::error file=racy.peal,line=5,title=data race::" + race +
                         "\n::error file=../peal.toml,line=8,title=error::" + missing + "\n"));
    const std::string escaped = replaced(race, "<", "&lt;");
    EXPECT_EQ(
        without_seconds(project.read("a b/j.xml")),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "  <testsuite name=\"peal check\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\" "
        "time=\"\">\n"
        "    <testcase classname=\"barrier\" name=\"auto, 2 ranks\" file=\"../peal.toml\" "
        "line=\"1\" time=\"\"/>\n"
        "    <testcase classname=\"a b/racy.peal\" name=\"2 ranks, 4 elements\" "
        "file=\"../peal.toml\" line=\"4\" time=\"\">\n"
        "      <failure type=\"data race\" message=\"" +
            escaped + "\">racy.peal:5: " + escaped +
            "</failure>\n    </testcase>\n"
            "    <testcase classname=\"no.peal\" name=\"all\" file=\"../peal.toml\" line=\"8\" "
            "time=\"\">\n      <error type=\"error\" message=\"" +
            missing + "\">../peal.toml:8: " + missing +
            "</error>\n    </testcase>\n  </testsuite>\n</testsuites>\n");
    EXPECT_EQ(project.read("a b/s.json"), R"x({
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {
        "driver": {
          "name": "peal",
          "rules": [
            {
              "id": "data-race",
              "shortDescription": {
                "text": "data race"
              }
            },
            {
              "id": "error",
              "shortDescription": {
                "text": "error"
              }
            }
          ]
        }
      },
      "results": [
        {
          "ruleId": "data-race",
          "level": "error",
          "message": {
            "text": ")x" + race + R"x("
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "racy.peal"
                },
                "region": {
                  "startLine": 5
                }
              }
            }
          ],
          "relatedLocations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "racy.peal"
                },
                "region": {
                  "startLine": 2
                }
              },
              "message": {
                "text": "rank 1, call 1: copy data[0;4] <- inp[0;4] (line 2)"
              }
            }
          ]
        },
        {
          "ruleId": "error",
          "level": "error",
          "message": {
            "text": ")x" + missing + R"x("
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "../peal.toml"
                },
                "region": {
                  "startLine": 8
                }
              }
            }
          ]
        }
      ]
    }
  ]
}
)x");
}

// A collective is in no file; a kernel that cannot be read has its line.
TEST(PealCheck, AnnotationsOfOneTarget) {
    const TemporaryFile racy("a,b.peal", kRacy);
    const Ran ran =
        peal({"check", "a,b.peal", "-n", "2", "--count", "4", "--github"}, racy.directory());
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(
        ran.out,
        EndsWith(std::string("\n::error file=a%2Cb.peal,line=5,title=data race::") + kRace + "\n"));
    Project project("[[check]]\ntarget = \"bad.peal\"\nranks = 2\n");
    project.with("bad.peal", "kernel bad(out: out f32[n]) {\n    out = inp\n}\n");
    EXPECT_THAT(project.check({"--github"}).out,
                HasSubstr("\n::error file=bad.peal,line=2,title=error::bad.peal:2:11: error: "));
}

// Nobody sees it in a file; a terminal shows it, and it is gone at the end.
TEST(PealProject, ATerminalShowsHowFarItIs) {
    const Project project("[[check]]\ntarget = \"barrier\"\nranks = 2\n");
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
        if (chdir(project.directory().c_str()) == 0) {
            execl(PEAL_BINARY, "peal", "check", nullptr);
        }
        _exit(127);
    }
    std::string shown;
    char piece[4096];
    for (ssize_t bytes = 0; (bytes = read(terminal, piece, sizeof piece)) > 0;) {
        shown.append(piece, static_cast<std::size_t>(bytes));
    }
    close(terminal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_THAT(shown, StartsWith("\r\x1b[K[1/1] barrier\r\x1b[Kprogram  "));
    EXPECT_EQ(project.check().err, "");
}

}  // namespace project_test
}  // namespace peal::test
