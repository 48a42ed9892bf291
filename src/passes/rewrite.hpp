// SPDX-License-Identifier: Apache-2.0
// What passes share: rewriting statement by statement.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "peal/builder.hpp"
#include "peal/ir.hpp"

namespace peal::passes {

// Replaces a statement by others, or returns nothing to keep it. Blocks inside a kept statement are
// rewritten too, before it is offered.
using StmtRewrite = std::function<std::optional<std::vector<ir::StmtPtr>>(const ir::StmtPtr& stmt)>;
ir::Block rewrite_block(const ir::Block& block, const StmtRewrite& rewrite);

// Every expression below an expression or kernel, children first, through `rewrite`; shapes in the
// types of variables too, so that a variable keeps one type everywhere.
using ExprRewrite = std::function<ir::ExprPtr(const ir::ExprPtr& expr)>;
ir::ExprPtr rewrite_expr(const ir::ExprPtr& expr, const ExprRewrite& rewrite);
ir::Kernel rewrite_exprs(const ir::Kernel& kernel, const ExprRewrite& rewrite);

// A counter that knows every name of the kernel.
ir::NameCounter names_of(const ir::Kernel& kernel);

// The program with each kernel replaced.
ir::Program map_kernels(const ir::Program& program,
                        const std::function<ir::Kernel(const ir::Kernel&)>& change);

}  // namespace peal::passes
