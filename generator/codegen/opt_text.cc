// OptOps as text, and back.
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "codegen/options.h"

namespace etch {
namespace {

// In the order of OptOp.
constexpr std::string_view kNames[] = {"UPCAST",    "OVERLAP",  "UNROLL",    "LOCAL",  "LASTLOCAL", "GROUP",     "GROUPTOP",
                                       "UPCASTMID", "NOLOCALS", "PADTO",     "VECTOR", "INTERIOR",  "OUTERMOST", "BLOCK",
                                       "PREFETCH",  "PIPELINE", "PREFETCHW", "ROLL",   "ZIGZAG",    "BACKWARDS", "TC"};
static_assert(std::size(kNames) == static_cast<std::size_t>(OptOp::Tensor) + 1);

int numbers_of(OptOp op) {
  constexpr std::array kAlone{OptOp::NoLocals, OptOp::Interior, OptOp::Pipeline, OptOp::PrefetchWrite,
                              OptOp::Roll,     OptOp::Zigzag,   OptOp::Backwards};
  if (std::ranges::find(kAlone, op) != kAlone.end()) return 0;
  return op == OptOp::Outermost || op == OptOp::Prefetch ? 1 : 2;
}

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

template <class T>
bool read(std::string_view word, T& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number >= 0;
}

std::optional<Opt> opt_of(std::string_view text) {
  const auto name = std::ranges::find(kNames, next_word(text));
  if (name == std::end(kNames)) return std::nullopt;
  Opt opt{static_cast<OptOp>(name - std::begin(kNames))};
  const int numbers = numbers_of(opt.op);
  if (numbers > 0 && !read(next_word(text), opt.axis)) return std::nullopt;
  if (numbers > 1 && !read(next_word(text), opt.amount)) return std::nullopt;
  return next_word(text).empty() ? std::optional(opt) : std::nullopt;
}

}  // namespace

std::string to_text(const Opt& opt) {
  std::string text(kNames[static_cast<std::size_t>(opt.op)]);
  const int numbers = numbers_of(opt.op);
  if (numbers > 0) text += " " + std::to_string(opt.axis);
  if (numbers > 1) text += " " + std::to_string(opt.amount);
  return text;
}

std::string to_text(const std::vector<Opt>& opts) {
  std::string text;
  for (const Opt& opt : opts) text += (text.empty() ? "" : ", ") + to_text(opt);
  return text;
}

std::optional<std::vector<Opt>> opts_of(std::string_view text) {
  std::vector<Opt> opts;
  if (text.find_first_not_of(' ') == std::string_view::npos) return opts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::optional<Opt> opt = opt_of(text.substr(0, comma));
    if (!opt) return std::nullopt;
    opts.push_back(*opt);
    if (comma == std::string_view::npos) return opts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace etch
