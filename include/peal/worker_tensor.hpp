// SPDX-License-Identifier: Apache-2.0
// Tensors of a worker: an element type, a shape, and memory that belongs to the host program or to
// a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "peal/communicator_calls.hpp"
#include "peal/element.hpp"
#include "peal/error.hpp"

namespace peal {

namespace worker {
class DeviceMemory;  // a piece of the memory that host and devices share
struct Inside;       // gets at what is behind the handles
}  // namespace worker

using Dimensions = std::vector<std::uint64_t>;  // elements per dimension

std::uint64_t count_of(const Dimensions& shape);
std::string to_text(Element element, const Dimensions& shape);  // "f32[4, 256]"

// A view: copies of it are views of the same memory.
//
// Host memory is any memory of the program. A kernel does not work on it: it is copied to the
// device before a task and back after it, when the order of the tasks allows. It must stay where it
// is until the tasks that use it are done.
//
// Device memory (Worker::alloc) stays on its device between tasks. It is given back when the last
// view of it is gone and the last task that uses it is done.
class Tensor {
public:
    Tensor() = default;

    // Host memory as a tensor of one dimension, or of the given shape with as many elements; else
    // Error(usage). Const memory can be read only.
    template <class B>
    requires WritableRange<std::remove_reference_t<B>>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the concept keeps copies apart
    explicit Tensor(B&& memory) : Tensor(Memory(memory)) {}
    template <class B>
    requires WritableRange<std::remove_reference_t<B>> Tensor(B&& memory, Dimensions shape)
        : Tensor(Memory(memory), std::move(shape)) {}
    template <ElementRange B>
    requires(!WritableRange<const B>) explicit Tensor(const B& memory)
        : Tensor(ConstMemory(memory)) {}
    template <ElementRange B>
    requires(!WritableRange<const B>) Tensor(const B& memory, Dimensions shape)
        : Tensor(ConstMemory(memory), std::move(shape)) {}
    explicit Tensor(const Memory& memory);
    Tensor(const Memory& memory, Dimensions shape);
    explicit Tensor(const ConstMemory& memory);
    Tensor(const ConstMemory& memory, Dimensions shape);

    Element element() const { return element_; }
    const Dimensions& shape() const { return shape_; }
    std::uint64_t count() const { return count_of(shape_); }
    std::uint64_t bytes() const { return count() * bytes_of(element_); }
    bool is_read_only() const { return read_only_; }

    // The device whose memory it is; -1 for host memory.
    int rank() const { return rank_; }
    bool is_on_host() const { return rank_ < 0; }

    // Elements [begin, end) of the first dimension. Error(usage) if there are no such.
    Tensor slice(std::uint64_t begin, std::uint64_t end) const;
    // `parts` equal slices of the first dimension. Error(usage) if it does not divide.
    std::vector<Tensor> split(int parts) const;
    // The same memory with another shape of as many elements.
    Tensor reshaped(Dimensions shape) const;

    // The memory itself, also that of a device. Touch it only while no task that uses it is
    // pending: in a host task that names it, or after the tasks that use it are done.
    std::byte* data() const { return data_; }
    template <ElementType T>
    std::span<T> span() const {
        expect_span(element_of<T>, std::is_const_v<T>);
        return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(count())};
    }

private:
    friend struct worker::Inside;
    // Device memory, kept alive by `owner`.
    Tensor(std::shared_ptr<const worker::DeviceMemory> owner, std::byte* data, int rank,
           Element element, Dimensions shape);
    void expect_span(Element element, bool reading) const;

    std::shared_ptr<const worker::DeviceMemory> owner_;
    std::byte* data_ = nullptr;
    int rank_ = -1;
    bool read_only_ = false;
    Element element_ = Element::f32;
    Dimensions shape_;
};

// One tensor in equal parts along its first dimension, a part on each of several devices.
class ShardedTensor {
public:
    ShardedTensor() = default;
    ShardedTensor(Dimensions shape, std::vector<Tensor> shards)
        : shape_(std::move(shape)), shards_(std::move(shards)) {}

    const Dimensions& shape() const { return shape_; }  // of the whole
    std::size_t size() const { return shards_.size(); }
    const Tensor& operator[](std::size_t i) const { return shards_[i]; }
    auto begin() const { return shards_.begin(); }
    auto end() const { return shards_.end(); }

private:
    Dimensions shape_;
    std::vector<Tensor> shards_;
};

}  // namespace peal
