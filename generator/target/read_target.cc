// Reads targets from XML, in which reader.cc has checked which elements and attributes there are: checked text becomes values.
#include <tinyxml2.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "target/cores.h"
#include "target/read_instructions.h"
#include "target/reader.h"
#include "target/target.h"

namespace etch {
namespace {

void require_known_core(const Reader& in, const Element& root, const Element& core, const std::string& name) {
  const std::string triple = in.attribute(*root.FirstChildElement("toolchain"), "triple");
  const std::vector<std::string> known = known_cores(triple);
  const std::string plain = name.substr(0, name.find('+'));  // "cortex-a53+crypto"
  if (name == "native" || known.empty() || std::ranges::find(known, plain) != known.end()) return;
  in.fail(core.GetLineNum(), "<core>: name '" + name + "' is no core of " + triple + " that Clang knows",
          "accepted are native, " + nearest_text(plain, known));
}

void read_core(const Reader& in, const Element& root, Target& t) {
  const Element& core = *root.FirstChildElement("core");
  t.core = in.attribute(core, "name");
  require_known_core(in, root, core, t.core);
  constexpr Fpu kFpus[] = {Fpu::None, Fpu::Single, Fpu::Double};
  t.fpu = kFpus[in.choice(core, "fpu", in.attribute(core, "fpu"), {"none", "single", "double"})];
  t.fma = in.boolean(core, "fma", false);
  t.in_order = in.choice(core, "order", in.attribute(core, "order", "out"), {"out", "in"}) == 1;
  t.parallelism = in.number(core, "threads", 1, 4096, 1);
  constexpr std::int64_t kPointers[] = {16, 32, 64};
  t.pointer_bits = kPointers[in.choice(core, "pointer", in.attribute(core, "pointer", "64"), {"16", "32", "64"})];
  constexpr std::int64_t kInts[] = {16, 32};
  t.int_bits = kInts[in.choice(core, "int", in.attribute(core, "int", "32"), {"16", "32"})];
  constexpr std::int64_t kProducts[] = {0, 32, 64};
  t.product_bits = kProducts[in.choice(core, "product", in.attribute(core, "product", "0"), {"0", "32", "64"})];
  t.unsigned_bytes = in.choice(core, "bytes", in.attribute(core, "bytes", "any"), {"any", "unsigned"}) == 1;
  t.integer_registers = in.number(*root.FirstChildElement("registers"), "integer", 3, 1024, 11);
  t.float_registers = in.number(*root.FirstChildElement("registers"), "float", 0, 1024, 0);
  if (const Element* e = root.FirstChildElement("vector")) {
    constexpr std::int64_t kWidths[] = {0, 64, 128, 256, 512, 1024};
    t.vector.bits = kWidths[in.choice(*e, "bits", in.attribute(*e, "bits"), {"0", "64", "128", "256", "512", "1024"})];
    t.vector.registers = in.number(*e, "registers", 0, 1024, 0);
    t.vector.extensions = in.boolean(*e, "extensions", false);
    t.vector.integers = in.boolean(*e, "integers", false);
    t.vector.scalars = in.boolean(*e, "scalars", false);
    t.vector.hides_equal = in.boolean(*e, "hides_equal", false);
    if ((t.vector.bits == 0) != (t.vector.registers == 0))
      in.fail(e->GetLineNum(), "<vector>: bits and registers are both 0 or both not 0");
    if (t.vector.bits == 0 && t.vector.extensions) in.fail(e->GetLineNum(), "<vector>: extensions is true, but bits is 0");
    if (t.vector.integers && !t.vector.extensions) in.fail(e->GetLineNum(), "<vector>: integers is true, but extensions is false");
    if (t.vector.scalars && !t.vector.extensions) in.fail(e->GetLineNum(), "<vector>: scalars is true, but extensions is false");
  }
}

void read_cache(const Reader& in, const Element& root, Target& t) {
  constexpr std::int64_t kLeast = 1024, kMost = std::int64_t{1} << 40;
  const Element* e = root.FirstChildElement("cache");
  if (e == nullptr) return;
  t.cache_bytes = in.number(*e, "level2", kLeast, kMost, 0);
  t.first_cache_bytes = in.number(*e, "level1", kLeast, kMost, std::min(t.first_cache_bytes, t.cache_bytes));
  if (t.first_cache_bytes > t.cache_bytes) in.fail(e->GetLineNum(), "<cache>: level1 is larger than level2");
}

void read_cycles(const Reader& in, const Element& root, Target& t) {
  const Element* e = root.FirstChildElement("cycles");
  if (e == nullptr) return;
  constexpr std::int64_t kMost = 1000;
  t.cycles.instruction = in.number(*e, "instruction", 1, kMost, 1);
  t.cycles.load = in.number(*e, "load", 0, kMost, 0);
  t.cycles.store = in.number(*e, "store", 0, kMost, 0);
  t.cycles.taken = in.number(*e, "taken", 0, kMost, 0);
  t.cycles.source = in.attribute(*e, "source");
}

void read_memories(const Reader& in, const Element& root, Target& t) {
  if (const Element* e = root.FirstChildElement("arena")) {
    t.arena_align = in.number(*e, "align", 1, 4096, 16);
    if ((t.arena_align & (t.arena_align - 1)) != 0)
      in.fail(e->GetLineNum(), "<arena>: align is " + std::to_string(t.arena_align) + ", accepted are powers of two");
  }
  for (const Element* e = root.FirstChildElement("memory"); e != nullptr; e = e->NextSiblingElement("memory")) {
    Memory m;
    m.name = in.attribute(*e, "name");
    m.kind = in.choice(*e, "kind", in.attribute(*e, "kind"), {"ram", "flash"}) == 0 ? MemoryKind::Ram : MemoryKind::Flash;
    m.size = in.number(*e, "size", 1, std::int64_t{1} << 50, 0);
    m.origin = in.number(*e, "origin", 0, std::int64_t{1} << 50, 0);
    for (const Memory& other : t.memories) {
      if (other.name == m.name) in.fail(e->GetLineNum(), "<memory>: the name '" + m.name + "' is taken");
      if (m.origin < other.origin + other.size && other.origin < m.origin + m.size)
        in.fail(e->GetLineNum(), "<memory>: " + m.name + " and " + other.name + " overlap");
    }
    t.memories.push_back(m);
  }
}

// Names of arguments and macros are made of it, which must not be those of another pool: "arena_x_bytes".
bool is_pool_name(const std::string& text) {
  constexpr std::size_t kLongest = 16;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= kLongest && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string memories_text(const Target& t, MemoryKind kind) {
  std::vector<std::string_view> names;
  for (const Memory& m : t.memories)
    if (m.kind == kind) names.push_back(m.name);
  return list_of(names);
}

Pool read_pool(const Reader& in, const Element& e, const Target& t) {
  Pool pool;
  pool.name = in.attribute(e, "name");
  if (!is_pool_name(pool.name))
    in.fail(e.GetLineNum(), "<pool>: name is '" + pool.name + "', accepted are up to 16 lower-case letters and digits, first a letter");
  pool.memory = in.attribute(e, "memory");
  const auto memory = std::ranges::find(t.memories, pool.memory, &Memory::name);
  if (memory == t.memories.end() || memory->kind != MemoryKind::Ram)
    in.fail(e.GetLineNum(), "<pool>: memory is '" + pool.memory + "', " + (memory == t.memories.end() ? "no memory" : "not of kind ram") +
                                ", accepted are " + memories_text(t, MemoryKind::Ram));
  pool.size = in.number(e, "size", 1, memory->size, memory->size);
  constexpr PoolContent kContents[] = {PoolContent::All, PoolContent::Intermediates, PoolContent::Io};
  pool.holds = kContents[in.choice(e, "holds", in.attribute(e, "holds", "all"), {"all", "intermediates", "io"})];
  const std::int64_t last = memory->origin + memory->size - pool.size;
  pool.address = in.number(e, "address", memory->origin, last, -1);
  if (pool.address >= 0 && pool.address % t.arena_align != 0)
    in.fail(e.GetLineNum(), "<pool>: address is " + in.attribute(e, "address") + ", accepted are multiples of the arena's alignment, " +
                                std::to_string(t.arena_align));
  return pool;
}

void read_pools(const Reader& in, const Element& root, Target& t) {
  for (const Element* e = root.FirstChildElement("pool"); e != nullptr; e = e->NextSiblingElement("pool")) {
    const Pool pool = read_pool(in, *e, t);
    std::int64_t taken = pool.size;
    for (const Pool& other : t.pools) {
      if (other.name == pool.name) in.fail(e->GetLineNum(), "<pool>: the name '" + pool.name + "' is taken");
      if (other.memory == pool.memory) taken += other.size;
      if (pool.address >= 0 && other.address >= 0 && pool.address < other.address + other.size && other.address < pool.address + pool.size)
        in.fail(e->GetLineNum(), "<pool>: " + pool.name + " and " + other.name + " overlap");
    }
    const std::int64_t size = std::ranges::find(t.memories, pool.memory, &Memory::name)->size;
    if (taken > size)
      in.fail(e->GetLineNum(), "<pool>: the pools of memory '" + pool.memory + "' have " + std::to_string(taken) +
                                   " bytes together, the memory has " + std::to_string(size));
    t.pools.push_back(pool);
  }
}

void read_constants(const Reader& in, const Element& root, Target& t) {
  const Element* e = root.FirstChildElement("constants");
  if (e == nullptr) return;
  t.constants.name = in.attribute(*e, "space");
  t.constants.integer = in.attribute(*e, "integer");
  for (const std::string& word : {t.constants.name, t.constants.integer})
    if (!is_c_name(word))
      in.fail(e->GetLineNum(), "<constants>: '" + word + "' is no name of C, accepted are names such as __memx, __uint24");
  t.constants.largest = in.number(*e, "object", 1, std::int64_t{1} << 50, 0);
}

/// Replaces {NAME.origin} and {NAME.size}, so that the file gives the memory map only once.
std::string fill_in(const Reader& in, int line, std::string text, const Target& t) {
  for (const Memory& m : t.memories)
    for (const auto& [key, value] : {std::pair("{" + m.name + ".origin}", m.origin), std::pair("{" + m.name + ".size}", m.size)})
      for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key))
        text.replace(at, key.size(), std::to_string(value));
  constexpr std::string_view kToolchains = "{toolchains}";
  if (const std::size_t at = text.find(kToolchains); at != std::string::npos)
    text.replace(at, kToolchains.size(), (own_targets_dir().parent_path() / "toolchains").string());
  if (text.find('{') != std::string::npos)
    in.fail(line, "<link>: '" + text +
                      "' names no memory of this target, accepted are {NAME.origin} and {NAME.size}, and {toolchains}, the folder");
  return text;
}

/// Checks that a Code flag is one word: it becomes one argument here, and one word of a list in the emitted build file.
std::string flag_text(const Reader& in, const Element& e, FlagKind kind) {
  const std::string text = Reader::text_of(e);
  if (kind == FlagKind::Code && text.find_first_of(" \t\r\n;\"\\$") != std::string::npos)
    in.fail(e.GetLineNum(), "<flag>: '" + text + "' holds a space, a quote, '\\', '$' or ';', accepted is one flag that needs no quotes",
            "write each flag in an element <flag> of its own");
  return text;
}

/// Reads the macros that compilers predefine and that NAME.c checks for.
void read_features(const Reader& in, const Element& root, Target& t) {
  for (const Element* e = root.FirstChildElement("feature"); e != nullptr; e = e->NextSiblingElement("feature")) {
    const std::string macro = in.attribute(*e, "macro");
    if (!is_c_name(macro)) in.fail(e->GetLineNum(), "<feature>: macro is '" + macro + "', accepted is a name of C");
    if (std::ranges::find(t.features, macro) != t.features.end()) in.fail(e->GetLineNum(), "<feature>: " + macro + " stands twice");
    t.features.push_back(macro);
  }
}

/// The words of an attribute of <math>, each once.
std::vector<std::string> names_in(const Reader& in, const Element& e, const char* attribute) {
  const std::string all = in.attribute(e, attribute);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(' ', at), all.size());
    const std::string name = all.substr(at, end - at);
    if (std::ranges::find(names, name) != names.end()) in.fail(e.GetLineNum(), "<math>: " + name + " stands twice");
    if (!name.empty()) names.push_back(name);
    at = end + 1;
  }
  return names;
}

void read_tools(const Reader& in, const Element& root, Target& t) {
  const Element& tools = *root.FirstChildElement("toolchain");
  t.toolchain.file = in.attribute(tools, "file");
  t.toolchain.triple = in.attribute(tools, "triple");
  if (!t.toolchain.triple.empty() && !is_known_triple(t.toolchain.triple))
    in.fail(tools.GetLineNum(), "<toolchain>: triple is '" + t.toolchain.triple + "', which names no machine that Clang knows",
            "write it as clang does: thumbv7em-none-eabihf, x86_64-linux-gnu");
  t.toolchain.include = in.attribute(tools, "include");
  t.toolchain.package = in.attribute(tools, "package");
  t.toolchain.linker = in.attribute(tools, "linker");
  t.toolchain.compilers = in.texts(tools, "compiler");
  constexpr FlagKind kKinds[] = {FlagKind::Code, FlagKind::Abi, FlagKind::Build};
  for (const Element* e = tools.FirstChildElement("flag"); e != nullptr; e = e->NextSiblingElement("flag")) {
    const FlagKind kind = kKinds[in.choice(*e, "kind", in.attribute(*e, "kind", "build"), {"code", "abi", "build"})];
    t.toolchain.flags.push_back(flag_text(in, *e, kind));
    t.toolchain.flag_kinds.push_back(kind);
  }
  t.toolchain.libraries = in.texts(tools, "library");
  for (const Element* e = tools.FirstChildElement("link"); e != nullptr; e = e->NextSiblingElement("link"))
    t.toolchain.link.push_back(fill_in(in, e->GetLineNum(), Reader::text_of(*e), t));
  if (const Element* e = root.FirstChildElement("math")) {
    t.double_math = names_in(in, *e, "double");
    t.no_math = names_in(in, *e, "none");
    t.library_math = names_in(in, *e, "library");
  }
  if (const Element* e = root.FirstChildElement("emulator")) {
    t.emulator.program = in.attribute(*e, "program");
    t.emulator.args = in.texts(*e, "arg");
    t.emulator.package = in.attribute(*e, "package");
    constexpr EmulatorKind kEmulators[] = {EmulatorKind::Board, EmulatorKind::Process, EmulatorKind::Avr};
    t.emulator.kind = kEmulators[in.choice(*e, "kind", in.attribute(*e, "kind", "board"), {"board", "process", "avr"})];
  }
}

// A table beside the description, or one that comes with etch: a description that was copied from there keeps it.
void read_tuning(const Reader& in, const Element& root, Target& t) {
  const Element* e = root.FirstChildElement("tuning");
  if (e == nullptr) return;
  const std::string name = in.attribute(*e, "file");
  for (const std::filesystem::path& dir : {t.file.parent_path(), own_targets_dir()})
    if (std::filesystem::exists(dir / name)) {
      t.tuning = dir / name;
      return;
    }
  in.fail(e->GetLineNum(), "<tuning>: file '" + name + "' is neither beside the description nor in " + own_targets_dir().string());
}

}  // namespace

Target read_target(const std::filesystem::path& file) {
  const Reader in(file.string());
  tinyxml2::XMLDocument document;
  const tinyxml2::XMLError error = document.LoadFile(file.c_str());
  if (error == tinyxml2::XML_ERROR_FILE_NOT_FOUND || error == tinyxml2::XML_ERROR_FILE_COULD_NOT_BE_OPENED ||
      error == tinyxml2::XML_ERROR_FILE_READ_ERROR)
    throw UserError(file.string(), "the target description cannot be read", "check the name and the file's permissions");
  if (error != tinyxml2::XML_SUCCESS || document.RootElement() == nullptr)
    in.fail(std::max(1, document.ErrorLineNum()), std::string("this is not well-formed XML (") + document.ErrorName() + ")");
  const Element& root = *document.RootElement();
  in.check_schema(root, "");
  Target t;
  t.name = in.attribute(root, "name");
  if (t.name != file.stem().string())
    in.fail(root.GetLineNum(), "<target>: name is '" + t.name + "', the file's name says '" + file.stem().string() + "'");
  t.file = file;
  t.description = in.texts(root, "description").front();
  if (const Element* e = root.FirstChildElement("language")) {
    t.language = in.texts(root, "language").front();
    t.language_line = e->GetLineNum();
  }
  read_core(in, root, t);
  read_cache(in, root, t);
  read_cycles(in, root, t);
  read_memories(in, root, t);
  read_pools(in, root, t);
  read_constants(in, root, t);
  read_features(in, root, t);
  read_instructions(in, root, t);
  read_tools(in, root, t);
  read_tuning(in, root, t);
  return t;
}

}  // namespace etch
