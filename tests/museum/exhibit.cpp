// SPDX-License-Identifier: Apache-2.0
#include "museum/exhibit.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/program.hpp"

namespace peal::museum {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(PEAL_SOURCE_DIR) / "tests" / "museum";

struct Line {
    std::string key, value;
};

[[noreturn]] void reject(const std::string& id, const std::string& message) {
    throw Error(Fault::program, fmt::format("museum, {}.peal: {}", id, message));
}

// The lines "# key: value" at the top of the file.
std::vector<Line> read_label(const std::string& id) {
    std::ifstream file(kFolder / (id + ".peal"));
    std::vector<Line> lines;
    for (std::string text; std::getline(file, text) && text.starts_with("# ");) {
        const std::size_t colon = text.find(": ");
        if (colon == std::string::npos) reject(id, "expected '# key: value', found " + text);
        lines.push_back({text.substr(2, colon - 2), text.substr(colon + 2)});
    }
    return lines;
}

using Pairs = std::map<std::string, std::string>;

// "a=1 b=2"
Pairs pairs_of(const std::string& text) {
    Pairs pairs;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        pairs[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return pairs;
}

Bindings bindings_of(const Pairs& pairs) {
    Bindings bindings;
    for (const auto& [name, value] : pairs) bindings.integers[name] = std::stoll(value);
    return bindings;
}

// "2,3,4"
std::vector<int> numbers_of(const std::string& text) {
    std::vector<int> numbers;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::stoi(word));
    return numbers;
}

void read_meaning(Exhibit& exhibit, const std::string& text) {
    constexpr std::string_view kInPlace = " in place";
    exhibit.in_place = text.ends_with(kInPlace);
    const std::size_t length = text.size() - (exhibit.in_place ? kInPlace.size() : 0);
    exhibit.meaning = collective_from(text.substr(0, length));
    if (!exhibit.meaning && text != "none") reject(exhibit.id, "there is no collective " + text);
}

void read_holds(Exhibit& exhibit, const std::string& text) {
    using enum Held::What;
    for (const auto& [window, what] : pairs_of(text)) {
        const auto is_it = [&](Held::What each) { return name(each) == what; };
        const auto all = {input, zeros, fresh};
        const auto* const found = std::find_if(all.begin(), all.end(), is_it);
        if (found == all.end()) reject(exhibit.id, "windows do not hold " + what);
        exhibit.holds.push_back({window, *found});
    }
}

void read_line(Exhibit& exhibit, Pairs& settings, Pairs& mended, const Line& line) {
    const std::map<std::string, std::function<void()>> readers = {
        {"what", [&] { exhibit.what = line.value; }},
        {"where", [&] { exhibit.where = line.value; }},
        {"why", [&] { exhibit.why = line.value; }},
        {"expect", [&] { exhibit.expect = line.value; }},
        {"as", [&] { read_meaning(exhibit, line.value); }},
        {"set", [&] { settings = pairs_of(line.value); }},
        {"ranks", [&] { exhibit.ranks = numbers_of(line.value); }},
        {"calls", [&] { exhibit.calls = std::stoi(line.value); }},
        {"warning", [&] { exhibit.warning = line.value; }},
        {"holds", [&] { read_holds(exhibit, line.value); }},
        {"broken memory", [&] { exhibit.broken_memory = pairs_of(line.value); }},
        {"mended set", [&] { mended = pairs_of(line.value); }},
        {"mended says", [&] { exhibit.mended_says = line.value; }},
    };
    const auto reader = readers.find(line.key);
    if (reader == readers.end()) reject(exhibit.id, "nobody reads '" + line.key + "'");
    reader->second();
}

void require_story(const std::string& id, const std::vector<Line>& label) {
    const std::vector<std::string> story = {"what", "where", "why", "expect", "as"};
    for (const std::string& key : story) {
        const auto has_key = [&](const Line& line) {
            return line.key == key && !line.value.empty();
        };
        if (std::none_of(label.begin(), label.end(), has_key)) reject(id, "does not say " + key);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        if (label[i].key != story[i]) reject(id, "begins with what, where and why");
    }
}

}  // namespace

std::vector<std::string> exhibit_ids() {
    std::vector<std::string> ids;
    for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
        if (entry.path().extension() == ".peal") ids.push_back(entry.path().stem().string());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

Exhibit load_exhibit(const std::string& id) {
    Exhibit exhibit;
    exhibit.id = id;
    const std::vector<Line> label = read_label(id);
    require_story(id, label);
    Pairs settings, mended;
    for (const Line& line : label) read_line(exhibit, settings, mended, line);
    exhibit.broken_settings = bindings_of(settings);
    mended.merge(settings);
    exhibit.mended_settings = bindings_of(mended);

    exhibit.program = parse_file((kFolder / (id + ".peal")).string(), &exhibit.warnings);
    for (const ir::Kernel& kernel : exhibit.program.kernels) {
        if (kernel.name.starts_with("broken")) exhibit.broken_kernels.push_back(kernel.name);
    }
    if (exhibit.broken_kernels.empty()) reject(id, "has no kernel 'broken'");
    if (!exhibit.program.find("mended")) reject(id, "has no kernel 'mended'");
    return exhibit;
}

}  // namespace peal::museum
