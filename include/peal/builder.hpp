// SPDX-License-Identifier: Apache-2.0
// Building kernels in C++. KernelBuilder declares parameters; LoweringBuilder writes statements.
// The same LoweringBuilder writes the recipes of the built-in collectives.
//
//   KernelBuilder k("copy_left");
//   auto n = k.Symbol("n");
//   auto out = k.Tensor("out", Element::f32, {n});
//   auto data = k.Window("data", Element::f32, {n});
//   auto& b = k.Body();
//   auto left = (rank() + nranks() - 1) % nranks();
//   b.Store(b.RemoteLoad(data, left, integer(0), n), out, integer(0));
//   ir::Program program = std::move(k).Finish();
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "peal/ir.hpp"
#include "peal/ops.hpp"

namespace peal::ir {

// Integer arithmetic on expressions. (Not ==: that compares pointers. Use Eq and NotEq.)
ExprPtr operator+(const ExprPtr& a, const ExprPtr& b);
ExprPtr operator-(const ExprPtr& a, const ExprPtr& b);
ExprPtr operator*(const ExprPtr& a, const ExprPtr& b);
ExprPtr operator/(const ExprPtr& a, const ExprPtr& b);
ExprPtr operator%(const ExprPtr& a, const ExprPtr& b);
ExprPtr operator+(const ExprPtr& a, std::int64_t b);
ExprPtr operator-(const ExprPtr& a, std::int64_t b);
ExprPtr operator*(const ExprPtr& a, std::int64_t b);
ExprPtr Eq(const ExprPtr& a, const ExprPtr& b);
ExprPtr NotEq(const ExprPtr& a, const ExprPtr& b);
ExprPtr Less(const ExprPtr& a, const ExprPtr& b);
ExprPtr AtLeast(const ExprPtr& a, const ExprPtr& b);  // a >= b
ExprPtr And(const ExprPtr& a, const ExprPtr& b);
ExprPtr Max(const ExprPtr& a, const ExprPtr& b);
ExprPtr PowerOfTwo(const ExprPtr& exponent);  // 1 << exponent
ExprPtr FloorLog2(const ExprPtr& a);
ExprPtr CeilLog2(const ExprPtr& a);  // 0 for 1; a >= 1

// Fresh names, unique within one kernel. All nested builders of a kernel share one.
class NameCounter {
public:
    void Reserve(std::string_view name) { taken_.emplace(name); }
    std::string Fresh(std::string_view hint);  // hint, hint_1, hint_2, ...

private:
    std::set<std::string, std::less<>> taken_;
    std::map<std::string, int, std::less<>> last_;  // number given to each hint
};

class LoweringBuilder {
public:
    LoweringBuilder(NameCounter& names, Span span) : names_(&names), span_(span) {}

    // Every statement emitted from here on is said to come from `span`.
    void At(Span span) { span_ = span; }

    // An index variable of a fresh name, for fold().
    VarPtr FreshIndex(std::string_view hint) {
        return variable(names_->Fresh(hint), index_type(), span_);
    }

    // let <hint> = value; the result is the new variable.
    ExprPtr Bind(std::string_view hint, const ExprPtr& value);
    void Emit(const CallPtr& call);

    using BodyFn = std::function<void(LoweringBuilder&)>;
    using ValueFn = std::function<ExprPtr(LoweringBuilder&)>;
    using LoopFn = std::function<void(LoweringBuilder&, const ExprPtr& i)>;
    using ReduceFn =
        std::function<ExprPtr(LoweringBuilder&, const ExprPtr& i, const ExprPtr& carried)>;

    // for <hint> in lo..hi { body }
    void EmitFor(std::string_view hint, const ExprPtr& lo, const ExprPtr& hi, const LoopFn& body);
    // The same, carrying one value: `init` at first, then what the body returned. The result is the
    // last.
    ExprPtr EmitForReduce(std::string_view hint, const ExprPtr& lo, const ExprPtr& hi,
                          const ExprPtr& init, const ReduceFn& body);
    void EmitIf(const ExprPtr& condition, const BodyFn& then_body, const BodyFn& else_body = {});
    // A condition with a value: both sides return one of the same type.
    ExprPtr EmitIfExpr(const ExprPtr& condition, const ValueFn& then_value,
                       const ValueFn& else_value);

    // Ops, bound to fresh names where they yield a value.
    ExprPtr Load(const ExprPtr& memory, const ExprPtr& offset, const ExprPtr& count);
    ExprPtr RemoteLoad(const ExprPtr& window, const ExprPtr& peer, const ExprPtr& offset,
                       const ExprPtr& count);
    ExprPtr Slice(const ExprPtr& tile, const ExprPtr& offset, const ExprPtr& count);
    ExprPtr Combine(ReduceOp op, const ExprPtr& a, const ExprPtr& b);
    void Store(const ExprPtr& tile, const ExprPtr& memory, const ExprPtr& offset);
    void RemoteStore(const ExprPtr& tile, const ExprPtr& window, const ExprPtr& peer,
                     const ExprPtr& offset);
    // From own memory to a peer's window; complete at the next Fence().
    void PutLater(const ExprPtr& window, const ExprPtr& peer, const ExprPtr& offset,
                  const ExprPtr& src, const ExprPtr& src_offset, const ExprPtr& count);
    void Fence();
    void Notify(const ExprPtr& signal, const ExprPtr& peer, const ExprPtr& cell,
                const ExprPtr& value, NotifyOp op = NotifyOp::set);
    void Wait(const ExprPtr& signal, const ExprPtr& cell, const ExprPtr& value,
              Compare compare = Compare::ge);
    ExprPtr Generation(
        const ExprPtr& signal);  // an expression, not bound: the generation at that point
    void Advance(const ExprPtr& signal, const ExprPtr& by);
    // The plan is not made unless left <compare> right.
    void Require(const ExprPtr& left, Compare compare, const ExprPtr& right);

    // What was emitted; the builder is empty afterwards.
    Block Take(std::vector<ExprPtr> yields = {});

private:
    LoweringBuilder Nested() const { return LoweringBuilder(*names_, span_); }

    NameCounter* names_;
    Span span_;
    std::vector<StmtPtr> stmts_;
};

class KernelBuilder {
public:
    explicit KernelBuilder(std::string name);
    KernelBuilder(const KernelBuilder&) = delete;
    KernelBuilder& operator=(const KernelBuilder&) = delete;

    ExprPtr Symbol(std::string_view name);
    ExprPtr Tensor(std::string_view name, Element element, std::vector<ExprPtr> shape,
                   Direction direction = Direction::unknown);
    ExprPtr Window(std::string_view name, Element element, std::vector<ExprPtr> shape);
    ExprPtr Scalar(std::string_view name, Element element = Element::i64);
    ExprPtr Table(std::string_view name, std::vector<ExprPtr> shape);

    LoweringBuilder& Body() { return body_; }

    // The kernel as a program of one, verified. Throws Error(program) when it is not well formed.
    Program Finish() &&;

private:
    ExprPtr Parameter(std::string_view name, Type type, Direction direction);

    Kernel kernel_;
    NameCounter names_;
    LoweringBuilder body_;
};

// A program that was put together node by node. Throws ProgramError with everything that is wrong.
Program verified(Program program);

}  // namespace peal::ir
