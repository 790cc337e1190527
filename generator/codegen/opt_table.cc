#include "codegen/opt_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/fnv.h"

namespace etch {
namespace {

constexpr std::size_t kKeyDigits = 16;
constexpr std::string_view kHeader =
    "# Steps of the optimiser for kernels, found by etch tune: key of the kernel, its loops, the steps.\n"
    "# A kernel that has no row here takes the steps of the heuristics.\n";

bool is_key(std::string_view word) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return word.size() == kKeyDigits && std::ranges::all_of(word, is_digit);
}

[[noreturn]] void fail(const std::string& file, int line, const std::string& problem) {
  throw UserError(fmt::format("{}:{}", file, line), problem,
                  "a row is KEY SHAPE: OPTOP, ... as etch tune writes it; remove the line, and etch tune finds the kernel's steps anew");
}

}  // namespace

std::string tuning_key(const LazyOp* ast, const std::vector<KernelArgument>& arguments, const CodegenOptions& options) {
  std::string text = to_text(ast);
  for (const KernelArgument& a : arguments)
    text += fmt::format("{} {} {} {} {}\n", name_of(a.dtype), to_text(a.elements), a.access == Access::Read, a.is_constant, a.is_bounded);
  text += fmt::format("{} {} {} {} {} {} {} {} {}", options.vector_bits, options.integer_vectors, options.small_code, options.has_local,
                      options.register_tiles, options.narrow_int, options.largest_object, options.overlap, options.backwards);
  for (const TargetInstruction& row : options.instructions) text += " " + row.name;  // TC counts them
  return fmt::format("{:016x}", fnv1a_64(text));
}

OptTable OptTable::parse(std::string_view text, const std::string& file) {
  OptTable table;
  for (int line = 1; !text.empty(); line++) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    std::string_view row = whole.substr(0, whole.find('#'));
    row = row.substr(0, row.find_last_not_of(" \r\t") + 1);
    if (row.empty()) continue;
    const std::size_t space = row.find(' '), colon = row.find(':');
    const std::string key(row.substr(0, space));
    if (!is_key(key)) fail(file, line, fmt::format("'{}' is no key of a kernel, accepted are {} digits 0 to 9, a to f", key, kKeyDigits));
    if (space == std::string_view::npos || colon == std::string_view::npos || colon < space)
      fail(file, line, "there is no ':' between the kernel and its steps");
    const auto opts = opts_of(row.substr(colon + 1));
    if (!opts) fail(file, line, fmt::format("'{}' are no steps of the optimiser", row.substr(colon + 1)));
    if (table.rows_.contains(key))
      fail(file, line, fmt::format("the kernel {} has a row before, in line {}", key, table.rows_.at(key).line));
    table.rows_[key] = {std::string(row.substr(space + 1, colon - space - 1)), *opts, file, line};
  }
  return table;
}

OptTable OptTable::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw UserError(file.string(), "the table of OptOps cannot be read", "check the name and the file's permissions");
  return parse(text.str(), file.string());
}

std::string OptTable::text() const {
  std::string text(kHeader);
  for (const auto& [key, row] : rows_) {
    const std::string steps = to_text(row.opts);
    text += fmt::format("{} {}:{}{}\n", key, row.shape, steps.empty() ? "" : " ", steps);
  }
  return text;
}

const TunedKernel* OptTable::find(const std::string& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
}

void OptTable::add(const OptTable& other) {
  for (const auto& [key, row] : other.rows_) rows_[key] = row;
}

}  // namespace etch
