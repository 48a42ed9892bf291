// SPDX-License-Identifier: Apache-2.0
#include "museum/pto/pto_exhibit.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::museum {
namespace {

const std::filesystem::path kHere = PEAL_SOURCE_DIR "/tests/museum/pto";

// "// key: text" and lines that go on with it, which are indented.
class Header {
public:
    void take(const std::string& line) {
        const std::string text = line.substr(2);
        const auto colon = text.find(": ");
        if (text.starts_with("  ") && !key_.empty()) {
            values_[key_] += text.substr(text.find_first_not_of(' ') - 1);
        } else if (colon != std::string::npos) {
            key_ = text.substr(1, colon - 1);
            values_[key_] = text.substr(colon + 2);
        }
    }
    std::string get(const std::string& key, const std::string& otherwise = "") const {
        const auto found = values_.find(key);
        return found == values_.end() ? otherwise : found->second;
    }

private:
    std::string key_;
    std::map<std::string, std::string> values_;
};

std::vector<int> numbers_in(const std::string& text) {
    std::istringstream stream(text);
    std::vector<int> numbers;
    for (std::string word; std::getline(stream, word, ',');) numbers.push_back(std::stoi(word));
    return numbers;
}

}  // namespace

std::vector<std::string> pto_exhibit_ids() {
    std::vector<std::string> ids;
    for (const auto& file : std::filesystem::directory_iterator(kHere)) {
        const std::string id = file.path().stem().string();
        if (file.path().extension() == ".cpp" && !id.starts_with("pto_")) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

PtoExhibit load_pto_exhibit(const std::string& id) {
    PtoExhibit exhibit;
    exhibit.id = id;
    exhibit.path = (kHere / (id + ".cpp")).string();
    Header header;
    std::ifstream file(exhibit.path);
    std::uint32_t number = 0;
    bool is_header = true;
    for (std::string line; std::getline(file, line);) {
        ++number;
        is_header = is_header && line.starts_with("//");
        if (is_header) header.take(line);
        if (line.ends_with("// FAULT")) exhibit.faults.insert(number);
    }
    exhibit.what = header.get("what");
    exhibit.why = header.get("why");
    exhibit.expect = header.get("expect");
    exhibit.expect_on_a5 = header.get("on a5", exhibit.expect);
    exhibit.is_fenced = header.get("order", "drained") == "fenced";
    exhibit.ranks = numbers_in(header.get("ranks", "2, 3"));
    exhibit.calls = std::stoi(header.get("calls", "3"));
    if (exhibit.what.empty() || exhibit.why.empty() || exhibit.expect.empty() ||
        exhibit.faults.empty()) {
        throw Error(Fault::program,
                    fmt::format("{}: it must say what, why, expect, and have a line that ends in "
                                "\"// FAULT\"",
                                exhibit.path));
    }
    return exhibit;
}

}  // namespace peal::museum
