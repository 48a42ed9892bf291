// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <concepts>

#include "engine/kernels/codec.hpp"
#include "engine/kernels/kernels.hpp"

namespace peal::engine::kernels {
namespace {

// Floats are added in the type that they are combined in, until nobody else came between.
template <class Codec, class T>
void add(typename Codec::Stored& to, T value) {
    std::atomic_ref<typename Codec::Stored> cell(to);
    if constexpr (std::integral<T>) {
        cell.fetch_add(value, std::memory_order_relaxed);
    } else {
        typename Codec::Stored seen = cell.load(std::memory_order_relaxed);
        while (!cell.compare_exchange_weak(seen, Codec::encode(Codec::decode(seen) + value),
                                           std::memory_order_relaxed)) {
        }
    }
}

}  // namespace

void accumulate(Element element, void* dst, const void* src, std::size_t count) {
    scalar::with_codec(element, [&]<class Codec>(Codec) {
        auto* to = static_cast<typename Codec::Stored*>(dst);
        for (std::size_t i = 0; i < count; ++i) add<Codec>(to[i], scalar::load<Codec>(src, i));
    });
}

}  // namespace peal::engine::kernels
