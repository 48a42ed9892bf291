// SPDX-License-Identifier: Apache-2.0
// Plans meet memory: whether it fits, and where it is.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/aliases.hpp"
#include "engine/binding.hpp"
#include "engine/in_process.hpp"
#include "engine/run_record.hpp"
#include "peal/error.hpp"
#include "plan/names.hpp"

namespace peal {
namespace {

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
    throw Error(Fault::usage, fmt::format(text, std::forward<Parts>(parts)...));
}

std::string names_of(const std::vector<Buffer>& buffers) {
    std::string names;
    for (const Buffer& buffer : buffers) {
        names += (names.empty() ? "" : ", ") + buffer.name;
    }
    return names;
}

void check_counts(const std::vector<Plan>& plans, const std::vector<std::vector<Binding>>& bindings,
                  int nranks) {
    const auto expected = static_cast<std::size_t>(nranks);
    if (plans.size() != expected) {
        refuse("run: expected the plans of {} ranks, found {}", nranks, plans.size());
    }
    if (bindings.size() != expected) {
        refuse("run: expected the bindings of {} ranks, found {}", nranks, bindings.size());
    }
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        const Plan& plan = plans[rank];
        if (plan.rank != static_cast<int>(rank) || plan.nranks != nranks) {
            refuse("run: expected the plan of rank {} of {}, found that of rank {} of {}", rank,
                   nranks, plan.rank, plan.nranks);
        }
        if (bindings[rank].size() != plan.buffers.size()) {
            refuse("rank {}: expected {} bindings, for {}; found {}", rank, plan.buffers.size(),
                   names_of(plan.buffers), bindings[rank].size());
        }
    }
}

// The argument of one rank, or the symmetric memory of all.
void check_fit(const std::string& whose, const Buffer& buffer, const engine::Offer& offer) {
    if (const auto wrong = engine::misfit(buffer, offer)) {
        refuse("{}{} '{}': expected {}, found {}", whose, name(buffer.kind), buffer.name,
               wrong->expected, wrong->found);
    }
}

engine::Offer offer_of(const Binding& binding) {
    if (binding.symmetric != nullptr)
        return {.kind = engine::Offer::Kind::symmetric, .shown = "symmetric memory"};
    return {.kind = engine::Offer::Kind::argument,
            .data = binding.argument.data(),
            .bytes = binding.argument.size()};
}

void check_same_everywhere(std::size_t b, const Buffer& buffer,
                           const std::vector<std::vector<Binding>>& bindings) {
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
        if (bindings[rank][b].symmetric == nullptr) {
            refuse("rank {}, {} '{}': expected symmetric memory, found {}", rank, name(buffer.kind),
                   buffer.name,
                   bindings[rank][b].argument.data() == nullptr ? "none" : "private memory");
        }
        if (bindings[rank][b].symmetric != bindings[0][b].symmetric) {
            refuse("rank {}, {} '{}': expected the symmetric memory of rank 0, found another", rank,
                   name(buffer.kind), buffer.name);
        }
    }
}

}  // namespace

void InProcessEngine::Impl::check(const std::vector<Plan>& plans,
                                  const std::vector<std::vector<Binding>>& bindings) const {
    check_counts(plans, bindings, nranks);
    const std::vector<Buffer>& buffers = plans[0].buffers;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        const Buffer& buffer = buffers[b];
        if (buffer.kind == BufferKind::argument) {
            for (int rank = 0; rank < nranks; ++rank) {
                check_fit(fmt::format("rank {}, ", rank), plans[rank].buffers[b],
                          offer_of(bindings[rank][b]));
            }
            continue;
        }
        check_same_everywhere(b, buffer, bindings);
        check_symmetric(buffer, *bindings[0][b].symmetric->state_);
    }
    check_apart(plans, bindings);
}

// State is private to SymmetricMemory, so this is a member.
void InProcessEngine::Impl::check_apart(const std::vector<Plan>& plans,
                                        const std::vector<std::vector<Binding>>& bindings) const {
    std::vector<engine::BoundMemory> bound;
    bound.reserve(plans[0].buffers.size() * plans.size());
    for (int rank = 0; rank < nranks; ++rank) {
        for (std::size_t b = 0; b < plans[rank].buffers.size(); ++b) {
            const Buffer& buffer = plans[rank].buffers[b];
            const Binding& binding = bindings[rank][b];
            if (buffer.kind == BufferKind::argument) {
                bound.push_back({&buffer, binding.argument.data(), buffer.bytes, rank});
            } else if (rank == 0) {
                const SymmetricMemory::State& memory = *binding.symmetric->state_;
                bound.push_back({&buffer, memory.pages.get(),
                                 memory.rank_stride * static_cast<std::uint64_t>(nranks), rank});
            }
        }
    }
    if (const auto alias = engine::alias_among(bound)) refuse("{}", *alias);
}

// State is private to SymmetricMemory, so this is a member.
void InProcessEngine::Impl::check_symmetric(const Buffer& buffer,
                                            const SymmetricMemory::State& memory) const {
    if (memory.nranks != nranks) {
        refuse("{} '{}': expected symmetric memory of {} ranks, found {}", name(buffer.kind),
               buffer.name, nranks, memory.nranks);
    }
    const bool has_cells = memory.kind == BufferKind::signal;
    check_fit("", buffer,
              {.kind = has_cells ? engine::Offer::Kind::signals : engine::Offer::Kind::window,
               .bytes = memory.bytes,
               .cells = has_cells ? memory.bytes / memory.cell_stride : 0,
               .cell_stride = memory.cell_stride});
}

void InProcessEngine::Impl::bind(const std::vector<Plan>& plans,
                                 const std::vector<std::vector<Binding>>& bindings) {
    engine::record_set(plans, engine::CallOrder::together);
    std::uint64_t tile_bytes = 0;
    std::size_t lanes = 0;
    for (const Plan& plan : plans) {
        tile_bytes = std::max(tile_bytes, engine::tile_room(plan));
        lanes += plan.lane_count();
    }
    if (!tiles || tiles->bytes() < tile_bytes) tiles = SymmetricMemory::window(nranks, tile_bytes);

    cores.resize(lanes);
    auto core = cores.begin();
    for (int rank = 0; rank < nranks; ++rank) {
        engine::record_run(plans[rank]);
        tapes[rank].read(plans[rank]);
        bound[rank].clear();
        for (std::size_t b = 0; b < plans[rank].buffers.size(); ++b) {
            bound[rank].push_back(bind(plans[rank].buffers[b], bindings[rank][b]));
        }
        engine::add_unnamed_memory(plans[rank], tiles->on(rank), bound[rank]);
        for (std::size_t lane = 0; lane < plans[rank].lane_count(); ++lane, ++core) {
            core->start(tapes[rank], bound[rank], lane);
        }
    }
}

engine::BoundBuffer InProcessEngine::Impl::bind(const Buffer& buffer, const Binding& binding) {
    engine::BoundBuffer result;
    if (buffer.kind == BufferKind::argument) {
        result.base = binding.argument.data();
        return result;
    }
    const SymmetricMemory::State& memory = *binding.symmetric->state_;
    result.base = memory.pages.get();
    result.rank_stride = memory.rank_stride;
    result.generation = memory.generation;
    return result;
}

}  // namespace peal
