// SPDX-License-Identifier: Apache-2.0
#include "driver/address_book.hpp"

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::driver {
namespace {

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uint64_t>(data); }

// The entry that begins at the address or before it.
template <class Places>
auto at_or_before(const Places& places, std::uint64_t address) {
    auto found = places.upper_bound(address);
    return found == places.begin() ? places.end() : std::prev(found);
}

}  // namespace

const LiveDomain& AddressBook::add(Worker& worker, const std::vector<int>& chips,
                                   std::uint64_t bytes) {
    if (chips.size() > COMM_MAX_RANK_NUM) {
        throw Error(Fault::usage, fmt::format("a domain has at most {} chips, found {}",
                                              COMM_MAX_RANK_NUM, chips.size()));
    }
    // Made first: it says which chips cannot be.
    DomainSpec asked;
    asked.name = fmt::format("domain {}", ++last_);
    asked.ranks = chips;
    if (chips.empty()) throw Error(Fault::usage, asked.name + ": expected a chip, found none");
    worker.allocate_domain(asked);
    auto live = std::make_unique<LiveDomain>(
        LiveDomain{{last_, chips, {}, {}},
                   worker.allocate_domain(
                       {.name = asked.name,
                        .windows = {{.name = kWindow, .element = Element::u8, .shape = {bytes}}}}),
                   bytes,
                   std::vector<CommContext>(chips.size())});
    for (std::size_t rank = 0; rank < chips.size(); ++rank) {
        const WindowPlace place{live.get(), chips[rank], 0};
        const std::uint64_t window = address_of(live->domain.view(kWindow, chips[rank]).data());
        const std::uint64_t context = address_of(&live->contexts[rank]);
        live->shown.windows.push_back(window);
        live->shown.contexts.push_back(context);
        windows_[window] = place;
        contexts_[context] = place;
    }
    return *domains_.emplace(last_, std::move(live)).first->second;
}

void AddressBook::release(std::uint64_t id) {
    const auto found = domains_.find(id);
    if (found == domains_.end()) return;
    for (const std::uint64_t address : found->second->shown.windows) windows_.erase(address);
    for (const std::uint64_t address : found->second->shown.contexts) contexts_.erase(address);
    domains_.erase(found);
}

void AddressBook::add(const Tensor& memory) { memories_[address_of(memory.data())] = memory; }

void AddressBook::free(std::uint64_t address) {
    if (memories_.erase(address) > 0) return;
    throw Error(Fault::usage,
                fmt::format("free: {:#x} is no memory that was allocated on a chip", address));
}

std::optional<WindowPlace> AddressBook::window_at(std::uint64_t address) const {
    const auto found = at_or_before(windows_, address);
    if (found == windows_.end()) return std::nullopt;
    WindowPlace place = found->second;
    place.offset = address - found->first;
    if (place.offset >= place.domain->bytes) return std::nullopt;
    return place;
}

std::optional<WindowPlace> AddressBook::context_at(std::uint64_t address) const {
    const auto found = contexts_.find(address);
    return found == contexts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Tensor> AddressBook::device_memory(std::uint64_t address, std::uint64_t bytes) const {
    const auto found = at_or_before(memories_, address);
    if (found == memories_.end()) return std::nullopt;
    const std::uint64_t begin = address - found->first;
    const std::uint64_t room = found->second.bytes();
    if (begin >= room) return std::nullopt;
    if (begin + bytes > room) {
        throw Error(Fault::usage, fmt::format("bytes [{}..{}) of memory of {} bytes on chip {}",
                                              begin, begin + bytes, room, found->second.rank()));
    }
    return found->second.slice(begin, begin + bytes);
}

}  // namespace peal::driver
