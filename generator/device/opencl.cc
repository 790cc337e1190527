// OPENCL: kernels run in a child process. When it dies, programs are loaded into the next one again.
#include <algorithm>
#include <deque>

#include "device/compiled.h"
#include "device/external.h"
#include "device/host_compiler.h"
#include "device/opencl_kernels.h"
#include "device/opencl_session.h"
#include "device/replay.h"
#include "program/loops.h"
#include "renderer/language.h"

namespace etch {
namespace {

using nlohmann::json;
using Session = OpenCLSession;
using Parts = Session::Parts;

/// Memory of the process: a piece is a number, with that of the process in the upper half.
class OpenCLMemory : public Allocator {
 public:
  explicit OpenCLMemory(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  void copyin(void* memory, std::span<const std::byte> from) override {
    session_->request({{"op", "write"}, {"memory", number_of(*session_, memory)}}, {from}, "copying into a buffer");
  }
  void copyout(std::span<std::byte> to, void* memory) override {
    std::vector<std::byte> content;
    session_->request({{"op", "read"}, {"memory", number_of(*session_, memory)}, {"bytes", to.size()}}, {}, "copying from a buffer",
                      &content);
    check(content.size() == to.size(), "the OpenCL process returns what was asked for");
    std::ranges::copy(content, to.begin());
  }
  std::byte* host_address(void*) const override { return nullptr; }
  bool has(void* memory) const override { return session_->has(static_cast<int>(reinterpret_cast<std::uintptr_t>(memory) >> 32)); }
  /// Throws DeviceError if the process that had this memory has ended.
  static int number_of(const Session& session, void* memory) {
    const auto both = reinterpret_cast<std::uintptr_t>(memory);
    if (!session.has(static_cast<int>(both >> 32)))
      throw DeviceError("OPENCL, a buffer", "the process that held its content has ended", "make the buffer anew");
    return static_cast<int>(both & 0xFFFFFFFF);
  }

 protected:
  void* alloc_own(std::int64_t bytes) override {
    session_->open();
    const int number = session_->request({{"op", "alloc"}, {"bytes", bytes}}, {}, "making a buffer").at("memory");
    if (number == 0) return nullptr;
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(session_->generation()) << 32 | static_cast<std::uintptr_t>(number));
  }
  void free_own(void* memory, std::int64_t) override {
    try {
      session_->request({{"op", "free"}, {"memory", number_of(*session_, memory)}}, {}, "freeing a buffer");
    } catch (const DeviceError&) {  // the process is gone, and the memory with it
    }
  }

 private:
  std::shared_ptr<Session> session_;
};

/// One of the calls of a run, with the values of variables and counters.
struct Turn {
  int call;
  VarValues values;
};

class OpenCLLibrary : public KernelLibrary {
 public:
  OpenCLLibrary(const std::shared_ptr<Session>& session, std::shared_ptr<const Compiler> compiler, const std::string& binary,
                std::span<const ProgramKernel> kernels)
      : session_(session), kernels_(session, std::move(compiler), binary, kernels, json::array(), {}, false) {
    for (const ProgramKernel& k : kernels) names_.push_back(k.name);
  }
  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize& size) const override {
    const int program = number();
    session_->request({{"op", "launch"}, {"program", program}, {"call", call_of(kernel, buffers, values, size)}}, {},
                      "kernel '" + name(kernel) + "'");
  }
  /// Its number in the process.
  int number() const { return kernels_.number(); }
  const std::string& name(int kernel) const { return names_.at(static_cast<std::size_t>(kernel)); }
  /// A call as the process takes it.
  json call_of(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize& size) const {
    std::vector<int> memory;
    for (void* buffer : buffers) memory.push_back(OpenCLMemory::number_of(*session_, buffer));
    return {{"kernel", kernel},        {"buffers", memory},
            {"writes", json::array()}, {"values", std::vector<std::int32_t>(values.begin(), values.end())},
            {"groups", size.groups},   {"local", size.driver_groups ? json(nullptr) : json(size.local)}};
  }
  void wait() const override { session_->request({{"op", "wait"}}, {}, "running kernels"); }

 private:
  std::shared_ptr<Session> session_;
  mutable OpenCLKernels kernels_;
  std::vector<std::string> names_;
};

/// One prepared list in the process: a replay is one request, whatever the number of kernels.
class OpenCLGraph : public KernelGraph {
 public:
  OpenCLGraph(std::shared_ptr<Session> session, std::vector<GraphNode> nodes) : session_(std::move(session)), nodes_(std::move(nodes)) {
    prepare();
  }
  ~OpenCLGraph() override {
    if (!session_->has(generation_)) return;
    try {
      session_->request({{"op", "forget"}, {"list", list_}}, {}, "forgetting a list of kernels");
    } catch (const DeviceError&) {  // the process is gone, and the list with it
    }
  }
  OpenCLGraph(const OpenCLGraph&) = delete;
  OpenCLGraph& operator=(const OpenCLGraph&) = delete;

  void update(std::size_t node, const GraphNode& changed) override {
    nodes_.at(node) = changed;
    changed_.insert(node);
  }
  void launch() override {
    if (!session_->has(generation_)) prepare();
    json updates = json::array();
    for (const std::size_t node : changed_) updates.push_back({node, call_of(nodes_[node])});
    changed_.clear();
    std::string names;
    for (const GraphNode& n : nodes_) names += (names.empty() ? "'" : "', '") + library(n).name(n.kernel);
    session_->request({{"op", "replay"}, {"list", list_}, {"updates", updates}}, {}, "one of the kernels " + names + "'");
  }
  void wait() override { session_->request({{"op", "wait"}}, {}, "running kernels"); }

 private:
  static const OpenCLLibrary& library(const GraphNode& node) { return dynamic_cast<const OpenCLLibrary&>(*node.library); }
  static json call_of(const GraphNode& n) { return library(n).call_of(n.kernel, n.buffers, n.values, n.size); }
  void prepare() {
    json calls = json::array();
    for (const GraphNode& n : nodes_) calls.push_back({{"program", library(n).number()}, {"call", call_of(n)}});
    list_ = session_->request({{"op", "prepare"}, {"calls", calls}}, {}, "preparing a list of kernels").at("list");
    generation_ = session_->generation();
    changed_.clear();
  }

  std::shared_ptr<Session> session_;
  std::vector<GraphNode> nodes_;
  std::set<std::size_t> changed_;
  int list_ = 0, generation_ = 0;
};

class OpenCLProgram : public LoadedProgram {
 public:
  OpenCLProgram(const Program& program, const std::shared_ptr<Session>& session, const std::shared_ptr<const Compiler>& compiler,
                const std::string& binary, const DeviceOptions& options, Stats stats)
      : program_(&program), session_(session), guards_(options.guards), last_use_(last_uses(program)), stats_(std::move(stats)) {
    if (has_external(program)) functions_ = with_external(program.kernels, nullptr, options);
    for (int own = 0; const ProgramKernel& k : program.kernels) numbers_.push_back(k.external == nullptr ? own++ : -1);
    json list = json::array();
    Parts constants;
    for (std::size_t b = 0; b < program.buffers.size(); b++) {
      if (program.buffers[b].kind != BufferKind::Constant || last_use_[b] < 0) continue;
      list.push_back({b, program.buffers[b].data.bytes().size()});
      constants.push_back(program.buffers[b].data.bytes());
      constant_bytes_ += static_cast<std::int64_t>(constants.back().size());
    }
    for (const ProgramState& state : program.states) {  // loaded as constants are, and written by kernels
      const std::vector<std::byte>& bytes = first_.emplace_back(first_bytes(program, state));
      state_list_.push_back({state.buffer, bytes.size()});
      list.push_back(state_list_.back());
      constants.push_back(bytes);
      constant_bytes_ += static_cast<std::int64_t>(bytes.size());
    }
    kernels_ = std::make_unique<OpenCLKernels>(session, compiler, binary, without_external(program.kernels), std::move(list),
                                               std::move(constants), !program.states.empty());
    stats_.counters->add_memory(constant_bytes_);
  }
  ~OpenCLProgram() override { stats_.counters->add_memory(-constant_bytes_); }
  OpenCLProgram(const OpenCLProgram&) = delete;
  OpenCLProgram& operator=(const OpenCLProgram&) = delete;

  void reset_state() override { kernels_->restore(state_list_, Parts(first_.begin(), first_.end())); }

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    check_run(*program_, inputs, vars);
    const int number = kernels_->number();
    kernels_->check_states();
    const bool tells = stats_.tells(kDebugRuns);
    Parts parts;
    json message = {{"op", "run"},
                    {"program", number},
                    {"bytes", json::array()},
                    {"outputs", program_->outputs},
                    {"inputs", json::array()},
                    {"tap", static_cast<bool>(options.tap)},
                    {"guards", guards_},
                    {"seconds", options.call_seconds != nullptr || tells},
                    {"calls", json::array()}};
    for (const ProgramBuffer& b : program_->buffers) message["bytes"].push_back(elements_of(b, vars) * bytes_of(b.dtype));
    for (std::size_t k = 0; k < inputs.size(); k++) {
      message["inputs"].push_back({program_->inputs[k], inputs[k].bytes().size()});
      parts.push_back(inputs[k].bytes());
    }
    std::vector<Turn> turns;  // what runs, in order
    for_each_call(*program_, vars, [&](int call, const VarValues& values) {
      message["calls"].push_back(call_of(program_->calls[static_cast<std::size_t>(call)], values));
      turns.push_back({call, values});
    });
    message["last_use"] = last_turns(turns);
    std::vector<std::byte> blob;
    const auto progress = [&](int turn) {
      const int call = turns.at(static_cast<std::size_t>(turn)).call;
      const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
      if (!tells) update_stats(stats_, {c.flops, c.bytes}, turns.at(static_cast<std::size_t>(turn)).values, std::nullopt, {});
      return "call " + std::to_string(call) + ", kernel '" + program_->kernels[static_cast<std::size_t>(c.kernel)].name + "'";
    };
    const auto tap = [&](int turn, int output, const std::vector<std::byte>& bytes) {
      const auto& [call, values] = turns.at(static_cast<std::size_t>(turn));
      if (options.tap)
        options.tap(call, output, written_by(*program_, program_->calls[static_cast<std::size_t>(call)], output, bytes, values));
    };
    const auto function = [&](int turn, std::span<std::byte> read) {
      const auto& [call, values] = turns.at(static_cast<std::size_t>(turn));
      return call_function(program_->calls[static_cast<std::size_t>(call)], values, read);
    };
    const auto name_of = [&](int b) { return program_->buffers[static_cast<std::size_t>(b)].name; };
    const json answer = session_->request(message, parts, "running the program", &blob, {progress, tap, function, name_of});
    if (options.call_seconds != nullptr) {
      options.call_seconds->assign(program_->calls.size(), 0);
      for (std::size_t t = 0; t < turns.size(); t++) {
        const double seconds = answer.at("seconds").at(t).get<double>();
        (*options.call_seconds)[static_cast<std::size_t>(turns[t].call)] += seconds;
        if (!tells) stats_.counters->add_seconds(seconds);
      }
    }
    if (tells) tell(turns, answer);
    return split(blob, vars);
  }

 private:
  /// A call of a function in C, on this machine: from what it reads what it writes, each one buffer after the other.
  std::vector<std::byte> call_function(const ProgramCall& call, const VarValues& values, std::span<std::byte> read) const {
    std::vector<std::size_t> sizes;
    std::size_t written = 0;
    for (const CallArgument& a : call.arguments) {
      const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(a.buffer)];
      sizes.push_back(static_cast<std::size_t>(elements_of(b, values) * bytes_of(b.dtype)));
      if (a.access == Access::Write) written += sizes.back();
    }
    std::vector<std::byte> result(written);
    std::vector<void*> memory;
    for (std::size_t i = 0, to = 0, from = 0; i < sizes.size(); i++) {
      const bool is_read = call.arguments[i].access == Access::Read;
      memory.push_back(is_read ? read.subspan(from, sizes[i]).data() : std::span(result).subspan(to, sizes[i]).data());
      (is_read ? from : to) += sizes[i];
    }
    const auto k = static_cast<std::size_t>(call.kernel);
    try {
      launch(functions_[k], program_->kernels[k], memory, values, true);
    } catch (const DeviceError& error) {
      throw_with_nodes(*program_, call, error);
    }
    return result;
  }

  /// Counts and tells what has run, once the process has said how long each call took.
  void tell(const std::vector<Turn>& turns, const json& answer) const {
    for (std::size_t t = 0; t < turns.size(); t++) {
      const ProgramCall& call = program_->calls[static_cast<std::size_t>(turns[t].call)];
      KernelRun run = shown_run(program_->kernels[static_cast<std::size_t>(call.kernel)], turns[t].values);
      run.further_memory = answer.at("memory").at(t).get<std::int64_t>();
      update_stats(stats_, {call.flops, call.bytes}, turns[t].values, answer.at("seconds").at(t).get<double>(), run);
    }
    stats_.end_of_run();
  }

  /// For each buffer the number of the last of `turns` that uses it.
  std::vector<int> last_turns(const std::vector<Turn>& turns) const {
    std::vector<int> last(program_->buffers.size(), -1);
    for (std::size_t t = 0; t < turns.size(); t++)
      for (int b : program_->calls[static_cast<std::size_t>(turns[t].call)].buffers())
        last[static_cast<std::size_t>(b)] = static_cast<int>(t);
    for (int b : program_->outputs) last[static_cast<std::size_t>(b)] = static_cast<int>(turns.size());
    return last;
  }

  json call_of(const ProgramCall& call, const VarValues& vars) const {
    const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
    const LaunchSize size = launch_size(kernel, vars);
    std::vector<std::int64_t> values;
    for (const std::string& v : kernel.variables) values.push_back(vars.at(v));
    auto writes = call.writes();
    return {{"kernel", numbers_[static_cast<std::size_t>(call.kernel)]},
            {"buffers", std::vector<int>(call.buffers().begin(), call.buffers().end())},
            {"writes", std::vector<int>(writes.begin(), writes.end())},
            {"values", values},
            {"groups", size.groups},
            {"local", size.driver_groups ? json(nullptr) : json(size.local)}};
  }

  std::vector<Array> split(const std::vector<std::byte>& blob, const VarValues& vars) const {
    std::vector<Array> outputs;
    auto at = blob.begin();
    for (int index : program_->outputs) {
      const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(index)];
      const auto end = at + static_cast<std::ptrdiff_t>(elements_of(b, vars) * bytes_of(b.dtype));
      check(end <= blob.end(), "the OpenCL process returns every output");
      outputs.emplace_back(b.dtype, shape_of(b, vars), std::vector<std::byte>(at, end));
      at = end;
    }
    return outputs;
  }

  const Program* program_;
  std::shared_ptr<Session> session_;
  bool guards_;
  std::vector<int> last_use_;
  std::deque<std::vector<std::byte>> first_;  // what each state has before the first run
  json state_list_ = json::array();           // of their buffers and sizes
  std::vector<int> numbers_;                  // by kernel: its number among those of the process, or -1
  std::vector<LoadedKernel> functions_;       // by kernel; empty if there are none
  Stats stats_;
  std::unique_ptr<OpenCLKernels> kernels_;
  std::int64_t constant_bytes_ = 0;
};

class OpenCLDevice : public Compiled {
 public:
  OpenCLDevice(const DeviceRow& row, const DeviceOptions& options) : Compiled(row, options), session_(std::make_shared<Session>(options)) {}

  bool available(std::string* why) const override {
    try {
      session_->open();
      return true;
    } catch (const DeviceError& e) {
      if (why != nullptr) *why = e.problem().substr(0, e.problem().find('\n'));
      return false;
    }
  }

  std::string description() const override {
    const json& info = session_->info();
    return info.at("device").get<std::string>() + " (" + info.at("platform").get<std::string>() + ", " +
           info.at("version").get<std::string>() + ")";
  }

  void synchronize() const override {
    if (session_->running()) session_->request({{"op", "wait"}}, {}, "running kernels");
  }
  std::shared_ptr<const Compiler> compiler() const override { return std::make_shared<OpenCLCompiler>(session_, options().cache); }
  std::vector<std::string> texts_of(std::span<const ProgramKernel> kernels) const override {
    std::string text = language()->prelude(helpers_of(kernels)) + definitions_of(kernels) + "\n";
    for (const ProgramKernel& k : kernels) text += k.text.source + "\n";
    return {text};
  }
  std::shared_ptr<const KernelLibrary> load_binaries(const std::vector<std::string>& binaries,
                                                     std::span<const ProgramKernel> kernels) const override {
    return std::make_shared<OpenCLLibrary>(session_, compiler(), binaries.at(0), kernels);
  }
  std::unique_ptr<KernelGraph> make_graph(std::vector<GraphNode> nodes) const override {
    return std::make_unique<OpenCLGraph>(session_, std::move(nodes));
  }

 private:
  // The process runs all calls of a program by itself: a request for each would take longer than many kernels.
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    const auto compiling = compiler();
    const std::string text = texts_of(without_external(program.kernels)).at(0);
    // Where nothing is kept the process builds it once, when it loads it.
    const std::string binary = compiling->is_cached() ? compiling->compile_cached(text) : OpenCLCompiler::binary_of(text, "");
    tell_instructions(*compiling, text, binary);
    return std::make_unique<OpenCLProgram>(program, session_, compiling, binary, options(), stats());
  }
  std::shared_ptr<Allocator> make_allocator() const override { return std::make_shared<OpenCLMemory>(session_); }

  std::shared_ptr<Session> session_;
};

}  // namespace

constinit const DeviceRow kOpenClDevice{
    .name = "opencl",
    .language = &kOpenCl,
    .make = make_of<OpenCLDevice>,
    .environment = opencl_environment,
};

}  // namespace etch
