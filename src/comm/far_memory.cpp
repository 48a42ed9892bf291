// SPDX-License-Identifier: Apache-2.0
#include "comm/far_memory.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace peal::comm {
namespace {

std::byte* line_of(std::byte* address) {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) % kCacheLineBytes;
    return address - offset;
}

}  // namespace

hosts::Mirrors::RemoteAddress FarMemory::address_of(const std::byte* mirror) {
    const hosts::Mirrors::RemoteAddress address = job_.mirrors().find(mirror);
    assert(address.memory != nullptr);
    const int rank = address.memory->rank();
    if (std::find(used_.begin(), used_.end(), rank) == used_.end()) used_.push_back(rank);
    return address;
}

// A flush that was asked for before knows nothing of it.
void FarMemory::note_put(int rank) {
    for (Target& target : put_to_) {
        if (target.rank == rank) return target.flush.reset();
    }
    put_to_.push_back({rank, std::nullopt});
}

void FarMemory::ask_for(Target& target) {
    if (target.flush) return;
    target.flush.emplace();
    job_.net().flush(*target.flush, target.rank);
}

void FarMemory::fence_net() {
    must_fence_ = false;
    job_.net().fence();
}

int FarMemory::owner_of(const std::byte* mirror) const {
    return job_.mirrors().find(mirror).memory->rank();
}

// ---------------------------------------------------------------------------- data

// What this rank has put there before comes first.
void FarMemory::fetch(std::byte* to, const std::byte* mirror, std::uint64_t bytes) {
    if (bytes == 0) return;
    const auto [memory, offset] = address_of(mirror);
    const int rank = memory->rank();
    let_go_if([&](const Waiting& line) { return line.rank == rank; });
    const bool has_put = std::any_of(put_to_.begin(), put_to_.end(),
                                     [&](const Target& target) { return target.rank == rank; }) ||
                         std::any_of(deferred_to_.begin(), deferred_to_.end(),
                                     [&](const auto& put) { return put.second == rank; });
    if (has_put) fence_net();
    job_.net().get(flight_, to, *memory, offset, bytes);
}

void FarMemory::put(std::byte* mirror, const std::byte* from, std::uint64_t bytes,
                    std::uint16_t group) {
    if (bytes == 0) return;
    assert(group != 0);
    tidy();
    const auto [memory, offset] = address_of(mirror);
    const std::pair deferred(group, memory->rank());
    if (std::find(deferred_to_.begin(), deferred_to_.end(), deferred) == deferred_to_.end()) {
        deferred_to_.push_back(deferred);
    }
    if (must_fence_) fence_net();
    sources_.push_back({from, from + bytes});
    job_.net().put(flight_, *memory, offset, from, bytes);
}

void FarMemory::fence(std::uint16_t group) {
    std::erase_if(deferred_to_, [&](const auto& put) {
        if (put.first != group) return false;
        note_put(put.second);
        must_fence_ = true;
        return true;
    });
}

// What waits there already goes first.
void FarMemory::put_in_line(std::byte* mirror, const std::byte* from, std::uint64_t bytes,
                            std::uint16_t group) {
    const int rank = address_of(mirror).memory->rank();
    std::byte* const line = line_of(mirror);
    const auto begin = static_cast<std::uint64_t>(mirror - line);
    const bool may_wait = job_.net().keeps_lines(rank) && begin + bytes <= kCacheLineBytes;
    let_go_if(
        [&](const Waiting& other) { return may_wait ? other.mirror == line : other.rank == rank; });
    if (!may_wait) return put(mirror, from, bytes, group);
    Waiting& waiting = waiting_.emplace_back(Waiting{line, rank, begin, begin + bytes, {}});
    std::memcpy(waiting.bytes.data() + begin, from, bytes);
}

template <class Which>
void FarMemory::let_go_if(Which&& which) {
    std::erase_if(waiting_, [&](const Waiting& line) {
        if (!which(line)) return false;
        note_put(line.rank);
        put_copy(line.mirror + line.begin, line.bytes.data() + line.begin, line.end - line.begin);
        must_fence_ = true;
        return true;
    });
}

void FarMemory::end_call() {
    let_go_if([](const Waiting&) { return true; });
    for (const auto& [group, rank] : deferred_to_) note_put(rank);
    must_fence_ = must_fence_ || !deferred_to_.empty();
    deferred_to_.clear();
}

bool FarMemory::uses(const std::byte* begin, std::uint64_t bytes) const {
    if (sources_.empty() || is_over()) return false;
    return std::any_of(sources_.begin(), sources_.end(), [&](const Source& source) {
        return begin < source.end && source.begin < begin + bytes;
    });
}

// ---------------------------------------------------------------------------- telling

void FarMemory::begin_telling(int rank) {
    let_go_if([&](const Waiting& line) { return line.rank != rank; });
    for (Target& target : put_to_) {
        if (target.rank != rank) ask_for(target);
    }
}

bool FarMemory::is_complete_but(int rank) const {
    return std::all_of(put_to_.begin(), put_to_.end(), [&](const Target& target) {
        return target.rank == rank || target.is_complete();
    });
}

void FarMemory::end_telling(int rank) {
    std::erase_if(put_to_, [&](const Target& target) { return target.rank != rank; });
    must_fence_ = false;  // what was put to others is there, and what is told now comes behind one
    tidy();
}

void FarMemory::put_copy(std::byte* mirror, const void* bytes, std::uint64_t count,
                         const hosts::Flight* flushed) {
    tidy();
    const auto [memory, offset] = address_of(mirror);
    Line& copy = kept_.emplace_back();
    std::memcpy(copy.data(), bytes, count);
    job_.net().tell(flight_, flushed, *memory, offset, copy.data(), count);
}

// For a rank that is about to be told: when what has been put to it is complete, if anybody will
// want to know. It goes with what is told, because whoever has heard that may be gone.
const hosts::Flight* FarMemory::flush_behind(int rank) {
    for (Target& target : put_to_) {
        if (has_others_ && target.rank == rank && !target.flush) return &target.flush.emplace();
    }
    return nullptr;
}

// What was put there is there; so it is in the same line.
void FarMemory::set(std::byte* mirror, const void* bytes, std::uint64_t count) {
    std::byte* const line = line_of(mirror);
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& other) { return other.mirror == line; });
    if (found == waiting_.end()) {
        return put_copy(mirror, bytes, count, flush_behind(owner_of(mirror)));
    }
    Waiting whole = *found;
    waiting_.erase(found);
    must_fence_ = true;
    const auto at = static_cast<std::uint64_t>(mirror - line);
    std::memcpy(whole.bytes.data() + at, bytes, count);
    note_put(whole.rank);
    put_copy(line + whole.begin, whole.bytes.data() + whole.begin, at + count - whole.begin,
             flush_behind(whole.rank));
}

void FarMemory::add(std::byte* mirror, std::int64_t value, int bytes) {
    const auto [memory, offset] = address_of(mirror);
    before_ = 0;
    job_.net().fence();
    job_.net().add(flight_, *memory, offset, value, bytes, &before_);
}

std::optional<std::pair<int, std::string>> FarMemory::trouble() const {
    for (const int rank : used_) {
        if (const auto why = job_.net().trouble(rank)) return std::pair(rank, *why);
    }
    return std::nullopt;
}

}  // namespace peal::comm
