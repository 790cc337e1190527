// Projects with kernels in OpenCL C: the emitted files, and their results.
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "emit/device_sizes.h"
#include "opencl_build.h"
#include "shape/c_expression.h"
#include "support/expect_error.h"
#include "support/needs.h"

namespace etch::opencl_test {
namespace {

using namespace test;

// --- what is emitted

TEST(OpenCLFiles, PassTheAuditAndAreTheSameEveryTime) {
  expect_audited_and_the_same("opencl", "ds_cnn",
                              {"ds_cnn.h", "ds_cnn.c", "ds_cnn.cl", "ds_cnn_kernels.c", "ds_cnn_weights.c", "etch_opencl.c", "selftest.c",
                               "CMakeLists.txt", "report.txt", "report.json"});
}

TEST(OpenCLFiles, OfBytesPassTheAudit) { expect_audited_and_the_same("opencl", "lenet", {"lenet.c", "lenet.cl", "report.json"}, true); }

TEST(OpenCLFiles, ModelNeedsNoOpenCLHeaders) {
  for (const EmittedFile& f : project("opencl", "lenet", WeightsForm::C))
    EXPECT_EQ(f.text.find("<CL/cl.h>") != std::string::npos, f.name == "etch_opencl.c" || f.name == "selftest.c") << f.name;
}

TEST_F(OpenCL, CompilesWithoutWarnings) {
  const TempDir temp;
  put(temp.path() / "net", project("opencl", "ds_cnn", WeightsForm::C));
  put(temp.path() / "scaler", scaler());
  std::vector<std::string> files;
  for (const char* name : {"net", "scaler"})
    for (const std::string& file : c_files(temp.path() / name)) files.push_back(name + ("/" + file));
  const std::string strict = " -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only";
  for (const std::string compiler : {"gcc -std=c99 -DETCH_PROFILE=1", "gcc -std=c99 -DETCH_CHECK_ARGUMENTS=0 -DETCH_STATUS_TEXT=0",
                                     "clang-19 -std=c99", "clang-19 -std=c99 -DETCH_PROFILE=1", "g++ -x c++ -std=c++11 -DETCH_PROFILE=1"}) {
    if (!find_program(split(compiler)[0])) {
      std::printf("not installed, so not tried: %s\n", compiler.c_str());
      continue;
    }
    const ProcessResult r = run_opencl(temp.path(), compiler + strict, files);
    EXPECT_TRUE(r.ok()) << compiler << "\n" << r.err;
  }
}

// --- what it computes

TEST_F(OpenCL, NetworksPassTheirSelfTest) {
  const struct {
    const char *name, *arguments;
    WeightsForm weights;
    bool in_bytes = false;
  } rows[] = {
      {"ds_cnn", "", WeightsForm::C},
      {"lenet", "", WeightsForm::C, true},
      {"lenet", "", WeightsForm::Incbin},
      {"lenet", " lenet_weights.bin", WeightsForm::Blob},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.name) + row.arguments);
    const TempDir temp;
    put(temp.path(), project("opencl", row.name, row.weights, row.in_bytes));
    const ProcessResult built = build(temp.path());
    ASSERT_TRUE(built.ok()) << built.err;
    const ProcessResult ran = run_opencl(temp.path(), "./test" + std::string(row.arguments));
    EXPECT_EQ(ran.out, "PASS\n") << describe(ran) << ran.err;
  }
}

TEST_F(OpenCL, TheDriverChoosesTheWorkGroups) {
  const std::vector<EmittedFile> files = scaler(without_groups(batch_program_opencl()));
  EXPECT_NE(text_in(files, "scaler.c").find("{0, 0, 0}}"), std::string::npos);
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path());
  ASSERT_TRUE(built.ok()) << built.err;
  const ProcessResult ran = run_opencl(temp.path(), "./test");
  EXPECT_EQ(ran.out, "PASS\n") << describe(ran) << ran.err;
}

TEST_F(OpenCL, SelfTestFailsWhereSomethingIsWrong) {
  const struct {
    const char *file, *from, *to, *says;
  } rows[] = {
      {"scaler_kernels.c", "in[i] + 1.0f", "in[i] + 1.5f", "FAIL y["},
      {"selftest.c", "expected_y[160] = {\n  ", "expected_y[160] = {\n  1", "FAIL y["},
      {"scaler_kernels.c", "2.0f * in[i]", "2.0f * undeclared", "FAIL status 12"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.to);
    std::vector<EmittedFile> files = scaler();
    replace(files, row.file, row.from, row.to);
    const TempDir temp;
    put(temp.path(), files);
    ASSERT_TRUE(build(temp.path()).ok());
    const ProcessResult ran = run_opencl(temp.path(), "./test");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.out.find(row.says), std::string::npos) << ran.out;
    const bool refused = std::string(row.says) == "FAIL status 12";
    EXPECT_EQ(ran.out.find("undeclared") != std::string::npos, refused) << "the build log is printed\n" << ran.out;
  }
}

TEST_F(OpenCL, BuildsByCMake) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  put(temp.path(), project("opencl", "lenet", WeightsForm::Blob));
  expect_cmake_passes([&](const std::string& command) { return run_opencl(temp.path(), command); });
}

// Several values in one session, and a second session on an out-of-order queue.
TEST_F(OpenCL, OneProjectForEveryBatch) {
  BatchModel model("opencl");
  set_selftest(model.files, std::string(kMain) + "#include \"model.h\"\n" + kRunBatch + R"c(
int main(int argc, char **argv) {
  static model_session sessions[2];
  int s, a;
  if (!make() || model_open(&sessions[0], context, device, queue) != ETCH_OK) return 2;
  if (model_open(&sessions[1], context, device, wild != NULL ? wild : queue) != ETCH_OK) return 3;
  for (a = 1; a < argc; a++) {
    for (s = 0; s < 2; s++) run_batch(&sessions[s], atoi(argv[a]));
  }
  return model_close(&sessions[0]) == ETCH_OK && model_close(&sessions[1]) == ETCH_OK ? 0 : 4;
}
)c");
  const TempDir temp;
  put(temp.path(), model.files);
  const ProcessResult built = build(temp.path(), "-Wno-unused-function -fsanitize=undefined");
  ASSERT_TRUE(built.ok()) << built.err;
  const ProcessResult ran = run_opencl(temp.path(), "./test", kBatches);
  ASSERT_TRUE(ran.ok()) << describe(ran) << ran.err;
  expect_batches(model, ran.out);
}

// --- sizes

TEST(OpenCLSizes, ExpressionsInCHaveTheValueOfTheSize) {
  if (const std::string why = test::missing({"gcc"}); !why.empty()) GTEST_SKIP() << why;
  Program p = batch_program_opencl();
  Symbols symbols;
  const Sint batch = symbols.variable("batch", 1, 8);
  const std::vector<Sint> sizes{batch,
                                batch * 3 + 2,
                                floordiv(batch * 5 + 3, 4),
                                floormod(batch * 7, 5),
                                batch * batch,
                                (batch + 1) * (batch + 2),
                                lt(batch, 4) * 16,
                                floordiv(batch + 12, 8) * 64,
                                batch * (1 << 28)};
  SizeTable table;
  EXPECT_EQ(table.add(128), "128");
  EXPECT_EQ(table.add(sizes[0]), "SIZE(0)");
  EXPECT_EQ(table.add(sizes[1]), "SIZE(1)");
  EXPECT_EQ(table.add(batch), "SIZE(0)") << "equal sizes are one";
  for (Sint s : sizes) table.add(s);
  const MemoryPlan plan = plan_memory(p, {.align = 512, .align_all = true});
  const EmitOptions options = batch_options();
  const TempDir temp;
  write_file(temp.path() / "sizes.c", "#include <stdint.h>\n#include <stdio.h>\n" + table.text(make_project(p, plan, options)) +
                                          "int main(void) {\n  int32_t batch;\n  uint32_t n;\n"
                                          "  for (batch = 1; batch <= 8; batch++)\n    for (n = 0; n < " +
                                          std::to_string(sizes.size()) +
                                          "; n++) printf(\"%u\\n\", (unsigned)size_of(n, &batch));\n"
                                          "  return 0;\n}\n");
  const ProcessResult built = run_opencl(temp.path(), "gcc " + std::string(kStrict) + " -fsanitize=undefined -o test sizes.c");
  ASSERT_TRUE(built.ok()) << built.err;
  std::istringstream values(run_opencl(temp.path(), "./test").out);
  for (std::int64_t n = 1; n <= 8; n++)
    for (Sint s : sizes) {
      std::int64_t got = -1;
      values >> got;
      EXPECT_EQ(got, evaluate(s, {{"batch", n}}) & 0xffffffff) << to_text(s) << ", batch " << n;
    }
}

TEST(OpenCLSizes, WhatIsTooLargeForTheTablesIsRefused) {
  Program p = batch_program_opencl();
  const MemoryPlan plan = plan_memory(p, {.align = 512, .align_all = true});
  p.kernels[0].global_size[1] = std::int64_t{1} << 31;
  test::expect_error<UserError>([&] { emit(p, plan, batch_options()); },
                                "kernel 'k0_double' has up to 2147483648 work-groups, at most 2147483647");
  p.kernels[0].global_size[1] = 1;
  EXPECT_NO_THROW(emit(p, plan, batch_options()));
  p.buffers[0].max_elements = std::int64_t{1} << 29;
  test::expect_error<UserError>([&] { emit(p, plan, batch_options()); }, "'x' has 2147483648 bytes, at most 2147483647");
}

}  // namespace
}  // namespace etch::opencl_test
