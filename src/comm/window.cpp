// SPDX-License-Identifier: Apache-2.0
#include "comm/window.hpp"

#include <fmt/format.h>

#include "comm/desk.hpp"
#include "shm/machine.hpp"

namespace peal {

WindowMemory::WindowMemory(std::shared_ptr<comm::WindowState> state) : state_(std::move(state)) {}
WindowMemory::WindowMemory(WindowMemory&&) noexcept = default;
WindowMemory& WindowMemory::operator=(WindowMemory&&) noexcept = default;
WindowMemory::~WindowMemory() = default;

std::byte* WindowMemory::on(int rank) const {
    if (rank < 0 || rank >= state_->nranks) {
        throw Error(Fault::usage,
                    fmt::format("window: rank must be 0..{}, found {}", state_->nranks - 1, rank));
    }
    if (!state_->far.empty() && state_->far[static_cast<std::size_t>(rank)]) {
        throw Error(Fault::usage,
                    fmt::format("window: rank {} is on another host, so its part has no address "
                                "here; use a collective, a message or a kernel",
                                rank));
    }
    return state_->world->at(state_->extent +
                             static_cast<std::uint64_t>(rank) * state_->rank_stride);
}

std::uint64_t WindowMemory::bytes() const { return state_->bytes; }

WindowMemory Communicator::allocate(std::uint64_t n, std::uint64_t bytes_each, CallSite at) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    comm::Group& group = desk_->group();
    if (n > comm::kMaxCount / bytes_each) {
        throw Error(Fault::usage, fmt::format("window: {} x {} bytes are too many", n, bytes_each));
    }
    const std::uint64_t bytes = n * bytes_each;
    group.meet(comm::SyncReason::window, bytes, at);
    const std::uint64_t page = shm::page_bytes();
    const std::uint64_t rank_stride = std::max(page, (bytes + page - 1) / page * page);

    auto state = std::make_shared<comm::WindowState>();
    state->world = group.world();
    state->extent =
        group.allocate_window(static_cast<std::uint64_t>(group.nranks()) * rank_stride, at);
    state->bytes = bytes;
    state->rank_stride = rank_stride;
    state->nranks = group.nranks();
    state->group = group.id();
    state->number = group.count_window();
    shm::populate(state->world->at(state->extent) + group.rank() * rank_stride, rank_stride);
    state->connect_hosts(group, at);
    return WindowMemory(std::move(state));
}

WindowMemory Communicator::signals(std::uint64_t n, std::uint64_t cell_stride, CallSite at) {
    const std::uint64_t least = bytes_of(Element::i32);
    if (cell_stride == 0 || cell_stride % least != 0) {
        throw Error(Fault::usage,
                    fmt::format("signals: expected cells a multiple of {} bytes apart, the size of "
                                "i32, found {} bytes",
                                least, cell_stride));
    }
    return allocate(n, cell_stride, at);
}

namespace comm {

WindowState::~WindowState() {
    if (extent == 0) return;
    if (far_parts != nullptr) {
        far_parts->retire();
    } else {
        world->disown(extent);
    }
}

void WindowState::connect_hosts(Group& among, CallSite at) {
    const Members& members = among.members();
    if (!members.span_hosts()) return;
    const std::vector<PartLayout> layouts = {{world->at(extent), rank_stride, rank_stride}};
    job = members.job;
    far = members.far;
    far_parts = std::make_shared<FarParts>(members, extent, layouts);
    far_parts->connect(among.exchange(far_parts->keys(), at));
}

std::uint64_t Group::number_of(const WindowMemory& window) const {
    const WindowState& state = Inside::of(window);
    return state.group == id() ? state.number : 0;
}

Symmetric symmetric(const WindowMemory& window, const Group& group) {
    const WindowState& state = Inside::of(window);
    if (state.group != group.id()) {
        throw Error(Fault::usage, "the window belongs to another communicator");
    }
    return {state.world->at(state.extent), state.rank_stride, state.number};
}

}  // namespace comm
}  // namespace peal
