// SPDX-License-Identifier: Apache-2.0
// Plans from JSON; the schema is at the head of json_write.cpp. What is wrong is named by its path:
// "plans[2].instructions[7].cell.index: expected an unsigned integer, found string".
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "peal/error.hpp"
#include "peal/plan.hpp"
#include "plan/json_words.hpp"
#include "plan/names.hpp"

namespace peal::plan {
namespace {

using Json = nlohmann::json;

// A value in the document and how we came to it. The path is spelled out only when it is needed.
class JsonValue {
public:
    // `title`: what messages call the document, if it has a name.
    JsonValue(const Json& document, std::string_view title) : json_(document), title_(title) {}

    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        const std::string where = path();
        const bool is_named = !title().empty();
        throw Error(Fault::program,
                    fmt::format("{}{}{}: {}", title(), is_named && !where.empty() ? ": " : "",
                                where.empty() && !is_named ? "the document" : where,
                                fmt::format(format, std::forward<Args>(args)...)));
    }

    bool has(const char* key) const { return object().contains(key); }

    JsonValue operator[](const char* key) const {
        const auto it = object().find(key);
        if (it == json_.end()) fail("field '{}' is missing", key);
        return JsonValue(*it, this, key, 0);
    }

    // Calls each(value) for the items of an array.
    template <class Each>
    void for_each(Each&& each) const {
        if (!json_.is_array()) wrong_type("an array");
        for (std::size_t i = 0; i < json_.size(); ++i) each(JsonValue(json_[i], this, nullptr, i));
    }

    void require_only(const std::vector<std::string_view>& known) const {
        for (const auto& [key, value] : object().items()) {
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                fail("there is no field '{}', expected {}", key, fmt::join(known, ", "));
            }
        }
    }

    std::string text() const {
        if (!json_.is_string()) wrong_type("a string");
        return json_.get<std::string>();
    }

    template <class Integer>
    Integer integer() const {
        constexpr bool kSigned = std::is_signed_v<Integer>;
        constexpr std::string_view kExpected = kSigned ? "an integer" : "an unsigned integer";
        if (!json_.is_number_integer()) wrong_type(kExpected);
        if (!kSigned && !json_.is_number_unsigned()) {
            fail("expected {}, found {}", kExpected, json_.dump());
        }
        const bool fits = json_.is_number_unsigned()
                              ? std::in_range<Integer>(json_.get<std::uint64_t>())
                              : std::in_range<Integer>(json_.get<std::int64_t>());
        if (!fits) {
            fail("expected {} in {}..{}, found {}", kExpected, std::numeric_limits<Integer>::min(),
                 std::numeric_limits<Integer>::max(), json_.dump());
        }
        return json_.get<Integer>();
    }

    double number() const {
        if (json_.is_number()) return json_.get<double>();
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (json_ == "inf") return kInfinity;
        if (json_ == "-inf") return -kInfinity;
        if (json_ == "nan" || json_ == "-nan") return std::numeric_limits<double>::quiet_NaN();
        wrong_type("a number");
    }

    template <class Enum, std::size_t kCount>
    Enum word(const std::array<Enum, kCount>& values) const {
        const std::string found = text();
        if (const auto value = named(values, found)) return *value;
        std::vector<std::string_view> words;
        for (const Enum value : values) words.push_back(name(value));
        fail("expected one of {}, found '{}'", fmt::join(words, ", "), found);
    }

    // Also by the words that files of earlier versions have.
    Pipe pipe() const {
        static constexpr std::array<std::string_view, kPipes.size()> kOlder = {
            "none", "scalar", "load", "vector", "store", "cube", "cube_load", "cube_store", "all"};
        const auto older = json_.is_string()
                               ? std::find(kOlder.begin(), kOlder.end(), json_.get<std::string>())
                               : kOlder.end();
        if (older == kOlder.end()) return word(kPipes);
        return kPipes[static_cast<std::size_t>(older - kOlder.begin())];
    }

    bool truth() const {
        if (!json_.is_boolean()) wrong_type("true or false");
        return json_.get<bool>();
    }

    bool is_text(std::string_view wanted) const { return json_ == wanted; }

private:
    JsonValue(const Json& json, const JsonValue* parent, const char* key, std::size_t index)
        : json_(json), parent_(parent), key_(key), index_(index) {}

    const Json& object() const {
        if (!json_.is_object()) wrong_type("an object");
        return json_;
    }
    [[noreturn]] void wrong_type(std::string_view expected) const {
        fail("expected {}, found {}", expected, json_.type_name());
    }
    std::string_view title() const { return parent_ ? parent_->title() : title_; }
    std::string path() const {
        if (!parent_) return "";
        const std::string outer = parent_->path();
        if (!key_) return fmt::format("{}[{}]", outer, index_);
        return outer.empty() ? key_ : fmt::format("{}.{}", outer, key_);
    }

    const Json& json_;
    const JsonValue* parent_ = nullptr;
    const char* key_ = nullptr;
    std::size_t index_ = 0;
    std::string_view title_;  // of the document
};

Range read_range(const JsonValue& json) {
    json.require_only({"buffer", "rank", "offset", "length", "shift"});
    const JsonValue buffer = json["buffer"];
    Range range;
    range.buffer = buffer.is_text("tile") ? kTile : buffer.integer<std::uint16_t>();
    range.rank = json["rank"].integer<std::int32_t>();
    range.offset = json["offset"].integer<std::uint64_t>();
    range.length = json["length"].integer<std::uint64_t>();
    if (json.has("shift")) range.shift = json["shift"].integer<std::uint16_t>();
    return range;
}

Cell read_cell(const JsonValue& json) {
    json.require_only({"buffer", "rank", "index"});
    return {json["buffer"].integer<std::uint16_t>(), json["rank"].integer<std::int32_t>(),
            json["index"].integer<std::uint64_t>()};
}

Value read_value(const JsonValue& json) {
    json.require_only({"constant", "per_generation"});
    Value value;
    value.constant = json["constant"].integer<std::int64_t>();
    if (json.has("per_generation")) {
        value.per_generation = json["per_generation"].integer<std::int64_t>();
    }
    return value;
}

// The fields of an action beside those that every instruction has.
void require_action(const JsonValue& json, std::initializer_list<std::string_view> own) {
    std::vector<std::string_view> known(own);
    known.insert(known.end(), {"pipe", "line", "joined", "group"});
    json.require_only(known);
}

Copy read_copy(const JsonValue& json) {
    require_action(json, {"do", "dst", "src"});
    return {read_range(json["dst"]), read_range(json["src"])};
}

Reduce read_reduce(const JsonValue& json) {
    require_action(json, {"do", "op", "element", "dst", "src"});
    Reduce reduce;
    reduce.op = json["op"].word(kReduceOps);
    reduce.element = json["element"].word(kElements);
    reduce.dst = read_range(json["dst"]);
    json["src"].for_each([&](const JsonValue& item) { reduce.src.push_back(read_range(item)); });
    return reduce;
}

Accumulate read_accumulate(const JsonValue& json) {
    require_action(json, {"do", "element", "dst", "src"});
    return {json["element"].word(kElements), read_range(json["dst"]), read_range(json["src"])};
}

Map read_map(const JsonValue& json) {
    require_action(json, {"do", "op", "element", "scalar", "dst", "src", "from"});
    Map map;
    map.op = json["op"].word(kMapOps);
    map.element = json["element"].word(kElements);
    map.scalar = json["scalar"].number();
    map.dst = read_range(json["dst"]);
    map.src = read_range(json["src"]);
    if (json.has("from")) map.from = json["from"].word(kElements);
    return map;
}

Notify read_notify(const JsonValue& json) {
    require_action(json, {"do", "op", "cell", "value"});
    return {json["op"].word(kNotifyOps), read_cell(json["cell"]), read_value(json["value"])};
}

Wait read_wait(const JsonValue& json) {
    require_action(json, {"do", "compare", "cell", "value"});
    return {json["compare"].word(kCompares), read_cell(json["cell"]), read_value(json["value"])};
}

template <class Flag>
Flag read_flag(const JsonValue& json) {
    require_action(json, {"do", "from", "to", "event"});
    return {json["from"].pipe(), json["to"].pipe(), json["event"].integer<std::uint8_t>()};
}

PipeBarrier read_barrier(const JsonValue& json) {
    require_action(json, {"do", "drain"});
    return {json["drain"].pipe()};
}

Fence read_fence(const JsonValue& json) {
    require_action(json, {"do", "completes"});
    return {json["completes"].integer<std::uint16_t>()};
}

Evict read_evict(const JsonValue& json) {
    require_action(json, {"do", "range"});
    return {read_range(json["range"])};
}

Action read_action(const JsonValue& json) {
    const std::string word = json["do"].text();
    if (word == kCopyWord) return read_copy(json);
    if (word == kReduceWord) return read_reduce(json);
    if (word == kAccumulateWord) return read_accumulate(json);
    if (word == kMapWord) return read_map(json);
    if (word == kNotifyWord) return read_notify(json);
    if (word == kWaitWord) return read_wait(json);
    if (word == kSetFlagWord) return read_flag<SetFlag>(json);
    if (word == kWaitFlagWord) return read_flag<WaitFlag>(json);
    if (word == kPipeBarrierWord) return read_barrier(json);
    if (word == kFenceWord) return read_fence(json);
    if (word == kEvictWord) return read_evict(json);
    json["do"].fail("there is no instruction '{}'", word);
}

Instruction read_instruction(const JsonValue& json) {
    Instruction instruction;
    instruction.action = read_action(json);
    if (json.has("pipe")) instruction.pipe = json["pipe"].pipe();
    if (json.has("line")) instruction.line = json["line"].integer<std::uint32_t>();
    if (json.has("joined")) instruction.joined = json["joined"].truth();
    if (json.has("group")) {
        const JsonValue group = json["group"];
        instruction.group = group.is_text(kCacheGroup) ? kCached : group.integer<std::uint16_t>();
    }
    return instruction;
}

Buffer read_buffer(const JsonValue& json) {
    json.require_only({"name", "kind", "direction", "element", "bytes", "cells", "cell_stride"});
    Buffer buffer;
    buffer.name = json["name"].text();
    buffer.kind = json["kind"].word(kBufferKinds);
    buffer.direction = json["direction"].word(kDirections);
    buffer.element = json["element"].word(kElements);
    if (json.has("bytes")) buffer.bytes = json["bytes"].integer<std::uint64_t>();
    if (json.has("cells")) buffer.cells = json["cells"].integer<std::uint64_t>();
    if (json.has("cell_stride")) {
        buffer.cell_stride = json["cell_stride"].integer<std::uint64_t>();
    }
    return buffer;
}

SourcePtr read_source(const JsonValue& json) {
    json.require_only({"name", "text", "included"});
    std::vector<Source::Part> included;
    if (json.has("included")) {
        json["included"].for_each([&](const JsonValue& part) {
            part.require_only({"name", "first_line"});
            included.push_back({part["name"].text(), part["first_line"].integer<std::uint32_t>()});
            const bool is_in_order = included.size() == 1 ||
                                     included.rbegin()[1].first_line < included.back().first_line;
            if (!is_in_order) part["first_line"].fail("the parts are not in order");
        });
    }
    return std::make_shared<const Source>(json["name"].text(), json["text"].text(),
                                          std::move(included));
}

SourcePtr source_at(const JsonValue& index, const std::vector<SourcePtr>& sources) {
    const auto number = index.integer<std::uint64_t>();
    if (number >= sources.size()) {
        index.fail("there is no source {}, the document has {}", number, sources.size());
    }
    return sources[number];
}

Shift read_shift(const JsonValue& json) {
    json.require_only({"buffer", "by"});
    Shift shift;
    shift.buffer = json["buffer"].integer<std::uint16_t>();
    json["by"].for_each(
        [&](const JsonValue& item) { shift.by.push_back(item.integer<std::uint64_t>()); });
    return shift;
}

Turns read_turns(const JsonValue& json) {
    json.require_only({"signal", "every", "count", "shifts"});
    Turns turns;
    turns.signal = json["signal"].integer<std::uint16_t>();
    turns.every = json["every"].integer<std::int64_t>();
    turns.count = json["count"].integer<std::uint32_t>();
    json["shifts"].for_each(
        [&](const JsonValue& item) { turns.shifts.push_back(read_shift(item)); });
    return turns;
}

Plan read_plan(const JsonValue& json, const std::vector<SourcePtr>& sources) {
    json.require_only({"kernel", "rank", "nranks", "source", "tile_bytes", "buffers", "advance",
                       "instructions", "lanes", "turns"});
    Plan plan;
    plan.kernel = json["kernel"].text();
    plan.rank = json["rank"].integer<std::int32_t>();
    plan.nranks = json["nranks"].integer<std::int32_t>();
    plan.tile_bytes = json["tile_bytes"].integer<std::uint64_t>();
    if (json.has("source")) plan.source = source_at(json["source"], sources);
    json["buffers"].for_each(
        [&](const JsonValue& item) { plan.buffers.push_back(read_buffer(item)); });
    json["advance"].for_each(
        [&](const JsonValue& item) { plan.advance.push_back(item.integer<std::int64_t>()); });
    json["instructions"].for_each(
        [&](const JsonValue& item) { plan.instructions.push_back(read_instruction(item)); });
    if (json.has("lanes")) {
        json["lanes"].for_each(
            [&](const JsonValue& item) { plan.lanes.push_back(item.integer<std::uint32_t>()); });
    }
    if (json.has("turns")) plan.turns = read_turns(json["turns"]);
    return plan;
}

Json parse_document(const std::string& text, std::string_view title) {
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {  // no JSON, or a number that is too large
        const std::string_view what = error.what();
        const std::size_t begin = what.find("] ");  // after the library's own error number
        throw Error(Fault::program,
                    fmt::format("{}{}not JSON: {}", title, title.empty() ? "" : ": ",
                                begin == std::string_view::npos ? what : what.substr(begin + 2)));
    }
}

void require_our_format(const JsonValue& document) {
    document.require_only({"format", "version", "sources", "plans"});
    const std::string format = document["format"].text();
    if (format != kJsonFormat) {
        document["format"].fail("expected '{}', found '{}'", kJsonFormat, format);
    }
    const int version = document["version"].integer<int>();
    if (version != kJsonVersion) {
        document["version"].fail("expected {}, found {}", kJsonVersion, version);
    }
}

std::vector<Plan> read_document(const std::string& text, std::string_view title) {
    const Json json = parse_document(text, title);
    const JsonValue document(json, title);
    require_our_format(document);
    std::vector<SourcePtr> sources;
    document["sources"].for_each(
        [&](const JsonValue& item) { sources.push_back(read_source(item)); });
    std::vector<Plan> plans;
    document["plans"].for_each(
        [&](const JsonValue& item) { plans.push_back(read_plan(item, sources)); });
    return plans;
}

}  // namespace

}  // namespace peal::plan

std::vector<peal::Plan> peal::plans_from_json(const std::string& text, std::string_view title) {
    return plan::read_document(text, title);
}
