// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/naive_memory.hpp"

#include <algorithm>

namespace peal::test {
namespace {

constexpr std::uint64_t kGarbage = 0x6761726261676521;

bool is_copy(const Expected& output) { return output.of->size() == 1 && !output.reduces; }

ByteList element_of(const std::vector<ByteTerm>& bytes, std::size_t begin, std::size_t size) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    return ByteList(first, first + static_cast<std::ptrdiff_t>(size));
}

void put(const ByteList& element, std::vector<ByteTerm>& bytes, std::size_t begin) {
    std::copy(element.begin(), element.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

Lanes NaiveMemory::input_lanes(std::uint32_t call, std::uint32_t byte) const {
    if (!program_.is_computable) return 0;
    if (!program_.has_floats) return random_lanes(call, byte, 1);
    const std::uint32_t offset = program_.offset_of(byte);
    return random_float_lanes(call, byte - offset, offset);
}

void NaiveMemory::begin(ByteTerm* terms, Lanes* lanes) {
    for (std::uint32_t stage = 0; stage < program_.stage_count(); ++stage) {
        for (const Held& held : program_.stage(stage).holds) {
            if (held.what != Held::What::fresh) continue;
            for (const Plan& plan : *program_.stage(stage).plans) {
                clear(program_.window(stage, held.window, plan.rank), terms, lanes);
            }
        }
    }
}

void NaiveMemory::clear(ByteRange place, ByteTerm* terms, Lanes* lanes) {
    std::fill_n(terms + place.begin, place.length, terms_.constant(0));
    std::fill_n(lanes + place.begin, place.length, 0);
}

// The caller writes fresh inputs; outputs and tiles hold nothing any more.
void NaiveMemory::stage(const NaiveStep& step, ByteTerm* terms, Lanes* lanes) {
    for (const NaiveAccess& access : step.accesses) {
        terms[access.at] = kNothing;
        lanes[access.at] =
            program_.is_computable ? random_lanes(step.call, access.at, kGarbage) : 0;
    }
    const auto write = [&](ByteRange place) {
        for (std::uint32_t i = place.begin; i < place.begin + place.length; ++i) {
            terms[i] = terms_.input(step.call, i);
            lanes[i] = input_lanes(step.call, i);
        }
    };
    const CheckStage& stage = program_.stage(step.call);
    const Plan& plan = (*stage.plans)[static_cast<std::size_t>(step.rank)];
    for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::argument || buffer.direction == Direction::out) continue;
        write(program_.place(step.call, b, step.rank, 0, buffer.bytes));
    }
    for (const Held& held : stage.holds) {
        if (held.what == Held::What::fresh) continue;
        const ByteRange place = program_.window(step.call, held.window, step.rank);
        held.what == Held::What::input ? write(place) : clear(place, terms, lanes);
    }
    if (!stage.meaning) return;
    for (const Staged& staged : stage.meaning->staged) {
        if (staged.rank != step.rank) continue;
        write(program_.place(step.call, staged.buffer, step.rank, staged.offset, staged.length));
    }
}

NaiveMemory::Bytes NaiveMemory::read(ByteRange place, const ByteTerm* terms, const Lanes* lanes,
                                     bool may_be_unwritten) {
    Bytes bytes;
    bytes.terms.assign(terms + place.begin, terms + place.begin + place.length);
    bytes.lanes.assign(lanes + place.begin, lanes + place.begin + place.length);
    const bool is_unwritten =
        std::find(bytes.terms.begin(), bytes.terms.end(), kNothing) != bytes.terms.end();
    if (is_unwritten && !may_be_unwritten) truth_.kinds.insert(ViolationKind::unwritten_read);
    return bytes;
}

void NaiveMemory::carry_out(const NaiveStep& step, ByteTerm* terms, Lanes* lanes) {
    std::vector<Bytes> src;
    for (const ByteRange& place : step.src) src.push_back(read(place, terms, lanes));
    Bytes out;
    out.terms.assign(step.dst.length, kNothing);
    out.lanes.assign(step.dst.length, 0);
    if (std::holds_alternative<Copy>(*step.action)) {
        out = src[0];
    } else if (const auto* what = std::get_if<Reduce>(step.action)) {
        reduce(*what, src, out);
    } else if (const auto* what = std::get_if<Accumulate>(step.action)) {
        accumulate(*what, src[0], read(step.dst, terms, lanes, step.adds_to_window), out);
    } else {
        map(std::get<Map>(*step.action), step, src.empty() ? Bytes{} : src[0], out);
    }
    std::copy(out.terms.begin(), out.terms.end(), terms + step.dst.begin);
    std::copy(out.lanes.begin(), out.lanes.end(), lanes + step.dst.begin);
}

void NaiveMemory::reduce(const Reduce& reduce, const std::vector<Bytes>& src, Bytes& out) {
    const std::size_t size = bytes_of(reduce.element);
    const bool is_narrow = reduce.element == Element::f16 || reduce.element == Element::bf16;
    const bool loses_bits = reduce.op == ReduceOp::sum || reduce.op == ReduceOp::prod;
    for (std::size_t i = 0; i < out.terms.size(); i += size) {
        ByteList sum = element_of(src[0].terms, i, size);
        for (std::size_t s = 1; s < src.size(); ++s) {
            sum = terms_.combine(reduce.op, reduce.element, sum, element_of(src[s].terms, i, size));
        }
        if (is_narrow && loses_bits && src.size() > 1) sum = terms_.round(reduce.element, sum);
        put(sum, out.terms, i);
    }
    out.lanes = src[0].lanes;
    if (!program_.is_computable) return;
    for (std::size_t s = 1; s < src.size(); ++s) {
        for (std::size_t i = 0; i < out.lanes.size(); i += size) {
            const std::span<Lanes> to(&out.lanes[i], size);
            combine_lanes(reduce.op, reduce.element, to, to, {&src[s].lanes[i], size});
        }
    }
}

// Bytes of a window that nobody wrote are zero.
void NaiveMemory::accumulate(const Accumulate& sum, const Bytes& src, const Bytes& dst,
                             Bytes& out) {
    const std::size_t size = bytes_of(sum.element);
    for (std::size_t i = 0; i < out.terms.size(); i += size) {
        put(terms_.gather(sum.element, element_of(dst.terms, i, size),
                          element_of(src.terms, i, size)),
            out.terms, i);
        if (!program_.is_computable) continue;
        combine_lanes(ReduceOp::sum, sum.element, {&out.lanes[i], size}, {&dst.lanes[i], size},
                      {&src.lanes[i], size});
    }
}

void NaiveMemory::map(const Map& map, const NaiveStep& step, const Bytes& src, Bytes& out) {
    if (map.op == MapOp::fill) return fill(map, out);
    if (map.op == MapOp::row_sum) return sum_row(map, src, out);
    if (map.op == MapOp::clobber) {
        for (std::uint32_t i = 0; i < step.dst.length; ++i) {
            out.terms[i] = terms_.unknown(step.number, step.dst.begin + i);
            out.lanes[i] = random_lanes(step.number, step.dst.begin + i, kGarbage);
            if (!program_.is_computable) out.lanes[i] = 0;
        }
        return;
    }
    const std::size_t to = bytes_of(map.element);
    const std::size_t from = map.op == MapOp::convert ? bytes_of(map.from) : to;
    const Element source = map.op == MapOp::convert ? map.from : map.element;
    std::vector<Lanes> scalar(to);
    for (std::size_t k = 0; k * to < out.terms.size(); ++k) {
        put(terms_.compute(map.op, map.element, source, map.scalar,
                           element_of(src.terms, k * from, from)),
            out.terms, k * to);
        if (!program_.is_computable) continue;
        const std::span<Lanes> result(&out.lanes[k * to], to);
        const std::span<const Lanes> operand(&src.lanes[k * from], from);
        if (map.op == MapOp::convert) {
            convert_lanes(map.element, map.from, result, operand);
        } else {
            fill_lanes(map.element, map.scalar, scalar);
            const bool adds = map.op == MapOp::add_scalar;
            combine_lanes(adds ? ReduceOp::sum : ReduceOp::prod, map.element, result, operand,
                          scalar);
        }
    }
}

void NaiveMemory::sum_row(const Map& map, const Bytes& src, Bytes& out) {
    const std::size_t size = bytes_of(map.element);
    put(terms_.compute(map.op, map.element, map.element, 0, src.terms), out.terms, 0);
    if (!program_.is_computable) return;
    std::copy_n(src.lanes.begin(), size, out.lanes.begin());
    for (std::size_t i = size; i < src.lanes.size(); i += size) {
        combine_lanes(ReduceOp::sum, map.element, out.lanes, out.lanes, {&src.lanes[i], size});
    }
}

void NaiveMemory::fill(const Map& map, Bytes& out) {
    const std::size_t size = bytes_of(map.element);
    const std::uint64_t bits = bits_of(map.element, map.scalar);
    for (std::size_t i = 0; i < out.terms.size(); ++i) {
        const auto byte = static_cast<std::uint32_t>(bits >> 8 * (i % size) & 0xff);
        out.terms[i] = terms_.constant(byte);
        out.lanes[i] = program_.is_computable ? byte * 0x01010101 : 0;
    }
}

// ---------------------------------------------------------------------------- results

void NaiveMemory::consume(const NaiveStep& step, const ByteTerm* terms, const Lanes* lanes) {
    std::vector<Lanes>& returned = truth_.returned[{step.call, step.rank}];
    if (returned.empty()) {
        for (const NaiveAccess& access : step.accesses) {
            returned.push_back(terms[access.at] == kNothing ? 0 : lanes[access.at]);
        }
    }
    const Meaning* meaning = program_.stage(step.call).meaning;
    if (!meaning) return;
    for (const Expected& output : meaning->outputs) {
        if (output.rank != step.rank) continue;
        for (std::uint64_t k = 0; k < output.length / bytes_of(output.element); ++k) {
            judge(step, wanted(step, output, k), k, terms, lanes);
        }
    }
}

NaiveMemory::Wanted NaiveMemory::wanted(const NaiveStep& step, const Expected& output,
                                        std::uint64_t element) {
    const std::size_t size = bytes_of(output.element);
    Wanted wanted{&output, {}, {}};
    for (const Contribution& from : *output.of) {
        const ByteRange place =
            program_.place(step.call, from.buffer, from.rank, from.offset + element * size, size);
        ByteList terms;
        std::vector<Lanes> lanes;
        for (std::uint32_t i = place.begin; i < place.begin + size; ++i) {
            terms.push_back(terms_.input(step.call, i));
            lanes.push_back(input_lanes(step.call, i));
        }
        wanted.parts.push_back(std::move(terms));
        if (wanted.lanes.empty()) {
            wanted.lanes = lanes;
        } else if (is_computable(output.element)) {
            combine_lanes(output.op, output.element, wanted.lanes, wanted.lanes, lanes);
        }
    }
    return wanted;
}

void NaiveMemory::judge(const NaiveStep& step, const Wanted& wanted, std::uint64_t element,
                        const ByteTerm* terms, const Lanes* lanes) {
    const Expected& output = *wanted.output;
    const std::size_t size = bytes_of(output.element);
    const ByteRange place =
        program_.place(step.call, output.buffer, step.rank, output.offset + element * size, size);
    const ByteList bytes(terms + place.begin, terms + place.begin + size);
    const bool is_same = std::equal(wanted.lanes.begin(), wanted.lanes.end(), lanes + place.begin);
    const bool counts = program_.is_computable && is_computable(output.element);
    if (counts && !is_same) truth_.differs = true;

    const bool by_bytes = is_copy(output) || !is_float(output.element);
    const bool is_unwritten = std::find(bytes.begin(), bytes.end(), kNothing) != bytes.end();
    if (is_unwritten) truth_.kinds.insert(ViolationKind::unwritten_read);
    if (is_unwritten && !by_bytes) return;
    bool is_right = true;
    if (by_bytes) {
        for (std::size_t i = 0; i < size; ++i) {
            is_right &= bytes[i] == kNothing || is_right_byte(wanted, bytes[i], i);
        }
    } else {
        is_right = is_right_number(step, wanted, bytes);
    }
    if (!is_right) {
        truth_.kinds.insert(ViolationKind::wrong_result);
        if (counts && is_same && !is_excused(wanted, bytes)) truth_.is_unexplained = true;
    } else if (!is_unwritten) {
        compare_bits(step, wanted, element, bytes);
    }
}

// A copy, or a number whose bytes do not depend on an order.
bool NaiveMemory::is_right_byte(const Wanted& wanted, ByteTerm byte, std::size_t at) const {
    const Expected& output = *wanted.output;
    // What should be a copy is one, not the sum of one.
    if (is_copy(output)) return byte == wanted.parts[0][at];
    std::vector<ByteList> parts = wanted.parts;
    std::sort(parts.begin(), parts.end());
    if (output.op == ReduceOp::max || output.op == ReduceOp::min) {
        parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    }
    if (parts.size() == 1 && byte == parts[0][at]) return true;
    return terms_.parts_of_byte(byte, at, output.op, output.element) == parts;
}

bool NaiveMemory::is_right_number(const NaiveStep& step, const Wanted& wanted,
                                  const ByteList& bytes) const {
    const Expected& output = *wanted.output;
    if (program_.stage(step.call).meaning->in_order) {
        return terms_.chain(bytes, output.op, output.element) == wanted.parts;
    }
    std::vector<ByteList> parts = wanted.parts;
    std::sort(parts.begin(), parts.end());
    if (output.op == ReduceOp::max || output.op == ReduceOp::min) {
        parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    }
    return terms_.parts(bytes, output.op, output.element) == parts;
}

// See Truth::is_unexplained.
bool NaiveMemory::is_excused(const Wanted& wanted, const ByteList& bytes) const {
    const Expected& output = *wanted.output;
    if (program_.has_floats) return true;
    if (!is_copy(output) && output.op != ReduceOp::sum) return true;
    // Whole inputs only, or what is unlike the output.
    const auto is_plain = [&](const ByteList& part) {
        return std::all_of(part.begin(), part.end(),
                           [&](ByteTerm byte) { return terms_.is_input(byte); });
    };
    if (is_copy(output)) return !is_plain(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (const ByteList& part : terms_.parts_of_byte(bytes[i], i, output.op, output.element)) {
            if (!is_plain(part)) return true;
        }
    }
    return false;
}

// Outputs of the same contributions are combined in the same order.
void NaiveMemory::compare_bits(const NaiveStep& step, const Wanted& wanted, std::uint64_t element,
                               const ByteList& bytes) {
    const Expected& output = *wanted.output;
    const Meaning& meaning = *program_.stage(step.call).meaning;
    if (!meaning.same_bits || !is_float(output.element)) return;
    if (terms_.is_open(bytes[0])) return;
    const ByteList order = meaning.commutes ? terms_.commuted(bytes) : bytes;
    const auto [found, is_first] = first_.try_emplace({step.call, output.of.get(), element}, order);
    if (!is_first && found->second != order) truth_.kinds.insert(ViolationKind::wrong_result);
}

}  // namespace peal::test
