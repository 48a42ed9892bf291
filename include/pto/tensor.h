// SPDX-License-Identifier: Apache-2.0
// The descriptor of a tensor, as a kernel gets it. Its elements begin at
// reinterpret_cast<T*>(buffer.addr) + start_offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

enum class DataType : std::uint8_t {
    FLOAT32 = 0,
    FLOAT16 = 1,
    INT32 = 2,
    INT16 = 3,
    INT8 = 4,
    UINT8 = 5,
    BFLOAT16 = 6,
    INT64 = 7,
    UINT64 = 8,
    UINT16 = 9,
    UINT32 = 10,
    BOOL = 11,
};

inline constexpr std::uint64_t get_element_size(DataType type) {
    switch (type) {
        case DataType::INT8:
        case DataType::UINT8:
        case DataType::BOOL: return 1;
        case DataType::FLOAT16:
        case DataType::BFLOAT16:
        case DataType::INT16:
        case DataType::UINT16: return 2;
        case DataType::INT64:
        case DataType::UINT64: return 8;
        default: return 4;
    }
}

enum class AddressSpace : std::uint8_t { HOST = 0, DEVICE = 1 };

inline constexpr int MAX_TENSOR_DIMS = 5;

struct alignas(64) ChipTensor {
    static constexpr int kMaxDims = MAX_TENSOR_DIMS;

    struct {
        std::uint64_t addr;
        std::uint64_t size;  // bytes
    } buffer;
    std::uint64_t owner_task_id;
    std::uint64_t start_offset;  // elements
    std::int32_t version;
    std::uint32_t ndims;
    DataType dtype;
    std::uint8_t manual_dep;
    std::uint8_t is_contiguous;
    AddressSpace address_space;
    std::uint32_t shapes[kMaxDims];  // elements
    std::uint64_t extent_cache;
    std::uint32_t strides[kMaxDims];  // elements
    std::uint8_t reserved[36];

    std::uint64_t numel() const {
        std::uint64_t count = 1;
        for (std::uint32_t i = 0; i < ndims; ++i) count *= shapes[i];
        return count;
    }
    std::uint64_t nbytes() const { return numel() * get_element_size(dtype); }
    // Where the buffer begins, without the offset.
    template <class T>
    T* data_as() const {
        return reinterpret_cast<T*>(buffer.addr);
    }

    // Views: the same buffer, another part or order of it.
    ChipTensor view(const std::uint32_t sizes[], const std::uint32_t offsets[]) const {
        ChipTensor part = *this;
        for (std::uint32_t i = 0; i < ndims; ++i) {
            part.shapes[i] = sizes[i];
            part.start_offset += std::uint64_t{offsets[i]} * strides[i];
        }
        return part.settled();
    }
    ChipTensor slice(std::uint32_t dim, std::uint32_t begin, std::uint32_t end,
                     std::uint32_t step = 1) const {
        ChipTensor part = *this;
        part.start_offset += std::uint64_t{begin} * strides[dim];
        part.shapes[dim] = (end - begin + step - 1) / step;
        part.strides[dim] *= step;
        return part.settled();
    }
    ChipTensor transpose(std::uint32_t a, std::uint32_t b) const {
        ChipTensor turned = *this;
        turned.shapes[a] = shapes[b];
        turned.shapes[b] = shapes[a];
        turned.strides[a] = strides[b];
        turned.strides[b] = strides[a];
        return turned.settled();
    }
    ChipTensor permute(const std::uint32_t order[]) const {
        ChipTensor turned = *this;
        for (std::uint32_t i = 0; i < ndims; ++i) {
            turned.shapes[i] = shapes[order[i]];
            turned.strides[i] = strides[order[i]];
        }
        return turned.settled();
    }
    // Of a contiguous tensor.
    ChipTensor reshape(const std::uint32_t sizes[], std::uint32_t count) const {
        ChipTensor other = *this;
        other.be_row_major(sizes, count);
        return other;
    }

    void be_row_major(const std::uint32_t sizes[], std::uint32_t count) {
        ndims = count;
        std::uint32_t stride = 1;
        for (std::uint32_t i = count; i-- > 0;) {
            shapes[i] = sizes[i];
            strides[i] = stride;
            stride *= sizes[i];
        }
        is_contiguous = 1;
    }

private:
    ChipTensor settled() {
        std::uint32_t expected = 1;
        is_contiguous = 1;
        for (std::uint32_t i = ndims; i-- > 0;) {
            if (shapes[i] > 1 && strides[i] != expected) is_contiguous = 0;
            expected *= shapes[i];
        }
        return *this;
    }
};

static_assert(sizeof(ChipTensor) == 128 && alignof(ChipTensor) == 64);
static_assert(offsetof(ChipTensor, buffer) == 0);
static_assert(offsetof(ChipTensor, owner_task_id) == 16);
static_assert(offsetof(ChipTensor, start_offset) == 24);
static_assert(offsetof(ChipTensor, version) == 32);
static_assert(offsetof(ChipTensor, ndims) == 36);
static_assert(offsetof(ChipTensor, dtype) == 40);
static_assert(offsetof(ChipTensor, manual_dep) == 41);
static_assert(offsetof(ChipTensor, address_space) == 43);
static_assert(offsetof(ChipTensor, shapes) == 44);
static_assert(offsetof(ChipTensor, extent_cache) == 64);
static_assert(offsetof(ChipTensor, strides) == 72);

using Tensor = ChipTensor;  // its name in older kernels

// The bits of a value as a scalar argument, and back: the low bytes.
template <class T>
std::uint64_t to_u64(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
}
template <class T>
T from_u64(std::uint64_t bits) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}
