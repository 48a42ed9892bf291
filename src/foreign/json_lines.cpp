// SPDX-License-Identifier: Apache-2.0
#include "foreign/json_lines.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foreign/trouble.hpp"

namespace peal::foreign {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDepth = 64;

// Characters, and the line of the last one that was no space: the parser reads one character too
// many after a number.
struct Position {
    std::uint32_t line = 1;
    std::uint32_t last = 1;
};
class Characters {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Characters(const char* at, Position* position) : at_(at), position_(position) {}
    reference operator*() const { return *at_; }
    Characters& operator++() {
        if (!std::isspace(static_cast<unsigned char>(*at_))) position_->last = position_->line;
        if (*at_ == '\n') ++position_->line;
        ++at_;
        return *this;
    }
    Characters operator++(int) {
        Characters before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Characters& other) const { return at_ == other.at_; }
    bool operator!=(const Characters& other) const { return at_ != other.at_; }

private:
    const char* at_;
    Position* position_;
};

// Builds the tree as the parser goes.
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(const Source& source, const Position& position)
        : source_(source), position_(position) {}

    JsonNode take() { return std::move(root_); }

    bool null() override { return add(made(JsonNode::Kind::nothing)); }
    bool boolean(bool value) override {
        JsonNode node = made(JsonNode::Kind::truth);
        node.truth = value;
        return add(std::move(node));
    }
    bool number_integer(number_integer_t value) override {
        JsonNode node = made(JsonNode::Kind::integer);
        node.integer = value;
        return add(std::move(node));
    }
    bool number_unsigned(number_unsigned_t value) override {
        constexpr auto kMost =
            static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
        return number_integer(static_cast<std::int64_t>(std::min(value, kMost)));
    }
    bool number_float(number_float_t, const string_t&) override {
        return add(made(JsonNode::Kind::number));
    }
    bool string(string_t& value) override {
        JsonNode node = made(JsonNode::Kind::text);
        node.text = value;
        return add(std::move(node));
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(JsonNode::Kind::object); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(JsonNode::Kind::list); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        key_ = value;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
        // "... syntax error while parsing value - unexpected end of input; expected ..."
        const std::string_view what = error.what();
        const std::size_t dash = what.find(" - ");
        refuse(source_, position_.last,
               fmt::format("this is no JSON: {}",
                           dash == std::string_view::npos ? what : what.substr(dash + 3)));
    }

private:
    JsonNode made(JsonNode::Kind kind) const {
        JsonNode node;
        node.kind = kind;
        node.line = position_.last;
        return node;
    }
    bool add(JsonNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
        } else {
            open_.back().value.fields.push_back({std::move(key_), std::move(node)});
        }
        key_.clear();
        return true;
    }
    bool open(JsonNode::Kind kind) {
        if (open_.size() >= kMostDepth) {
            refuse(source_, position_.last,
                   fmt::format("lists and objects are nested more than {} deep", kMostDepth));
        }
        open_.push_back({std::move(key_), made(kind)});
        key_.clear();
        return true;
    }
    bool close() {
        auto [key, node] = std::move(open_.back());
        open_.pop_back();
        key_ = std::move(key);
        return add(std::move(node));
    }

    const Source& source_;
    const Position& position_;
    JsonNode root_;
    std::vector<JsonField> open_;
    std::string key_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
    for (const auto& [key, value] : fields) {
        if (key == name) return &value;
    }
    return nullptr;
}

const char* JsonNode::kind_name() const {
    constexpr std::array<const char*, 7> kNames = {
        "nothing", "true or false", "an integer", "a number", "text", "a list", "an object"};
    return kNames[static_cast<std::size_t>(kind)];
}

JsonNode json_with_lines(const Source& source) {
    Position position;
    Builder builder(source, position);
    const std::string& text = source.text();
    Json::sax_parse(Characters(text.data(), &position),
                    Characters(text.data() + text.size(), &position), &builder);
    return builder.take();
}

}  // namespace peal::foreign
