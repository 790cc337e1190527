#include "codegen/opt_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/fnv.h"

namespace etch {
namespace {

constexpr std::size_t kKeyDigits = 16;
constexpr std::string_view kHeader =
    "# Found by etch tune: of a kernel its key, its loops and the optimiser's steps; of a choice where values lie its key and the way.\n"
    "# A kernel or a choice that has no row here takes what the heuristics say.\n";

constexpr std::string_view kFoundFor = "# Found for ", kWith = " with ";

std::string text_of(const FoundFor& what) { return fmt::format("{}{}{}{}.\n", kFoundFor, what.target, kWith, what.compiler); }

// What a comment says that rows were found for, in one word each; nullopt if it is another one.
std::optional<FoundFor> found_for(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \r\t") + 1);
  if (!line.starts_with(kFoundFor) || !line.ends_with('.')) return std::nullopt;
  line = line.substr(kFoundFor.size(), line.size() - kFoundFor.size() - 1);
  const std::size_t with = line.find(kWith);
  if (with == std::string_view::npos) return std::nullopt;
  const std::string_view target = line.substr(0, with), compiler = line.substr(with + kWith.size());
  const auto is_word = [](std::string_view text) { return !text.empty() && text.find(' ') == std::string_view::npos; };
  return is_word(target) && is_word(compiler) ? std::optional(FoundFor{std::string(target), std::string(compiler)}) : std::nullopt;
}

bool is_key(std::string_view word) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return word.size() == kKeyDigits && std::ranges::all_of(word, is_digit);
}

// "WAY 2"; nullopt if the text begins otherwise, -1 if no number follows that can be a way.
std::optional<int> way_of(std::string_view text) {
  constexpr std::string_view kWord = " WAY ";
  if (!text.starts_with(kWord)) return std::nullopt;
  text.remove_prefix(kWord.size());
  int way = -1;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), way);
  return bad == std::errc() && end == text.data() + text.size() ? way : -1;
}

// For an error: nothing that a terminal acts on, and not much of it.
std::string shown(std::string_view row) {
  constexpr std::size_t kMost = 60;
  std::string text = "'";
  for (const char c : row.substr(0, kMost))
    text += c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return text + (row.size() > kMost ? "...'" : "'");
}

[[noreturn]] void fail(const std::string& file, int line, const std::string& problem) {
  throw UserError(
      fmt::format("{}:{}", file, line), problem,
      "a row is KEY SHAPE: OPTOP, ... or KEY SUBJECT: WAY N as etch tune writes it; remove the line, and etch tune finds it anew");
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
  std::map<std::string, int> lines;  // by key
  for (int line = 1; !text.empty(); line++) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    if (std::optional<FoundFor> what = found_for(whole)) table.found_for_.insert(*std::move(what));
    std::string_view row = whole.substr(0, whole.find('#'));
    row = row.substr(0, row.find_last_not_of(" \r\t") + 1);
    if (row.empty()) continue;
    const std::size_t space = row.find(' '), colon = row.find(':');
    const std::string key(row.substr(0, space));
    if (!is_key(key))
      fail(file, line, fmt::format("{} is no key of a kernel or a choice, accepted are {} digits 0 to 9, a to f", shown(key), kKeyDigits));
    if (space == std::string_view::npos || colon == std::string_view::npos || colon < space)
      fail(file, line, "there is no ':' between the kernel and its steps, or the choice and its way");
    const std::string shape(row.substr(space + 1, colon - space - 1));
    if (const auto [before, is_new] = lines.try_emplace(key, line); !is_new)
      fail(file, line, fmt::format("{} has a row before, in line {}", key, before->second));
    if (const std::optional<int> way = way_of(row.substr(colon + 1))) {
      if (*way < 0) fail(file, line, fmt::format("{} is no way, accepted are WAY 0, WAY 1, ...", shown(row.substr(colon + 2))));
      table.layouts_[key] = {shape, *way, file, line};
      continue;
    }
    const auto opts = opts_of(row.substr(colon + 1));
    if (!opts) fail(file, line, fmt::format("{} are no steps of the optimiser", shown(row.substr(colon + 1))));
    table.rows_[key] = {shape, *opts, file, line};
  }
  table.files_.push_back({file, table.size(), table.found_for_});
  return table;
}

OptTable OptTable::read(const std::filesystem::path& file) { return parse(read_file(file), file.string()); }

std::string OptTable::text() const {
  std::string text(kHeader);
  for (const FoundFor& what : found_for_) text += text_of(what);
  for (const auto& [key, row] : rows_) {
    const std::string steps = to_text(row.opts);
    text += fmt::format("{} {}:{}{}\n", key, row.shape, steps.empty() ? "" : " ", steps);
  }
  for (const auto& [key, row] : layouts_) text += fmt::format("{} {}: WAY {}\n", key, row.subject, row.way);
  return text;
}

const TunedLayout* OptTable::layout(const std::string& key) const {
  const auto found = layouts_.find(key);
  return found == layouts_.end() ? nullptr : &found->second;
}

std::optional<int> OptTable::way(const std::string& key) const {
  const TunedLayout* row = layout(key);
  return row == nullptr ? std::nullopt : std::optional(row->way);
}

const TunedKernel* OptTable::find(const std::string& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
}

std::map<std::string, int> OptTable::ways() const {
  std::map<std::string, int> ways;
  for (const auto& [key, row] : layouts_) ways[key] = row.way;
  return ways;
}

OptTable OptTable::without_layouts() const {
  OptTable table;
  table.rows_ = rows_;
  return table;
}

OptTable OptTable::layouts_alone() const {
  OptTable table;
  table.layouts_ = layouts_;
  return table;
}

OptTable OptTable::above(const OptTable& others, const OptTable& usual, const OptTable& own) const {
  OptTable result;
  result.found_for_ = own.found_for_;
  for (const auto& [key, row] : rows_)
    if (const TunedKernel* other = others.find(key); own.find(key) != nullptr || other == nullptr || other->opts != row.opts)
      result.rows_[key] = row;
  for (const auto& [key, row] : layouts_)
    if (own.layout(key) != nullptr || others.way(key) != row.way) result.layouts_[key] = row;
  for (const auto& [key, row] : others.rows_)
    if (const TunedKernel* steps = usual.find(key); steps != nullptr && !rows_.contains(key)) result.rows_[key] = *steps;
  for (const auto& [key, row] : others.layouts_)
    if (const TunedLayout* way = usual.layout(key); way != nullptr && !layouts_.contains(key)) result.layouts_[key] = *way;
  return result;
}

void OptTable::add(const OptTable& other) {
  for (const auto& [key, row] : other.rows_) rows_[key] = row;
  for (const auto& [key, row] : other.layouts_) layouts_[key] = row;
}

void OptTable::add_with_files(const OptTable& other) {
  add(other);
  files_.insert(files_.end(), other.files_.begin(), other.files_.end());
}

}  // namespace etch
