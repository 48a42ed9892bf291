// SPDX-License-Identifier: Apache-2.0
#include "pto/layout.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::pto {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kGapBytes = std::uint64_t{1} << 30;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

std::uint64_t spanned(std::uint64_t bytes) { return round_up(bytes, kPageBytes) + kGapBytes; }

}  // namespace

std::int32_t WindowDomain::rank_of(std::int32_t rank) const {
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    return found == ranks.end() ? -1 : static_cast<std::int32_t>(found - ranks.begin());
}

std::uint16_t Layout::add(Buffer buffer, std::int64_t moves_on) {
    buffers.push_back(std::move(buffer));
    advance.push_back(moves_on);
    return static_cast<std::uint16_t>(buffers.size() - 1);
}

// "in", and "in2" for the second one.
std::string Layout::next_name(const std::string& name) {
    const int number = ++names_[name];
    return number == 1 ? name : fmt::format("{}{}", name, number);
}

std::size_t Layout::add_private(Direction direction, Element element, std::uint64_t bytes,
                                std::string argument) {
    Buffer data;
    data.name = next_name(std::string(name(direction)));
    data.direction = direction;
    data.element = element;
    data.bytes = bytes;
    return place_private(std::move(data), std::move(argument));
}

std::size_t Layout::add_created(Element element, std::uint64_t bytes) {
    Buffer data;
    data.name = next_name("created");
    data.direction = Direction::out;
    data.element = element;
    data.bytes = bytes;
    return place_private(std::move(data), fmt::format("created {}", placed.size() - created_at));
}

std::size_t Layout::place_private(Buffer data, std::string argument) {
    Placed place;
    place.argument = std::move(argument);
    place.bytes = place.data_bytes = data.bytes;
    place.buffer = add(std::move(data), 0);
    placed.push_back(std::move(place));
    return placed.size() - 1;
}

std::size_t Layout::add_window(std::size_t domain, Element element, std::uint64_t bytes,
                               std::uint64_t cells, std::string argument) {
    Buffer data;
    data.name = next_name("window");
    data.kind = BufferKind::window;
    data.direction = Direction::inout;
    data.element = element;
    data.bytes = bytes;
    Placed place;
    place.argument = std::move(argument);
    place.domain = domain;
    place.data_bytes = bytes;
    place.finds_signals = cells == 0;
    place.signals_at = place.finds_signals ? 0 : whole_lines(bytes);
    place.bytes = place.finds_signals ? bytes : place.signals_at + cells * kSignalBytes;
    place.offset = domains[domain].bytes;
    domains[domain].bytes = round_up(place.offset + place.bytes, kPageBytes);
    place.buffer = add(std::move(data), 0);
    if (!place.finds_signals) place.signals = add_cells(cells);
    placed.push_back(std::move(place));
    return placed.size() - 1;
}

std::uint16_t Layout::add_cells(std::uint64_t cells) {
    Buffer signals;
    signals.name = next_name("signals");
    signals.kind = BufferKind::signal;
    signals.direction = Direction::inout;
    signals.element = Element::i32;
    signals.cells = cells;
    signals.cell_stride = kSignalBytes;
    return add(std::move(signals), signals_move_on);
}

void Layout::have_signals(std::size_t place) {
    placed[place].signals = add_cells(placed[place].data_bytes / kSignalBytes);
}

AddressSpace::AddressSpace(const Layout& layout, int rank) : layout_(layout), rank_(rank) {
    bytes_ = kGapBytes;
    for (const WindowDomain& domain : layout.domains) {
        bytes_ += spanned(domain.bytes) * domain.ranks.size();
    }
    for (const Placed& placed : layout.placed) {
        if (placed.domain == kPrivate) bytes_ += spanned(placed.bytes);
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
        if (placed.domain == kPrivate) blocks_.push_back({reserve(placed.bytes), rank, &placed});
    }
    for (std::size_t domain = 0; domain < layout.domains.size(); ++domain) {
        for (const std::int32_t peer : layout.domains[domain].ranks) {
            blocks_.push_back({reserve(layout.domains[domain].bytes), peer, nullptr, domain});
        }
    }
}

AddressSpace::~AddressSpace() { munmap(reinterpret_cast<void*>(base_), bytes_); }

std::uint64_t AddressSpace::reserve(std::uint64_t bytes) {
    const std::uint64_t begin = end_;
    end_ += spanned(bytes);
    return begin;
}

std::uint64_t AddressSpace::windows(std::size_t domain, std::int32_t rank) const {
    return std::find_if(
               blocks_.begin(), blocks_.end(),
               [&](const Block& block) { return block.domain == domain && block.rank == rank; })
        ->begin;
}

std::uint64_t AddressSpace::address(const Placed& placed) const {
    for (const Block& block : blocks_) {
        if (block.placed == &placed) return block.begin;
    }
    return windows(placed.domain, rank_) + placed.offset;
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
        if (placed.domain == block.domain && placed.offset <= offset) last = &placed;
    }
    if (!last) return std::nullopt;
    return Location{last, block.rank, offset - last->offset};
}

std::string text_of(const Location& location, std::uint64_t length, const Layout& layout) {
    const Placed& placed = *location.placed;
    const Buffer& buffer = layout.buffers[placed.buffer];
    const std::string whose =
        buffer.kind == BufferKind::window ? fmt::format("@{}", location.rank) : "";
    if (!placed.finds_signals && placed.signals != kNoBuffer &&
        location.offset >= placed.signals_at) {
        return fmt::format("{}[{}]{}", layout.buffers[placed.signals].name,
                           (location.offset - placed.signals_at) / kSignalBytes, whose);
    }
    return fmt::format("{}{}[{}..{})", buffer.name, whose, location.offset,
                       location.offset + length);
}

}  // namespace peal::pto
