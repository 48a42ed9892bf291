// SPDX-License-Identifier: Apache-2.0
// What is known of a kernel's integers whatever the ranks and sizes are: signs, bounds, equality.
// An answer "no" means: not known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peal/ir.hpp"
#include "peal/words.hpp"

namespace peal::emit {

// A sum of products of atoms. Atoms are variables and whatever is not a sum or a product.
class Polynomial {
public:
    using Monomial = std::vector<std::string>;  // sorted; empty: the constant

    Polynomial() = default;
    explicit Polynomial(std::int64_t constant) { add({}, constant); }
    static Polynomial atom(const std::string& name);

    void add(const Monomial& monomial, std::int64_t factor);
    Polynomial operator+(const Polynomial& other) const;
    Polynomial operator-(const Polynomial& other) const;
    Polynomial operator*(const Polynomial& other) const;
    bool operator==(const Polynomial&) const = default;

    const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
    Polynomial with(const std::string& atom, std::int64_t value) const;
    std::string text() const;

private:
    std::map<Monomial, std::int64_t> terms_;  // none is 0
};

class Facts {
public:
    explicit Facts(const ir::Kernel& kernel);

    // What is known where the condition holds.
    Facts assuming(const ir::ExprPtr& condition) const;

    // The value of a let of integers; null if it is none.
    ir::ExprPtr definition(std::string_view name) const;

    bool equal(const ir::ExprPtr& a, const ir::ExprPtr& b) const;
    bool not_negative(const ir::ExprPtr& expr) const;
    // Elements [a, a + a_count) and [b, b + b_count) have none in common.
    bool disjoint(const ir::ExprPtr& a, const ir::ExprPtr& a_count, const ir::ExprPtr& b,
                  const ir::ExprPtr& b_count) const;
    // The peer is some other rank than the own one.
    bool is_other_rank(const ir::ExprPtr& peer) const;
    // The largest value that `expr` can have, if that is a constant; otherwise -1.
    std::int64_t constant_bound(const ir::ExprPtr& expr) const;

private:
    struct Bounds {
        std::vector<Polynomial> lower, upper;
    };

    // By variable.
    using ConstantBounds = std::map<std::string, std::int64_t, std::less<>>;

    void learn(const ir::Block& block);
    void learn_requirement(const ir::Call& require);
    void learn_condition(const ir::ExprPtr& condition);
    void learn_comparison(const ir::ExprPtr& left, Compare compare, const ir::ExprPtr& right);
    Polynomial polynomial(const ir::ExprPtr& expr) const;
    Polynomial of_binary(const ir::Binary& node) const;
    Polynomial of_atom(std::string name, Bounds bounds) const;
    bool not_negative(const Polynomial& value, int depth) const;
    bool is_natural(const std::string& atom, int depth) const;
    bool is_positive(const Polynomial& value) const;
    bool apart(const Polynomial& distance, const Polynomial& a_count, const Polynomial& b_count,
               int splits) const;
    bool is_far(const Polynomial& distance, const Polynomial& count) const;
    std::int64_t constant_bound(const ir::ExprPtr& expr, ConstantBounds& known) const;
    // Both, if the atom is known to lie between constants.
    std::optional<std::pair<std::int64_t, std::int64_t>> constant_range(
        const std::string& atom) const;

    std::map<std::string, ir::ExprPtr, std::less<>> definitions_;
    // Of definitions, once worked out: one may name another many times.
    mutable std::map<std::string, Polynomial, std::less<>> values_;
    mutable std::map<std::string, Bounds, std::less<>> bounds_;  // grows as atoms are met
};

}  // namespace peal::emit
