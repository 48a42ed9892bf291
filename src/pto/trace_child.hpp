// SPDX-License-Identifier: Apache-2.0
// Running a kernel where it can do no harm: in a child process that it cannot leave, that is
// watched and ends with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pto/common/record.hpp"
#include "pto/frame.hpp"

namespace peal::pto {

// What a kernel asked the device to do in its first call on a window. `file` of an operation counts
// in `files`.
struct Recorded {
    ::pto::trace::Operation operation;
    std::uint32_t file = 0;
    std::uint32_t launch = 0;  // of a shim's kernel launches, counted from 0
    std::int64_t per_generation =
        0;  // notify and wait: by how much the value grows from call to call
    // By operand of memory: where it is in each turn, in Recording::places, from 1 on; 0: always
    // where it was in the first call.
    std::uint32_t places[2] = {};
};
// A tensor that a shim makes.
inline constexpr std::size_t kMostCreated = 64;
inline constexpr std::uint64_t kMostCreatedBytes = std::uint64_t{1} << 32;
struct Created {
    std::uint64_t bytes = 0;
    Element element = Element::f32;
};
struct Recording {
    std::vector<Recorded> operations;
    std::uint32_t turns = 1;                         // a call of generation g is in turn g % turns
    std::vector<std::vector<std::uint64_t>> places;  // addresses by turn
    std::vector<std::string> files;
    std::int32_t blocks = 1;       // that the shim launches its kernel on
    std::vector<Created> created;  // in order
};

// What is loaded and called: a kernel, or a shim that launches kernels.
struct Callee {
    std::string path;           // of the source that messages name
    std::string shim;           // its library; empty: the only kernel is called itself
    std::string entry, config;  // functions of the shim; the second may be missing
    struct Kernel {
        std::int32_t function = 0;  // its number, for the shim
        std::string path, library;
    };
    std::vector<Kernel> kernels;

    static Callee of(const pto::Kernel& kernel) {
        return {kernel.path(), {}, {}, {}, {{0, kernel.path(), kernel.library()}}};
    }
};

// One rank of a kernel, or one of its blocks.
struct KernelRun {
    const Callee* callee = nullptr;
    const Frame* frame = nullptr;
    const AddressSpace* addresses = nullptr;
    int rank = 0;
    int nranks = 1;
    std::vector<std::int64_t> generations = {0};  // 0, or 0, 1 and others
    TraceOptions options;
    int block = 0;

    const Layout& layout() const { return frame->layout; }

    // An argument that is a number.
    std::optional<std::int64_t> number_at(std::size_t argument, std::int64_t generation) const {
        const FrameArgument& given = frame->arguments[argument];
        switch (given.kind) {
            case Parameter::Kind::scalar: return given.value;
            case Parameter::Kind::nranks: return nranks;
            case Parameter::Kind::rank: return rank;
            case Parameter::Kind::generation: return generation;
            default: return std::nullopt;
        }
    }

    // "rank 1", and of several blocks "rank 1, block 0".
    std::string who() const {
        const std::string text = "rank " + std::to_string(rank);
        return options.blocks == 1 ? text : text + ", block " + std::to_string(block);
    }
};

// Calls may take so many turns: each is seen at least twice in the first generations.
inline constexpr std::uint32_t kMostTracedTurns = 16;

// Runs the kernel for each generation, one after another in one process. Throws Error(program) when
// it does not come to its end, or when generations differ in more than values of signals that grow
// by a constant, and places that come back after a few generations.
Recording record(const KernelRun& run);

}  // namespace peal::pto
