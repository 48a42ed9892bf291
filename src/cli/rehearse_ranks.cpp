// SPDX-License-Identifier: Apache-2.0
#include "cli/rehearse_ranks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "golden/rehearse.hpp"
#include "peal/check.hpp"

namespace peal::cli {
namespace {

// Outputs start as this, so that an element that nobody writes is seen.
constexpr std::byte kUntouched{0xa5};

// What one rank puts in, and what it must get.
class Part {
public:
    Part(const std::vector<Plan>& plans, const Collective& collective, int rank,
         const RankMemory& memory)
        : plan_(plans[static_cast<std::size_t>(rank)]),
          collective_(collective),
          ports_(ports_of(collective, plans.front())),
          memory_(memory) {}

    void put_input(int call) const {
        if (ports_.output != ports_.input) {
            std::fill_n(memory_(ports_.output), plan_.buffers[ports_.output].bytes, kUntouched);
        }
        const golden::Bytes input = golden::input(collective_, plan_.rank, plan_.nranks, call);
        std::copy(input.begin(), input.end(), at(ports_.input, golden::input_region));
    }

    std::optional<std::string> wrong_output(int call) const {
        std::vector<golden::Bytes> inputs;
        for (int rank = 0; rank < plan_.nranks; ++rank) {
            inputs.push_back(golden::input(collective_, rank, plan_.nranks, call));
        }
        const auto results = golden::expected(collective_, plan_.nranks, inputs);
        const auto& result = results[static_cast<std::size_t>(plan_.rank)];
        if (!result) return std::nullopt;
        const auto wrong = golden::difference(collective_.element, plan_.rank,
                                              at(ports_.output, golden::output_region), *result);
        if (!wrong) return std::nullopt;
        return fmt::format("call {}: {}", call, *wrong);
    }

private:
    using RegionOf = golden::Region(const Collective&, int rank, int nranks);

    std::byte* at(std::uint16_t buffer, RegionOf region_of) const {
        const golden::Region region = region_of(collective_, plan_.rank, plan_.nranks);
        const std::uint64_t offset = is_apart(collective_.placement) ? 0 : region.offset;
        return memory_(buffer) + offset * bytes_of(collective_.element);
    }

    const Plan& plan_;
    const Collective& collective_;
    Ports ports_;
    const RankMemory& memory_;
};

}  // namespace

RankWork rehearsal_of(const std::vector<Plan>& plans, const Collective& collective, int calls) {
    RankWork work;
    work.calls = calls;
    work.before = [](int, int, const RankMemory&) {};
    work.after = [](int, int, const RankMemory&) { return std::nullopt; };
    if (facts_of(collective.kind).has_data()) {
        work.before = [&](int rank, int call, const RankMemory& memory) {
            Part(plans, collective, rank, memory).put_input(call);
        };
        work.after = [&](int rank, int call, const RankMemory& memory) {
            return Part(plans, collective, rank, memory).wrong_output(call);
        };
    }
    return work;
}

}  // namespace peal::cli
