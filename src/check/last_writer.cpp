// SPDX-License-Identifier: Apache-2.0
#include "check/phases.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "check/touch.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"
#include "plan/titles.hpp"

namespace peal::checker {
namespace {

bool writes(const Model& model, Event event, const Finding& finding) {
    if (model.op(event).kind != OpKind::data) return false;
    bool does = false;
    for_each_touch(model, event,
                   [&](RegionId region, std::uint64_t begin, std::uint64_t end, const Use& use) {
                       does |= changes(use) && region == finding.region && begin < finding.end &&
                               finding.begin < end;
                   });
    return does;
}

// "`copy out[0..64) <- data@1[0..64)` (line 12)"
std::string text_of_writer(const Model& model, Event writer, std::int32_t owner,
                           std::int32_t range) {
    const std::int32_t rank = model.agents[writer.agent].rank;
    const Plan& plan = model.plan(model.op(writer).call, rank);
    const Instruction& instruction = model.instruction(writer);
    const std::string place = plan::place_text(instruction, plan, range);
    const bool names_who = rank != owner || !plan.lanes.empty();
    return fmt::format(
        "{}`{}`{}", names_who ? plan::who_title(plan, model.op(writer).index) + "'s " : "",
        plan::report_text(instruction, plan), place.empty() ? "" : " (" + place + ")");
}

}  // namespace

void name_last_writer(const Model& model, const Schedule& schedule, Finding& finding) {
    if (finding.region == kNone) return;
    const auto last = std::find_if(schedule.rbegin(), schedule.rend(),
                                   [&](Event event) { return writes(model, event, finding); });
    if (last == schedule.rend() || model.op(*last).origin != Origin::instruction) return;
    const std::int32_t range = range_at(model, *last, finding.region, finding.begin, finding.end);
    finding.message += ", last written by " +
                       text_of_writer(model, *last, model.regions[finding.region].rank, range);
    finding.ranges.resize(finding.events.size(), -1);
    finding.events.push_back(*last);
    finding.ranges.push_back(range);
}

}  // namespace peal::checker
