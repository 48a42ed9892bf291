// SPDX-License-Identifier: Apache-2.0
#include "check/result.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peal::checker {
namespace {

// Contributions beyond the expected ones that are looked at to describe a difference.
constexpr std::size_t kExtraLeaves = 64;
constexpr std::size_t kListed = 4;

std::vector<Leaf> sorted(std::vector<Leaf> leaves) {
    std::sort(leaves.begin(), leaves.end());
    return leaves;
}

}  // namespace

void ResultCheck::check(Event event, const SymbolicMemory& memory, Findings& findings) {
    const std::uint32_t call = model_.op(event).call;
    const std::int32_t rank = model_.agents[event.agent].rank;
    for (const Expected* output : model_.meaning(call, rank).outputs) {
        if (output->length == 0) continue;
        memory.region(model_.region(call, output->buffer, rank))
            .visit(output->offset, output->offset + output->length,
                   [&](std::uint64_t begin, std::uint64_t end, const Content& content) {
                       const Content seen =
                           terms_.moved(content, static_cast<std::int64_t>(output->offset));
                       check_piece({event, output, begin, end, seen}, findings);
                   });
    }
}

const Meaning& ResultCheck::meaning(const Piece& piece) const {
    return *model_.stage(model_.op(piece.event).call).meaning;
}

void ResultCheck::check_piece(const Piece& piece, Findings& findings) {
    const std::uint32_t call = model_.op(piece.event).call;
    const auto key = std::make_tuple(piece.content.term, piece.content.shift,
                                     static_cast<const void*>(piece.output->of.get()), call);
    if (!right_.contains(key)) {
        if (!is_right(piece)) {
            const ViolationKind kind = piece.content.term == kUnwritten
                                           ? ViolationKind::unwritten_read
                                           : ViolationKind::wrong_result;
            if (!findings.wants(kind, {piece.event})) return;
            Finding finding = finding_at(piece, kind, {piece.event});
            finding.found =
                text_of(terms_, model_, piece.content, piece.begin - piece.output->offset,
                        piece.end - piece.output->offset);
            finding.expected = text_of_expected(piece);
            finding.message = fmt::format("after call {}, {} {}", call, finding.memory,
                                          kind == ViolationKind::unwritten_read
                                              ? std::string("was written by nobody")
                                              : "is wrong: " + difference(piece));
            findings.add(std::move(finding));
            return;
        }
        right_.insert(key);
    }
    // What was gathered has no order that could be the same.
    const bool has_order = !terms_[piece.content.term].is_open;
    if (meaning(piece).same_bits && has_order) check_same_bits(piece, findings);
}

std::vector<Leaf> ResultCheck::expected_leaves(const Piece& piece) {
    const std::uint32_t call = model_.op(piece.event).call;
    std::vector<Leaf> leaves;
    for (const Contribution& part : *piece.output->of) {
        const RegionId region = model_.region(call, part.buffer, part.rank);
        leaves.push_back({terms_.input(region, call).term, static_cast<std::int64_t>(part.offset)});
    }
    return leaves;
}

Content ResultCheck::expected_chain(const Piece& piece) {
    const std::vector<Leaf> leaves = expected_leaves(piece);
    Content chain{leaves[0].term, leaves[0].shift};
    for (std::size_t i = 1; i < leaves.size(); ++i) {
        chain = terms_.combine(piece.output->op, piece.output->element, chain,
                               {leaves[i].term, leaves[i].shift}, 0);
    }
    return chain;
}

bool ResultCheck::is_right(const Piece& piece) {
    if (piece.output->of->size() == 1 || meaning(piece).in_order) {
        const Term& term = terms_[piece.content.term];
        const Content content = term.kind == Term::Kind::rounded
                                    ? Content{term.left, piece.content.shift + term.left_shift}
                                    : piece.content;
        return content == expected_chain(piece);
    }
    const std::vector<Leaf> wanted = expected_leaves(piece);
    return sorted(terms_.leaves(piece.content, piece.output->op, piece.output->element, 0,
                                wanted.size() + 1)) == sorted(wanted);
}

// Ranks that get the same combination get it combined in the same order.
void ResultCheck::check_same_bits(const Piece& piece, Findings& findings) {
    const std::uint32_t call = model_.op(piece.event).call;
    IntervalMap<Seen>& seen =
        seen_
            .try_emplace({call, static_cast<const void*>(piece.output->of.get())},
                         piece.output->length, Seen{})
            .first->second;
    const std::uint64_t begin = piece.begin - piece.output->offset;
    const std::uint64_t end = piece.end - piece.output->offset;
    bool is_first = false;
    seen.visit(begin, end, [&](std::uint64_t from, std::uint64_t to, const Seen& other) {
        if (other.content.term == kUnwritten) {
            is_first = true;
        } else if (other.content != piece.content &&
                   findings.wants(ViolationKind::wrong_result, {other.event, piece.event})) {
            Finding finding =
                finding_at(piece, ViolationKind::wrong_result, {other.event, piece.event});
            finding.found = text_of(terms_, model_, piece.content, from, to);
            finding.expected = text_of(terms_, model_, other.content, from, to);
            finding.message = fmt::format(
                "after call {}, {} is combined in another order than on rank {}: the bits may "
                "differ",
                call, finding.memory, model_.agents[other.event.agent].rank);
            findings.add(std::move(finding));
        }
    });
    if (is_first) seen.assign(begin, end, {piece.content, piece.event});
}

// ---------------------------------------------------------------------------- text

Finding ResultCheck::finding_at(const Piece& piece, ViolationKind kind,
                                std::vector<Event> events) const {
    const std::uint32_t call = model_.op(piece.event).call;
    const std::int32_t rank = model_.agents[piece.event.agent].rank;
    Finding finding;
    finding.kind = kind;
    finding.events = std::move(events);
    finding.region = model_.region(call, piece.output->buffer, rank);
    finding.begin = piece.begin;
    finding.end = piece.end;
    finding.memory = text_of(model_.regions[finding.region], piece.begin, piece.end);
    return finding;
}

std::string ResultCheck::text_of_expected(const Piece& piece) {
    return text_of(terms_, model_, expected_chain(piece), piece.begin - piece.output->offset,
                   piece.end - piece.output->offset);
}

std::string ResultCheck::difference(const Piece& piece) {
    const std::uint64_t begin = piece.begin - piece.output->offset;
    const std::uint64_t end = piece.end - piece.output->offset;
    std::map<Leaf, int> balance;
    const std::vector<Leaf> wanted = expected_leaves(piece);
    for (const Leaf& leaf : wanted) --balance[leaf];
    for (const Leaf& leaf : terms_.leaves(piece.content, piece.output->op, piece.output->element, 0,
                                          wanted.size() + kExtraLeaves)) {
        ++balance[leaf];
    }
    std::vector<std::string> missing, doubled, foreign;
    for (const auto& [leaf, count] : balance) {
        if (count == 0) continue;
        const std::string text = text_of(terms_, model_, {leaf.term, leaf.shift}, begin, end);
        const bool is_wanted = std::find(wanted.begin(), wanted.end(), leaf) != wanted.end();
        (count < 0 ? missing : is_wanted ? doubled : foreign).push_back(text);
    }
    const auto part = [](std::string_view what, const std::vector<std::string>& texts) {
        if (texts.empty()) return std::string();
        std::string list;
        for (std::size_t i = 0; i < texts.size() && i < kListed; ++i) {
            list += (i == 0 ? "" : ", ") + texts[i];
        }
        if (texts.size() > kListed) list += fmt::format(" and {} more", texts.size() - kListed);
        return fmt::format("; {}: {}", what, list);
    };
    const std::string text =
        part("missing", missing) + part("counted twice", doubled) + part("not asked for", foreign);
    if (!text.empty()) return text.substr(2);
    return terms_[piece.content.term].is_open ? "the order is open" : "the order is another one";
}

}  // namespace peal::checker
