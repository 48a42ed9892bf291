// SPDX-License-Identifier: Apache-2.0
#include "base/digest.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace peal::base {
namespace {

// Each bit of the word moves half of the bits that come out, and no two words come out alike.
std::uint64_t scattered(std::uint64_t word) {
    word = (word ^ word >> 33) * 0xff51afd7ed558ccd;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53;
    return word ^ word >> 33;
}

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    }
    return word;
}

}  // namespace

Digest& Digest::add(std::uint64_t word) {
    low_ = (low_ ^ word) * 0x9fb21c651e98df25;
    low_ ^= low_ >> 32;
    high_ = (high_ + std::rotl(word, 32)) * 0xff51afd7ed558ccd;
    high_ ^= high_ >> 29;
    return *this;
}

Digest& Digest::add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 8))) {
        add(little_endian(text.substr(0, 8)));
    }
    return *this;
}

std::uint64_t Digest::half() const { return scattered(low_ + std::rotl(high_, 17)); }

std::string Digest::text() const {
    return fmt::format("{:016x}{:016x}", half(), scattered(high_ ^ half()));
}

}  // namespace peal::base
