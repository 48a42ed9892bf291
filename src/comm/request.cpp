// SPDX-License-Identifier: Apache-2.0
// From the arguments of a call to a shape and buffers: what is asked for, and whether it can be.
//
// Whether a buffer fits is engine/binding.hpp's to say, as for all engines. What is asked here
// before that has no counterpart there: a kernel's plan is known before its arguments are, but the
// arguments of a collective are what its plan is chosen by. So counts, roots, blocks per rank and
// the way in which two buffers share memory are checked without a plan.
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "comm/group.hpp"
#include "comm/window.hpp"
#include "engine/aliases.hpp"
#include "engine/binding.hpp"

namespace peal::comm {
namespace {

[[noreturn]] void reject(const Call& call, const std::string& why) {
    throw Error(Fault::usage, fmt::format("{}: {}", name(call.kind), why));
}

std::uint64_t divided(const Call& call, std::uint64_t elements, int nranks) {
    const auto ranks = static_cast<std::uint64_t>(nranks);
    if (elements % ranks != 0) {
        reject(call, fmt::format("the buffer must hold a block per rank: {} elements do not divide "
                                 "by {} ranks",
                                 elements, nranks));
    }
    return elements / ranks;
}

std::uint64_t count_of(const Call& call, int nranks) {
    const CollectiveFacts facts = facts_of(call.kind);
    if (call.single || call.window != nullptr) {
        return facts.has_blocks() ? divided(call, call.output_count, nranks) : call.output_count;
    }
    if (facts.input_is_larger()) return call.output_count;
    return facts.input == Share::blocks ? divided(call, call.input_count, nranks)
                                        : call.input_count;
}

// FNV-1a by words: the same on every rank. Each call of such a collective asks, and a base::Digest
// takes five times as long.
std::uint64_t hash_of(std::span<const std::int64_t> counts) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::int64_t count : counts) {
        hash = (hash ^ static_cast<std::uint64_t>(count)) * 0x100000001b3;
    }
    return hash & kMaxCount;
}

// Whether input and output are where they are for an in-place call.
bool lies_in_place(const Call& call, const Shape& shape, int rank) {
    Collective collective;
    collective.kind = shape.kind;
    collective.count = shape.count;
    collective.counts = shape.counts;
    const std::uint64_t at = own_offset(collective, rank) * bytes_of(call.element);
    const auto* input = static_cast<const std::byte*>(call.input);
    const auto* output = static_cast<const std::byte*>(call.output);
    const CollectiveFacts facts = facts_of(call.kind);
    if (facts.output_is_larger()) return input == output + at;
    if (facts.input_is_larger()) return output == input + at;
    return input == output;
}

bool uses_both_buffers(const Call& call, int rank) {
    const CollectiveFacts facts = facts_of(call.kind);
    return call.input != nullptr && call.output != nullptr && call.input_count > 0 &&
           call.output_count > 0 && facts.gives(rank, call.root) && facts.gets(rank, call.root);
}

Placement placement_of(const Call& call, const Shape& shape, int rank) {
    if (call.window != nullptr) return Placement::window;
    if (call.single) return Placement::in_place;
    if (!uses_both_buffers(call, rank)) return Placement::separate;
    const std::uint64_t element_bytes = bytes_of(call.element);
    const bool has_form_in_place = !facts_of(call.kind).counts_pairs();
    if (has_form_in_place && lies_in_place(call, shape, rank)) {
        return Placement::in_place;
    }
    if (engine::overlap(call.input, call.input_count * element_bytes, call.output,
                        call.output_count * element_bytes)) {
        reject(call, has_form_in_place
                         ? "input and output overlap, but not as an in-place call needs it"
                         : "input and output overlap; there is no in-place form");
    }
    return Placement::separate;
}

std::byte* writable(const void* data) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(data));  // `in` arguments are read
}

std::optional<engine::Misfit> misfit(const ConstMemory& found, std::uint64_t expected) {
    const std::uint64_t element_bytes = bytes_of(found.element);
    const Buffer wanted{.name = {}, .element = found.element, .bytes = expected * element_bytes};
    const engine::Offer offered{.kind = engine::Offer::Kind::argument,
                                .data = found.data,
                                .bytes = found.count * element_bytes,
                                .element = found.element};
    return engine::misfit(wanted, offered);
}

std::string text_of(std::string_view what, const engine::Misfit& wrong) {
    return fmt::format("{}: expected {}, found {}", what, wrong.expected, wrong.found);
}

// The call's buffers, not the plan's: in place two of them are one there, and a call without data
// has none.
void check_buffer(const Call& call, std::string_view which, const void* data, std::uint64_t found,
                  std::uint64_t expected) {
    const auto wrong = misfit({data, found, call.element}, expected);
    if (wrong) reject(call, text_of(which, *wrong));
}

}  // namespace

void require_fit(std::string_view what, const ConstMemory& found, std::uint64_t expected) {
    const auto wrong = misfit(found, expected);
    if (wrong) throw Error(Fault::usage, text_of(what, *wrong));
}

Shape Group::shape_of(const Call& call) const {
    Shape shape;
    shape.kind = call.kind;
    if (!facts_of(call.kind).has_data()) return shape;
    if (call.output_element != call.element) {
        reject(call, fmt::format("input is {}, but output is {}", name(call.element),
                                 name(call.output_element)));
    }
    shape.element = call.element;
    if (has_reduction(call.kind)) shape.op = call.op;
    if (has_root(call.kind)) {
        if (call.root < 0 || call.root >= nranks()) {
            reject(call, fmt::format("root must be 0..{}, found {}", nranks() - 1, call.root));
        }
        shape.root = call.root;
    }
    if (facts_of(call.kind).is_counted()) {
        validate_counts(call.kind, call.counts, nranks());
        shape.count = hash_of(call.counts);
        shape.counts.assign(call.counts.begin(), call.counts.end());
    } else {
        shape.count = count_of(call, nranks());
        if (shape.count > kMaxCount)
            reject(call, fmt::format("{} elements are too many", shape.count));
    }
    shape.placement = placement_of(call, shape, rank());
    return shape;
}

Request Group::request_of(const Call& call, CallSite at, RoutinePtr made) {
    const Routine& routine = *made;
    Request request;
    request.site = site(at);
    request.routine = std::move(made);
    request.stamp = stamp_of(routine.shape);
    told_details_.tell(routine.shape);
    const Placement placement = routine.shape.placement;
    if (!facts_of(call.kind).has_data()) return request;
    if (placement == Placement::window) {
        request.window = symmetric(*call.window, *this);
        request.arguments[0] =
            request.window.base + static_cast<std::uint64_t>(rank()) * request.window.rank_stride;
        request.stamp.windows = windows_word({&request.window.number, 1});
        return request;
    }
    if (call.single) {
        const std::uint64_t elements = std::max(routine.input_count, routine.output_count);
        check_buffer(call, "the buffer", call.output, call.output_count, elements);
        request.arguments[0] = static_cast<std::byte*>(call.output);
        return request;
    }
    if (routine.needs_input) {
        check_buffer(call, "input", call.input, call.input_count, routine.input_count);
    }
    if (routine.needs_output) {
        check_buffer(call, "output", call.output, call.output_count, routine.output_count);
    }
    if (placement == Placement::in_place) {
        const bool is_input = facts_of(call.kind).input_is_larger();
        request.arguments[0] =
            is_input ? writable(call.input) : static_cast<std::byte*>(call.output);
    } else {
        request.arguments = {writable(call.input), static_cast<std::byte*>(call.output)};
    }
    return request;
}

}  // namespace peal::comm
