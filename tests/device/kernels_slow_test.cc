// Generated kernels on OPENCL: random chains of OptOps on the conformance kernels, and every operation for every type.
#include <gtest/gtest.h>

#include <cmath>

#include "device/device.h"
#include "interp/interp.h"
#include "renderer/generate.h"
#include "support/ast_cases.h"
#include "support/op_cases.h"
#include "support/opt_chain.h"

namespace etch {
namespace {

struct Launch {
  const LazyOp* store;
  std::int64_t size;
  std::vector<Array> inputs;
  CodegenOptions options;
};

// One program of independent calls, one kernel each; inputs are constants.
Program program_of(const std::vector<Launch>& runs) {
  Program program;
  program.language = "opencl";
  for (std::size_t r = 0; r < runs.size(); r++) {
    const Launch& run = runs[r];
    const std::string name = "k" + std::to_string(r);
    KernelNames names{name, {"out"}};
    std::vector<Sint> elements{run.size};
    ProgramKernel kernel;
    ProgramCall call;
    call.kernel = static_cast<int>(r);
    call.may_alias.resize(run.inputs.size() + 1);
    call.buffers = {static_cast<int>(program.buffers.size())};
    kernel.arg_dtypes = {run.store->dtype};
    program.outputs.push_back(call.buffers[0]);
    program.buffers.push_back({name, BufferKind::Output, run.store->dtype, {run.size}, run.size, {}});
    for (std::size_t i = 0; i < run.inputs.size(); i++) {
      const Array& input = run.inputs[i];
      call.buffers.push_back(static_cast<int>(program.buffers.size()));
      program.buffers.push_back({name + "_" + std::to_string(i), BufferKind::Constant, input.dtype(), {input.size()}, input.size(), input});
      names.args.push_back("in" + std::to_string(i));
      elements.emplace_back(input.size());
      kernel.arg_dtypes.push_back(input.dtype());
    }
    GeneratedKernel made = generate_kernel(run.store, elements, std::vector<bool>(elements.size()), names, run.options);
    kernel.name = name;
    kernel.ast = run.store;
    kernel.source = std::move(made.source);
    kernel.global_size = std::move(made.global_size);
    kernel.local_size = std::move(made.local_size);
    kernel.helpers = std::move(made.helpers);
    program.kernels.push_back(std::move(kernel));
    program.calls.push_back(std::move(call));
  }
  return program;
}

std::unique_ptr<Device> device_or_skip() {
  DeviceOptions options;
  options.opencl_program = ETCH_BUILD_DIR "/etch-opencl";
  options.prelude = prelude("opencl", {"all"});
  auto device = make_device("opencl", options);
  std::string why;
  if (device->available(&why)) return device;
  std::cout << "skipped, no OpenCL: " << why << "\n";
  return nullptr;
}

CodegenOptions opencl_options() {
  CodegenOptions options;
  options.language = "opencl";
  options.has_local = true;
  return options;
}

Array reference(const LazyOp* store, const std::vector<Array>& inputs) {
  std::vector<const Array*> pointers;
  for (const Array& a : inputs) pointers.push_back(&a);
  return interp_evaluate(store, pointers);
}

TEST(OpenClKernels, RandomChains) {
  const auto device = device_or_skip();
  if (!device) GTEST_SKIP();
  LazyOps ops;
  const auto cases = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  std::mt19937 rng(3);
  for (int batch = 0; batch < 6; batch++) {
    std::vector<Launch> runs;
    std::vector<std::size_t> which;
    std::vector<std::string> chains;
    while (runs.size() < 50) {
      const std::size_t i = std::uniform_int_distribution<std::size_t>(0, cases.size() - 1)(rng);
      if (cases[i].output_size > 20000) continue;  // PoCL takes long for many small work-groups
      CodegenOptions options = opencl_options();
      options.opts = test::random_opt_chain(cases[i].store, rng, options, 16);
      std::string text = cases[i].id;
      for (const Opt& o : *options.opts) text += ", " + to_text(o);
      chains.push_back(text);
      which.push_back(i);
      runs.push_back({cases[i].store, cases[i].output_size, cases[i].inputs, options});
    }
    const Program program = program_of(runs);
    const std::vector<Array> outputs = device->load(program)->run({});
    for (std::size_t r = 0; r < runs.size(); r++) {
      const test::AstCase& c = cases[which[r]];
      const Array want = reference(c.store, c.inputs);
      const double mean = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
      const double scale = std::isfinite(mean) ? mean : 1.0;
      for (std::int64_t e = 0; e < want.size(); e++) {
        const double g = outputs[r].double_at(e), w = want.double_at(e);
        if (g == w || (std::isnan(g) && std::isnan(w))) continue;
        ASSERT_LE(std::fabs(g - w), 2e-3 * std::fabs(w) + 2e-4 * scale) << chains[r] << " element " << e << "\n"
                                                                        << program.kernels[r].source;
      }
    }
  }
}

TEST(OpenClKernels, EveryOperationForEveryType) {
  const auto device = device_or_skip();
  if (!device) GTEST_SKIP();
  LazyOps ops;
  const std::vector<test::OpCase> cases = test::op_cases(ops, false);
  std::vector<Launch> runs;
  for (const test::OpCase& c : cases) runs.push_back({c.ast, test::kOpCaseSize, c.inputs, opencl_options()});
  const Program program = program_of(runs);
  const std::vector<Array> outputs = device->load(program)->run({});
  for (std::size_t r = 0; r < runs.size(); r++) {
    // OpenCL allows its functions more than C libraries take: 16 units in the last place for pow, 5 for tan.
    const double tolerance = cases[r].ast->dtype == DType::Float64 ? 4 * cases[r].tolerance : 2 * cases[r].tolerance;
    EXPECT_EQ(test::difference(cases[r], outputs[r], reference(cases[r].ast, cases[r].inputs), tolerance), "") << program.kernels[r].source;
  }
}

}  // namespace
}  // namespace etch
