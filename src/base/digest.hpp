// SPDX-License-Identifier: Apache-2.0
// Names for contents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace peal::base {

// 128 bits of everything that was put in, in order; the same on every machine. Two lanes of 64 bits
// take in each word in ways of their own, so that contents that differ by chance or by mistake have
// different digests. Nothing here resists somebody who looks for two of the same digest: whoever
// can put files where digests are trusted needs no such thing. That is all XXH3 would give, for a
// package more.
class Digest {
public:
    Digest& add(std::uint64_t word);
    Digest& add(std::string_view text);  // and its length

    std::uint64_t half() const;  // 64 of the bits
    std::string text() const;    // 32 hexadecimal digits

private:
    std::uint64_t low_ = 0xcbf29ce484222325;
    std::uint64_t high_ = 0x9e3779b97f4a7c15;
};

}  // namespace peal::base
