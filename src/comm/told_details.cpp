// SPDX-License-Identifier: Apache-2.0
#include "comm/told_details.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace peal::comm {
namespace {

constexpr std::string_view kDots = "...";

std::string text_of_counts(const Shape& shape) {
    if (!facts_of(shape.kind).counts_pairs())
        return fmt::format("{}", fmt::join(shape.counts, " "));
    const auto ranks = std::lround(std::sqrt(shape.counts.size()));
    std::string text;
    for (auto row = shape.counts.begin(); row != shape.counts.end(); row += ranks) {
        text += fmt::format("{}[{}]", text.empty() ? "" : " ", fmt::join(row, row + ranks, " "));
        if (text.size() > std::size(DetailsText{}.text)) break;
    }
    return text;
}

// The word is 0 while the text changes: who reads a letter of the new text sees that.
void write(DetailsText& to, std::uint64_t word, const std::string& text) {
    to.word.store(0, std::memory_order_relaxed);
    for (std::size_t i = 0; i < std::size(to.text); ++i) {
        to.text[i].store(i < text.size() ? text[i] : '\0', std::memory_order_release);
    }
    to.word.store(word, std::memory_order_release);
}

// Empty: they are others.
std::string read(const DetailsText& from, std::uint64_t word) {
    if (from.word.load(std::memory_order_acquire) != word) return "";
    std::string text;
    for (const std::atomic<char>& letter : from.text) {
        text += letter.load(std::memory_order_acquire);
    }
    if (from.word.load(std::memory_order_relaxed) != word) return "";
    return text.substr(0, text.find('\0'));
}

}  // namespace

bool ToldDetails::is_told(std::uint64_t word) const {
    return std::any_of(std::begin(member_.details), std::end(member_.details),
                       [&](const DetailsText& known) {
                           return known.word.load(std::memory_order_relaxed) == word;
                       });
}

void ToldDetails::put(std::uint64_t word, std::string text) {
    const std::size_t room = std::size(DetailsText{}.text);
    if (text.size() > room) text.replace(room - kDots.size(), std::string::npos, kDots);
    write(member_.details[next_], word, text);
    next_ = (next_ + 1) % Member::kDetails;
}

void ToldDetails::tell(const Shape& shape) {
    const std::uint64_t word = details_word(stamp_of(shape));
    if (word != 0 && !is_told(word)) put(word, text_of_counts(shape));
}

void ToldDetails::tell(const Stamp& kernel, const std::string& text) {
    const std::uint64_t word = details_word(kernel);
    if (!is_told(word)) put(word, text);
}

std::string told_details(const Member& member, const Stamp& stamp) {
    const std::uint64_t word = details_word(stamp);
    if (word == 0) return "";
    for (const DetailsText& known : member.details) {
        std::string text = read(known, word);
        if (!text.empty()) return text;
    }
    return "";
}

}  // namespace peal::comm
