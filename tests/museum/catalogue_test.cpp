// SPDX-License-Identifier: Apache-2.0
// What is shown, and what docs/museum.md says about it.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "museum/exhibit.hpp"
#include "museum/plan_exhibits.hpp"

namespace peal::museum {
namespace catalogue_test {

TEST(MuseumCatalogue, NothingIsMissing) {
    std::vector<std::string> shown = exhibit_ids();
    for (const PlanExhibit& exhibit : plan_exhibits()) shown.push_back(exhibit.id);
    EXPECT_THAT(shown, ::testing::IsSupersetOf(
                           {"S1",  "S2",  "S3",  "S4",  "S5",  "S6",  "S7",  "S8",  "S9", "S10",
                            "S11", "S12", "U1",  "U2",  "U3",  "U4",  "U5",  "U6",  "U7", "U8",
                            "U11", "U12", "U14", "U15", "U16", "G1",  "G3",  "G4",  "G5", "G6",
                            "G9",  "G11", "G12", "G13", "G14", "G15", "G16", "G17", "G18"}));
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
        EXPECT_THAT(rows[id], ::testing::HasSubstr("| " + kind + " |")) << id;
    }
}

}  // namespace catalogue_test
}  // namespace peal::museum
