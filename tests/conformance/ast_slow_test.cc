// The recorded kernels on every backend, against the outputs by brute force.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "conformance/ast.h"
#include "support/backends.h"

namespace etch {
namespace {

void none_wrong(const std::string& language) {
  std::vector<std::unique_ptr<Device>> devices;
  test::UsableDevice device = test::backend(language);
  if (!device) GTEST_SKIP() << device.why;
  devices.push_back(std::move(device.device));
  std::ifstream file(ETCH_TEST_DATA "/conformance/ast_cases.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  const ConformanceReport report = check_ast(cases, devices);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].agree, static_cast<std::int64_t>(cases.at("cases").size())) << to_text(report);
  EXPECT_FALSE(report.any_wrong()) << to_text(report);
}

TEST(KernelCases, Interp) { none_wrong("interp"); }
TEST(KernelCases, C) { none_wrong("c"); }
TEST(KernelCases, LLVM) { none_wrong("llvm"); }
TEST(KernelCases, CUDA) { none_wrong("cuda"); }
TEST(KernelCases, OpenCL) { none_wrong("opencl"); }

// The check itself: an output that is not the recorded one is found.
TEST(KernelCases, AChangedRecordIsWrong) {
  std::ifstream file(ETCH_TEST_DATA "/conformance/ast_cases.json");
  nlohmann::json cases = nlohmann::json::parse(file);
  nlohmann::json one = cases.at("cases").at(0);
  one.at("output_samples").at(0).at(1) = one.at("output_samples").at(0).at(1).get<double>() + 1e3;
  cases.at("cases") = nlohmann::json::array({one});
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(test::backend("interp").device);
  EXPECT_TRUE(check_ast(cases, devices).any_wrong());
}

}  // namespace
}  // namespace etch
