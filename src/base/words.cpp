// SPDX-License-Identifier: Apache-2.0
#include "peal/words.hpp"

#include <array>

#include "peal/element.hpp"

namespace peal {
namespace {

struct ElementRow {
    std::string_view name;
    std::size_t bytes;
    bool floating;
};
constexpr std::array<ElementRow, kElements.size()> kElementRows = {{{"f16", 2, true},
                                                                    {"bf16", 2, true},
                                                                    {"f32", 4, true},
                                                                    {"f64", 8, true},
                                                                    {"i8", 1, false},
                                                                    {"i16", 2, false},
                                                                    {"i32", 4, false},
                                                                    {"i64", 8, false},
                                                                    {"u8", 1, false},
                                                                    {"u16", 2, false},
                                                                    {"u32", 4, false},
                                                                    {"u64", 8, false}}};
constexpr std::array<std::string_view, 4> kReduceNames = {"sum", "prod", "max", "min"};
constexpr std::array<std::string_view, 4> kDirectionNames = {"unknown", "in", "out", "inout"};
constexpr std::array<std::string_view, 2> kNotifyNames = {"set", "add"};
constexpr std::array<std::string_view, 6> kCompareNames = {"eq", "ne", "gt", "ge", "lt", "le"};
constexpr std::array<std::string_view, 6> kCompareSymbols = {"==", "!=", ">", ">=", "<", "<="};

template <class Enum>
constexpr std::size_t at(Enum value) {
    return static_cast<std::size_t>(value);
}

}  // namespace

std::string_view name(Element element) { return kElementRows[at(element)].name; }
std::size_t bytes_of(Element element) { return kElementRows[at(element)].bytes; }
bool is_float(Element element) { return kElementRows[at(element)].floating; }
bool is_unsigned(Element element) { return name(element).front() == 'u'; }

std::optional<Element> element_from(std::string_view wanted) {
    for (const Element element : kElements) {
        if (name(element) == wanted) return element;
    }
    return std::nullopt;
}

std::string_view name(ReduceOp op) { return kReduceNames[at(op)]; }

std::optional<ReduceOp> reduce_op_from(std::string_view wanted) {
    for (const ReduceOp op : kReduceOps) {
        if (name(op) == wanted) return op;
    }
    return std::nullopt;
}

std::string_view name(Direction direction) { return kDirectionNames[at(direction)]; }
std::string_view name(NotifyOp op) { return kNotifyNames[at(op)]; }
std::string_view name(Compare compare) { return kCompareNames[at(compare)]; }
std::string_view symbol(Compare compare) { return kCompareSymbols[at(compare)]; }

std::optional<Compare> compare_from(std::string_view wanted) {
    for (std::size_t i = 0; i < kCompareNames.size(); ++i) {
        if (kCompareNames[i] == wanted || kCompareSymbols[i] == wanted) return Compare(i);
    }
    return std::nullopt;
}

}  // namespace peal
