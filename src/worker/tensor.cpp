// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/worker_tensor.hpp"
#include "worker/arena.hpp"

namespace peal {
namespace {

template <class... Parts>
[[noreturn]] void reject(fmt::format_string<Parts...> text, Parts&&... parts) {
    throw Error(Fault::usage, "tensor: " + fmt::format(text, std::forward<Parts>(parts)...));
}

Dimensions of_count(std::uint64_t expected, Dimensions shape) {
    if (count_of(shape) != expected) {
        reject("expected a shape of {} elements, found [{}]", expected, fmt::join(shape, ", "));
    }
    return shape;
}

}  // namespace

std::uint64_t count_of(const Dimensions& shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) {
        if (__builtin_mul_overflow(count, size, &count)) {
            reject("[{}] has more elements than can be counted", fmt::join(shape, ", "));
        }
    }
    return count;
}

std::string to_text(Element element, const Dimensions& shape) {
    return fmt::format("{}[{}]", name(element), fmt::join(shape, ", "));
}

Tensor::Tensor(const Memory& memory) : Tensor(memory, {memory.count}) {}
Tensor::Tensor(const ConstMemory& memory) : Tensor(memory, {memory.count}) {}

Tensor::Tensor(const Memory& memory, Dimensions shape)
    : data_(static_cast<std::byte*>(memory.data)),
      element_(memory.element),
      shape_(of_count(memory.count, std::move(shape))) {
    if (data_ == nullptr && memory.count > 0) reject("expected memory, found a null pointer");
}

Tensor::Tensor(const ConstMemory& memory, Dimensions shape)
    : Tensor(Memory{const_cast<void*>(memory.data), memory.count, memory.element},
             std::move(shape)) {
    read_only_ = true;
}

Tensor::Tensor(std::shared_ptr<const worker::DeviceMemory> owner, std::byte* data, int rank,
               Element element, Dimensions shape)
    : owner_(std::move(owner)),
      data_(data),
      rank_(rank),
      element_(element),
      shape_(std::move(shape)) {}

Tensor Tensor::slice(std::uint64_t begin, std::uint64_t end) const {
    if (shape_.empty() || begin > end || end > shape_[0]) {
        reject("there is no slice [{}, {}) of {}", begin, end, to_text(element_, shape_));
    }
    Tensor part = *this;
    part.shape_[0] = 1;
    const std::uint64_t row_bytes = part.bytes();
    part.shape_[0] = end - begin;
    part.data_ += begin * row_bytes;
    return part;
}

std::vector<Tensor> Tensor::split(int parts) const {
    const auto count = static_cast<std::uint64_t>(parts);
    if (parts < 1 || shape_.empty() || shape_[0] % count != 0) {
        reject("{} cannot be split into {} equal parts", to_text(element_, shape_), parts);
    }
    const std::uint64_t rows = shape_[0] / count;
    std::vector<Tensor> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(slice(i * rows, (i + 1) * rows));
    return all;
}

Tensor Tensor::reshaped(Dimensions shape) const {
    Tensor other = *this;
    other.shape_ = of_count(count(), std::move(shape));
    return other;
}

void Tensor::expect_span(Element element, bool reading) const {
    if (element != element_) {
        reject("expected elements of {}, found {}", name(element_), name(element));
    }
    if (read_only_ && !reading) reject("it can only be read; ask for a span of const elements");
}

}  // namespace peal
