// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peal/builder.hpp"

namespace peal::ir {
namespace verify_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> messages(const Program& program) {
    std::vector<std::string> list;
    for (const Diagnostic& diagnostic : verify(program)) {
        list.push_back(
            (diagnostic.severity == Diagnostic::Severity::error ? "error: " : "warning: ") +
            diagnostic.message);
    }
    return list;
}

// A kernel with a window, a signal and a tensor to play with; bodies are given by the test.
Program kernel_with(const std::vector<StmtPtr>& stmts) {
    Program program;
    Kernel kernel;
    kernel.name = "k";
    const ExprPtr n = variable("n", index_type());
    kernel.params = {
        {variable("out", {Type::Kind::tensor, Element::f32, {n}}), Direction::unknown},
        {variable("data", {Type::Kind::window, Element::f32, {n}}), Direction::unknown},
        {variable("sig", {Type::Kind::window, Element::i32, {nranks()}}), Direction::unknown}};
    kernel.body.stmts = stmts;
    program.kernels.push_back(kernel);
    return program;
}

ExprPtr var(const std::string& name, Type type) { return variable(name, std::move(type)); }
VarPtr index_var(const std::string& name) { return variable(name, index_type()); }

TEST(Verify, AcceptsAnEmptyKernel) { EXPECT_THAT(messages(kernel_with({})), IsEmpty()); }

TEST(Verify, VariableDefinedTwice) {
    const StmtPtr define = let(index_var("x"), integer(1));
    EXPECT_THAT(messages(kernel_with({define, define})),
                ElementsAre("error: 'x' is defined twice in kernel 'k'"));
}

TEST(Verify, VariableUsedBeforeItsDefinition) {
    EXPECT_THAT(messages(kernel_with({let(index_var("x"), var("y", index_type()))})),
                ElementsAre("error: 'y' is not defined here"));
}

TEST(Verify, DefinitionInABlockEndsWithIt) {
    Block body;
    body.stmts = {let(index_var("x"), integer(1))};
    EXPECT_THAT(messages(kernel_with({for_loop(index_var("i"), integer(0), integer(2), {}, body),
                                      let(index_var("y"), var("x", index_type()))})),
                ElementsAre("error: 'x' is not defined here"));
}

// One node in two places is right in one and wrong in the other.
TEST(Verify, ASharedNodeIsCheckedInEachScope) {
    const VarPtr x = index_var("x");
    const ExprPtr shared = x + 1;
    Block body;
    body.stmts = {let(x, integer(1)), let(index_var("y"), shared), let(index_var("z"), shared)};
    EXPECT_THAT(messages(kernel_with({for_loop(index_var("i"), integer(0), integer(2), {}, body),
                                      let(index_var("w"), shared)})),
                ElementsAre("error: 'x' is not defined here"));
}

// What a loop carries becomes different between ranks in its second round, and the shared node with
// it.
TEST(Verify, ASharedNodeDivergesWithItsVariables) {
    const auto loop_that_yields = [](const auto& next) {
        const VarPtr carried = index_var("c");
        const ExprPtr shared = carried + 1;
        const ExprPtr sig = var("sig", {Type::Kind::window, Element::i32, {nranks()}});
        Block branch, body;
        branch.stmts = {eval(make_call(ops::kAdvance, {sig, integer(1)}, {}))};
        body.stmts = {let(index_var("same"), shared),
                      if_else(Less(shared, integer(5)), {}, branch, {})};
        body.yields = {next(shared)};
        return for_loop(index_var("i"), integer(0), integer(2),
                        {{carried, integer(0), index_var("after")}}, body);
    };
    EXPECT_THAT(messages(kernel_with({loop_that_yields([](const ExprPtr& c) { return c; })})),
                IsEmpty());
    EXPECT_THAT(
        messages(kernel_with({loop_that_yields([](const ExprPtr& c) { return c + rank(); })})),
        ElementsAre("error: pld.system.advance stands inside control flow that differs between "
                    "ranks (line 0)"));
}

TEST(Verify, IntegersOfAllWidthsAreOneType) {
    Block narrow, wide;
    narrow.yields = {var("w", {Type::Kind::scalar, Element::i32, {}})};
    wide.yields = {integer(1)};
    Program program =
        kernel_with({if_else(Eq(rank(), integer(0)), {index_var("x")}, narrow, wide)});
    program.kernels[0].params.push_back(
        {variable("w", {Type::Kind::scalar, Element::i32, {}}), Direction::unknown});
    EXPECT_THAT(messages(program), IsEmpty());
}

TEST(Verify, YieldsMatchResults) {
    Block none;
    Block one;
    one.yields = {integer(1)};
    EXPECT_THAT(
        messages(kernel_with({if_else(Eq(rank(), integer(0)), {index_var("x")}, one, none)})),
        ElementsAre("error: the second branch yields 0 values for 1 results"));
}

TEST(Verify, ResultOfACallMustBeUsed) {
    const Program program = kernel_with({});
    const ExprPtr data = program.kernels[0].params[1].var;
    EXPECT_THAT(
        messages(kernel_with({eval(make_call(ops::kTileLoad, {data, integer(0), integer(4)}))})),
        ElementsAre("error: the result of tile.load is not used"));
}

TEST(Verify, CallsAreCheckedAgainstTheRegistry) {
    Call call;
    call.op = ops::kWait;
    EXPECT_THAT(
        messages(kernel_with({eval(std::make_shared<const Call>(call))})),
        ElementsAre("error: pld.system.wait: expected 3 operands (signal, cell, value), found 0"));
}

TEST(Verify, ConditionMustBeAComparison) {
    EXPECT_THAT(messages(kernel_with({if_else(integer(1), {}, {}, {})})),
                ElementsAre("error: a condition must be a comparison, found an integer"));
}

TEST(Verify, ProblemsAfterAPassNameThePass) {
    const StmtPtr define = let(index_var("x"), integer(1));
    try {
        require_valid(kernel_with({define, define}), "SomePass");
        FAIL() << "accepted";
    } catch (const ProgramError& error) {
        ASSERT_EQ(error.diagnostics().size(), 1u);
        EXPECT_EQ(error.diagnostics()[0].message,
                  "'x' is defined twice in kernel 'k' (after SomePass)");
    }
}

TEST(Verify, AProgramMadeNodeByNodeIsHandedBackOrRefused) {
    const Program good = kernel_with({let(index_var("x"), integer(1))});
    EXPECT_TRUE(equal(verified(good), good));
    const StmtPtr define = let(index_var("x"), integer(1));
    try {
        verified(kernel_with({define, define}));
        FAIL() << "accepted";
    } catch (const ProgramError& error) {
        ASSERT_EQ(error.diagnostics().size(), 1u);
        EXPECT_EQ(error.diagnostics()[0].message, "'x' is defined twice in kernel 'k'");
    }
}

TEST(Registry, EveryOpSaysWhatItDoesToEachOperand) {
    for (const OpSpec& op : all_ops()) {
        for (const OperandSpec& slot : op.operands) {
            const bool memory = slot.kind == OperandKind::memory ||
                                slot.kind == OperandKind::window ||
                                slot.kind == OperandKind::signal;
            EXPECT_EQ(slot.effect != Effect::none, memory) << op.name << " " << slot.name;
        }
    }
}

TEST(Registry, TargetAndSignalOfCollectivesAreReadAndWritten) {
    for (const OpSpec& op : all_ops()) {
        if (!op.composite) continue;
        for (const OperandSpec& slot : op.operands) {
            if (slot.name != "target" && slot.name != "signal") continue;
            EXPECT_EQ(slot.effect, Effect::read_write) << op.name << " " << slot.name;
        }
    }
}

TEST(Structure, EqualityIgnoresPlacesAndSeesEverythingElse) {
    const auto loop = [](std::int64_t hi, Span span) {
        return kernel_with(
            {for_loop(index_var("i"), integer(0, span), integer(hi, span), {}, {}, span)});
    };
    const Program a = loop(3, {1, 1, 1});
    EXPECT_TRUE(equal(a, loop(3, {9, 9, 9})));
    EXPECT_EQ(hash(a), hash(loop(3, {9, 9, 9})));
    EXPECT_FALSE(equal(a, loop(4, {1, 1, 1})));
    EXPECT_NE(hash(a), hash(loop(4, {1, 1, 1})));
}

TEST(Structure, DumpNamesEveryField) {
    Kernel kernel;
    kernel.name = "k";
    kernel.body.stmts = {let(index_var("x"), Eq(integer(1), integer(2)))};
    EXPECT_EQ(dump(kernel),
              "kernel: \n"
              "  name: k\n"
              "  params: [0]\n"
              "  body: \n"
              "    stmts: [1]\n"
              "      -: \n"
              "        var: \n"
              "          name: x\n"
              "          type: \n"
              "            kind: 2\n"
              "            element: 7\n"
              "            shape: [0]\n"
              "        value: \n"
              "          op: 10\n"
              "          lhs: \n"
              "            value: 1\n"
              "          rhs: \n"
              "            value: 2\n"
              "    yields: [0]\n");
}

TEST(Builder, NestedBuildersShareOneNameCounter) {
    KernelBuilder k("nest");
    const ExprPtr n = k.Symbol("n");
    const ExprPtr data = k.Window("data", Element::f32, {n});
    k.Body().EmitFor("i", integer(0), nranks(), [&](LoweringBuilder& outer, const ExprPtr& i) {
        outer.EmitFor("i", integer(0), i, [&](LoweringBuilder& inner, const ExprPtr&) {
            inner.EmitIf(Eq(i, integer(1)), [&](LoweringBuilder& b) {
                b.Store(b.Load(data, integer(0), n), data, integer(0));
                b.Store(b.Load(data, integer(0), n), data, integer(0));
            });
        });
        outer.Store(outer.Load(data, integer(0), n), data, integer(0));
    });
    EXPECT_NO_THROW(std::move(k).Finish());  // the verifier rejects a name that is defined twice
}

TEST(Builder, ForReduceAndIfExprYieldValues) {
    KernelBuilder k("sum");
    const ExprPtr n = k.Symbol("n");
    const ExprPtr out = k.Tensor("out", Element::f32, {n});
    const ExprPtr data = k.Window("data", Element::f32, {n});
    LoweringBuilder& b = k.Body();
    const ExprPtr sum = b.EmitForReduce(
        "r", integer(1), nranks(), b.RemoteLoad(data, integer(0), integer(0), n),
        [&](LoweringBuilder& loop, const ExprPtr& r, const ExprPtr& acc) {
            const ExprPtr piece = loop.EmitIfExpr(
                NotEq(r, rank()),
                [&](LoweringBuilder& then) { return then.RemoteLoad(data, r, integer(0), n); },
                [&](LoweringBuilder& other) { return other.Load(data, integer(0), n); });
            return loop.Combine(ReduceOp::sum, acc, piece);
        });
    b.Store(sum, out, integer(0));
    const Program program = std::move(k).Finish();
    const auto* loop = as<ForStmt>(program.kernels[0].body.stmts[1]);
    ASSERT_TRUE(loop);
    ASSERT_EQ(loop->carried.size(), 1u);
    EXPECT_EQ(loop->body.yields.size(), 1u);
    EXPECT_EQ(type_of(*sum).kind, Type::Kind::tile);
}

}  // namespace verify_test
}  // namespace peal::ir
