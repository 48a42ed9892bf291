// SPDX-License-Identifier: Apache-2.0
#include "peal/builder.hpp"

#include <utility>

#include <fmt/format.h>

#include "ir/verify.hpp"
#include "peal/diagnostic.hpp"

namespace peal::ir {
namespace {

Attribute attribute(std::string_view attribute_name, std::string_view value) {
    return {std::string(attribute_name), std::string(value)};
}

std::string_view op_for(ReduceOp op) {
    switch (op) {
        case ReduceOp::sum: return ops::kTileAdd;
        case ReduceOp::prod: return ops::kTileMul;
        case ReduceOp::max: return ops::kTileMax;
        case ReduceOp::min: return ops::kTileMin;
    }
    return {};
}

}  // namespace

ExprPtr operator+(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::add, a, b); }
ExprPtr operator-(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::sub, a, b); }
ExprPtr operator*(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::mul, a, b); }
ExprPtr operator/(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::div, a, b); }
ExprPtr operator%(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::mod, a, b); }
ExprPtr operator+(const ExprPtr& a, std::int64_t b) { return a + integer(b); }
ExprPtr operator-(const ExprPtr& a, std::int64_t b) { return a - integer(b); }
ExprPtr operator*(const ExprPtr& a, std::int64_t b) { return a * integer(b); }
ExprPtr Eq(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::eq, a, b); }
ExprPtr NotEq(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::ne, a, b); }
ExprPtr Less(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::lt, a, b); }
ExprPtr AtLeast(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::ge, a, b); }
ExprPtr And(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::logical_and, a, b); }
ExprPtr Max(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::max, a, b); }
ExprPtr PowerOfTwo(const ExprPtr& exponent) { return binary(BinaryOp::shl, integer(1), exponent); }
ExprPtr FloorLog2(const ExprPtr& a) { return unary(UnaryOp::log2, a); }
// floor(log2(2a - 1)) is ceil(log2(a)).
ExprPtr CeilLog2(const ExprPtr& a) { return FloorLog2(a * 2 - 1); }

std::string NameCounter::Fresh(std::string_view hint) {
    std::string name(hint);
    if (taken_.insert(name).second) return name;
    int& last = last_[name];
    do {
        name = fmt::format("{}_{}", hint, ++last);
    } while (!taken_.insert(name).second);
    return name;
}

// ---------------------------------------------------------------------------- LoweringBuilder

ExprPtr LoweringBuilder::Bind(std::string_view hint, const ExprPtr& value) {
    VarPtr var = variable(names_->Fresh(hint), type_of(*value), span_);
    stmts_.push_back(let(var, value, span_));
    return var;
}

void LoweringBuilder::Emit(const CallPtr& call) { stmts_.push_back(eval(call, span_)); }

void LoweringBuilder::EmitFor(std::string_view hint, const ExprPtr& lo, const ExprPtr& hi,
                              const LoopFn& body) {
    const VarPtr counter = variable(names_->Fresh(hint), index_type(), span_);
    LoweringBuilder inner = Nested();
    body(inner, counter);
    stmts_.push_back(for_loop(counter, lo, hi, {}, inner.Take(), span_));
}

ExprPtr LoweringBuilder::EmitForReduce(std::string_view hint, const ExprPtr& lo, const ExprPtr& hi,
                                       const ExprPtr& init, const ReduceFn& body) {
    const VarPtr counter = variable(names_->Fresh(hint), index_type(), span_);
    const Type type = type_of(*init);
    Carried carried;
    carried.init = init;
    carried.inner = variable(names_->Fresh("acc_in"), type, span_);
    LoweringBuilder inner = Nested();
    const ExprPtr next = body(inner, counter, carried.inner);
    carried.result = variable(names_->Fresh("acc_out"), type, span_);
    stmts_.push_back(for_loop(counter, lo, hi, {carried}, inner.Take({next}), span_));
    return carried.result;
}

void LoweringBuilder::EmitIf(const ExprPtr& condition, const BodyFn& then_body,
                             const BodyFn& else_body) {
    LoweringBuilder then_builder = Nested();
    then_body(then_builder);
    LoweringBuilder else_builder = Nested();
    if (else_body) else_body(else_builder);
    stmts_.push_back(if_else(condition, {}, then_builder.Take(), else_builder.Take(), span_));
}

ExprPtr LoweringBuilder::EmitIfExpr(const ExprPtr& condition, const ValueFn& then_value,
                                    const ValueFn& else_value) {
    LoweringBuilder then_builder = Nested();
    const ExprPtr then_result = then_value(then_builder);
    LoweringBuilder else_builder = Nested();
    const ExprPtr else_result = else_value(else_builder);
    const VarPtr result = variable(names_->Fresh("chosen"), type_of(*then_result), span_);
    stmts_.push_back(if_else(condition, {result}, then_builder.Take({then_result}),
                             else_builder.Take({else_result}), span_));
    return result;
}

ExprPtr LoweringBuilder::Load(const ExprPtr& memory, const ExprPtr& offset, const ExprPtr& count) {
    return Bind("tile", make_call(ops::kTileLoad, {memory, offset, count}, {}, span_));
}

ExprPtr LoweringBuilder::RemoteLoad(const ExprPtr& window, const ExprPtr& peer,
                                    const ExprPtr& offset, const ExprPtr& count) {
    return Bind("recv", make_call(ops::kRemoteLoad, {window, peer, offset, count}, {}, span_));
}

ExprPtr LoweringBuilder::Slice(const ExprPtr& tile, const ExprPtr& offset, const ExprPtr& count) {
    return Bind("slice", make_call(ops::kTileSlice, {tile, offset, count}, {}, span_));
}

ExprPtr LoweringBuilder::Combine(ReduceOp op, const ExprPtr& a, const ExprPtr& b) {
    return Bind("acc", make_call(op_for(op), {a, b}, {}, span_));
}

void LoweringBuilder::Store(const ExprPtr& tile, const ExprPtr& memory, const ExprPtr& offset) {
    Emit(make_call(ops::kTileStore, {tile, memory, offset}, {}, span_));
}

void LoweringBuilder::RemoteStore(const ExprPtr& tile, const ExprPtr& window, const ExprPtr& peer,
                                  const ExprPtr& offset) {
    Emit(make_call(ops::kRemoteStore, {tile, window, peer, offset}, {}, span_));
}

void LoweringBuilder::PutLater(const ExprPtr& window, const ExprPtr& peer, const ExprPtr& offset,
                               const ExprPtr& src, const ExprPtr& src_offset,
                               const ExprPtr& count) {
    Emit(make_call(ops::kPutLater, {window, peer, offset, src, src_offset, count}, {}, span_));
}

void LoweringBuilder::Fence() { Emit(make_call(ops::kFence, {}, {}, span_)); }

void LoweringBuilder::Notify(const ExprPtr& signal, const ExprPtr& peer, const ExprPtr& cell,
                             const ExprPtr& value, NotifyOp op) {
    Emit(make_call(ops::kNotify, {signal, peer, cell, value}, {attribute("op", name(op))}, span_));
}

void LoweringBuilder::Wait(const ExprPtr& signal, const ExprPtr& cell, const ExprPtr& value,
                           Compare compare) {
    Emit(make_call(ops::kWait, {signal, cell, value}, {attribute("cmp", name(compare))}, span_));
}

ExprPtr LoweringBuilder::Generation(const ExprPtr& signal) {
    return make_call(ops::kGeneration, {signal}, {}, span_);
}

void LoweringBuilder::Advance(const ExprPtr& signal, const ExprPtr& by) {
    Emit(make_call(ops::kAdvance, {signal, by}, {}, span_));
}

void LoweringBuilder::Require(const ExprPtr& left, Compare compare, const ExprPtr& right) {
    Emit(make_call(ops::kRequire, {left, right}, {attribute("cmp", name(compare))}, span_));
}

Block LoweringBuilder::Take(std::vector<ExprPtr> yields) {
    return {std::exchange(stmts_, {}), std::move(yields)};
}

// ---------------------------------------------------------------------------- KernelBuilder

KernelBuilder::KernelBuilder(std::string name) : body_(names_, {}) {
    kernel_.name = std::move(name);
}

ExprPtr KernelBuilder::Symbol(std::string_view name) {
    names_.Reserve(name);
    return variable(std::string(name), index_type());
}

ExprPtr KernelBuilder::Parameter(std::string_view name, Type type, Direction direction) {
    names_.Reserve(name);
    kernel_.params.push_back({variable(std::string(name), std::move(type)), direction});
    return kernel_.params.back().var;
}

ExprPtr KernelBuilder::Tensor(std::string_view name, Element element, std::vector<ExprPtr> shape,
                              Direction direction) {
    return Parameter(name, {Type::Kind::tensor, element, std::move(shape)}, direction);
}

ExprPtr KernelBuilder::Window(std::string_view name, Element element, std::vector<ExprPtr> shape) {
    return Parameter(name, {Type::Kind::window, element, std::move(shape)}, Direction::unknown);
}

ExprPtr KernelBuilder::Scalar(std::string_view name, Element element) {
    return Parameter(name, {Type::Kind::scalar, element, {}}, Direction::unknown);
}

ExprPtr KernelBuilder::Table(std::string_view name, std::vector<ExprPtr> shape) {
    return Parameter(name, {Type::Kind::table, Element::i64, std::move(shape)}, Direction::unknown);
}

Program KernelBuilder::Finish() && {
    kernel_.body = body_.Take();
    Program program;
    program.kernels.push_back(std::move(kernel_));
    require_valid(program, "the builder");
    return program;
}

}  // namespace peal::ir
