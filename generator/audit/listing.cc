#include "audit/listing.h"

#include <charconv>

#include "audit/stack.h"

namespace etch {
namespace {

/// "51c <__math_oflowf>" is __math_oflowf; a jump into the middle of a function has "+0x..." behind the name. Empty for a place
/// inside of the function itself.
std::string_view target(std::string_view operands, std::string_view inside) {
  const std::size_t open = operands.rfind('<'), close = operands.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::string_view name = operands.substr(open + 1, close - open - 1);
  const std::size_t plus = name.find("+0x");
  name = name.substr(0, plus);
  return plus != std::string_view::npos && name == inside ? std::string_view() : name;
}

/// Whether it is one of libgcc's functions of arithmetic (__divsf3, __muldi3) or a form of glibc's memcpy and the like
/// (__memcpy_thunderx2): they have jump tables, but no pointers to functions.
bool has_jump_tables_alone(std::string_view name) {
  if (!name.starts_with("__")) return false;
  for (std::string_view begin : {"__memcpy_", "__memmove_", "__memset_"})
    if (name.starts_with(begin)) return true;
  for (std::string_view ending : {"sf2", "sf3", "df2", "df3", "si2", "si3", "di2", "di3"})
    if (name.ends_with(ending)) return true;
  return false;
}

/// What Arm's functions of division call on a divisor of 0. Emitted C never divides by it, and glibc's form raises a signal.
bool is_division_by_zero(std::string_view name) { return name == "__aeabi_idiv0" || name == "__aeabi_ldiv0"; }

}  // namespace

const InstructionSet* instruction_set(std::string_view triple) {
  if (triple.starts_with("thumb") || (triple.starts_with("arm") && !triple.starts_with("arm64"))) return &kArm;
  if (triple.starts_with("aarch64")) return &kAArch64;
  if (triple.starts_with("riscv32")) return &kRiscV32;
  if (triple.starts_with("riscv64")) return &kRiscV64;
  if (triple.starts_with("avr")) return &kAvr;
  return nullptr;
}

std::string_view take_listed_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view listed_function(std::string_view line) {
  if (line.empty() || line[0] == ' ' || !line.ends_with(">:")) return {};
  const std::size_t at = line.find(" <");
  return at == std::string_view::npos ? std::string_view() : line.substr(at + 2, line.size() - at - 4);
}

std::optional<ListedInstruction> listed_instruction(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' '), colon = line.find(":\t");  // no space before an address of eight digits
  if (begin == std::string_view::npos || colon == std::string_view::npos) return std::nullopt;
  ListedInstruction result;
  const auto [end, error] = std::from_chars(line.data() + begin, line.data() + colon, result.address, 16);
  if (error != std::errc() || end != line.data() + colon) return std::nullopt;
  line.remove_prefix(colon + 2);
  for (std::string_view comment : {"\t@", "\t//", " # ", "\t;"})
    if (const std::size_t at = line.find(comment); at != std::string_view::npos) {
      result.comment = line.substr(at + 1);
      line = line.substr(0, at);
    }
  const std::size_t tab = line.find('\t');
  result.mnemonic = line.substr(0, tab);
  if (tab != std::string_view::npos) result.operands = line.substr(tab + 1);
  return result;
}

std::optional<std::int64_t> listed_stack_slot(std::string_view operands) {
  const std::size_t slot = operands.find("[sp");
  if (slot == std::string_view::npos) return std::nullopt;
  const std::string_view place = operands.substr(slot);
  if (place.starts_with("[sp, #")) return listed_number(place.substr(6));
  return place.starts_with("[sp]") ? std::optional<std::int64_t>(0) : std::nullopt;
}

std::optional<std::int64_t> listed_immediate(std::string_view operands) {
  constexpr std::string_view kShift = ", lsl #";
  std::int64_t shift = 0;
  if (const std::size_t at = operands.rfind(kShift); at != std::string_view::npos) {
    const auto bits = listed_number(operands.substr(at + kShift.size()));
    if (!bits || *bits < 0 || *bits > 32) return std::nullopt;
    shift = *bits;
    operands = operands.substr(0, at);
  }
  const std::size_t mark = operands.rfind('#');
  const auto value = mark == std::string_view::npos ? std::nullopt : listed_number(operands.substr(mark + 1));
  return value ? std::optional(*value * (std::int64_t{1} << shift)) : std::nullopt;
}

std::optional<std::int64_t> listed_number(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return minus ? -value : value;
}

StackGraph parse_disassembly(std::string_view text, const InstructionSet& set) {
  if (set.leaves != nullptr) return parse_regions(text, set);
  StackGraph graph;
  std::string name;
  StackFunction* f = nullptr;
  std::set<std::string> unknown;
  while (!text.empty()) {
    const std::string_view line = take_listed_line(text);
    if (const std::string_view title = listed_function(line); !title.empty()) {
      name = std::string(title);
      f = &graph[name];  // two static functions of one name become one: their sum is the bound of both
      f->bytes = f->bytes.value_or(0);
      continue;
    }
    const auto i = listed_instruction(line);
    if (!i || f == nullptr) continue;
    const auto bytes = set.taken(*i);
    if (!bytes) unknown.insert(name);
    *f->bytes += bytes.value_or(0);
    const Flow flow = set.flow(*i);
    if (flow == Flow::Pointer && !has_jump_tables_alone(name)) f->indirect = true;
    if (flow != Flow::Call && flow != Flow::Jump) continue;
    const bool in_comment = i->operands.find('<') == std::string_view::npos;  // "jalr	-8(ra) # 80000a10 <memcpy>"
    const std::string_view to = target(in_comment ? i->comment : i->operands, name);
    if (is_division_by_zero(to)) continue;
    if (!to.empty() && (flow == Flow::Call || to != name)) f->callees.insert(std::string(to));
  }
  for (const std::string& each : unknown) graph[each].bytes = std::nullopt;
  return graph;
}

}  // namespace etch
