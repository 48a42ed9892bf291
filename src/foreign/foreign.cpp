// SPDX-License-Identifier: Apache-2.0
#include "foreign/foreign.hpp"

#include "foreign/msccl.hpp"
#include "foreign/mscclpp.hpp"

namespace peal::foreign {
namespace {

bool ends_with(std::string_view text, std::string_view ending) {
    return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

}  // namespace

std::optional<Meaning> meaning_of(const ForeignPlans& foreign) {
    const Plan& first = foreign.plans.front();
    const Buffer& input = first.buffers[foreign.ports.input];
    Meaning meaning;
    if (foreign.collective) {
        meaning = peal::meaning_of(*foreign.collective, first.nranks, foreign.ports);
        meaning.commutes = true;
        if (!is_apart(foreign.collective->placement)) return meaning;
    }
    if (input.kind != BufferKind::window) {
        return foreign.collective ? std::optional<Meaning>(meaning) : std::nullopt;
    }
    // Who calls writes the input, also where peers can see it.
    for (int rank = 0; rank < first.nranks; ++rank) {
        meaning.staged.push_back({rank, foreign.ports.input, 0, input.bytes});
    }
    return meaning;
}

bool is_foreign(const std::string& path, std::string_view text) {
    if (ends_with(path, ".xml")) return true;
    // A plan of ours has no GPUs.
    return ends_with(path, ".json") && text.find("\"gpus\"") != std::string_view::npos;
}

ForeignPlans read_plans(const SourcePtr& source, const ReadOptions& options) {
    if (ends_with(source->name(), ".xml")) return plans_of(read_msccl(source), options);
    return plans_of(read_mscclpp(source), options);
}

}  // namespace peal::foreign
