// SPDX-License-Identifier: Apache-2.0
#include "engine/aliases.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plan/names.hpp"

namespace peal::engine {
namespace {

bool is_argument(const BoundMemory& bound) { return bound.buffer->kind == BufferKind::argument; }

// Symmetric memory counts as written by somebody.
bool is_written(const BoundMemory& bound) {
    return !is_argument(bound) || bound.buffer->direction != Direction::in;
}

const std::byte* end_of(const BoundMemory& bound) {
    return static_cast<const std::byte*>(bound.begin) + bound.bytes;
}

std::string title(const BoundMemory& bound) {
    return fmt::format("{} '{}'", name(bound.buffer->kind), bound.buffer->name);
}

std::string sentence(const BoundMemory& a, const BoundMemory& b) {
    const std::string& written = (is_written(b) ? b : a).buffer->name;
    if (!is_argument(a) && !is_argument(b)) {
        return fmt::format("{} and {} are bound to the same symmetric memory", title(a), title(b));
    }
    if (is_argument(a) != is_argument(b)) {
        return fmt::format("rank {}: {} and {} overlap in memory, and '{}' is written",
                           (is_argument(a) ? a : b).rank, title(a), title(b), written);
    }
    if (a.rank != b.rank) {
        return fmt::format("{} of rank {} and {} of rank {} overlap in memory, and '{}' is written",
                           title(a), a.rank, title(b), b.rank, written);
    }
    return fmt::format("rank {}: arguments '{}' and '{}' overlap in memory, and '{}' is written",
                       a.rank, a.buffer->name, b.buffer->name, written);
}

// The one that reaches furthest.
const BoundMemory* further(const BoundMemory* a, const BoundMemory* b) {
    return a != nullptr && end_of(*a) >= end_of(*b) ? a : b;
}

bool clash(const BoundMemory* a, const BoundMemory& b) {
    return a != nullptr && overlap(a->begin, a->bytes, b.begin, b.bytes);
}

}  // namespace

std::optional<std::string> alias_among(const std::vector<BoundMemory>& bound) {
    std::vector<const BoundMemory*> by_place;
    by_place.reserve(bound.size());
    for (const BoundMemory& each : bound) {
        if (each.bytes > 0) by_place.push_back(&each);
    }
    std::sort(by_place.begin(), by_place.end(), [](const BoundMemory* a, const BoundMemory* b) {
        return std::less<>()(a->begin, b->begin);
    });
    const BoundMemory* written = nullptr;  // so far
    const BoundMemory* read = nullptr;
    for (const BoundMemory* each : by_place) {
        const bool writes = is_written(*each);
        const BoundMemory* other = clash(written, *each)          ? written
                                   : writes && clash(read, *each) ? read
                                                                  : nullptr;
        if (other != nullptr) {
            // They are in one list, and named in its order.
            return sentence(*std::min(other, each), *std::max(other, each));
        }
        const BoundMemory*& furthest = writes ? written : read;
        furthest = further(furthest, each);
    }
    return std::nullopt;
}

}  // namespace peal::engine
