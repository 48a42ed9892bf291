// SPDX-License-Identifier: Apache-2.0
#include "check/model.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "check/misuse.hpp"
#include "plan/notes.hpp"

namespace peal::checker {
namespace {

class MemoryMap {
public:
    explicit MemoryMap(Model& model) : model_(model) {}

    void build() {
        for (const CheckStage& stage : *model_.stages) add_stage(stage);
        for (Storage& storage : model_.storages) {
            if (storage.kind == BufferKind::signal) make_symmetric(storage);
        }
        for (std::size_t stage = 0; stage < model_.stages->size(); ++stage) note_cells(stage);
        for (Storage& storage : model_.storages) {
            if (storage.kind == BufferKind::signal) {
                place_cells(storage);
                set_generations(storage);
            } else {
                place_regions(storage);
            }
        }
        place_tiles();
        place_entries();
    }

private:
    void add_stage(const CheckStage& stage) {
        const std::vector<Plan>& plans = *stage.plans;
        std::vector<std::uint32_t>& numbers = model_.storage_of.emplace_back();
        for (std::size_t b = 0; b < plans[0].buffers.size(); ++b) {
            const std::string& memory =
                stage.memory.empty() ? plans[0].buffers[b].name : stage.memory[b];
            const std::uint32_t number = storage_named(memory, plans[0].buffers[b]);
            if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
                misuse("two buffers of kernel {} share the memory '{}'", plans[0].kernel, memory);
            }
            numbers.push_back(number);
            for (std::size_t r = 0; r < plans.size(); ++r) {
                extend(model_.storages[number], r, plans[r].buffers[b]);
                note_shape(model_.storages[number], r, plans[r], b);
            }
        }
    }

    std::uint32_t storage_named(const std::string& name, const Buffer& buffer) {
        const auto [found, is_new] =
            by_name_.try_emplace(name, static_cast<std::uint32_t>(model_.storages.size()));
        if (is_new) {
            Storage storage;
            storage.name = name;
            storage.kind = buffer.kind;
            storage.element = buffer.element;
            storage.bytes.assign(static_cast<std::size_t>(model_.nranks), 0);
            model_.storages.push_back(std::move(storage));
            return found->second;
        }
        const Storage& storage = model_.storages[found->second];
        if (storage.kind != buffer.kind) {
            misuse("the memory '{}' is used as two kinds of buffer", name);
        }
        // What is too large for one type is not for the other.
        if (buffer.kind == BufferKind::signal && storage.element != buffer.element) {
            misuse("the cells of '{}' are used as {} and as {}", name, peal::name(storage.element),
                   peal::name(buffer.element));
        }
        return found->second;
    }

    static void extend(Storage& storage, std::size_t rank, const Buffer& buffer) {
        std::uint64_t bytes = buffer.bytes;
        if (buffer.kind == BufferKind::signal) {
            bytes = buffer.cells * buffer.cell_stride;
            storage.cell_grain = std::gcd(storage.cell_grain, buffer.cell_stride);
        }
        storage.bytes[rank] = std::max(storage.bytes[rank], bytes);
    }

    // Memory that stages see in different shapes has none.
    static void note_shape(Storage& storage, std::size_t rank, const Plan& plan, std::size_t b) {
        const auto* shape = plan::shape_of(plan, static_cast<std::uint16_t>(b));
        const bool is_first = storage.shapes.size() == rank;
        if (is_first) storage.shapes.push_back(shape);
        const auto* known = storage.shapes[rank];
        const bool same =
            known && shape && *known == *shape && storage.element == plan.buffers[b].element;
        if (!same) storage.shapes[rank] = nullptr;
    }

    // When all stages have said how far apart cells are, and how many there are.
    void note_cells(std::size_t stage) {
        for (const Plan& plan : *(*model_.stages)[stage].plans) {
            for (const Instruction& instruction : plan.instructions) {
                if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
                    note_cell(stage, plan, notify->cell);
                } else if (const auto* wait = std::get_if<Wait>(&instruction.action)) {
                    note_cell(stage, plan, wait->cell);
                }
            }
        }
    }

    void note_cell(std::size_t stage, const Plan& plan, const Cell& cell) {
        Storage& storage = model_.storages[model_.storage_of[stage][cell.buffer]];
        const std::uint64_t stride = plan.buffers[cell.buffer].cell_stride;
        storage.used.push_back(storage.number_at(cell, stride));
    }

    RegionId add_regions(RegionKind kind, const std::string& name,
                         const std::vector<std::uint64_t>& bytes) {
        const auto first = static_cast<RegionId>(model_.regions.size());
        for (std::size_t r = 0; r < bytes.size(); ++r) {
            model_.regions.push_back(
                {kind, name, static_cast<std::int32_t>(r), bytes[r], Element::u8, nullptr});
        }
        return first;
    }

    void place_regions(Storage& storage) {
        storage.first_region = add_regions(RegionKind::data, storage.name, storage.bytes);
        for (std::size_t r = 0; r < storage.bytes.size(); ++r) {
            Region& region = model_.regions[storage.first_region + r];
            region.element = storage.element;
            region.shape = storage.shapes[r];
        }
    }

    static void make_symmetric(Storage& storage) {
        const std::uint64_t most = *std::max_element(storage.bytes.begin(), storage.bytes.end());
        std::fill(storage.bytes.begin(), storage.bytes.end(), most);
    }

    void place_cells(Storage& storage) {
        storage.first_cell = static_cast<CellId>(model_.cells.size());
        std::sort(storage.used.begin(), storage.used.end());
        storage.used.erase(std::unique(storage.used.begin(), storage.used.end()),
                           storage.used.end());
        storage.used.shrink_to_fit();
        CellInfo cell;
        cell.element = storage.element;
        model_.cells.resize(model_.cells.size() + storage.used.size(), cell);
        if (storage.cell_grain % kCacheLineBytes != 0) {
            storage.first_region = add_regions(RegionKind::lines, storage.name, storage.bytes);
        }
    }

    void set_generations(Storage& storage) {
        const auto number = static_cast<std::uint32_t>(&storage - model_.storages.data());
        std::int64_t generation = 0;
        for (std::uint32_t call = 0; call < model_.calls; ++call) {
            storage.generation.push_back(generation);
            const std::vector<std::uint32_t>& numbers = model_.storage_of[model_.stage_of(call)];
            for (std::size_t b = 0; b < numbers.size(); ++b) {
                if (numbers[b] != number) continue;
                generation = followed_value({generation, 1}, model_.plan(call, 0).advance[b]);
            }
        }
        storage.generation.push_back(generation);
    }

    void place_tiles() {
        for (std::int32_t rank = 0; rank < model_.nranks; ++rank) {
            std::vector<std::uint64_t> bytes;  // by lane
            for (const CheckStage& stage : *model_.stages) {
                const Plan& plan = (*stage.plans)[static_cast<std::size_t>(rank)];
                if (bytes.size() < plan.lane_count()) bytes.resize(plan.lane_count(), 0);
                for (std::size_t lane = 0; lane < plan.lane_count(); ++lane) {
                    bytes[lane] = std::max(bytes[lane], plan.tile_bytes);
                }
            }
            std::vector<RegionId>& tiles = model_.tiles.emplace_back();
            for (const std::uint64_t size : bytes) {
                tiles.push_back(static_cast<RegionId>(model_.regions.size()));
                model_.regions.push_back(
                    {RegionKind::data, "tile", rank, size, Element::u8, nullptr});
            }
        }
    }

    void place_entries() {
        const std::vector<std::uint64_t> one(static_cast<std::size_t>(model_.nranks), 1);
        for (std::uint32_t call = 0; call < model_.calls; ++call) {
            const Meaning* meaning = model_.stage(call).meaning;
            model_.first_entry.push_back(
                meaning && meaning->meets
                    ? add_regions(RegionKind::entry, fmt::format("entry of call {}", call), one)
                    : kNone);
        }
    }

    Model& model_;
    std::map<std::string, std::uint32_t> by_name_;
};

}  // namespace

void place_memory(Model& model) { MemoryMap(model).build(); }

}  // namespace peal::checker
