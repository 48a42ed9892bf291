// SPDX-License-Identifier: Apache-2.0
// What can be asked of a communicator. Each function here describes one collective call and this
// rank's buffers; nothing happens yet. Communicator::allreduce(...), start_allreduce(...) and
// prepare_allreduce(...) take the same arguments.
//
// A buffer is anything contiguous of an element type (std::span, std::vector, std::array), a
// variable of one (a vector of one), or Memory: a pointer, a count and an Element. P is the number
// of ranks; sizes are checked when the call is made.
//
// A form with one buffer is in place. With two, they either do not overlap or are in place: the
// same memory, where the smaller buffer is this rank's block of the larger. Ranks may differ in
// this. A form with a Window is in place in the window; all ranks use the same window.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "peal/collective.hpp"
#include "peal/element.hpp"

namespace peal {

class WindowMemory;
template <ElementType T>
class Window;

// Where in the program a call is made, for reports. Calls take it as their last argument, whose
// default is the line of the call. (std::source_location, where it is known to every compiler.)
struct CallSite {
    const char* file = nullptr;  // a literal
    unsigned line = 0;

    static constexpr CallSite here(const char* file = __builtin_FILE(),
                                   unsigned line = __builtin_LINE()) {
        return {file, line};
    }
    bool operator==(const CallSite&) const = default;
};

template <class B>
concept ElementRange = std::ranges::contiguous_range<B> && std::ranges::sized_range<B> &&
    ElementType<std::remove_reference_t<std::ranges::range_reference_t<B>>>;
template <class B>
concept WritableRange =
    ElementRange<B> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<B>>>;

// A buffer to write, and one to read. Made of any range above, or of memory whose element type is
// known only at run time.
struct Memory {
    void* data = nullptr;
    std::uint64_t count = 0;  // elements
    Element element = Element::f32;

    Memory() = default;
    Memory(void* where, std::uint64_t elements, Element type)
        : data(where), count(elements), element(type) {}
    template <class B>
    requires WritableRange<std::remove_reference_t<B>> Memory(B&& buffer)  // NOLINT: it is one
        : data(std::ranges::data(buffer)),
          count(std::ranges::size(buffer)),
          element(element_of<std::ranges::range_value_t<B>>) {}
    template <ElementType T>
    requires(!std::is_const_v<T>) Memory(T& variable)  // NOLINT: it is one
        : data(&variable), count(1), element(element_of<T>) {}
};
struct ConstMemory {
    const void* data = nullptr;
    std::uint64_t count = 0;
    Element element = Element::f32;

    ConstMemory(const void* where, std::uint64_t elements, Element type)
        : data(where), count(elements), element(type) {}
    ConstMemory(const Memory& memory)  // NOLINT(google-explicit-constructor): adds const only
        : data(memory.data), count(memory.count), element(memory.element) {}
    template <ElementRange B>
    ConstMemory(const B& buffer)  // NOLINT(google-explicit-constructor): it is one
        : data(std::ranges::data(buffer)),
          count(std::ranges::size(buffer)),
          element(element_of<std::ranges::range_value_t<B>>) {}
    template <ElementType T>
    ConstMemory(const T& variable)  // NOLINT(google-explicit-constructor): it is one
        : data(&variable), count(1), element(element_of<T>) {}
};

template <class B>
concept Readable = std::is_convertible_v<const B&, ConstMemory>;
template <class B>
concept Writable = std::is_convertible_v<B&&, Memory>;

// A window whose element type is known only at run time.
struct WindowElements {
    const WindowMemory* window = nullptr;
    std::uint64_t count = 0;  // per rank
    Element element = Element::f32;

    template <ElementType T>
    WindowElements(const Window<T>& typed)  // NOLINT(google-explicit-constructor): it is one
        : window(&typed), count(typed.size()), element(element_of<T>) {}
};

// One call: what must be the same on every rank, and this rank's buffers.
struct Call {
    // Words of their own: a call is compared with the last one right after it was written, and
    // reading several fields at once would wait until they have left the core.
    alignas(8) CollectiveKind kind = CollectiveKind::barrier;
    alignas(8) Element element = Element::u8;
    alignas(8) Element output_element = Element::u8;  // must be `element`
    alignas(8) ReduceOp op = ReduceOp::sum;
    const void* input = nullptr;
    void* output = nullptr;
    std::uint64_t input_count = 0;
    std::uint64_t output_count = 0;
    const WindowMemory* window = nullptr;  // the data is here instead
    alignas(8) int root = 0;
    alignas(8) bool single = false;  // one buffer, `output`, in place
    std::span<const std::int64_t> counts =
        {};  // where a table says how much: counts[from * P + to] or counts[rank], on every rank
};

// A number for each rank, or for each pair: any contiguous range of integers, or a list of them in
// braces. std::int64_t stay where they are; others, as the int of a program for MPI, are copied.
class Counts {
public:
    Counts() = default;
    Counts(std::initializer_list<std::int64_t> numbers) : copied_(numbers) {}
    template <std::ranges::contiguous_range Range>
    requires std::integral<std::ranges::range_value_t<Range>> Counts(  // NOLINT: it is one
        const Range& numbers) {
        if constexpr (std::is_same_v<std::ranges::range_value_t<Range>, std::int64_t>) {
            given_ = numbers;
        } else {
            copied_.assign(std::ranges::begin(numbers), std::ranges::end(numbers));
        }
    }

    std::span<const std::int64_t> span() const { return copied_.empty() ? given_ : copied_; }
    operator std::span<const std::int64_t>() const { return span(); }  // NOLINT: what they are
    std::size_t size() const { return span().size(); }
    bool empty() const { return span().empty(); }
    auto begin() const { return span().begin(); }
    auto end() const { return span().end(); }
    std::int64_t operator[](std::size_t index) const { return span()[index]; }

private:
    std::span<const std::int64_t> given_;
    std::vector<std::int64_t> copied_;
};

// What one rank gives to each rank, or gets from each: counts[peer] elements that begin at
// offsets[peer] of its buffer. Without offsets they are packed in rank order.
struct Pieces {
    Counts counts;
    Counts offsets = {};
};

template <class Sent, class Received>
concept NoMessageBuffers =
    !std::is_convertible_v<Sent&&, ConstMemory> || !std::is_convertible_v<Received&&, Memory>;

// What a rank sends to another, and receives from it. Either may be of length 0.
struct Neighbour {
    Neighbour(int with, ConstMemory to_send, Memory to_receive)
        : rank(with), sent(to_send), received(to_receive) {}
    // Says why they cannot be (peal/communicator_misuse.hpp).
    template <class Sent, class Received>
    requires NoMessageBuffers<Sent, Received> Neighbour(int with, Sent&&, Received&&);

    int rank;
    ConstMemory sent;
    Memory received;
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
inline Call in_window(CollectiveKind kind, WindowElements window, ReduceOp op = ReduceOp::sum,
                      int root = 0) {
    return {.kind = kind,
            .element = window.element,
            .output_element = window.element,
            .op = op,
            .output_count = window.count,
            .window = window.window,
            .root = root};
}

// ---- everybody gives, everybody gets

// n to n: the combination of all ranks' vectors.
inline Call allreduce(Memory buffer, ReduceOp op = ReduceOp::sum) {
    return in_place(CollectiveKind::allreduce, buffer, op);
}
inline Call allreduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum) {
    return between(CollectiveKind::allreduce, input, output, op);
}
inline Call allreduce(WindowElements window, ReduceOp op = ReduceOp::sum) {
    return in_window(CollectiveKind::allreduce, window, op);
}

// P*n to n: block `rank` of the combination of all. In place the result is block `rank`.
inline Call reduce_scatter(Memory buffer, ReduceOp op = ReduceOp::sum) {
    return in_place(CollectiveKind::reduce_scatter, buffer, op);
}
inline Call reduce_scatter(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum) {
    return between(CollectiveKind::reduce_scatter, input, output, op);
}
inline Call reduce_scatter(WindowElements window, ReduceOp op = ReduceOp::sum) {
    return in_window(CollectiveKind::reduce_scatter, window, op);
}

// n to P*n: everybody's block, in rank order. In place the input is block `rank`.
inline Call allgather(Memory buffer) { return in_place(CollectiveKind::allgather, buffer); }
inline Call allgather(ConstMemory input, Memory output) {
    return between(CollectiveKind::allgather, input, output);
}
inline Call allgather(WindowElements window) {
    return in_window(CollectiveKind::allgather, window);
}

// P*n to P*n: block `rank` of everybody.
inline Call all_to_all(Memory buffer) { return in_place(CollectiveKind::all_to_all, buffer); }
inline Call all_to_all(ConstMemory input, Memory output) {
    return between(CollectiveKind::all_to_all, input, output);
}
inline Call all_to_all(WindowElements window) {
    return in_window(CollectiveKind::all_to_all, window);
}

// Rank r gives counts[r*P + d] elements to each d, packed in rank order, and gets counts[s*P + r]
// from each s, packed too. Every rank knows all counts; they are read before the call returns.
inline Call all_to_all_v(ConstMemory input, Memory output, std::span<const std::int64_t> counts) {
    Call call = between(CollectiveKind::all_to_all_v, input, output);
    call.counts = counts;
    return call;
}

// Rank r gives counts[r] elements, and everybody gets all of them, packed in rank order. In place
// the input is this rank's piece of the output.
inline Call allgather_v(ConstMemory input, Memory output, std::span<const std::int64_t> counts) {
    Call call = between(CollectiveKind::allgather_v, input, output);
    call.counts = counts;
    return call;
}

// Everybody gives a piece of counts[r] elements for each r, packed in rank order, and gets its own
// piece of the combination of all. In place the result is this rank's piece of the input.
inline Call reduce_scatter_v(ConstMemory input, Memory output, std::span<const std::int64_t> counts,
                             ReduceOp op = ReduceOp::sum) {
    Call call = between(CollectiveKind::reduce_scatter_v, input, output, op);
    call.counts = counts;
    return call;
}

// ---- one rank gives or gets

// n to n: the root's vector, in the same buffer everywhere.
inline Call broadcast(Memory buffer, int root = 0) {
    return in_place(CollectiveKind::broadcast, buffer, ReduceOp::sum, root);
}
inline Call broadcast(WindowElements window, int root = 0) {
    return in_window(CollectiveKind::broadcast, window, ReduceOp::sum, root);
}

// n to n at the root. Only the root's output is written; elsewhere it may be empty. In place the
// other ranks' buffers keep what they hold.
inline Call reduce(Memory buffer, ReduceOp op = ReduceOp::sum, int root = 0) {
    return in_place(CollectiveKind::reduce, buffer, op, root);
}
inline Call reduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum, int root = 0) {
    return between(CollectiveKind::reduce, input, output, op, root);
}

// n to P*n at the root; elsewhere the output may be empty.
inline Call gather(ConstMemory input, Memory output, int root = 0) {
    return between(CollectiveKind::gather, input, output, ReduceOp::sum, root);
}

// P*n at the root to n: block `rank` of it; elsewhere the input may be empty.
inline Call scatter(ConstMemory input, Memory output, int root = 0) {
    return between(CollectiveKind::scatter, input, output, ReduceOp::sum, root);
}

// ---- each rank gets of those before it

// n to n: the combination of the vectors of ranks 0 to `rank`, in rank order.
inline Call scan(Memory buffer, ReduceOp op = ReduceOp::sum) {
    return in_place(CollectiveKind::scan, buffer, op);
}
inline Call scan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum) {
    return between(CollectiveKind::scan, input, output, op);
}

// The same of ranks 0 to `rank` - 1. Rank 0 gets nothing: its output may be empty, and in place its
// buffer keeps what it holds.
inline Call exscan(Memory buffer, ReduceOp op = ReduceOp::sum) {
    return in_place(CollectiveKind::exscan, buffer, op);
}
inline Call exscan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum) {
    return between(CollectiveKind::exscan, input, output, op);
}

// Nobody returns before everybody has called.
inline Call barrier() { return {}; }

}  // namespace call
}  // namespace peal
