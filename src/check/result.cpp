// SPDX-License-Identifier: Apache-2.0
#include "check/result.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peal::checker {
namespace {

// Contributions beyond the expected ones that are looked at to describe a difference.
constexpr std::size_t kExtraLeaves = 64;
constexpr std::size_t kListed = 4;

bool is_copy(const Expected& output) { return output.of->size() == 1 && !output.reduces; }

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
        const RegionId region = model_.region(call, output->buffer, rank);
        check_output(event, *output, memory.region(region), findings);
    }
}

// Of a number that depends on an order, bytes that are right do not make the whole right: they may
// be bytes of different orders. Copies, and sums of integers, are right when their bytes are.
void ResultCheck::check_output(Event event, const Expected& output, const RegionContents& contents,
                               Findings& findings) {
    pieces_.clear();
    const auto shift = static_cast<std::int64_t>(output.offset);
    contents.visit(output.offset, output.offset + output.length,
                   [&](std::uint64_t begin, std::uint64_t end, const Content& content) {
                       append(pieces_, {begin - output.offset, end - output.offset,
                                        terms_.moved(content, shift)});
                   });
    const auto check = [&](std::uint64_t begin, std::uint64_t end, Content content,
                           bool is_written) {
        check_part({event, &output, begin, end, content, is_written}, findings);
    };
    if (is_copy(output) || !is_float(output.element)) {
        for (const Piece& piece : pieces_) {
            check(piece.begin, piece.end, piece.content, piece.content.term != kUnwritten);
        }
        return;
    }
    const std::uint64_t size = bytes_of(output.element);
    for_each_element(
        terms_, pieces_, size,
        [&](std::uint64_t first, std::uint64_t last, const Content& content) {
            check(first * size, last * size, content, content.term != kUnwritten);
        },
        [&](std::uint64_t k, const std::vector<Stretch>& bytes) {
            const bool is_written = std::none_of(
                bytes.begin(), bytes.end(),
                [](const Stretch& stretch) { return stretch.content.term == kUnwritten; });
            check(k * size, (k + 1) * size, terms_.assembled(output.element, bytes, k * size),
                  is_written);
        });
}

const Meaning& ResultCheck::meaning(const Part& part) const {
    return *model_.stage(model_.op(part.event).call).meaning;
}

void ResultCheck::check_part(const Part& part, Findings& findings) {
    const std::uint32_t call = model_.op(part.event).call;
    const Expected& output = *part.output;
    if (!is_right(part)) {
        const ViolationKind kind =
            part.is_written ? ViolationKind::wrong_result : ViolationKind::unwritten_read;
        if (!findings.wants(kind, {part.event})) return;
        Finding finding = finding_at(part, kind, {part.event});
        finding.found = text_of(terms_, model_, part.content, part.begin, part.end);
        finding.expected = text_of(terms_, model_, expected_term(part), part.begin, part.end);
        finding.message = fmt::format("after call {}, {} {}", call, finding.memory,
                                      part.is_written ? "is wrong: " + difference(part)
                                                      : std::string("was written by nobody"));
        findings.add(std::move(finding));
        return;
    }
    // What was gathered has no order that could be the same, and to integers it does not matter.
    const bool has_order = !terms_[part.content.term].is_open && is_float(output.element);
    if (meaning(part).same_bits && has_order) check_same_bits(part, findings);
}

std::vector<Leaf> ResultCheck::expected_leaves(const Part& part) {
    const std::uint32_t call = model_.op(part.event).call;
    std::vector<Leaf> leaves;
    for (const Contribution& from : *part.output->of) {
        const RegionId region = model_.region(call, from.buffer, from.rank);
        leaves.push_back({terms_.input(region, call).term, static_cast<std::int64_t>(from.offset)});
    }
    return leaves;
}

Content ResultCheck::expected_term(const Part& part) {
    const std::vector<Leaf> leaves = expected_leaves(part);
    Content chain{leaves[0].term, leaves[0].shift};
    for (std::size_t i = 1; i < leaves.size(); ++i) {
        chain = terms_.combine(part.output->op, part.output->element, chain,
                               {leaves[i].term, leaves[i].shift}, 0);
    }
    return chain;
}

bool ResultCheck::is_right(const Part& part) {
    const Expected& output = *part.output;
    const std::uint32_t call = model_.op(part.event).call;
    if (is_copy(output)) {
        const Contribution& from = output.of->front();
        const RegionId region = model_.region(call, from.buffer, from.rank);
        const auto shift = static_cast<std::int64_t>(from.offset);
        return part.content == Content{terms_.input(region, call).term, shift};
    }
    // Ranks often hold the same.
    const Known known{part.content.term,
                      part.content.shift,
                      static_cast<const void*>(output.of.get()),
                      output.op,
                      output.element,
                      output.reduces,
                      call};
    if (right_.contains(known)) return true;
    const bool is_right = is_combination(part);
    if (is_right) right_.insert(known);
    return is_right;
}

bool ResultCheck::is_combination(const Part& part) {
    const Expected& output = *part.output;
    const std::vector<Leaf> wanted = expected_leaves(part);
    const Content content = part.content;
    if (meaning(part).in_order && is_float(output.element)) {
        return terms_.chain(content, output.op, output.element, 0) == wanted;
    }
    return sorted(terms_.leaves(content, output.op, output.element, 0, wanted.size() + 1)) ==
           sorted(wanted);
}

// Ranks that get the same combination get it combined in the same order.
void ResultCheck::check_same_bits(const Part& part, Findings& findings) {
    const std::uint32_t call = model_.op(part.event).call;
    plan::IntervalMap<Seen>& seen =
        seen_
            .try_emplace({call, static_cast<const void*>(part.output->of.get())},
                         part.output->length, Seen{})
            .first->second;
    const Content order = meaning(part).commutes ? terms_.commuted(part.content, 0) : part.content;
    bool is_first = false;
    seen.visit(part.begin, part.end, [&](std::uint64_t from, std::uint64_t to, const Seen& other) {
        if (other.content.term == kUnwritten) {
            is_first = true;
        } else if (other.order != order &&
                   findings.wants(ViolationKind::wrong_result, {other.event, part.event})) {
            Finding finding =
                finding_at(part, ViolationKind::wrong_result, {other.event, part.event});
            finding.found = text_of(terms_, model_, part.content, from, to);
            finding.expected = text_of(terms_, model_, other.content, from, to);
            finding.orders = {order_text(terms_, model_, other.content),
                              order_text(terms_, model_, part.content)};
            finding.message = fmt::format(
                "after call {}, {} is combined in another order than on rank {}: the bits may "
                "differ",
                call, finding.memory, model_.agents[other.event.agent].rank);
            findings.add(std::move(finding));
        }
    });
    if (is_first) seen.assign(part.begin, part.end, {part.content, order, part.event});
}

// ---------------------------------------------------------------------------- text

Finding ResultCheck::finding_at(const Part& part, ViolationKind kind,
                                std::vector<Event> events) const {
    const std::uint32_t call = model_.op(part.event).call;
    const std::int32_t rank = model_.agents[part.event.agent].rank;
    Finding finding;
    finding.kind = kind;
    finding.events = std::move(events);
    finding.region = model_.region(call, part.output->buffer, rank);
    finding.begin = part.output->offset + part.begin;
    finding.end = part.output->offset + part.end;
    finding.memory = text_of(model_.regions[finding.region], finding.begin, finding.end);
    return finding;
}

std::string ResultCheck::difference(const Part& part) {
    std::map<Leaf, int> balance;
    const std::vector<Leaf> wanted = expected_leaves(part);
    for (const Leaf& leaf : wanted) --balance[leaf];
    for (const Leaf& leaf : terms_.leaves(part.content, part.output->op, part.output->element, 0,
                                          wanted.size() + kExtraLeaves)) {
        ++balance[leaf];
    }
    std::vector<std::string> missing, doubled, foreign;
    for (const auto& [leaf, count] : balance) {
        if (count == 0) continue;
        const std::string text =
            text_of(terms_, model_, {leaf.term, leaf.shift}, part.begin, part.end);
        const bool is_wanted = std::find(wanted.begin(), wanted.end(), leaf) != wanted.end();
        (count < 0 ? missing : is_wanted ? doubled : foreign).push_back(text);
    }
    const auto list_of = [](std::string_view what, const std::vector<std::string>& texts) {
        if (texts.empty()) return std::string();
        std::string list;
        for (std::size_t i = 0; i < texts.size() && i < kListed; ++i) {
            list += (i == 0 ? "" : ", ") + texts[i];
        }
        if (texts.size() > kListed) list += fmt::format(" and {} more", texts.size() - kListed);
        return fmt::format("; {}: {}", what, list);
    };
    const std::string text = list_of("missing", missing) + list_of("counted twice", doubled) +
                             list_of("not asked for", foreign);
    if (!text.empty()) return text.substr(2);
    return terms_[part.content.term].is_open ? "the order is open" : "the order is another one";
}

}  // namespace peal::checker
