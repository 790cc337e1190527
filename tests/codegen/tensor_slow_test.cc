// Kernels that dot-product and matrix instructions compute, on every backend whose language writes them, against plain loops: exact in
// integers, within the rounding of float's sums for halves. Random chains put other steps before and behind TC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/process.h"
#include "base/tempdir.h"
#include "device/cuda_driver.h"
#include "device/cuda_libraries.h"
#include "support/instructions.h"
#include "support/rounds.h"

namespace etch::tensor_slow_test {
namespace {

using test::Product;
using test::store_of;

struct Case {
  Product product;
  bool halves = false;  // half of the sum and one more, as float
  std::vector<Opt> opts;
};

struct Inputs {
  std::vector<Array> arrays;
  test::ProductSums wanted;
};

Inputs inputs_of(const Product& p, std::mt19937& rng) {
  Inputs made{{test::random_numbers(p.a, p.m * p.k, rng), test::random_numbers(p.b, p.k * p.n, rng)}, {}};
  made.wanted = test::sums_of(p, made.arrays[0], made.arrays[1]);
  return made;
}

// The first wrong element, or nothing.
std::string first_difference(const Case& c, const Inputs& in, const Array& got) {
  for (std::size_t e = 0; e < in.wanted.sums.size(); e++) {
    const bool is_exact = c.product.sum == DType::Int32;
    const double sum = in.wanted.sums[e], wanted = c.halves ? 0.5 * sum + 1 : sum, g = got.double_at(static_cast<std::int64_t>(e));
    // Products of two halves are exact in float; each addition rounds once.
    const double tolerance = is_exact ? 0 : static_cast<double>(c.product.k + 2) * 0x1p-24 * (in.wanted.magnitudes[e] + 1);
    if (std::fabs(g - wanted) <= tolerance) continue;
    return "element " + std::to_string(e) + " is " + std::to_string(g) + ", expected " + std::to_string(wanted);
  }
  return "";
}

void expect_right(const Device& device, const CodegenOptions& options, const std::vector<Case>& cases, std::mt19937& rng) {
  LazyOps ops;
  std::vector<Inputs> inputs;
  std::vector<test::BackendKernel> kernels;
  for (const Case& c : cases) inputs.push_back(inputs_of(c.product, rng));
  for (std::size_t i = 0; i < cases.size(); i++)
    kernels.push_back({store_of(ops, cases[i].product, cases[i].halves), &inputs[i].arrays, cases[i].product.m * cases[i].product.n,
                       cases[i].opts.empty() ? std::nullopt : std::optional(cases[i].opts)});
  const Program program = test::program_of(kernels, *device.language(), options, true);
  const std::vector<Array> got = device.load(program)->run({});
  for (std::size_t i = 0; i < cases.size(); i++) {
    EXPECT_NE(program.kernels[i].opts.find("TC "), std::string::npos) << program.kernels[i].opts;
    EXPECT_EQ(first_difference(cases[i], inputs[i], got[i]), "") << program.kernels[i].opts << "\n" << program.kernels[i].text.source;
    if (testing::Test::HasFailure()) return;
  }
}

/// A legal chain with TC somewhere in it.
std::vector<Opt> chain_with_tensor(const LazyOp* store, const CodegenOptions& options, std::mt19937& rng) {
  static constexpr OptOp kOps[] = {OptOp::Upcast, OptOp::Unroll, OptOp::PadTo, OptOp::Local, OptOp::LastLocal};
  static constexpr std::int64_t kAmounts[] = {0, 2, 3, 4, 5};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(rng); };
  while (true) {
    Kernel kernel(store, options);
    const std::size_t before = below(3), behind = below(4);
    const auto steps = [&](std::size_t wanted) {
      for (std::size_t tries = 0, done = 0; tries < 40 && done < wanted; tries++) {
        Kernel next = kernel;
        if (!next.try_apply({kOps[below(std::size(kOps))], static_cast<int>(below(4)), kAmounts[below(std::size(kAmounts))]})) continue;
        std::int64_t copies = 1;
        for (const Axis& a : next.axes()) copies *= a.kind == AxisKind::Upcast || a.kind == AxisKind::Unroll ? a.size.as_int() : 1;
        if (copies > 64) continue;
        kernel = next;
        done++;
      }
    };
    steps(before);
    const auto row = static_cast<std::int64_t>(below(options.instructions.size()));
    if (!kernel.try_apply({OptOp::Tensor, static_cast<int>(below(2)), row})) continue;
    steps(behind);
    return kernel.applied();
  }
}

void expect_random_chains(const Device& device, const CodegenOptions& options, const std::function<Product(std::mt19937&)>& product,
                          int chains, const std::vector<std::string>& steps) {
  LazyOps ops;
  std::mt19937 rng(8);
  std::map<std::string, int> behind;  // how often each kind of step came behind TC
  for (int done = 0; done < chains; done += 50) {
    std::vector<Case> cases;
    while (static_cast<int>(cases.size()) < std::min(chains - done, 50)) {
      Case c{product(rng), cases.size() % 2 == 1, {}};
      c.opts = chain_with_tensor(store_of(ops, c.product, c.halves), options, rng);
      const auto tc = std::ranges::find(c.opts, OptOp::Tensor, &Opt::op);
      for (auto o = tc; o != c.opts.end(); o++) behind[to_text(*o).substr(0, to_text(*o).find(' '))]++;
      cases.push_back(c);
    }
    expect_right(device, options, cases, rng);
    if (testing::Test::HasFailure()) return;
  }
  for (const std::string& step : steps) EXPECT_GT(behind[step], 0) << step << " never came behind TC";
}

std::int64_t pick(std::mt19937& rng, int low, int high) { return std::uniform_int_distribution(low, high)(rng); }

// Of the types that one of the rows takes.
Product random_bytes(const std::vector<TargetInstruction>& rows, std::mt19937& rng) {
  const TargetInstruction& row = rows[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(rows.size()) - 1))];
  Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, pick(rng, 1, 12), 16 * pick(rng, 1, 4), 4 * pick(rng, 1, 12)};
  p.b_rows = pick(rng, 0, 1) == 1;
  p.b_first = pick(rng, 0, 1) == 1;
  return p;
}

Product random_halves(std::mt19937& rng) {
  Product p{DType::Float16, DType::Float16, DType::Float32, 16 * pick(rng, 1, 3), 16 * pick(rng, 1, 3), 16 * pick(rng, 1, 3)};
  p.b_rows = pick(rng, 0, 1) == 1;
  p.b_first = pick(rng, 0, 1) == 1;
  return p;
}

class DotProducts : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  DotProducts() {
    if (device) options = codegen_options(test::target_named(std::get<1>(GetParam())), *device->language());
  }
  const test::UsableDevice device = test::backend(std::get<0>(GetParam()));
  CodegenOptions options;
};

TEST_P(DotProducts, ByTheHeuristics) {
  if (!device) GTEST_SKIP() << device.why;
  std::mt19937 rng(7);
  std::vector<Case> cases;
  for (int i = 0; i < 40; i++) cases.push_back({random_bytes(options.instructions, rng), i % 2 == 1, {}});
  for (Case& c : cases) c.product.m += 1;  // b is the constant, so that it can be laid out
  expect_right(*device, options, cases, rng);
}

TEST_P(DotProducts, RandomChains) {
  if (!device) GTEST_SKIP() << device.why;
  const auto bytes = [&](std::mt19937& rng) { return random_bytes(options.instructions, rng); };
  expect_random_chains(*device, options, bytes, test::rounds(100), {"TC", "UPCAST", "UNROLL", "PADTO"});
}

INSTANTIATE_TEST_SUITE_P(Tensor, DotProducts,
                         testing::Combine(testing::Values("c", "llvm"),
                                          testing::Values("x86-64-vnni", "x86-64-v4", "x86-64-v3", "cortex-a55")),
                         [](const auto& row) {
                           std::string name = std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param);
                           std::erase(name, '-');
                           return name;
                         });

class MatrixProducts : public testing::Test {
 protected:
  const test::UsableDevice device = test::backend("cuda");
  CodegenOptions options = codegen_options(test::target_named("cuda"), kCuda);
};

TEST_F(MatrixProducts, ByTheHeuristics) {
  if (!device) GTEST_SKIP() << device.why;
  std::mt19937 rng(9);
  std::vector<Case> cases;
  for (int i = 0; i < 10; i++) cases.push_back({random_halves(rng), i % 2 == 1, {}});
  cases.push_back({{DType::Float16, DType::Float16, DType::Float32, 32, 32, 512}, false, {}});
  expect_right(*device, options, cases, rng);
}

TEST_F(MatrixProducts, RandomChains) {
  if (!device) GTEST_SKIP() << device.why;
  expect_random_chains(*device, options, random_halves, test::rounds(100), {"TC", "UPCAST", "UNROLL", "PADTO", "LOCAL", "LASTLOCAL"});
}

// A kernel of every shape that PADTO makes too, for GPUs with and without the instruction.
TEST_F(MatrixProducts, CompileForGpus) {
  LazyOps ops;
  std::string text = kCuda.prelude({});
  std::mt19937 rng(10);
  std::set<std::string> definitions;
  for (int i = 0; i < 4; i++) {
    const Product p = random_halves(rng);
    CodegenOptions own = options;
    if (i > 0) own.opts = chain_with_tensor(store_of(ops, p), options, rng);
    KernelSignature signature{
        "k" + std::to_string(i), {{DType::Float32, p.m * p.n, "out", Access::Write}, {p.a, p.m * p.k, "in1"}, {p.b, p.k * p.n, "in2"}}, {}};
    const ProgramKernel kernel = generate_kernel(store_of(ops, p), signature, kCuda, own);
    EXPECT_TRUE(kernel.text.has_barrier);
    for (const std::string& d : kernel.text.definitions)
      if (definitions.insert(d).second) text += d;
    text += kernel.text.source;
  }
  const TempDir dir("etch-test");
  const std::string file = (dir.path() / "k.cu").string(), out = (dir.path() / "k.ptx").string();
  std::ofstream(file) << text;
  const auto ptx_of = [&](std::vector<std::string> command) {
    command.insert(command.end(), {file, "-o", out});
    ProcessOptions limits;
    limits.timeout_s = 300;
    const ProcessResult result = run_process(command, limits);
    EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err.substr(0, 3000);
    std::ifstream made(out);
    return std::string{std::istreambuf_iterator<char>(made), {}};
  };
  int compilers = 0;
  if (const std::filesystem::path nvcc = find_nvcc(); !nvcc.empty()) {
    compilers++;
    EXPECT_NE(ptx_of({nvcc.string(), "-arch", "sm_75", "-ptx", "-diag-suppress=177"}).find("mma.sync.aligned.m16n8k8"), std::string::npos);
    for (const char* architecture : {"sm_80", "sm_87", "sm_90"}) {
      EXPECT_NE(ptx_of({nvcc.string(), "-arch", architecture, "-ptx", "-diag-suppress=177"}).find("mma.sync.aligned.m16n8k16"),
                std::string::npos);
      EXPECT_EQ(ptx_of({nvcc.string(), "-arch", architecture, "-cubin", "-diag-suppress=177"}).substr(1, 3), "ELF");
    }
  }
  if (find_program("clang-19")) {
    compilers++;
    const auto clang = [&](const char* architecture) {
      return ptx_of({"clang-19", "-x", "cuda", "-nocudainc", "-nocudalib", "-fdeclspec", "--cuda-device-only",
                     std::string("--cuda-gpu-arch=") + architecture, "-O1", "-Wno-unknown-cuda-version", "-include",
                     ETCH_SOURCE_DIR "/tests/support/clang_cuda.h", "-S"});
    };
    EXPECT_EQ(clang("sm_53").find("mma.sync"), std::string::npos);
    EXPECT_NE(clang("sm_75").find("mma.sync.aligned.m16n8k8"), std::string::npos);
    EXPECT_NE(clang("sm_90").find("mma.sync.aligned.m16n8k16"), std::string::npos);
  }
  if (compilers == 0) GTEST_SKIP() << "neither nvcc nor clang-19 is installed: apt-get install clang-19";
}

}  // namespace
}  // namespace etch::tensor_slow_test
