// SPDX-License-Identifier: Apache-2.0
// How a kernel's instructions reach the tracer. Not for kernels: include pto/pto-inst.hpp.
//
// A kernel is compiled into a library. Peal loads it, attaches itself, and calls kernel_entry: each
// instruction becomes one Operation. Nothing is moved and nothing is computed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/common/constants.hpp"
#include "pto/common/record.hpp"

namespace pto::trace {

inline Record& recorder() {
    static Record record = nullptr;
    return record;
}

// Which core of its rank runs the kernel, and how many do.
struct Block {
    std::int64_t index = 0, count = 1;
};
inline Block& block() {
    static Block block;
    return block;
}

// How many sessions of asynchronous transfers this call has opened.
inline std::int32_t& sessions() {
    static std::int32_t count = 0;
    return count;
}

// A place in the kernel's source. As a default argument, current() is where the call stands.
struct Where {
    const char* file;
    std::uint32_t line;

    static constexpr Where current(const char* file = __builtin_FILE(),
                                   std::uint32_t line = __builtin_LINE()) {
        return {file, line};
    }
};

inline Operation begin(Op op, const char* name, const Where& where) {
    Operation operation;
    operation.op = op;
    operation.name = name;
    operation.file = where.file;
    operation.line = where.line;
    return operation;
}

inline bool end(const Operation& operation) { return recorder()(operation); }

template <class T>
struct TypeOf {
    static_assert(sizeof(T) == 0,
                  "this element type is not supported: use float, half, bfloat16_t, int32_t, "
                  "int16_t, int8_t or uint8_t");
};
template <>
struct TypeOf<float> {
    static constexpr Type value = Type::f32;
};
template <>
struct TypeOf<half> {
    static constexpr Type value = Type::f16;
};
template <>
struct TypeOf<bfloat16_t> {
    static constexpr Type value = Type::bf16;
};
template <>
struct TypeOf<std::int32_t> {
    static constexpr Type value = Type::i32;
};
template <>
struct TypeOf<std::int16_t> {
    static constexpr Type value = Type::i16;
};
template <>
struct TypeOf<std::int8_t> {
    static constexpr Type value = Type::i8;
};
template <>
struct TypeOf<std::uint8_t> {
    static constexpr Type value = Type::u8;
};

template <class T>
inline constexpr Type type_of = TypeOf<std::remove_cv_t<T>>::value;

// One element.
template <class T>
MemoryOperand one_of(T* element) {
    MemoryOperand operand;
    operand.address = reinterpret_cast<std::uint64_t>(element);
    operand.type = type_of<T>;
    for (int dim = 0; dim < 5; ++dim) operand.shape[dim] = operand.stride[dim] = 1;
    return operand;
}

}  // namespace pto::trace

// The tracer's side: what it looks up in the library.
extern "C" {
__attribute__((used, visibility("default"))) inline std::uint32_t peal_pto_version() {
    return pto::trace::kVersion;
}
// Before each call of the kernel.
__attribute__((used, visibility("default"))) inline void peal_pto_attach(
    pto::trace::Record record) {
    pto::trace::recorder() = record;
    pto::trace::sessions() = 0;
}
__attribute__((used, visibility("default"))) inline void peal_pto_be_block(std::int64_t index,
                                                                           std::int64_t count) {
    pto::trace::block() = {index, count};
}
}
