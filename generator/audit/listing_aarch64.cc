// AArch64 as GNU objdump lists it:
//   400718:	stp	x29, x30, [sp, #-64]!                takes 64
//   40071c:	sub	sp, sp, #0x40                        takes 64; "#0x1, lsl #12" is 4096
//   400720:	str	x19, [sp, #16]                       stores 16 above the stack pointer
//   400724:	bl	400a10 <memcpy>                       calls; "b" goes there for good
//   400728:	blr	x1                                   through a pointer
#include "audit/listing.h"

namespace etch {
namespace {

bool pushes(const ListedInstruction& i) {
  return i.mnemonic.starts_with("st") && i.operands.find("[sp, #-") != std::string_view::npos && i.operands.ends_with("]!");
}

std::optional<std::int64_t> taken(const ListedInstruction& i) {
  if (pushes(i)) return -listed_immediate(i.operands).value_or(0);
  if (!i.operands.starts_with("sp, ")) return 0;
  if (i.mnemonic == "sub") return listed_immediate(i.operands);
  if (i.mnemonic == "add") return listed_immediate(i.operands) ? std::optional<std::int64_t>(0) : std::nullopt;
  if (i.mnemonic == "mov") return i.operands == "sp, x29" ? std::optional<std::int64_t>(0) : std::nullopt;
  return i.mnemonic == "and" ? std::nullopt : std::optional<std::int64_t>(0);
}

std::optional<std::int64_t> stored(const ListedInstruction& i) {
  if (!i.mnemonic.starts_with("st")) return std::nullopt;
  if (pushes(i)) return 0;
  return listed_stack_slot(i.operands);
}

Flow flow(const ListedInstruction& i) {
  if (i.mnemonic == "ret") return Flow::Return;
  if (i.mnemonic == "blr" || i.mnemonic == "br") return Flow::Pointer;
  if (i.mnemonic == "bl") return Flow::Call;
  const bool tests = i.mnemonic == "cbz" || i.mnemonic == "cbnz" || i.mnemonic == "tbz" || i.mnemonic == "tbnz";
  return tests || i.mnemonic == "b" || i.mnemonic.starts_with("b.") ? Flow::Jump : Flow::Next;
}

}  // namespace

const InstructionSet kAArch64 = {taken, stored, flow};

}  // namespace etch
