// SPDX-License-Identifier: Apache-2.0
#include "check/memory_states.hpp"

#include <algorithm>

namespace peal::checker {
namespace {

// What the containers need beside what they contain, allocations included.
constexpr std::uint64_t kPerEntry = 160;
constexpr std::uint64_t kPerPair = 48;

constexpr std::uint64_t kRunsPerUnit = 64;  // that are copied in the time of a unit of work

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    return hash ^ (hash >> 32);
}

}  // namespace

std::size_t MemoryStates::Hash::operator()(const RegionContents& contents) const {
    std::uint64_t hash = contents.bytes();
    contents.for_each_run([&](std::uint64_t begin, const Content& content) {
        hash = mix(hash, begin);
        hash = mix(hash,
                   std::uint64_t{content.term} << 32 ^ static_cast<std::uint64_t>(content.shift));
    });
    return hash;
}

std::size_t MemoryStates::Hash::operator()(const std::vector<std::uint32_t>& memory) const {
    std::uint64_t hash = memory.size();
    for (const std::uint32_t contents : memory) hash = mix(hash, contents);
    return hash;
}

MemoryStates::MemoryStates(const Model& model, const SignalProgram& program, Meter& meter)
    : model_(model),
      program_(program),
      meter_(meter),
      scratch_(model, terms_),
      result_(model, terms_) {
    std::vector<std::uint32_t> initial;
    for (RegionId region = 0; region < model.regions.size(); ++region) {
        initial.push_back(intern(scratch_.region(region)));
    }
    intern(std::move(initial));
}

std::uint32_t MemoryStates::intern(RegionContents contents) {
    contents.normalise();
    const auto [found, is_new] = contents_ids_.try_emplace(
        std::move(contents), static_cast<std::uint32_t>(contents_.size()));
    if (is_new) {
        contents_.push_back(&found->first);
        bytes_ += found->first.memory_bytes() + kPerEntry;
    }
    return found->second;
}

std::uint32_t MemoryStates::intern(std::vector<std::uint32_t> memory) {
    const auto [found, is_new] =
        memory_ids_.try_emplace(std::move(memory), static_cast<std::uint32_t>(memories_.size()));
    if (is_new) {
        memories_.push_back(&found->first);
        bytes_ += model_.regions.size() * sizeof(std::uint32_t) + kPerEntry;
    }
    return found->second;
}

std::uint32_t MemoryStates::after(std::uint32_t memory, std::uint32_t segment, Findings& findings) {
    const std::uint64_t key = std::uint64_t{memory} << 32 | segment;
    const auto found = after_.find(key);
    if (found != after_.end()) return found->second;
    const std::uint32_t result = run(memory, program_.segments()[segment], findings);
    if (findings.empty() && after_.emplace(key, result).second) bytes_ += kPerPair;
    return result;
}

std::uint32_t MemoryStates::run(std::uint32_t memory, const Segment& segment, Findings& findings) {
    const std::vector<std::uint32_t>& before = *memories_[memory];
    for (const TouchedRegion& touched : segment.regions) {
        scratch_.region(touched.region) = *contents_[before[touched.region]];
        meter_.work(scratch_.region(touched.region).run_count() / kRunsPerUnit);
    }
    for (std::uint32_t op = segment.first_op; op < segment.last_op; ++op) {
        meter_.work();
        const Event event{segment.agent, op};
        scratch_.execute(event, findings);
        if (model_.op(event).origin == Origin::consumes) {
            result_.check(event, scratch_, findings);
        }
    }
    std::vector<std::uint32_t> changed = before;
    for (const TouchedRegion& touched : segment.regions) {
        if (!touched.is_changed) continue;
        changed[touched.region] = intern(std::move(scratch_.region(touched.region)));
    }
    return intern(std::move(changed));
}

}  // namespace peal::checker
