// An error that is planted in one kernel is found there, and named with the ONNX nodes that the kernel computes.
#include <gtest/gtest.h>

#include "device/device.h"
#include "driver/compile.h"
#include "models/zoo.h"
#include "program/generate.h"
#include "renderer/language.h"
#include "validate/validate.h"

namespace etch {
namespace {

TEST(PlantedError, is_named_by_kernel_and_nodes) {
  CompileOptions options;
  options.import.path = "lenet.onnx";
  options.import.bytes = zoo_bytes(zoo_model("lenet"));
  options.target = find_target("host", ETCH_SOURCE_DIR "/targets");
  options.winograd = Winograd::Off;  // the same calls on every host
  const Frontend frontend = read_model(options);
  DeviceOptions device_options;
  device_options.of<COptions>().flags = {"-std=gnu11", "-O0"};
  const auto interp = make_reference_device(), c = make_device("c", device_options);
  const Program reference = lower_model(frontend, nullptr, options);
  const std::vector<DataSet> sets = random_data_sets(frontend.model, 1);
  const auto outputs = reference_outputs(reference, *interp, sets);

  const Program good = lower_model(frontend, &kC, options);
  const BackendResult right = validate_backend(good, reference, *c, sets, outputs, {});
  EXPECT_TRUE(right.ok) << right.problem;
  EXPECT_FALSE(right.culprit);

  ASSERT_EQ(good.calls.size(), 9u);
  for (std::size_t call = 0; call < good.calls.size(); call++) {
    Program bad = good;
    // The call gets a kernel of its own, which at its end makes the first element of its output wrong.
    ProgramKernel kernel = bad.kernels[static_cast<std::size_t>(bad.calls[call].kernel)];
    const std::string before = kernel.name;
    kernel.name += "_spoilt";
    const auto name = kernel.text.source.find(before + "(");
    ASSERT_NE(name, std::string::npos);
    kernel.text.source.replace(name, before.size(), kernel.name);
    const auto end = kernel.text.source.rfind('}');
    kernel.text.source.insert(end, "  ((float *)arg[0])[0] = 1e30f;\n");
    bad.calls[call].kernel = static_cast<int>(bad.kernels.size());
    bad.kernels.push_back(kernel);
    const BackendResult result = validate_backend(bad, reference, *c, sets, outputs, {});
    EXPECT_FALSE(result.ok) << "call " << call;
    ASSERT_TRUE(result.culprit) << "call " << call << ": " << result.problem;
    EXPECT_EQ(result.culprit->call, static_cast<int>(call));
    EXPECT_EQ(result.culprit->kernel, kernel.name);
    EXPECT_EQ(result.culprit->nodes, good.calls[call].nodes);
    EXPECT_FALSE(result.culprit->nodes.empty());
  }
}

}  // namespace
}  // namespace etch
