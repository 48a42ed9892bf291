// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as bytes, and back from bytes of which nothing is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peal::hosts {

class Packer {
public:
    Packer& number(std::uint32_t value) {
        for (int shift = 0; shift < 32; shift += 8) {
            bytes_.push_back(static_cast<char>(value >> shift & 0xff));
        }
        return *this;
    }
    Packer& wide(std::uint64_t value) {
        return number(static_cast<std::uint32_t>(value))
            .number(static_cast<std::uint32_t>(value >> 32));
    }
    Packer& text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        bytes_.append(value);
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

// Whoever asks for more than there is gets nothing, and is_whole() is false from then on.
class Unpacker {
public:
    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

    std::uint32_t number() {
        const std::string_view bytes = take(4);
        std::uint32_t value = 0;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            value = value << 8 | static_cast<unsigned char>(bytes[i]);
        }
        return value;
    }
    std::uint64_t wide() {
        const std::uint64_t low = number();
        return low | std::uint64_t{number()} << 32;
    }
    std::string_view text() { return take(number()); }

    // All was there.
    bool is_whole() const { return !short_; }
    // And nothing else.
    bool is_over() const { return !short_ && rest_.empty(); }

private:
    std::string_view take(std::size_t bytes) {
        if (bytes > rest_.size()) {
            short_ = true;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return taken;
    }

    std::string_view rest_;
    bool short_ = false;
};

// What messages are made of, whoever says them.
struct Parcel {
    std::uint32_t kind = 0;
    int number = -1;
    std::vector<std::string> texts;
};

inline std::string pack(const Parcel& parcel) {
    Packer out;
    out.number(parcel.kind);
    out.number(static_cast<std::uint32_t>(parcel.number));
    out.number(static_cast<std::uint32_t>(parcel.texts.size()));
    for (const std::string& text : parcel.texts) out.text(text);
    return out.bytes();
}

// Nothing unless it is one, of a kind up to `last`.
inline std::optional<Parcel> parcel_from(std::string_view bytes, std::uint32_t last) {
    Unpacker in(bytes);
    Parcel parcel;
    parcel.kind = in.number();
    if (parcel.kind > last) return std::nullopt;
    parcel.number = static_cast<int>(in.number());
    const std::uint32_t count = in.number();
    for (std::uint32_t i = 0; i < count && in.is_whole(); ++i) parcel.texts.emplace_back(in.text());
    if (!in.is_over()) return std::nullopt;
    return parcel;
}

}  // namespace peal::hosts
