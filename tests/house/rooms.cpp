// SPDX-License-Identifier: Apache-2.0
#include "house/rooms.hpp"

#include <algorithm>
#include <sstream>

namespace peal::test {
namespace {

// Words of letters, digits and underscores: "`ir`", "base", "language, collectives".
Names words_in(const std::string& text) {
    Names words;
    for (const std::string_view token : tokens_of(text)) {
        if (is_word(token)) words.emplace(token);
    }
    return words;
}

std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    std::istringstream stream(row.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
    return cells;
}

// The rows below the heading of the table whose first line begins with `start`.
std::vector<std::vector<std::string>> table_in(std::string_view document, std::string_view start) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines{std::string(document)};
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(start, 0) == 0) {
            inside = true;
        } else if (inside && line.rfind("| `", 0) == 0) {
            rows.push_back(cells_of(line));
        } else if (line.rfind("|", 0) != 0) {
            inside = false;
        }
    }
    return rows;
}

std::vector<std::string> folders_of(const std::string& path) {
    std::vector<std::string> folders;
    for (std::size_t start = 0, slash = path.find('/'); slash != std::string::npos;
         start = slash + 1, slash = path.find('/', start)) {
        folders.push_back(path.substr(start, slash - start));
    }
    return folders;
}

}  // namespace

Rooms::Rooms(std::string_view document) {
    for (const auto& cells : table_in(document, "| room |")) {
        const std::string room = *words_in(cells.at(0)).begin();
        knows_[room] = words_in(cells.at(2));
        headers_[room] = words_in(cells.at(3));
    }
    for (const auto& cells : table_in(document, "| tests of |")) {
        tests_know_[*words_in(cells.at(0)).begin()] = words_in(cells.at(1));
    }
}

Names Rooms::all() const {
    Names names;
    for (const auto& [room, known] : knows_) names.insert(room);
    return names;
}

Names Rooms::owners_of(std::string_view header) const {
    Names owners;
    for (const auto& [room, headers] : headers_) {
        if (headers.count(header.substr(0, header.rfind('.')))) owners.insert(room);
    }
    return owners;
}

Names Rooms::reach(const std::string& room) const {
    const auto row = knows_.find(room);
    if (row == knows_.end()) return {};
    if (row->second.count("everything")) return all();
    Names names = {room};
    for (const std::string& known : row->second) names.merge(reach(known));
    return names;
}

Names Rooms::allowed(const std::string& path) const {
    const std::vector<std::string> folders = folders_of(path);
    if (folders.front() == "include") {
        Names names;
        for (const std::string& room : owners_of(path.substr(path.rfind('/') + 1))) {
            names.merge(reach(room));
        }
        return names;
    }
    Names names = reach(folders.at(1));
    if (folders.front() != "tests") return names;
    if (const auto more = tests_know_.find(folders[1]); more != tests_know_.end()) {
        for (const std::string& room : more->second) names.merge(reach(room));
    }
    return names;
}

Names Rooms::rooms_of(const std::string& header) const {
    const std::vector<std::string> folders = folders_of(header);
    if (folders.empty()) return {};
    if (folders.front() == "peal") return owners_of(header.substr(header.rfind('/') + 1));
    return knows_.count(folders.front()) ? Names{folders.front()} : Names{};
}

std::vector<std::string> Rooms::strangers_of(const SourceFile& file) const {
    const Names may = allowed(file.path);
    std::vector<std::string> lines;
    for (const std::string& header : includes_of(file.text)) {
        const Names rooms = rooms_of(header);
        const bool known = std::any_of(rooms.begin(), rooms.end(),
                                       [&](const std::string& room) { return may.count(room); });
        if (known || rooms.empty()) continue;
        lines.push_back(file.path + " includes " + header + ", which belongs to " + *rooms.begin());
    }
    return lines;
}

}  // namespace peal::test
