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
class Place {
public:
    // `title`: what messages call the document, if it has a name.
    Place(const Json& document, std::string_view title) : json_(document), title_(title) {}

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

    Place operator[](const char* key) const {
        const auto it = object().find(key);
        if (it == json_.end()) fail("field '{}' is missing", key);
        return Place(*it, this, key, 0);
    }

    // Calls each(place) for the items of an array.
    template <class Each>
    void for_each(Each&& each) const {
        if (!json_.is_array()) wrong_type("an array");
        for (std::size_t i = 0; i < json_.size(); ++i) each(Place(json_[i], this, nullptr, i));
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
    Place(const Json& json, const Place* parent, const char* key, std::size_t index)
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
    const Place* parent_ = nullptr;
    const char* key_ = nullptr;
    std::size_t index_ = 0;
    std::string_view title_;  // of the document
};

Range read_range(const Place& place) {
    place.require_only({"buffer", "rank", "offset", "length", "shift"});
    const Place buffer = place["buffer"];
    Range range;
    range.buffer = buffer.is_text("tile") ? kTile : buffer.integer<std::uint16_t>();
    range.rank = place["rank"].integer<std::int32_t>();
    range.offset = place["offset"].integer<std::uint64_t>();
    range.length = place["length"].integer<std::uint64_t>();
    if (place.has("shift")) range.shift = place["shift"].integer<std::uint16_t>();
    return range;
}

Cell read_cell(const Place& place) {
    place.require_only({"buffer", "rank", "index"});
    return {place["buffer"].integer<std::uint16_t>(), place["rank"].integer<std::int32_t>(),
            place["index"].integer<std::uint64_t>()};
}

Value read_value(const Place& place) {
    place.require_only({"constant", "per_generation"});
    Value value;
    value.constant = place["constant"].integer<std::int64_t>();
    if (place.has("per_generation")) {
        value.per_generation = place["per_generation"].integer<std::int64_t>();
    }
    return value;
}

// The fields of an action beside those that every instruction has.
void require_action(const Place& place, std::initializer_list<std::string_view> own) {
    std::vector<std::string_view> known(own);
    known.insert(known.end(), {"pipe", "line", "joined", "group"});
    place.require_only(known);
}

Copy read_copy(const Place& place) {
    require_action(place, {"do", "dst", "src"});
    return {read_range(place["dst"]), read_range(place["src"])};
}

Reduce read_reduce(const Place& place) {
    require_action(place, {"do", "op", "element", "dst", "src"});
    Reduce reduce;
    reduce.op = place["op"].word(kReduceOps);
    reduce.element = place["element"].word(kElements);
    reduce.dst = read_range(place["dst"]);
    place["src"].for_each([&](const Place& item) { reduce.src.push_back(read_range(item)); });
    return reduce;
}

Accumulate read_accumulate(const Place& place) {
    require_action(place, {"do", "element", "dst", "src"});
    return {place["element"].word(kElements), read_range(place["dst"]), read_range(place["src"])};
}

Map read_map(const Place& place) {
    require_action(place, {"do", "op", "element", "scalar", "dst", "src", "from"});
    Map map;
    map.op = place["op"].word(kMapOps);
    map.element = place["element"].word(kElements);
    map.scalar = place["scalar"].number();
    map.dst = read_range(place["dst"]);
    map.src = read_range(place["src"]);
    if (place.has("from")) map.from = place["from"].word(kElements);
    return map;
}

Notify read_notify(const Place& place) {
    require_action(place, {"do", "op", "cell", "value"});
    return {place["op"].word(kNotifyOps), read_cell(place["cell"]), read_value(place["value"])};
}

Wait read_wait(const Place& place) {
    require_action(place, {"do", "compare", "cell", "value"});
    return {place["compare"].word(kCompares), read_cell(place["cell"]), read_value(place["value"])};
}

template <class Flag>
Flag read_flag(const Place& place) {
    require_action(place, {"do", "from", "to", "event"});
    return {place["from"].pipe(), place["to"].pipe(), place["event"].integer<std::uint8_t>()};
}

PipeBarrier read_barrier(const Place& place) {
    require_action(place, {"do", "drain"});
    return {place["drain"].pipe()};
}

Fence read_fence(const Place& place) {
    require_action(place, {"do", "completes"});
    return {place["completes"].integer<std::uint16_t>()};
}

Evict read_evict(const Place& place) {
    require_action(place, {"do", "range"});
    return {read_range(place["range"])};
}

Action read_action(const Place& place) {
    const std::string word = place["do"].text();
    if (word == kCopyWord) return read_copy(place);
    if (word == kReduceWord) return read_reduce(place);
    if (word == kAccumulateWord) return read_accumulate(place);
    if (word == kMapWord) return read_map(place);
    if (word == kNotifyWord) return read_notify(place);
    if (word == kWaitWord) return read_wait(place);
    if (word == kSetFlagWord) return read_flag<SetFlag>(place);
    if (word == kWaitFlagWord) return read_flag<WaitFlag>(place);
    if (word == kPipeBarrierWord) return read_barrier(place);
    if (word == kFenceWord) return read_fence(place);
    if (word == kEvictWord) return read_evict(place);
    place["do"].fail("there is no instruction '{}'", word);
}

Instruction read_instruction(const Place& place) {
    Instruction instruction;
    instruction.action = read_action(place);
    if (place.has("pipe")) instruction.pipe = place["pipe"].pipe();
    if (place.has("line")) instruction.line = place["line"].integer<std::uint32_t>();
    if (place.has("joined")) instruction.joined = place["joined"].truth();
    if (place.has("group")) {
        const Place group = place["group"];
        instruction.group = group.is_text(kCacheGroup) ? kCached : group.integer<std::uint16_t>();
    }
    return instruction;
}

Buffer read_buffer(const Place& place) {
    place.require_only({"name", "kind", "direction", "element", "bytes", "cells", "cell_stride"});
    Buffer buffer;
    buffer.name = place["name"].text();
    buffer.kind = place["kind"].word(kBufferKinds);
    buffer.direction = place["direction"].word(kDirections);
    buffer.element = place["element"].word(kElements);
    if (place.has("bytes")) buffer.bytes = place["bytes"].integer<std::uint64_t>();
    if (place.has("cells")) buffer.cells = place["cells"].integer<std::uint64_t>();
    if (place.has("cell_stride")) {
        buffer.cell_stride = place["cell_stride"].integer<std::uint64_t>();
    }
    return buffer;
}

SourcePtr read_source(const Place& place) {
    place.require_only({"name", "text", "included"});
    std::vector<Source::Part> included;
    if (place.has("included")) {
        place["included"].for_each([&](const Place& part) {
            part.require_only({"name", "first_line"});
            included.push_back({part["name"].text(), part["first_line"].integer<std::uint32_t>()});
            const bool is_in_order = included.size() == 1 ||
                                     included.rbegin()[1].first_line < included.back().first_line;
            if (!is_in_order) part["first_line"].fail("the parts are not in order");
        });
    }
    return std::make_shared<const Source>(place["name"].text(), place["text"].text(),
                                          std::move(included));
}

SourcePtr source_at(const Place& index, const std::vector<SourcePtr>& sources) {
    const auto number = index.integer<std::uint64_t>();
    if (number >= sources.size()) {
        index.fail("there is no source {}, the document has {}", number, sources.size());
    }
    return sources[number];
}

Shift read_shift(const Place& place) {
    place.require_only({"buffer", "by"});
    Shift shift;
    shift.buffer = place["buffer"].integer<std::uint16_t>();
    place["by"].for_each(
        [&](const Place& item) { shift.by.push_back(item.integer<std::uint64_t>()); });
    return shift;
}

Turns read_turns(const Place& place) {
    place.require_only({"signal", "every", "count", "shifts"});
    Turns turns;
    turns.signal = place["signal"].integer<std::uint16_t>();
    turns.every = place["every"].integer<std::int64_t>();
    turns.count = place["count"].integer<std::uint32_t>();
    place["shifts"].for_each([&](const Place& item) { turns.shifts.push_back(read_shift(item)); });
    return turns;
}

Plan read_plan(const Place& place, const std::vector<SourcePtr>& sources) {
    place.require_only({"kernel", "rank", "nranks", "source", "tile_bytes", "buffers", "advance",
                        "instructions", "lanes", "turns"});
    Plan plan;
    plan.kernel = place["kernel"].text();
    plan.rank = place["rank"].integer<std::int32_t>();
    plan.nranks = place["nranks"].integer<std::int32_t>();
    plan.tile_bytes = place["tile_bytes"].integer<std::uint64_t>();
    if (place.has("source")) plan.source = source_at(place["source"], sources);
    place["buffers"].for_each(
        [&](const Place& item) { plan.buffers.push_back(read_buffer(item)); });
    place["advance"].for_each(
        [&](const Place& item) { plan.advance.push_back(item.integer<std::int64_t>()); });
    place["instructions"].for_each(
        [&](const Place& item) { plan.instructions.push_back(read_instruction(item)); });
    if (place.has("lanes")) {
        place["lanes"].for_each(
            [&](const Place& item) { plan.lanes.push_back(item.integer<std::uint32_t>()); });
    }
    if (place.has("turns")) plan.turns = read_turns(place["turns"]);
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

void require_our_format(const Place& document) {
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
    const Place document(json, title);
    require_our_format(document);
    std::vector<SourcePtr> sources;
    document["sources"].for_each([&](const Place& item) { sources.push_back(read_source(item)); });
    std::vector<Plan> plans;
    document["plans"].for_each(
        [&](const Place& item) { plans.push_back(read_plan(item, sources)); });
    return plans;
}

}  // namespace

}  // namespace peal::plan

std::vector<peal::Plan> peal::plans_from_json(const std::string& text, std::string_view title) {
    return plan::read_document(text, title);
}
