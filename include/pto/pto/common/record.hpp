// SPDX-License-Identifier: Apache-2.0
// What a kernel asks the device to do, instruction by instruction. This is what kernels and the
// tracer have in common.
#pragma once

#include <cstdint>

namespace pto::trace {

// Changes with the layout of what follows.
inline constexpr std::uint32_t kVersion = 2;

enum class Op : std::uint8_t {
    load,       // tile[0] <- memory[0]
    store,      // memory[0] <- tile[0]
    store_add,  // memory[0] += tile[0], atomically
    move,       // tile[0] <- tile[1]
    add,        // tile[0] <- tile[1] op tile[2]
    max,
    min,
    mul,
    add_scalar,  // tile[0] <- tile[1] op scalar
    mul_scalar,
    fill,        // tile[0] <- scalar
    convert,     // tile[0] <- tile[1] of another type
    row_sum,     // tile[0] <- sum over the columns of tile[1]; tile[2] is scratch if it has rows
    put,         // memory[0] <- memory[1] through tile[0]
    put_add,     // memory[0] += memory[1] through tile[0], atomically
    notify_set,  // *cell = value
    notify_add,  // *cell += value, atomically
    wait,        // until *cell compare value
    test,        // asks whether *cell compare value
    set_flag,    // from pipe[0] to pipe[1], event
    wait_flag,
    pipe_barrier,  // pipe[0]
    put_async,     // memory[0] <- memory[1], on the engine of session `event`
    wait_async,    // until all that session `event` was given is done
    scalar_store,  // memory[0] <- scalar, by the scalar unit
    scalar_copy,   // memory[0] <- memory[1], by the scalar unit
    evict,         // the cache line of address `cell`; 0: all lines
    fence
};
inline constexpr Op kLastOp = Op::fence;

enum class Type : std::uint8_t { f32, f16, bf16, i32, i16, i8, u8 };

struct TileOperand {
    std::uint64_t offset = 0;  // bytes, in tile memory
    bool is_assigned = false;
    Type type = Type::f32;
    std::int32_t columns = 0;  // from one row to the next, in elements
    std::int32_t max_rows = 0;
    std::int32_t rows = 0, cols = 0;  // valid

    bool operator==(const TileOperand&) const = default;
};

struct MemoryOperand {
    std::uint64_t address = 0;
    Type type = Type::f32;
    std::int64_t shape[5] = {};
    std::int64_t stride[5] = {};  // elements

    bool operator==(const MemoryOperand&) const = default;
};

struct Operation {
    Op op = Op::load;
    const char* name = "";  // as the kernel calls it
    const char* file = "";
    std::uint32_t line = 0;
    TileOperand tile[3];
    MemoryOperand memory[2];
    double scalar = 0;
    std::uint64_t cell = 0;  // address
    std::int32_t compare = 0;
    std::int32_t value = 0;
    std::int32_t pipe[2] = {};
    std::int32_t event = 0;
};

using Record = bool (*)(const Operation& operation);  // what `test` answers; otherwise unused

}  // namespace pto::trace
