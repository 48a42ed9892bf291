// SPDX-License-Identifier: Apache-2.0
#include "check/memory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "check/touch.hpp"

namespace peal::checker {

SymbolicMemory::SymbolicMemory(const Model& model, TermTable& terms)
    : model_(model), terms_(terms) {
    for (const Region& region : model.regions) {
        const bool has_contents = region.kind == RegionKind::data;
        regions_.emplace_back(has_contents ? region.bytes : 0, Content{});
    }
}

void SymbolicMemory::execute(Event event, Findings& findings) {
    event_ = event;
    findings_ = &findings;
    reported_ = false;
    const Op& op = model_.op(event);
    if (op.origin == Origin::stages) stage(op, model_.agents[event.agent].rank);
    if (op.origin != Origin::instruction) return;
    const Action& action = model_.instruction(event).action;
    if (const auto* what = std::get_if<Copy>(&action)) {
        copy(*what);
    } else if (const auto* what = std::get_if<Reduce>(&action)) {
        reduce(*what);
    } else if (const auto* what = std::get_if<Map>(&action)) {
        map(*what);
    }
}

// The caller writes fresh inputs; outputs and tiles hold nothing any more.
void SymbolicMemory::stage(const Op& op, std::int32_t rank) {
    const auto assign = [&](std::uint16_t buffer, std::uint64_t begin, std::uint64_t end,
                            bool is_input) {
        if (begin == end) return;
        const RegionId region = model_.region(op.call, buffer, rank);
        regions_[region].assign(begin, end, is_input ? terms_.input(region, op.call) : Content{});
    };
    const Plan& plan = model_.plan(op.call, rank);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::argument) continue;
        assign(static_cast<std::uint16_t>(b), 0, buffer.bytes, is_staged(buffer.direction));
    }
    for (const Staged* staged : model_.meaning(op.call, rank).staged) {
        assign(staged->buffer, staged->offset, staged->offset + staged->length, true);
    }
    assign(kTile, 0, model_.regions[model_.region(op.call, kTile, rank)].bytes, false);
}

RegionId SymbolicMemory::region_of(const Range& range) const {
    return model_.region(model_.op(event_).call, range.buffer, range.rank);
}

void SymbolicMemory::read(const Range& source, std::uint64_t destination,
                          std::vector<Piece>& pieces) {
    pieces.clear();
    const auto by = static_cast<std::int64_t>(source.offset - destination);
    regions_[region_of(source)].visit(
        source.offset, end_of(source),
        [&](std::uint64_t begin, std::uint64_t end, const Content& content) {
            if (content.term == kUnwritten) report_unwritten(source, begin, end);
            const std::uint64_t at = begin - source.offset + destination;
            const Content moved = terms_.moved(content, by);
            if (!pieces.empty() && pieces.back().content == moved) {
                pieces.back().end = at + (end - begin);
            } else {
                pieces.push_back({at, at + (end - begin), moved});
            }
        });
}

void SymbolicMemory::write(const Range& destination, const std::vector<Piece>& pieces) {
    RegionContents& region = regions_[region_of(destination)];
    for (const Piece& piece : pieces) region.assign(piece.begin, piece.end, piece.content);
}

void SymbolicMemory::report_unwritten(const Range& source, std::uint64_t begin, std::uint64_t end) {
    if (std::exchange(reported_, true)) return;
    if (!findings_->wants(ViolationKind::unwritten_read, {event_})) return;
    const std::string bytes = text_of(model_.regions[region_of(source)], begin, end);
    Finding finding;
    finding.kind = ViolationKind::unwritten_read;
    finding.events = {event_};
    finding.memory = bytes;
    finding.message =
        fmt::format("{} reads {}, which nobody wrote", text_of(model_, event_), bytes);
    findings_->add(std::move(finding));
}

void SymbolicMemory::copy(const Copy& copy) {
    if (copy.dst.length == 0) return;
    read(copy.src, copy.dst.offset, result_);
    write(copy.dst, result_);
}

void SymbolicMemory::reduce(const Reduce& reduce) {
    if (reduce.dst.length == 0) return;
    read(reduce.src[0], reduce.dst.offset, result_);
    for (std::size_t i = 1; i < reduce.src.size(); ++i) {
        read(reduce.src[i], reduce.dst.offset, operand_);
        fold_in(reduce, operand_);
    }
    const bool is_narrow = reduce.element == Element::f16 || reduce.element == Element::bf16;
    const bool loses_bits = reduce.op == ReduceOp::sum || reduce.op == ReduceOp::prod;
    if (is_narrow && loses_bits && reduce.src.size() > 1) {
        for (Piece& piece : result_) {
            piece.content = terms_.rounded(reduce.element, piece.content, reduce.dst.offset);
        }
    }
    write(reduce.dst, result_);
}

// result_ = result_ op operand, where both cover the destination.
void SymbolicMemory::fold_in(const Reduce& reduce, const std::vector<Piece>& operand) {
    merged_.clear();
    for (std::size_t i = 0, j = 0; i < result_.size();) {
        const std::uint64_t begin = std::max(result_[i].begin, operand[j].begin);
        const std::uint64_t end = std::min(result_[i].end, operand[j].end);
        merged_.push_back({begin, end,
                           terms_.combine(reduce.op, reduce.element, result_[i].content,
                                          operand[j].content, reduce.dst.offset)});
        if (result_[i].end == end) ++i;
        if (operand[j].end == end) ++j;
    }
    result_.swap(merged_);
}

void SymbolicMemory::map(const Map& map) {
    if (map.dst.length == 0) return;
    if (map.op == MapOp::fill) {
        result_ = {{map.dst.offset, end_of(map.dst),
                    terms_.fill(map.element, map.scalar, map.dst.offset)}};
    } else {
        read(map.src, map.dst.offset, result_);
        for (Piece& piece : result_) {
            piece.content =
                terms_.mapped(map.op, map.element, map.scalar, piece.content, map.dst.offset);
        }
    }
    write(map.dst, result_);
}

}  // namespace peal::checker
