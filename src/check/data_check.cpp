// SPDX-License-Identifier: Apache-2.0
#include "check/data_check.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "check/touch.hpp"

namespace peal::checker {
namespace {

// What the event does to the bytes of the clash: the most it does to any of them.
std::string_view verb(const Model& model, Event event, const Clash& clash) {
    constexpr std::array<std::string_view, 4> kVerbs = {"reads", "writes", "adds to", "writes"};
    Use most = kRead;
    for_each_touch(
        model, event, [&](RegionId region, std::uint64_t begin, std::uint64_t end, const Use& use) {
            const bool meets = region == clash.region && begin < clash.end && clash.begin < end;
            if (meets && changes(use)) most = use;
        });
    return kVerbs[static_cast<std::size_t>(most.kind)];
}

std::string text_of_entry(const Model& model, const Clash& clash) {
    const bool first_enters = model.op(clash.first).origin == Origin::stages;
    const Event enters = first_enters ? clash.first : clash.second;
    const Event leaves = first_enters ? clash.second : clash.first;
    return fmt::format("rank {} can return from call {} before rank {} is called",
                       model.agents[leaves.agent].rank, model.op(leaves).call,
                       model.agents[enters.agent].rank);
}

// Lanes of one rank look as if they were one after another.
std::string_view what_is_missing(const Model& model, const Clash& clash) {
    const Agent& first = model.agents[clash.first.agent];
    const Agent& second = model.agents[clash.second.agent];
    return first.rank == second.rank && first.lane != second.lane ? "no signal orders the two lanes"
                                                                  : "nothing orders them";
}

bool is_view(RegionKind kind) {
    return kind == RegionKind::unfenced || kind == RegionKind::cached_writes ||
           kind == RegionKind::cached_reads;
}

// The first event is the way of bytes to memory or from it; who else touches them is the second.
std::string text_of_view(const Model& model, const Finding& finding, RegionKind kind,
                         const Clash& seen) {
    const Event other = finding.events[1];
    const std::string way = text_of(model, finding.events[0], finding.ranges[0]);
    const std::string does = fmt::format("{} {} {}", text_of(model, other, finding.ranges[1]),
                                         verb(model, other, seen), finding.memory);
    switch (kind) {
        case RegionKind::cached_reads:
            return fmt::format(
                "{} may be served from the cache what was there before {}: no evict (dcci) comes "
                "between",
                way, does);
        case RegionKind::cached_writes:
            return fmt::format(
                "{} may still be in the cache when {}: no evict (dcci) and fence (dsb) come "
                "between",
                way, does);
        default: break;
    }
    return fmt::format("{} need not be visible when {}: no fence (dsb) comes between", way, does);
}

}  // namespace

namespace {

// The bytes that a view is beside.
RegionId bytes_behind(const Model& model, RegionId region) {
    for (RegionId base = 0; base < model.views.size(); ++base) {
        for (const View& view : model.views[base]) {
            if (view.region == region) return base;
        }
    }
    return region;
}

}  // namespace

ViolationKind kind_of(const Model& model, const Clash& clash) {
    if (model.regions[clash.region].kind == RegionKind::entry) return ViolationKind::wrong_result;
    const Agent& first = model.agents[clash.first.agent];
    const Agent& second = model.agents[clash.second.agent];
    return first.rank == second.rank && first.lane == second.lane ? ViolationKind::pipe_hazard
                                                                  : ViolationKind::data_race;
}

Finding clash_finding(const Model& model, const Clash& clash) {
    const Region& region = model.regions[clash.region];
    Finding finding;
    finding.kind = kind_of(model, clash);
    finding.events = {clash.first, clash.second};
    finding.simultaneous = true;
    if (region.kind == RegionKind::entry) {
        finding.message = text_of_entry(model, clash);
        return finding;
    }
    finding.memory = text_of(region, clash.begin, clash.end);
    Clash seen = clash;
    seen.region = bytes_behind(model, clash.region);
    const auto range = [&](Event event) {
        return range_at(model, event, seen.region, clash.begin, clash.end);
    };
    if (is_view(region.kind)) {
        const bool first_is_way = model.op(clash.first).origin == Origin::visible ||
                                  model.op(clash.first).origin == Origin::early;
        if (!first_is_way) std::swap(finding.events[0], finding.events[1]);
        finding.is_unfenced = region.kind == RegionKind::unfenced;
        finding.ranges = {range(finding.events[0]), range(finding.events[1])};
        finding.message = text_of_view(model, finding, region.kind, seen);
        return finding;
    }
    finding.ranges = {range(clash.first), range(clash.second)};
    const auto does = [&](Event event) {
        return fmt::format("{} {}", text_of(model, event, range(event)), verb(model, event, clash));
    };
    const std::string_view line =
        region.kind == RegionKind::lines ? " (cells of one cache line, written back whole)" : "";
    finding.message = fmt::format("{} and {} {}{}, and {}", does(clash.first), does(clash.second),
                                  finding.memory, line, what_is_missing(model, clash));
    return finding;
}

}  // namespace peal::checker
