// Einstein summation: each operand is brought to the order of all letters, then one product and one sum.
#include <algorithm>
#include <cctype>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

struct Equation {
  std::vector<std::string> terms;  // one a operand
  std::string result;
};

constexpr char kEllipsis = '.';

/// The axes of "..." are named by characters that can't occur in an equation.
char ellipsis_axis(int from_end) { return static_cast<char>(1 + from_end); }

Equation parse(const std::string& text) {
  Equation e;
  std::string clean;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == ' ') continue;
    if (text.compare(i, 3, "...") == 0) {
      clean += kEllipsis;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == ',' || text.compare(i, 2, "->") == 0 ||
               (text[i] == '>' && i > 0 && text[i - 1] == '-')) {
      clean += text[i];
    } else {
      throw ShapeError("einsum: '" + text + "' holds '" + text[i] + "'; accepted are letters, commas, ... and ->");
    }
  }
  const std::size_t arrow = clean.find("->");
  std::string left = clean.substr(0, arrow);
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    e.terms.push_back(left.substr(begin, comma - begin));
    begin = comma + 1;
  }
  if (arrow != std::string::npos) {
    e.result = clean.substr(arrow + 2);
    return e;
  }
  // Implicit: what "..." stands for, then the letters that occur once, sorted.
  if (left.find(kEllipsis) != std::string::npos) e.result += kEllipsis;
  std::string letters = left;
  std::ranges::sort(letters);
  for (char c : letters)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 && std::ranges::count(letters, c) == 1) e.result += c;
  return e;
}

/// Letters in place of "...": as many as the operand has axes without a letter.
std::string spell_out(const std::string& term, int hidden) {
  std::string out;
  for (char c : term) {
    if (c != kEllipsis) {
      out += c;
      continue;
    }
    for (int i = hidden - 1; i >= 0; i--) out += ellipsis_axis(i);
  }
  return out;
}

/// Takes diagonals until no letter occurs twice.
Tensor without_repeats(Tensor x, std::string& letters) {
  for (std::size_t i = 0; i < letters.size();) {
    const std::size_t again = letters.find(letters[i], i + 1);
    if (again == std::string::npos) {
      i++;
      continue;
    }
    const char c = letters[i];
    x = x.diagonal(static_cast<int>(i), static_cast<int>(again));
    std::erase(letters, c);
    letters += c;
    i = 0;
  }
  return x;
}

}  // namespace

Tensor Tensor::einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  Equation e = parse(equation);
  if (operands.empty() || e.terms.size() != operands.size())
    throw ShapeError("einsum: '" + equation + "' names " + std::to_string(e.terms.size()) + " operands, given are " +
                     std::to_string(operands.size()));
  DType dtype = operands[0].dtype();
  int hidden = 0;
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const Tensor& x = operands[i];
    const int named = static_cast<int>(std::ranges::count_if(e.terms[i], [](char c) { return c != kEllipsis; }));
    const bool dots = e.terms[i].find(kEllipsis) != std::string::npos;
    if (dots ? x.rank() < named : x.rank() != named)
      throw ShapeError("einsum: '" + equation + "': operand " + std::to_string(i) + " has shape " + shape_text(x.shape()));
    hidden = std::max(hidden, x.rank() - named);
    e.terms[i] = spell_out(e.terms[i], x.rank() - named);
    dtype = least_upper_dtype(dtype, x.dtype());
    parts.push_back(without_repeats(x, e.terms[i]));
  }
  e.result = spell_out(e.result, hidden);

  std::string all = e.result;  // the result's axes in order, then the summed ones
  for (const std::string& term : e.terms)
    for (char c : term)
      if (all.find(c) == std::string::npos) all += c;
  std::vector<int> summed;
  for (std::size_t i = e.result.size(); i < all.size(); i++) summed.push_back(static_cast<int>(i));

  const DType wide = sum_dtype(dtype);
  Tensor product;
  for (std::size_t i = 0; i < parts.size(); i++) {
    std::vector<int> order;
    Shape shape;
    for (char c : all) {
      const std::size_t at = e.terms[i].find(c);
      shape.push_back(at == std::string::npos ? Sint(1) : parts[i].dim(static_cast<int>(at)));
      if (at != std::string::npos) order.push_back(static_cast<int>(at));
    }
    const Tensor x = parts[i].permute(order).reshape(shape).cast(wide);
    product = product ? product * x : x;
  }
  for (char c : e.result)
    if (std::ranges::none_of(e.terms, [c](const std::string& t) { return t.find(c) != std::string::npos; }))
      throw ShapeError("einsum: '" + equation + "': the result names an axis that no operand has");
  if (summed.empty()) return product.cast(dtype);
  const Tensor total = product.reduce(Op::ReduceSum, summed, false);
  return is_float(dtype) ? total.cast(dtype) : total;
}

}  // namespace etch
