// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/target.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

// The count per rank, from the buffers that hold input and output.
std::uint64_t count_of(const Collective& collective, const Plan& plan, const Ports& ports) {
    const auto nranks = static_cast<std::uint64_t>(plan.nranks);
    const std::uint64_t in = plan.buffers[ports.input].elements();
    const std::uint64_t out = plan.buffers[ports.output].elements();
    const CollectiveFacts facts = facts_of(collective.kind);
    const bool is_apart = ports.input != ports.output;
    if (is_apart && facts.input_is_larger()) return out;
    if (is_apart && facts.output_is_larger()) return in;
    return facts.has_blocks() ? in / nranks : in;
}

Placement placement_of(const Plan& plan, const Ports& ports) {
    if (ports.input != ports.output) return Placement::separate;
    return plan.buffers[ports.input].kind == BufferKind::window ? Placement::window
                                                                : Placement::in_place;
}

void check_size(std::string_view option, const Collective& collective, const Plan& plan,
                std::uint16_t buffer, std::uint64_t wanted, std::string_view what) {
    const std::uint64_t found = plan.buffers[buffer].elements();
    if (found == wanted) return;
    throw Error(Fault::usage, fmt::format("{} {}: {} '{}' of rank {} has {} elements, expected {}",
                                          option, name(collective.kind), what,
                                          plan.buffers[buffer].name, plan.rank, found, wanted));
}

}  // namespace

CollectiveKind expected_kind(std::string_view option, const std::string& expected) {
    const auto kind = collective_from(expected);
    if (kind) return *kind;
    std::vector<std::string_view> names;
    for (const CollectiveKind each : kCollectives) names.push_back(name(each));
    bad_usage(fmt::format("{}: there is no collective '{}'; choose one of {}", option, expected,
                          fmt::join(names, ", ")));
}

Collective expected_collective(std::string_view option, const std::string& expected,
                               const TargetOptions& options, const Target& target,
                               const std::vector<Plan>& plans) {
    const CollectiveKind kind = expected_kind(option, expected);
    Collective collective = collective_for(kind, options, target.nranks);
    collective.recipe = "auto";
    if (!facts_of(kind).has_data()) return collective;
    const Plan& first = plans.front();
    const Ports ports = ports_of(first, target.holds, target.result);
    collective.placement = placement_of(first, ports);
    collective.element = first.buffers[ports.output].element;
    collective.count = count_of(collective, first, ports);
    if (const auto root = target.bindings.integers.find("root");
        root != target.bindings.integers.end()) {
        collective.root = static_cast<int>(root->second);
    }
    validate(collective, target.nranks);
    if (collective.placement != Placement::separate) return collective;
    for (const Plan& plan : plans) {
        check_size(option, collective, plan, ports.input,
                   input_count(collective, plan.rank, plan.nranks), "input");
        check_size(option, collective, plan, ports.output,
                   output_count(collective, plan.rank, plan.nranks), "output");
    }
    return collective;
}

std::optional<Collective> collective_of(const Target& target, const TargetOptions& options,
                                        const std::string& expect, const std::vector<Plan>& plans) {
    if (target.foreign) return target.foreign->collective;
    if (expect.empty()) return target.collective ? target.collective : target.said_to_be;
    if (target.collective) {
        throw Error(Fault::usage,
                    "--expect is for .peal kernels; a collective knows its own result");
    }
    if (target.is_pto()) {
        throw Error(Fault::usage, "--expect is for .peal kernels; for a PTO kernel say --as");
    }
    return expected_collective("--expect", expect, options, target, plans);
}

}  // namespace peal::cli
