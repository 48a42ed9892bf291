// SPDX-License-Identifier: Apache-2.0
// The table of ops. Composite ops are in composites.cpp.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/describe.hpp"
#include "ir/registry.hpp"
#include "peal/error.hpp"
#include "peal/ops.hpp"

namespace peal::ir {
namespace {

using enum OperandKind;
using enum Effect;

Type no_type(const Call&) { return {}; }
Type as_index(const Call&) { return index_type(); }

Element element_of(const ExprPtr& expr) { return type_of(*expr).element; }

void require_same_element(const Call& call, std::string_view a, std::string_view b) {
    const Element left = element_of(operand(call, a));
    const Element right = element_of(operand(call, b));
    if (left == right) return;
    throw Error(Fault::program, fmt::format("{}: {} has elements of type {}, {} has {}", call.op, a,
                                            name(left), b, name(right)));
}

Type loaded_tile(const Call& call) {
    return tile_type(element_of(call.operands.front()), call.operands.back());
}

Type stored(const Call& call) {
    require_same_element(call, "tile", call.op == ops::kTileStore ? "memory" : "window");
    return {};
}

Type copied(const Call& call) {
    require_same_element(call, "dst", "src");
    return {};
}

Type put(const Call& call) {
    require_same_element(call, "window", "src");
    return {};
}

Type got(const Call& call) {
    require_same_element(call, "dst", "window");
    return {};
}

// Counts that are known to differ are an error here; symbolic ones are compared when they are
// known.
Type combined(const Call& call) {
    require_same_element(call, "a", "b");
    const Type a = type_of(*call.operands[0]);
    const Type b = type_of(*call.operands[1]);
    const auto* left = as<IntConst>(a.shape[0]);
    const auto* right = as<IntConst>(b.shape[0]);
    if (left && right && left->value != right->value) {
        throw Error(Fault::program, fmt::format("{}: tiles of {} and {} elements do not combine",
                                                call.op, left->value, right->value));
    }
    return a;
}

Type with_scalar(const Call& call) {
    const Type tile = type_of(*call.operands[0]);
    if (!is_float(tile.element) && is_float(type_of(*call.operands[1]).element)) {
        throw Error(Fault::program, fmt::format("{}: a tile of {} cannot take a floating scalar",
                                                call.op, name(tile.element)));
    }
    return tile;
}

Type full_tile(const Call& call) {
    const Element element = *element_from(word(call, "element"));
    if (!is_float(element) && is_float(element_of(call.operands[0]))) {
        throw Error(Fault::program,
                    fmt::format("{}: a tile of {} cannot be filled with a floating scalar", call.op,
                                name(element)));
    }
    return tile_type(element, call.operands[1]);
}

std::vector<std::string_view> element_words() {
    std::vector<std::string_view> words;
    for (const Element element : kElements) words.push_back(name(element));
    return words;
}

OpSpec binary_tile_op(std::string_view name) {
    return {name, {{"a", tile, none}, {"b", tile, none}}, {}, combined};
}

OpSpec scalar_tile_op(std::string_view name) {
    return {name, {{"tile", tile, none}, {"value", OperandKind::number, none}}, {}, with_scalar};
}

// What becomes of the peer's window is the only difference to adding.
OpSpec remote_store(std::string_view name, Effect effect) {
    return {name,
            {{"tile", tile, none},
             {"window", window, effect},
             {"peer", index, none},
             {"offset", index, none}},
            {},
            stored};
}

OpSpec put_of(std::string_view name, Effect effect) {
    return {name,
            {{"window", window, effect},
             {"peer", index, none},
             {"offset", index, none},
             {"src", memory, read},
             {"src_offset", index, none},
             {"count", index, none}},
            {},
            put};
}

std::vector<OpSpec> build_registry() {
    std::vector<OpSpec> list = {
        {ops::kTensorCopy,
         {{"dst", memory, write},
          {"dst_offset", index, none},
          {"src", memory, read},
          {"src_offset", index, none},
          {"count", index, none}},
         {},
         copied},
        {ops::kTileLoad,
         {{"memory", memory, read}, {"offset", index, none}, {"count", index, none}},
         {},
         loaded_tile},
        {ops::kTileStore,
         {{"tile", tile, none}, {"memory", memory, write}, {"offset", index, none}},
         {},
         stored},
        {ops::kTileSlice,
         {{"tile", tile, none}, {"offset", index, none}, {"count", index, none}},
         {},
         loaded_tile},
        {ops::kTileFull,
         {{"value", OperandKind::number, none}, {"count", index, none}},
         {{"element", element_words(), "f32"}},
         full_tile},
        binary_tile_op(ops::kTileAdd),
        binary_tile_op(ops::kTileMul),
        binary_tile_op(ops::kTileMax),
        binary_tile_op(ops::kTileMin),
        scalar_tile_op(ops::kTileAddScalar),
        scalar_tile_op(ops::kTileMulScalar),
        {ops::kRemoteLoad,
         {{"window", window, read},
          {"peer", index, none},
          {"offset", index, none},
          {"count", index, none}},
         {},
         loaded_tile},
        remote_store(ops::kRemoteStore, write),
        put_of(ops::kPut, write),
        put_of(ops::kPutLater, write),
        remote_store(ops::kRemoteAdd, read_write),
        put_of(ops::kPutAdd, read_write),
        {ops::kGet,
         {{"dst", memory, write},
          {"dst_offset", index, none},
          {"window", window, read},
          {"peer", index, none},
          {"offset", index, none},
          {"count", index, none}},
         {},
         got},
        {ops::kNotify,
         {{"signal", signal, write},
          {"peer", index, none},
          {"cell", index, none},
          {"value", index, none}},
         {{"op", {"set", "add"}, {}}},
         no_type},
        {ops::kWait,
         {{"signal", signal, read}, {"cell", index, none}, {"value", index, none}},
         {{"cmp", {"eq", "ne", "gt", "ge", "lt", "le"}, "ge"}},
         no_type},
        {ops::kGeneration, {{"signal", signal, read}}, {}, as_index},
        {ops::kAdvance, {{"signal", signal, read_write}, {"by", index, none}}, {}, no_type},
        {ops::kFence, {}, {}, no_type},
        {ops::kRequire,
         {{"left", index, none}, {"right", index, none}},
         {{"cmp", {"eq", "ne", "gt", "ge", "lt", "le"}, "eq"}},
         no_type},
        {ops::kContext,
         {},
         {},
         [](const Call&) {
             return Type{Type::Kind::context, {}, {}};
         }},
        {ops::kRank, {{"context", context, none}}, {}, as_index},
        {ops::kNranks, {{"context", context, none}}, {}, as_index},
        {ops::kLane, {{"context", context, none}}, {}, as_index},
        {ops::kNlanes, {{"context", context, none}}, {}, as_index},
    };
    for (OpSpec& composite : composite_ops()) list.push_back(std::move(composite));
    return list;
}

bool fits(const Type& type, const ExprPtr& expr, OperandKind kind) {
    const bool named = as<Var>(expr) != nullptr;
    switch (kind) {
        case index: return type.is_integer();
        case OperandKind::number: return type.kind == Type::Kind::scalar;
        case tile: return type.kind == Type::Kind::tile;
        case memory: return named && type.is_memory();
        case window: return named && type.kind == Type::Kind::window;
        case signal:
            return named && type.kind == Type::Kind::window &&
                   (type.element == Element::i32 || type.element == Element::i64);
        case table: return named && type.kind == Type::Kind::table;
        case context: return type.kind == Type::Kind::context;
    }
    return false;
}

std::string_view expected(OperandKind kind) {
    switch (kind) {
        case index: return "an integer";
        case OperandKind::number: return "a number";
        case tile: return "a tile";
        case memory: return "a tensor or a window";
        case window: return "a window";
        case signal: return "a window of i32 or i64 signals";
        case table: return "a table of integers";
        case context: return "a communication context";
    }
    return "";
}

void check_operands(const OpSpec& spec, const std::vector<ExprPtr>& operands) {
    const auto required =
        static_cast<std::size_t>(std::count_if(spec.operands.begin(), spec.operands.end(),
                                               [](const OperandSpec& o) { return !o.optional; }));
    if (operands.size() < required || operands.size() > spec.operands.size()) {
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < required; ++i) names.push_back(spec.operands[i].name);
        throw Error(Fault::program,
                    fmt::format("{}: expected {} operand{} ({}), found {}", spec.name, required,
                                required == 1 ? "" : "s", fmt::join(names, ", "), operands.size()));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandSpec& slot = spec.operands[i];
        if (!operands[i]) {
            if (slot.optional) continue;
            throw Error(Fault::program,
                        fmt::format("{}: operand '{}' is missing", spec.name, slot.name));
        }
        const Type& type = type_of(*operands[i]);
        if (!fits(type, operands[i], slot.kind)) {
            throw Error(Fault::program,
                        fmt::format("{}: operand '{}' must be {}, found {}", spec.name, slot.name,
                                    expected(slot.kind), describe(type)));
        }
    }
}

void check_value(const OpSpec& spec, const AttributeSpec& slot, const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (slot.words.empty()) {
        const auto* number = std::get_if<std::int64_t>(&value);
        if (number && *number >= 0) return;
        throw Error(Fault::program,
                    fmt::format("{}: {} must be an integer that is not negative, found {}",
                                spec.name, slot.name, text ? *text : std::to_string(*number)));
    }
    if (text && std::find(slot.words.begin(), slot.words.end(), *text) != slot.words.end()) return;
    throw Error(Fault::program,
                fmt::format("{}: {} must be one of {}; found {}", spec.name, slot.name,
                            fmt::join(slot.words, ", "),
                            text ? *text : std::to_string(std::get<std::int64_t>(value))));
}

// Null when there is none of that name.
const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
    const auto it = std::find_if(attributes.begin(), attributes.end(),
                                 [&](const Attribute& a) { return a.name == name; });
    return it == attributes.end() ? nullptr : &*it;
}

void check_attributes(const OpSpec& spec, const std::vector<Attribute>& given) {
    for (const Attribute& attribute : given) {
        const bool known =
            std::any_of(spec.attributes.begin(), spec.attributes.end(),
                        [&](const AttributeSpec& slot) { return slot.name == attribute.name; });
        if (!known) {
            throw Error(Fault::program,
                        fmt::format("{}: there is no attribute '{}'", spec.name, attribute.name));
        }
    }
    for (const AttributeSpec& slot : spec.attributes) {
        const Attribute* found = find_attribute(given, slot.name);
        if (found) check_value(spec, slot, found->value);
        if (found || slot.preset) continue;
        throw Error(Fault::program,
                    fmt::format("{}: attribute '{}' is missing", spec.name, slot.name));
    }
}

// Attributes that were checked, in the registry's order.
std::vector<Attribute> with_presets(const OpSpec& spec, const std::vector<Attribute>& given) {
    std::vector<Attribute> result;
    result.reserve(spec.attributes.size());
    for (const AttributeSpec& slot : spec.attributes) {
        const Attribute* found = find_attribute(given, slot.name);
        result.push_back(found ? *found : Attribute{std::string(slot.name), *slot.preset});
    }
    return result;
}

const OpSpec& known_op(std::string_view op) {
    if (const OpSpec* spec = find_op(op)) return *spec;
    throw Error(Fault::program, fmt::format("there is no op '{}'", op));
}

const Attribute& attribute_of(const Call& call, std::string_view attribute) {
    if (const Attribute* found = find_attribute(call.attributes, attribute)) return *found;
    throw Error(Fault::program, fmt::format("{}: there is no attribute '{}'", call.op, attribute));
}

}  // namespace

int OpSpec::operand_index(std::string_view operand_name) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].name == operand_name) return static_cast<int>(i);
    }
    return -1;
}

const std::vector<OpSpec>& all_ops() {
    static const std::vector<OpSpec> registry = build_registry();
    return registry;
}

const OpSpec* find_op(std::string_view name) {
    static const std::unordered_map<std::string_view, const OpSpec*> by_name = [] {
        std::unordered_map<std::string_view, const OpSpec*> map;
        for (const OpSpec& spec : all_ops()) map.emplace(spec.name, &spec);
        return map;
    }();
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second;
}

CallPtr make_call(std::string_view op, std::vector<ExprPtr> operands,
                  std::vector<Attribute> attributes, Span span) {
    const OpSpec& spec = known_op(op);
    check_operands(spec, operands);
    check_attributes(spec, attributes);
    Call call;
    call.span = span;
    call.op = op;
    call.operands = std::move(operands);
    call.operands.resize(spec.operands.size());
    call.attributes = with_presets(spec, attributes);
    call.type = spec.deduce(call);
    return std::make_shared<const Call>(std::move(call));
}

void require_well_formed(const Call& call) {
    const OpSpec& spec = known_op(call.op);
    check_operands(spec, call.operands);
    check_attributes(spec, call.attributes);
    spec.deduce(call);
}

const std::string& word(const Call& call, std::string_view attribute) {
    return std::get<std::string>(attribute_of(call, attribute).value);
}

std::int64_t number(const Call& call, std::string_view attribute) {
    return std::get<std::int64_t>(attribute_of(call, attribute).value);
}

ExprPtr operand(const Call& call, std::string_view name) {
    const auto index = static_cast<std::size_t>(find_op(call.op)->operand_index(name));
    return index < call.operands.size() ? call.operands[index] : nullptr;
}

}  // namespace peal::ir
