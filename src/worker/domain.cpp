// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"
#include "worker/domain_state.hpp"
#include "worker/inside.hpp"

namespace peal {
namespace worker {
namespace {

// Far more than there is memory, and far from overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

[[noreturn]] void reject(const std::string& domain, const std::string& why) {
    throw Error(Fault::usage, fmt::format("domain '{}': {}", domain, why));
}

std::vector<int> checked_ranks(const DomainSpec& spec, int devices) {
    std::vector<int> ranks = spec.ranks;
    if (ranks.empty()) {
        for (int device = 0; device < devices; ++device) ranks.push_back(device);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i] < 0 || ranks[i] >= devices) {
            reject(spec.name, fmt::format("expected ranks 0..{}, found {}", devices - 1, ranks[i]));
        }
        if (std::count(ranks.begin(), ranks.end(), ranks[i]) > 1) {
            reject(spec.name, fmt::format("rank {} is named twice", ranks[i]));
        }
    }
    return ranks;
}

std::uint64_t checked_bytes(const std::string& domain, const WindowSpec& spec) {
    const auto reject_window = [&](const std::string& why) {
        reject(domain, fmt::format("window '{}': {}", spec.name, why));
    };
    if (spec.cells > 0 && !spec.shape.empty()) {
        reject_window("expected a shape or cells, found both");
    }
    if (spec.cells == 0 && spec.shape.empty()) {
        reject_window("expected a shape or cells, found neither");
    }
    if (spec.cells > 0 && spec.element != Element::i32 && spec.element != Element::i64) {
        reject_window(
            fmt::format("expected signals of i32 or i64, found {}", peal::name(spec.element)));
    }
    if (spec.cells > 0 && (spec.cell_stride < bytes_of(spec.element) ||
                           spec.cell_stride % bytes_of(spec.element) != 0)) {
        reject_window(fmt::format("expected cells at multiples of {} bytes, found {}",
                                  bytes_of(spec.element), spec.cell_stride));
    }
    const std::uint64_t count = spec.cells > 0 ? spec.cells : count_of(spec.shape);
    const std::uint64_t each = spec.cells > 0 ? spec.cell_stride : bytes_of(spec.element);
    if (count > kMostBytes / each) {
        reject_window(
            fmt::format("expected at most {} bytes for each rank, found more", kMostBytes));
    }
    return count * each;
}

}  // namespace

DomainState::DomainState(const Arena& arena, DomainSpec spec)
    : name(spec.name), ranks(checked_ranks(spec, arena.devices())), base(arena.at(0)) {
    std::uint64_t bytes = 0;
    for (WindowSpec& window_spec : spec.windows) {
        const auto same_name = [&](const Window& other) {
            return other.spec.name == window_spec.name;
        };
        if (std::any_of(windows.begin(), windows.end(), same_name)) {
            reject(name, fmt::format("there are two windows '{}'", window_spec.name));
        }
        Window window;
        window.bytes = checked_bytes(name, window_spec);
        window.offset = bytes;
        window.rank_stride = whole_lines(window.bytes);
        window.generations.resize(ranks.size());
        window.spec = std::move(window_spec);
        bytes += window.rank_stride * ranks.size();
        windows.push_back(std::move(window));
    }
    memory = arena.allocate(bytes);
    for (Window& window : windows) window.offset += memory->offset();
}

int DomainState::rank_of(int device) const {
    const auto found = std::find(ranks.begin(), ranks.end(), device);
    return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

void DomainState::reset() {
    std::memset(memory->data(), 0, memory->bytes());
    for (Window& window : windows) {
        std::fill(window.generations.begin(), window.generations.end(), 0);
    }
    broken.clear();
}

}  // namespace worker

const std::string& DomainWindow::name() const { return domain_->windows[index_].spec.name; }

DomainWindow DomainWindow::as_signals() const {
    const WindowSpec& spec = domain_->windows[index_].spec;
    if (spec.element != Element::u8 || spec.cells > 0) {
        worker::reject(domain_->name, fmt::format("window '{}': expected bytes (u8), found {}",
                                                  spec.name, to_text(spec.element, spec.shape)));
    }
    DomainWindow words = *this;
    words.as_signals_ = true;
    return words;
}

const std::string& Domain::name() const { return state_->name; }
int Domain::nranks() const { return static_cast<int>(state_->ranks.size()); }
const std::vector<int>& Domain::ranks() const { return state_->ranks; }
bool Domain::has(int device) const { return state_->rank_of(device) >= 0; }

int Domain::rank_of(int device) const {
    const int rank = state_->rank_of(device);
    if (rank < 0) {
        worker::reject(name(), fmt::format("rank {} of the worker is not in it; it has {}", device,
                                           fmt::join(ranks(), ", ")));
    }
    return rank;
}

DomainWindow Domain::window(std::string_view name) const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < state_->windows.size(); ++i) {
        names.push_back(state_->windows[i].spec.name);
        if (names.back() == name) return {state_, i};
    }
    worker::reject(state_->name,
                   fmt::format("there is no window '{}'; it has {}", name, fmt::join(names, ", ")));
}

Tensor Domain::view(std::string_view name, int device) const {
    const worker::DomainState::Window& window =
        state_->windows[worker::Inside::index(this->window(name))];
    std::byte* const data = state_->part(window, rank_of(device));
    if (window.spec.cells == 0) {
        return worker::Inside::tensor(state_->memory, data, device, window.spec.element,
                                      window.spec.shape);
    }
    return worker::Inside::tensor(state_->memory, data, device, Element::u8, {window.bytes});
}

void Domain::release() { state_->released.store(true, std::memory_order_relaxed); }
bool Domain::is_released() const { return state_->released.load(std::memory_order_relaxed); }

}  // namespace peal
