// SPDX-License-Identifier: Apache-2.0
// The arguments of a call, in the process of a kernel.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "peal/error.hpp"

namespace peal::pto {

// Behind the last one begins a page that cannot be touched, so that a kernel that reads more than
// it is given is found there.
class ArgumentList {
public:
    explicit ArgumentList(std::size_t count) : count_(count) {
        const std::size_t bytes = (count * sizeof(std::int64_t) + kPage - 1) / kPage * kPage;
        void* memory = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw Error(Fault::resource, "no memory for a trace");
        end_ = static_cast<char*>(memory) + bytes;
        mprotect(end_, kPage, PROT_NONE);
    }

    std::int64_t* data() const { return reinterpret_cast<std::int64_t*>(end_) - count_; }
    // Which argument would be at an address behind them; -1 if none would.
    std::int64_t at(std::uint64_t address) const {
        const auto end = reinterpret_cast<std::uint64_t>(end_);
        if (address < end || address >= end + kPage) return -1;
        return static_cast<std::int64_t>(count_ + (address - end) / sizeof(std::int64_t));
    }

private:
    static constexpr std::size_t kPage = 4096;
    std::size_t count_;
    char* end_ = nullptr;  // lives as long as the process
};

}  // namespace peal::pto
