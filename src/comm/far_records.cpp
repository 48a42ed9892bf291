// SPDX-License-Identifier: Apache-2.0
#include "comm/far_records.hpp"

#include <new>
#include <utility>

namespace peal::comm {

FarRecords::FarRecords(hosts::Job& job, std::vector<Mirror> mirrors)
    : job_(job),
      mirrors_(std::move(mirrors)),
      flights_(mirrors_.size()),
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
    std::vector<std::size_t> answered;
    for (std::size_t i = 0; i < mirrors_.size(); ++i) {
        if (mirrors_[i].member == nullptr || !flights_[i].is_over()) continue;
        shown_[i] = (*coming_)[i];
        answered.push_back(i);
    }
    ask(answered);
}

// First whether it has left, then what it called: what it called before it left counts.
void FarRecords::ask(const std::vector<std::size_t>& members) {
    if (members.empty()) return;
    const auto get = [&](std::size_t member, std::byte* to, const void* mirror,
                         std::uint64_t bytes) {
        const auto [memory, offset] = job_.mirrors().find(static_cast<const std::byte*>(mirror));
        if (memory != nullptr) job_.net().get(flights_[member], to, *memory, offset, bytes);
    };
    for (const std::size_t i : members) {
        get(i, (*coming_)[i].member, mirrors_[i].member, sizeof(Member));
    }
    job_.net().fence();
    for (const std::size_t i : members) {
        get(i, (*coming_)[i].log, mirrors_[i].log, sizeof(CallLog));
    }
}

}  // namespace peal::comm
