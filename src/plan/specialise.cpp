// SPDX-License-Identifier: Apache-2.0
// Loops are unrolled, branches taken and values carried: what is left is a list of instructions.
#include <fmt/format.h>

#include "ir/fields.hpp"
#include "peal/error.hpp"
#include "plan/bindings.hpp"
#include "plan/specialiser.hpp"

namespace peal {
namespace {

constexpr int kMaxRanks = 1024;

// Rounds of a loop that emit nothing cost time too.
constexpr std::uint64_t kRoundsPerInstruction = 16;

void require_rank(int rank, int nranks) {
    if (nranks < 1 || nranks > kMaxRanks) {
        throw Error(Fault::usage, fmt::format("expected 1..{} ranks, found {}", kMaxRanks, nranks));
    }
    if (rank < 0 || rank >= nranks) {
        throw Error(Fault::usage,
                    fmt::format("expected a rank in 0..{}, found {}", nranks - 1, rank));
    }
}

const ir::Kernel& find_kernel(const ir::Program& program, std::string_view name) {
    if (const ir::Kernel* kernel = program.find(name)) return *kernel;
    throw Error(Fault::usage, fmt::format("there is no kernel '{}' in the program", name));
}

}  // namespace

Specialiser::Specialiser(const ir::Program& program, const ir::Kernel& kernel,
                         const Bindings& bindings, int rank, int nranks,
                         const CompileOptions& options)
    : Evaluator(program.source.get(),
                fmt::format("kernel {}, rank {} of {}", kernel.name, rank, nranks)),
      kernel_(kernel),
      bindings_(bindings),
      options_(options) {
    plan_.kernel = kernel.name;
    plan_.rank = rank;
    plan_.nranks = nranks;
    plan_.source = program.source;
    bind_parameters(program);
}

Plan Specialiser::run() && {
    run_block(kernel_.body);
    return std::move(plan_);
}

void Specialiser::run_block(const ir::Block& block) {
    for (const ir::StmtPtr& stmt : block.stmts) {
        enter(stmt->span);
        run_stmt(*stmt);
    }
}

void Specialiser::run_stmt(const ir::Stmt& stmt) {
    switch (stmt.kind) {
        case ir::StmtKind::let: {
            const auto& let = static_cast<const ir::Let&>(stmt);
            return define(let.var->name, evaluate(*let.value));
        }
        case ir::StmtKind::eval: evaluate(*static_cast<const ir::Eval&>(stmt).call); return;
        case ir::StmtKind::for_loop: return run_loop(static_cast<const ir::ForStmt&>(stmt));
        case ir::StmtKind::if_else: return run_condition(static_cast<const ir::IfStmt&>(stmt));
        case ir::StmtKind::invoke:
            fail(stmt.span,
                 fmt::format("the call of kernel '{}' is not inlined",
                             static_cast<const ir::Invoke&>(stmt).kernel),
                 "lower the program first");
    }
}

std::vector<KernelValue> Specialiser::yields_of(const ir::Block& block) {
    std::vector<KernelValue> values;
    values.reserve(block.yields.size());
    for (const ir::ExprPtr& yield : block.yields) values.push_back(evaluate(*yield));
    return values;
}

void Specialiser::run_loop(const ir::ForStmt& loop) {
    const std::int64_t lo = integer(*loop.lo);
    const std::int64_t hi = integer(*loop.hi);
    std::vector<KernelValue> carried;
    for (const ir::Carried& value : loop.carried) carried.push_back(evaluate(*value.init));
    for (std::int64_t i = lo; i < hi; ++i) {
        count_round(loop.span);
        define(loop.var->name, AffineInteger{i, 0, 0});
        for (std::size_t c = 0; c < carried.size(); ++c) {
            define(loop.carried[c].inner->name, carried[c]);
        }
        run_block(loop.body);
        carried = yields_of(loop.body);
    }
    for (std::size_t c = 0; c < carried.size(); ++c) {
        define(loop.carried[c].result->name, carried[c]);
    }
}

void Specialiser::run_condition(const ir::IfStmt& condition) {
    const ir::Block& taken =
        truth(*condition.condition) ? condition.then_block : condition.else_block;
    run_block(taken);
    const std::vector<KernelValue> values = yields_of(taken);
    for (std::size_t i = 0; i < values.size(); ++i) {
        define(condition.results[i]->name, values[i]);
    }
}

void Specialiser::count_round(Span where) {
    const std::uint64_t limit = options_.max_instructions * kRoundsPerInstruction;
    if (++rounds_ > limit) {
        fail(where, fmt::format("the loops take more than {} rounds", limit),
             "plans are unrolled: use fewer, larger pieces, or raise max_instructions");
    }
}

const std::string& Specialiser::signal_name(std::uint16_t signal) const {
    return plan_.buffers[signal].name;
}

Plan specialise(const ir::Program& lowered, std::string_view kernel, const Bindings& bindings,
                int rank, int nranks, const CompileOptions& options) {
    require_rank(rank, nranks);
    const ir::Kernel& found = find_kernel(lowered, kernel);
    require_bindings(found, bindings);
    return Specialiser(lowered, found, bindings, rank, nranks, options).run();
}

}  // namespace peal
