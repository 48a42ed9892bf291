// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/target.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

std::uint64_t elements(const Buffer& buffer) { return buffer.bytes / bytes_of(buffer.element); }

// The count per rank, from the buffers that hold input and output.
std::uint64_t count_of(const Collective& collective, const Plan& plan, const Ports& ports) {
    const auto nranks = static_cast<std::uint64_t>(plan.nranks);
    const std::uint64_t in = elements(plan.buffers[ports.input]);
    const std::uint64_t out = elements(plan.buffers[ports.output]);
    const bool is_apart = ports.input != ports.output;
    switch (collective.kind) {
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::scatter: return is_apart ? out : out / nranks;
        case CollectiveKind::allgather:
        case CollectiveKind::gather: return is_apart ? in : in / nranks;
        case CollectiveKind::all_to_all: return in / nranks;
        default: return in;
    }
}

void check_size(const Collective& collective, const Plan& plan, std::uint16_t buffer,
                std::uint64_t wanted, std::string_view what) {
    const std::uint64_t found = elements(plan.buffers[buffer]);
    if (found == wanted) return;
    throw Error(Fault::usage,
                fmt::format("--expect {}: {} '{}' of rank {} has {} elements, expected {}",
                            name(collective.kind), what, plan.buffers[buffer].name, plan.rank,
                            found, wanted));
}

}  // namespace

Collective expected_collective(const std::string& expected, const TargetOptions& options,
                               const Target& target, const std::vector<Plan>& plans) {
    const auto kind = collective_from(expected);
    if (!kind)
        throw Error(Fault::usage, fmt::format("--expect: there is no collective '{}'", expected));
    Collective collective = collective_for(*kind, options, target.nranks);
    collective.mode = "auto";
    if (*kind == CollectiveKind::barrier) return collective;
    const Plan& first = plans.front();
    // A kernel without private memory works on its window.
    const bool has_private =
        std::any_of(first.buffers.begin(), first.buffers.end(),
                    [](const Buffer& b) { return b.kind == BufferKind::argument; });
    collective.placement = has_private ? Placement::separate : Placement::window;
    const Ports ports = ports_of(collective, first);
    if (has_private && ports.input == ports.output) collective.placement = Placement::in_place;
    collective.element = first.buffers[ports.output].element;
    collective.count = count_of(collective, first, ports);
    if (const auto root = target.bindings.integers.find("root");
        root != target.bindings.integers.end()) {
        collective.root = static_cast<int>(root->second);
    }
    validate(collective, target.nranks);
    if (collective.placement != Placement::separate) return collective;
    for (const Plan& plan : plans) {
        check_size(collective, plan, ports.input, input_count(collective, plan.rank, plan.nranks),
                   "input");
        check_size(collective, plan, ports.output, output_count(collective, plan.rank, plan.nranks),
                   "output");
    }
    return collective;
}

}  // namespace peal::cli
