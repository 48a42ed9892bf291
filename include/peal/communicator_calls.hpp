// SPDX-License-Identifier: Apache-2.0
// What can be asked of a communicator. Each function here describes one collective call and this
// rank's buffers; nothing happens yet. Communicator::allreduce(...), start_allreduce(...) and
// prepare_allreduce(...) take the same arguments.
//
// A buffer is anything contiguous of an element type (std::span, std::vector, std::array), or
// Memory: a pointer, a count and an Element. P is the number of ranks; sizes are checked when the
// call is made.
//
// A form with one buffer is in place. With two, they either do not overlap or are in place: the
// same memory, where the smaller buffer is this rank's block of the larger. Ranks may differ in
// this. A form with a Window is in place in the window; all ranks use the same window.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "peal/collective.hpp"
#include "peal/element.hpp"

namespace peal {

class WindowMemory;
template <ElementType T>
class Window;

// A buffer whose element type is known only at run time.
struct Memory {
    void* data = nullptr;
    std::uint64_t count = 0;  // elements
    Element element = Element::f32;
};
struct ConstMemory {
    const void* data = nullptr;
    std::uint64_t count = 0;
    Element element = Element::f32;

    ConstMemory(const void* where, std::uint64_t elements, Element type)
        : data(where), count(elements), element(type) {}
    ConstMemory(const Memory& memory)  // NOLINT(google-explicit-constructor): adds const only
        : data(memory.data), count(memory.count), element(memory.element) {}
};

template <class B>
concept ElementRange = std::ranges::contiguous_range<B> && std::ranges::sized_range<B> &&
    ElementType<std::remove_reference_t<std::ranges::range_reference_t<B>>>;
template <class B>
concept WritableRange =
    ElementRange<B> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<B>>>;

template <ElementRange B>
ConstMemory memory_of(const B& buffer) {
    return {std::ranges::data(buffer), std::ranges::size(buffer),
            element_of<std::ranges::range_value_t<B>>};
}
template <class B>
requires WritableRange<std::remove_reference_t<B>> Memory writable_memory_of(B&& buffer) {
    return {std::ranges::data(buffer), std::ranges::size(buffer),
            element_of<std::ranges::range_value_t<B>>};
}
inline ConstMemory memory_of(const ConstMemory& memory) { return memory; }
inline ConstMemory memory_of(const Memory& memory) { return memory; }
inline Memory writable_memory_of(const Memory& memory) { return memory; }

// A buffer to read, and one to write.
template <class B>
concept Readable = requires(const B& b) {
    memory_of(b);
};
template <class B>
concept Writable = requires(B&& b) {
    writable_memory_of(std::forward<B>(b));
};

// One call: what must be the same on every rank, and this rank's buffers.
struct Call {
    CollectiveKind kind = CollectiveKind::barrier;
    Element element = Element::u8;
    Element output_element = Element::u8;  // must be `element`
    ReduceOp op = ReduceOp::sum;
    const void* input = nullptr;
    void* output = nullptr;
    std::uint64_t input_count = 0;
    std::uint64_t output_count = 0;
    const WindowMemory* window = nullptr;  // the data is here instead
    // Words of their own: a call is compared with the last one right after it was written, and
    // reading several fields at once would wait until they have left the core.
    alignas(8) int root = 0;
    alignas(8) bool single = false;  // one buffer, `output`, in place
    std::span<const std::int64_t> counts =
        {};  // all_to_all_v: counts[from * P + to], on every rank
};

namespace call {

// ---- the three shapes of a call

inline Call in_place(CollectiveKind kind, Memory buffer, ReduceOp op = ReduceOp::sum,
                     int root = 0) {
    return {.kind = kind,
            .element = buffer.element,
            .output_element = buffer.element,
            .op = op,
            .output = buffer.data,
            .output_count = buffer.count,
            .root = root,
            .single = true};
}
inline Call between(CollectiveKind kind, ConstMemory input, Memory output,
                    ReduceOp op = ReduceOp::sum, int root = 0) {
    return {.kind = kind,
            .element = input.element,
            .output_element = output.element,
            .op = op,
            .input = input.data,
            .output = output.data,
            .input_count = input.count,
            .output_count = output.count,
            .root = root};
}
template <ElementType T>
Call in_window(CollectiveKind kind, const Window<T>& window, ReduceOp op = ReduceOp::sum,
               int root = 0) {
    return {.kind = kind,
            .element = element_of<T>,
            .output_element = element_of<T>,
            .op = op,
            .output_count = window.size(),
            .window = &window,
            .root = root};
}

// ---- everybody gives, everybody gets

// n to n: the combination of all ranks' vectors.
template <Writable B>
Call allreduce(B&& buffer, ReduceOp op = ReduceOp::sum) {
    return in_place(CollectiveKind::allreduce, writable_memory_of(buffer), op);
}
template <Readable I, Writable O>
Call allreduce(const I& input, O&& output, ReduceOp op = ReduceOp::sum) {
    return between(CollectiveKind::allreduce, memory_of(input), writable_memory_of(output), op);
}
template <ElementType T>
Call allreduce(const Window<T>& window, ReduceOp op = ReduceOp::sum) {
    return in_window(CollectiveKind::allreduce, window, op);
}

// P*n to n: block `rank` of the combination of all. In place the result is block `rank`.
template <Writable B>
Call reduce_scatter(B&& buffer, ReduceOp op = ReduceOp::sum) {
    return in_place(CollectiveKind::reduce_scatter, writable_memory_of(buffer), op);
}
template <Readable I, Writable O>
Call reduce_scatter(const I& input, O&& output, ReduceOp op = ReduceOp::sum) {
    return between(CollectiveKind::reduce_scatter, memory_of(input), writable_memory_of(output),
                   op);
}
template <ElementType T>
Call reduce_scatter(const Window<T>& window, ReduceOp op = ReduceOp::sum) {
    return in_window(CollectiveKind::reduce_scatter, window, op);
}

// n to P*n: everybody's block, in rank order. In place the input is block `rank`.
template <Writable B>
Call allgather(B&& buffer) {
    return in_place(CollectiveKind::allgather, writable_memory_of(buffer));
}
template <Readable I, Writable O>
Call allgather(const I& input, O&& output) {
    return between(CollectiveKind::allgather, memory_of(input), writable_memory_of(output));
}
template <ElementType T>
Call allgather(const Window<T>& window) {
    return in_window(CollectiveKind::allgather, window);
}

// P*n to P*n: block `rank` of everybody.
template <Writable B>
Call all_to_all(B&& buffer) {
    return in_place(CollectiveKind::all_to_all, writable_memory_of(buffer));
}
template <Readable I, Writable O>
Call all_to_all(const I& input, O&& output) {
    return between(CollectiveKind::all_to_all, memory_of(input), writable_memory_of(output));
}
template <ElementType T>
Call all_to_all(const Window<T>& window) {
    return in_window(CollectiveKind::all_to_all, window);
}

// Rank r gives counts[r*P + d] elements to each d, packed in rank order, and gets counts[s*P + r]
// from each s, packed too. Every rank knows all counts; they are read before the call returns.
template <Readable I, Writable O>
Call all_to_all_v(const I& input, O&& output, std::span<const std::int64_t> counts) {
    Call call = between(CollectiveKind::all_to_all_v, memory_of(input), writable_memory_of(output));
    call.counts = counts;
    return call;
}

// ---- one rank gives or gets

// n to n: the root's vector, in the same buffer everywhere.
template <Writable B>
Call broadcast(B&& buffer, int root = 0) {
    return in_place(CollectiveKind::broadcast, writable_memory_of(buffer), ReduceOp::sum, root);
}
template <ElementType T>
Call broadcast(const Window<T>& window, int root = 0) {
    return in_window(CollectiveKind::broadcast, window, ReduceOp::sum, root);
}

// n to n at the root. Only the root's output is written; elsewhere it may be empty. In place the
// other ranks' buffers keep what they hold.
template <Writable B>
Call reduce(B&& buffer, ReduceOp op = ReduceOp::sum, int root = 0) {
    return in_place(CollectiveKind::reduce, writable_memory_of(buffer), op, root);
}
template <Readable I, Writable O>
Call reduce(const I& input, O&& output, ReduceOp op = ReduceOp::sum, int root = 0) {
    return between(CollectiveKind::reduce, memory_of(input), writable_memory_of(output), op, root);
}

// n to P*n at the root; elsewhere the output may be empty.
template <Readable I, Writable O>
Call gather(const I& input, O&& output, int root = 0) {
    return between(CollectiveKind::gather, memory_of(input), writable_memory_of(output),
                   ReduceOp::sum, root);
}

// P*n at the root to n: block `rank` of it; elsewhere the input may be empty.
template <Readable I, Writable O>
Call scatter(const I& input, O&& output, int root = 0) {
    return between(CollectiveKind::scatter, memory_of(input), writable_memory_of(output),
                   ReduceOp::sum, root);
}

// Nobody returns before everybody has called.
inline Call barrier() { return {}; }

}  // namespace call
}  // namespace peal
