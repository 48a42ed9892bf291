// SPDX-License-Identifier: Apache-2.0
#include "emit/instructions.hpp"

namespace peal::emit {
namespace {

bool has(const std::vector<TileId>& list, TileId tile) {
    return std::find(list.begin(), list.end(), tile) != list.end();
}

}  // namespace

bool Instruction::writes(TileId tile) const { return has(tiles.writes, tile); }
bool Instruction::touches(TileId tile) const {
    return has(tiles.reads, tile) || has(tiles.writes, tile);
}

std::set<int> numbers_in(const Step& step) {
    std::set<int> numbers;
    for_each_within(step, [&](const Step& each) {
        if (each.number >= 0) numbers.insert(each.number);
    });
    return numbers;
}

std::set<int> numbers_in(const Steps& steps) {
    std::set<int> numbers;
    for (const Step& step : steps) numbers.merge(numbers_in(step));
    return numbers;
}

Instructions::Instructions(DeviceProgram& program, const Facts& facts)
    : program_(program), facts_(facts) {
    describe(program.steps, kNoLoop);
    find_first_readers();
}

void Instructions::describe(Steps& steps, LoopId chunks) {
    for (Step& step : steps) {
        if (auto* loop = std::get_if<Loop>(&step.what)) {
            describe(loop->body, loop->chunks ? loop->id : chunks);
        } else if (auto* branch = std::get_if<Branch>(&step.what)) {
            describe(branch->then_steps, chunks);
            describe(branch->else_steps, chunks);
        } else if (works_on_tiles(step)) {
            Instruction instruction{pipe_of(step), use_of(step), {}, chunks, Pipe::none};
            if (const auto* load = std::get_if<LoadTile>(&step.what)) {
                instruction.memory = {load->from, false};
            } else if (const auto* store = std::get_if<StoreTile>(&step.what)) {
                instruction.memory = {store->to, true};
            }
            step.number = static_cast<int>(list_.size());
            list_.push_back(std::move(instruction));
        }
    }
}

void Instructions::find_first_readers() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
        if (list_[i].pipe != Pipe::load) continue;
        const TileId tile = list_[i].tiles.writes.front();
        Pipe& reader = list_[i].first_reader;
        for (std::size_t j = i + 1; j < list_.size() && reader == Pipe::none; ++j) {
            const std::vector<TileId>& reads = list_[j].tiles.reads;
            const bool found = std::find(reads.begin(), reads.end(), tile) != reads.end();
            if (found) reader = list_[j].pipe;
        }
        if (reader == Pipe::none) reader = Pipe::vector;
    }
}

bool Instructions::share_slots(TileId a, TileId b) const {
    const auto width = [](const TileVariable& t) { return t.takes_turns ? 2 : 1; };
    const TileVariable& one = tile(a);
    const TileVariable& other = tile(b);
    return one.slot < other.slot + width(other) && other.slot < one.slot + width(one);
}

bool Instructions::shares_slots(const Instruction& instruction, TileId id) const {
    bool shares = false;
    instruction.for_each_tile([&](TileId each) { shares = shares || share_slots(id, each); });
    return shares;
}

bool Instructions::clash_in_tile(const Instruction& mine, TileId id, const Done& done,
                                 const Known& known) const {
    const Instruction& other = (*this)[done.instruction];
    if (tile(id).takes_turns) {
        // Others had its slots only before its loop, and gave them back.
        if (done.before || !other.touches(id) || known.tiles_covered.contains(id)) return false;
        return mine.writes(id) || other.writes(id);
    }
    bool clash = false;
    other.for_each_tile([&](TileId each) {
        if (share_slots(id, each)) clash = clash || mine.writes(id) || other.writes(each);
    });
    return clash;
}

bool Instructions::clash_in_memory(const Instruction& mine, const Done& done,
                                   const Known& known) const {
    const Instruction& other = (*this)[done.instruction];
    if (known.memory_covered || !mine.memory || !other.memory) return false;
    const MemoryRef& a = mine.memory->ref;
    const MemoryRef& b = other.memory->ref;
    if (a.memory->name != b.memory->name) return false;
    if (!mine.memory->writes && !other.memory->writes) return false;
    const bool one_is_own = !a.peer != !b.peer;
    if (one_is_own && facts_.is_other_rank(a.peer ? a.peer : b.peer)) return false;
    const bool same_chunk = !done.before && mine.chunks != kNoLoop && mine.chunks == other.chunks;
    // Within a chunk, ranges are the same or have nothing in common.
    return !same_chunk || facts_.equal(a.offset, b.offset);
}

Pipe Instructions::filler(TileId id) const {
    const auto first = std::find_if(list_.begin(), list_.end(),
                                    [&](const Instruction& each) { return each.writes(id); });
    return first == list_.end() ? Pipe::load : first->pipe;
}

bool Instructions::always_uses(const Steps& steps, TileId id, Pipe pipe) const {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        if (const auto* branch = std::get_if<Branch>(&step.what)) {
            return always_uses(branch->then_steps, id, pipe) &&
                   always_uses(branch->else_steps, id, pipe);
        }
        if (step.number < 0) return false;
        const Instruction& instruction = (*this)[step.number];
        return instruction.pipe == pipe && instruction.touches(id);
    });
}

}  // namespace peal::emit
