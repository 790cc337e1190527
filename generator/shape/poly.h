// Internal to shape/: expressions as polynomials with integer coefficients. Every Sint can be written as one: a sum of terms
// (product of atoms) * coefficient, plus a constant. Atoms are the nodes that are neither Sum nor Mul.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "shape/symbolic.h"

namespace etch {

/// mono * coef; `mono` is an atom or a product of atoms (a Mul of two nodes).
struct Term {
  const Node* mono;
  std::int64_t coef;
};

struct Poly {
  std::vector<Term> terms;  // sorted by compare(), each mono once, no coefficient 0
  std::int64_t constant = 0;
};

/// Orders nodes by structure (negative, 0, positive): the same in every run, whatever was built before.
int compare(const Node* a, const Node* b);

Poly to_poly(Sint x);
/// The expression as it is, without looking for simplifications between its terms.
Sint from_poly(const Poly& p);
/// The same value after joining terms by (x//c)*c + x%c = x and similar rules.
Poly joined(const Poly& p);
inline Sint simplified(const Poly& p) { return from_poly(joined(p)); }

Poly add(const Poly& a, const Poly& b, std::int64_t b_factor = 1);
Poly scale(const Poly& a, std::int64_t factor);
Poly multiply(const Poly& a, const Poly& b);

/// The atoms of a product, sorted; an atom to the power of n appears n times.
std::vector<const Node*> atoms_of(const Node* mono);
/// The product of two monomials; the product of atoms.
const Node* multiply_monos(const Node* a, const Node* b);
const Node* product_of(const std::vector<const Node*>& atoms);
/// *rest = a / b. False if some atom of b is not in a. *rest is null for the quotient 1.
bool divide_mono(const Node* a, const Node* b, const Node** rest);

/// Finds factor and rest with p = a * factor + rest; false if the atom a occurs more than once in a product. *factor and *rest must be
/// empty before.
bool split_by(const Poly& p, const Node* a, Poly* factor, Poly* rest);
/// Whether the node is part of the expression; bounds of variables are not looked into.
bool mentions(Sint x, const Node* a);
/// Every atom of p once.
std::vector<const Node*> distinct_atoms(const Poly& p);

/// gcd of the coefficients (not of the constant); 0 without terms.
std::int64_t content(const Poly& p);

/// Sound bounds of p. They are exact for sums of independent products of variables each with its own range, also a symbolic one.
std::pair<std::int64_t, std::int64_t> bounds(const Poly& p);
/// An upper bound of p as an expression in the sizes: the largest value with every variable of symbolic range at its end. nullopt if
/// no variable of p has a symbolic range.
std::optional<Sint> upper_expr(const Poly& p);

/// (p // d, p % d) by polynomial division, for an expression d. `nonnegative` must prove that the remainder lies in [0, d), or that it
/// does so after a small multiple of d is added; else nullopt.
std::optional<std::pair<Sint, Sint>> exact_quotient(const Poly& p, const Poly& d, const std::function<bool(const Poly&)>& nonnegative);
/// (x // d, x % d) wherever `valid` holds, and anything elsewhere; nullopt if not found.
std::optional<std::pair<Sint, Sint>> quotient_under(Sint x, Sint d, Sint valid);

/// The owner of an expression; nullptr for an int.
inline Symbols* owner_of(Sint x) { return x.is_int() ? nullptr : x.node()->owner; }
Symbols* owner_of(const Poly& p);

/// Makes an interned Div or Mod; the caller guarantees the rules of symbolic.h for it.
Sint make_divmod(NodeKind kind, Sint numerator, Sint divisor);

}  // namespace etch
