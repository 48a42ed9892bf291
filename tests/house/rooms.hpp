// SPDX-License-Identifier: Apache-2.0
// The rooms as docs/architecture.md lists them, and who may include what.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "house/tokens.hpp"

namespace peal::test {

using Names = std::set<std::string, std::less<>>;

class Rooms {
public:
    // From the tables of the document that begin with "| room |" and "| tests of |".
    explicit Rooms(std::string_view document);

    // "src/plan/fuse.cpp includes check/term.hpp, which belongs to check", for each such line.
    std::vector<std::string> strangers_of(const SourceFile& file) const;

    Names all() const;
    // The rooms in its row.
    const Names& known_by(const std::string& room) const { return knows_.at(room); }
    // The rooms that carry out what a public header declares: "check.hpp".
    Names owners_of(std::string_view header) const;

private:
    // All rooms that it knows, itself too.
    Names reach(const std::string& room) const;
    // Who may be included by a file, by the folders that it is in; all for what has no room.
    Names allowed(const std::string& path) const;
    // The rooms of a header as it is included; none for what is not ours.
    Names rooms_of(const std::string& header) const;

    std::map<std::string, Names, std::less<>> knows_;
    std::map<std::string, Names, std::less<>> tests_know_;
    std::map<std::string, Names, std::less<>> headers_;  // by room
};

}  // namespace peal::test
