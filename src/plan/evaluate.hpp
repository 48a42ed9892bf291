// SPDX-License-Identifier: Apache-2.0
// Evaluating the expressions of a kernel once rank, rank count, sizes and scalars are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "peal/diagnostic.hpp"
#include "plan/periods.hpp"
#include "plan/resolved.hpp"

namespace peal::plan {

// (constant + per_generation * g) / divisor, rounded down, where g is the generation of the signal
// buffer `signal`. A plain integer has per_generation 0 and no signal. One that comes back again
// and again as g grows has per_generation 0 and a cycle, by its number: Evaluator::cycle().
// By `step` the constant grows in each period of the loop that is followed (plan/periods.hpp).
struct AffineInteger {
    std::int64_t constant = 0;
    std::int64_t per_generation = 0;
    std::uint16_t signal = 0;
    std::uint16_t cycle = 0;
    std::int32_t divisor = 1;
    std::int64_t step = 0;

    bool is_plain() const { return per_generation == 0 && cycle == 0; }
    Periods::Number in_periods() const { return {constant, step}; }
};

// By generation, from 0 on; then from the first again.
using Cycle = std::vector<std::int64_t>;

// A tile: bytes [offset, offset + bytes) of tile memory.
struct TileValue {
    Element element = Element::f32;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;

    std::uint64_t count() const { return bytes / bytes_of(element); }
};

// A memory parameter, by its place in Plan::buffers.
struct BufferValue {
    std::uint16_t index = 0;
};

struct Table {
    std::vector<std::int64_t> shape;
    std::span<const std::int64_t> numbers;  // row-major
};
using TableValue = const Table*;

// What a variable of the kernel stands for. monostate: it has no value yet; or a call made for its
// effect.
using KernelValue =
    std::variant<std::monostate, AffineInteger, double, bool, TileValue, BufferValue, TableValue>;

// Evaluates expressions in an environment of variables. Calls are left to whoever derives from it.
// Everything that goes wrong is a ProgramError at the expression, or at the statement around it
// when the expression comes from nowhere.
class Evaluator {
public:
    virtual ~Evaluator() = default;

protected:
    Evaluator(const Source* source, Slot slots, Memo memos)
        : source_(source), variables_(slots), results_(memos) {}

    void define(Slot variable, KernelValue value) { variables_[variable] = {value, ++clock_}; }
    // The kernel begins anew: a variable of those before it has changed.
    void forget() { std::fill(results_.begin(), results_.end(), Result{}); }

    virtual KernelValue call(const Expression& call) = 0;
    // Added to every message: "rank 1 of 4".
    virtual std::string who() const = 0;
    // How messages name a signal buffer.
    virtual const std::string& signal_name(std::uint16_t signal) const = 0;

    KernelValue evaluate(const Expression& expr);
    AffineInteger affine(const Expression& expr);
    // The same in all periods.
    std::int64_t integer(const Expression& expr);
    // A plain integer that may grow from period to period.
    AffineInteger plain(const Expression& expr);
    bool truth(const Expression& expr);
    TileValue tile(const Expression& expr);
    std::uint16_t buffer(const Expression& expr);

    std::int64_t checked(Span span, ir::BinaryOp op, std::int64_t a, std::int64_t b) const;

    const Cycle& cycle(const AffineInteger& value) const { return cycles_[value.cycle - 1U]; }

    // Loops and folds report each round here, so that a kernel that unrolls without end is stopped.
    virtual void count_round(Span where) = 0;

    Periods& periods() { return periods_; }

    // The statement that is being carried out.
    void enter(Span statement) { statement_ = statement; }
    Span statement() const { return statement_; }
    [[noreturn]] void fail(Span span, const std::string& message, std::string hint = {}) const;
    // What fail() throws.
    Diagnostic trouble(Span span, const std::string& message, std::string hint = {}) const;

private:
    template <class Kind>
    Kind expect(const Expression& expr, std::string_view expected);
    [[noreturn]] void fail_kind(const Expression& expr, std::string_view expected,
                                const KernelValue& found) const;
    const KernelValue& lookup(const Expression& var) const;
    KernelValue unary(const Expression& expr);
    AffineInteger log2(const Expression& expr);
    KernelValue negative(const Expression& expr);
    KernelValue binary(const Expression& expr);
    AffineInteger remembered(const Expression& expr);
    AffineInteger worked_out(const Expression& expr);
    AffineInteger arithmetic(const Expression& expr);
    AffineInteger fold(const Expression& expr);
    AffineInteger table_at(const Expression& expr);
    [[noreturn]] void fail_entry(const Expression& expr, const Table& table);
    AffineInteger combine(Span span, ir::BinaryOp op, const AffineInteger& a,
                          const AffineInteger& b);
    AffineInteger combine_relative(Span span, ir::BinaryOp op, const AffineInteger& a,
                                   const AffineInteger& b);
    AffineInteger quotient(Span span, const AffineInteger& a, std::int64_t by);
    AffineInteger remainder(Span span, const AffineInteger& a, std::int64_t by);
    AffineInteger combine_cycles(Span span, ir::BinaryOp op, const AffineInteger& a,
                                 const AffineInteger& b);
    std::int64_t in_generation(const AffineInteger& value, std::size_t generation) const;
    AffineInteger cyclic(Span span, std::uint16_t signal, Cycle values);
    void require_length(Span span, std::uint64_t length) const;
    [[noreturn]] void fail_relative(Span span, std::uint16_t signal) const;
    [[noreturn]] void fail_cycle(Span span, std::uint16_t signal) const;

    const Source* source_;
    Span statement_;
    struct Variable {
        KernelValue value;
        std::uint64_t since = 1;
    };
    struct Result {
        AffineInteger value;
        std::uint64_t at = 0;  // never
    };
    std::uint64_t clock_ = 1;          // moves on with every definition
    std::vector<Variable> variables_;  // by slot
    std::vector<Result> results_;      // by memo
    std::vector<Cycle> cycles_;
    Periods periods_;
};

}  // namespace peal::plan
