// SPDX-License-Identifier: Apache-2.0
#include "comm/far_pairs.hpp"

#include <vector>

#include <fmt/format.h>

#include "hosts/text_wire.hpp"
#include "peal/error.hpp"

namespace peal::comm {
namespace {

constexpr char kPair = 'p';  // the first byte of a letter

}  // namespace

bool FarPairs::is_about_pairs(std::string_view letter) {
    return !letter.empty() && letter.front() == kPair;
}

FarPairs::Memory& FarPairs::made(Way way) {
    const auto found = pairs_.find(way);
    if (found != pairs_.end()) return found->second;
    World& world = *members_.world;
    const std::uint64_t extent = world.allocate(channel_bytes(), 1);
    const Members pair(members_, way.first, way.second, world.at(extent));
    const GroupMemory& memory = pair.memory;
    const std::vector<PartLayout> layouts = {
        {memory.part(0), memory.rank_stride(), memory.rank_stride()}};
    return pairs_[way] = {extent, std::make_shared<FarParts>(pair, extent, layouts), false};
}

void FarPairs::post(int member, Way way, const std::string& keys) const {
    hosts::Packer packer;
    packer.number(static_cast<std::uint32_t>(way.first));
    packer.number(static_cast<std::uint32_t>(way.second));
    members_.far_parts->post(member, kPair + packer.text(keys).bytes());
}

void FarPairs::ask(int from, int to) {
    const auto lock = members_.job->hold_letters();
    if (pairs_.contains({from, to})) return;  // the other has asked before
    const Memory& memory = made({from, to});
    post(from == members_.rank ? to : from, {from, to}, memory.parts->keys());
}

std::uint64_t FarPairs::extent(int from, int to) const {
    const auto lock = members_.job->hold_letters();
    const auto found = pairs_.find({from, to});
    if (!refused_.empty()) throw Error(Fault::resource, refused_);
    return found != pairs_.end() && found->second.is_answered ? found->second.extent : 0;
}

// A question, or the answer to one. What says nothing that is understood is not of a member.
void FarPairs::read(int member, std::string_view letter) {
    hosts::Unpacker unpacker(letter.substr(1));
    const auto from = static_cast<int>(unpacker.number());
    const auto to = static_cast<int>(unpacker.number());
    const std::string keys(unpacker.text());
    const bool is_between =
        (from == members_.rank && to == member) || (from == member && to == members_.rank);
    if (is_retired_ || !unpacker.is_over() || !is_between) return;
    if (keys.empty()) {
        refused_ =
            fmt::format("rank {} has no memory for messages with rank {}", member, members_.rank);
        return;
    }
    const bool is_question = !pairs_.contains({from, to});
    try {
        Memory& memory = made({from, to});
        std::vector<std::string> both(2);
        both[from == member ? 0 : 1] = keys;
        if (!memory.is_answered) memory.parts->connect(both);
        memory.is_answered = true;
        if (is_question) post(member, {from, to}, memory.parts->keys());
    } catch (const Error&) {
        post(member, {from, to}, "");
    }
}

void FarPairs::retire() {
    const auto lock = members_.job->hold_letters();
    is_retired_ = true;
    for (auto& [way, memory] : pairs_) {
        if (memory.is_answered) {
            memory.parts->retire();
        } else {  // the other may have it already, and cannot be told
            members_.job->keep(memory.extent, memory.parts);
        }
    }
    pairs_.clear();
}

}  // namespace peal::comm
