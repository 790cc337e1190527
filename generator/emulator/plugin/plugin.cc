// What QEMU loads: counts what a function costs, from its first instruction until it has returned, with everything that
// it calls. One JSON line a call of the function:
//   {"function":"net_run","returned":true,"instructions":1286,"loads":513,"stores":1,"load_bytes":513,"store_bytes":4,"taken_branches":129,
//    "stack_bytes":40}
// Arguments (numbers in hex):
//   out=FILE
//   stack=LOW-HIGH                 the stack's region; HIGH is not in it
//   stack_size=BYTES               instead: it is known from the first store of a watched function's frame on
//   watch=NAME:ENTRY:PROBE:TAKEN   the function's name and address; PROBE is the address of its first instruction that stores
//                                  to the stack, TAKEN how far below the caller's stack pointer the lowest of those bytes lies
//                                  (the plugin interface shows addresses of stores, but no registers); 0:0 if it has none
//
// Debian packages no qemu-plugin.h, so the few functions that are used are declared here (interface version 1; QEMU 4.2 and
// newer). One virtual CPU is assumed: nothing is locked.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#define EXPORTED __attribute__((visibility("default")))

extern "C" {
EXPORTED extern int qemu_plugin_version;
EXPORTED int qemu_plugin_version = 1;

using PluginId = std::uint64_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct QemuInfo;
enum CallbackFlags { kNoRegisters = 0 };
enum MemoryAccess { kReadAndWrite = 3 };
enum InlineOperation { kAdd64 = 0 };

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
bool qemu_plugin_mem_is_store(std::uint32_t access);
unsigned qemu_plugin_mem_size_shift(std::uint32_t access);
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId, void (*)(PluginId, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*)(unsigned, void*), CallbackFlags, void*);
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn*, InlineOperation, void*, std::uint64_t);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*, void (*)(unsigned, std::uint32_t, std::uint64_t, void*), CallbackFlags,
                                      MemoryAccess, void*);
void qemu_plugin_register_atexit_cb(PluginId, void (*)(PluginId, void*), void*);
}

namespace {

struct Counts {
  std::uint64_t instructions = 0, loads = 0, stores = 0, load_bytes = 0, store_bytes = 0, taken_branches = 0;
};

struct Watch {
  std::string name;
  std::uint64_t entry = 0, probe = 0, taken = 0;
  bool inside = false;
  std::uint64_t return_to = 0;           // the address behind the call
  Counts before;                         // totals at entry
  std::uint64_t lowest = UINT64_MAX;     // address written in the stack since entry
  std::uint64_t probe_low = UINT64_MAX;  // address written by the probe
};

struct Block {
  std::uint64_t start, end;
};

struct Plugin {
  std::string out;
  std::uint64_t stack_low = 0, stack_high = 0, stack_size = 0;
  std::vector<Watch> watches;
  Counts total;
  std::uint64_t previous_end = 0;  // of the block before this one: a call ends a block, and returns to its end
  std::map<std::pair<std::uint64_t, std::uint64_t>, Block> blocks;
  std::string lines;
};

/// The callbacks' only way to their data: the interface gives most of them no pointer. Never destroyed, because QEMU calls
/// at_exit after destructors have run.
Plugin& plugin() {
  static Plugin& the = *new Plugin;
  return the;
}

void leave(Watch& w, bool returned) {
  const Plugin& p = plugin();
  const Counts& t = p.total;
  char stack[32] = "null";
  if (w.probe_low != UINT64_MAX && w.lowest <= w.probe_low + w.taken)
    snprintf(stack, sizeof stack, "%" PRIu64, w.probe_low + w.taken - w.lowest);
  std::string line(w.name.size() + 512, '\0');
  const int length =
      snprintf(line.data(), line.size(),
               "{\"function\":\"%s\",\"returned\":%s,\"instructions\":%" PRIu64 ",\"loads\":%" PRIu64 ",\"stores\":%" PRIu64
               ",\"load_bytes\":%" PRIu64 ",\"store_bytes\":%" PRIu64 ",\"taken_branches\":%" PRIu64 ",\"stack_bytes\":%s}\n",
               w.name.c_str(), returned ? "true" : "false", t.instructions - w.before.instructions, t.loads - w.before.loads,
               t.stores - w.before.stores, t.load_bytes - w.before.load_bytes, t.store_bytes - w.before.store_bytes,
               t.taken_branches - w.before.taken_branches, stack);
  plugin().lines.append(line, 0, static_cast<std::size_t>(length));
  w.inside = false;
}

void enter(Watch& w, std::uint64_t return_to) {
  w.inside = true;
  w.return_to = return_to;
  w.before = plugin().total;
  w.lowest = w.probe_low = UINT64_MAX;
}

/// Whether `address` is the end of a block. QEMU 7.2 says 2 bytes too many for a Thumb instruction that ends 2 bytes before a page (1 KiB)
/// does. The wrong guess would lie inside the block's last instruction, where no block begins.
bool is_end(std::uint64_t end, std::uint64_t address) { return address == end || (end % 1024 == 0 && address + 2 == end); }

void at_block(unsigned, void* data) {
  const Block& block = *static_cast<const Block*>(data);
  Plugin& p = plugin();
  if (!is_end(p.previous_end, block.start)) p.total.taken_branches++;
  for (Watch& w : p.watches) {
    if (w.inside && is_end(w.return_to, block.start)) leave(w, true);
    if (!w.inside && block.start == w.entry) enter(w, p.previous_end);
  }
  p.previous_end = block.end;
}

void at_access(unsigned, std::uint32_t access, std::uint64_t address, void* data) {
  Plugin& p = plugin();
  const std::uint64_t bytes = std::uint64_t{1} << qemu_plugin_mem_size_shift(access);
  if (!qemu_plugin_mem_is_store(access)) {
    p.total.loads++;
    p.total.load_bytes += bytes;
    return;
  }
  p.total.stores++;
  p.total.store_bytes += bytes;
  if (data != nullptr && p.stack_size != 0) {
    const Watch& probed = *static_cast<Watch*>(data);
    p.stack_low = address - p.stack_size;
    p.stack_high = address + probed.taken;
  }
  if (address < p.stack_low || address >= p.stack_high) return;
  for (Watch& w : p.watches)
    if (w.inside && address < w.lowest) w.lowest = address;
  if (data == nullptr) return;
  Watch& probed = *static_cast<Watch*>(data);
  if (probed.inside && address < probed.probe_low) probed.probe_low = address;
}

void translate(PluginId, qemu_plugin_tb* tb) {
  Plugin& p = plugin();
  const std::size_t count = qemu_plugin_tb_n_insns(tb);
  if (count == 0) return;
  for (std::size_t i = 0; i < count; i++) {
    qemu_plugin_insn* in = qemu_plugin_tb_get_insn(tb, i);
    qemu_plugin_register_vcpu_insn_exec_inline(in, kAdd64, &p.total.instructions, 1);
    Watch* probed = nullptr;
    for (Watch& w : p.watches)
      if (w.taken != 0 && w.probe == qemu_plugin_insn_vaddr(in)) probed = &w;
    qemu_plugin_register_vcpu_mem_cb(in, at_access, kNoRegisters, kReadAndWrite, probed);
  }
  const qemu_plugin_insn* last = qemu_plugin_tb_get_insn(tb, count - 1);
  const std::uint64_t start = qemu_plugin_tb_vaddr(tb), end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
  Block& block = p.blocks.try_emplace({start, end}, Block{start, end}).first->second;  // its address stays
  qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, kNoRegisters, &block);
}

void at_exit(PluginId, void*) {
  Plugin& p = plugin();
  for (Watch& w : p.watches)
    if (w.inside) leave(w, false);
  FILE* file = fopen(p.out.c_str(), "w");
  if (file == nullptr) return;  // who reads the file sees that it is not there
  fwrite(p.lines.data(), 1, p.lines.size(), file);
  fclose(file);
}

bool parse_watch(const char* text, std::vector<Watch>& watches) {
  Watch w;
  const char* colon = strchr(text, ':');
  if (colon == nullptr) return false;
  w.name.assign(text, colon);
  if (sscanf(colon, ":%" SCNx64 ":%" SCNx64 ":%" SCNx64, &w.entry, &w.probe, &w.taken) != 3) return false;
  watches.push_back(w);
  return true;
}

}  // namespace

extern "C" EXPORTED int qemu_plugin_install(PluginId id, const QemuInfo*, int argc, char** argv);

int qemu_plugin_install(PluginId id, const QemuInfo*, int argc, char** argv) {
  Plugin& p = plugin();
  for (int i = 0; i < argc; i++) {
    bool good = true;
    if (strncmp(argv[i], "out=", 4) == 0) {
      p.out = argv[i] + 4;
    } else if (strncmp(argv[i], "stack=", 6) == 0) {
      good = sscanf(argv[i], "stack=%" SCNx64 "-%" SCNx64, &p.stack_low, &p.stack_high) == 2;
    } else if (strncmp(argv[i], "stack_size=", 11) == 0) {
      good = sscanf(argv[i], "stack_size=%" SCNx64, &p.stack_size) == 1;
    } else if (strncmp(argv[i], "watch=", 6) == 0) {
      good = parse_watch(argv[i] + 6, p.watches);
    } else {
      good = false;
    }
    if (!good) fprintf(stderr, "etch_qemu_plugin: the argument %s is not understood\n", argv[i]);
    if (!good) return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, at_exit, nullptr);
  return 0;
}
