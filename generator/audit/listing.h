// Listings of machine code as GNU objdump writes them (-d --no-show-raw-insn), for Arm, AArch64, RISC-V and AVR: what an instruction does
// to the stack, and where it goes. One row of functions an architecture; who reads a listing knows nothing else of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace etch {

struct ListedInstruction {
  std::uint64_t address = 0;
  std::string_view mnemonic, operands;  // "push", "{r4, lr}"; without comments
  std::string_view comment;             // "@ (4c4 <expf+0x150>)": what it adds, with its mark; empty if there is none
};

enum class Flow {
  Next,     // goes on behind it
  Helper,   // comes back from a function of libgcc that pushes registers for the one that it stands in
  Call,     // comes back; the operands name the place
  Jump,     // within the function, or to another one instead of a call
  Pointer,  // to a place that a register holds
  Return,
};

struct InstructionSet {
  /// Bytes that an instruction subtracts from the stack pointer, 0 if it adds some; nullopt if their number is unknown.
  std::optional<std::int64_t> (*taken)(const ListedInstruction&);
  /// Distance from the stack pointer (as it is after the instruction) to the lowest byte that it stores; nullopt if it stores nothing
  /// relative to the stack pointer.
  std::optional<std::int64_t> (*stored)(const ListedInstruction&);
  Flow (*flow)(const ListedInstruction&);
  /// Bytes that a call pushes.
  std::int64_t link = 0;
  /// Of architectures whose library is written in assembler, whose functions run into each other (see listing_regions.cc): whether the
  /// instruction never goes on behind it, and whether it may skip the one behind it. Null for others.
  bool (*leaves)(const ListedInstruction&) = nullptr;
  bool (*skips)(const ListedInstruction&) = nullptr;
  /// Where the size of vector registers is the core's (RISC-V): compilers count what frames hold of them in multiples of this many bits.
  std::int64_t scalable_bits = 0;
};

extern const InstructionSet kArm, kAArch64, kRiscV32, kRiscV64, kAvr;

/// The architecture of `triple` ("thumbv7em-none-eabihf", "riscv32-unknown-elf", "avr"); nullptr for others and for no triple.
const InstructionSet* instruction_set(std::string_view triple);

/// The instruction in a line such as " 378:\tpush\t{r4, lr}"; nullopt for other lines.
std::optional<ListedInstruction> listed_instruction(std::string_view line);

/// The function's name in "00000374 <expf>:"; empty for other lines.
std::string_view listed_function(std::string_view line);

/// Removes the first line from `text` and returns it.
std::string_view take_listed_line(std::string_view& text);

/// 16 for Arm's and AArch64's operands "r1, [sp, #16]"; nullopt if they name no place of the stack.
std::optional<std::int64_t> listed_stack_slot(std::string_view operands);

/// The number behind the last '#', shifted where a shift follows: 20 for "sp, sp, #20", -8 for "[sp, #-8]!", 4096 for
/// "sp, sp, #0x1, lsl #12"; nullopt if there is none.
std::optional<std::int64_t> listed_immediate(std::string_view operands);

/// The decimal or 0x number in front of `text`; nullopt if there is none.
std::optional<std::int64_t> listed_number(std::string_view text);

}  // namespace etch
