// Stack frames from Arm and Thumb disassembly as GNU objdump writes it:
//   00000374 <expf>:
//    374:	push	{r4, lr}                takes 8
//    376:	vpush	{d8-d9}                 takes 16
//    378:	sub	sp, #16                     takes 16
//    37a:	bl	51c <__math_oflowf>         calls
//    37e:	ldr	r0, [pc, #292]	@ (4c4 <expf+0x150>)
#include <algorithm>
#include <charconv>

#include "audit/stack.h"

namespace etch {
namespace {

struct Instruction {
  std::string_view mnemonic, operands;
};

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The function's name in "00000374 <expf>:"; empty for other lines.
std::string_view header(std::string_view line) {
  if (line.empty() || line[0] == ' ' || !line.ends_with(">:")) return {};
  const std::size_t at = line.find(" <");
  return at == std::string_view::npos ? std::string_view() : line.substr(at + 2, line.size() - at - 4);
}

std::optional<Instruction> instruction(std::string_view line) {
  const std::size_t colon = line.find(":\t");
  if (line.empty() || line[0] != ' ' || colon == std::string_view::npos) return std::nullopt;
  line.remove_prefix(colon + 2);
  if (const std::size_t comment = line.find("\t@"); comment != std::string_view::npos) line = line.substr(0, comment);
  const std::size_t tab = line.find('\t');
  Instruction result{line.substr(0, tab), tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1)};
  for (std::string_view width : {".w", ".n"})
    if (result.mnemonic.ends_with(width)) result.mnemonic.remove_suffix(2);
  return result;
}

/// Registers between braces, ranges included: "{r4, lr}" is 2, "{d8-d11}" is 4.
std::int64_t registers(std::string_view operands) {
  const std::size_t open = operands.find('{'), close = operands.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return 0;
  std::string_view list = operands.substr(open + 1, close - open - 1);
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view one = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    const std::size_t dash = one.find('-');
    count++;
    if (dash == std::string_view::npos) continue;
    const auto digits = [](std::string_view s) {
      std::int64_t value = 0;
      const std::size_t at = s.find_first_of("0123456789");
      if (at != std::string_view::npos) std::from_chars(s.data() + at, s.data() + s.size(), value);
      return value;
    };
    count += digits(one.substr(dash)) - digits(one.substr(0, dash));
  }
  return count;
}

/// The number after the last '#': "sp, sp, #20" is 20, "[sp, #-8]!" is -8.
std::optional<std::int64_t> immediate(std::string_view operands) {
  const std::size_t at = operands.rfind('#');
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(operands.data() + at + 1, operands.data() + operands.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

constexpr std::string_view kConditions[] = {"", "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"};

bool is(std::string_view mnemonic, std::string_view base) {
  if (!mnemonic.starts_with(base)) return false;
  return std::ranges::find(kConditions, mnemonic.substr(base.size())) != std::end(kConditions);
}

/// Bytes that this instruction subtracts from the stack pointer; nullopt if it changes the stack pointer by an unknown amount.
std::optional<std::int64_t> taken(const Instruction& i) {
  const bool vector = i.operands.find("{d") != std::string_view::npos;
  const bool writes_sp = i.operands.starts_with("sp!,") || i.operands.find("[sp, #-") != std::string_view::npos;
  if (is(i.mnemonic, "push") || (is(i.mnemonic, "stmdb") && writes_sp)) return registers(i.operands) * 4;
  if (is(i.mnemonic, "vpush") || ((is(i.mnemonic, "vstmdb") || i.mnemonic.starts_with("fstmdb")) && writes_sp))
    return registers(i.operands) * (vector ? 8 : 4);
  if (i.mnemonic.starts_with("str") && writes_sp && i.operands.ends_with("]!")) return -immediate(i.operands).value_or(0);
  if (!i.operands.starts_with("sp, ") && i.operands != "sp") return 0;
  if (is(i.mnemonic, "sub") || is(i.mnemonic, "subs") || is(i.mnemonic, "subw")) return immediate(i.operands);
  // Restoring from a frame pointer frees stack; any other computed stack pointer is unknown.
  if (is(i.mnemonic, "mov"))
    return i.operands == "sp, r7" || i.operands == "sp, fp" || i.operands == "sp, r11" ? std::optional<std::int64_t>(0) : std::nullopt;
  if (is(i.mnemonic, "bic") || is(i.mnemonic, "and")) return std::nullopt;
  return 0;
}

/// "51c <__math_oflowf>" is __math_oflowf; a jump into the middle of a function has "+0x..." behind the name.
std::string_view target(std::string_view operands, std::string_view inside) {
  const std::size_t open = operands.rfind('<'), close = operands.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::string_view name = operands.substr(open + 1, close - open - 1);
  const std::size_t plus = name.find("+0x");
  name = name.substr(0, plus);
  return plus != std::string_view::npos && name == inside ? std::string_view() : name;
}

}  // namespace

StackGraph parse_arm_disassembly(std::string_view text) {
  StackGraph graph;
  std::string name;
  StackFunction* f = nullptr;
  std::set<std::string> unknown;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (const std::string_view title = header(line); !title.empty()) {
      name = std::string(title);
      f = &graph[name];  // two static functions of one name become one: their sum is the bound of both
      f->bytes = f->bytes.value_or(0);
      continue;
    }
    const auto i = instruction(line);
    if (!i || f == nullptr) continue;
    const auto bytes = taken(*i);
    if (!bytes) unknown.insert(name);
    *f->bytes += bytes.value_or(0);
    const bool call = is(i->mnemonic, "bl") || is(i->mnemonic, "blx"),
               jump = is(i->mnemonic, "b") || i->mnemonic == "cbz" || i->mnemonic == "cbnz";
    const bool computed = i->operands.find('<') == std::string_view::npos;
    if ((is(i->mnemonic, "blx") && computed) || (is(i->mnemonic, "bx") && i->operands != "lr") || i->operands.starts_with("pc, [pc"))
      f->indirect = true;
    if (!call && !jump) continue;
    const std::string_view to = target(i->operands, name);
    if (!to.empty() && (call || to != name)) f->callees.insert(std::string(to));
  }
  for (const std::string& each : unknown) graph[each].bytes = std::nullopt;
  return graph;
}

}  // namespace etch
