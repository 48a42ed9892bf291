// SPDX-License-Identifier: Apache-2.0
#include "check/term.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace peal::checker {
namespace {

std::int64_t modulo(std::int64_t value, std::int64_t by) {
    const std::int64_t rest = value % by;
    return rest < 0 ? rest + by : rest;
}

std::int64_t size_of(Element element) { return static_cast<std::int64_t>(bytes_of(element)); }

// The least or greatest number of the element.
double extreme(Element element, bool greatest) {
    const int sign = greatest ? 1 : -1;
    if (is_float(element)) return sign * std::numeric_limits<double>::infinity();
    const double half = std::ldexp(1, static_cast<int>(8 * bytes_of(element)) - 1);
    if (is_unsigned(element)) return greatest ? 2 * half - 1 : 0;
    return greatest ? half - 1 : -half;
}

double neutral_number(ReduceOp op, Element element) {
    switch (op) {
        case ReduceOp::sum: return 0;
        case ReduceOp::prod: return 1;
        case ReduceOp::max: return extreme(element, false);
        case ReduceOp::min: return extreme(element, true);
    }
    return 0;
}

struct Constant {
    Element element;
    double scalar;
};

// Integers and zeros whose bytes are the same are the same constant, however they were written: the
// shortest signed integer that repeats itself. (Other floating numbers stay what they are.)
Constant normal_constant(Element element, double scalar) {
    if (std::bit_cast<std::uint64_t>(scalar) == 0) return {Element::i8, 0};
    if (is_float(element)) return {element, scalar};
    // 2^63 - 1 is no double, and what does not fit an i64 is at one of its ends; so with a u64.
    constexpr double kLimit = 9223372036854775808.0;
    const bool is_upper = element == Element::u64 && scalar >= kLimit && scalar < 2 * kLimit;
    if (is_upper) scalar -= 2 * kLimit;  // an i64 of the same bytes
    if (std::isnan(scalar) || scalar >= kLimit || scalar < -kLimit) return {element, scalar};
    const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(scalar));
    std::size_t size = bytes_of(element);
    const auto part = [&](std::size_t number, std::size_t length) {
        return bits << (64 - 8 * length * (number + 1)) >> (64 - 8 * length);
    };
    while (size > 1 && part(0, size / 2) == part(1, size / 2)) size /= 2;
    switch (size) {
        case 1: return {Element::i8, static_cast<double>(static_cast<std::int8_t>(bits))};
        case 2: return {Element::i16, static_cast<double>(static_cast<std::int16_t>(bits))};
        case 4: return {Element::i32, static_cast<double>(static_cast<std::int32_t>(bits))};
        default: return {Element::i64, static_cast<double>(static_cast<std::int64_t>(bits))};
    }
}

// A coordinate of a term that repeats itself means no more than its remainder.
std::int64_t normal_shift(const Term& term, std::int64_t shift) {
    return term.period == 0 ? shift : modulo(shift, term.period);
}

}  // namespace

std::size_t TermTable::Hash::operator()(const Term& term) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    const auto mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    };
    mix(static_cast<std::uint64_t>(term.kind) | static_cast<std::uint64_t>(term.op) << 8 |
        static_cast<std::uint64_t>(term.map) << 16 |
        static_cast<std::uint64_t>(term.element) << 24 |
        static_cast<std::uint64_t>(term.phase) << 32 | static_cast<std::uint64_t>(term.call) << 40);
    mix(static_cast<std::uint64_t>(term.left) << 32 | term.right);
    mix(static_cast<std::uint64_t>(term.left_shift));
    mix(static_cast<std::uint64_t>(term.right_shift));
    mix(term.scalar ^ term.region ^ static_cast<std::uint64_t>(term.from) << 56);
    return hash;
}

TermTable::TermTable() {
    Term unwritten;
    unwritten.period = 1;
    intern(unwritten);
}

TermId TermTable::intern(const Term& term) {
    const auto [found, is_new] = ids_.try_emplace(term, static_cast<TermId>(terms_.size()));
    if (is_new) terms_.push_back(term);
    return found->second;
}

Content TermTable::input(RegionId region, std::uint32_t call) {
    Term term;
    term.kind = Term::Kind::input;
    term.region = region;
    term.call = call;
    return {intern(term), 0};
}

Content TermTable::fill(Element element, double scalar, std::uint64_t at) {
    const Constant constant = normal_constant(element, scalar);
    Term term;
    term.kind = Term::Kind::fill;
    term.element = constant.element;
    term.period = static_cast<std::uint8_t>(bytes_of(constant.element));
    term.scalar = std::bit_cast<std::uint64_t>(constant.scalar);
    return {intern(term), modulo(-static_cast<std::int64_t>(at), size_of(constant.element))};
}

Content TermTable::unknown(RegionId region, std::int32_t rank, std::uint32_t call,
                           std::uint32_t index) {
    Term term;
    term.kind = Term::Kind::unknown;
    term.region = region;
    term.call = call;
    term.scalar = static_cast<std::uint64_t>(rank) << 32 | index;
    return {intern(term), 0};
}

// Gives the new term the coordinate of its first part that has one, so that the same combination
// at another place is the same term.
Content TermTable::anchored(Term term, Content left, Content right, std::uint64_t at) {
    const bool has_right = term.kind == Term::Kind::combine || term.kind == Term::Kind::gathered;
    const bool by_left = terms_[left.term].period == 0;
    const bool by_right = has_right && terms_[right.term].period == 0;
    std::int64_t anchor = by_right && !by_left ? right.shift : left.shift;
    if (!by_left && !by_right) {
        term.period = static_cast<std::uint8_t>(bytes_of(term.element));
        anchor = modulo(anchor, term.period);
    }
    term.phase = static_cast<std::uint8_t>(
        modulo(static_cast<std::int64_t>(at) + anchor, size_of(term.element)));
    term.is_open |= terms_[left.term].is_open || terms_[right.term].is_open;
    term.left = left.term;
    term.left_shift = normal_shift(terms_[left.term], left.shift - anchor);
    if (has_right) {
        term.right = right.term;
        term.right_shift = normal_shift(terms_[right.term], right.shift - anchor);
    }
    return {intern(term), anchor};
}

Content TermTable::combine(ReduceOp op, Element element, Content left, Content right,
                           std::uint64_t at) {
    Term term;
    term.kind = Term::Kind::combine;
    term.op = op;
    term.element = element;
    return anchored(term, left, right, at);
}

// A list that begins with nothing and grows by one part at a time, the parts sorted. So there is
// one list for each bag of parts.
Content TermTable::gathered(Element element, Content sum, Content added, std::uint64_t at) {
    const auto part_of = [&](Content list) {
        const Term& term = terms_[list.term];
        return moved({term.right, list.shift}, term.right_shift);
    };
    const auto is_list = [&](Content content) {
        return terms_[content.term].kind == Term::Kind::gathered &&
               is_in_phase(content, element, at);
    };
    const auto comes_before = [](Content a, Content b) {
        return Leaf{a.term, a.shift} < Leaf{b.term, b.shift};
    };
    if (sum.term == kUnwritten || is_zero(sum.term)) {
        sum = {};
    } else if (!is_list(sum)) {
        sum = linked(element, {}, sum, at);
    }
    std::vector<Content> later;
    while (is_list(sum) && comes_before(added, part_of(sum))) {
        const Term& term = terms_[sum.term];
        later.push_back(part_of(sum));
        sum = moved({term.left, sum.shift}, term.left_shift);
    }
    sum = linked(element, sum, added, at);
    for (; !later.empty(); later.pop_back()) sum = linked(element, sum, later.back(), at);
    return sum;
}

Content TermTable::linked(Element element, Content sum, Content added, std::uint64_t at) {
    Term term;
    term.kind = Term::Kind::gathered;
    term.element = element;
    term.is_open = true;
    return anchored(term, sum, added, at);
}

// All bytes are 0, whatever the element.
bool TermTable::is_zero(TermId id) const {
    return terms_[id].kind == Term::Kind::fill && terms_[id].scalar == 0;
}

// A number that changes nothing when it is combined with others. (The sign of a zero apart: -0 + 0
// is 0. So a combination with it is no copy, and other bits than one without it.)
bool TermTable::is_neutral(Content content, ReduceOp op, Element element, std::uint64_t at) const {
    const Term& term = terms_[content.term];
    if (term.kind != Term::Kind::fill) return false;
    if (op == ReduceOp::sum && is_zero(content.term)) return true;
    const Constant neutral = normal_constant(element, neutral_number(op, element));
    // A zero of either sign, where it is a floating number.
    const Element as = op == ReduceOp::sum ? element : neutral.element;
    const bool in_phase = term.element == as &&
                          modulo(static_cast<std::int64_t>(at) + content.shift, size_of(as)) == 0;
    return in_phase && std::bit_cast<double>(term.scalar) == neutral.scalar;
}

bool TermTable::is_in_phase(Content content, Element element, std::uint64_t at) const {
    const Term& term = terms_[content.term];
    return term.element == element &&
           modulo(static_cast<std::int64_t>(at) + content.shift, size_of(element)) == term.phase;
}

Content TermTable::rounded(Element element, Content content, std::uint64_t at) {
    Term term;
    term.kind = Term::Kind::rounded;
    term.element = element;
    return anchored(term, content, {}, at);
}

Content TermTable::mapped(MapOp map, Element element, double scalar, Content content,
                          std::uint64_t at) {
    Term term;
    term.kind = Term::Kind::mapped;
    term.map = map;
    term.element = element;
    term.scalar = std::bit_cast<std::uint64_t>(scalar);
    return anchored(term, content, {}, at);
}

// Element k of the term is made from element k of its part, counted from coordinate left_shift.
Content TermTable::converted(Element to, Element from, Content content, std::uint64_t at) {
    content = moved(content, 0);
    const std::int64_t size = size_of(from);
    Term term;
    term.kind = Term::Kind::converted;
    term.element = to;
    term.from = from;
    term.is_open = terms_[content.term].is_open;
    term.left = content.term;
    term.left_shift = modulo(content.shift, size);
    const std::int64_t period = terms_[content.term].period;
    term.period = static_cast<std::uint8_t>(
        period == 0 ? 0 : std::max<std::int64_t>(period / size, 1) * size_of(to));
    const std::int64_t first = (content.shift - term.left_shift) / size;
    const Content result{intern(term), first * size_of(to)};
    return moved(result, -static_cast<std::int64_t>(at));
}

// A term whose left part lists these bytes.
Term TermTable::listed(const std::vector<Stretch>& bytes) {
    Term list;
    list.kind = Term::Kind::bytes;
    for (const Stretch& stretch : bytes) {
        list.is_open |= terms_[stretch.content.term].is_open;
        list.right = stretch.content.term;
        list.right_shift = stretch.content.shift;
        list.scalar = stretch.bytes;
        list.left = intern(list);
    }
    Term term;
    term.is_open = list.is_open;
    term.left = list.left;
    return term;
}

Content TermTable::assembled(Element element, const std::vector<Stretch>& bytes, std::uint64_t at) {
    Term term = listed(bytes);
    term.kind = Term::Kind::assembled;
    term.element = element;
    return {intern(term), -static_cast<std::int64_t>(at)};
}

Content TermTable::computed(MapOp map, Element element, Element from,
                            const std::vector<Stretch>& bytes, std::uint64_t at) {
    Term term = listed(bytes);
    term.kind = Term::Kind::computed;
    term.map = map;
    term.element = element;
    term.from = from;
    return {intern(term), -static_cast<std::int64_t>(at)};
}

Content TermTable::moved(Content content, std::int64_t by) const {
    return {content.term, normal_shift(terms_[content.term], content.shift + by)};
}

std::vector<Content> TermTable::gathered_parts(TermId id) const {
    std::vector<Content> parts;
    for (Content list{id, 0}; list.term != kUnwritten;) {
        const Term& term = terms_[list.term];
        parts.push_back(moved({term.right, list.shift}, term.right_shift));
        list = moved({term.left, list.shift}, term.left_shift);
    }
    return parts;
}

// Its parts are in later_ already. Their coordinates may have changed, as the first part of a list
// is another one when its parts are sorted again: so each term is made anew.
Content TermTable::later_term(const Term& term, std::uint32_t calls) {
    Term made = term;
    switch (term.kind) {
        case Term::Kind::unwritten:
        case Term::Kind::fill: break;
        case Term::Kind::input:
        case Term::Kind::unknown: made.call += calls; break;
        case Term::Kind::combine:
        case Term::Kind::rounded:
        case Term::Kind::mapped:
            made.is_open = false;
            made.period = 0;
            return anchored(made, later_part(term.left, term.left_shift),
                            later_part(term.right, term.right_shift), term.phase);
        case Term::Kind::converted:
            return converted(term.element, term.from, later_part(term.left, term.left_shift), 0);
        case Term::Kind::bytes: {
            const Content bytes = later_part(term.right, term.right_shift);
            made.left = later_.at(term.left).term;
            made.right = bytes.term;
            made.right_shift = bytes.shift;
            break;
        }
        case Term::Kind::assembled:
        case Term::Kind::computed: made.left = later_.at(term.left).term; break;
        case Term::Kind::gathered: break;  // not here
    }
    return {intern(made), 0};
}

Content TermTable::later(Content content, std::uint32_t calls) {
    if (later_calls_ != calls) later_.clear();
    later_calls_ = calls;
    std::vector<TermId> open = {content.term};
    while (!open.empty()) {
        const TermId id = open.back();
        const std::size_t before = open.size();
        const auto need = [&](TermId part) {
            if (!later_.contains(part)) open.push_back(part);
        };
        if (later_.contains(id)) {
            open.pop_back();
            continue;
        }
        const Term term = terms_[id];
        std::vector<Content> parts;
        if (term.kind == Term::Kind::gathered) {
            parts = gathered_parts(id);
            for (const Content& part : parts) need(part.term);
        } else if (id != kUnwritten) {
            need(term.left);
            need(term.right);
        }
        if (open.size() != before) continue;
        open.pop_back();
        Content made;
        if (term.kind == Term::Kind::gathered) {
            for (const Content& part : parts) {
                made = gathered(term.element, made, later_part(part.term, part.shift), term.phase);
            }
        } else {
            made = later_term(term, calls);
        }
        later_.emplace(id, made);
    }
    return moved(later_.at(content.term), content.shift);
}

std::vector<Leaf> TermTable::leaves(Content content, ReduceOp op, Element element, std::uint64_t at,
                                    std::size_t limit) const {
    const bool once = op == ReduceOp::max || op == ReduceOp::min;
    std::set<Leaf> seen;
    std::vector<Leaf> result;
    std::vector<Content> open = {content};
    while (!open.empty() && result.size() < limit) {
        const Content next = moved(open.back(), 0);
        open.pop_back();
        if (once && !seen.insert({next.term, next.shift}).second) continue;
        const Term& term = terms_[next.term];
        const bool in_phase = is_in_phase(next, element, at);
        const bool is_combined = term.kind == Term::Kind::combine && term.op == op;
        const bool is_gathered = term.kind == Term::Kind::gathered && op == ReduceOp::sum;
        if ((is_combined || is_gathered) && in_phase) {
            open.push_back({term.right, next.shift + term.right_shift});
            const bool ends = is_gathered && term.left == kUnwritten;
            if (!ends) open.push_back({term.left, next.shift + term.left_shift});
        } else if (term.kind == Term::Kind::rounded && in_phase) {
            open.push_back({term.left, next.shift + term.left_shift});
        } else if (!is_neutral(next, op, element, at)) {
            result.push_back({next.term, next.shift});
        }
    }
    return result;
}

std::vector<Leaf> TermTable::chain(Content content, ReduceOp op, Element element,
                                   std::uint64_t at) const {
    std::vector<Leaf> result;
    const auto add = [&](Content part) {
        if (!is_neutral(part, op, element, at)) result.push_back({part.term, part.shift});
    };
    while (is_in_phase(content, element, at)) {
        const Term& term = terms_[content.term];
        const bool is_combined = term.kind == Term::Kind::combine && term.op == op;
        if (!is_combined && term.kind != Term::Kind::rounded) break;
        if (is_combined) add({term.right, content.shift + term.right_shift});
        content = {term.left, content.shift + term.left_shift};
    }
    add(content);
    std::reverse(result.begin(), result.end());
    return result;
}

Content TermTable::commuted(Content content, std::uint64_t at) {
    if (at != commuted_at_) commuted_.clear();
    commuted_at_ = at;
    return commuted(content, at, 0);
}

Content TermTable::commuted(Content content, std::uint64_t at, int depth) {
    constexpr int kMostDepth = 4096;
    const Term term = terms_[content.term];  // the table grows meanwhile
    const bool is_combined = term.kind == Term::Kind::combine;
    if (!is_combined && term.kind != Term::Kind::rounded) return content;
    if (depth > kMostDepth || !is_in_phase(content, term.element, at)) return content;
    const Leaf key{content.term, content.shift};
    if (const auto known = commuted_.find(key); known != commuted_.end()) return known->second;
    const Content left = commuted({term.left, content.shift + term.left_shift}, at, depth + 1);
    Content result;
    if (is_combined) {
        const Content right =
            commuted({term.right, content.shift + term.right_shift}, at, depth + 1);
        const bool swaps = Leaf{right.term, right.shift} < Leaf{left.term, left.shift};
        result = combine(term.op, term.element, swaps ? right : left, swaps ? left : right, at);
    } else {
        result = rounded(term.element, left, at);
    }
    commuted_.emplace(key, result);
    return result;
}

// ---------------------------------------------------------------------------- text

namespace {

constexpr std::size_t kMaxLeavesShown = 12;
constexpr int kMaxTermsShown = 64;

class TermWriter {
public:
    TermWriter(const TermTable& terms, const Model& model, std::uint64_t begin, std::uint64_t end)
        : terms_(terms), model_(model), begin_(begin), end_(end) {}

    std::string operator()(Content content) {
        if (budget_ == 0) return "...";
        --budget_;
        const Term& term = terms_[content.term];
        switch (term.kind) {
            case Term::Kind::unwritten: return "unwritten";
            case Term::Kind::input: return input(content);
            case Term::Kind::unknown: return fmt::format("unknown({})", input(content));
            case Term::Kind::fill: return fmt::format("fill({})", scalar(term));
            case Term::Kind::combine: return combination(name(term.op), content);
            case Term::Kind::gathered: return combination("sum in any order", content);
            case Term::Kind::rounded: return (*this)(part(content, term.left, term.left_shift));
            case Term::Kind::mapped:
                return fmt::format("{} {} {}", (*this)(part(content, term.left, term.left_shift)),
                                   term.map == MapOp::mul_scalar ? '*' : '+', scalar(term));
            case Term::Kind::converted: return conversion(content);
            case Term::Kind::bytes: return listed(term);
            case Term::Kind::assembled:
                return fmt::format("bytes of ({})", listed(terms_[term.left]));
            case Term::Kind::computed:
                return fmt::format("{}({})", name(term.map), listed(terms_[term.left]));
        }
        return {};
    }

private:
    static Content part(Content whole, TermId term, std::int64_t shift) {
        return {term, whole.shift + shift};
    }
    static double scalar(const Term& term) { return std::bit_cast<double>(term.scalar); }

    // "input@1[0;3]", or without its rank "input[0;3]".
    std::string part_of(const Region& region, std::int64_t shift, std::string_view rank) const {
        const auto at = [&](std::uint64_t end) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(end) + shift);
        };
        return fmt::format("{}{}{}", region.name, rank, range_text(region, at(begin_), at(end_)));
    }

    std::string input(Content content) const {
        const Term& term = terms_[content.term];
        const Region& region = model_.regions[term.region];
        return part_of(region, content.shift, fmt::format("@{}", region.rank)) + of_call(term.call);
    }

    std::string of_call(std::uint32_t call) const {
        return model_.calls == 1 ? "" : fmt::format(" of call {}", call);
    }

    // The elements that are converted, at their own coordinates.
    std::string conversion(Content content) {
        const Term& term = terms_[content.term];
        const std::int64_t to = static_cast<std::int64_t>(bytes_of(term.element));
        const std::int64_t from = static_cast<std::int64_t>(bytes_of(term.from));
        const auto source = [&](std::uint64_t offset) {
            return (static_cast<std::int64_t>(offset) + content.shift) / to * from +
                   term.left_shift;
        };
        const std::int64_t first = source(begin_);
        const auto length = static_cast<std::uint64_t>(source(end_) - first);
        return fmt::format("{}({})", name(term.element), stretch({term.left, first}, length));
    }

    std::string listed(const Term& last) {
        std::string text;
        if (last.left != kUnwritten) text = listed(terms_[last.left]) + ", ";
        return text + stretch({last.right, last.right_shift}, last.scalar);
    }

    // So many bytes from coordinate content.shift on.
    std::string stretch(Content content, std::uint64_t length) {
        const std::uint64_t begin = std::exchange(begin_, 0);
        const std::uint64_t end = std::exchange(end_, length);
        std::string text = (*this)(content);
        begin_ = begin;
        end_ = end;
        return text;
    }

    // The parts of a left-nested chain, as a reduce with many sources has them.
    std::vector<Content> chain(Content content) const {
        const Term& top = terms_[content.term];
        std::vector<Content> parts;
        while (true) {
            const Term& term = terms_[content.term];
            const bool continues =
                term.kind == top.kind && term.op == top.op && term.element == top.element;
            if (!continues) break;
            parts.push_back(part(content, term.right, term.right_shift));
            content = part(content, term.left, term.left_shift);
        }
        const bool is_begin_of_sum = top.kind == Term::Kind::gathered && content.term == kUnwritten;
        if (!is_begin_of_sum) parts.push_back(content);
        std::reverse(parts.begin(), parts.end());
        if (top.kind == Term::Kind::gathered) sort_inputs(parts);
        return parts;
    }

    // Where the order means nothing, people expect that of calls and ranks.
    void sort_inputs(std::vector<Content>& parts) const {
        const auto key = [&](Content content) {
            const Term& term = terms_[content.term];
            return std::make_tuple(term.kind != Term::Kind::input, term.call, term.region,
                                   content.shift);
        };
        std::stable_sort(parts.begin(), parts.end(),
                         [&](Content a, Content b) { return key(a) < key(b); });
    }

    std::string combination(std::string_view how, Content content) {
        const std::vector<Content> parts = chain(content);
        if (const std::string run = rank_run(parts); !run.empty()) {
            return fmt::format("{}({})", how, run);
        }
        std::string list;
        for (std::size_t i = 0; i < parts.size() && i < kMaxLeavesShown; ++i) {
            list += (i == 0 ? "" : ", ") + (*this)(parts[i]);
        }
        if (parts.size() > kMaxLeavesShown) {
            list += fmt::format(", ... {} more", parts.size() - kMaxLeavesShown);
        }
        return fmt::format("{}({})", how, list);
    }

    // "input[0..64) of ranks 0..3" when the parts are one input on neighbouring ranks.
    std::string rank_run(const std::vector<Content>& parts) const {
        if (parts.size() < 3) return {};
        const Term& first = terms_[parts[0].term];
        if (first.kind != Term::Kind::input) return {};
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const Term& term = terms_[parts[i].term];
            if (term.kind != Term::Kind::input || term.call != first.call ||
                term.region != first.region + i || parts[i].shift != parts[0].shift ||
                model_.regions[term.region].name != model_.regions[first.region].name) {
                return {};
            }
        }
        const Region& region = model_.regions[first.region];
        return fmt::format("{}{} of ranks {}..{}", part_of(region, parts[0].shift, ""),
                           of_call(first.call), region.rank,
                           static_cast<std::size_t>(region.rank) + parts.size() - 1);
    }

    const TermTable& terms_;
    const Model& model_;
    std::uint64_t begin_, end_;
    int budget_ = kMaxTermsShown;
};

}  // namespace

std::string order_text(const TermTable& terms, const Model& model, Content content) {
    constexpr int kMostParts = 200;
    int parts = 0;
    const auto write = [&](TermId id, bool is_outer, auto&& self) -> std::string {
        const Term& term = terms[id];
        if (term.kind == Term::Kind::rounded) return self(term.left, is_outer, self);
        if (++parts > kMostParts) return "...";
        if (term.kind == Term::Kind::input) {
            return std::to_string(model.regions[term.region].rank);
        }
        if (term.kind != Term::Kind::combine) return "?";
        const std::string left = self(term.left, false, self);
        const std::string right = self(term.right, false, self);
        const std::string_view sign = term.op == ReduceOp::sum    ? "+"
                                      : term.op == ReduceOp::prod ? "*"
                                      : term.op == ReduceOp::max  ? " max "
                                                                  : " min ";
        const std::string both = fmt::format("{}{}{}", left, sign, right);
        return is_outer ? both : fmt::format("({})", both);
    };
    return write(content.term, true, write);
}

std::string text_of(const TermTable& terms, const Model& model, Content content,
                    std::uint64_t begin, std::uint64_t end) {
    return TermWriter(terms, model, begin, end)(content);
}

}  // namespace peal::checker
