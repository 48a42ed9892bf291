// SPDX-License-Identifier: Apache-2.0
// Where the memory that a kernel is given is: as buffers of a plan, and as addresses that nothing
// is behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal::pto {

inline constexpr std::uint16_t kNoBuffer = 0xffff;
inline constexpr std::size_t kPrivate = static_cast<std::size_t>(-1);
inline constexpr std::uint64_t kSignalBytes = 4;  // signals are int32

// One piece of memory.
struct Placed {
    std::string argument;               // how messages call it: "args[2]"
    std::uint16_t buffer = kNoBuffer;   // of the data
    std::uint16_t signals = kNoBuffer;  // windows only
    std::uint64_t bytes = 0;            // data, padding and signals
    std::uint64_t data_bytes = 0;
    std::uint64_t signals_at = 0;  // offset of the first cell
    // Any word of the data may be a signal: those are that the kernel uses as such.
    bool finds_signals = false;
    std::size_t domain = kPrivate;  // windows: whose
    std::uint64_t offset = 0;       // windows: from the beginning of the rank's part of the domain
};

// Ranks that reach each other's windows.
struct WindowDomain {
    std::vector<std::int32_t> ranks;  // of the plan, by rank in the domain
    std::uint64_t bytes = 0;          // of one rank, all windows

    // -1: it is not in it.
    std::int32_t rank_of(std::int32_t rank) const;
};

class Layout {
public:
    std::vector<Buffer> buffers;
    std::vector<std::int64_t> advance;  // of each buffer
    std::vector<Placed> placed;
    std::vector<WindowDomain> domains;
    std::size_t created_at = 0;  // in `placed`: tensors that a shim creates come behind all others
    std::int64_t signals_move_on = 1;  // `advance` of signals

    // Each returns its place in `placed`.
    std::size_t add_private(Direction direction, Element element, std::uint64_t bytes,
                            std::string argument);
    // Memory that nobody has written yet.
    std::size_t add_created(Element element, std::uint64_t bytes);
    // Behind the domain's other windows, from the next page on.
    std::size_t add_window(std::size_t domain, Element element, std::uint64_t bytes,
                           std::uint64_t cells, std::string argument);
    // Of a window that finds its signals: it has some. Cell i is word i.
    void have_signals(std::size_t place);

private:
    std::uint16_t add(Buffer buffer, std::int64_t moves_on);
    std::uint16_t add_cells(std::uint64_t cells);
    std::size_t place_private(Buffer data, std::string argument);
    std::string next_name(const std::string& name);

    std::map<std::string, int> names_;
};

// A byte that a kernel speaks of.
struct Location {
    const Placed* placed = nullptr;
    std::int32_t rank = 0;     // whose; the own rank if the memory is private
    std::uint64_t offset = 0;  // from the beginning of the memory; may lie behind its end
};

// Addresses for everything in a layout, for one rank. They are reserved and cannot be accessed; a
// gap behind each tells whose end was missed.
class AddressSpace {
public:
    AddressSpace(const Layout& layout, int rank);
    ~AddressSpace();
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    // The windows of a rank of the plan in a domain that it is in.
    std::uint64_t windows(std::size_t domain, std::int32_t rank) const;
    std::uint64_t address(const Placed& placed) const;  // for the own rank

    // Nothing if the address is of no memory.
    std::optional<Location> find(std::uint64_t address) const;

private:
    struct Block {
        std::uint64_t begin = 0;
        std::int32_t rank = 0;
        const Placed* placed = nullptr;  // null: the windows of the rank
        std::size_t domain = kPrivate;
    };

    std::uint64_t reserve(std::uint64_t bytes);

    const Layout& layout_;
    int rank_;
    std::uint64_t base_ = 0, end_ = 0, bytes_ = 0;
    std::vector<Block> blocks_;  // by address
};

// "window@2[16..20)"; what lies behind the data of a window is named as such.
std::string text_of(const Location& location, std::uint64_t length, const Layout& layout);

}  // namespace peal::pto
