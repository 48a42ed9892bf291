// SPDX-License-Identifier: Apache-2.0
#include "plan/fuse_steps.hpp"

#include "plan/access.hpp"
#include "plan/range_index.hpp"
#include "plan/tile_blocks.hpp"

namespace peal::plan {
namespace {

constexpr std::uint32_t kNoStore = UINT32_MAX;

// Goes backwards through a plan; stores travel with it until something stops them.
class Hoister {
public:
    Hoister(Plan& plan, Sharing sharing, Origins& origins)
        : plan_(plan),
          sharing_(sharing),
          origins_(origins),
          blocks_(plan.instructions),
          store_of_(blocks_.size(), kNoStore),
          gone_(plan.instructions.size()) {}

    void run() {
        for (std::size_t i = plan_.instructions.size(); i-- > 0;) step(i);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < gone_.size(); ++i) {
            if (gone_[i]) continue;
            if (kept != i) plan_.instructions[kept] = std::move(plan_.instructions[i]);
            ++kept;
        }
        plan_.instructions.resize(kept);
    }

private:
    struct Store {
        std::size_t at;
        Range dst;
        std::uint32_t tile;
        bool live = true;
    };

    void step(std::size_t at) {
        Action& action = plan_.instructions[at].action;
        if (is_sync(action)) return stop_shared_stores();
        if (is_completion(action)) return stop_stores();
        for_each_access(
            action, [](Range&) {}, [&](Range& dst) { meet_store(plan_.instructions[at], dst); });
        for_each_range(action, [&](const Range& range) {
            stores_at_.take_overlapping(
                range, [&](std::uint32_t id) { return stores_[id].live; },
                [&](std::uint32_t id) { stop(id); });
        });
        start_store(at);
    }

    // The instruction writes dst. If that is a tile whose store came along, write to its place
    // instead.
    void meet_store(Instruction& instruction, Range& dst) {
        if (!is_tile(dst)) return;
        const std::uint32_t id = store_of_[blocks_.of(dst)];
        if (id == kNoStore) return;
        if (may_write(instruction.action, stores_[id].dst)) {
            dst = stores_[id].dst;
            gone_[stores_[id].at] = true;
            if (origins_.is_kept()) keep_origin(instruction, plan_.instructions[stores_[id].at]);
        }
        stop(id);
    }

    void keep_origin(Instruction& instruction, const Instruction& store) {
        std::vector<PlanNotes::SourcePlace> places =
            origins_.take(instruction, range_count(instruction.action));
        places.back() = origins_.at(store, 1);
        origins_.put(instruction, std::move(places));
    }

    static bool may_write(const Action& action, const Range& dst) {
        const bool is_copy = std::holds_alternative<Copy>(action);
        bool legal = true;
        for_each_access(
            action,
            [&](const Range& source) {
                legal =
                    legal && (is_copy ? !overlaps(dst, source) : equal_or_disjoint(dst, source));
            },
            [](const Range&) {});
        return legal;
    }

    void start_store(std::size_t at) {
        const auto* copy = std::get_if<Copy>(&plan_.instructions[at].action);
        if (!copy || is_tile(copy->dst) || !blocks_.is_whole_value(copy->src)) return;
        const std::uint32_t tile = blocks_.of(copy->src);
        if (blocks_[tile].reads != 1) return;
        const auto id = static_cast<std::uint32_t>(stores_.size());
        stores_.push_back({at, copy->dst, tile});
        stores_at_.add(copy->dst, id);
        store_of_[tile] = id;
        if (is_shared(plan_.buffers[copy->dst.buffer], sharing_)) {
            shared_stores_.push_back(id);
        }
    }

    void stop(std::uint32_t id) {
        stores_[id].live = false;
        store_of_[stores_[id].tile] = kNoStore;
    }

    // Before a fence, what it completes may still use any bytes.
    void stop_stores() {
        for (; stopped_ < stores_.size(); ++stopped_) {
            if (stores_[stopped_].live) stop(stopped_);
        }
        shared_stores_.clear();
    }

    void stop_shared_stores() {
        for (const std::uint32_t id : shared_stores_) {
            if (stores_[id].live) stop(id);
        }
        shared_stores_.clear();
    }

    Plan& plan_;
    Sharing sharing_;
    Origins& origins_;
    TileBlocks blocks_;
    std::vector<Store> stores_;
    std::vector<std::uint32_t> store_of_;  // by block
    std::vector<bool> gone_;
    RangeIndex stores_at_;
    std::vector<std::uint32_t> shared_stores_;
    std::uint32_t stopped_ = 0;  // all stores before this one are
};

}  // namespace

void hoist(Plan& plan, Sharing sharing, Origins& origins) { Hoister(plan, sharing, origins).run(); }

}  // namespace peal::plan
