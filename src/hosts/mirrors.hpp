// SPDX-License-Identifier: Apache-2.0
// Mirrors: where in the memory of other hosts the places are that this host has for their ranks.
//
// The shared memory of a host is laid out for all ranks of a group, also for those on other hosts.
// Their parts are mirrors here: an address in one stands for the same place in the memory of its
// owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "hosts/net.hpp"

namespace peal::hosts {

class Mirrors {
public:
    struct RemoteAddress {
        Remote* memory = nullptr;
        std::uint64_t offset = 0;
    };

    void add(const std::byte* begin, std::uint64_t bytes, std::unique_ptr<Remote> owner) {
        const std::lock_guard lock(mutex_);
        parts_[begin] = {bytes, std::move(owner)};
    }
    void remove(const std::byte* begin) {
        const std::lock_guard lock(mutex_);
        parts_.erase(begin);
    }
    // Which it is the mirror of; null: of nothing.
    RemoteAddress find(const std::byte* mirror) const {
        const std::lock_guard lock(mutex_);
        auto part = parts_.upper_bound(mirror);
        if (part == parts_.begin()) return {};
        --part;
        const auto offset = static_cast<std::uint64_t>(mirror - part->first);
        return offset < part->second.bytes ? RemoteAddress{part->second.owner.get(), offset}
                                           : RemoteAddress{};
    }

private:
    struct Part {
        std::uint64_t bytes = 0;
        std::unique_ptr<Remote> owner;
    };
    mutable std::mutex mutex_;
    std::map<const std::byte*, Part> parts_;  // by where they begin
};

}  // namespace peal::hosts
