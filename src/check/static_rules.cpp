// SPDX-License-Identifier: Apache-2.0
#include "check/static_rules.hpp"

#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "check/tile_overlap.hpp"
#include "plan/access.hpp"
#include "plan/pipes.hpp"
#include "plan/titles.hpp"

namespace peal::checker {
namespace {

// Goes through one lane of a plan and reports what is wrong with it whatever the others do.
class LaneRules {
public:
    LaneRules(std::size_t number, const Plan& plan, std::size_t lane, const CheckOptions& options,
              StaticFindings& out)
        : number_(static_cast<std::int32_t>(number)),
          plan_(plan),
          lane_(lane),
          device_(options.device),
          strict_loads_(options.strict_loads),
          out_(out) {}

    void run() {
        for (std::size_t i = plan_.lane_begin(lane_); i < plan_.lane_end(lane_); ++i) {
            index_ = static_cast<std::int32_t>(i);
            const Action& action = plan_.instructions[i].action;
            plan::for_each_range(action, [&](const Range& range) {
                if (plan::is_tile(range) && range.length != 0) check_tile(range);
            });
            check_flag(action);
            check_load(plan_.instructions[i]);
        }
        for (const auto& [flag, use] : flags_) check_use(flag, use);
        if (plan::uses_pipes(plan_)) check_placed_tiles();
    }

private:
    struct FlagUse {
        int sets = 0, waits = 0;
        std::int32_t last_set = 0, last_wait = 0;
    };
    using FlagName = std::tuple<Pipe, Pipe, std::uint8_t>;

    Step step_at(std::int32_t index) const { return {0, number_, plan_.rank, index, -1}; }

    template <class... Args>
    Violation made(ViolationKind kind, std::int32_t index, std::string memory,
                   fmt::format_string<Args...> format, Args&&... args) const {
        Violation violation;
        violation.kind = kind;
        violation.memory = std::move(memory);
        violation.steps = {step_at(index)};
        violation.schedule = violation.steps;
        violation.message =
            fmt::format("{}: {}", plan::who_title(plan_, static_cast<std::size_t>(index)),
                        fmt::format(format, std::forward<Args>(args)...));
        return violation;
    }
    template <class... Args>
    Violation& report(ViolationKind kind, std::int32_t index, std::string memory,
                      fmt::format_string<Args...> format, Args&&... args) {
        return out_.violations.emplace_back(
            made(kind, index, std::move(memory), format, std::forward<Args>(args)...));
    }

    std::string text_of(std::int32_t index) const {
        return to_text(plan_.instructions[static_cast<std::size_t>(index)], plan_);
    }
    std::string instruction() const { return text_of(index_); }
    void check_tile(const Range& range) {
        const std::string memory = fmt::format("tile[{}..{})", range.offset, plan::end_of(range));
        if (device_.tile_bytes != 0 && plan::end_of(range) > device_.tile_bytes) {
            report(ViolationKind::tile_memory, index_, memory,
                   "`{}` needs more tile memory than the {} bytes of the device", instruction(),
                   device_.tile_bytes);
        }
        // Where an operation goes by rows, the first one is where the tile starts.
        const bool is_start = !plan_.instructions[static_cast<std::size_t>(index_)].joined;
        if (is_start && device_.tile_alignment != 0 && range.offset % device_.tile_alignment != 0) {
            report(ViolationKind::tile_memory, index_, memory,
                   "`{}` starts a tile at byte {}, which is no multiple of {}", instruction(),
                   range.offset, device_.tile_alignment);
        }
    }

    // Tiles that Peal places do not overlap and fit, so this is about those of people.
    void check_placed_tiles() {
        check_overlaps();
        check_room();
    }

    // A tile is larger than its valid part: what is used may fit and the tile may not. The plan
    // says how much, for all its lanes together.
    void check_room() {
        if (device_.tile_bytes == 0 || plan_.tile_bytes <= device_.tile_bytes || lane_ != 0) return;
        std::int32_t farthest = 0;
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
            plan::for_each_range(plan_.instructions[i].action, [&](const Range& range) {
                if (!plan::is_tile(range) || plan::end_of(range) <= end) return;
                end = plan::end_of(range);
                farthest = static_cast<std::int32_t>(i);
            });
        }
        if (end > device_.tile_bytes) return;  // was reported where it is used
        report(ViolationKind::tile_memory, farthest, "tile",
               "the tiles end at byte {}, beyond the {} bytes of the device", plan_.tile_bytes,
               device_.tile_bytes);
    }

    void check_overlaps() {
        for (const TileOverlap& overlap : overlapping_tiles(plan_, lane_)) {
            const auto& [read, written, is_overwritten] = overlap;
            const auto reader = static_cast<std::int32_t>(read.instruction);
            const auto writer = static_cast<std::int32_t>(written.instruction);
            const std::string memory = fmt::format("tile[{}..{})", read.begin, read.end);
            const std::string place =
                plan::source_place(plan_.instructions[written.instruction], plan_);
            Violation& violation =
                report(ViolationKind::tile_memory, reader, memory,
                       "`{}` reads {}, part of which instruction {}{} {} as tile[{}..{})",
                       text_of(reader), memory, writer, place.empty() ? "" : " (" + place + ")",
                       is_overwritten ? "overwrote" : "wrote", written.begin, written.end);
            violation.steps.push_back(step_at(writer));
            violation.schedule = {step_at(writer), step_at(reader)};
        }
    }

    // ------------------------------------------------------------------------ flags

    void check_flag(const Action& action) {
        if (const auto* set = std::get_if<SetFlag>(&action)) {
            FlagUse& use = flags_[{set->from, set->to, set->event}];
            ++use.sets;
            use.last_set = index_;
            check_event(set->event);
        } else if (const auto* wait = std::get_if<WaitFlag>(&action)) {
            FlagUse& use = flags_[{wait->from, wait->to, wait->event}];
            ++use.waits;
            use.last_wait = index_;
            check_event(wait->event);
        }
    }

    void check_event(unsigned event) {
        if (event < unsigned{plan::kEvents}) return;
        report(ViolationKind::flag, index_, "", "`{}`: events are numbered 0 to {}", instruction(),
               plan::kEvents - 1);
    }

    void check_use(const FlagName& flag, const FlagUse& use) {
        const auto& [from, to, event] = flag;
        if (use.waits > use.sets) {
            report(ViolationKind::flag, use.last_wait, "",
                   "the flag {} -> {}, event {} is awaited {} times and set {} times: the last "
                   "wait never ends",
                   name(from), name(to), event, use.waits, use.sets);
        } else if (use.sets > use.waits) {
            report(ViolationKind::flag, use.last_set, "",
                   "the flag {} -> {}, event {} is set {} times and awaited {} times: it is left "
                   "set at the end",
                   name(from), name(to), event, use.sets, use.waits);
        }
    }

    // ------------------------------------------------------------------------ loads

    // A load is outstanding until a flag that the load pipe set after it is awaited, or it is
    // drained.
    void check_load(const Instruction& instruction) {
        if (!device_.one_outstanding_load) return;
        const Action& action = instruction.action;
        if (const auto* set = std::get_if<SetFlag>(&action); set && set->from == Pipe::load) {
            covering_.emplace_back(set->from, set->to, set->event);
        } else if (const auto* wait = std::get_if<WaitFlag>(&action)) {
            const FlagName flag{wait->from, wait->to, wait->event};
            for (const FlagName& set_flag : covering_) {
                if (set_flag == flag) outstanding_ = -1;
            }
        } else if (const auto* barrier = std::get_if<PipeBarrier>(&action)) {
            if (barrier->pipe == Pipe::all || barrier->pipe == Pipe::load) outstanding_ = -1;
        } else if (instruction.pipe == Pipe::load && !instruction.joined) {
            issue_load();
        }
    }

    void issue_load() {
        if (outstanding_ >= 0) {
            (strict_loads_ ? out_.violations : out_.warnings)
                .push_back(made(ViolationKind::pipe_hazard, index_, "",
                                "`{}` is issued while the load of instruction {} is outstanding: "
                                "the device takes one at a time; await its flag first",
                                instruction(), outstanding_));
        }
        outstanding_ = index_;
        covering_.clear();
    }

    std::int32_t number_;
    const Plan& plan_;
    std::size_t lane_;
    const DeviceRules& device_;
    bool strict_loads_;
    StaticFindings& out_;
    std::int32_t index_ = 0;
    std::map<FlagName, FlagUse> flags_;
    std::int32_t outstanding_ = -1;
    std::vector<FlagName> covering_;  // flags set by the load pipe since the outstanding load
};

// What a collective needs and the kernel has no room for.
class MeaningRules {
public:
    MeaningRules(const CheckStage& stage, std::size_t number, std::vector<Violation>& out)
        : stage_(stage), number_(static_cast<std::int32_t>(number)), out_(out) {}

    void run() {
        for (const Staged& staged : stage_.meaning->staged) {
            need(Step::kStages, staged.rank, staged.buffer, staged.offset + staged.length);
        }
        std::set<const void*> seen;
        for (const Expected& output : stage_.meaning->outputs) {
            if (output.length == 0) continue;
            need(Step::kConsumes, output.rank, output.buffer, output.offset + output.length);
            if (!seen.insert(output.of.get()).second) continue;
            for (const Contribution& part : *output.of) {
                need(Step::kStages, part.rank, part.buffer, part.offset + output.length);
            }
        }
    }

private:
    void need(std::int32_t index, std::int32_t rank, std::uint16_t buffer, std::uint64_t bytes) {
        const Buffer& has = (*stage_.plans)[static_cast<std::size_t>(rank)].buffers[buffer];
        if (bytes <= has.bytes) return;
        Violation violation;
        violation.kind = ViolationKind::out_of_range;
        violation.memory = has.name;
        violation.steps = {{0, number_, rank, index, -1}};
        violation.schedule = violation.steps;
        violation.message = fmt::format("rank {}: {} needs {} bytes of {}, which has {}", rank,
                                        stage_.meaning->name, bytes, has.name, has.bytes);
        out_.push_back(std::move(violation));
    }

    const CheckStage& stage_;
    std::int32_t number_;
    std::vector<Violation>& out_;
};

}  // namespace

StaticFindings static_findings(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    StaticFindings findings;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        for (const Plan& plan : *stages[i].plans) {
            for (std::size_t lane = 0; lane < plan.lane_count(); ++lane) {
                LaneRules(i, plan, lane, options, findings).run();
            }
        }
        if (stages[i].meaning) MeaningRules(stages[i], i, findings.violations).run();
    }
    return findings;
}

}  // namespace peal::checker
