// Kernels that are functions of runtime_c, which come in by the door of custom operators: determinants. Wanted values are sums over all
// permutations, or of matrices whose factors are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "custom_model.h"
#include "program/lower.h"
#include "support/files.h"
#include "support/needs.h"
#include "validate/validate.h"

namespace etch {
namespace {

using test::options_for;
using test::run_in;

/// Det of `shape`, and a Neg behind it; its input is computed by a Relu if `relu`.
std::string net(const std::vector<OnnxDim>& shape, DType dtype = DType::Float32, bool relu = false) {
  GraphBuilder g("net", 17);
  auto x = g.input("x", dtype, shape);
  if (relu) x = g.node("Relu", {x});
  g.output(g.node("Neg", {g.node("Det", {x})}), dtype, {shape.begin(), shape.end() - 2});
  return g.bytes();
}

/// The sum over all permutations of signed products.
double leibniz(const double* matrix, int n) {
  std::vector<int> column(static_cast<std::size_t>(n));
  std::iota(column.begin(), column.end(), 0);
  double sum = 0;
  do {
    int inversions = 0;
    double term = 1;
    for (int r = 0; r < n; r++) {
      for (int s = 0; s < r; s++) inversions += column[static_cast<std::size_t>(s)] > column[static_cast<std::size_t>(r)];
      term *= matrix[r * n + column[static_cast<std::size_t>(r)]];
    }
    sum += inversions % 2 == 0 ? term : -term;
  } while (std::next_permutation(column.begin(), column.end()));
  return sum;
}

/// A matrix of small whole numbers with its determinant: lower times upper triangle, rows in another order.
struct Known {
  std::vector<double> matrix;
  double determinant = 1;
};

Known known_matrix(int n, std::mt19937& random) {
  const auto at = [n](int r, int c) { return static_cast<std::size_t>(r * n + c); };
  const auto small = [&](int most) { return static_cast<double>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most); };
  Known known;
  std::vector<double> lower(at(n, 0)), upper(at(n, 0)), product(at(n, 0));
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      const bool near = std::abs(r - c) <= 2;  // else sums grow with n
      if (c < r && near) lower[at(r, c)] = small(1);
      if (c > r && near) upper[at(r, c)] = small(1);
    }
  for (int r = 0; r < n; r++) {
    lower[at(r, r)] = 1;
    upper[at(r, r)] = r % 4 == 0 ? -2 : r % 4 == 2 ? 2 : 1;
    known.determinant *= upper[at(r, r)];
  }
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++)
      for (int k = 0; k < n; k++) product[at(r, c)] += lower[at(r, k)] * upper[at(k, c)];
  known.matrix = product;
  for (int r = 0; r + 1 < n; r++) {  // a cycle of all rows: n - 1 exchanges
    std::copy_n(&product[at(r, 0)], n, &known.matrix[at(r + 1, 0)]);
    known.determinant = -known.determinant;
  }
  if (n > 1) std::copy_n(&product[at(n - 1, 0)], n, &known.matrix[at(0, 0)]);
  return known;
}

TEST(RuntimeKernel, DeterminantsOnEveryBackend) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16})
    for (const int n : {3, 4, 7}) {
      if (n != 4 && dtype != DType::Float32) continue;
      std::vector<double> values(static_cast<std::size_t>(6 * n * n)), want;
      for (double& v : values) v = static_cast<double>(static_cast<int>(random() % 17) - 8) / 8;  // exact in each type
      for (int m = 0; m < 6; m++) want.push_back(-leibniz(&values[static_cast<std::size_t>(m * n * n)], n));
      const Array x = Array::of_doubles(dtype, {2, 3, n, n}, values);
      const double tolerance = dtype == DType::Float16 ? 2e-3 : dtype == DType::Float32 ? 1e-5 : 1e-13;
      for (const auto& [device, got] : test::run_everywhere(options_for(net({2, 3, n, n}, dtype), {}), {x})) {
        ASSERT_EQ(got.at(0).shape(), (std::vector<std::int64_t>{2, 3})) << device;
        for (std::size_t m = 0; m < 6; m++)
          EXPECT_NEAR(got[0].double_at(static_cast<std::int64_t>(m)), want[m], tolerance * (1 + std::abs(want[m])))
              << device << " " << name_of(dtype) << " n " << n << " matrix " << m;
      }
    }
}

TEST(RuntimeKernel, LargeMatricesByTheirFactors) {
  std::mt19937 random(2);
  for (const int n : {17, 40}) {
    const Known known = known_matrix(n, random);
    for (const DType dtype : {DType::Float32, DType::Float64})
      for (const auto& [device, got] :
           test::run_everywhere(options_for(net({n, n}, dtype), {}), {Array::of_doubles(dtype, {n, n}, known.matrix)}))
        EXPECT_NEAR(got.at(0).double_at(0) / -known.determinant, 1, dtype == DType::Float32 ? 1e-4 : 1e-12) << device << " n " << n;
  }
}

TEST(RuntimeKernel, SingularAndOddMatrices) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> singular{1, 2, 3, 4, 2, 4, 6, 8, 0, 1, 0, 1, 5, 5, 5, 5};
  std::vector<double> zeros(16), nan_below(16), nan_first(16);
  for (int i = 0; i < 4; i++) nan_below[static_cast<std::size_t>(5 * i)] = nan_first[static_cast<std::size_t>(5 * i)] = i + 1;
  nan_below[0] = 0;
  nan_below[8] = kNan;  // in a column that is 0 otherwise
  nan_first[0] = kNan;
  std::vector<double> nan_behind(16);  // and the first column is 0
  for (int i = 1; i < 4; i++) nan_behind[static_cast<std::size_t>(5 * i)] = i + 1;
  nan_behind[9] = kNan;
  std::vector<double> all;
  for (const auto& m : {singular, zeros, nan_below, nan_first, nan_behind}) all.insert(all.end(), m.begin(), m.end());
  ASSERT_TRUE(std::isnan(leibniz(nan_behind.data(), 4)));
  for (const auto& [device, got] :
       test::run_everywhere(options_for(net({5, 4, 4}), {}), {Array::of_doubles(DType::Float32, {5, 4, 4}, all)})) {
    const std::vector<double> values = got.at(0).doubles();
    EXPECT_EQ(values[0], 0) << device;
    EXPECT_EQ(values[1], 0) << device;
    EXPECT_TRUE(std::isnan(values[2])) << device << " " << values[2];
    EXPECT_TRUE(std::isnan(values[3])) << device << " " << values[3];
    EXPECT_TRUE(std::isnan(values[4])) << device << " " << values[4];
  }
}

TEST(RuntimeKernel, OpenBatch) {
  CompileOptions options = options_for(net({"n", 4, 4}, DType::Float32, true), {});
  options.import.dims = {{"n", 1, 5}};
  std::mt19937 random(3);
  for (const std::int64_t n : {1, 3, 5}) {
    std::vector<double> values(static_cast<std::size_t>(16 * n));
    for (double& v : values) v = static_cast<double>(random() % 9);
    for (const auto& [device, got] : test::run_everywhere(options, {Array::of_doubles(DType::Float32, {n, 4, 4}, values)}, {{"n", n}}))
      for (std::int64_t m = 0; m < n; m++) {
        const double want = -leibniz(&values[static_cast<std::size_t>(16 * m)], 4);
        EXPECT_NEAR(got.at(0).double_at(m), want, 1e-5 * (1 + std::abs(want))) << device << " " << n << " " << m;
      }
  }
}

TEST(RuntimeKernel, EmptyAndConstantMatrices) {
  GraphBuilder g("net", 17);
  const auto c =
      g.initializer("c", Array::of_doubles(DType::Float32, {4, 4}, std::vector<double>{2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 5, 0, 0, 7, 0}));
  g.output(g.node("Mul", {g.input("x", DType::Float32, {2}), g.node("Det", {c})}), DType::Float32, {2});
  const CompileOptions options = options_for(g.bytes(), {});
  const Program program = lower_model(read_model(options), nullptr, options);
  EXPECT_TRUE(std::ranges::none_of(program.kernels, [](const ProgramKernel& k) { return k.external != nullptr; })) << "computed already";
  for (const auto& [device, got] : test::run_everywhere(options, {Array::of_doubles(DType::Float32, {2}, std::vector<double>{1, 2})}))
    EXPECT_EQ(got.at(0).doubles(), (std::vector<double>{-210, -420})) << device;
}

// --- emitted projects

TEST(RuntimeKernel, TheEmittedProjectHasTheFunction) {
  for (const char* target : {"c99", "host"}) {
    const CompileOptions options = options_for(net({3, 5, 5}, DType::Float32, true), {}, target);
    const TempDir work;
    const auto dir = work.path() / "out";
    const WrittenProject written = write_audited(dir, compile_project(read_model(options), options), options);
    EXPECT_TRUE(written.report.audit->findings.empty());
    EXPECT_TRUE(written.report.custom_functions.empty());
    EXPECT_NE(test::content(dir / "net.c").find("etch_det_float((float *)arg[0], (float *)arg[1], (const float *)arg[2], 3, 5);"),
              std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(dir / "etch_det_double.c")) << "nothing that is not used";
    test::expect_builds_and_passes(dir, "gcc");
  }
}

TEST(RuntimeKernel, ACoreOfSinglePrecisionGetsNoDoubles) {
  const CompileOptions options = options_for(net({5, 5}), {}, "cortex-m4f");
  const TempDir work;
  EXPECT_TRUE(write_audited(work.path() / "out", compile_project(read_model(options), options), options).report.audit->findings.empty());
}

// Both have the function, which the linker must see once.
TEST(RuntimeKernel, TwoModelsOfOneProgramShareIt) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir work;
  for (const auto& [name, n] : {std::pair("one", 4), std::pair("two", 6)}) {
    CompileOptions options = options_for(net({n, n}), {});
    options.import.name = name;
    write_audited(work.path() / name, compile_project(read_model(options), options), options);
  }
  write_file(work.path() / "main.c",
             "#include \"one.h\"\n#include \"two.h\"\n#include <stdio.h>\n"
             "ETCH_ALIGNED(ONE_ARENA_ALIGN) static unsigned char a[ONE_ARENA_BYTES];\n"
             "ETCH_ALIGNED(TWO_ARENA_ALIGN) static unsigned char b[TWO_ARENA_BYTES];\n"
             "int main(void) {\n  float x[36] = {0}, y[1], z[1];\n  int i;\n"
             "  for (i = 0; i < 4; i++) x[5 * i] = 2;\n"
             "  if (one_run(a, sizeof a, x, y) != ETCH_OK) return 1;\n"
             "  for (i = 0; i < 36; i++) x[i] = i % 7 == 0 ? 2.0f : 0.0f;\n"
             "  if (two_run(b, sizeof b, x, z) != ETCH_OK) return 1;\n"
             "  printf(\"%g %g\\n\", (double)y[0], (double)z[0]);\n  return 0;\n}\n");
  write_file(work.path() / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.16)\nproject(users C)\nadd_subdirectory(one)\nadd_subdirectory(two)\n"
             "add_executable(firmware main.c)\ntarget_link_libraries(firmware etch::one etch::two)\n");
  ASSERT_TRUE(run_in(work.path(), "cmake -B build").ok());
  const ProcessResult built = run_in(work.path(), "cmake --build build");
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  EXPECT_EQ(run_in(work.path(), "build/firmware").out, "-16 -64\n");
}

// What the function leaves in the room that it works in is nobody's result.
TEST(RuntimeKernel, ItsRoomToWorkInIsNotBlamed) {
  const CompileOptions options = options_for(net({5, 5}), {});
  const Frontend frontend = read_model(options);
  DeviceOptions device_options;
  device_options.of<COptions>().flags = {"-std=gnu11", "-O0"};
  const auto interp = make_reference_device(), c = make_device("c", device_options);
  const Program reference = lower_model(frontend, nullptr, options);
  const std::vector<DataSet> sets = random_data_sets(frontend.model, 1);
  Program bad = lower_model(frontend, c->language(), options);
  ProgramKernel& last = bad.kernels[static_cast<std::size_t>(bad.calls.back().kernel)];
  ASSERT_EQ(last.external, nullptr);
  last.text.source.insert(last.text.source.rfind('}'), "  ((float *)arg[0])[0] = 1e30f;\n");
  const BackendResult result = validate_backend(bad, reference, *c, sets, reference_outputs(reference, *interp, sets), {});
  ASSERT_TRUE(result.culprit) << result.problem;
  EXPECT_EQ(result.culprit->call, static_cast<int>(bad.calls.size()) - 1);
}

}  // namespace
}  // namespace etch
