// SPDX-License-Identifier: Apache-2.0
#include "emit/facts.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/fields.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: asks about the IR

constexpr int kDepth = 5;  // substitutions of a bound for an atom in one proof

constexpr int kSplits = 2;              // atoms whose values are tried one by one
constexpr std::int64_t kMostCases = 8;  // of one of them

constexpr const char* kRankAtom = "rank";
constexpr const char* kNranksAtom = "nranks";

// The quotient if each term of `value` has the divisor's one term as a factor.
std::optional<Polynomial> divided(const Polynomial& value, const Polynomial& divisor) {
    if (divisor.terms().size() != 1) return std::nullopt;
    const auto& [atoms, factor] = *divisor.terms().begin();
    Polynomial quotient;
    for (const auto& [monomial, coefficient] : value.terms()) {
        if (coefficient % factor != 0) return std::nullopt;
        if (!std::includes(monomial.begin(), monomial.end(), atoms.begin(), atoms.end())) {
            return std::nullopt;
        }
        Polynomial::Monomial rest;
        std::set_difference(monomial.begin(), monomial.end(), atoms.begin(), atoms.end(),
                            std::back_inserter(rest));
        quotient.add(rest, coefficient / factor);
    }
    return quotient;
}

}  // namespace

// ---------------------------------------------------------------------------- polynomials

Polynomial Polynomial::atom(const std::string& name) {
    Polynomial result;
    result.add({name}, 1);
    return result;
}

void Polynomial::add(const Monomial& monomial, std::int64_t factor) {
    std::int64_t& total = terms_[monomial];
    total += factor;
    if (total == 0) terms_.erase(monomial);
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
    Polynomial result = *this;
    for (const auto& [monomial, factor] : other.terms_) result.add(monomial, factor);
    return result;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
    return *this + Polynomial(-1) * other;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
    Polynomial result;
    for (const auto& [left, a] : terms_) {
        for (const auto& [right, b] : other.terms_) {
            Monomial product;
            std::merge(left.begin(), left.end(), right.begin(), right.end(),
                       std::back_inserter(product));
            result.add(product, a * b);
        }
    }
    return result;
}

Polynomial Polynomial::with(const std::string& atom, std::int64_t value) const {
    Polynomial result;
    for (const auto& [monomial, factor] : terms_) {
        Monomial rest;
        std::int64_t product = factor;
        for (const std::string& each : monomial) {
            if (each == atom) {
                product *= value;
            } else {
                rest.push_back(each);
            }
        }
        result.add(rest, product);
    }
    return result;
}

std::string Polynomial::text() const {
    std::vector<std::string> parts;
    for (const auto& [monomial, factor] : terms_) {
        parts.push_back(fmt::format("{}*{}", factor, fmt::join(monomial, "*")));
    }
    return fmt::format("{}", fmt::join(parts, "+"));
}

// ---------------------------------------------------------------------------- learning

Facts::Facts(const Kernel& kernel) {
    const Polynomial nranks = Polynomial::atom(kNranksAtom);
    bounds_[kNranksAtom].lower = {Polynomial(1)};
    bounds_[kRankAtom] = {{Polynomial(0)}, {nranks - Polynomial(1)}};
    for (const Param& param : kernel.params) {
        for (const ExprPtr& dimension : param.var->type.shape) {
            if (const auto* symbol = as<Var>(dimension)) {
                bounds_[symbol->name].lower = {Polynomial(0)};
            }
        }
    }
    learn(kernel.body);
}

void Facts::learn(const Block& block) {
    for (const StmtPtr& stmt : block.stmts) {
        if (const auto* definition = as<Let>(stmt)) {
            if (definition->var->type.is_integer()) {
                definitions_[definition->var->name] = definition->value;
                values_.clear();
            }
        } else if (const auto* loop = as<ForStmt>(stmt)) {
            bounds_[loop->var->name] = {{polynomial(loop->lo)},
                                        {polynomial(loop->hi) - Polynomial(1)}};
            learn(loop->body);
        } else if (const auto* branch = as<IfStmt>(stmt)) {
            learn(branch->then_block);
            learn(branch->else_block);
        } else if (const auto* command = as<Eval>(stmt)) {
            const auto* call = as<Call>(command->call);
            if (call && call->op == ops::kRequire) learn_requirement(*call);
        }
    }
}

void Facts::learn_requirement(const Call& require) {
    learn_comparison(operand(require, "left"), *compare_from(word(require, "cmp")),
                     operand(require, "right"));
}

void Facts::learn_comparison(const ExprPtr& left, Compare compare, const ExprPtr& right) {
    const bool at_least = compare == Compare::ge || compare == Compare::eq;
    const bool at_most = compare == Compare::le || compare == Compare::eq;
    const bool more = compare == Compare::gt;
    const bool less = compare == Compare::lt;
    if (const auto* var = as<Var>(left)) {
        const Polynomial bound = polynomial(right);
        Bounds& bounds = bounds_[var->name];
        if (at_least || more) bounds.lower.push_back(bound + Polynomial(more));
        if (at_most || less) bounds.upper.push_back(bound - Polynomial(less));
    }
    if (const auto* var = as<Var>(right)) {
        const Polynomial bound = polynomial(left);
        Bounds& bounds = bounds_[var->name];
        if (at_least || more) bounds.upper.push_back(bound - Polynomial(more));
        if (at_most || less) bounds.lower.push_back(bound + Polynomial(less));
    }
}

void Facts::learn_condition(const ExprPtr& condition) {
    const auto* node = as<Binary>(condition);
    if (!node) return;
    if (node->op == BinaryOp::logical_and) {
        learn_condition(node->lhs);
        learn_condition(node->rhs);
    } else if (const auto compare = compare_from(name(node->op))) {
        learn_comparison(node->lhs, *compare, node->rhs);
    }
}

Facts Facts::assuming(const ExprPtr& condition) const {
    Facts result = *this;
    // What is said of atoms that are no variables may now be more.
    std::erase_if(result.bounds_,
                  [](const auto& entry) { return entry.first.find('(') != std::string::npos; });
    result.learn_condition(condition);
    return result;
}

// ---------------------------------------------------------------------------- expressions

Polynomial Facts::of_atom(std::string name, Bounds bounds) const {
    bounds_.try_emplace(name, std::move(bounds));
    return Polynomial::atom(name);
}

// A divisor is never 0: that is an error of the program.
Polynomial Facts::of_binary(const Binary& node) const {
    const Polynomial a = polynomial(node.lhs);
    const Polynomial b = polynomial(node.rhs);
    const auto atom = [&](Bounds bounds) {
        return of_atom(fmt::format("{}({}, {})", name(node.op), a.text(), b.text()),
                       std::move(bounds));
    };
    const Polynomial zero;
    switch (node.op) {
        case BinaryOp::add: return a + b;
        case BinaryOp::sub: return a - b;
        case BinaryOp::mul: return a * b;
        case BinaryOp::div: {
            if (const auto quotient = divided(a, b)) return *quotient;
            const bool natural = not_negative(a, kDepth) && not_negative(b, kDepth);
            return atom(natural ? Bounds{{zero}, {a}} : Bounds{});
        }
        case BinaryOp::mod:
            return atom(not_negative(b, kDepth) ? Bounds{{zero}, {b - Polynomial(1)}} : Bounds{});
        case BinaryOp::min: {
            const bool natural = not_negative(a, kDepth) && not_negative(b, kDepth);
            return atom({natural ? std::vector{zero} : std::vector<Polynomial>{}, {a, b}});
        }
        case BinaryOp::max: return atom({{a, b}, {}});
        case BinaryOp::shl: return atom(is_positive(a) ? Bounds{{Polynomial(1)}, {}} : Bounds{});
        case BinaryOp::bit_xor: {
            const bool natural = not_negative(a, kDepth) && not_negative(b, kDepth);
            return atom(natural ? Bounds{{zero}, {a + b}} : Bounds{});
        }
        default: return atom({});
    }
}

Polynomial Facts::polynomial(const ExprPtr& expr) const {
    if (const auto* constant = as<IntConst>(expr)) return Polynomial(constant->value);
    if (const auto* var = as<Var>(expr)) {
        const auto it = definitions_.find(var->name);
        if (it == definitions_.end()) return Polynomial::atom(var->name);
        if (const auto known = values_.find(var->name); known != values_.end()) {
            return known->second;
        }
        return values_.emplace(var->name, polynomial(it->second)).first->second;
    }
    if (const auto* binary = as<Binary>(expr)) return of_binary(*binary);
    if (const auto* unary = as<Unary>(expr)) {
        if (unary->op == UnaryOp::neg) return Polynomial() - polynomial(unary->operand);
        return of_atom("log2(" + polynomial(unary->operand).text() + ")", {{Polynomial()}, {}});
    }
    if (const auto* call = as<Call>(expr)) {
        if (call->op == ops::kRank) return Polynomial::atom(kRankAtom);
        if (call->op == ops::kNranks) return Polynomial::atom(kNranksAtom);
        if (call->op == ops::kGeneration) return of_atom(print(expr), {{Polynomial()}, {}});
    }
    return Polynomial::atom(print(expr));
}

// ---------------------------------------------------------------------------- proofs

bool Facts::is_natural(const std::string& atom, int depth) const {
    const auto it = bounds_.find(atom);
    if (it == bounds_.end()) return false;
    const std::vector<Polynomial> lower = it->second.lower;
    return std::any_of(lower.begin(), lower.end(),
                       [&](const Polynomial& bound) { return not_negative(bound, depth - 1); });
}

bool Facts::is_positive(const Polynomial& value) const {
    return not_negative(value - Polynomial(1), kDepth);
}

// A sum is not negative if no term is; otherwise an atom may give way to its bound, so that the sum
// only becomes smaller.
bool Facts::not_negative(const Polynomial& value, int depth) const {
    if (depth < 0) return false;
    const auto& terms = value.terms();
    const auto natural = [&](const Polynomial::Monomial& monomial) {
        return std::all_of(monomial.begin(), monomial.end(),
                           [&](const std::string& atom) { return is_natural(atom, depth); });
    };
    if (std::all_of(terms.begin(), terms.end(),
                    [&](const auto& term) { return term.second > 0 && natural(term.first); })) {
        return true;
    }
    for (const auto& [monomial, factor] : terms) {
        for (std::size_t i = 0; i < monomial.size(); ++i) {
            Polynomial::Monomial rest = monomial;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            if (!natural(rest)) continue;
            const auto it = bounds_.find(monomial[i]);
            if (it == bounds_.end()) continue;
            Polynomial others = value;
            others.add(monomial, -factor);
            Polynomial scale;
            scale.add(rest, factor);
            const std::vector<Polynomial> bounds = factor < 0 ? it->second.upper : it->second.lower;
            for (const Polynomial& bound : bounds) {
                if (not_negative(others + scale * bound, depth - 1)) return true;
            }
        }
    }
    return false;
}

ExprPtr Facts::definition(std::string_view name) const {
    const auto it = definitions_.find(name);
    return it == definitions_.end() ? nullptr : it->second;
}

bool Facts::equal(const ExprPtr& a, const ExprPtr& b) const {
    return polynomial(a) == polynomial(b);
}

bool Facts::not_negative(const ExprPtr& expr) const {
    return not_negative(polynomial(expr), kDepth);
}

bool Facts::disjoint(const ExprPtr& a, const ExprPtr& a_count, const ExprPtr& b,
                     const ExprPtr& b_count) const {
    return apart(polynomial(b) - polynomial(a), polynomial(a_count), polynomial(b_count), kSplits);
}

// Which side it is on may depend on an atom that has few values: buffers in turn are as far apart
// one way as the other.
bool Facts::apart(const Polynomial& distance, const Polynomial& a_count, const Polynomial& b_count,
                  int splits) const {
    if (not_negative(distance - a_count, kDepth) ||
        not_negative(Polynomial() - distance - b_count, kDepth)) {
        return true;
    }
    if (is_far(distance, a_count) && is_far(distance, b_count)) return true;
    if (splits == 0) return false;
    for (const auto& [monomial, factor] : distance.terms()) {
        for (const std::string& atom : monomial) {
            const auto range = constant_range(atom);
            if (!range || range->second - range->first > kMostCases) continue;
            bool all = true;
            for (std::int64_t value = range->first; all && value <= range->second; ++value) {
                all = apart(distance.with(atom, value), a_count.with(atom, value),
                            b_count.with(atom, value), splits - 1);
            }
            if (all) return true;
        }
    }
    return false;
}

// As far as a whole step or further, one way or the other. Slots s and 1 - s are 1 - 2s steps
// apart, which is never 0, whatever s is: no sum of multiples of 2 is 1.
bool Facts::is_far(const Polynomial& distance, const Polynomial& count) const {
    if (distance.terms().empty()) return false;
    Polynomial::Monomial step = distance.terms().begin()->first;
    for (const auto& [monomial, factor] : distance.terms()) {
        Polynomial::Monomial common;
        std::set_intersection(step.begin(), step.end(), monomial.begin(), monomial.end(),
                              std::back_inserter(common));
        step = std::move(common);
    }
    Polynomial one_step;
    one_step.add(step, 1);
    const Polynomial steps = *divided(distance, one_step);
    std::int64_t divisor = 0, constant = 0;
    for (const auto& [monomial, factor] : steps.terms()) {
        if (monomial.empty()) {
            constant = factor;
        } else {
            divisor = std::gcd(divisor, factor);
        }
    }
    const bool is_never_zero = divisor == 0 ? constant != 0 : constant % divisor != 0;
    return is_never_zero && not_negative(one_step - count, kDepth);
}

std::optional<std::pair<std::int64_t, std::int64_t>> Facts::constant_range(
    const std::string& atom) const {
    const auto it = bounds_.find(atom);
    if (it == bounds_.end()) return std::nullopt;
    const auto constant = [](const std::vector<Polynomial>& bounds) -> std::optional<std::int64_t> {
        for (const Polynomial& bound : bounds) {
            if (bound == Polynomial()) return 0;
            const auto& terms = bound.terms();
            if (terms.size() == 1 && terms.begin()->first.empty()) return terms.begin()->second;
        }
        return std::nullopt;
    };
    const auto lower = constant(it->second.lower);
    const auto upper = constant(it->second.upper);
    if (!lower || !upper) return std::nullopt;
    return std::pair(*lower, *upper);
}

// (rank + i) % nranks for 0 < i < nranks.
bool Facts::is_other_rank(const ExprPtr& peer) const {
    ExprPtr value = peer;
    while (const auto* var = as<Var>(value)) {
        const auto it = definitions_.find(var->name);
        if (it == definitions_.end()) return false;
        value = it->second;
    }
    const auto* modulo = as<Binary>(value);
    const Polynomial nranks = Polynomial::atom(kNranksAtom);
    if (!modulo || modulo->op != BinaryOp::mod || polynomial(modulo->rhs) != nranks) return false;
    const Polynomial distance = polynomial(modulo->lhs) - Polynomial::atom(kRankAtom);
    return is_positive(distance) && is_positive(nranks - distance);
}

std::int64_t Facts::constant_bound(const ExprPtr& expr) const {
    ConstantBounds known;
    return constant_bound(expr, known);
}

std::int64_t Facts::constant_bound(const ExprPtr& expr, ConstantBounds& known) const {
    if (const auto* constant = as<IntConst>(expr)) return constant->value;
    if (const auto* var = as<Var>(expr)) {
        const auto it = definitions_.find(var->name);
        if (it == definitions_.end()) return -1;
        if (const auto found = known.find(var->name); found != known.end()) return found->second;
        return known.emplace(var->name, constant_bound(it->second, known)).first->second;
    }
    const auto* node = as<Binary>(expr);
    if (!node) return -1;
    const std::int64_t a = constant_bound(node->lhs, known);
    const std::int64_t b = constant_bound(node->rhs, known);
    switch (node->op) {
        case BinaryOp::min: return a < 0 ? b : b < 0 ? a : std::min(a, b);
        case BinaryOp::max: return a < 0 || b < 0 ? -1 : std::max(a, b);
        case BinaryOp::add: return a < 0 || b < 0 ? -1 : a + b;
        case BinaryOp::mul: return a < 0 || b < 0 ? -1 : a * b;
        case BinaryOp::sub: return a >= 0 && not_negative(node->rhs) ? a : -1;
        default: return -1;
    }
}

}  // namespace peal::emit
