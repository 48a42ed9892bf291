// SPDX-License-Identifier: Apache-2.0
#include "pto/layout.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"

namespace peal::pto {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kGapBytes = std::uint64_t{1} << 30;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

bool is_window(const Parameter& parameter) { return parameter.kind == Parameter::Kind::window; }

std::optional<Direction> direction_of(Parameter::Kind kind) {
    switch (kind) {
        case Parameter::Kind::in: return Direction::in;
        case Parameter::Kind::out: return Direction::out;
        case Parameter::Kind::inout:
        case Parameter::Kind::window: return Direction::inout;
        default: return std::nullopt;
    }
}

// "in", and "in2" for the second one.
class Names {
public:
    std::string next(const std::string& name) {
        const int number = ++counts_[name];
        return number == 1 ? name : fmt::format("{}{}", name, number);
    }

private:
    std::map<std::string, int> counts_;
};

}  // namespace

Layout::Layout(const std::vector<Parameter>& parameters) {
    Names names;
    const auto add = [&](Buffer buffer, std::int64_t moves_on) {
        buffers.push_back(std::move(buffer));
        advance.push_back(moves_on);
        return static_cast<std::uint16_t>(buffers.size() - 1);
    };
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& parameter = parameters[i];
        const std::optional<Direction> direction = direction_of(parameter.kind);
        if (!direction) continue;
        Placed place;
        place.parameter = i;
        place.data_bytes = parameter.count * bytes_of(parameter.element);
        place.bytes = place.data_bytes;
        Buffer data;
        data.name = names.next(std::string(name(parameter.kind)));
        data.kind = is_window(parameter) ? BufferKind::window : BufferKind::argument;
        data.direction = *direction;
        data.element = parameter.element;
        data.bytes = place.data_bytes;
        place.buffer = add(std::move(data), 0);
        if (is_window(parameter)) {
            if (parameter.signal_rows > 0) {
                Buffer cells;
                cells.name = names.next("signals");
                cells.kind = BufferKind::signal;
                cells.direction = Direction::inout;
                cells.element = Element::i32;
                cells.cells = parameter.signal_rows * parameter.signal_columns;
                cells.cell_stride = kSignalBytes;
                place.signals_at = round_up(place.data_bytes, kCacheLineBytes);
                place.bytes = place.signals_at + cells.cells * kSignalBytes;
                place.signals = add(std::move(cells), 1);
            }
            place.offset = window_bytes;
            window_bytes = round_up(window_bytes + place.bytes, kPageBytes);
        }
        placed.push_back(place);
    }
}

const Placed* Layout::of_parameter(std::size_t parameter) const {
    const auto found = std::find_if(placed.begin(), placed.end(), [&](const Placed& place) {
        return place.parameter == parameter;
    });
    return found == placed.end() ? nullptr : &*found;
}

AddressSpace::AddressSpace(const Layout& layout, int rank, int nranks)
    : layout_(layout), rank_(rank) {
    const auto spanned = [](std::uint64_t bytes) {
        return round_up(bytes, kPageBytes) + kGapBytes;
    };
    bytes_ = kGapBytes + spanned(layout.window_bytes) * static_cast<std::uint64_t>(nranks);
    const auto is_private = [&](const Placed& placed) {
        return layout.buffers[placed.buffer].kind == BufferKind::argument;
    };
    for (const Placed& placed : layout.placed) {
        if (is_private(placed)) bytes_ += spanned(placed.bytes);
    }
    void* memory =
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(Fault::resource, fmt::format("no {} bytes of addresses for a kernel: {}",
                                                 bytes_, std::strerror(errno)));
    }
    base_ = reinterpret_cast<std::uint64_t>(memory);
    end_ = base_ + kGapBytes;
    for (const Placed& placed : layout.placed) {
        if (is_private(placed)) blocks_.push_back({reserve(placed.bytes), rank, &placed});
    }
    for (int peer = 0; peer < nranks; ++peer) {
        blocks_.push_back({reserve(layout.window_bytes), peer, nullptr});
    }
}

AddressSpace::~AddressSpace() { munmap(reinterpret_cast<void*>(base_), bytes_); }

std::uint64_t AddressSpace::reserve(std::uint64_t bytes) {
    const std::uint64_t begin = end_;
    end_ += round_up(bytes, kPageBytes) + kGapBytes;
    return begin;
}

std::uint64_t AddressSpace::windows(int rank) const {
    return std::find_if(
               blocks_.begin(), blocks_.end(),
               [&](const Block& block) { return block.placed == nullptr && block.rank == rank; })
        ->begin;
}

std::uint64_t AddressSpace::address(const Placed& placed) const {
    for (const Block& block : blocks_) {
        if (block.placed == &placed) return block.begin;
    }
    return windows(rank_) + placed.offset;
}

std::optional<Location> AddressSpace::find(std::uint64_t address) const {
    if (address < base_ || address >= base_ + bytes_ || blocks_.empty()) return std::nullopt;
    const auto after = std::upper_bound(
        blocks_.begin(), blocks_.end(), address,
        [](std::uint64_t wanted, const Block& block) { return wanted < block.begin; });
    if (after == blocks_.begin()) return std::nullopt;
    const Block& block = *std::prev(after);
    const std::uint64_t offset = address - block.begin;
    if (block.placed) return Location{block.placed, block.rank, offset};
    const Placed* last = nullptr;
    for (const Placed& placed : layout_.placed) {
        const bool is_window = layout_.buffers[placed.buffer].kind == BufferKind::window;
        if (is_window && placed.offset <= offset) last = &placed;
    }
    if (!last) return std::nullopt;
    return Location{last, block.rank, offset - last->offset};
}

std::string given_text(const std::vector<Parameter>& parameters) {
    if (parameters.empty()) return "it is given no arguments";
    std::vector<std::string> words;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        words.push_back(fmt::format("args[{}] {}", i, name(parameters[i].kind)));
    }
    return fmt::format("it is given {}", fmt::join(words, ", "));
}

std::string text_of(const Location& location, std::uint64_t length, const Layout& layout) {
    const Placed& placed = *location.placed;
    const Buffer& buffer = layout.buffers[placed.buffer];
    const std::string whose =
        buffer.kind == BufferKind::window ? fmt::format("@{}", location.rank) : "";
    if (placed.signals != kNoBuffer && location.offset >= placed.signals_at) {
        return fmt::format("{}[{}]{}", layout.buffers[placed.signals].name,
                           (location.offset - placed.signals_at) / kSignalBytes, whose);
    }
    return fmt::format("{}{}[{}..{})", buffer.name, whose, location.offset,
                       location.offset + length);
}

}  // namespace peal::pto
