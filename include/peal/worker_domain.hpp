// SPDX-License-Identifier: Apache-2.0
// Communication domains: ordered groups of a worker's devices that share windows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "peal/plan.hpp"
#include "peal/worker_tensor.hpp"

namespace peal {

namespace worker {
struct DomainState;
struct Inside;
}  // namespace worker

// One window of a domain: data, or signals if `cells` is not 0.
//
//   {.name = "data", .element = Element::f32, .shape = {1024}}
//   {.name = "sig", .element = Element::i32, .cells = 4}
struct WindowSpec {
    std::string name = {};
    Element element = Element::f32;
    Dimensions shape = {};    // data: of each rank's part
    std::uint64_t cells = 0;  // signals: of each rank's part
    std::uint64_t cell_stride = kCacheLineBytes;
};

struct DomainSpec {
    std::string name = {};
    // Devices, in the order of their ranks in the domain. Empty: all of the worker's.
    std::vector<int> ranks = {};
    std::vector<WindowSpec> windows = {};
};

class Domain;

// A window as an argument of a task: each member uses its own part and addresses those of others.
class DomainWindow {
public:
    const std::string& name() const;

    // The words of a window of bytes (u8) as signals of i32: cell i is at byte 4 i. For kernels
    // that keep both in one window, which is then passed twice; which words are which is their
    // affair. Error(usage) if it is no window of bytes.
    DomainWindow as_signals() const;

private:
    friend class Domain;
    friend struct worker::Inside;
    DomainWindow(std::shared_ptr<worker::DomainState> domain, std::size_t index)
        : domain_(std::move(domain)), index_(index) {}
    std::shared_ptr<worker::DomainState> domain_;
    std::size_t index_;
    bool as_signals_ = false;
};

// A handle: copies refer to the same domain. Its windows are zeroed before anybody sees them and
// keep their contents and their generation from task to task. Domains may overlap; a device then
// has another rank in each. They may be released in any order.
class Domain {
public:
    const std::string& name() const;
    int nranks() const;
    const std::vector<int>& ranks() const;  // devices, by rank in the domain
    bool has(int device) const;
    // The rank of a device in this domain. Error(usage) if it is not in it.
    int rank_of(int device) const;

    // Error(usage), with the names that there are, if there is no such window.
    DomainWindow window(std::string_view name) const;
    DomainWindow operator[](std::string_view name) const { return window(name); }

    // A device's part of a window as a tensor of that device; signals as bytes. It keeps the memory
    // alive.
    Tensor view(std::string_view window, int device) const;

    // No further task may use it. The memory is given back when the tasks that use it are done and
    // the last handle and view is gone.
    void release();
    bool is_released() const;

private:
    friend struct worker::Inside;
    explicit Domain(std::shared_ptr<worker::DomainState> state) : state_(std::move(state)) {}
    std::shared_ptr<worker::DomainState> state_;
};

}  // namespace peal
