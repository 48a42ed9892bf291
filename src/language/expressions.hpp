// SPDX-License-Identifier: Apache-2.0
// From the syntax of an expression to IR: what its names mean, and which op stands for an operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/report.hpp"
#include "language/scope.hpp"
#include "language/syntax.hpp"
#include "peal/ir.hpp"
#include "peal/ops.hpp"
#include "peal/source.hpp"

namespace peal::language {

// Elements [offset, offset + count) of a flattened buffer.
struct Place {
    ir::VarPtr memory;
    ir::ExprPtr peer;                // whose window; null: the own memory
    ir::ExprPtr offset;              //
    std::vector<ir::ExprPtr> shape;  // what is left of the dimensions; none: one element
    Span span;

    ir::ExprPtr count() const;
    // The first dimension from `offset` on, `extent` long.
    void slice(const ir::ExprPtr& offset, ir::ExprPtr extent);
    // One element of the first dimension, which is then gone.
    void index(const ir::ExprPtr& position);
};

// Integer arithmetic that drops zeros and ones and works out constants.
ir::ExprPtr plus(const ir::ExprPtr& a, const ir::ExprPtr& b);
ir::ExprPtr times(const ir::ExprPtr& a, const ir::ExprPtr& b);

// Every function reports and throws Abandoned when the text does not make sense.
class Expressions {
public:
    Expressions(Scope& scope, Report& report) : scope_(scope), report_(report) {}

    // A tile, a number or a condition. Memory stands for the tile that is loaded from it.
    ir::ExprPtr value(const syntax::Expr& expr);
    ir::ExprPtr integer(const syntax::Expr& expr);
    ir::ExprPtr condition(const syntax::Expr& expr);
    ir::ExprPtr tile(const syntax::Expr& expr);

    // Whether an expression names (a part of) a memory parameter; and which part.
    bool is_memory(const syntax::Expr& expr);
    Place place(const syntax::Expr& expr);
    // A parameter as a whole, or null when the expression is something else.
    ir::VarPtr whole_parameter(const syntax::Expr& expr);

    // An op by its name in the text.
    ir::CallPtr op_call(const syntax::Call& call, const Span& span);
    // make_call, its errors reported.
    ir::CallPtr make(std::string_view op, std::vector<ir::ExprPtr> operands,
                     std::vector<ir::Attribute> attributes, const Span& span);
    // What an op's operand of this kind may be. `who` names the op in messages.
    ir::ExprPtr operand(const syntax::Expr& expr, const ir::OperandSpec& slot,
                        std::string_view who);
    // A name=value argument: an operand of the op, or else one of its attributes.
    void named_argument(const syntax::Argument& argument, const ir::OpSpec& spec,
                        std::vector<ir::ExprPtr>& operands, std::vector<ir::Attribute>& attributes);

    // The name's meaning; reports a name that has none.
    Entity& entity(const std::string& name, const Span& span);

private:
    ir::ExprPtr resolve(const syntax::Integer& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Real& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Name& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Rank& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Nranks& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Lane& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Nlanes& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Unary& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Binary& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Fold& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Call& node, const Span& span);
    ir::ExprPtr resolve(const syntax::At& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Slice& node, const Span& span);
    ir::ExprPtr resolve(const syntax::Index& node, const Span& span);

    void extend(Place& place, const syntax::Expr& expr);
    ir::ExprPtr load(const Place& place);
    ir::ExprPtr table_element(const syntax::Expr& expr);
    ir::ExprPtr tile_part(const syntax::Expr& base, const ir::ExprPtr& offset,
                          const ir::ExprPtr& count, const Span& span);
    ir::ExprPtr combine_tiles(ir::BinaryOp op, ir::ExprPtr left, ir::ExprPtr right,
                              const Span& span);
    bool is_table(const syntax::Expr& expr);
    ir::Attribute attribute(const syntax::Identifier& name, const syntax::Expr& value,
                            const ir::OpSpec& spec);
    [[noreturn]] void fail_found(const Span& span, std::string_view expected,
                                 const ir::ExprPtr& found, std::string hint = {});

    Scope& scope_;
    Report& report_;
};

// The name that an expression such as data@r[0; k] begins with; null: it begins with no name.
const syntax::Name* root_name(const syntax::Expr& expr);

}  // namespace peal::language
