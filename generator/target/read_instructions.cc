#include "target/read_instructions.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace etch {
namespace {

constexpr std::int64_t kMostDigits = 4096;  // values of a part of a tile

std::string type_of(const Reader& in, const Element& e, const char* name, const std::vector<std::string_view>& accepted) {
  return std::string(accepted[in.choice(e, name, in.attribute(e, name), accepted)]);
}

void read_texts(const Reader& in, const Element& e, TargetInstruction& row) {
  for (const Element* t = e.FirstChildElement("text"); t != nullptr; t = t->NextSiblingElement("text"))
    row.texts.push_back({in.attribute(*t, "when"), in.attribute(*t, "header"), Reader::text_of(*t),
                         static_cast<std::int64_t>(in.choice(*t, "step", in.attribute(*t, "step", "0"), {"0", "1"}))});
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Reads "16x8" or, with `letter`, "k4x2"; nullopt if it is not of that form.
std::optional<std::vector<std::int64_t>> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (true) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || n < 1 || n > kMostDigits) return std::nullopt;
    numbers.push_back(n);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return numbers;
    if (text[0] != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

std::vector<TileDigit> digits_of(const Reader& in, const Element& e, const char* operand, std::string_view axes) {
  std::vector<TileDigit> digits;
  for (const std::string& word : words_of(in.attribute(e, operand))) {
    const auto numbers = numbers_of(std::string_view(word).substr(1));
    if (axes.find(word[0]) == std::string_view::npos || !numbers || numbers->size() != 2)
      in.fail(e.GetLineNum(), Reader::quoted(e) + ": " + operand + " has the digit '" + word + "', accepted is the letter " +
                                  std::string(1, axes[0]) + " or " + std::string(1, axes[1]) + ", a size, x and a step: " + axes[0] +
                                  "4x2");
    digits.push_back({word[0], (*numbers)[0], (*numbers)[1]});
  }
  return digits;
}

/// Where the digits of the number `n` lead to, along m, n and k.
std::map<char, std::int64_t> place_of(const std::vector<TileDigit>& digits, std::int64_t n) {
  std::map<char, std::int64_t> place;
  for (const TileDigit& d : digits) {
    place[d.axis] += n % d.size * d.step;
    n /= d.size;
  }
  return place;
}

/// Checks that the part has each element of rows x columns of the tile once.
void require_whole(const Reader& in, const Element& e, const TilePart& part, const char* operand, std::pair<char, std::int64_t> rows,
                   std::pair<char, std::int64_t> columns) {
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  const std::int64_t items = count_of(part.items), registers = count_of(part.registers);
  bool fits = items <= kMostDigits && registers <= kMostDigits && items * registers == rows.second * columns.second;
  for (std::int64_t i = 0; fits && i < items * registers; i++) {
    std::map<char, std::int64_t> place = place_of(part.items, i % items);
    for (const auto& [axis, at] : place_of(part.registers, i / items)) place[axis] += at;
    fits = place[rows.first] < rows.second && place[columns.first] < columns.second;
    seen.emplace(place[rows.first], place[columns.first]);
  }
  if (!fits || static_cast<std::int64_t>(seen.size()) != items * registers)
    in.fail(e.GetLineNum(), Reader::quoted(e) + ": <items> and <registers> of " + operand + " do not name each of its " +
                                std::to_string(rows.second) + " x " + std::to_string(columns.second) + " elements once");
}

/// Each step of a dot product has a text, and nothing else has one.
void require_texts_of_steps(const Reader& in, const Element& e, const TargetInstruction& row) {
  for (const InstructionText& t : row.texts)
    if (t.step >= row.steps)
      in.fail(e.GetLineNum(), Reader::quoted(e) + ": step " + std::to_string(t.step) + " has a text, but there are " +
                                  std::to_string(row.steps) + " steps");
  for (std::int64_t step = 0; step < row.steps && !row.texts.empty(); step++)
    if (std::ranges::find(row.texts, step, &InstructionText::step) == row.texts.end())
      in.fail(e.GetLineNum(), Reader::quoted(e) + ": step " + std::to_string(step) + " has no text");
}

TargetInstruction read_dot(const Reader& in, const Element& e) {
  TargetInstruction row;
  row.a = type_of(in, e, "a", {"uint8", "int8"});
  row.b = type_of(in, e, "b", {"uint8", "int8", "int16"});
  row.sum = type_of(in, e, "sum", {"int32"});
  row.steps = in.number(e, "steps", 1, 2, 1);
  row.words = in.boolean(e, "words", false);
  row.macs = in.number(e, "macs", 2, 16, 4);
  constexpr std::int64_t kLanes[] = {1, 4, 8, 16};
  row.lanes = kLanes[in.choice(e, "lanes", in.attribute(e, "lanes"), {"1", "4", "8", "16"})];
  // Both operands are one word: four bytes, or two numbers of 16 bits of which each step has its own. Of one lane they may be longer, as
  // the four numbers of 16 bits of both steps.
  const bool is_long = row.lanes == 1 && (row.macs == 8 || row.macs == 16);
  const bool fits = row.b == "int16" ? row.lanes == 1 && row.macs * row.steps == 4 : row.steps == 1 && (row.macs == 4 || is_long);
  if (!fits || (row.steps > 1 && row.lanes != 1))
    in.fail(e.GetLineNum(),
            Reader::quoted(e) +
                ": accepted are 4 macs of bytes, 8 or 16 in 1 lane, or in 1 lane 4 macs, or 2 macs in 2 steps, where b is int16");
  if (row.words && row.lanes != 1)
    in.fail(e.GetLineNum(), Reader::quoted(e) + ": words are of 1 lane, lanes is " + std::to_string(row.lanes));
  if (const Element* function = e.FirstChildElement("intrinsic")) {
    row.intrinsic = in.attribute(*function, "name");
    row.feature = in.attribute(*function, "feature");
  }
  return row;
}

TargetInstruction read_matrix(const Reader& in, const Element& e) {
  TargetInstruction row;
  row.a = type_of(in, e, "a", {"float16", "bfloat16"});
  row.b = type_of(in, e, "b", {row.a});
  row.sum = type_of(in, e, "sum", {"float32"});
  const auto size = numbers_of(in.attribute(e, "size"));
  if (!size || size->size() != 3)
    in.fail(e.GetLineNum(), "<matrix>: size is '" + in.attribute(e, "size") + "', accepted are m, n and k: 16x8x16");
  row.m = (*size)[0];
  row.n = (*size)[1];
  row.k = (*size)[2];
  struct Part {
    TilePart* part;
    const char* operand;
    std::pair<char, std::int64_t> rows, columns;
  };
  const Part parts[] = {{&row.of_a, "a", {'m', row.m}, {'k', row.k}},
                        {&row.of_b, "b", {'n', row.n}, {'k', row.k}},
                        {&row.of_sum, "sum", {'m', row.m}, {'n', row.n}}};
  for (const Part& p : parts) {
    const std::string axes{p.rows.first, p.columns.first};
    p.part->items = digits_of(in, *e.FirstChildElement("items"), p.operand, axes);
    p.part->registers = digits_of(in, *e.FirstChildElement("registers"), p.operand, axes);
    require_whole(in, e, *p.part, p.operand, p.rows, p.columns);
    if (!std::ranges::equal(p.part->items, parts[0].part->items, {}, &TileDigit::size, &TileDigit::size))
      in.fail(e.GetLineNum(), std::string("<matrix>: the <items> of ") + p.operand + " have digits of other sizes than those of a");
  }
  return row;
}

}  // namespace

std::int64_t count_of(const std::vector<TileDigit>& digits) {
  std::int64_t n = 1;
  for (const TileDigit& d : digits) n *= d.size;
  return n;
}

void read_instructions(const Reader& in, const Element& root, Target& t) {
  for (const Element* e = root.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    const bool is_dot = std::string_view(e->Name()) == "dot";
    if (!is_dot && std::string_view(e->Name()) != "matrix") continue;
    TargetInstruction row = is_dot ? read_dot(in, *e) : read_matrix(in, *e);
    row.name = in.attribute(*e, "name");
    if (!is_c_name(row.name)) in.fail(e->GetLineNum(), Reader::quoted(*e) + ": name is '" + row.name + "', accepted is a name of C");
    if (std::ranges::find(t.instructions, row.name, &TargetInstruction::name) != t.instructions.end())
      in.fail(e->GetLineNum(), Reader::quoted(*e) + ": the name '" + row.name + "' is taken");
    constexpr std::int64_t kWord = 4;
    if (row.words && t.arena_align < kWord)
      in.fail(e->GetLineNum(), Reader::quoted(*e) + ": words need <arena align=\"4\"/> or more, it is " + std::to_string(t.arena_align));
    read_texts(in, *e, row);
    require_texts_of_steps(in, *e, row);
    t.instructions.push_back(std::move(row));
  }
}

}  // namespace etch
