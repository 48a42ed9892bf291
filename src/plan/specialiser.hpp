// SPDX-License-Identifier: Apache-2.0
// Carries out the control flow of a lowered kernel for one rank and writes down the instructions.
#pragma once

#include <deque>
#include <string_view>

#include "peal/compile.hpp"
#include "peal/ops.hpp"
#include "plan/evaluate.hpp"

namespace peal {

class Specialiser final : private Evaluator {
public:
    Specialiser(const ir::Program& program, const ir::Kernel& kernel, const Bindings& bindings,
                int rank, int nranks, const CompileOptions& options);

    Plan run() &&;

private:
    using Handler = KernelValue (Specialiser::*)(const ir::Call&);

    // ---- parameters (parameters.cpp)
    void bind_parameters(const ir::Program& program);
    void bind_table(const ir::Var& param);
    void add_buffer(const ir::Param& param, bool is_signal);
    std::vector<std::int64_t> shape_of(const ir::Var& param);
    std::uint64_t product(const ir::Var& param, const std::vector<std::int64_t>& shape) const;

    // ---- control flow (specialise.cpp)
    void run_block(const ir::Block& block);
    void run_stmt(const ir::Stmt& stmt);
    void run_loop(const ir::ForStmt& loop);
    void run_condition(const ir::IfStmt& condition);
    std::vector<KernelValue> yields_of(const ir::Block& block);
    void count_round(Span where) override;
    const std::string& signal_name(std::uint16_t signal) const override;

    // ---- ops (emit.cpp)
    KernelValue call(const ir::Call& call) override;
    static Handler handler_of(std::string_view op);
    KernelValue load(const ir::Call& call);
    KernelValue remote_load(const ir::Call& call);
    KernelValue store(const ir::Call& call);
    KernelValue remote_store(const ir::Call& call);
    KernelValue put(const ir::Call& call);
    KernelValue get(const ir::Call& call);
    KernelValue slice(const ir::Call& call);
    template <ReduceOp kOp>
    KernelValue combine(const ir::Call& call);
    template <MapOp kOp>
    KernelValue with_scalar(const ir::Call& call);
    KernelValue full(const ir::Call& call);
    KernelValue notify(const ir::Call& call);
    KernelValue wait(const ir::Call& call);
    KernelValue epoch(const ir::Call& call);
    KernelValue advance(const ir::Call& call);
    KernelValue require(const ir::Call& call);

    std::int32_t peer(const ir::Call& call, const ir::Expr& operand);
    std::uint64_t natural(const ir::Call& call, const ir::Expr& operand, std::string_view what);
    double scalar(const ir::Call& call, const ir::Expr& operand, Element element);
    double exact(const ir::Call& call, std::int64_t integer) const;
    Cell cell(const ir::Call& call, std::int32_t rank, const ir::Expr& index);
    Value signal_value(const ir::Call& call, const ir::Expr& operand, std::uint16_t signal);
    // Elements [offset, offset + count) of a buffer of some rank.
    Range elements(const ir::Call& call, std::uint16_t buffer, std::int32_t rank,
                   std::uint64_t offset, std::uint64_t count);
    Range range_of(const TileValue& tile) const;
    TileValue new_tile(const ir::Call& call, Element element, std::uint64_t count);
    TileValue load_from(const ir::Call& call, const Range& source);
    void emit_copy(const ir::Call& call, const Range& dst, const Range& src);
    void emit(const ir::Call& call, Action action);

    const ir::Kernel& kernel_;
    const Bindings& bindings_;
    const CompileOptions& options_;
    Plan plan_;
    std::deque<Table> tables_;  // stable: variables point into it
    std::uint64_t rounds_ = 0;
};

}  // namespace peal
