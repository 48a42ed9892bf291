// SPDX-License-Identifier: Apache-2.0
// A program with variables that change means the same as the SSA form that it becomes. Random
// programs of integers are run twice: as they are written, by a tree of statements over a map of
// variables; and as IR, where each variable is bound once. Both must notify the same values.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "language/random_program.hpp"
#include "language/support.hpp"
#include "peal/ops.hpp"

namespace peal {
namespace ssa_test {

constexpr std::int64_t kModulus = 1000003;
constexpr std::int64_t kRank = 1;
constexpr std::int64_t kRanks = 3;

// ---------------------------------------------------------------------------- as it is written

struct Node;
using Nodes = std::vector<std::unique_ptr<Node>>;

// a * b + c over variables and numbers.
struct Formula {
    std::string a, b, c;
    std::string text() const { return fmt::format("({} * {} + {}) % {}", a, b, c, kModulus); }
};

struct Node {
    enum class Kind { assign, say, loop, peers, branch } kind;
    std::string name;
    Formula formula;
    std::int64_t rounds = 0;
    Nodes body, other;
};

class Writer {
public:
    explicit Writer(std::uint64_t seed) : dice_(seed) {}

    Nodes program() {
        Nodes nodes;
        for (const char* name : {"a", "b", "c"}) nodes.push_back(assign(name));
        Nodes rest = block(0);
        for (auto& node : rest) nodes.push_back(std::move(node));
        for (const char* name : {"a", "b", "c"}) nodes.push_back(say(name));
        return nodes;
    }

private:
    std::string operand() {
        if (visible_.empty() || dice_.chance(30)) return std::to_string(dice_.below(50));
        return dice_.pick(visible_);
    }
    Formula formula() { return {operand(), operand(), operand()}; }

    std::unique_ptr<Node> assign(const std::string& name) {
        auto node = std::make_unique<Node>(Node{Node::Kind::assign, name, formula(), 0, {}, {}});
        if (std::find(visible_.begin(), visible_.end(), name) == visible_.end()) {
            visible_.push_back(name);
        }
        return node;
    }
    std::unique_ptr<Node> say(const std::string& name) {
        return std::make_unique<Node>(Node{Node::Kind::say, "", {name, "1", "0"}, 0, {}, {}});
    }

    Nodes block(int depth) {
        const std::vector<std::string> outer = visible_;
        Nodes nodes;
        const std::size_t count = 1 + dice_.below(5);
        for (std::size_t i = 0; i < count; ++i) nodes.push_back(statement(depth));
        visible_ = outer;
        return nodes;
    }

    std::unique_ptr<Node> statement(int depth) {
        const std::size_t choice = dice_.below(depth < 3 ? 9 : 4);
        if (choice < 3)
            return assign(dice_.pick(std::vector<std::string>{"a", "b", "c", "d", "e"}));
        if (choice == 3) return say(operand());
        auto node = std::make_unique<Node>(Node{Node::Kind::loop, "", {}, 0, {}, {}});
        const std::vector<std::string> outer = visible_;
        if (choice < 7) {
            node->kind = choice == 6 ? Node::Kind::peers : Node::Kind::loop;
            node->name = fmt::format("n{}", depth);
            node->rounds = static_cast<std::int64_t>(dice_.below(4));
            visible_.push_back(node->name);
            node->body = block(depth + 1);
        } else {
            node->kind = Node::Kind::branch;
            node->formula = formula();
            node->body = block(depth + 1);
            if (dice_.chance(60)) node->other = block(depth + 1);
        }
        visible_ = outer;
        return node;
    }

    test::Dice dice_;
    std::vector<std::string> visible_;
};

std::string text_of(const Nodes& nodes, int depth) {
    std::string text;
    const std::string indent(static_cast<std::size_t>(depth) * 4, ' ');
    for (const auto& node : nodes) {
        text += indent;
        switch (node->kind) {
            case Node::Kind::assign: text += node->name + " = " + node->formula.text(); break;
            case Node::Kind::say: text += "notify sig[0] = " + node->formula.text(); break;
            case Node::Kind::loop:
                text += fmt::format("for {} in 0..{} {{\n{}{}}}", node->name, node->rounds,
                                    text_of(node->body, depth + 1), indent);
                break;
            case Node::Kind::peers:
                text += fmt::format("for {} in peers {{\n{}{}}}", node->name,
                                    text_of(node->body, depth + 1), indent);
                break;
            case Node::Kind::branch:
                text += fmt::format("if {} % 2 == 0 {{\n{}{}}} else {{\n{}{}}}",
                                    node->formula.text(), text_of(node->body, depth + 1), indent,
                                    text_of(node->other, depth + 1), indent);
                break;
        }
        text += '\n';
    }
    return text;
}

class Runner {
public:
    void run(const Nodes& nodes) {
        for (const auto& node : nodes) run(*node);
    }
    std::vector<std::int64_t> said;

private:
    std::int64_t value(const std::string& operand) const {
        const auto it = variables_.find(operand);
        return it == variables_.end() ? std::stoll(operand) : it->second;
    }
    std::int64_t value(const Formula& f) const {
        return (value(f.a) * value(f.b) + value(f.c)) % kModulus;
    }
    void run(const Node& node) {
        switch (node.kind) {
            case Node::Kind::assign: variables_[node.name] = value(node.formula); return;
            case Node::Kind::say: said.push_back(value(node.formula)); return;
            case Node::Kind::branch:
                return run(value(node.formula) % 2 == 0 ? node.body : node.other);
            case Node::Kind::loop: return run_rounds(node, node.rounds, false);
            case Node::Kind::peers: return run_rounds(node, kRanks, true);
        }
    }
    void run_rounds(const Node& node, std::int64_t rounds, bool without_own_rank) {
        for (std::int64_t i = 0; i < rounds; ++i) {
            if (without_own_rank && i == kRank) continue;
            variables_[node.name] = i;
            run(node.body);
        }
    }
    std::map<std::string, std::int64_t> variables_;
};

// ---------------------------------------------------------------------------- as IR

class IrRunner {
public:
    void run(const ir::Block& block) {
        for (const ir::StmtPtr& stmt : block.stmts) run(stmt);
    }
    std::vector<std::int64_t> said;

private:
    std::int64_t value(const ir::ExprPtr& expr) const {
        if (const auto* constant = ir::as<ir::IntConst>(expr)) return constant->value;
        if (const auto* var = ir::as<ir::Var>(expr)) return values_.at(var->name);
        if (const auto* call = ir::as<ir::Call>(expr)) {
            return call->op == ir::ops::kRank ? kRank : kRanks;
        }
        const auto* binary = ir::as<ir::Binary>(expr);
        if (!binary) throw std::logic_error("not in these programs: " + print(expr));
        const std::int64_t a = value(binary->lhs), b = value(binary->rhs);
        switch (binary->op) {
            case ir::BinaryOp::add: return a + b;
            case ir::BinaryOp::mul: return a * b;
            case ir::BinaryOp::mod: return a % b;
            case ir::BinaryOp::eq: return a == b ? 1 : 0;
            case ir::BinaryOp::ne: return a != b ? 1 : 0;
            default: throw std::logic_error("not in these programs: " + print(expr));
        }
    }

    void bind(const std::vector<ir::VarPtr>& vars, const std::vector<std::int64_t>& values) {
        for (std::size_t i = 0; i < vars.size(); ++i) values_[vars[i]->name] = values[i];
    }
    std::vector<std::int64_t> yields_of(const ir::Block& block) const {
        std::vector<std::int64_t> values;
        for (const ir::ExprPtr& value : block.yields) values.push_back(this->value(value));
        return values;
    }

    void run(const ir::StmtPtr& stmt) {
        if (const auto* let = ir::as<ir::Let>(stmt)) {
            values_[let->var->name] = value(let->value);
        } else if (const auto* eval = ir::as<ir::Eval>(stmt)) {
            said.push_back(value(ir::operand(*ir::as<ir::Call>(eval->call), "value")));
        } else if (const auto* loop = ir::as<ir::ForStmt>(stmt)) {
            run_loop(*loop);
        } else if (const auto* branch = ir::as<ir::IfStmt>(stmt)) {
            const ir::Block& side =
                value(branch->condition) ? branch->then_block : branch->else_block;
            run(side);
            bind(branch->results, yields_of(side));
        }
    }

    void run_loop(const ir::ForStmt& loop) {
        std::vector<ir::VarPtr> inner, results;
        std::vector<std::int64_t> carried;
        for (const ir::Carried& value : loop.carried) {
            inner.push_back(value.inner);
            results.push_back(value.result);
            carried.push_back(this->value(value.init));
        }
        const std::int64_t hi = value(loop.hi);
        for (std::int64_t i = value(loop.lo); i < hi; ++i) {
            values_[loop.var->name] = i;
            bind(inner, carried);
            run(loop.body);
            carried = yields_of(loop.body);
        }
        bind(results, carried);
    }

    std::map<std::string, std::int64_t> values_;
};

TEST(Ssa, MeansWhatTheTextMeans) {
    std::size_t said = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        const Nodes nodes = Writer(seed).program();
        const std::string text = "kernel k(sig: window i64[1]) {\n" + text_of(nodes, 1) + "}\n";
        SCOPED_TRACE(text);
        Runner written;
        written.run(nodes);
        IrRunner resolved;
        try {
            resolved.run(test::parse_text(text).kernels[0].body);
        } catch (const Error& error) {
            FAIL() << error.what();
        }
        ASSERT_EQ(written.said, resolved.said) << print(test::parse_text(text));
        said += written.said.size();
    }
    EXPECT_GT(said, 1000U);  // the programs are not trivial
}

}  // namespace ssa_test
}  // namespace peal
