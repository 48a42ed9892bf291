// SPDX-License-Identifier: Apache-2.0
#include "golden/rehearse.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "engine/run_record.hpp"
#include "peal/watch.hpp"

namespace peal::golden {
namespace {

// What all ranks get in the call at hand, worked out once.
class Expectation {
public:
    Expectation(const Collective& collective, int nranks)
        : collective_(collective), nranks_(nranks) {}

    const std::optional<Bytes>& of(int rank, int call) {
        if (call != call_) work_out(call);
        return results_[static_cast<std::size_t>(rank)];
    }

private:
    void work_out(int call) {
        std::vector<Bytes> inputs;
        for (int rank = 0; rank < nranks_; ++rank) {
            inputs.push_back(input(collective_, rank, nranks_, call));
        }
        results_ = expected(collective_, nranks_, inputs);
        call_ = call;
    }

    const Collective collective_;
    const int nranks_;
    int call_ = -1;
    std::vector<std::optional<Bytes>> results_;
};

class Rehearsal {
public:
    Rehearsal(const std::vector<Plan>& plans, const Collective& collective, const Ports& ports)
        : plans_(plans),
          collective_(collective),
          ports_(ports),
          expectation_(collective, plans.front().nranks) {}

    void put_input(int rank, int call, const RankMemory& memory) const {
        const Buffer& output = plans_[static_cast<std::size_t>(rank)].buffers[ports_.output];
        // A window is not the caller's to write, unless it holds the input.
        if (ports_.output != ports_.input && output.kind == BufferKind::argument) {
            std::fill_n(memory(ports_.output), output.bytes, kUntouched);
        }
        const Bytes bytes = input(collective_, rank, nranks(), call);
        const Region region = input_region(collective_, rank, nranks());
        std::copy(bytes.begin(), bytes.end(), memory(ports_.input) + offset_of(region));
    }

    std::optional<std::string> wrong_output(int rank, int call, const RankMemory& memory) {
        const std::optional<Bytes>& result = expectation_.of(rank, call);
        if (!result) return std::nullopt;
        const Region region = output_region(collective_, rank, nranks());
        const auto wrong = difference(collective_.element, rank,
                                      memory(ports_.output) + offset_of(region), *result);
        if (!wrong) return std::nullopt;
        return fmt::format("call {}: {}", call, *wrong);
    }

private:
    int nranks() const { return plans_.front().nranks; }
    std::uint64_t offset_of(const Region& region) const {
        return is_apart(collective_.placement) ? 0 : region.offset * bytes_of(collective_.element);
    }

    const std::vector<Plan>& plans_;
    const Collective collective_;
    const Ports ports_;
    Expectation expectation_;
};

}  // namespace

RankWork rehearsal_of(const std::vector<Plan>& plans, const Collective& collective,
                      const Ports& ports, int calls) {
    engine::record_set(plans, engine::CallOrder::together, collective);
    RankWork work;
    work.calls = calls;
    work.before = [](int, int, const RankMemory&) {};
    work.after = [](int, int, const RankMemory&) { return std::nullopt; };
    if (facts_of(collective.kind).has_data()) {
        const auto rehearsal = std::make_shared<Rehearsal>(plans, collective, ports);
        work.before = [rehearsal](int rank, int call, const RankMemory& memory) {
            rehearsal->put_input(rank, call, memory);
        };
        work.after = [rehearsal](int rank, int call, const RankMemory& memory) {
            return rehearsal->wrong_output(rank, call, memory);
        };
    }
    return work;
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

Outcome run(const std::vector<Plan>& plans, Stage& stage, InProcessEngine& engine,
            const RankWork& work) {
    const auto for_each_rank = [&](auto&& each) {
        for (int rank = 0; rank < stage.nranks(); ++rank) {
            each(rank, [&](std::size_t buffer) { return stage.memory(rank, buffer); });
        }
    };
    Outcome outcome;
    for (int call = 0; call < work.calls && !outcome.wrong; ++call) {
        Watch::look_up();
        for_each_rank([&](int rank, const RankMemory& memory) { work.before(rank, call, memory); });
        const double seconds = engine.run(plans, stage.bindings()).seconds;
        outcome.seconds = call == 0 ? seconds : std::min(outcome.seconds, seconds);
        for_each_rank([&](int rank, const RankMemory& memory) {
            if (!outcome.wrong) outcome.wrong = work.after(rank, call, memory);
        });
    }
    return outcome;
}

Outcome rehearse(const std::vector<Plan>& plans, const Collective& collective, const Ports& ports,
                 int calls, const EngineOptions& options) {
    Stage stage(plans);
    InProcessEngine engine(stage.nranks(), options);
    return run(plans, stage, engine, rehearsal_of(plans, collective, ports, calls));
}

Outcome rehearse(const Collective& collective, int nranks, int calls,
                 const EngineOptions& options) {
    const std::vector<Plan> plans = compile(collective, nranks);
    engine::record_compiled(plans, engine::CallOrder::together, collective);
    return rehearse(plans, collective, ports_of(collective, plans.front()), calls, options);
}

}  // namespace peal::golden
