// SPDX-License-Identifier: Apache-2.0
// What the compiler says of a collective call that cannot be. Every collective of Communicator has
// an overload that takes such calls only, and whose one error is a sentence from here.
#pragma once

#include <cstdlib>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>

#include "peal/communicator_calls.hpp"

namespace peal::misuse {

enum class Kind { none, no_buffer, constant, mixed, window, no_neighbours };

template <class B>
inline constexpr bool kReads = std::is_convertible_v<B&&, ConstMemory>;
template <class B>
inline constexpr bool kWrites = std::is_convertible_v<B&&, Memory>;
template <class B>
inline constexpr bool kIsWindow = std::is_convertible_v<B&&, WindowElements>;
template <class... Rest>
inline constexpr bool kStartsWithOperation = true;
template <class First, class... Rest>
inline constexpr bool kStartsWithOperation<First, Rest...> =
    std::is_same_v<std::remove_cvref_t<First>, ReduceOp>;

// The element type that is known when the call is compiled; none for Memory and ConstMemory.
template <class B>
constexpr std::optional<Element> element_in() {
    using Buffer = std::remove_cvref_t<B>;
    if constexpr (ElementType<Buffer>) {
        return element_of<Buffer>;
    } else if constexpr (ElementRange<Buffer>) {
        return element_of<std::ranges::range_value_t<Buffer>>;
    } else {
        return std::nullopt;
    }
}

// Of a call in place; what follows the buffer is an operation or a root.
template <class Buffer, class... Rest>
constexpr Kind in_place() {
    if (kIsWindow<Buffer> || kWrites<Buffer>) return Kind::none;
    return kReads<Buffer> ? Kind::constant : Kind::no_buffer;
}

template <class Input, class Output, class... Rest>
constexpr Kind between() {
    if (kIsWindow<Input> || kIsWindow<Output>) return Kind::none;
    if (!kReads<Input> || !kReads<Output>) return Kind::no_buffer;
    if (!kWrites<Output>) return Kind::constant;
    const std::optional<Element> in = element_in<Input>(), out = element_in<Output>();
    return in && out && *in != *out ? Kind::mixed : Kind::none;
}

// Of a call with an input and an output, or in place.
template <class Buffer, class... Rest>
constexpr Kind of_call() {
    if constexpr (kStartsWithOperation<Rest...>) {
        return in_place<Buffer>();
    } else {
        return between<Buffer, Rest...>();
    }
}

// Of messages. What is sent and what is received may be of different types.
template <class Buffer, class... Rest>
constexpr Kind sent() {
    if (kIsWindow<Buffer>) return Kind::window;
    return kReads<Buffer> ? Kind::none : Kind::no_buffer;
}
template <class Buffer, class... Rest>
constexpr Kind received() {
    return kIsWindow<Buffer> ? Kind::window : in_place<Buffer>();
}
template <class Sent, class To, class Received, class... Rest>
constexpr Kind sent_and_received() {
    return sent<Sent>() != Kind::none ? sent<Sent>() : received<Received>();
}

template <class Neighbours, class... Rest>
constexpr Kind exchanged() {
    return std::is_convertible_v<Neighbours&&, std::span<const Neighbour>> ? Kind::none
                                                                           : Kind::no_neighbours;
}

template <Kind kKind>
[[noreturn]] void say_why() {
    static_assert(kKind != Kind::no_buffer,
                  "a buffer is a contiguous range (std::vector, std::span, std::array) of float, "
                  "double, integers but not bool, peal::f16 or peal::bf16; one such variable; "
                  "peal::Memory; or a peal::Window");
    static_assert(kKind != Kind::constant,
                  "the result is written to this buffer, so it must not be const");
    static_assert(kKind != Kind::window,
                  "a message is sent from and received in a contiguous range: give window.span()");
    static_assert(kKind != Kind::mixed,
                  "input and output must have the same element type; Peal converts nothing");
    static_assert(kKind != Kind::no_neighbours,
                  "an exchange is with neighbours: {{rank, sent, received}, ...}, or a contiguous "
                  "range of peal::Neighbour");
    std::abort();
}

}  // namespace peal::misuse

namespace peal {

template <class Sent, class Received>
requires NoMessageBuffers<Sent, Received> Neighbour::Neighbour(int with, Sent&&, Received&&)
    : Neighbour(with, Memory(), Memory()) {
    misuse::say_why<misuse::sent_and_received<Sent, int, Received>()>();
}

}  // namespace peal

// For one call, blocking and started; `kind` says what is wrong. A collective can be prepared, too.
// Undefined again at the end of communicator.hpp.
// clang-format off
#define PEAL_SAYS_WHY_OF_MESSAGE(call, kind)                                             \
    template <class... Args> requires(misuse::kind<Args...>() != misuse::Kind::none)     \
    void call(Args&&...) { misuse::say_why<misuse::kind<Args...>()>(); }                 \
    template <class... Args> requires(misuse::kind<Args...>() != misuse::Kind::none)     \
    Pending start_##call(Args&&...) { misuse::say_why<misuse::kind<Args...>()>(); }
#define PEAL_SAYS_WHY(collective, kind)                                                  \
    PEAL_SAYS_WHY_OF_MESSAGE(collective, kind)                                           \
    template <class... Args> requires(misuse::kind<Args...>() != misuse::Kind::none)     \
    Prepared prepare_##collective(Args&&...) { misuse::say_why<misuse::kind<Args...>()>(); }
// clang-format on
