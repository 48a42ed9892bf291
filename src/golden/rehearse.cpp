// SPDX-License-Identifier: Apache-2.0
#include "golden/rehearse.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace peal::golden {
namespace {

// Outputs start as this, so that an element that nobody writes is seen.
constexpr std::byte kUntouched{0xa5};

void put_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

Rehearsal::Rehearsal(Stage& stage, const Collective& collective, const Ports& ports)
    : stage_(stage), collective_(collective), ports_(ports) {}

std::byte* Rehearsal::at(int rank, std::size_t buffer, const Region& region) {
    const std::uint64_t offset = is_apart(collective_.placement) ? 0 : region.offset;
    return stage_.memory(rank, buffer) + offset * bytes_of(collective_.element);
}

void Rehearsal::put_inputs(int call) {
    inputs_.clear();
    if (!facts_of(collective_.kind).has_data()) return;
    const int nranks = stage_.nranks();
    for (int rank = 0; rank < nranks; ++rank) {
        inputs_.push_back(input(collective_, rank, nranks, call));
        if (ports_.output != ports_.input) {
            std::fill_n(stage_.memory(rank, ports_.output), stage_.bytes(rank, ports_.output),
                        kUntouched);
        }
        put_bytes(at(rank, ports_.input, input_region(collective_, rank, nranks)),
                  inputs_.back().data(), inputs_.back().size());
    }
}

std::optional<std::string> Rehearsal::check_outputs(int call) {
    if (!facts_of(collective_.kind).has_data()) return std::nullopt;
    const int nranks = stage_.nranks();
    const auto results = expected(collective_, nranks, inputs_);
    for (int rank = 0; rank < nranks; ++rank) {
        const auto& result = results[static_cast<std::size_t>(rank)];
        if (!result) continue;
        const auto wrong =
            difference(collective_.element, rank,
                       at(rank, ports_.output, output_region(collective_, rank, nranks)), *result);
        if (wrong) return fmt::format("call {}: {}", call, *wrong);
    }
    return std::nullopt;
}

Stage::Stage(const std::vector<Plan>& plans, const Shared& shared) {
    const auto nranks = static_cast<int>(plans.size());
    for (const Buffer& buffer : plans.front().buffers) {
        const auto given = shared.find(buffer.name);
        if (buffer.kind == BufferKind::argument) {
            symmetric_.push_back(nullptr);
        } else if (given != shared.end()) {
            symmetric_.push_back(given->second);
        } else {
            owned_.push_back(std::make_unique<SymmetricMemory>(
                buffer.kind == BufferKind::window
                    ? SymmetricMemory::window(nranks, buffer.bytes)
                    : SymmetricMemory::signal(nranks, buffer.cells, buffer.cell_stride)));
            symmetric_.push_back(owned_.back().get());
        }
    }
    arguments_.resize(plans.size());
    bindings_.resize(plans.size());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        const std::vector<Buffer>& buffers = plans[rank].buffers;
        arguments_[rank].resize(buffers.size());
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            if (!symmetric_[b]) arguments_[rank][b].resize(buffers[b].bytes);
            bindings_[rank].push_back({arguments_[rank][b], symmetric_[b]});
        }
    }
}

std::byte* Stage::memory(int rank, std::size_t buffer) {
    return symmetric_[buffer] ? symmetric_[buffer]->on(rank)
                              : arguments_[static_cast<std::size_t>(rank)][buffer].data();
}

std::uint64_t Stage::bytes(int rank, std::size_t buffer) const {
    return symmetric_[buffer] ? symmetric_[buffer]->bytes()
                              : arguments_[static_cast<std::size_t>(rank)][buffer].size();
}

Outcome rehearse(const std::vector<Plan>& plans, const Collective& collective, const Ports& ports,
                 int calls, const EngineOptions& options) {
    Stage stage(plans);
    Rehearsal rehearsal(stage, collective, ports);
    InProcessEngine engine(stage.nranks(), options);
    Outcome outcome;
    for (int call = 0; call < calls && !outcome.wrong; ++call) {
        rehearsal.put_inputs(call);
        const double seconds = engine.run(plans, stage.bindings()).seconds;
        outcome.seconds = call == 0 ? seconds : std::min(outcome.seconds, seconds);
        outcome.wrong = rehearsal.check_outputs(call);
    }
    return outcome;
}

Outcome rehearse(const Collective& collective, int nranks, int calls,
                 const EngineOptions& options) {
    const std::vector<Plan> plans = compile(collective, nranks);
    return rehearse(plans, collective, ports_of(collective, plans.front()), calls, options);
}

}  // namespace peal::golden
