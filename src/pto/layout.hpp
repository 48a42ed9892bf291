// SPDX-License-Identifier: Apache-2.0
// Where a kernel's parameters are: as buffers of a plan, and as addresses that nothing is behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "peal/plan.hpp"
#include "peal/pto.hpp"

namespace peal::pto {

inline constexpr std::uint16_t kNoBuffer = 0xffff;
inline constexpr std::uint64_t kSignalBytes = 4;  // signals are int32

// One parameter that is memory.
struct Placed {
    std::size_t parameter = 0;
    std::uint16_t buffer = kNoBuffer;   // of the data
    std::uint16_t signals = kNoBuffer;  // windows only
    std::uint64_t bytes = 0;            // data, padding and signals
    std::uint64_t data_bytes = 0;
    std::uint64_t signals_at = 0;  // offset of the first cell
    std::uint64_t offset = 0;      // windows: from the beginning of the rank's windows
};

struct Layout {
    explicit Layout(const std::vector<Parameter>& parameters);

    std::vector<Buffer> buffers;
    std::vector<std::int64_t> advance;  // of each buffer
    std::vector<Placed> placed;
    std::uint64_t window_bytes = 0;  // of one rank, all windows

    const Placed* of_parameter(std::size_t parameter) const;
};

// A byte that a kernel speaks of.
struct Location {
    const Placed* placed = nullptr;
    std::int32_t rank = 0;     // whose; the own rank if the memory is private
    std::uint64_t offset = 0;  // from the beginning of the parameter; may lie behind its end
};

// Addresses for everything in a layout, for one rank. They are reserved and cannot be accessed; a
// gap behind each tells whose end was missed.
class AddressSpace {
public:
    AddressSpace(const Layout& layout, int rank, int nranks);
    ~AddressSpace();
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    std::uint64_t windows(int rank) const;              // of that rank
    std::uint64_t address(const Placed& placed) const;  // for the own rank

    // Nothing if the address is of no parameter.
    std::optional<Location> find(std::uint64_t address) const;

private:
    struct Block {
        std::uint64_t begin = 0;
        std::int32_t rank = 0;
        const Placed* placed = nullptr;  // null: the windows of the rank
    };

    std::uint64_t reserve(std::uint64_t bytes);

    const Layout& layout_;
    int rank_;
    std::uint64_t base_ = 0, end_ = 0, bytes_ = 0;
    std::vector<Block> blocks_;  // by address
};

// "it is given args[0] in, args[1] nranks": what to compare with what the kernel reads.
std::string given_text(const std::vector<Parameter>& parameters);

// "window@2[16..20)"; what lies behind the data of a window is named as such.
std::string text_of(const Location& location, std::uint64_t length, const Layout& layout);

}  // namespace peal::pto
