// AVR as GNU objdump lists it:
//   1a6:	push	r16                             takes 1
//   1a8:	rcall	.+0      	; 0x1aa <f+0x4>       takes what a call pushes, and goes on
//   1aa:	in	r28, 0x3d                         the frame pointer: the stack pointer ...
//   1ae:	sbiw	r28, 0x2c                       ... less 44, which "out 0x3d, r28" makes the stack pointer
//   1b4:	call	0x18e86	; 0x18e86 <printf>       calls; "jmp", "rjmp" and branches go there for good
//   1b8:	eicall                                through a pointer
#include <algorithm>
#include <iterator>

#include "audit/listing.h"

namespace etch {
namespace {

constexpr std::int64_t kLink = 3;  // of cores with more than 128 KiB of flash; others push 2

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) { return std::ranges::find(list, text) != list.end(); }

/// A call of the next instruction only makes room.
bool makes_room(const ListedInstruction& i) { return i.mnemonic == "rcall" && i.operands.starts_with(".+0 "); }

std::optional<std::int64_t> taken(const ListedInstruction& i) {
  if (i.mnemonic == "push") return 1;
  if (makes_room(i)) return kLink;
  if (i.mnemonic == "sbiw" && i.operands.starts_with("r28, ")) return listed_number(i.operands.substr(5));
  // Frames of more than 63 bytes, and those of libgcc's function that makes them for others.
  if (i.mnemonic == "sbci" && i.operands.starts_with("r29, ")) return std::nullopt;
  if (i.comment.find("<__prologue_saves__") != std::string_view::npos) return std::nullopt;
  const bool of_stack = i.mnemonic == "out" && (i.operands.starts_with("0x3d, ") || i.operands.starts_with("0x3e, "));
  return of_stack && !i.operands.ends_with("r28") && !i.operands.ends_with("r29") ? std::nullopt : std::optional<std::int64_t>(0);
}

std::optional<std::int64_t> stored(const ListedInstruction& i) {
  return i.mnemonic == "push" ? std::optional<std::int64_t>(1) : std::nullopt;
}

Flow flow(const ListedInstruction& i) {
  if (makes_room(i)) return Flow::Next;
  if (is_one_of(i.mnemonic, {"ret", "reti"})) return Flow::Return;
  if (is_one_of(i.mnemonic, {"icall", "eicall", "ijmp", "eijmp"})) return Flow::Pointer;
  if (is_one_of(i.mnemonic, {"call", "rcall"})) return Flow::Call;
  const bool branch = i.mnemonic.starts_with("br") && i.mnemonic != "break";
  return branch || is_one_of(i.mnemonic, {"jmp", "rjmp"}) ? Flow::Jump : Flow::Next;
}

bool leaves(const ListedInstruction& i) { return is_one_of(i.mnemonic, {"jmp", "rjmp", "ijmp", "eijmp", "ret", "reti"}); }
bool skips(const ListedInstruction& i) { return is_one_of(i.mnemonic, {"cpse", "sbrc", "sbrs", "sbic", "sbis"}); }

}  // namespace

const InstructionSet kAvr = {taken, stored, flow, kLink, leaves, skips};

}  // namespace etch
