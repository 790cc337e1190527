// backend: adds a backend to etch in one file. A backend is two rows: a language, whose function turns UOps into a text, and a device,
// which compiles that text and runs it on buffers. Everything else then works with them: tensors, TinyJit, ONNX models, validation,
// --debug. (A third row, of project_forms(), would emit projects in the language.)
// The machine of this backend is made up: it has registers that hold a number each, and takes one instruction after the other.
//
//   r3 = Load float32 b1 r2      register 3: the float32 at position r2 of buffer 1
//   r5 = Mul float32 r3 r4       an operation of ir/ops.def, rounded to its type
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "etch.h"

using namespace etch;

// --- 1. The language: UOps become a text, one line each. The linearizer has done the work: loops, indices, accumulators are there.

static Rendered render_steps(const UOpList& uops, const Language&, const KernelSignature& signature, const CodegenOptions&) {
  std::map<const UOp*, std::string> names;  // "b0" of a buffer, "r7" of any other value
  std::string text;
  const auto line = [&](const UOp* to, const std::string& word, const std::vector<const UOp*>& from, const std::string& more = "") {
    text += names[to] + " = " + word + " " + std::string(name_of(to->dtype));
    for (const UOp* u : from) text += " " + names.at(u);
    text += more + "\n";
  };
  for (std::size_t i = 0; i < uops.order.size(); i++) {
    const UOp* u = uops.order[i];
    const bool has_type = u->dtype == DType::Float32 || u->dtype == DType::Int32 || u->dtype == DType::Bool;
    if (u->lanes != 1 || !has_type)
      throw UserError("backend steps", "a value of " + std::to_string(u->lanes) + " x " + std::string(name_of(u->dtype)) +
                                           " in a register, accepted is one of float32, int32, bool");
    names[u] = "r" + std::to_string(i);
    const auto variable = std::ranges::find(signature.variables, u->name);
    switch (u->uop) {
      case UOpKind::DefineGlobal:
        names[u] = "b" + std::to_string(u->number);
        break;
      case UOpKind::DefineVar:
        line(u, "Variable", {}, " r" + std::to_string(variable - signature.variables.begin()));
        break;
      case UOpKind::Const:
      case UOpKind::DefineAcc:  // an accumulator is a register that starts with a value
        line(u, "Const", {}, " " + u->value->cast(u->dtype == DType::Bool ? DType::Int32 : u->dtype).to_text());
        break;
      case UOpKind::Phi:  // and gets another one: what reads the Phi reads that register
        names[u] = names.at(u->src[0]);
        line(u, "Copy", {u->src[1]});
        break;
      case UOpKind::Loop:
      case UOpKind::If:
      case UOpKind::End:
      case UOpKind::Load:
      case UOpKind::Store:
        line(u, std::string(name_of(u->uop)), u->src);
        break;
      case UOpKind::Cast:
      case UOpKind::Alu:
        line(u, u->uop == UOpKind::Cast ? "Copy" : std::string(name_of(u->op)), u->src);
        break;
      case UOpKind::StoreColumns:
      case UOpKind::Prefetch:
      case UOpKind::DefineLocal:  // what is left needs arrays, work-items or vectors, which this machine has not
      case UOpKind::Special:
      case UOpKind::Barrier:
      case UOpKind::Bitcast:
      case UOpKind::Dot:
      case UOpKind::Wmma:
      case UOpKind::Gep:
      case UOpKind::Vectorize:
        throw UserError("backend steps", "has no " + std::string(name_of(u->uop)));
    }
  }
  Rendered rendered;
  rendered.source = text;
  return rendered;
}

static const Language kSteps{
    .name = "steps",
    .style = nullptr,  // it has no C syntax
    .render = render_steps,
    .prelude = [](const std::vector<std::string>&) { return std::string(); },
};

// --- 2. The compiler: the text becomes a binary. Here, instructions of one size, and the places that loops jump to.

struct Instruction {
  enum class Kind : std::uint8_t { Alu, Const, Variable, Copy, Load, Store, Loop, If, End } kind{};
  Op op{};
  DType dtype{};
  std::int32_t to = 0, from[4] = {-1, -1, -1, -1};  // registers, or buffers
  std::int32_t jump = 0;                            // a Loop's or If's End; the End's Loop or If
  double value = 0;
};
using Code = std::vector<Instruction>;

static constexpr const char* kWords[] = {"", "Const", "Variable", "Copy", "Load", "Store", "Loop", "If", "End"};

// The operations that it has; rounding to the type comes behind them.
struct Operation {
  Op op;
  double (*run)(double a, double b, double c);
};
static constexpr Operation kOperations[] = {
    {Op::Add, [](double a, double b, double) { return a + b; }},
    {Op::Sub, [](double a, double b, double) { return a - b; }},
    {Op::Mul, [](double a, double b, double) { return a * b; }},
    {Op::Div, [](double a, double b, double) { return a / b; }},
    {Op::Mod, [](double a, double b, double) { return std::fmod(a, b); }},
    {Op::Neg, [](double a, double, double) { return -a; }},
    {Op::Max, [](double a, double b, double) { return a < b ? b : a; }},
    {Op::Exp, [](double a, double, double) { return std::exp(a); }},
    {Op::ExpNonPos, [](double a, double, double) { return std::exp(a); }},
    {Op::CmpLt, [](double a, double b, double) { return a < b ? 1.0 : 0.0; }},
    {Op::And, [](double a, double b, double) { return a != 0 && b != 0 ? 1.0 : 0.0; }},  // of conditions
    {Op::Where, [](double a, double b, double c) { return a != 0 ? b : c; }},
    {Op::MulAcc, [](double a, double b, double c) { return a * b + c; }},
};

static Instruction read_line(const std::string& line) {
  std::istringstream in(line);
  std::string to, equals, word, type;
  in >> to >> equals >> word >> type;
  Instruction made;
  made.to = std::stoi(to.substr(1));
  made.dtype = dtype_named(type).value();
  const auto known = std::ranges::find(kWords, word);
  const auto operation = std::ranges::find_if(kOperations, [&](const Operation& row) { return name_of(row.op) == word; });
  if (known == std::end(kWords) && operation == std::end(kOperations)) throw DeviceError("backend steps", "has no operation " + word);
  if (known != std::end(kWords)) made.kind = static_cast<Instruction::Kind>(known - kWords);
  if (operation != std::end(kOperations)) made.op = operation->op;
  std::string operand;
  for (int i = 0; in >> operand; i++) {
    if (made.kind == Instruction::Kind::Const)
      made.value = std::stod(operand);
    else
      made.from[i] = std::stoi(operand.substr(1));
  }
  return made;
}

class StepsCompiler : public Compiler {
 public:
  using Compiler::Compiler;
  std::string cachekey() const override { return "steps 1"; }
  std::string compile(const std::string& text) const override {
    Code code;
    std::vector<std::size_t> open;  // Loops and Ifs that have no End yet
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      code.push_back(read_line(line));
      const Instruction::Kind kind = code.back().kind;
      if (kind == Instruction::Kind::Loop || kind == Instruction::Kind::If) open.push_back(code.size() - 1);
      if (kind == Instruction::Kind::End) {
        code.back().jump = static_cast<std::int32_t>(open.back());
        code[open.back()].jump = static_cast<std::int32_t>(code.size() - 1);
        open.pop_back();
      }
    }
    return {reinterpret_cast<const char*>(code.data()), code.size() * sizeof(Instruction)};
  }
  std::string disassemble(const std::string&) const override { return ""; }  // the text says it all
};

// --- 3. What runs a binary: buffers are what the device's allocator hands out. Here that is the host's memory, so they are addresses.

static void run_code(const Code& code, std::span<void* const> buffers, std::span<const std::int32_t> values) {
  using enum Instruction::Kind;
  std::int32_t registers = 0;
  for (const Instruction& i : code) registers = std::max(registers, i.to + 1);
  std::vector<double> r(static_cast<std::size_t>(registers));
  const auto holds = [&](std::int32_t condition) { return condition < 0 || r[static_cast<std::size_t>(condition)] != 0; };
  for (std::size_t at = 0; at < code.size(); at++) {
    const Instruction& now = code[at];
    const auto reg = [&](int i) -> double& { return r.at(static_cast<std::size_t>(now.from[i])); };
    const auto buffer = [&] { return static_cast<std::byte*>(buffers[static_cast<std::size_t>(now.from[0])]); };
    double& to = r.at(static_cast<std::size_t>(now.to));
    switch (now.kind) {
      case Alu: {
        const auto row = std::ranges::find(kOperations, now.op, &Operation::op);
        const auto operand = [&](int i) { return now.from[i] < 0 ? 0 : reg(i); };
        to = Scalar::of_double(now.dtype, row->run(operand(0), operand(1), operand(2))).as_double();
        break;
      }
      case Const:
        to = now.value;
        break;
      case Variable:
        to = values[static_cast<std::size_t>(now.from[0])];
        break;
      case Copy:
        to = Scalar::of_double(now.dtype, reg(0)).as_double();
        break;
      case Load:  // under a condition, else another value
        to = holds(now.from[2]) ? load_scalar(now.dtype, buffer(), static_cast<std::int64_t>(reg(1))).as_double() : reg(3);
        break;
      case Store:
        if (holds(now.from[3])) store_scalar(now.dtype, buffer(), static_cast<std::int64_t>(reg(1)), Scalar::of_double(now.dtype, reg(2)));
        break;
      case Loop:
      case If:
        to = reg(0);
        if (now.kind == Loop ? to >= reg(1) : to == 0) at = static_cast<std::size_t>(now.jump);
        break;
      case End:
        if (const Instruction& begin = code[static_cast<std::size_t>(now.jump)]; begin.kind == Loop)
          if (++r[static_cast<std::size_t>(begin.to)] < r[static_cast<std::size_t>(begin.from[1])]) at = static_cast<std::size_t>(now.jump);
        break;
    }
  }
}

class StepsLibrary : public KernelLibrary {
 public:
  explicit StepsLibrary(const std::vector<std::string>& binaries) {
    for (const std::string& binary : binaries) {
      codes_.emplace_back(binary.size() / sizeof(Instruction));
      std::memcpy(codes_.back().data(), binary.data(), binary.size());
    }
  }
  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize&) const override {
    run_code(codes_.at(static_cast<std::size_t>(kernel)), buffers, values);
  }

 private:
  std::vector<Code> codes_;
};

// --- 4. The device, and its row. Compiled has the rest: memory, programs with their memory plan, runners, counters, the compiler's cache.

class StepsDevice : public Compiled {
 public:
  using Compiled::Compiled;
  bool available(std::string*) const override { return true; }
  std::string description() const override { return "one step after the other"; }
  std::shared_ptr<const Compiler> compiler() const override { return std::make_shared<StepsCompiler>(options().cache); }
  std::vector<std::string> texts_of(std::span<const ProgramKernel> kernels) const override {
    std::vector<std::string> texts;
    for (const ProgramKernel& kernel : kernels) texts.push_back(kernel.text.source);
    return texts;
  }
  std::shared_ptr<const KernelLibrary> load_binaries(const std::vector<std::string>& binaries,
                                                     std::span<const ProgramKernel>) const override {
    return std::make_shared<StepsLibrary>(binaries);
  }
};

static const DeviceRow kStepsDevice{.name = "steps", .language = &kSteps, .make = make_of<StepsDevice>};

// --- 5. Using it.

static void expect(bool holds, const char* claim) {
  if (holds) return;
  std::printf("this should hold: %s\n", claim);
  std::exit(1);
}

int main() {
  const auto language = languages().add(kSteps);  // as long as these two live
  const auto row = devices().add(kStepsDevice);
  std::printf("devices:");
  for (const std::string& name : device_names()) std::printf(" %s", name.c_str());

  // Tensors, and the text of their kernel.
  const std::shared_ptr<const Device> device = make_device("steps");
  Session session(device);
  TinyJit add(session, [](const std::vector<Tensor>& in) { return std::vector{(in[0] + in[1]).sum({0})}; });
  const Tensor y = session.from(Array::of_doubles(DType::Float32, {3}, std::vector<double>{10, 20, 30}));
  for (int call = 0; call < 3; call++) {
    const Tensor x = session.from(Array::of_doubles(DType::Float32, {3}, std::vector<double>{1, 2, 3.0 * call}));
    const Array sum = session.values(add({x, y}).at(0));
    expect(sum.double_at(0) == 63 + 3 * call, "it adds");
  }
  const auto& runner = dynamic_cast<const CompiledASTRunner&>(*add.jit_cache().items.at(0).prg);
  std::printf("\n\nthe sum of x + y, as the new backend has it:\n%s\n", runner.kernel().text.source.c_str());

  // A network from ONNX, with borders, pooling and a softmax, against the reference.
  GraphBuilder graph("net", 17);
  const auto x = graph.input("x", DType::Float32, {1, 2, 8, 8});
  const auto conv = graph.relu(graph.conv(x, "conv", 2, 4, {3, 3}, {1, 1}, {1, 1, 1, 1}));
  const GraphBuilder::Ints two{2, 2};
  const auto pooled = graph.node("Flatten", {graph.node("MaxPool", {conv}, {{"kernel_shape", two}, {"strides", two}})});
  graph.output(graph.node("Softmax", {graph.dense(pooled, "fc", 64, 5)}), DType::Float32, {1, 5});
  CompileOptions options;
  options.import.path = "net.onnx";
  options.import.bytes = graph.bytes();
  options.target = find_target("c99", target_dirs());  // scalar code
  const Frontend frontend = read_model(options);
  const Program program = lower_model(frontend, device->language(), options), reference = lower_model(frontend, nullptr, options);
  const auto sets = random_data_sets(frontend.model, 1);
  const auto expected = reference_outputs(reference, *make_reference_device(), sets);
  const BackendResult result = validate_backend(program, reference, *device, sets, expected, {});
  std::printf("net.onnx: %zu kernels, %s\n", program.kernels.size(), result.ok ? "the reference's results" : result.problem.c_str());
  expect(result.ok, "the network is right");
}
