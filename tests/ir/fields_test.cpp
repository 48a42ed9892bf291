// SPDX-License-Identifier: Apache-2.0
#include "ir/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/effects.hpp"
#include "peal/builder.hpp"

namespace peal::ir {
namespace fields_test {

using testing::ElementsAre;

ExprPtr named(const std::string& name) { return variable(name, index_type()); }

// Puts other nodes in the place of integers, and notes what it is asked for.
struct Replace {
    std::int64_t wanted;
    std::vector<std::int64_t>& asked;

    ExprPtr operator()(const ExprPtr& expr) const {
        const auto* number = as<IntConst>(expr);
        if (!number) return expr;
        asked.push_back(number->value);
        return number->value == wanted ? integer(-wanted) : expr;
    }
    VarPtr operator()(const VarPtr& var) const { return var; }
    StmtPtr operator()(const StmtPtr& stmt) const { return map_node(stmt, *this); }
};

TEST(MapNode, ANodeWhoseChildrenStayIsTheSame) {
    std::vector<std::int64_t> asked;
    const ExprPtr node = table_at(named("t"), {integer(1), integer(2), integer(3)});
    EXPECT_EQ(map_node(node, Replace{7, asked}), node);
    EXPECT_THAT(asked, ElementsAre(1, 2, 3));
}

// Each child is asked for once, in order, whichever is the first to change.
TEST(MapNode, OthersAreCopiedWithTheChildrenThatChange) {
    for (const std::int64_t wanted : {1, 2, 3}) {
        std::vector<std::int64_t> asked;
        const ExprPtr node = table_at(named("t"), {integer(1), integer(2), integer(3)});
        const ExprPtr result = map_node(node, Replace{wanted, asked});
        EXPECT_THAT(asked, ElementsAre(1, 2, 3));
        ASSERT_NE(result, node);
        const auto* before = as<TableAt>(node);
        const auto* after = as<TableAt>(result);
        EXPECT_EQ(after->table, before->table);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto value = static_cast<std::int64_t>(i) + 1;
            EXPECT_EQ(after->indices[i] == before->indices[i], value != wanted);
            EXPECT_EQ(as<IntConst>(after->indices[i])->value, value == wanted ? -value : value);
        }
    }
}

TEST(MapNode, StatementsInsideStatements) {
    std::vector<std::int64_t> asked;
    Block inner, outer;
    inner.stmts = {let(variable("a", index_type()), integer(3)),
                   let(variable("b", index_type()), integer(4))};
    outer.stmts = {for_loop(variable("j", index_type()), integer(1), integer(2), {}, inner)};
    const StmtPtr loop = for_loop(variable("i", index_type()), integer(0), integer(9), {}, outer);
    EXPECT_EQ(Replace({8, asked})(loop), loop);
    asked.clear();
    const StmtPtr result = Replace({4, asked})(loop);
    EXPECT_THAT(asked, ElementsAre(0, 9, 1, 2, 3, 4));
    const auto* changed = as<ForStmt>(as<ForStmt>(result)->body.stmts[0]);
    EXPECT_EQ(changed->body.stmts[0], inner.stmts[0]);
    EXPECT_EQ(as<IntConst>(as<Let>(changed->body.stmts[1])->value)->value, -4);
}

// However often a node is used.
TEST(CallsOf, EachCallOnce) {
    const ExprPtr sig = variable("sig", {Type::Kind::window, Element::i32, {nranks()}});
    const CallPtr generation = make_call(ops::kGeneration, {sig}, {});
    const ExprPtr value = ExprPtr(generation) + 1;
    const CallPtr first = make_call(ops::kWait, {sig, integer(0), value}, {});
    const CallPtr second = make_call(ops::kWait, {sig, integer(1), value}, {});
    Block block;
    block.stmts = {eval(first), eval(second)};
    EXPECT_THAT(calls_of(block), ElementsAre(first.get(), generation.get(), second.get()));
}

}  // namespace fields_test
}  // namespace peal::ir
