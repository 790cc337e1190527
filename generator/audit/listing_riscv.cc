// RISC-V as GNU objdump lists it:
//   800001a4:	addi	sp,sp,-32                        takes 32 ("add" in listings of older binutils)
//   800001a6:	sw	ra,28(sp)                           stores 28 above the stack pointer
//   800001a8:	jal	ra,80000a10 <memcpy>               calls; "j" and "tail" go there for good
//   800001ac:	jalr	a5                                through a pointer
//   800001ae:	jal	t0,80000c00 <__riscv_save_4>       pushes five registers for the function that it stands in
#include <algorithm>
#include <iterator>

#include "audit/listing.h"

namespace etch {
namespace {

/// libgcc's functions that push and pop a function's registers: save_4 pushes ra and s0 to s3.
constexpr std::string_view kSave = "<__riscv_save_", kRestore = "<__riscv_restore_";

std::optional<std::int64_t> taken(const ListedInstruction& i) {
  if (const std::size_t at = i.operands.find(kSave); at != std::string_view::npos && i.mnemonic == "jal") {
    const auto last = listed_number(i.operands.substr(at + kSave.size()));
    return last ? std::optional((*last * 8 + 8 + 15) / 16 * 16) : std::nullopt;  // of 8 bytes: a bound where they have 4
  }
  if (!i.operands.starts_with("sp,")) return 0;
  const bool adds = i.mnemonic == "addi" || i.mnemonic == "add" || i.mnemonic == "c.addi16sp";
  if (adds && i.operands.starts_with("sp,sp,")) {
    const auto added = listed_number(i.operands.substr(6));
    return added ? std::optional(*added < 0 ? -*added : 0) : std::nullopt;  // by a register: a frame of more than 2 KiB
  }
  if (adds && i.operands.starts_with("sp,s0,")) return 0;  // back from the frame pointer
  constexpr std::string_view kWriters[] = {"add", "addi", "sub", "mv", "li", "lui", "auipc", "and", "andi", "lw", "ld", "la"};
  return std::ranges::find(kWriters, i.mnemonic) == std::end(kWriters) ? std::optional<std::int64_t>(0) : std::nullopt;
}

std::optional<std::int64_t> stored(const ListedInstruction& i) {
  constexpr std::string_view kStores[] = {"sb", "sh", "sw", "sd", "fsw", "fsd"};
  if (std::ranges::find(kStores, i.mnemonic) == std::end(kStores) || !i.operands.ends_with("(sp)")) return std::nullopt;
  return listed_number(i.operands.substr(i.operands.find(',') + 1));
}

Flow flow(const ListedInstruction& i) {
  const bool named = i.operands.find('<') != std::string_view::npos;
  if (i.operands.find(kRestore) != std::string_view::npos) return Flow::Return;
  if (i.mnemonic == "jal" && i.operands.find(kSave) != std::string_view::npos) return Flow::Next;
  if (i.mnemonic == "ret" || i.mnemonic == "mret") return Flow::Return;
  if (i.mnemonic == "jr" || i.mnemonic == "jalr") {
    if (i.mnemonic == "jr" && (i.operands == "ra" || i.operands == "t0")) return Flow::Return;  // t0: the other link register
    return named ? (i.mnemonic == "jr" ? Flow::Jump : Flow::Call) : Flow::Pointer;
  }
  if (i.mnemonic == "jal" || i.mnemonic == "call") return i.operands.starts_with("zero,") ? Flow::Jump : Flow::Call;
  const bool branch = i.mnemonic.starts_with("b") && named;
  return branch || i.mnemonic == "j" || i.mnemonic == "tail" ? Flow::Jump : Flow::Next;
}

}  // namespace

const InstructionSet kRiscV = {taken, stored, flow};

}  // namespace etch
