// SPDX-License-Identifier: Apache-2.0
#include "comm/far_records.hpp"

#include <new>
#include <utility>

namespace peal::comm {

FarRecords::FarRecords(hosts::Job& job, std::vector<Mirror> mirrors)
    : job_(job),
      mirrors_(std::move(mirrors)),
      shown_(mirrors_.size()),
      coming_(std::make_shared<std::vector<Copies>>(mirrors_.size())) {}

FarRecords::~FarRecords() {
    if (!is_over()) job_.keep_to_the_end(coming_);
}

// As they lie in memory: words that are written whole, zero in the beginning.
Member& FarRecords::member(int member) const {
    const std::byte* const bytes = shown_[static_cast<std::size_t>(member)].member;
    return *std::launder(reinterpret_cast<Member*>(const_cast<std::byte*>(bytes)));
}

CallLog& FarRecords::log(int member) const {
    const std::byte* const bytes = shown_[static_cast<std::size_t>(member)].log;
    return *std::launder(reinterpret_cast<CallLog*>(const_cast<std::byte*>(bytes)));
}

void FarRecords::refresh() {
    if (!is_over()) return;
    if (has_asked_) shown_ = *coming_;
    ask();
}

// First whether it has left, then what it called: what it called before it left counts.
void FarRecords::ask() {
    has_asked_ = true;
    const auto get = [&](std::byte* to, const void* mirror, std::uint64_t bytes) {
        const auto [memory, offset] = job_.mirrors().find(static_cast<const std::byte*>(mirror));
        if (memory != nullptr) job_.net().get(flight_, to, *memory, offset, bytes);
    };
    for (std::size_t i = 0; i < mirrors_.size(); ++i) {
        Copies& copies = (*coming_)[i];
        if (mirrors_[i].member) get(copies.member, mirrors_[i].member, sizeof copies.member);
    }
    job_.net().fence();
    for (std::size_t i = 0; i < mirrors_.size(); ++i) {
        Copies& copies = (*coming_)[i];
        if (mirrors_[i].log) get(copies.log, mirrors_[i].log, sizeof copies.log);
    }
}

}  // namespace peal::comm
