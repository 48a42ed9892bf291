// SPDX-License-Identifier: Apache-2.0
// The descriptor of a tensor, as a kernel gets it. Its elements begin at
// reinterpret_cast<T*>(buffer.addr) + start_offset.
#pragma once

#include <cstddef>
#include <cstdint>

enum class DataType : std::uint8_t {
    FLOAT32 = 0,
    FLOAT16 = 1,
    INT32 = 2,
    INT16 = 3,
    INT8 = 4,
    UINT8 = 5,
    BFLOAT16 = 6,
};

struct alignas(64) ChipTensor {
    static constexpr int kMaxDims = 5;

    struct {
        std::uint64_t addr;
        std::uint64_t size;  // bytes
    } buffer;
    std::uint64_t owner_task_id;
    std::uint64_t start_offset;  // elements
    std::int32_t version;
    std::uint32_t ndims;
    DataType dtype;
    std::uint8_t flags[3];
    std::uint32_t shapes[kMaxDims];  // elements
    std::uint64_t extent_cache;
    std::uint32_t strides[kMaxDims];  // elements
    std::uint8_t reserved[36];
};

static_assert(sizeof(ChipTensor) == 128 && alignof(ChipTensor) == 64);
static_assert(offsetof(ChipTensor, buffer) == 0);
static_assert(offsetof(ChipTensor, owner_task_id) == 16);
static_assert(offsetof(ChipTensor, start_offset) == 24);
static_assert(offsetof(ChipTensor, version) == 32);
static_assert(offsetof(ChipTensor, ndims) == 36);
static_assert(offsetof(ChipTensor, dtype) == 40);
static_assert(offsetof(ChipTensor, flags) == 41);
static_assert(offsetof(ChipTensor, shapes) == 44);
static_assert(offsetof(ChipTensor, extent_cache) == 64);
static_assert(offsetof(ChipTensor, strides) == 72);

using Tensor = ChipTensor;  // its name in older kernels
