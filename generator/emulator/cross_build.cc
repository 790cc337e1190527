#include "emulator/cross_build.h"

#include <algorithm>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "emulator/elf.h"
#include "emulator/tools.h"

namespace etch {
namespace {

struct Source {
  std::filesystem::path file, object;
  bool counts = true;  // as code or weights of the model
  bool is_weights = false;
};

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_source(const std::filesystem::path& file) {
  return file.extension() == ".c" || file.extension() == ".S" || file.extension() == ".cu";
}

/// NAME_weights beside NAME.c; a model may be called my_weights.
bool is_weights(const std::filesystem::path& file) {
  constexpr std::string_view kEnding = "_weights";
  const std::string stem = file.stem().string();
  if (!stem.ends_with(kEnding)) return false;
  return std::filesystem::exists(file.parent_path() / (stem.substr(0, stem.size() - kEnding.size()) + ".c"));
}

std::vector<Source> sources_of(const std::filesystem::path& dir, const std::filesystem::path& build_dir, const BuildOptions& options) {
  std::vector<Source> sources;
  std::error_code bad;
  for (std::filesystem::directory_iterator it(dir, bad), end; !bad && it != end; it.increment(bad)) {
    const std::string name = it->path().filename().string();
    if (!is_source(it->path()) || std::ranges::find(options.leave_out, name) != options.leave_out.end()) continue;
    if (!options.weights && is_weights(it->path())) continue;
    sources.push_back({it->path().filename(), build_dir / (name + ".o"), it->path().stem() != "selftest", is_weights(it->path())});
  }
  if (sources.empty()) throw UserError(dir.string(), "there is no .c file in this folder", "name the folder that etch compile wrote");
  for (const auto& file : options.extra_sources)
    sources.push_back({std::filesystem::absolute(file), build_dir / ("extra_" + file.filename().string() + ".o"), false});
  std::ranges::sort(sources, {}, &Source::object);
  return sources;
}

/// The compiler's first messages: enough to see what is wrong, without pages of it.
std::string first_lines(const std::string& text, int count) {
  std::size_t end = 0;
  for (int i = 0; i < count && end != std::string::npos; i++) end = text.find('\n', end == 0 ? 0 : end + 1);
  return text.substr(0, end);
}

ProcessResult run_tool(const std::vector<std::string>& command, const std::filesystem::path& cwd, const std::filesystem::path& build_dir,
                       double timeout_s) {
  ProcessOptions options;
  options.cwd = cwd;
  options.timeout_s = timeout_s;
  options.env = {{"LC_ALL", "C"}, {"TMPDIR", build_dir.string()}};  // files of a compiler that is stopped are removed with the folder
  return run_process(command, options);
}

/// Whether a signal or the time limit ended the command or, as GCC's driver says then, a program that it started; or whether the machine
/// was short of something.
bool was_stopped(const ProcessResult& result) {
  constexpr const char* kSays[] = {"signal terminated program", "No space left on device", "Cannot allocate memory", "out of memory",
                                   "virtual memory exhausted"};
  return result.timed_out || result.signal != 0 ||
         std::ranges::any_of(kSays, [&](const char* text) { return result.err.find(text) != std::string::npos; });
}

void require_ok(const ProcessResult& result, const std::vector<std::string>& command, const std::string& what) {
  if (result.ok()) return;
  const std::string messages = first_lines(result.err, 12), problem = command[0] + ": " + describe(result) + (messages.empty() ? "" : "\n");
  const char* const help = "run it by hand to see all messages";
  if (was_stopped(result)) throw ToolStopped(what, problem + messages, help);
  throw UserError(what, problem + messages, help);
}

bool is_clang(const std::string& compiler) { return compiler.find("clang") != std::string::npos; }

bool is_gcc(const std::string& compiler) { return !is_clang(compiler) && compiler.find("gcc") != std::string::npos; }

/// gcc reports frame sizes and calls; before its release 10 it reports, as clang does, only frame sizes, which are of use where a listing
/// of the program shows the calls.
bool tells_calls(const std::string& compiler) {
  static std::mutex lock;
  static std::map<std::string, bool> known;
  if (!is_gcc(compiler)) return false;
  const std::lock_guard guard(lock);
  const auto found = known.find(compiler);
  if (found != known.end()) return found->second;
  return known[compiler] = run_process({compiler, "-fcallgraph-info=su", "-E", "-xc", "/dev/null"}).ok();
}

bool tells_frames(const std::string& compiler, const Target& target) {
  return !tells_calls(compiler) && (is_clang(compiler) || is_gcc(compiler)) && instruction_set(target.toolchain.triple) != nullptr;
}

/// clang's .su files leave out vectors on the stack where their size is the core's; its remarks tell of them.
bool has_scalable_frames(const std::string& compiler, const Target& target) {
  return tells_frames(compiler, target) && is_clang(compiler) && instruction_set(target.toolchain.triple)->scalable_bits > 0;
}

std::filesystem::path layout_file(const Source& source) { return std::filesystem::path(source.object).replace_extension(".layout"); }

/// nvcc hands what it does not know on to the host's compiler only if told to, and takes no files in assembler.
bool is_nvcc(const std::string& compiler) { return std::filesystem::path(compiler).filename() == "nvcc"; }

std::vector<std::string> assemble(const Source& source) {
  for (const char* compiler : {"gcc", "clang", "clang-19", "cc"})
    if (find_program(compiler)) return {compiler, "-I.", "-c", source.file.string(), "-o", source.object.string()};
  throw UserError(source.file.string(), "there is no assembler: none of gcc, clang, clang-19, cc is on PATH", "install gcc");
}

void compile(const Source& source, const std::filesystem::path& dir, const Target& target, const std::string& compiler,
             const BuildOptions& options) {
  std::vector<std::string> command{compiler};
  if (is_nvcc(compiler)) command.emplace_back("--forward-unknown-opts");
  command.insert(command.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  for (const char* flag : {"-ffunction-sections", "-fdata-sections"})
    if (std::ranges::find(command, flag) == command.end()) command.push_back(flag);
  if (tells_calls(compiler)) command.insert(command.end(), {"-fstack-usage", "-fcallgraph-info=su"});
  if (tells_frames(compiler, target)) command.emplace_back("-fstack-usage");
  if (has_scalable_frames(compiler, target)) command.emplace_back("-Rpass-analysis=stack-frame-layout");
  for (const std::string& define : options.defines) command.push_back("-D" + define);
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  command.insert(command.end(), {"-I.", "-c", source.file.string(), "-o", source.object.string()});
  if (is_nvcc(compiler) && source.file.extension() == ".S") command = assemble(source);
  const ProcessResult result = run_tool(command, dir, source.object.parent_path(), options.timeout_s);
  require_ok(result, command, (dir / source.file).string());
  if (has_scalable_frames(compiler, target)) std::ofstream(layout_file(source), std::ios::binary) << result.err;
}

void compile_all(const std::vector<Source>& sources, const std::filesystem::path& dir, const Target& target, const std::string& compiler,
                 const BuildOptions& options) {
  std::vector<std::future<void>> runs;
  for (const Source& source : sources)
    runs.push_back(std::async(std::launch::async, [&] { compile(source, dir, target, compiler, options); }));
  for (auto& run : runs) run.wait();  // wait for all of them, as an exception below destroys `sources`
  for (auto& run : runs) run.get();
}

/// "region `flash' overflowed by 1234 bytes", if that is GNU ld's only complaint; else empty.
std::string overflow_of(const std::string& messages) {
  if (messages.find("undefined reference") != std::string::npos || messages.find("cannot find") != std::string::npos) return "";
  const std::size_t end = messages.find(" overflowed by "), begin = messages.rfind("region `", end);
  if (end == std::string::npos || begin == std::string::npos) return "";
  return messages.substr(begin, messages.find('\n', end) - begin);
}

void link(const std::vector<Source>& sources, const std::filesystem::path& build_dir, const Target& target, CrossBuild& build,
          const BuildOptions& options) {
  const bool alone = target.toolchain.linker.empty();
  std::vector<std::string> command{alone ? build.compiler : target.toolchain.linker};
  if (is_nvcc(build.compiler)) command.emplace_back("--forward-unknown-opts");
  if (alone) command.insert(command.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  for (const Source& source : sources) command.push_back(source.object.string());
  command.insert(command.end(), target.toolchain.link.begin(), target.toolchain.link.end());
  command.insert(command.end(), target.toolchain.libraries.begin(), target.toolchain.libraries.end());
  const std::filesystem::path map = build_dir / "program.map";
  for (const std::string& flag : {std::string("-Wl,--gc-sections"), "-Wl,-Map=" + map.string()})
    if (is_nvcc(build.compiler))
      command.insert(command.end(), {"-Xlinker", flag.substr(4)});
    else if (std::ranges::find(command, flag) == command.end())
      command.push_back(flag);
  command.insert(command.end(), {"-o", build.elf.string()});
  if (options.may_overflow) command.push_back("-Wl,--noinhibit-exec");
  const ProcessResult result = run_tool(command, build_dir, build_dir, options.timeout_s);
  const std::string overflow = overflow_of(result.err);
  if (!result.ok() && !options.may_overflow && !overflow.empty())
    throw UserError("target " + target.name, "its memories have no room for the whole program: " + overflow,
                    "besides the model a self-test needs its own data, the C library and the stack that the description's link flags "
                    "reserve: lower that where a flag says it (__stack_size), or describe a larger board for the test");
  build.overflow = options.may_overflow ? overflow : "";
  if (build.overflow.empty() || !std::filesystem::exists(build.elf)) require_ok(result, command, build.elf.string());
  build.map = parse_link_map(read(map));
}

void count_sizes(const std::vector<Source>& sources, CrossBuild& build) {
  for (const Source& source : sources) {
    if (!source.counts) continue;
    const auto at = std::ranges::find(build.map.objects, source.object.filename().string(), &ObjectSize::object);
    if (at == build.map.objects.end()) continue;
    (source.is_weights ? build.weights_bytes : build.code_bytes) += at->text + at->rodata;
  }
}

StackGraph graph_of(const std::vector<Source>& sources, const Target& target, const CrossBuild& build) {
  StackGraph graph;
  const InstructionSet* set = instruction_set(target.toolchain.triple);
  if (!tells_calls(build.compiler) && !tells_frames(build.compiler, target)) return graph;
  for (const Source& source : sources) {
    std::filesystem::path info = source.object;
    StackGraph own = tells_calls(build.compiler) ? parse_callgraph_info(read(info.replace_extension(".ci")))
                                                 : parse_stack_usage(read(info.replace_extension(".su")));
    if (has_scalable_frames(build.compiler, target))
      own = add_scalable_frames(std::move(own), read(layout_file(source)), target.vector.bits / set->scalable_bits);
    graph = merge(graph, own);
  }
  if (const auto listing = set != nullptr ? disassemble(target, build.elf) : std::nullopt) {
    const auto symbols = read_elf_symbols(build.elf);
    StackGraph library = parse_disassembly(by_function(*listing, symbols), *set);
    for (const auto& [name, first] : function_aliases(symbols))
      if (library.contains(first)) library[name] = library[first];
    const std::set<std::string> forms = chosen_functions(symbols);
    for (const char* jumps : {".plt", ".iplt"})
      if (!forms.empty() && library.contains(jumps)) library[jumps] = {0, forms, false};
    graph = merge(graph, library);
  }
  return graph;
}

}  // namespace

std::optional<std::string> target_compiler(const Target& target) {
  if (!target.toolchain.linker.empty() && !find_program(target.toolchain.linker)) return std::nullopt;
  for (const std::string& compiler : target.toolchain.compilers)
    if (find_program(compiler)) return compiler;
  return std::nullopt;
}

std::string missing_compiler(const Target& target) {
  if (target_compiler(target)) return "";
  for (const std::string& compiler : target.toolchain.compilers)
    if (find_program(compiler)) return target.toolchain.linker;
  return target.toolchain.compilers.front();
}

CrossBuild build_project(const std::filesystem::path& dir, const Target& target, const std::filesystem::path& build_dir,
                         const BuildOptions& options) {
  CrossBuild build;
  const auto compiler = target_compiler(target);
  if (!compiler)
    throw UserError("target '" + target.name + "'", "its compiler " + missing_compiler(target) + " is not installed",
                    install_help(target.toolchain.package));
  build.compiler = *compiler;
  std::error_code bad;
  std::filesystem::create_directories(build_dir, bad);
  if (bad)
    throw UserError(build_dir.string(), "the build folder cannot be made (" + bad.message() + ")", "name a folder that can be written");
  const std::filesystem::path out = std::filesystem::canonical(build_dir);
  build.elf = out / "program.elf";
  const std::vector<Source> sources = sources_of(dir, out, options);
  compile_all(sources, std::filesystem::canonical(dir), target, build.compiler, options);
  link(sources, out, target, build, options);
  count_sizes(sources, build);
  build.stack = graph_of(sources, target, build);
  return build;
}

StackBound stack_bound(const StackGraph& graph, const std::string& entry, const std::vector<std::string>& kernels) {
  // Only indirect calls that the compiler reported, in functions of the model; those of libraries stay unresolved.
  IndirectCalls calls;
  for (const std::string& name : reachable(graph, entry))
    if (const auto it = graph.find(name); it != graph.end() && it->second.indirect) calls[name] = kernels;
  return worst_case_stack(graph, entry, calls);
}

}  // namespace etch
