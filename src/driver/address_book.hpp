// SPDX-License-Identifier: Apache-2.0
// What addresses belong to: windows of domains, memory of chips, contexts; all else is the host
// program's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "peal/driver.hpp"
#include "peal/worker.hpp"
#include "platform_comm/comm_context.h"

namespace peal::driver {

struct LiveDomain {
    DriverDomain shown;
    Domain domain;  // of all chips of the worker, whoever is in it
    std::uint64_t bytes = 0;
    std::vector<CommContext> contexts;  // by rank in the domain; nobody reads them
};

struct WindowPlace {
    const LiveDomain* domain = nullptr;
    int chip = 0;
    std::uint64_t offset = 0;
};

class AddressBook {
public:
    static constexpr const char* kWindow = "window";

    const LiveDomain& add(Worker& worker, const std::vector<int>& chips, std::uint64_t bytes);
    void release(std::uint64_t id);

    // Error(usage) if there is no such.
    void add(const Tensor& memory);
    void free(std::uint64_t address);

    std::optional<WindowPlace> window_at(std::uint64_t address) const;
    // The domain and chip that the context at this address is of.
    std::optional<WindowPlace> context_at(std::uint64_t address) const;
    // Device memory that these bytes are in. Error(usage) if they leave it.
    std::optional<Tensor> device_memory(std::uint64_t address, std::uint64_t bytes) const;

private:
    template <class What>
    using Places = std::map<std::uint64_t, What>;  // by their first address

    std::uint64_t last_ = 0;
    std::map<std::uint64_t, std::unique_ptr<LiveDomain>> domains_;  // by number
    Places<WindowPlace> windows_, contexts_;
    Places<Tensor> memories_;
};

}  // namespace peal::driver
