// Stack frames from Arm and Thumb disassembly as GNU objdump writes it:
//   00000374 <expf>:
//    374:	push	{r4, lr}                takes 8
//    376:	vpush	{d8-d9}                 takes 16
//    378:	sub	sp, #16                     takes 16
//    37a:	bl	51c <__math_oflowf>         calls
//    37e:	ldr	r0, [pc, #292]	@ (4c4 <expf+0x150>)
#include <algorithm>
#include <charconv>
#include <iterator>

#include "audit/listing.h"

namespace etch {
namespace {

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

constexpr std::string_view kConditions[] = {"", "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"};

/// Whether it is this mnemonic, with any condition and width.
bool is(std::string_view mnemonic, std::string_view base) {
  if (!mnemonic.starts_with(base)) return false;
  for (std::string_view width : {".w", ".n"})
    if (mnemonic.ends_with(width)) mnemonic.remove_suffix(2);
  return std::ranges::find(kConditions, mnemonic.substr(base.size())) != std::end(kConditions);
}

bool writes_back(const ListedInstruction& i) {
  return i.operands.starts_with("sp!,") || i.operands.find("[sp, #-") != std::string_view::npos;
}

bool pushes(const ListedInstruction& i) {
  const bool many = is(i.mnemonic, "stmdb") || is(i.mnemonic, "vstmdb") || i.mnemonic.starts_with("fstmdb");
  return is(i.mnemonic, "push") || is(i.mnemonic, "vpush") || (many && i.operands.starts_with("sp!,")) ||
         (i.mnemonic.starts_with("str") && writes_back(i) && i.operands.ends_with("]!"));
}

std::optional<std::int64_t> taken(const ListedInstruction& i) {
  if (pushes(i) && i.mnemonic.starts_with("str")) return -listed_immediate(i.operands).value_or(0);
  if (pushes(i)) return registers(i.operands) * (i.operands.find("{d") != std::string_view::npos ? 8 : 4);
  if (!i.operands.starts_with("sp, ") && i.operands != "sp") return 0;
  if (is(i.mnemonic, "sub") || is(i.mnemonic, "subs") || is(i.mnemonic, "subw")) return listed_immediate(i.operands);
  // By a register ("add sp, r7" with -640 in r7 makes a frame on Armv6-M, and frees one with 640) the number is not in the line.
  if (is(i.mnemonic, "add") || is(i.mnemonic, "adds") || is(i.mnemonic, "addw")) {
    const auto added = listed_immediate(i.operands);
    return added ? std::optional(std::max<std::int64_t>(-*added, 0)) : std::nullopt;
  }
  // Restoring from a frame pointer frees stack; any other computed stack pointer is unknown.
  if (is(i.mnemonic, "mov"))
    return i.operands == "sp, r7" || i.operands == "sp, fp" || i.operands == "sp, r11" ? std::optional<std::int64_t>(0) : std::nullopt;
  if (is(i.mnemonic, "bic") || is(i.mnemonic, "and")) return std::nullopt;
  return 0;
}

std::optional<std::int64_t> stored(const ListedInstruction& i) {
  if (pushes(i)) return 0;
  if (!i.mnemonic.starts_with("st") && !i.mnemonic.starts_with("vst")) return std::nullopt;
  return listed_stack_slot(i.operands);
}

Flow flow(const ListedInstruction& i) {
  const bool computed = i.operands.find('<') == std::string_view::npos;
  if (is(i.mnemonic, "bx")) return i.operands == "lr" ? Flow::Return : Flow::Pointer;
  const bool loads_pc = i.operands.starts_with("pc, [pc") || i.operands.starts_with("pc, [ip");  // a jump table, or .plt's
  if ((is(i.mnemonic, "blx") && computed) || loads_pc) return Flow::Pointer;
  if (is(i.mnemonic, "bl") || is(i.mnemonic, "blx")) return Flow::Call;
  if (is(i.mnemonic, "b") || i.mnemonic == "cbz" || i.mnemonic == "cbnz") return Flow::Jump;
  return Flow::Next;
}

}  // namespace

const InstructionSet kArm = {taken, stored, flow};

}  // namespace etch
