// SPDX-License-Identifier: Apache-2.0
#include "check/term.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace peal::checker {
namespace {

std::int64_t modulo(std::int64_t value, std::int64_t by) {
    const std::int64_t rest = value % by;
    return rest < 0 ? rest + by : rest;
}

std::int64_t size_of(Element element) { return static_cast<std::int64_t>(bytes_of(element)); }

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
    mix(term.scalar ^ term.region);
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
    Term term;
    term.kind = Term::Kind::fill;
    term.element = element;
    term.period = static_cast<std::uint8_t>(bytes_of(element));
    term.scalar = std::bit_cast<std::uint64_t>(scalar);
    return {intern(term), modulo(-static_cast<std::int64_t>(at), size_of(element))};
}

// Gives the new term the coordinate of its first part that has one, so that the same combination
// at another place is the same term.
Content TermTable::anchored(Term term, Content left, Content right, std::uint64_t at) {
    const bool has_right = term.kind == Term::Kind::combine;
    const bool by_left = terms_[left.term].period == 0;
    const bool by_right = has_right && terms_[right.term].period == 0;
    std::int64_t anchor = by_right && !by_left ? right.shift : left.shift;
    if (!by_left && !by_right) {
        term.period = static_cast<std::uint8_t>(bytes_of(term.element));
        anchor = modulo(anchor, term.period);
    }
    term.phase = static_cast<std::uint8_t>(
        modulo(static_cast<std::int64_t>(at) + anchor, size_of(term.element)));
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

Content TermTable::moved(Content content, std::int64_t by) const {
    return {content.term, normal_shift(terms_[content.term], content.shift + by)};
}

std::vector<Leaf> TermTable::leaves(Content content, ReduceOp op, Element element, std::uint64_t at,
                                    std::size_t limit) const {
    std::vector<Leaf> result;
    std::vector<Content> open = {content};
    while (!open.empty() && result.size() < limit) {
        const Content next = open.back();
        open.pop_back();
        const Term& term = terms_[next.term];
        const bool in_phase =
            term.element == element &&
            modulo(static_cast<std::int64_t>(at) + next.shift, size_of(element)) == term.phase;
        if (term.kind == Term::Kind::combine && term.op == op && in_phase) {
            open.push_back({term.right, next.shift + term.right_shift});
            open.push_back({term.left, next.shift + term.left_shift});
        } else if (term.kind == Term::Kind::rounded && in_phase) {
            open.push_back({term.left, next.shift + term.left_shift});
        } else {
            result.push_back({next.term, next.shift});
        }
    }
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
            case Term::Kind::fill: return fmt::format("fill({})", scalar(term));
            case Term::Kind::combine: return combination(content);
            case Term::Kind::rounded: return (*this)(part(content, term.left, term.left_shift));
            case Term::Kind::mapped:
                return fmt::format("{} {} {}", (*this)(part(content, term.left, term.left_shift)),
                                   term.map == MapOp::mul_scalar ? '*' : '+', scalar(term));
        }
        return {};
    }

private:
    static Content part(Content whole, TermId term, std::int64_t shift) {
        return {term, whole.shift + shift};
    }
    static double scalar(const Term& term) { return std::bit_cast<double>(term.scalar); }

    std::string bytes(std::int64_t shift) const {
        return fmt::format("[{}..{})", static_cast<std::int64_t>(begin_) + shift,
                           static_cast<std::int64_t>(end_) + shift);
    }

    std::string input(Content content) const {
        const Term& term = terms_[content.term];
        const Region& region = model_.regions[term.region];
        return fmt::format("{}@{}{}{}", region.name, region.rank, bytes(content.shift),
                           of_call(term.call));
    }

    std::string of_call(std::uint32_t call) const {
        return model_.calls == 1 ? "" : fmt::format(" of call {}", call);
    }

    // The parts of a left-nested chain, as a reduce with many sources has them.
    std::vector<Content> chain(Content content) const {
        const Term& top = terms_[content.term];
        std::vector<Content> parts;
        while (true) {
            const Term& term = terms_[content.term];
            const bool continues = term.kind == Term::Kind::combine && term.op == top.op &&
                                   term.element == top.element;
            if (!continues) break;
            parts.push_back(part(content, term.right, term.right_shift));
            content = part(content, term.left, term.left_shift);
        }
        parts.push_back(content);
        std::reverse(parts.begin(), parts.end());
        return parts;
    }

    std::string combination(Content content) {
        const Term& top = terms_[content.term];
        const std::vector<Content> parts = chain(content);
        if (const std::string run = rank_run(parts); !run.empty()) {
            return fmt::format("{}({})", name(top.op), run);
        }
        std::string list;
        for (std::size_t i = 0; i < parts.size() && i < kMaxLeavesShown; ++i) {
            list += (i == 0 ? "" : ", ") + (*this)(parts[i]);
        }
        if (parts.size() > kMaxLeavesShown) {
            list += fmt::format(", ... {} more", parts.size() - kMaxLeavesShown);
        }
        return fmt::format("{}({})", name(top.op), list);
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
        return fmt::format("{}{}{} of ranks {}..{}", region.name, bytes(parts[0].shift),
                           of_call(first.call), region.rank,
                           static_cast<std::size_t>(region.rank) + parts.size() - 1);
    }

    const TermTable& terms_;
    const Model& model_;
    std::uint64_t begin_, end_;
    int budget_ = kMaxTermsShown;
};

}  // namespace

std::string text_of(const TermTable& terms, const Model& model, Content content,
                    std::uint64_t begin, std::uint64_t end) {
    return TermWriter(terms, model, begin, end)(content);
}

}  // namespace peal::checker
