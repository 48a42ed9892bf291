// SPDX-License-Identifier: Apache-2.0
// A task of one chip, with what its addresses belong to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "driver/address_book.hpp"
#include "peal/pto_task.hpp"

namespace peal::driver {

// What a memory of a pto::ChipTask is: host or device memory, or a window.
struct KnownMemory {
    Tensor tensor;
    const LiveDomain* domain = nullptr;  // of a window
};

// Bytes that order tasks, by their addresses in the host program.
struct Touched {
    std::uint64_t begin = 0, end = 0;
    bool waits = false, writes = false;
};

struct Member {
    std::shared_ptr<const pto::ChipProgram> program;
    int chip = 0;
    std::size_t node = 0;  // which submitted task it is of
    pto::ChipTask task;
    std::vector<KnownMemory> memories;
    std::vector<Touched> touched;

    bool has_windows() const {
        for (const KnownMemory& memory : memories) {
            if (memory.domain) return true;
        }
        return false;
    }
};

// Throws Error(usage), with the callable's name, chip and argument.
Member bind_member(const AddressBook& book, const DriverTask& task, std::size_t member,
                   std::size_t node);

}  // namespace peal::driver
