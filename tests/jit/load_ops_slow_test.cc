// tinygrad's LoadOps (EMPTY, RAND, CONST, FROM and COPY, CONTIGUOUS, CUSTOM) on every type that each exists for, on every backend.
#include <bit>

#include "jit/jit_backends.h"
#include "support/native.h"

namespace etch {
namespace {

std::vector<DType> every_type() {
  std::vector<DType> types;
  for (int d = 0; d < kDTypeCount; d++) types.push_back(static_cast<DType>(d));
  return types;
}

class LoadOps : public test::JitBackends {
 protected:
  /// Realizes them all at once, and compares.
  void expect(const std::vector<Tensor>& tensors, const std::vector<Array>& wanted) {
    const std::vector<Tensor> made = session().realize(tensors);
    for (std::size_t k = 0; k < made.size(); k++) EXPECT_EQ(test::first_other(session().values(made[k]), wanted[k]), "");
  }
};
INSTANTIATE_TEST_SUITE_P(Ops, LoadOps, test::all_backends(), test::name_of_backend);

TEST_P(LoadOps, Empty) {
  for (const DType dtype : every_type()) {
    const Tensor x = session().empty(dtype, {3, 4});
    EXPECT_NE(Session::realized(x), nullptr);
    const Array any = session().values(x);
    EXPECT_EQ(any.dtype(), dtype);
    EXPECT_EQ(any.shape(), (std::vector<std::int64_t>{3, 4}));
    const Array values = test::difficult_array(dtype, {3, 4});
    session().assign(x, session().from(values));
    EXPECT_EQ(test::first_other(session().values(x), values), "") << "its memory is there to be written";
  }
  kernels_run();
  session().realize(session().empty(DType::Float32, {8}));
  EXPECT_EQ(kernels_run(), 0) << "nothing is computed";
}

TEST_P(LoadOps, FromAndCopy) {
  Session host(make_device("interp", {}));
  for (const DType dtype : every_type()) {
    const Array values = test::difficult_array(dtype, {2, 6});
    const Tensor there = session().from(host.values(host.from(values)));  // from one device to another and back
    EXPECT_EQ(session().values(there), values);
    EXPECT_EQ(host.values(host.from(session().values(there))), values);
  }
  EXPECT_EQ(kernels_run(), 0);
}

TEST_P(LoadOps, Const) {
  std::vector<Tensor> tensors;
  std::vector<Array> wanted;
  for (const DType dtype : every_type()) {
    const Array values = test::difficult_array(dtype);
    const std::int64_t k = is_float(dtype) ? 9 : 4;  // NaN; the smallest
    tensors.push_back(Tensor::full(session().graph(), {2, 3}, values.at(k)));
    wanted.push_back(test::picked(values, {2, 3}, [=](std::int64_t) { return k; }));
  }
  expect(tensors, wanted);
}

// The elements in the order of the view, in memory that the view's own memory has no part in.
TEST_P(LoadOps, Contiguous) {
  std::vector<Tensor> sources, tensors;
  std::vector<Array> wanted;
  for (const DType dtype : every_type()) {
    const Array values = test::difficult_array(dtype, {3, 4});
    sources.push_back(session().from(values));
    tensors.push_back(sources.back().permute({1, 0}).flip({0}).contiguous());
    wanted.push_back(test::picked(values, {4, 3}, [](std::int64_t k) { return k % 3 * 4 + 3 - k / 3; }));
  }
  const std::vector<Tensor> made = session().realize(tensors);
  for (std::size_t k = 0; k < made.size(); k++) {
    const RealizedBuffer* memory = Session::realized(made[k]);
    ASSERT_NE(memory, nullptr);
    EXPECT_NE(memory->buffer, Session::realized(sources[k])->buffer);
    EXPECT_EQ(test::first_other(memory->buffer->toCPU({4, 3}), wanted[k]), "");
  }
}

/// y[i] = x[n-1-i] of elements of this type.
std::shared_ptr<const ExternalKernel> reversed(DType dtype, std::int64_t n) {
  const std::string type(info(dtype).c_type);
  const std::string declaration = "void turned_" + std::string(name_of(dtype)) + "(" + type + " *y, const " + type + " *x, int32_t n)";
  const std::string text =
      "#include <stdbool.h>\n#include <stdint.h>\n" + declaration + " {\n  int32_t i;\n  for (i = 0; i < n; i++) y[i] = x[n - 1 - i];\n}\n";
  return std::make_shared<const ExternalKernel>(
      ExternalKernel{"Turned",
                     "turned_" + std::string(name_of(dtype)),
                     "turned.c",
                     declaration,
                     {{dtype, {n}}},
                     {{"n", "int32_t", n, ""}},
                     std::make_shared<std::vector<ExternalFile>>(std::vector<ExternalFile>{{"turned.c", text}}),
                     {}});
}

TEST_P(LoadOps, Custom) {
  std::vector<Tensor> tensors;
  std::vector<Array> wanted;
  for (const DType dtype : every_type()) {
    const Array values = test::difficult_array(dtype);
    tensors.push_back(Tensor::external(session().graph(), reversed(dtype, test::kDifficult), {session().from(values)}).at(0));
    wanted.push_back(test::picked(values, {test::kDifficult}, [](std::int64_t k) { return test::kDifficult - 1 - k; }));
  }
  expect(tensors, wanted);
}

/// The first word that Threefry-2x32 of 20 rounds gives, as its authors write it down (Salmon et al., SC 2011).
std::uint32_t threefry(std::array<std::uint32_t, 2> key, std::array<std::uint32_t, 2> counter) {
  const int rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::array<std::uint32_t, 3> schedule{key[0], key[1], 0x1BD11BDAU ^ key[0] ^ key[1]};
  std::uint32_t x = counter[0] + schedule[0], y = counter[1] + schedule[1];
  for (std::uint32_t round = 0; round < 20; round++) {
    x += y;
    y = std::rotl(y, rotations[round % 8]) ^ x;
    if (round % 4 != 3) continue;
    const std::uint32_t turn = round / 4 + 1;
    x += schedule[turn % 3];
    y += schedule[(turn + 1) % 3] + turn;
  }
  return x;
}

TEST_P(LoadOps, Rand) {
  for (const DType dtype : every_type()) {
    if (!is_float(dtype)) {
      EXPECT_THROW(session().rand({4}, dtype), ShapeError) << name_of(dtype);
      continue;
    }
    session().manual_seed(0x123456789ULL);
    const std::vector<double> got = session().values(session().rand({20, 10}, dtype)).doubles();
    // The upper bits of each word, as many as the type's numbers in [0.5, 1) have; float64 takes bits of the second word, too.
    const int digits = dtype == DType::Float16 ? 11 : dtype == DType::BFloat16 ? 8 : dtype == DType::Float32 ? 24 : 27;
    for (std::uint32_t k = 0; k < 200; k++) {
      const double upper = std::ldexp(static_cast<double>(threefry({0x23456789U, 1U}, {k, 0U}) >> (32 - digits)), -digits);
      ASSERT_EQ(std::ldexp(std::floor(std::ldexp(got[k], digits)), -digits), upper) << name_of(dtype) << " " << k;
      ASSERT_TRUE(dtype == DType::Float64 || got[k] == upper);
    }
  }
}

}  // namespace
}  // namespace etch
