// SPDX-License-Identifier: Apache-2.0
#include "check/call_sequence.hpp"

#include <algorithm>

namespace peal::checker {
namespace {

std::vector<std::string> memory_at(const std::string& place,
                                   const std::vector<std::uint16_t>& placed,
                                   const std::vector<Buffer>& buffers) {
    std::vector<std::string> names;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        const bool is_listed = std::find(placed.begin(), placed.end(), b) != placed.end();
        const bool is_there = placed.empty() ? buffers[b].kind != BufferKind::argument : is_listed;
        names.push_back(is_there ? buffers[b].name + place : buffers[b].name);
    }
    return names;
}

}  // namespace

void CallSequence::add(std::vector<Plan> plans, std::optional<Meaning> meaning, std::string place) {
    calls_.push_back({std::make_shared<const std::vector<Plan>>(std::move(plans)),
                      meaning ? std::make_shared<const Meaning>(*std::move(meaning)) : nullptr,
                      std::move(place),
                      {},
                      {}});
}

void CallSequence::add_held(std::vector<Plan> plans, std::optional<Meaning> meaning,
                            std::vector<Held> holds) {
    add(std::move(plans), std::move(meaning));
    calls_.back().holds = std::move(holds);
}

void CallSequence::add_alternating(std::vector<Plan> plans, std::optional<Meaning> meaning,
                                   const std::vector<std::uint16_t>& buffers) {
    if (buffers.empty()) return add(std::move(plans), std::move(meaning));
    add(std::move(plans), std::move(meaning), ".0");
    calls_.back().placed = buffers;
    calls_.push_back(calls_.back());
    calls_.back().place = ".1";
}

void CallSequence::add(const Collective& collective, std::vector<Plan> plans) {
    const auto nranks = static_cast<int>(plans.size());
    Meaning meaning = meaning_of(collective, plans);
    const bool takes_turns = collective.sets > 1;  // by itself
    if (takes_turns || reuse_of(collective.kind, collective.recipe) == Reuse::at_once) {
        return add(std::move(plans), std::move(meaning));
    }
    add(std::move(plans), std::move(meaning), ".0");
    calls_.push_back(calls_.back());
    calls_.back().place = ".1";
    if (facts_of(collective.kind).hears_all()) return;
    Collective barrier;
    barrier.kind = CollectiveKind::barrier;
    add(barrier, compile(barrier, nranks));
}

std::vector<CheckStage> CallSequence::stages() const {
    std::vector<CheckStage> list;
    for (const Call& call : calls_) {
        CheckStage stage;
        stage.plans = call.plans.get();
        stage.meaning = call.meaning.get();
        stage.holds = call.holds;
        if (!call.place.empty())
            stage.memory = memory_at(call.place, call.placed, call.plans->front().buffers);
        list.push_back(std::move(stage));
    }
    return list;
}

}  // namespace peal::checker
