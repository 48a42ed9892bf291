// SPDX-License-Identifier: Apache-2.0
// Kernels and their parameters.
#include "language/stages.hpp"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "language/expressions.hpp"
#include "language/limits.hpp"
#include "language/scope.hpp"
#include "language/statements.hpp"

namespace peal::language {
namespace {

bool is_table(const syntax::Param& param) { return param.index && !param.shape.empty(); }
bool is_memory(const syntax::Param& param) { return !param.index && !param.shape.empty(); }

class KernelResolver {
public:
    KernelResolver(const syntax::Kernel& kernel, const std::set<std::string>& kernels,
                   Report& report)
        : kernel_(kernel), kernels_(kernels), report_(report), names_(kernel.words) {}

    ir::Kernel run() {
        ir::Kernel result;
        result.name = kernel_.name.text;
        result.span = kernel_.name.span;
        result.params = params();
        result.body = Statements(scope_, names_, kernels_, report_).body(kernel_.body);
        return result;
    }

private:
    // Shapes may use scalars and tables that are declared after them.
    std::vector<ir::Param> params() {
        std::vector<ir::Param> params(kernel_.params.size());
        check_names();
        declare(params, [](const syntax::Param& param) { return param.shape.empty(); });
        for (const syntax::Param& param : kernel_.params) {
            for (const syntax::ExprPtr& extent : param.shape) declare_symbols(*extent);
        }
        declare(params, [](const syntax::Param& param) { return is_table(param); });
        declare(params, [](const syntax::Param& param) { return is_memory(param); });
        return params;
    }

    void check_names() {
        std::set<std::string_view> seen;
        for (const syntax::Param& param : kernel_.params) {
            if (!seen.insert(param.name.text).second) {
                report_.error(param.name.span,
                              fmt::format("parameter '{}' is declared twice", param.name.text));
            }
        }
        parameters_ = std::move(seen);
    }

    template <class Predicate>
    void declare(std::vector<ir::Param>& params, const Predicate& wanted) {
        for (std::size_t i = 0; i < params.size(); ++i) {
            const syntax::Param& param = kernel_.params[i];
            if (!wanted(param)) continue;
            Entity entity{Entity::Kind::broken, nullptr, param.name.span};
            try {
                const ir::Type type = type_of(param);
                entity.var = ir::variable(names_.next(param.name.text), type, param.name.span);
                entity.kind = kind_of(type);
            } catch (const Abandoned&) {
            }
            params[i] = {entity.var, param.direction};
            scope_.define(param.name.text, std::move(entity));
        }
    }

    static Entity::Kind kind_of(const ir::Type& type) {
        if (type.is_memory()) return Entity::Kind::memory;
        return type.kind == ir::Type::Kind::table ? Entity::Kind::table : Entity::Kind::scalar;
    }

    ir::Type type_of(const syntax::Param& param) {
        using Kind = ir::Type::Kind;
        const bool memory = is_memory(param);
        if (param.window && !memory) {
            report_.fail(
                param.span, fmt::format("window '{}' has no shape", param.name.text),
                fmt::format("as in {}: window {}[n]", param.name.text, name(param.element)));
        }
        if (!memory && param.direction != Direction::unknown) {
            report_.fail(param.span,
                         fmt::format("'{}' is not memory and has no direction", param.name.text),
                         fmt::format("leave out '{}'", name(param.direction)));
        }
        if (param.shape.size() > kMaxDimensions) {
            report_.fail(param.span,
                         fmt::format("'{}' has {} dimensions; at most {} are possible",
                                     param.name.text, param.shape.size(), kMaxDimensions));
        }
        ir::Type type{memory ? (param.window ? Kind::window : Kind::tensor) : Kind::scalar,
                      param.element,
                      {}};
        if (is_table(param)) type.kind = Kind::table;
        for (const syntax::ExprPtr& extent : param.shape)
            type.shape.push_back(shape_extent(*extent));
        return type;
    }

    ir::ExprPtr shape_extent(const syntax::Expr& expr) {
        ir::ExprPtr extent = Expressions(scope_, report_).integer(expr);
        if (depth_of(extent) > kMaxExprDepth) {
            report_.fail(
                expr.span,
                fmt::format("a shape of more than {} operators inside each other", kMaxExprDepth));
        }
        const auto* constant = ir::as<ir::IntConst>(extent);
        if (constant && constant->value < 0) {
            report_.fail(expr.span, fmt::format("a shape cannot be negative: {}", constant->value));
        }
        return extent;
    }

    // Names in a shape that are neither parameters nor counters of a fold.
    void declare_symbols(const syntax::Expr& expr) {
        std::visit([&](const auto& node) { declare_in(node, expr.span); }, expr.node);
    }
    void declare_in(const syntax::Name& node, const Span& span) {
        if (parameters_.contains(node.text) || counters_.contains(node.text) ||
            scope_.find(node.text)) {
            return;
        }
        const ir::VarPtr var = ir::variable(names_.next(node.text), ir::index_type(), span);
        scope_.define(node.text, {Entity::Kind::symbol, var, span});
    }
    void declare_in(const syntax::Unary& node, const Span&) { declare_symbols(*node.operand); }
    void declare_in(const syntax::Binary& node, const Span&) {
        declare_symbols(*node.lhs);
        declare_symbols(*node.rhs);
    }
    void declare_in(const syntax::Fold& node, const Span&) {
        declare_symbols(*node.lo);
        declare_symbols(*node.hi);
        const bool added = counters_.insert(node.counter.text).second;
        declare_symbols(*node.body);
        if (added) counters_.erase(node.counter.text);
    }
    void declare_in(const syntax::Index& node, const Span&) {
        declare_symbols(*node.base);
        for (const syntax::ExprPtr& index : node.indices) declare_symbols(*index);
    }
    template <class Other>
    void declare_in(const Other&, const Span&) {}

    const syntax::Kernel& kernel_;
    const std::set<std::string>& kernels_;
    Report& report_;
    Names names_;
    Scope scope_;
    std::set<std::string_view> parameters_;
    std::set<std::string_view> counters_;
};

}  // namespace

std::vector<ir::Kernel> resolve(const syntax::File& file, Report& report) {
    std::set<std::string> names;
    for (const syntax::Kernel& kernel : file.kernels) names.insert(kernel.name.text);
    std::vector<ir::Kernel> kernels;
    for (const syntax::Kernel& kernel : file.kernels) {
        if (!kernel.broken) kernels.push_back(KernelResolver(kernel, names, report).run());
    }
    return kernels;
}

}  // namespace peal::language
