// etch_avr: runs a program for an AVR with the library of simavr, one instruction at a time, and counts what functions cost, from their
// first instruction until they have returned, with everything that they call. One JSON line a call, as the plugin for QEMU writes them.
//
//   etch_avr MCU PROGRAM [out=FILE watch=NAME:ENTRY ...]        ENTRY: the function's address, in hex
//
// UART 0 is the standard output. The program ends where it sleeps with interrupts off; its exit status is in GPIOR0. 124: it crashed;
// 2: it can't be run. QEMU is of no use for it: its ELPM reads the first 64 KiB alone.
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::uint16_t kGpior0 = 0x3e, kStackLow = 0x5d, kStackHigh = 0x5e;  // in the data space
constexpr std::uint32_t kDataSpace = 0x800000;                                // where an ELF file has it

struct Counts {
  std::uint64_t instructions = 0, loads = 0, stores = 0, taken_branches = 0;
};

struct Watch {
  Watch(std::string function, std::uint32_t address) : name(std::move(function)), entry(address) {}
  std::string name;
  std::uint32_t entry = 0;
  bool inside = false;
  unsigned at_entry = 0, lowest = 0;  // stack pointers
  Counts before;
};

std::uint32_t number(const std::string& bytes, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; i++) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])} << (8 * i);
  return value;
}

/// Copies what the program headers of an ELF file load into flash. False where it is no such file, or too large.
bool load(avr_t& avr, const char* file) {
  std::ifstream in(file, std::ios::binary);
  const std::string elf{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (elf.size() < 52 ||
      elf.compare(0, 5,
                  "\x7f"
                  "ELF\x01") != 0 ||
      number(elf, 18, 2) != 83)
    return false;
  const std::uint32_t headers = number(elf, 28, 4), size = number(elf, 42, 2), count = number(elf, 44, 2);
  for (std::uint32_t i = 0; i < count; i++) {
    const std::size_t at = headers + std::size_t{i} * size;
    if (at + 32 > elf.size()) return false;
    const std::uint32_t offset = number(elf, at + 4, 4), address = number(elf, at + 12, 4), bytes = number(elf, at + 16, 4);
    if (number(elf, at, 4) != 1 || bytes == 0 || address >= kDataSpace) continue;
    if (std::uint64_t{address} + bytes > std::uint64_t{avr.flashend} + 1 || std::uint64_t{offset} + bytes > elf.size()) return false;
    memcpy(avr.flash + address, elf.data() + offset, bytes);
  }
  avr.codeend = avr.flashend;
  return true;
}

/// Bytes that the instruction reads from memory and writes to it; `link` of a return address.
void count_accesses(unsigned op, unsigned link, Counts& counts) {
  const unsigned low = op & 0xfu;
  if ((op & 0xd000u) == 0x8000u) {  // LDD, STD
    ((op & 0x0200u) != 0 ? counts.stores : counts.loads)++;
  } else if ((op & 0xfc00u) == 0x9000u) {  // LDS, LD, LPM, ELPM, POP; STS, ST, PUSH
    if (low != 3 && low != 8 && low != 0xb) ((op & 0x0200u) != 0 ? counts.stores : counts.loads)++;
  } else if (op == 0x95c8u || op == 0x95d8u) {  // LPM and ELPM to R0
    counts.loads++;
  } else if ((op & 0xfe0eu) == 0x940eu || (op & 0xf000u) == 0xd000u || op == 0x9509u || op == 0x9519u) {  // calls
    counts.stores += link;
  } else if (op == 0x9508u || op == 0x9518u) {  // returns
    counts.loads += link;
  }
}

/// Two words: LDS and STS, JMP and CALL.
bool is_long(unsigned op) { return (op & 0xfc0fu) == 0x9000u || (op & 0xfe0cu) == 0x940cu; }
/// CPSE, SBRC, SBRS, SBIC, SBIS.
bool skips(unsigned op) { return (op & 0xfc00u) == 0x1000u || (op & 0xfc08u) == 0xfc00u || (op & 0xfd00u) == 0x9900u; }

unsigned stack_pointer(const avr_t& avr) { return avr.data[kStackLow] | static_cast<unsigned>(avr.data[kStackHigh]) << 8; }

void write_line(FILE* out, const Watch& w, const Counts& now, unsigned link, bool returned) {
  const std::uint64_t loads = now.loads - w.before.loads, stores = now.stores - w.before.stores;
  fprintf(out,
          "{\"function\":\"%s\",\"returned\":%s,\"instructions\":%" PRIu64 ",\"loads\":%" PRIu64 ",\"stores\":%" PRIu64
          ",\"load_bytes\":%" PRIu64 ",\"store_bytes\":%" PRIu64 ",\"taken_branches\":%" PRIu64 ",\"stack_bytes\":%u}\n",
          w.name.c_str(), returned ? "true" : "false", now.instructions - w.before.instructions, loads, stores, loads, stores,
          now.taken_branches - w.before.taken_branches, w.at_entry + link - w.lowest);
}

void print_byte(avr_irq_t*, std::uint32_t value, void*) { putchar(static_cast<int>(value & 0xffu)); }

/// Runs to the end; the exit status.
int run(avr_t& avr, std::vector<Watch>& watches, FILE* out) {
  const unsigned link = avr.address_size;
  Counts counts;
  bool half = false;  // the upper byte of the stack pointer is new, the lower one is not yet
  for (;;) {
    const unsigned before = stack_pointer(avr);
    for (Watch& w : watches)
      if (!w.inside && avr.pc == w.entry) w.inside = true, w.at_entry = w.lowest = before, w.before = counts;
    const unsigned op = avr.flash[avr.pc] | static_cast<unsigned>(avr.flash[avr.pc + 1]) << 8;
    count_accesses(op, link, counts);
    if ((op & 0xfe0fu) == 0xbe0eu) half = true;  // out 0x3e, which "out 0x3d" follows
    if ((op & 0xfe0fu) == 0xbe0du) half = false;
    counts.instructions++;
    const std::uint32_t next = avr.pc + (is_long(op) ? 4 : 2);
    const int state = avr_run(&avr);
    if (avr.pc != next && !skips(op)) counts.taken_branches++;
    const unsigned now = stack_pointer(avr);
    for (Watch& w : watches) {
      if (!w.inside || half) continue;
      if (now < w.lowest) w.lowest = now;
      if (now <= w.at_entry) continue;
      write_line(out, w, counts, link, true);
      w.inside = false;
    }
    if (state != cpu_Done && state != cpu_Crashed) continue;
    for (const Watch& w : watches)
      if (w.inside) write_line(out, w, counts, link, false);
    return state == cpu_Done ? avr.data[kGpior0] : 124;
  }
}

int fail(const char* what, const char* which) {
  fprintf(stderr, "etch_avr: %s: %s\n", which, what);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fail("give a processor and a program", "arguments");
  std::vector<Watch> watches;
  std::string counts;
  for (int i = 3; i < argc; i++) {
    const std::string text = argv[i];
    const std::size_t colon = text.rfind(':');
    if (text.starts_with("out="))
      counts = text.substr(4);
    else if (text.starts_with("watch=") && colon != std::string::npos)
      watches.emplace_back(text.substr(6, colon - 6), static_cast<std::uint32_t>(strtoul(text.c_str() + colon + 1, nullptr, 16)));
    else
      return fail("the argument is not understood", argv[i]);
  }
  avr_t* const avr = avr_make_mcu_by_name(argv[1]);
  if (avr == nullptr) return fail("simavr has no processor of this name", argv[1]);
  avr_init(avr);
  avr->frequency = 16000000;
  avr->log = LOG_ERROR;
  avr->run_cycle_limit = 1;  // one instruction at a time
  if (!load(*avr, argv[2])) return fail("this is no program for its flash", argv[2]);
  std::uint32_t no_flags = 0;
  avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &no_flags);
  avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), print_byte, nullptr);
  FILE* const out = watches.empty() ? nullptr : fopen(counts.c_str(), "w");
  if (!watches.empty() && out == nullptr) return fail("the file for the counts can't be written", counts.c_str());
  const int status = run(*avr, watches, out);
  if (out != nullptr) fclose(out);
  fflush(stdout);
  return status;
}
