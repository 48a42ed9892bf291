// SPDX-License-Identifier: Apache-2.0
#include "comm/far_parts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm/group_memory.hpp"
#include "hosts/text_wire.hpp"
#include "peal/error.hpp"

namespace peal::comm {
namespace {

// The first byte of a letter.
constexpr char kRetired = 'r', kOther = 'o';

}  // namespace

std::vector<bool> Members::far_among(const std::vector<int>& ranks, const hosts::Job* job) {
    std::vector<bool> far;
    bool has_any = false;
    for (const int rank : ranks) {
        far.push_back(job != nullptr && job->is_far(rank));
        has_any = has_any || far.back();
    }
    return has_any ? far : std::vector<bool>();
}

std::vector<std::int64_t> Members::hosts() const {
    std::vector<std::int64_t> hosts;
    for (const int rank : ranks) {
        if (span_hosts()) hosts.push_back(job->host_of(rank));
    }
    return hosts;
}

void Members::connect_hosts(std::uint64_t extent, const Exchange& exchange) {
    const std::vector<PartLayout> layouts = {
        {common.part(0), common.stride(), common.stride()},
        {memory.part(0), memory.rank_stride(), memory.rank_stride()}};
    far_parts = std::make_shared<FarParts>(*this, extent, layouts);
    far_parts->connect(exchange(far_parts->keys()));
    read_other_hosts();
}

void Members::read_other_hosts() {
    std::vector<FarRecords::Mirror> mirrors(ranks.size());
    for (std::size_t member = 0; member < ranks.size(); ++member) {
        const auto number = static_cast<int>(member);
        if (far[member]) mirrors[member] = {&common.member(name_of(number)), &memory.log(number)};
    }
    far_records = std::make_shared<FarRecords>(*job, std::move(mirrors));
}

FarParts::FarParts(const Members& members, std::uint64_t extent, std::vector<PartLayout> layouts)
    : job_(*members.job),
      ranks_(members.ranks),
      far_(members.far),
      extent_(extent),
      layouts_(std::move(layouts)),
      subjects_(ranks_.size()),
      uses_(far_) {
    for (const PartLayout& layout : layouts_) {
        offers_.push_back(
            job_.net().offer(layout.of(static_cast<std::size_t>(members.rank)), layout.bytes));
    }
}

FarParts::~FarParts() {
    for (const PartLayout& layout : layouts_) {
        for (std::size_t member = 0; member < ranks_.size(); ++member) {
            if (far_[member]) job_.mirrors().remove(layout.of(member));
        }
    }
    job_.world()->disown(extent_);
}

// ---------------------------------------------------------------------------- keys

std::string FarParts::keys() const {
    hosts::Packer packer;
    packer.wide(extent_);
    for (const auto& offer : offers_) packer.text(offer->key());
    return packer.bytes();
}

void FarParts::connect(const std::vector<std::string>& keys) {
    for (std::size_t member = 0; member < ranks_.size(); ++member) {
        if (!far_[member]) continue;
        hosts::Unpacker unpacker(keys[member]);
        subjects_[member] = unpacker.wide();
        for (const PartLayout& layout : layouts_) {
            const std::string_view key = unpacker.text();
            job_.mirrors().add(layout.of(member), layout.bytes,
                               job_.net().reach(ranks_[member], key));
        }
        if (!unpacker.is_over()) {
            throw Error(Fault::wrong, fmt::format("{} gave no proper keys to its memory",
                                                  job_.name_of(ranks_[member])));
        }
    }
    job_.read_letters_about(extent_, [self = weak_from_this()](int from, std::string_view text) {
        if (const auto parts = self.lock()) parts->read(from, text);
    });
}

// ---------------------------------------------------------------------------- letters

void FarParts::read_letters(Reader reader) {
    const auto lock = job_.hold_letters();
    reader_ = std::move(reader);
    for (const auto& [member, text] : std::exchange(unread_, {})) reader_(member, text);
}

void FarParts::post(int member, std::string_view text) const {
    const auto to = static_cast<std::size_t>(member);
    job_.post(ranks_[to], subjects_[to], std::string(1, kOther).append(text));
}

void FarParts::read(int from, std::string_view text) {
    const auto member = std::find(ranks_.begin(), ranks_.end(), from) - ranks_.begin();
    if (text.empty() || member == std::ssize(ranks_)) return;
    if (text.front() != kRetired) {
        if (reader_) {
            reader_(static_cast<int>(member), text.substr(1));
        } else if (!is_retired_) {
            unread_.emplace_back(static_cast<int>(member), text.substr(1));
        }
        return;
    }
    uses_[static_cast<std::size_t>(member)] = false;
    const bool is_last = std::find(uses_.begin(), uses_.end(), true) == uses_.end();
    if (!is_last || !is_retired_) return;
    job_.stop_reading_about(extent_);
    job_.let_go(extent_);
}

void FarParts::retire() {
    const auto lock = job_.hold_letters();
    reader_ = nullptr;
    is_retired_ = true;
    job_.net().fence();
    for (std::size_t member = 0; member < ranks_.size(); ++member) {
        if (far_[member]) job_.post(ranks_[member], subjects_[member], std::string(1, kRetired));
    }
    if (std::find(uses_.begin(), uses_.end(), true) == uses_.end()) {
        job_.stop_reading_about(extent_);
    } else {
        job_.keep(extent_, shared_from_this());
    }
}

}  // namespace peal::comm
