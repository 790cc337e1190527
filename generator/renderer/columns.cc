// Text of lanes that come from several vectors. And of stores of columns: of four the function of etch_math.h, of as many as lanes one that
// is defined in front of the kernels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "renderer/render.h"

namespace etch {
namespace {

// $1 to $3: numbers that follow the one of lanes.
constexpr const char* kSquare = R"(/* $0 vectors as columns, side by side from `to` on: element l of each lies l * `stride` further. */
ETCH_INLINE void etch_store_square_f32x$0(float *to, intptr_t stride, const etch_f32x$0 *column) {
#if (defined(__clang__) || __GNUC__ >= 12) && !defined(__riscv)
  etch_f32x$0 row[$0]; /* each four columns as rows of four, in each four lanes */
  for (int c = 0; c < $0; c += 4) {
    const etch_f32x$0 *const v = &column[c];
    const etch_f32x$0 ab = ETCH_MIX_$0(v[0], v[1], 0, $0, 1, $1), cd = ETCH_MIX_$0(v[2], v[3], 0, $0, 1, $1);
    const etch_f32x$0 ab2 = ETCH_MIX_$0(v[0], v[1], 2, $2, 3, $3), cd2 = ETCH_MIX_$0(v[2], v[3], 2, $2, 3, $3);
    row[c] = ETCH_MIX_$0(ab, cd, 0, 1, $0, $1), row[c + 1] = ETCH_MIX_$0(ab, cd, 2, 3, $2, $3);
    row[c + 2] = ETCH_MIX_$0(ab2, cd2, 0, 1, $0, $1), row[c + 3] = ETCH_MIX_$0(ab2, cd2, 2, 3, $2, $3);
  }
  for (int l = 0; l < 4; l++) { /* the same four lanes of all of these, side by side */
$ROWS  }
#else
  for (int c = 0; c < $0; c += 4) etch_store_columns_f32x$0(to + c, stride, column[c], column[c + 1], column[c + 2], column[c + 3]);
#endif
}
)";

constexpr const char* kRows8 =
    R"(    *(etch_f32x8_u *)(to + l * stride) = __builtin_shufflevector(row[l], row[l + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *(etch_f32x8_u *)(to + (l + 4) * stride) = __builtin_shufflevector(row[l], row[l + 4], 4, 5, 6, 7, 12, 13, 14, 15);
)";

constexpr const char* kFours = R"(/* Four of 16 lanes from p on, and so on, where lanes of b follow those of a. */
#define ETCH_FOURS(a, b, p, q, r, s)                                                                                            \
  __builtin_shufflevector(a, b, p, p + 1, p + 2, p + 3, q, q + 1, q + 2, q + 3, r, r + 1, r + 2, r + 3, s, s + 1, s + 2, s + 3)
)";
constexpr const char* kRows16 =
    R"(    const etch_f32x16 low = ETCH_FOURS(row[l], row[l + 4], 0, 4, 16, 20), low2 = ETCH_FOURS(row[l + 8], row[l + 12], 0, 4, 16, 20);
    const etch_f32x16 high = ETCH_FOURS(row[l], row[l + 4], 8, 12, 24, 28), high2 = ETCH_FOURS(row[l + 8], row[l + 12], 8, 12, 24, 28);
    *(etch_f32x16_u *)(to + l * stride) = ETCH_FOURS(low, low2, 0, 8, 16, 24);
    *(etch_f32x16_u *)(to + (l + 4) * stride) = ETCH_FOURS(low, low2, 4, 12, 20, 28);
    *(etch_f32x16_u *)(to + (l + 8) * stride) = ETCH_FOURS(high, high2, 0, 8, 16, 24);
    *(etch_f32x16_u *)(to + (l + 12) * stride) = ETCH_FOURS(high, high2, 4, 12, 20, 28);
)";

constexpr const char* kLanes = R"(/* Lanes of two vectors, by number: those of b follow those of a. */
#if defined(__clang__) || __GNUC__ >= 12
#define ETCH_LANES_{0}(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define ETCH_LANES_{0}(a, b, ...) __builtin_shuffle(a, b, (etch_i32x{0}){{__VA_ARGS__}})
#endif
)";

std::string square_function(int lanes) {
  std::string text;
  for (const char* c = kSquare; *c != '\0'; c++) {
    if (*c != '$') {
      text += *c;
    } else if (*++c == 'R') {
      text += lanes == 8 ? kRows8 : kRows16, c += 3;
    } else {
      text += std::to_string(lanes + (*c - '0'));
    }
  }
  return (lanes == 8 ? "" : kFours) + text;
}

}  // namespace

// {a[0], a[2], b[1], b[3]}, as two vectors at a time: GCC takes what it does not see to be a permutation lane by lane. A constant is a lane
// of a vector, too.
std::optional<Renderer::Expr> Renderer::lanes_of_vectors(const UOp* u) {
  constexpr std::size_t kMostVectors = 3;
  if (u->dtype != DType::Float32 || pointed_.contains(u)) return std::nullopt;
  std::vector<const UOp*> vectors;
  for (const UOp* s : u->src) {
    const UOp* from = s->uop == UOpKind::Gep ? s->src[0] : s;
    if (s->uop == UOpKind::Gep ? from->lanes != u->lanes : s->uop != UOpKind::Const) return std::nullopt;
    if (std::ranges::find(vectors, from) == vectors.end()) vectors.push_back(from);
  }
  const bool has_vector = std::ranges::any_of(vectors, [](const UOp* v) { return v->lanes > 1; });
  if (!has_vector || vectors.size() < 2 || vectors.size() > kMostVectors) return std::nullopt;
  const auto lane_of = [&](std::size_t l) { return u->src[l]->uop == UOpKind::Gep ? u->src[l]->number : 0; };
  Expr e{in_all_lanes(vectors[0], u->lanes), kAtom, 1};
  for (std::size_t v = 1; v < vectors.size(); v++) {
    std::vector<std::int64_t> numbers;  // what comes later stays open: any lane will do
    for (std::size_t l = 0; l < u->src.size(); l++) {
      const auto from = std::ranges::find(vectors, u->src[l]->uop == UOpKind::Gep ? u->src[l]->src[0] : u->src[l]) - vectors.begin();
      const auto here = static_cast<std::int64_t>(l), next = static_cast<std::int64_t>(v);
      numbers.push_back(from == next ? u->lanes + lane_of(l) : from == 0 && v == 1 ? lane_of(l) : here);
    }
    e.text = fmt::format("ETCH_LANES_{}({}, {}, {})", u->lanes, e.text, in_all_lanes(vectors[v], u->lanes), fmt::join(numbers, ", "));
  }
  definitions_.insert(fmt::format(kLanes, u->lanes));
  helper(fmt::format("i32x{}", u->lanes));
  vector_type(u);
  return e;
}

void Renderer::store_columns(const UOp* u) {
  const std::string to = "&" + expr(u->src[0]).text + "[" + expr(u->src[1]).text + "], " + expr(u->src[2]).text;
  std::vector<std::string> columns;
  for (std::size_t c = kBeforeColumns; c < u->src.size(); c++) columns.push_back(in_all_lanes(u->src[c], u->lanes));
  const std::string name = short_name(u->dtype, u->lanes), four = helper("store_columns_" + name);
  facts_.uses_vectors = true;
  if (columns.size() == static_cast<std::size_t>(kStoredColumns))
    return line(fmt::format("{}({}, {});", four, to, fmt::join(columns, ", ")));
  definitions_.insert(square_function(u->lanes));
  line(fmt::format("etch_store_square_{}({}, (const {}[]){{{}}});", name, to, vector_type(u->src[kBeforeColumns]),
                   fmt::join(columns, ", ")));
}

}  // namespace etch
