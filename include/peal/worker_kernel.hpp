// SPDX-License-Identifier: Apache-2.0
// What a task runs, and what it runs on.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/ir.hpp"
#include "peal/plan.hpp"
#include "peal/worker_domain.hpp"
#include "peal/worker_tensor.hpp"

namespace peal {

namespace worker {
class KernelSource;
class RunRecord;
struct Inside;
}  // namespace worker

// Calls that whoever submits them has proved as a whole: one after the other, `once` each time on
// zeroed windows, or again and again, each time when all have returned from the one before.
class ProvedRun {
public:
    ProvedRun(const std::vector<CheckStage>& calls, bool once);

private:
    friend class DeviceKernel;
    std::shared_ptr<worker::RunRecord> record_;
};

// A kernel for the devices of any worker. It is compiled when it first meets arguments of some
// shape and a number of ranks, and kept for the next time. Copies share what was compiled.
class DeviceKernel {
public:
    // A kernel of a program: from .peal text, or from the C++ builder. Arguments follow its
    // parameters. A shape symbol takes its value from the first tensor or window with a dimension
    // of that name; `bindings` gives symbols that cannot be found so, and scalars and tables that
    // are not to be passed as arguments.
    DeviceKernel(ir::Program program, std::string_view kernel, Bindings bindings = {});
    // The only kernel of a program. Error(usage) if there are several.
    explicit DeviceKernel(ir::Program program, Bindings bindings = {});

    // A built-in collective. Arguments: (input, output, data, signal), in place (buffer, data,
    // signal), on a window (data, signal); a barrier has (signal). windows() says how large the
    // windows must be.
    explicit DeviceKernel(Collective collective);

    // Plans of all ranks, of any origin. Arguments follow Plan::buffers. Throws Error(program) when
    // they are not valid.
    explicit DeviceKernel(std::vector<Plan> plans);

    const std::string& name() const;

    // The same kernel, of which these windows hold something when a call begins: the host or an
    // earlier task has put it there. A worker that proves it counts on that. Error(usage) when it
    // is submitted and has no such window.
    DeviceKernel holding(std::vector<Held> windows) const;
    // The same kernel, as a part of such runs: no worker proves it by itself.
    DeviceKernel proved_in(const ProvedRun& run) const;

    // The windows that it needs on each of n ranks, in the order of its parameters. Only for
    // kernels whose sizes do not depend on arguments: a collective, plans, or a program with all
    // its bindings; otherwise Error(usage).
    std::vector<WindowSpec> windows(int nranks) const;

private:
    friend struct worker::Inside;
    std::shared_ptr<worker::KernelSource> source_;
    std::vector<Held> holds_;
    std::shared_ptr<worker::RunRecord> run_;
};

// One argument of a task.
class Argument {
public:
    using Value =
        std::variant<Tensor, DomainWindow, std::int64_t, double, std::vector<std::int64_t>>;

    // NOLINTBEGIN(google-explicit-constructor): arguments are written as they are
    Argument(Tensor tensor) : value(std::move(tensor)) {}
    Argument(DomainWindow window) : value(std::move(window)) {}
    Argument(std::integral auto number) : value(static_cast<std::int64_t>(number)) {}
    Argument(std::floating_point auto number) : value(static_cast<double>(number)) {}
    Argument(std::vector<std::int64_t> table) : value(std::move(table)) {}
    // NOLINTEND(google-explicit-constructor)
    Argument(Tensor tensor, Direction use) : value(std::move(tensor)), direction(use) {}

    Value value;
    // What the task does with a tensor. A kernel knows by itself; said here, it must agree. A host
    // task must be told.
    Direction direction = Direction::unknown;
};
using Arguments = std::vector<Argument>;

inline Argument in(Tensor tensor) { return {std::move(tensor), Direction::in}; }
inline Argument out(Tensor tensor) { return {std::move(tensor), Direction::out}; }
inline Argument inout(Tensor tensor) { return {std::move(tensor), Direction::inout}; }

// The arguments of each member of a group: per_rank(4, [&](int r) { return Arguments{...}; }).
template <class Make>
std::vector<Arguments> per_rank(int nranks, Make&& make) {
    std::vector<Arguments> all;
    for (int rank = 0; rank < nranks; ++rank) all.push_back(make(rank));
    return all;
}

}  // namespace peal
