// The functions by which kernels in languages with C syntax call the target's instructions.
#include <fmt/format.h>

#include "renderer/cstyle.h"

namespace etch {
namespace {

std::string vector_type(DType dtype, std::int64_t lanes) { return "etch_" + short_name(dtype, lanes); }

/// One operand of a dot product.
struct Operand {
  char name;
  DType dtype;
  bool is_one;  // for all lanes
};

// Declares NAME_all, which has the bytes of one lane in all.
std::string spread(const Operand& o, const std::string& sum_type) {
  if (!o.is_one) return "";
  return fmt::format(
      "  uint32_t {0}_bits;\n"
      "  {1} {0}_all = {{0}};\n"
      "  memcpy(&{0}_bits, {0}, sizeof {0}_bits);\n"
      "  {0}_all = {0}_all + {0}_bits;\n",
      o.name, sum_type);
}

/// Text that is chosen by the conditions of the row, else `plain`.
template <class Make>
std::string by_condition(const TargetInstruction& row, Make make, const std::string& plain) {
  std::string text;
  for (const InstructionText& t : row.texts) text += fmt::format("{} {}\n{}", text.empty() ? "#if" : "#elif", t.when, make(t));
  return text.empty() ? plain : text + "#else\n" + plain + "#endif\n";
}

// "(p1 + 8) * 16 + p0 * 2 + 1": where the element of a register lies, row after row. Digits of other axes than these two do not count.
std::string element_text(const TilePart& part, std::int64_t reg, char row_axis, char column_axis, std::int64_t columns) {
  const auto along = [&](char axis) {
    std::string text;
    for (std::size_t d = 0; d < part.items.size(); d++)
      if (part.items[d].axis == axis)
        text +=
            (text.empty() ? "p" : " + p") + std::to_string(d) + (part.items[d].step > 1 ? fmt::format(" * {}", part.items[d].step) : "");
    std::int64_t offset = 0, left = reg;
    for (const TileDigit& digit : part.registers) {
      offset += digit.axis == axis ? left % digit.size * digit.step : 0;
      left /= digit.size;
    }
    return offset == 0 && !text.empty() ? text : text + (text.empty() ? "" : " + ") + std::to_string(offset);
  };
  return fmt::format("({}) * {} + {}", along(row_axis), columns, column_axis == 0 ? "k" : along(column_axis));
}

// The meaning of the instruction: the work-items of a tile show each other their operands.
std::string plain_matrix(const CStyle& style, const TargetInstruction& row) {
  const std::string to_float = row.a == "float16" ? "etch_half_to_float" : "etch_bfloat16_to_float";
  const std::int64_t items = count_of(row.of_sum.items);
  std::string text = fmt::format(
      "  __shared__ unsigned short all_a[{0}][{1}], all_b[{0}][{2}];\n"
      "  const int item = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)), tile = item / {3};\n",
      1024 / items, row.m * row.k, row.n * row.k, items);
  std::int64_t before = 1;
  for (std::size_t d = 0; d < row.of_sum.items.size(); d++) {
    text += fmt::format("  const int p{} = item{} % {};\n", d, before > 1 ? fmt::format(" / {}", before) : "", row.of_sum.items[d].size);
    before *= row.of_sum.items[d].size;
  }
  for (const auto& [name, part, axis] : {std::tuple('a', &row.of_a, 'm'), std::tuple('b', &row.of_b, 'n')})
    for (std::int64_t r = 0; r < count_of(part->registers); r++)
      text += fmt::format("  all_{0}[tile][{1}] = {0}[{2}];\n", name, element_text(*part, r, axis, 'k', row.k), r);
  text += fmt::format("  {};\n", style.barrier);
  for (std::int64_t r = 0; r < count_of(row.of_sum.registers); r++)
    text += fmt::format("  for (int k = 0; k < {0}; k++)\n    d[{1}] += {2}(all_a[tile][{3}]) * {2}(all_b[tile][{4}]);\n", row.k, r,
                        to_float, element_text(row.of_sum, r, 'm', 0, row.k), element_text(row.of_sum, r, 'n', 0, row.k));
  return text + fmt::format("  {};\n", style.barrier);
}

}  // namespace

DotFunction dot_function(const CStyle& style, const TargetInstruction& row, bool a_is_one, bool b_is_one) {
  const Operand a{'a', *dtype_named(row.a), a_is_one}, b{'b', *dtype_named(row.b), b_is_one};
  const std::string sum = vector_type(*dtype_named(row.sum), row.lanes);
  DotFunction made{"etch_" + row.name + (a_is_one ? "_a" : "") + (b_is_one ? "_b" : ""), ""};
  for (const InstructionText& t : row.texts)
    if (!t.header.empty()) made.definition += fmt::format("#if {}\n#include <{}>\n#endif\n", t.when, t.header);
  made.definition += fmt::format("/* In each lane: sum + the products of {} elements of a and b. */\n{}void {}({} *sum", row.macs,
                                 style.function_prefix, made.name, sum);
  for (const Operand& o : {a, b})
    made.definition += fmt::format(", const {} *{}", vector_type(o.dtype, o.is_one ? row.macs : row.macs * row.lanes), o.name);
  const auto instruction = [&](const InstructionText& t) {
    const auto whole = [](const Operand& o) { return o.is_one ? fmt::format("{}_all", o.name) : fmt::format("(*{})", o.name); };
    const std::pair<char, std::string> values[] = {{'0', "(*sum)"}, {'1', whole(a)}, {'2', whole(b)}};
    return spread(a, sum) + spread(b, sum) + fmt::format("  *sum = ({}){};\n", sum, substitute(t.text, values));
  };
  const auto element = [&](const Operand& o) { return fmt::format("(*{})[i{}]", o.name, o.is_one ? fmt::format(" % {}", row.macs) : ""); };
  const std::string plain = fmt::format("  int i;\n  for (i = 0; i < {0}; i++)\n    (*sum)[i / {1}] += (uint32_t)({2} * {3});\n",
                                        row.macs * row.lanes, row.macs, element(a), element(b));
  made.definition += ") {\n" + by_condition(row, instruction, plain) + "}\n";
  return made;
}

DotFunction scalar_dot_function(const CStyle& style, const TargetInstruction& row, std::optional<std::int64_t> step) {
  const auto type = [&](const std::string& name) { return style.value_type[static_cast<std::size_t>(*dtype_named(name))]; };
  const char* which = !step ? "" : *step == 0 ? "even" : "odd";
  DotFunction made{"etch_" + row.name + (step ? "_" : "") + which, ""};
  TargetInstruction own = row;
  std::erase_if(own.texts, [&](const InstructionText& t) { return t.step != step.value_or(0); });
  for (const InstructionText& t : own.texts)
    if (!t.header.empty()) made.definition += fmt::format("#if {}\n#include <{}>\n#endif\n", t.when, t.header);
  made.definition += row.is_whole_pair()
                         ? fmt::format("/* sum + the products of {} elements of a and b, which has the even ones first. */\n", row.macs)
                     : step ? fmt::format("/* sum + the products of the {} of {} elements of a and those of b. */\n", which, 2 * row.macs)
                            : fmt::format("/* sum + the products of {} elements of a and b. */\n", row.macs);
  const auto operand = [&](const std::string& name) {
    return row.takes_vectors() ? vector_type(*dtype_named(name), row.macs) + " " : std::string(type(name)) + " *";
  };
  made.definition += fmt::format("{0}{1} {2}({1} sum, const {3}a, const {4}b) {{\n", style.function_prefix, type(row.sum), made.name,
                                 operand(row.a), operand(row.b));
  const auto instruction = [&](const InstructionText& t) {
    constexpr std::int64_t kWord = 4;
    if (row.macs * bytes_of(*dtype_named(row.b)) > kWord) {
      const std::pair<char, std::string> places[] = {{'0', "sum"}, {'1', "a"}, {'2', "b"}};
      return fmt::format("  return {};\n", substitute(t.text, places));
    }
    const std::pair<char, std::string> values[] = {{'0', "sum"}, {'1', "a_word"}, {'2', "b_word"}};
    return fmt::format(
        "  uint32_t a_word, b_word;\n"
        "  memcpy(&a_word, a, sizeof a_word);\n"
        "  memcpy(&b_word, b, sizeof b_word);\n"
        "  return {};\n",
        substitute(t.text, values));
  };
  const std::string element = row.is_whole_pair() ? "i % 2 * 2 + i / 2" : !step ? "i" : *step == 0 ? "2 * i" : "2 * i + 1";
  const std::string plain =
      fmt::format("  int i;\n  for (i = 0; i < {}; i++) sum = (int32_t)((uint32_t)sum + (uint32_t)(a[{}] * b[i]));\n  return sum;\n",
                  row.macs, element);
  made.definition += by_condition(own, instruction, plain) + "}\n";
  return made;
}

std::string matrix_function(const CStyle& style, const TargetInstruction& row) {
  std::string parameters, arrays;
  for (const auto& [name, part] : {std::pair('a', &row.of_a), std::pair('b', &row.of_b)}) {
    const std::int64_t n = count_of(part->registers);
    std::string all;
    for (std::int64_t r = 0; r < n; r++) {
      parameters += fmt::format(", unsigned short {}{}", name, r);
      all += fmt::format("{}{}{}", r == 0 ? "" : ", ", name, r);
    }
    arrays += fmt::format("  const unsigned short {}[{}] = {{{}}};\n", name, n, all);
  }
  return fmt::format("/* What a work-item has of a tile of {} x {} sums of {} products. */\n{}void etch_{}(float (&d)[{}]{}) {{\n{}{}}}\n",
                     row.m, row.n, row.k, style.function_prefix, row.name, count_of(row.of_sum.registers), parameters, arrays,
                     by_condition(row, [](const InstructionText& t) { return "  " + t.text + "\n"; }, plain_matrix(style, row)));
}

}  // namespace etch
