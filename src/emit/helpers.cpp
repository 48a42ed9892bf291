// SPDX-License-Identifier: Apache-2.0
#include "emit/kernel_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "emit/cpp.hpp"

namespace peal::emit {
namespace {

struct HelperText {
    std::string_view call;  // what a text that needs it has in it
    std::string_view text;
};

constexpr HelperText kHelpers[] = {
    {"First<", R"(// The elements of a descriptor.
template <class T>
AICORE inline __gm__ T *First(int64_t descriptor) {
    auto *tensor = reinterpret_cast<__gm__ ChipTensor *>(descriptor);
    return reinterpret_cast<__gm__ T *>(tensor->buffer.addr) + tensor->start_offset;
}
)"},
    {" Count(", R"(AICORE inline int64_t Count(int64_t descriptor) {
    auto *tensor = reinterpret_cast<__gm__ ChipTensor *>(descriptor);
    int64_t count = 1;
    for (uint32_t i = 0; i < tensor->ndims; ++i) count *= tensor->shapes[i];
    return count;
}
)"},
    {"LineBehind(", R"(// The first cache line behind `count` elements.
template <class T>
AICORE inline __gm__ uint8_t *LineBehind(__gm__ T *first, int64_t count) {
    return reinterpret_cast<__gm__ uint8_t *>(first) + (count * sizeof(T) + 63) / 64 * 64;
}
)"},
    {"Cell(", R"(// Each signal has a cache line of its own.
AICORE inline __gm__ int32_t *Cell(__gm__ int32_t *signals, int64_t index) {
    return signals + index * 16;
}
)"},
    {"Remote(", R"(// The same place in the window of another rank.
template <class T>
AICORE inline __gm__ T *Remote(__gm__ CommContext *context, __gm__ T *own, int64_t rank) {
    const uint64_t offset = reinterpret_cast<uint64_t>(own) - context->windowsIn[context->rankId];
    return reinterpret_cast<__gm__ T *>(context->windowsIn[rank] + offset);
}
)"},
    {"TileAt<", R"(// A tile in one of the slots of tile memory.
template <class TileData>
AICORE inline TileData TileAt(int slot, int64_t count) {
    TileData tile(1, count);
    TASSIGN(tile, slot * kSlotBytes);
    return tile;
}
)"},
    {"RowOf(", R"(template <class T>
using Row = pto::GlobalTensor<T, pto::Shape<1, 1, 1, 1, pto::DYNAMIC>, pto::Stride<1, 1, 1, 1, 1>>;

template <class T>
AICORE inline Row<T> RowOf(__gm__ T *first, int64_t count) {
    return Row<T>(first, pto::Shape<1, 1, 1, 1, pto::DYNAMIC>(count));
}
)"},
    {"Event(", R"(AICORE inline event_t Event(int number) { return static_cast<event_t>(number); }
)"},
    {"Min(", R"(AICORE inline int64_t Min(int64_t a, int64_t b) { return a < b ? a : b; }
)"},
    {"Max(", R"(AICORE inline int64_t Max(int64_t a, int64_t b) { return a < b ? b : a; }
)"},
    {"Log2(", R"(AICORE inline int64_t Log2(int64_t value) {
    int64_t result = 0;
    while (value > 1) {
        value /= 2;
        ++result;
    }
    return result;
}
)"},
    {"FloorDiv(", R"(// Rounds towards minus infinity.
AICORE inline int64_t FloorDiv(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
)"},
    {"FloorMod(", R"(AICORE inline int64_t FloorMod(int64_t a, int64_t b) {
    return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
)"},
};

std::string tile_memory(const DeviceProgram& program) {
    std::set<Element> elements;
    std::uint64_t largest = 1;
    for (const TileVariable& tile : program.tiles) {
        if (tile.slot >= 0) elements.insert(tile.element);
        largest = std::max<std::uint64_t>(largest, bytes_of(tile.element));
    }
    std::string text = fmt::format(
        "// Tile memory: {} slots of {} elements.\n"
        "constexpr int64_t kChunk = {};\n"
        "constexpr int64_t kSlotBytes = kChunk * {};\n",
        program.slots, program.chunk, program.chunk, largest);
    for (const Element element : elements) {
        text += fmt::format(
            "using {} = pto::Tile<pto::TileType::Vec, {}, 1, kChunk, pto::BLayout::RowMajor, "
            "-1, -1>;\n",
            tile_type(element), cpp_type(element));
    }
    return text + "\n";
}

}  // namespace

std::string tile_type(Element element) {
    std::string type(name(element));
    std::transform(type.begin(), type.end(), type.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return type + "Tile";
}

std::string helpers_for(const std::string& kernel, const std::string& functions,
                        const DeviceProgram& program) {
    const std::string code = functions + kernel;
    std::string text = "namespace {\n\n";
    if (code.find("Signal ") != std::string::npos) {
        text +=
            "using pto::comm::NotifyOp;\nusing pto::comm::Signal;\nusing pto::comm::WaitCmp;\n\n";
    }
    if (program.slots > 0) text += tile_memory(program);
    for (const HelperText& helper : kHelpers) {
        if (code.find(helper.call) != std::string::npos) text += fmt::format("{}\n", helper.text);
    }
    return text + functions + "}  // namespace\n\n";
}

}  // namespace peal::emit
