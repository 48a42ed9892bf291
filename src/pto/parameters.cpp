// SPDX-License-Identifier: Apache-2.0
// The arguments of kernels, from text and for the seeds' collectives.
#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/pto.hpp"

namespace peal::pto {
namespace {

using Kind = Parameter::Kind;

constexpr Kind kKinds[] = {Kind::in,         Kind::out,    Kind::inout, Kind::window,
                           Kind::scalar,     Kind::nranks, Kind::rank,  Kind::context,
                           Kind::generation, Kind::address};

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
constexpr std::int64_t kMostSignals = 1 << 20;
constexpr std::size_t kMostDimensions = 5;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

// "P" of "Px16", which is no name "Px16".
bool is_rows_of_ranks(std::string_view text) {
    return text.size() > 2 && text.starts_with("Px") &&
           std::isdigit(static_cast<unsigned char>(text[2]));
}

// Reads a parameter from left to right.
class Reader {
public:
    Reader(std::string_view text, int nranks, const Bindings& names)
        : text_(text), nranks_(nranks), names_(names) {}

    Parameter read() {
        Parameter parameter;
        const std::string word = take_word();
        parameter.kind = kind_of(word);
        switch (parameter.kind) {
            case Kind::in:
            case Kind::out:
            case Kind::inout:
                expect(":");
                read_shape(parameter);
                break;
            case Kind::window:
                expect(":");
                read_window(parameter);
                break;
            case Kind::scalar:
            case Kind::address:
                expect(":");
                parameter.value = sum();
                break;
            default: break;
        }
        if (at_ != text_.size()) fail("its end");
        return parameter;
    }

private:
    [[noreturn]] void fail(std::string_view expected) const {
        const std::string found =
            at_ == text_.size() ? "the end" : fmt::format("'{}'", text_.substr(at_));
        throw Error(Fault::usage,
                    fmt::format("--arg '{}': expected {}, found {}; examples: in:f32[256], "
                                "out:f32[64*P], window:f32[256]+signals:2x16, scalar:7, nranks, "
                                "context",
                                text_, expected, found));
    }

    Kind kind_of(const std::string& word) {
        for (const Kind kind : kKinds) {
            if (name(kind) == word) return kind;
        }
        at_ = 0;
        fail("in, out, inout, window, scalar, address, nranks, rank, context or generation");
    }

    void read_shape(Parameter& parameter) {
        const std::size_t begin = at_;
        const auto element = element_from(take_word());
        if (!element || bytes_of(*element) == 8) {
            at_ = begin;
            fail("an element type (f32 f16 bf16 i32 i16 i8 u8)");
        }
        parameter.element = *element;
        expect("[");
        const std::size_t dimensions = at_;
        parameter.count = 1;
        do {
            parameter.shape.push_back(size("a number of elements", kMostElements));
            if (__builtin_mul_overflow(parameter.count, parameter.shape.back(), &parameter.count) ||
                parameter.count > static_cast<std::uint64_t>(kMostElements)) {
                at_ = dimensions;
                fail(fmt::format("at most {} elements", kMostElements));
            }
        } while (parameter.shape.size() < kMostDimensions && take(","));
        if (parameter.shape.size() == 1) parameter.shape.clear();
        expect("]");
    }

    void read_window(Parameter& parameter) {
        const bool only_signals = text_.substr(at_).starts_with("signals");
        if (!only_signals) {
            read_shape(parameter);
            if (at_ == text_.size()) return;
            expect("+");
        }
        expect("signals:");
        if (is_rows_of_ranks(text_.substr(at_))) {
            expect("P");
            parameter.signal_rows = static_cast<std::uint64_t>(nranks_);
        } else {
            parameter.signal_rows = size("a number of rows", kMostSignals);
        }
        expect("x");
        parameter.signal_columns = size("a number of columns", kMostSignals);
    }

    std::uint64_t size(std::string_view what, std::int64_t most) {
        const std::size_t begin = at_;
        const std::int64_t value = sum();
        if (value < 1 || value > most) {
            at_ = begin;
            fail(fmt::format("{} from 1 to {}", what, most));
        }
        return static_cast<std::uint64_t>(value);
    }

    // sum = product (("+" | "-") product)*
    std::int64_t sum() {
        std::int64_t value = product();
        while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
            if (text_.substr(at_).starts_with("+signals")) break;
            const bool adds = text_[at_++] == '+';
            const std::int64_t operand = product();
            const bool overflows = adds ? __builtin_add_overflow(value, operand, &value)
                                        : __builtin_sub_overflow(value, operand, &value);
            if (overflows) fail("a number of 64 bits");
        }
        return value;
    }

    // product = factor (("*" | "/" | "%") factor)*
    std::int64_t product() {
        std::int64_t value = factor();
        while (at_ < text_.size() &&
               std::string_view("*/%").find(text_[at_]) != std::string_view::npos) {
            const char op = text_[at_++];
            const std::size_t begin = at_;
            const std::int64_t operand = factor();
            if (op == '*') {
                if (__builtin_mul_overflow(value, operand, &value)) fail("a number of 64 bits");
            } else if (operand > 0) {
                value = op == '/' ? value / operand : value % operand;
            } else {
                at_ = begin;
                fail("a positive divisor");
            }
        }
        return value;
    }

    // factor = number | "P" | name | function | "-" factor | "(" sum ")"
    std::int64_t factor() {
        if (take("(")) {
            const std::int64_t value = sum();
            expect(")");
            return value;
        }
        if (take("-")) return -factor();
        if (at_ < text_.size() && begins_name(text_[at_])) return named();
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc()) fail("a number, P, a name or '('");
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }

    // function = ("min" | "max") "(" sum "," sum ")" | "log2" "(" sum ")"
    std::int64_t named() {
        const std::size_t begin = at_;
        const std::string name = take_word();
        if (name == "P") return nranks_;
        if (take("(")) {
            const std::int64_t first = sum();
            const bool has_two = name == "min" || name == "max";
            if (has_two) expect(",");
            const std::int64_t value =
                has_two ? pick(name, first, sum()) : log2(name, first, begin);
            expect(")");
            return value;
        }
        const auto found = names_.integers.find(name);
        if (found != names_.integers.end()) return found->second;
        throw Error(Fault::usage, fmt::format("--arg '{}': '{}' has no value; say --set {}=<value>",
                                              text_, name, name));
    }
    static std::int64_t pick(const std::string& name, std::int64_t a, std::int64_t b) {
        return name == "min" ? std::min(a, b) : std::max(a, b);
    }
    std::int64_t log2(const std::string& name, std::int64_t value, std::size_t begin) {
        if (name == "log2" && value > 0) {
            return std::bit_width(static_cast<std::uint64_t>(value)) - 1;
        }
        at_ = begin;
        fail(name == "log2" ? "log2 of a positive number" : "min, max or log2");
    }

    std::string take_word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }
    bool take(std::string_view token) {
        if (!text_.substr(at_).starts_with(token)) return false;
        at_ += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail(fmt::format("'{}'", token));
    }

    std::string_view text_;
    int nranks_;
    const Bindings& names_;
    std::size_t at_ = 0;
};

Parameter memory(Kind kind, Element element, std::uint64_t count) {
    Parameter parameter;
    parameter.kind = kind;
    parameter.element = element;
    parameter.count = count;
    return parameter;
}

Parameter plain(Kind kind, std::int64_t value = 0) {
    Parameter parameter;
    parameter.kind = kind;
    parameter.value = value;
    return parameter;
}

}  // namespace

std::string_view name(Kind kind) {
    switch (kind) {
        case Kind::in: return "in";
        case Kind::out: return "out";
        case Kind::inout: return "inout";
        case Kind::window: return "window";
        case Kind::scalar: return "scalar";
        case Kind::nranks: return "nranks";
        case Kind::rank: return "rank";
        case Kind::context: return "context";
        case Kind::generation: return "generation";
        case Kind::address: return "address";
    }
    return "";
}

Parameter parameter_from(std::string_view text, int nranks, const Bindings& names) {
    return Reader(text, nranks, names).read();
}

std::set<std::string> names_in(std::string_view parameter) {
    std::set<std::string> names;
    const std::size_t colon = parameter.find(':');
    for (std::size_t at = std::min(colon, parameter.size()); at < parameter.size();) {
        if (!begins_name(parameter[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < parameter.size() && is_in_name(parameter[end])) ++end;
        const std::string name(parameter.substr(at, end - at));
        // What is followed by these is an element type, `signals` or a function; x16 behind a
        // number of rows is no name either.
        const bool is_other =
            end < parameter.size() &&
            std::string_view("[:(").find(parameter[end]) != std::string_view::npos;
        const char before = parameter[at - 1];
        const bool is_times = is_in_name(before) || before == ')';
        if (!is_other && !is_times && name != "P" && !is_rows_of_ranks(name)) names.insert(name);
        at = end;
    }
    return names;
}

std::vector<Parameter> preset(const Collective& collective, int nranks) {
    const auto ranks = static_cast<std::uint64_t>(nranks);
    switch (collective.kind) {
        case CollectiveKind::allreduce:
        case CollectiveKind::broadcast:
        case CollectiveKind::allgather:
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_to_all: break;
        default:
            throw Error(
                Fault::usage,
                fmt::format("there is no argument list for {}: expected allreduce, allgather, "
                            "reduce_scatter, broadcast or all_to_all, or arguments with --arg",
                            name(collective.kind)));
    }
    if (bytes_of(collective.element) == 8) {
        throw Error(Fault::usage,
                    fmt::format("PTO kernels have no {}: expected f32 f16 bf16 i32 i16 "
                                "i8 or u8",
                                name(collective.element)));
    }
    const std::uint64_t in = input_count(collective, 0, nranks);
    const std::uint64_t out = output_count(collective, 0, nranks);
    Parameter scratch = memory(Kind::window, collective.element, in);  // peers read it there
    scratch.signal_rows = 2 * ranks;
    std::vector<Parameter> list = {memory(Kind::in, collective.element, in),
                                   memory(Kind::out, collective.element, out), scratch,
                                   plain(Kind::nranks)};
    if (has_root(collective.kind)) {
        list.push_back(plain(Kind::scalar, collective.root));
    }
    list.push_back(plain(Kind::context));
    list.push_back(plain(Kind::generation));
    return list;
}

std::string_view name(Device device) { return device == Device::a2a3 ? "a2a3" : "a5"; }

DeviceRules rules_of(Device device) {
    return device == Device::a2a3 ? DeviceRules::a2a3() : DeviceRules::a5();
}

}  // namespace peal::pto
