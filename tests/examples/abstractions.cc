// abstractions: 2 + 3 through every layer of etch, from a Tensor down to the C that adds two numbers, and two things that all layers rest
// on, views and symbolic integers. Read it from top to bottom, beside what it prints (abstractions.txt).
//
//   Tensor -> LazyBuffer -> schedule -> LazyOp -> UOps -> text -> a loaded kernel, run on Buffers of a Device
#include <cstdio>
#include <cstdlib>

#include "etch.h"

using namespace etch;

// Every claim below is checked, not only printed.
static void expect(bool holds, const char* claim) {
  if (holds) return;
  std::printf("this should hold: %s\n", claim);
  std::exit(1);
}

static void title(const char* text) { std::printf("\n=== %s\n", text); }

static Array number(double value) { return Array::of_doubles(DType::Float32, {1}, std::vector{value}); }

// --- Tensor. A Session has a device, and realizes tensors on it. Nothing is computed until somebody wants values.

static void tensors(const std::string& device) {
  Session session(make_device(device));
  const Tensor two = session.from(number(2)), three = session.from(number(3));
  const Tensor sum = two + three;

  // `sum` is a LazyBuffer: an operation and its sources, both realized. It has no memory of its own yet.
  expect(Session::realized(two) != nullptr, "what comes from the caller is in the device's memory");
  expect(Session::realized(sum) == nullptr, "a sum is lazy");
  std::printf("%s", to_text({sum.buffer()}).c_str());

  // Wanting its values runs one kernel and stores the result beside the tensor.
  const double value = session.values(sum).double_at(0);
  std::printf("on %s: 2 + 3 = %g\n", device.c_str(), value);
  expect(value == 5, "2 + 3 is 5");
  expect(Session::realized(sum) != nullptr, "it is realized now");
}

// --- The schedule. What is wanted is cut into kernels: each is an AST, a LazyOp.

static void schedules() {
  Session session(make_device("interp"));
  const Tensor two = session.from(number(2)), three = session.from(number(3));
  const Schedule schedule = create_schedule(session.graph(), {{"sum", two + three}});
  expect(schedule.items.size() == 1, "one addition is one kernel");
  std::printf("%s", to_text(schedule).c_str());
}

// --- Device and Buffer. The lowest layer knows nothing of tensors: memory, a compiler, and kernels that get pointers. So a program may as
// well be written by hand: kernels in C get a table of their buffers.

static void raw_buffers() {
  const auto device = make_device("c");
  const auto& compiled = dynamic_cast<const Compiled&>(*device);
  const Buffer two = Buffer::fromCPU(*device, number(2)), three = Buffer::fromCPU(*device, number(3));
  const Buffer sum(*device, 1, DType::Float32);

  ProgramKernel by_hand;
  by_hand.name = "add";
  by_hand.text.source =
      "static void add(void *const *arg) {\n"
      "  *(float *)arg[0] = *(const float *)arg[1] + *(const float *)arg[2];\n"
      "}\n";
  const std::vector<std::string> texts = compiled.texts_of({&by_hand, 1});  // the file around it
  const std::string binary = compiled.compiler()->compile(texts.at(0));     // a shared object
  const LoadedKernel add(compiled.load_binaries({binary}, {&by_hand, 1}), 0);
  add(std::vector{sum.opaque(), two.opaque(), three.opaque()}, {}, {}, true);

  std::printf("%sgives %g\n", by_hand.text.source.c_str(), sum.toCPU().double_at(0));
  expect(sum.toCPU() == number(5), "a program by hand adds, too");
}

// --- LazyOp. The same kernel as an AST: loads of buffers 1 and 2, an addition, a store into buffer 0. It is what the scheduler made above.
// The reference evaluates the AST itself; all other devices run a kernel that is made of it, on the same Buffers.

static void lazyops() {
  LazyOps ops;
  const ShapeTracker one = ShapeTracker::from_shape({1});
  const LazyOp* a = ops.load(1, DType::Float32, one);
  const LazyOp* b = ops.load(2, DType::Float32, one);
  const LazyOp* ast = ops.store(0, ops.elementwise(Op::Add, {a, b}), one);
  expect(ops.load(1, DType::Float32, one) == a, "equal nodes are the same node");
  std::printf("%s", to_tree(ast).c_str());

  for (const char* name : {"interp", "c"}) {
    const auto device = make_device(name);
    const Buffer sum(*device, 1, DType::Float32), two = Buffer::fromCPU(*device, number(2)), three = Buffer::fromCPU(*device, number(3));
    const auto runner = device->get_runner(ast);
    runner->exec({&sum, &two, &three}, {});
    std::printf("on %s: %g, by %s operation on %s bytes\n", name, sum.toCPU().double_at(0), to_text(runner->op_estimate()).c_str(),
                to_text(runner->mem_estimate()).c_str());
    expect(sum.toCPU() == number(5), "an AST runs on buffers");
    expect(runner == device->get_runner(ast), "an AST is compiled once");
  }

  // Between the AST and the text stand the UOps: the steps of the kernel, in order, each referring to those before.
  const CodegenOptions options;
  const Kernel kernel(ast, options);
  const LinearKernel steps = linearize_kernel(kernel, signature_of(ast, "c").arguments, kC);
  std::printf("\n%s", to_text(steps.linear.uops).c_str());
}

// --- TinyJit. What a function on tensors runs is recorded, and later calls replay it: no graph, no schedule, no compiler. The recording is
// a list of runners with their buffers, so the source of the kernel that adds is in it.

static void jit() {
  Session session(make_device("c"));
  TinyJit add(session, [](const std::vector<Tensor>& in) { return std::vector{in[0] + in[1]}; });
  for (const double value : {2.0, 20.0, 200.0}) {
    const Tensor sum = add({session.from(number(value)), session.from(number(3))}).at(0);
    std::printf("call %d: %g + 3 = %g, kernels recorded: %zu\n", add.count() - 1, value, session.values(sum).double_at(0),
                add.jit_cache().items.size());
    expect(session.values(sum) == number(value + 3), "every call adds what it is given");
  }
  const auto& runner = dynamic_cast<const CompiledASTRunner&>(*add.jit_cache().items.at(0).prg);
  std::printf("%s", runner.kernel().text.source.c_str());
}

// --- Views. Movement never copies: a ShapeTracker says where in the buffer the element at some index is. It holds several views where one
// is not enough, and the mask of a padded one.

static void views() {
  const ShapeTracker rows = ShapeTracker::from_shape({4, 3});
  const ShapeTracker columns = rows.permute({1, 0});
  const ShapeTracker flat = columns.reshape({12});            // of a transposed matrix: no single view can say this
  const ShapeTracker padded = columns.pad({{0, 0}, {1, 1}});  // elements that are read as 0
  const ShapeTracker windows = ShapeTracker::from_shape({12}).stride({-2}).shrink({{1, 5}});
  for (const auto& [name, st] :
       {std::pair("4x3", rows), {"transposed", columns}, {"as 12", flat}, {"padded", padded}, {"backwards", windows}})
    std::printf("%-11s %s\n", name, st.to_text().c_str());

  // The same by pointers: element (i, j) of the transposed matrix is element (j, i) of the matrix.
  for (std::int64_t i = 0; i < 3; i++)
    for (std::int64_t j = 0; j < 4; j++) {
      expect(columns.expr_idxs({i, j}).idx == Sint(j * 3 + i), "a transposed matrix");
      expect(flat.expr_idxs({i * 4 + j}).idx == Sint(j * 3 + i), "its elements in a row");
      expect(padded.expr_idxs({i, j + 1}).idx == Sint(j * 3 + i), "with a border around it");
    }
  expect(padded.expr_idxs({1, 0}).valid == Sint(0), "a border is not read");
  for (std::int64_t i = 0; i < 4; i++) expect(windows.expr_idxs({i}).idx == Sint(11 - 2 * (i + 1)), "from the end, every second one");
}

// --- Symbolic integers. Loop counters and sizes that are known only when a program runs are Variables with bounds. Every operation
// simplifies, so that little arithmetic is left in the emitted code, and bounds prove that no index leaves its buffer.

static void symbols() {
  Symbols all;
  const Sint a = all.variable("a", 0, 9), b = all.variable("b", 0, 5);
  const Sint sum = a + b * 10;
  const std::vector<std::pair<const char*, Sint>> rows{{"a + b * 10", sum},
                                                       {"(a + b * 10) % 10", floormod(sum, 10)},
                                                       {"(a + b * 10) / 10", floordiv(sum, 10)},
                                                       {"(a * 6 + b) / 6", floordiv(a * 6 + b, 6)},
                                                       {"(a * 4 + b) % 4", floormod(a * 4 + b, 4)},
                                                       {"a + b * 10 < 60", lt(sum, 60)}};
  for (const auto& [name, x] : rows)
    std::printf("%-18s = %-12s in %lld to %lld\n", name, to_text(x).c_str(), static_cast<long long>(x.min()),
                static_cast<long long>(x.max()));
  expect(floormod(sum, 10) == a && floordiv(sum, 10) == b, "digits are found");

  for (std::int64_t i = 0; i <= 9; i++)
    for (std::int64_t j = 0; j <= 5; j++) {
      const std::int64_t s = i + j * 10, want[] = {s, s % 10, s / 10, (i * 6 + j) / 6, (i * 4 + j) % 4, s < 60};
      for (std::size_t k = 0; k < rows.size(); k++)
        expect(evaluate(rows[k].second, {{"a", i}, {"b", j}}) == want[k], "what is simplified has the same value");
    }

  // A size may be a Variable, too: one kernel then serves every batch.
  const Sint n = all.variable("n", 1, 16);
  const ShapeTracker batch = ShapeTracker::from_shape({n, 3}).permute({1, 0});
  std::printf("%-18s = %s\n", "n x 3, transposed", batch.to_text().c_str());
  expect(proves_less(batch.expr_idxs({2, n - 1}).idx, n * 3), "its last element is inside, whatever n is");
}

int main() {
  title("Tensor: 2 + 3, lazily");
  tensors("interp");
  tensors("c");
  title("Schedule: one kernel");
  schedules();
  title("Buffers: a program by hand");
  raw_buffers();
  title("LazyOp: the kernel as a tree, and its UOps");
  lazyops();
  title("TinyJit: the same, recorded");
  jit();
  title("Views: movement is free");
  views();
  title("Symbolic integers");
  symbols();
}
