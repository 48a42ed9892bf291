// SPDX-License-Identifier: Apache-2.0
#include "plan/compile_rank.hpp"

#include <compare>
#include <map>
#include <mutex>
#include <string>

#include "plan/specialise.hpp"

namespace peal {
namespace {

// What program_of() depends on.
struct Form {
    CollectiveKind kind;
    std::string mode;
    Element element;
    ReduceOp op;
    Placement placement;

    auto operator<=>(const Form&) const = default;
};

Form form_of(const Collective& collective) {
    return {collective.kind, collective.mode, collective.element, collective.op,
            collective.placement};
}

// A lowered program and its one kernel, which refers to it.
class Lowered {
public:
    explicit Lowered(const Collective& collective)
        : program_(lower(program_of(collective))),
          kernel_(resolve(program_, name(collective.kind))) {}
    Lowered(const Lowered&) = delete;
    Lowered& operator=(const Lowered&) = delete;

    const ResolvedKernel& kernel() const { return kernel_; }

private:
    ir::Program program_;
    ResolvedKernel kernel_;
};

// There are as many entries as forms were used: a fixed number of kinds, modes and types.
const ResolvedKernel& kernel_of(const Collective& collective) {
    static std::mutex mutex;
    static std::map<Form, Lowered> known;
    Form form = form_of(collective);
    const std::lock_guard lock(mutex);
    const auto it = known.find(form);
    if (it != known.end()) return it->second.kernel();
    return known.try_emplace(std::move(form), collective).first->second.kernel();
}

}  // namespace

Plan compile_rank(const Collective& collective, int rank, int nranks) {
    validate(collective, nranks);
    Plan plan = fuse(specialise(kernel_of(collective), bindings_of(collective), rank, nranks));
    validate(plan);
    return plan;
}

}  // namespace peal
