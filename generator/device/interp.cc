// INTERP: the reference device. Each call's AST is evaluated; a function in C is called unless it has a reference.
#include <chrono>
#include <map>

#include "device/compiled.h"
#include "device/external.h"
#include "device/replay.h"
#include "program/loops.h"

namespace etch {
namespace {

class InterpretedProgram : public LoadedProgram {
 public:
  InterpretedProgram(const Program& program, std::shared_ptr<Allocator> allocator, Stats stats, const DeviceOptions& options)
      : program_(&program), allocator_(std::move(allocator)), stats_(std::move(stats)), last_use_(last_uses(program)) {
    for (const ProgramKernel& kernel : program.kernels)
      check(kernel.ast != nullptr || kernel.external != nullptr, "a kernel has an AST or is a function in C");
    const auto needs_c = [](const ProgramKernel& kernel) { return kernel.external != nullptr && !kernel.external->reference; };
    if (std::ranges::any_of(program.kernels, needs_c)) functions_ = with_external(program.kernels, nullptr, options);
    for (const ProgramState& state : program.states)
      states_.emplace(state.buffer, DeviceMemory(*allocator_, buffer(state.buffer).max_bytes()));
    reset_state();
  }

  void reset_state() override {
    for (const ProgramState& state : program_->states)
      std::ranges::copy(first_bytes(*program_, state), allocator_->host_address(states_.at(state.buffer).opaque()));
  }

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    check_run(*program_, inputs, vars);
    Run run{vars, inputs, std::vector<DeviceMemory>(program_->buffers.size())};
    if (options.call_seconds != nullptr) options.call_seconds->assign(program_->calls.size(), 0);
    for_each_call(*program_, vars, [&](int c, const VarValues& values) {
      const ProgramCall& call = program_->calls[static_cast<std::size_t>(c)];
      for (int b : call.writes())
        if (!states_.contains(b) && run.memory[static_cast<std::size_t>(b)].opaque() == nullptr)
          run.memory[static_cast<std::size_t>(b)] = make(run, b);
      const auto begin = std::chrono::steady_clock::now();
      evaluate(run, call, values);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
      update_stats(stats_, {call.flops, call.bytes}, values, seconds, stats_.tells(kDebugRuns) ? shown_run(kernel, values) : KernelRun());
      if (options.call_seconds != nullptr) (*options.call_seconds)[static_cast<std::size_t>(c)] += seconds;
      if (options.tap)
        for (int output = 0; int b : call.writes()) {
          const Array whole = read(run, b);
          options.tap(c, output, written_by(*program_, call, output, whole.bytes(), values));
          output++;
        }
      for (int b : call.buffers())
        if (last_use_[static_cast<std::size_t>(b)] == c) run.memory[static_cast<std::size_t>(b)] = {};
    });
    stats_.end_of_run();
    std::vector<Array> outputs;
    for (int b : program_->outputs) outputs.push_back(read(run, b));
    return outputs;
  }

 private:
  /// One run: memory of what calls wrote, by buffer number. Inputs and constants stay where they are.
  struct Run {
    const VarValues& vars;
    const std::vector<Array>& inputs;
    std::vector<DeviceMemory> memory;
  };

  const ProgramBuffer& buffer(int b) const { return program_->buffers[static_cast<std::size_t>(b)]; }

  DeviceMemory make(const Run& run, int b) const {
    return {*allocator_, std::max(elements_of(buffer(b), run.vars) * bytes_of(buffer(b).dtype), std::int64_t{1})};
  }

  HostPiece piece(const Run& run, int b) const {
    const DType dtype = buffer(b).dtype;
    const auto given = [&](const Array& array) {  // which is read only
      return HostPiece{const_cast<std::byte*>(array.bytes().data()), array.size(), dtype};
    };
    if (buffer(b).kind == BufferKind::Constant) return given(buffer(b).data);
    const auto state = states_.find(b);
    const DeviceMemory& memory = state != states_.end() ? state->second : run.memory[static_cast<std::size_t>(b)];
    if (memory.opaque() != nullptr) return {allocator_->host_address(memory.opaque()), elements_of(buffer(b), run.vars), dtype};
    const auto input = std::ranges::find(program_->inputs, b);
    check(input != program_->inputs.end(), "a buffer is written before it is read");
    return given(run.inputs[static_cast<std::size_t>(input - program_->inputs.begin())]);
  }

  void evaluate(const Run& run, const ProgramCall& call, const VarValues& values) const {
    std::vector<HostPiece> pieces;
    for (int b : call.buffers()) pieces.push_back(piece(run, b));
    const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
    if (kernel.external == nullptr) return interpret(kernel.ast, pieces, values);
    if (kernel.external->reference) return evaluate_reference(run, call, pieces, *kernel.external);
    std::vector<void*> memory;
    for (const HostPiece& p : pieces) memory.push_back(p.data);
    try {
      launch(functions_.at(static_cast<std::size_t>(call.kernel)), kernel, memory, values, true);
    } catch (const DeviceError& error) {
      throw_with_nodes(*program_, call, error);
    }
  }

  void evaluate_reference(const Run& run, const ProgramCall& call, const std::vector<HostPiece>& pieces,
                          const ExternalKernel& external) const {
    std::vector<Array> read;
    std::vector<const Array*> inputs;
    std::vector<std::vector<std::int64_t>> shapes;
    for (int b : call.reads()) read.push_back(this->read(run, b));
    for (int b : call.writes()) shapes.push_back(shape_of(buffer(b), run.vars));
    for (const Array& array : read) inputs.push_back(&array);
    const std::vector<Array> outputs = external.reference(inputs, shapes);
    check(outputs.size() == shapes.size(), "a reference gives all outputs");
    for (std::size_t k = 0; k < outputs.size(); k++) {
      check(outputs[k].dtype() == pieces[k].dtype && outputs[k].shape() == shapes[k], "a reference gives outputs of their shapes");
      std::ranges::copy(outputs[k].bytes(), pieces[k].data);
    }
  }

  Array read(const Run& run, int b) const {
    const std::vector<std::int64_t> shape = shape_of(buffer(b), run.vars);
    if (elements_of(buffer(b), run.vars) == 0) return {buffer(b).dtype, shape, {}};  // no call may write it
    const HostPiece from = piece(run, b);
    return {from.dtype, shape, std::vector<std::byte>(from.data, from.data + from.elements * bytes_of(from.dtype))};
  }

  const Program* program_;
  std::shared_ptr<Allocator> allocator_;
  Stats stats_;
  std::vector<int> last_use_;
  std::map<int, DeviceMemory> states_;   // by buffer number
  std::vector<LoadedKernel> functions_;  // by kernel; empty if none of them is called
};

class InterpDevice : public Interpreted {
 public:
  using Interpreted::Interpreted;
  bool available(std::string*) const override { return true; }
  std::string description() const override { return "reference, in double"; }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    return std::make_unique<InterpretedProgram>(program, allocator(), stats(), options());
  }
};

}  // namespace

constinit const DeviceRow kInterpDevice{
    .name = "interp",
    .language = nullptr,
    .make = make_of<InterpDevice>,
};

}  // namespace etch
