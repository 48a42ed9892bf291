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
    for (std::uint32_t stage = 0; stage < model.stages->size(); ++stage) {
        for (const Held& held : model.stage(stage).holds) {
            if (held.what == Held::What::fresh) clear(stage, held.window);
        }
    }
}

// Before the first call.
void SymbolicMemory::clear(std::uint32_t stage, std::string_view window) {
    for (std::int32_t rank = 0; rank < model_.nranks; ++rank) {
        const std::uint16_t buffer = window_named(model_.plan(stage, rank), window);
        RegionContents& region = regions_[model_.region(stage, buffer, rank)];
        if (region.bytes() > 0) region.assign(0, region.bytes(), zeros());
    }
}

Content SymbolicMemory::zeros() { return terms_.fill(Element::u8, 0, 0); }

std::uint64_t SymbolicMemory::memory_bytes() const {
    std::uint64_t bytes = 0;
    for (const RegionContents& region : regions_) bytes += region.memory_bytes();
    return bytes;
}

std::vector<std::pair<RegionId, std::vector<Piece>>> SymbolicMemory::windows() const {
    std::vector<std::pair<RegionId, std::vector<Piece>>> list;
    for (const Storage& storage : model_.storages) {
        if (storage.kind != BufferKind::window) continue;
        for (int rank = 0; rank < model_.nranks; ++rank) {
            const RegionId id = storage.first_region + static_cast<RegionId>(rank);
            std::vector<Piece>& pieces = list.emplace_back(id, std::vector<Piece>{}).second;
            if (regions_[id].bytes() == 0) continue;
            regions_[id].visit(0, regions_[id].bytes(),
                               [&](std::uint64_t begin, std::uint64_t end, const Content& content) {
                                   append(pieces, {begin, end, content});
                               });
        }
    }
    return list;
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
    } else if (const auto* what = std::get_if<Accumulate>(&action)) {
        accumulate(*what);
    } else if (const auto* what = std::get_if<Map>(&action)) {
        map(*what);
    }
}

// The caller writes fresh inputs; outputs and tiles hold nothing any more.
void SymbolicMemory::stage(const Op& op, std::int32_t rank) {
    const auto assign = [&](const Put& put, Content otherwise) {
        if (put.begin == put.end) return;
        const RegionId region = model_.region(op.call, put.buffer, rank);
        regions_[region].assign(put.begin, put.end,
                                put.is_input ? terms_.input(region, op.call) : otherwise);
    };
    const Plan& plan = model_.plan(op.call, rank);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::argument) continue;
        assign({static_cast<std::uint16_t>(b), 0, buffer.bytes, is_staged(buffer.direction)}, {});
    }
    for (const Put& put : model_.meaning(op.call, rank).puts) assign(put, zeros());
    for (const RegionId tile : model_.tiles[static_cast<std::size_t>(rank)]) {
        if (model_.regions[tile].bytes > 0) {
            regions_[tile].assign(0, model_.regions[tile].bytes, Content{});
        }
    }
}

RegionId SymbolicMemory::region_of(const Range& range) const {
    return model_.region(event_, range);
}

void SymbolicMemory::read(const Range& source, std::uint64_t destination,
                          std::vector<Piece>& pieces, bool must_be_written) {
    pieces.clear();
    const auto by = static_cast<std::int64_t>(source.offset - destination);
    regions_[region_of(source)].visit(
        source.offset, plan::end_of(source),
        [&](std::uint64_t begin, std::uint64_t end, const Content& content) {
            if (content.term == kUnwritten && must_be_written) report_unwritten(source, begin, end);
            const std::uint64_t at = begin - source.offset + destination;
            append(pieces, {at, at + (end - begin), terms_.moved(content, by)});
        });
}

void SymbolicMemory::read_elements(const Range& source, Element element, std::uint64_t destination,
                                   std::vector<Piece>& pieces, bool must_be_written) {
    read(source, destination, merged_, must_be_written);
    split_elements(element, destination, pieces);
}

void SymbolicMemory::split_elements(Element element, std::uint64_t destination,
                                    std::vector<Piece>& pieces) {
    pieces.clear();
    const std::uint64_t size = bytes_of(element);
    const auto at = [&](std::uint64_t k) { return destination + k * size; };
    for_each_element(
        terms_, merged_, size,
        [&](std::uint64_t first, std::uint64_t last, const Content& content) {
            pieces.push_back({at(first), at(last), content});
        },
        [&](std::uint64_t k, const std::vector<Stretch>& bytes) {
            pieces.push_back({at(k), at(k + 1), terms_.assembled(element, bytes, at(k))});
        });
}

void SymbolicMemory::write(const Range& destination, const std::vector<Piece>& pieces) {
    RegionContents& region = regions_[region_of(destination)];
    for (const Piece& piece : pieces) region.assign(piece.begin, piece.end, piece.content);
}

// Which of the ranges of the instruction at hand it is.
std::int32_t SymbolicMemory::source_at(const Range& source) const {
    std::int32_t number = 0, found = -1;
    plan::for_each_range(model_.instruction(event_).action, [&](const Range& range) {
        if (found < 0 && range == source) found = number;
        ++number;
    });
    return found;
}

void SymbolicMemory::report_unwritten(const Range& source, std::uint64_t begin, std::uint64_t end) {
    if (std::exchange(reported_, true)) return;
    if (!findings_->wants(ViolationKind::unwritten_read, {event_})) return;
    const std::string bytes = text_of(model_.regions[region_of(source)], begin, end);
    Finding finding;
    finding.kind = ViolationKind::unwritten_read;
    finding.events = {event_};
    finding.memory = bytes;
    finding.ranges = {source_at(source)};
    finding.message = fmt::format("{} reads {}, which nobody wrote",
                                  text_of(model_, event_, finding.ranges.front()), bytes);
    findings_->add(std::move(finding));
}

void SymbolicMemory::copy(const Copy& copy) {
    if (copy.dst.length == 0) return;
    read(copy.src, copy.dst.offset, result_);
    write(copy.dst, result_);
}

void SymbolicMemory::reduce(const Reduce& reduce) {
    if (reduce.dst.length == 0) return;
    if (reduce.src.size() == 1) return copy({reduce.dst, reduce.src[0]});
    read_elements(reduce.src[0], reduce.element, reduce.dst.offset, result_);
    for (std::size_t i = 1; i < reduce.src.size(); ++i) {
        read_elements(reduce.src[i], reduce.element, reduce.dst.offset, operand_);
        merge([&](Content left, Content right) {
            return terms_.combine(reduce.op, reduce.element, left, right, reduce.dst.offset);
        });
    }
    const bool is_narrow = reduce.element == Element::f16 || reduce.element == Element::bf16;
    const bool loses_bits = reduce.op == ReduceOp::sum || reduce.op == ReduceOp::prod;
    if (is_narrow && loses_bits) {
        for (Piece& piece : result_) {
            piece.content = terms_.rounded(reduce.element, piece.content, reduce.dst.offset);
        }
    }
    write(reduce.dst, result_);
}

template <class Merge>
void SymbolicMemory::merge(Merge&& merge) {
    merged_.clear();
    for (std::size_t i = 0, j = 0; i < result_.size();) {
        const std::uint64_t begin = std::max(result_[i].begin, operand_[j].begin);
        const std::uint64_t end = std::min(result_[i].end, operand_[j].end);
        merged_.push_back({begin, end, merge(result_[i].content, operand_[j].content)});
        if (result_[i].end == end) ++i;
        if (operand_[j].end == end) ++j;
    }
    result_.swap(merged_);
}

// Windows begin zeroed; other memory that nobody wrote has no value to add to.
void SymbolicMemory::accumulate(const Accumulate& accumulate) {
    const Element element = accumulate.element;
    const Range& dst = accumulate.dst;
    if (dst.length == 0) return;
    const std::uint64_t at = dst.offset;
    const Plan& plan = model_.plan(model_.op(event_).call, model_.agents[event_.agent].rank);
    const bool is_window =
        !plan::is_tile(dst) && plan.buffers[dst.buffer].kind == BufferKind::window;
    read_elements(accumulate.src, element, at, operand_);
    read(dst, at, result_, !is_window);
    merged_.clear();
    for (Piece piece : result_) {
        if (piece.content.term == kUnwritten) piece.content = terms_.fill(element, 0, at);
        append(merged_, piece);
    }
    split_elements(element, at, result_);
    merge([&](Content sum, Content added) { return terms_.gathered(element, sum, added, at); });
    write(dst, result_);
}

void SymbolicMemory::map(const Map& map) {
    if (map.dst.length == 0) return;
    if (map.op == MapOp::convert) return convert(map);
    if (map.op == MapOp::row_sum) return sum_row(map);
    if (map.op == MapOp::clobber) {
        const Op& op = model_.op(event_);
        const Content anything =
            terms_.unknown(region_of(map.dst), model_.agents[event_.agent].rank, op.call, op.index);
        result_ = {{map.dst.offset, plan::end_of(map.dst), anything}};
    } else if (map.op == MapOp::fill) {
        result_ = {{map.dst.offset, plan::end_of(map.dst),
                    terms_.fill(map.element, map.scalar, map.dst.offset)}};
    } else {
        read_elements(map.src, map.element, map.dst.offset, result_);
        for (Piece& piece : result_) {
            piece.content =
                terms_.mapped(map.op, map.element, map.scalar, piece.content, map.dst.offset);
        }
    }
    write(map.dst, result_);
}

// Where whole elements of one content are converted, the result has one content too.
void SymbolicMemory::convert(const Map& map) {
    const std::uint64_t from = bytes_of(map.from), to = bytes_of(map.element);
    read(map.src, 0, operand_);
    result_.clear();
    const auto at = [&](std::uint64_t k) { return map.dst.offset + k * to; };
    for_each_element(
        terms_, operand_, from,
        [&](std::uint64_t first, std::uint64_t last, const Content& content) {
            const Content begin = terms_.moved(content, static_cast<std::int64_t>(first * from));
            result_.push_back(
                {at(first), at(last), terms_.converted(map.element, map.from, begin, at(first))});
        },
        [&](std::uint64_t k, const std::vector<Stretch>& bytes) {
            result_.push_back(
                {at(k), at(k + 1),
                 terms_.computed(MapOp::convert, map.element, map.from, bytes, at(k))});
        });
    write(map.dst, result_);
}

void SymbolicMemory::sum_row(const Map& map) {
    read(map.src, 0, operand_);
    std::vector<Stretch> row;
    for (const Piece& piece : operand_) {
        const Content first = terms_.moved(piece.content, static_cast<std::int64_t>(piece.begin));
        row.push_back({first, piece.end - piece.begin});
    }
    const Content sum =
        terms_.computed(MapOp::row_sum, map.element, map.element, row, map.dst.offset);
    result_ = {{map.dst.offset, plan::end_of(map.dst), sum}};
    write(map.dst, result_);
}

}  // namespace peal::checker
