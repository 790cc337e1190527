// For tests of jit/: each on every backend that this machine has.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "jit/session.h"
#include "support/device_checks.h"
#include "support/usable.h"

namespace etch::test {

class JitBackends : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    DeviceOptions options;
    options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
    options.of<CudaOptions>().device = "cpu";
    options.of<CudaOptions>().flags = {"-std=c++17", "-O1"};
    options.of<COptions>().flags = {"-std=gnu11", "-O1"};
    options.counters = counters_;
    device_ = make_device(GetParam(), options);
    if (const std::string why = why_not(*device_); !why.empty()) GTEST_SKIP() << why;
    session_ = std::make_unique<Session>(device_);
  }
  Session& session() { return *session_; }
  /// Realized floats.
  Tensor floats(const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
    return session_->from(test::floats(shape, values));
  }
  std::vector<double> doubles(const Tensor& tensor) { return session_->values(tensor).doubles(); }
  /// Runs of kernels since the last call.
  std::int64_t kernels_run() {
    const std::int64_t now = counters_->values().kernel_count, before = kernels_;
    kernels_ = now;
    return now - before;
  }

  std::shared_ptr<GlobalCounters> counters_ = std::make_shared<GlobalCounters>();
  std::shared_ptr<const Device> device_;
  std::unique_ptr<Session> session_;

 private:
  std::int64_t kernels_ = 0;
};

inline std::string name_of_backend(const testing::TestParamInfo<std::string>& row) { return row.param; }
inline auto all_backends() { return testing::Values("interp", "c", "llvm", "opencl", "cuda"); }
#ifdef ETCH_FURTHER_BACKENDS
inline auto most_backends() { return testing::Values("opencl", "cuda"); }
#else
inline auto most_backends() { return testing::Values("interp", "c", "llvm"); }
#endif

inline void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
}

}  // namespace etch::test
