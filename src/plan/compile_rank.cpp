// SPDX-License-Identifier: Apache-2.0
#include "plan/compile_rank.hpp"

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "passes/pipeline.hpp"
#include "peal/program.hpp"
#include "plan/fuse_steps.hpp"
#include "plan/lanes.hpp"
#include "plan/specialise.hpp"

namespace peal::plan {
namespace {

// What program_of() depends on.
struct ProgramKey {
    CollectiveKind kind;
    std::string recipe;
    Element element;
    ReduceOp op;
    Placement placement;
    bool has_offsets;
    int sets;

    auto operator<=>(const ProgramKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

ProgramKey key_of(const Collective& collective) {
    return {collective.kind,      collective.recipe,           collective.element, collective.op,
            collective.placement, !collective.sent_at.empty(), collective.sets};
}

// As LoweredKernel, but without a source: nobody is told of the lines of a built-in recipe.
struct KeptKernel {
    explicit KeptKernel(const Collective& collective)
        : program(passes::lower_unverified(program_of(collective))),
          resolved(resolve(program, name(collective.kind))) {}
    KeptKernel(const KeptKernel&) = delete;
    KeptKernel& operator=(const KeptKernel&) = delete;

    const ir::Program program;
    const ResolvedKernel resolved;  // refers to the program
};

ir::Program with_source(ir::Program lowered, std::string_view kernel) {
    if (lowered.source) return lowered;
    return parse(
        std::make_shared<const Source>(fmt::format("{}.peal (lowered)", kernel), print(lowered)));
}

// There are as many entries as keys were used: a fixed number of kinds, recipes and types.
const ResolvedKernel& kernel_of(const Collective& collective) {
    static std::mutex mutex;
    static std::map<ProgramKey, KeptKernel> known;
    ProgramKey key = key_of(collective);
    const std::lock_guard lock(mutex);
    const auto it = known.find(key);
    if (it != known.end()) return it->second.resolved;
    return known.try_emplace(std::move(key), collective).first->second.resolved;
}

}  // namespace

LoweredKernel::LoweredKernel(const ir::Program& program, std::string_view kernel)
    : program_(with_source(lower(program), kernel)), resolved_(resolve(program_, kernel)) {}

Plan compile_rank(const ResolvedKernel& kernel, const Bindings& bindings, int rank, int nranks,
                  const CompileOptions& options) {
    Draft draft = specialise(kernel, bindings, rank, nranks, options);
    Plan plan;
    if (options.fuse) {
        plan = fuse(std::move(draft));
    } else {
        plan = written_out(std::move(draft));
        change_lanes(plan, place_tiles);
    }
    validate(plan);
    return plan;
}

Plan compile_rank(const LoweredKernel& kernel, const Bindings& bindings, int rank, int nranks,
                  const CompileOptions& options) {
    return compile_rank(kernel.resolved(), bindings, rank, nranks, options);
}

Plan compile_rank(const Collective& collective, int rank, int nranks) {
    validate(collective, nranks);
    CompileOptions options;
    options.lanes = lanes_of(collective);
    return compile_rank(kernel_of(collective), bindings_of(collective), rank, nranks, options);
}

}  // namespace peal::plan
