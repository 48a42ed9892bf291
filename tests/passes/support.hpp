// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ir/fields.hpp"
#include "peal/program.hpp"

namespace peal::test {

inline ir::Program program(const std::string& text) {
    return parse(std::make_shared<Source>("test.peal", text));
}

// How often each op, loop and condition stands in a kernel.
struct Shape {
    std::map<std::string, int> ops;
    int loops = 0;
    int conditions = 0;
};

inline Shape shape_of(const ir::Kernel& kernel) {
    Shape shape;
    ir::walk_stmts(kernel.body, [&](const ir::StmtPtr& stmt) {
        if (ir::as<ir::ForStmt>(stmt)) ++shape.loops;
        if (ir::as<ir::IfStmt>(stmt)) ++shape.conditions;
    });
    ir::walk_exprs(kernel.body, [&](const ir::ExprPtr& expr) {
        if (const auto* call = ir::as<ir::Call>(expr)) ++shape.ops[call->op];
    });
    return shape;
}

}  // namespace peal::test
