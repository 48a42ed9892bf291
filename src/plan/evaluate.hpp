// SPDX-License-Identifier: Apache-2.0
// Evaluating the expressions of a kernel once rank, rank count, sizes and scalars are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "peal/diagnostic.hpp"
#include "peal/ir.hpp"

namespace peal {

// constant + per_generation * (generation of the signal buffer `signal`). A plain integer has
// per_generation 0 and no signal.
struct AffineInteger {
    std::int64_t constant = 0;
    std::int64_t per_generation = 0;
    std::uint16_t signal = 0;

    bool is_plain() const { return per_generation == 0; }
};

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
    std::vector<std::int64_t> numbers;  // row-major
};
using TableValue = const Table*;

// What a variable of the kernel stands for. monostate: a call made for its effect.
using KernelValue =
    std::variant<std::monostate, AffineInteger, double, bool, TileValue, BufferValue, TableValue>;

// Evaluates expressions in an environment of variables. Calls are left to whoever derives from it.
// Everything that goes wrong is a ProgramError at the expression, or at the statement around it
// when the expression comes from nowhere.
class Evaluator {
public:
    virtual ~Evaluator() = default;

    void define(std::string_view variable, KernelValue value);

protected:
    // `who` is added to every message: "on rank 1 of 4".
    Evaluator(const Source* source, std::string who) : source_(source), who_(std::move(who)) {}

    virtual KernelValue call(const ir::Call& call) = 0;
    // How messages name a signal buffer.
    virtual const std::string& signal_name(std::uint16_t signal) const = 0;

    KernelValue evaluate(const ir::Expr& expr);
    AffineInteger affine(const ir::Expr& expr);
    std::int64_t integer(const ir::Expr& expr);
    // The plain integer in a value that `expr` gave.
    std::int64_t plain(const KernelValue& value, const ir::Expr& expr) const;
    bool truth(const ir::Expr& expr);
    TileValue tile(const ir::Expr& expr);
    std::uint16_t buffer(const ir::Expr& expr);

    std::int64_t checked(Span span, ir::BinaryOp op, std::int64_t a, std::int64_t b) const;

    // Loops and folds report each round here, so that a kernel that unrolls without end is stopped.
    virtual void count_round(Span where) = 0;

    // The statement that is being carried out.
    void enter(Span statement) { statement_ = statement; }
    Span statement() const { return statement_; }
    [[noreturn]] void fail(Span span, std::string message, std::string hint = {}) const;

private:
    template <class Kind>
    Kind expect(const ir::Expr& expr, std::string_view expected);
    [[noreturn]] void fail_kind(const ir::Expr& expr, std::string_view expected,
                                const KernelValue& found) const;
    const KernelValue& lookup(const ir::Var& var) const;
    KernelValue unary(const ir::Unary& expr);
    KernelValue log2(const ir::Unary& expr);
    KernelValue negative(const ir::Unary& expr);
    KernelValue binary(const ir::Binary& expr);
    KernelValue arithmetic(const ir::Binary& expr);
    KernelValue fold(const ir::Fold& expr);
    KernelValue table_at(const ir::TableAt& expr);
    AffineInteger combine(Span span, ir::BinaryOp op, const AffineInteger& a,
                          const AffineInteger& b) const;
    [[noreturn]] void fail_relative(Span span, std::uint16_t signal) const;

    const Source* source_;
    std::string who_;
    Span statement_;
    std::unordered_map<std::string_view, KernelValue> variables_;
};

}  // namespace peal
