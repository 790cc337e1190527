// Symbolic integers: loop indices and sizes that are known only when the program runs, and the arithmetic on them that
// index expressions need. Every operation simplifies; equal expressions are the same node, so comparing two expressions
// is comparing two pointers.
//
// Symbols owns the nodes of one compilation. A Sint ("symbolic int") is the type that all code uses: a plain int64_t or a
// node. Division and modulo have floor semantics for every sign. Bounds are always sound: min() <= value <= max().
//
//   Symbols syms;
//   Sint i = syms.variable("i", 0, 27), n = syms.variable("n", 1, 16);
//   Sint x = i * 4 + 5;                      // min 5, max 113
//   to_text(floordiv(x, 4));                 // "(1+i)"
//   Sint b = syms.variable("b", 0, n - 1);   // an index below a symbolic size
//
// The canonical form of nodes, on which a renderer may rely: an expression is a sum of products. Sum has at least two terms,
// of which none is a Sum; an int comes last. Mul has two operands: (product, int) or, for a product of two unknowns,
// (node, node). Div and Mod have a numerator that is never negative and a divisor that is always positive, so C's / and
// % give their value. Lt is src[0] < src[1], either side may be an int. And has at least two conditions (Lt nodes).
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace etch {

class Symbols;
struct Node;

enum class NodeKind : std::uint8_t {
  Variable,  // a named value in [min, max]
  Lt,        // src[0] < src[1], as 0 or 1
  Mul,       // src[0] * src[1]
  Div,       // floor(src[0] / src[1])
  Mod,       // src[0] - src[1] * floor(src[0] / src[1])
  Sum,       // sum of src
  And,       // 1 if no src is 0
};

/// An int64_t or a symbolic node: two words, copied freely. Nodes live as long as their Symbols.
class Sint {
 public:
  Sint() = default;
  /// A plain integer; implicit, so that ints and expressions mix.
  template <std::integral T>
  Sint(T value) : value_(static_cast<std::int64_t>(value)) {}
  explicit Sint(const Node& node) : node_(&node) {}

  bool is_int() const { return node_ == nullptr; }
  bool is_int(std::int64_t value) const { return node_ == nullptr && value_ == value; }
  /// The integer; an expression is an internal error.
  std::int64_t as_int() const;
  /// The node, or nullptr for an integer.
  const Node* node() const { return node_; }
  /// Sound bounds over all values of the variables.
  std::int64_t min() const;
  std::int64_t max() const;

  /// The same integer or the same expression.
  friend bool operator==(const Sint& a, const Sint& b) { return a.node_ == b.node_ && a.value_ == b.value_; }

 private:
  const Node* node_ = nullptr;
  std::int64_t value_ = 0;
};

/// One interned expression; immutable. See the top of this file for what each kind guarantees.
struct Node {
  NodeKind kind;
  Symbols* owner;
  std::int64_t min, max;  // sound bounds
  std::vector<Sint> src;  // operands
  std::string name;       // Variable only
  Sint max_expr;          // Variable: its largest value, which may be an expression (index of a loop of symbolic length)
  // For Variable, Div and Mod whose largest value depends on a size: that value as an expression. Else absent.
  std::optional<Sint> upper;
  std::size_t hash;
};

/// Owner of all nodes of one compilation. An expression must not mix nodes of two Symbols.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The variable `name` in [min, max]; min == max gives the int. A negative min and min > max are errors. `max` may be an
  /// expression; for some values of its variables it may be min - 1: the variable is then the index of an empty loop.
  Sint variable(const std::string& name, std::int64_t min, Sint max);
  std::size_t size() const;

  /// For the implementation: the node equal to `node` if it is known; sets its hash. Bounds are not compared.
  const Node* find(Node* node);
  /// For the implementation: the one node equal to `node`, all of whose fields the caller has set.
  const Node* intern(Node node);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

Sint operator+(Sint a, Sint b);
Sint operator-(Sint a, Sint b);
Sint operator-(Sint a);
Sint operator*(Sint a, Sint b);
inline Sint& operator+=(Sint& a, Sint b) { return a = a + b; }
inline Sint& operator-=(Sint& a, Sint b) { return a = a - b; }
inline Sint& operator*=(Sint& a, Sint b) { return a = a * b; }
/// Floor division; a divisor that can be 0 is an internal error.
Sint floordiv(Sint a, Sint b);
/// a - b * floordiv(a, b): has the sign of b.
Sint floormod(Sint a, Sint b);
/// Conditions: 1 or 0.
Sint lt(Sint a, Sint b);
Sint ge(Sint a, Sint b);
inline Sint le(Sint a, Sint b) { return ge(b, a); }
inline Sint gt(Sint a, Sint b) { return lt(b, a); }
Sint eq(Sint a, Sint b);
/// 1 if no condition is 0, also if there are none. Drops conditions that others imply; 0 if two contradict each other.
Sint ands(const std::vector<Sint>& conditions);
Sint sum(const std::vector<Sint>& terms);
Sint product(const std::vector<Sint>& factors);
/// The product, or nothing if it can exceed int64_t (for sizes that come from the user).
std::optional<Sint> checked_product(const std::vector<Sint>& factors);
/// The smaller (larger) of two expressions if it is the same one for all values of the variables; else nullopt.
std::optional<Sint> try_min(Sint a, Sint b);
std::optional<Sint> try_max(Sint a, Sint b);

/// The free variables sorted by name (variables in bounds of variables are not included).
std::vector<const Node*> variables(Sint x);
std::vector<const Node*> variables(const std::vector<Sint>& xs);
const std::string& name(const Node& variable);
/// Replaces variables by name and simplifies again. Where a variable that stays has a bound that mentions a replaced
/// one, its bound is replaced too.
Sint substitute(Sint x, const std::map<std::string, Sint>& values);
/// The value; every free variable must have one.
std::int64_t evaluate(Sint x, const std::map<std::string, std::int64_t>& values);
/// Python-like text: ((idx0*4)+idx1), (a//4), (a%4), (a<3), (x and y). Terms are sorted as text.
std::string to_text(Sint x);
std::string to_text(const std::vector<Sint>& xs);
/// How many operations (+ * // % < and) the expression takes, as rendered.
std::int64_t operation_count(Sint x);

/// Sound [min, max] of `expr` over the values of its variables for which `valid` is not 0. If valid is never true, the
/// result is the empty range [1, 0].
std::pair<std::int64_t, std::int64_t> bounds_under(Sint expr, Sint valid);
/// True if expr < bound is proved wherever `valid` holds. False means "not proved".
bool proves_less(Sint expr, Sint bound, Sint valid = 1);
/// True if expr >= 0 is proved wherever `valid` holds.
bool proves_nonnegative(Sint expr, Sint valid = 1);
/// `expr`, simplified by what `valid` says: equal to expr wherever valid holds, anything elsewhere.
Sint simplify_under(Sint expr, Sint valid);

}  // namespace etch

template <>
struct std::hash<etch::Sint> {
  std::size_t operator()(const etch::Sint& x) const noexcept;
};
