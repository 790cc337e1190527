// Recurrent operators that multiply inputs ahead, against the definition, and for which targets they do.
#include "support/recurrent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/horizontal.h"
#include "driver/compile.h"
#include "memory/plan.h"
#include "onnx/import.h"
#include "program/lower.h"
#include "program/program.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/instructions.h"

namespace etch {
namespace {

// Each step multiplies a part of the inputs of the next four beside its state, in one kernel.
TEST(RecurrentAhead, InputsOfTheNextStepsAreMultipliedBesideTheState) {
  const auto device = test::backend("c", true);
  if (!device) GTEST_SKIP() << device.why;
  const auto expect_ahead = [&](test::RecurrentOptions o, bool is_ahead = true) {
    o.largest = 0.125;  // else many units forget nothing, and errors grow
    test::KnownModel known = test::known_model(o);
    if (!o.lengths) known.model.inputs[4] = Array();
    ImportOptions import;
    import.bytes = test::bytes_of(known.model);
    import.name = "n";
    import.target.fit_together = [](const TwoProducts& p) { return run_together(p.length, p.other_length); };
    const ImportedModel imported = import_onnx(import);
    std::vector<OutputSpec> outputs;
    for (const ImportedTensor& t : imported.outputs) outputs.push_back({t.name, t.tensor});
    LowerOptions how;
    how.language = &kC;
    how.codegen = test::options_for(kC);
    how.codegen.vector_bits = 256;
    how.codegen.cache_bytes = 1 << 20;
    ScheduleOptions schedule;
    schedule.fuses_horizontally = true;
    const Program program = reorder(lower(imported.graph, create_schedule(*imported.graph, outputs, schedule), how));
    const auto is_fused = [](const ProgramKernel& k) { return second_tree(k.ast) != nullptr; };
    EXPECT_EQ(std::ranges::count_if(program.kernels, is_fused), !is_ahead ? 0 : o.bidirectional ? 2 : 1) << o.op << to_text(program);
    const std::vector<Array> got = device->load(program)->run({known.model.inputs[0]});
    for (std::size_t i = 0; i < got.size(); i++)
      EXPECT_EQ(test::difference(got[i], known.wanted[i], 1e-5, 1e-5), "") << o.op << " output " << i;
  };
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    const std::int64_t units = op == std::string("LSTM") ? 64 : op == std::string("GRU") ? 96 : 128;
    expect_ahead({.op = op, .steps = 24, .batch = 1, .inputs = 32, .units = units});
    expect_ahead({.op = op, .bidirectional = true, .steps = 28, .batch = 1, .inputs = units, .units = units});
    expect_ahead({.op = op, .reverse = true, .lengths = true, .clip = 0.3, .steps = 24, .batch = 1, .inputs = 2 * units, .units = units});
    expect_ahead({.op = op, .steps = 20, .batch = 1, .inputs = 32, .units = units}, false);  // few steps
    expect_ahead({.op = op, .steps = 24, .batch = 2, .inputs = 32, .units = units}, false);  // two rows
    expect_ahead({.op = op, .steps = 24, .batch = 1, .inputs = 20, .units = units}, false);  // sums of unlike length
  }
  expect_ahead({.op = "GRU", .reset_after = true, .steps = 24, .batch = 1, .inputs = 96, .units = 96});
  expect_ahead({.op = "LSTM", .peepholes = true, .input_forget = true, .steps = 24, .batch = 1, .inputs = 64, .units = 64});
}

// What the compiler makes of an LSTM for a target.
Program compiled(const char* target, std::int64_t units, const std::function<void(CompileOptions&)>& change = {}) {
  CompileOptions options;
  options.import.bytes = test::bytes_of(test::known_model({.op = "LSTM", .steps = 48, .batch = 1, .inputs = 64, .units = units}).model);
  options.import.name = "net";
  options.target = test::target_named(target);
  if (change) change(options);
  return lower_model(read_model(options), &language_of(options.target), options);
}

bool is_ahead(const Program& program) {
  return std::ranges::any_of(program.kernels, [](const ProgramKernel& k) { return second_tree(k.ast) != nullptr; });
}

TEST(RecurrentAhead, WhereVectorsWaitForWeights) {
  for (const char* target : {"x86-64-v4", "host"}) EXPECT_TRUE(is_ahead(compiled(target, 128))) << target;
  EXPECT_FALSE(is_ahead(compiled("x86-64-v4", 32))) << "16 KB of weights are in the first cache";
  EXPECT_FALSE(is_ahead(compiled("x86-64-v4", 256))) << "1 MB leaves no room in the second one";
  for (const char* target : {"cortex-a53", "cortex-m4f", "c99", "opencl"}) EXPECT_FALSE(is_ahead(compiled(target, 128))) << target;
  EXPECT_FALSE(is_ahead(compiled("x86-64-v4", 128, [](CompileOptions& o) { o.workers = 2; })));
  EXPECT_FALSE(is_ahead(compiled("x86-64-v4", 128, [](CompileOptions& o) { o.overlap = true; })));
  EXPECT_FALSE(is_ahead(compiled("x86-64-v4", 128, [](CompileOptions& o) { o.optimize = false; })));
}

TEST(RecurrentAhead, TheSumsAndTheLoopsThatTheyRunIn) {
  const Program program = compiled("x86-64-v4", 128);
  const auto kernel = std::ranges::find_if(program.kernels, [](const ProgramKernel& k) { return second_tree(k.ast) != nullptr; });
  ASSERT_NE(kernel, program.kernels.end());
  EXPECT_EQ(kernel->opts, "VECTOR 0 16, UPCAST 0 8, UNROLL 0 2, ZIGZAG; beside it: VECTOR 1 16, UPCAST 0 0, UPCAST 0 2, ZIGZAG");
  EXPECT_EQ(std::ranges::count(kernel->code.order, UOpKind::Loop, &UOp::uop), 2) << kernel->text.source;
}

}  // namespace
}  // namespace etch
