// RISC-V as GNU objdump lists it:
//   800001a4:	addi	sp,sp,-32                        takes 32 ("add" in listings of older binutils)
//   800001a6:	sw	ra,28(sp)                           stores 28 above the stack pointer
//   800001a8:	jal	ra,80000a10 <memcpy>               calls; "j" and "tail" go there for good
//   800001ac:	jalr	a5                                through a pointer; "jalr -8(ra) # 80000a10 <memcpy>" calls
//   800001ae:	jal	t0,80000c00 <__riscv_save_4>       pushes five registers for the function that it stands in
#include <algorithm>
#include <iterator>

#include "audit/listing.h"

namespace etch {
namespace {

/// libgcc's functions that push and pop registers for the function that calls them: save_4 pushes ra and s0 to s3.
constexpr std::string_view kSave = "<__riscv_save_", kRestore = "<__riscv_restore_";

/// What the save functions take for a moment: `few` those up to number `last_of_few`, the others room for all registers, of which they
/// give back what they don't need.
struct Saves {
  std::int64_t last_of_few, few, all;
};

std::optional<std::int64_t> taken(const ListedInstruction& i, const Saves& saves) {
  if (const std::size_t at = i.operands.find(kSave); at != std::string_view::npos && i.mnemonic == "jal") {
    const auto number = listed_number(i.operands.substr(at + kSave.size()));
    return number ? std::optional(*number <= saves.last_of_few ? saves.few : saves.all) : std::nullopt;
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

std::optional<std::int64_t> taken_32(const ListedInstruction& i) { return taken(i, {3, 16, 64}); }
std::optional<std::int64_t> taken_64(const ListedInstruction& i) { return taken(i, {1, 16, 112}); }

std::optional<std::int64_t> stored(const ListedInstruction& i) {
  constexpr std::string_view kStores[] = {"sb", "sh", "sw", "sd", "fsw", "fsd"};
  if (std::ranges::find(kStores, i.mnemonic) == std::end(kStores) || !i.operands.ends_with("(sp)")) return std::nullopt;
  return listed_number(i.operands.substr(i.operands.find(',') + 1));
}

Flow flow(const ListedInstruction& i) {
  const auto names = [](std::string_view text) { return text.find('<') != std::string_view::npos; };
  if (i.operands.find(kRestore) != std::string_view::npos) return Flow::Return;
  if (i.mnemonic == "jal" && i.operands.find(kSave) != std::string_view::npos) return Flow::Helper;
  if (i.mnemonic == "ret" || i.mnemonic == "mret") return Flow::Return;
  if (i.mnemonic == "jr" || i.mnemonic == "jalr") {
    if (i.mnemonic == "jr" && (i.operands == "ra" || i.operands == "t0")) return Flow::Return;  // t0: the other link register
    if (!names(i.comment)) return Flow::Pointer;
    return i.mnemonic == "jr" ? Flow::Jump : Flow::Call;
  }
  if (i.mnemonic == "jal" || i.mnemonic == "call") return i.operands.starts_with("zero,") ? Flow::Jump : Flow::Call;
  const bool branch = i.mnemonic.starts_with("b") && names(i.operands);
  return branch || i.mnemonic == "j" || i.mnemonic == "tail" ? Flow::Jump : Flow::Next;
}

}  // namespace

const InstructionSet kRiscV32 = {.taken = taken_32, .stored = stored, .flow = flow, .scalable_bits = 64};
const InstructionSet kRiscV64 = {.taken = taken_64, .stored = stored, .flow = flow, .scalable_bits = 64};

}  // namespace etch
