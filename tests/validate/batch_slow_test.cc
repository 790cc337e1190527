// A dimension that stays variable: one program is right for every value of the range on every backend. The expected values come
// from the same network with a batch of one, run sample by sample.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "device/device.h"
#include "driver/compile.h"
#include "models/zoo.h"
#include "onnx/tensor_file.h"
#include "renderer/cstyle.h"
#include "validate/compare.h"
#include "validate/data_set.h"

namespace etch::batch_slow_test {
namespace {

CompileOptions options_for(const std::string& model, std::int64_t min, std::int64_t max) {
  CompileOptions options;
  options.import.path = model + ".onnx";
  options.import.bytes = zoo_bytes(zoo_model(model));
  options.import.dims = {{"batch", min, max}};
  options.target = find_target("host", ETCH_SOURCE_DIR "/targets");
  options.tool_version = "test";
  return options;
}

DeviceOptions device_options() {
  DeviceOptions options;
  options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
  options.of<COptions>().flags = {"-std=gnu11", "-O1"};
  options.guards = true;
  return options;
}

// Rows of `whole` along its first axis.
Array row_of(const Array& whole, std::int64_t row) {
  std::vector<std::int64_t> shape = whole.shape();
  const auto bytes = static_cast<std::int64_t>(whole.bytes().size()) / shape[0];
  shape[0] = 1;
  std::vector<std::byte> part(static_cast<std::size_t>(bytes));
  std::memcpy(part.data(), whole.bytes().data() + row * bytes, part.size());
  return {whole.dtype(), shape, std::move(part)};
}

class Batch : public testing::TestWithParam<const char*> {};

TEST_P(Batch, one_program_serves_every_size) {
  const CompileOptions one = options_for(GetParam(), 1, 1), many = options_for(GetParam(), 1, 16);
  const Frontend single = read_model(one), frontend = read_model(many);
  ASSERT_EQ(frontend.model.dims.size(), 1u);
  const auto interp = make_reference_device();
  const Program reference = lower_model(single, nullptr, one);
  const auto oracle = interp->load(reference);
  const std::vector<DataSet> sets = random_data_sets(frontend.model, 7);
  ASSERT_EQ(sets.size(), 16u);
  for (const std::string& name : device_names()) {
    const auto device = make_device(name, device_options());
    std::string why;
    if (!device->available(&why)) {
      std::printf("SKIPPED: %s: %s\n", name.c_str(), why.c_str());
      continue;
    }
    const Program program = lower_model(frontend, device->language(), many);
    for (const ProgramKernel& kernel : program.kernels)
      EXPECT_TRUE(device->language() == nullptr || kernel.indices_proved > 0) << kernel.name;
    const auto loaded = device->load(program);
    for (const DataSet& set : sets) {
      const std::vector<Array> got = loaded->run(set.inputs, set.vars);
      for (std::int64_t row = 0; row < set.inputs[0].shape()[0]; row++) {
        const std::vector<Array> want = oracle->run({row_of(set.inputs[0], row)});
        const Comparison c = compare(row_of(got[0], row), want[0]);
        EXPECT_TRUE(c.ok) << name << ", " << set.name << ", sample " << row << ": " << c.problem;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Batch, testing::Values("mlp_batch", "lenet_batch"));

TEST(Batch, the_emitted_function_takes_the_size) {
  for (const char* model : {"mlp_batch", "lenet_batch"}) {
    const CompileOptions options = options_for(model, 1, 16);
    const Frontend frontend = read_model(options);
    const CompiledProject project = compile_project(frontend, options);
    EXPECT_EQ(project.program.variables.size(), 1u);
    const auto header = std::ranges::find_if(project.files, [&](const EmittedFile& f) { return f.name == std::string(model) + ".h"; });
    ASSERT_NE(header, project.files.end());
    EXPECT_NE(header->text.find("int32_t batch"), std::string::npos) << header->text;
  }
}

}  // namespace
}  // namespace etch::batch_slow_test
