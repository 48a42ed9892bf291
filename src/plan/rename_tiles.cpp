// SPDX-License-Identifier: Apache-2.0
#include "plan/fuse_steps.hpp"

#include <algorithm>
#include <vector>

#include "plan/access.hpp"
#include "plan/interval_map.hpp"

namespace peal::plan {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

class Renamer {
public:
    explicit Renamer(Plan& plan) : plan_(plan), writer_of_(plan.tile_bytes, kNobody) {}

    void run() {
        for (const Instruction& instruction : plan_.instructions) follow(instruction.action);
        place_groups();
        std::size_t next = 0;
        for (Instruction& instruction : plan_.instructions) {
            for_each_range(instruction.action, [&](Range& range) {
                if (is_used(range)) range.offset += moved_by(accesses_[next++]);
            });
        }
    }

private:
    // A write, and the group of writes that it belongs to: a tree of parents.
    struct Write {
        std::uint32_t parent;
        // Of all its group, at the root.
        std::uint64_t begin, end;
        std::uint64_t alignment = 1;
        std::uint64_t new_begin = 0;
    };

    static bool is_used(const Range& range) { return is_tile(range) && range.length != 0; }

    void follow(const Action& action) {
        for_each_access(
            action,
            [&](const Range& range) {
                if (is_used(range)) read(range);
            },
            [&](const Range& range) {
                if (is_used(range)) write(range);
            },
            [&](const Range& range) {
                if (is_used(range)) accumulate(range, alignment_of(action));
            });
    }

    void read(const Range& range) { accesses_.push_back(joined_writes(range)); }
    void write(const Range& range) {
        accesses_.push_back(add_write(range));
        writer_of_.assign(range.offset, end_of(range), accesses_.back());
    }
    // The sum takes the place of what was added to.
    void accumulate(const Range& range, std::uint64_t alignment) {
        read(range);
        Write& group = writes_[root(accesses_.back())];
        group.alignment = std::max(group.alignment, alignment);
        writer_of_.assign(range.offset, end_of(range), accesses_.back());
    }

    std::uint32_t add_write(const Range& range) {
        const auto id = static_cast<std::uint32_t>(writes_.size());
        writes_.push_back({id, range.offset, end_of(range)});
        return id;
    }

    // All writes that the bytes come from, as one group. Where nobody wrote anything, the read is
    // as good as a write.
    std::uint32_t joined_writes(const Range& range) {
        std::uint32_t group = kNobody;
        writer_of_.visit(range.offset, end_of(range),
                         [&](std::uint64_t, std::uint64_t, std::uint32_t writer) {
                             if (writer == kNobody) return;
                             group = group == kNobody ? writer : join(group, writer);
                         });
        if (group == kNobody) return add_write(range);
        extend(writes_[root(group)], range.offset, end_of(range));
        return group;
    }

    std::uint32_t root(std::uint32_t id) {
        while (writes_[id].parent != id) {
            writes_[id].parent = writes_[writes_[id].parent].parent;
            id = writes_[id].parent;
        }
        return id;
    }

    std::uint32_t join(std::uint32_t a, std::uint32_t b) {
        Write& first = writes_[root(a)];
        Write& second = writes_[root(b)];
        extend(first, second.begin, second.end);
        first.alignment = std::max(first.alignment, second.alignment);
        return second.parent = first.parent;
    }

    static void extend(Write& group, std::uint64_t begin, std::uint64_t end) {
        group.begin = std::min(group.begin, begin);
        group.end = std::max(group.end, end);
    }

    // One after another; place_tiles moves them together again.
    void place_groups() {
        plan_.tile_bytes = 0;
        for (std::uint32_t id = 0; id < writes_.size(); ++id) {
            if (root(id) != id) continue;
            Write& group = writes_[id];
            const std::uint64_t beyond = plan_.tile_bytes + group.alignment - 1;
            group.new_begin = beyond - beyond % group.alignment + group.begin % group.alignment;
            plan_.tile_bytes = group.new_begin + (group.end - group.begin);
        }
    }

    std::uint64_t moved_by(std::uint32_t access) {
        const Write& group = writes_[root(access)];
        return group.new_begin - group.begin;
    }

    Plan& plan_;
    IntervalMap<std::uint32_t> writer_of_;  // by byte of tile memory
    std::vector<Write> writes_;
    std::vector<std::uint32_t> accesses_;  // the write behind each range of tile memory, in order
};

}  // namespace

void rename_tiles(Plan& plan, TileBlocks& blocks) {
    if (blocks.are_values()) return;
    Renamer(plan).run();
    blocks = TileBlocks(plan.instructions);
}

}  // namespace peal::plan
