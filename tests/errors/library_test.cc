// Bad uses of the library end with an error in the user's words, and what was there before goes on. Each row is one use.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "jit/tinyjit.h"

namespace etch {
namespace {

using Tensors = std::vector<Tensor>;

struct LibraryCase {
  const char* name;
  std::function<void(Session&)> use;
  const char* says;  // the whole text
};

Tensor numbers(Session& session, std::int64_t size) {
  return session.from(Array::of_doubles(DType::Float32, {size}, std::vector<double>(static_cast<std::size_t>(size), 1.0)));
}

/// A function of one input, recorded for four floats.
TinyJit recorded(Session& session) {
  TinyJit jit(session, [](const Tensors& in) { return Tensors{in[0] * 2.0}; });
  for (int call = 0; call < 3; call++) jit({numbers(session, 4)});
  return jit;
}

std::vector<LibraryCase> library_cases() {
  return {
      {"jit_of_other_shapes", [](Session& s) { recorded(s)({numbers(s, 5)}); },
       "recorded function: is called with float32 [5]; it was recorded for float32 [4]\n  help: call reset() first, or record a function "
       "of "
       "its own for each"},
      {"jit_of_one_tensor_twice",
       [](Session& s) {
         const Tensor x = numbers(s, 4);
         TinyJit(s, [](const Tensors& in) { return Tensors{in[0] + in[1]}; })({x, x});
       },
       "arguments 0 and 1: are the same memory, so they can't be told apart in later calls\n  help: pass a copy, or the tensor once"},
      {"jit_of_nothing",
       [](Session& s) {
         TinyJit jit(s, [](const Tensors& in) { return in; });
         for (int call = 0; call < 2; call++) jit({numbers(s, 4)});
       },
       "recorded function: ran no kernel, so there is nothing to replay"},
      {"jit_that_reads_values",
       [](Session& s) {
         TinyJit jit(s, [&](const Tensors& in) { return Tensors{in[0] * s.values(in[0]).double_at(0)}; });
         for (int call = 0; call < 2; call++) jit({numbers(s, 4)});
       },
       "recorded function: reads values on the host, which no replay would repeat\n  help: do it before the function is called, or pass "
       "the "
       "tensor as an argument"},
      {"released_tensor",
       [](Session& s) {
         const Tensor x = numbers(s, 4);
         s.release(x);
         s.values(x);
       },
       "tensor float32 [4]: was released"},
      {"tensor_of_another_session",
       [](Session& s) {
         Session other;
         s.values(numbers(other, 4));
       },
       "tensor float32 [4]: belongs to another session"},
      {"variable_without_a_value", [](Session& s) { s.values(Tensor::arange(s.graph(), s.variable("n", 1, 8), DType::Float32)); },
       "variable 'n': has no value\n  help: give it one from 1 to 8"},
      {"assignment_of_another_shape", [](Session& s) { s.assign(numbers(s, 4), numbers(s, 3)); },
       "assignment to float32 [4]: the value is float32 [3]\n  help: shape and type have to be the target's"},
      {"unknown_device", [](Session&) { Device::set_default("fortran"); },
       "device fortran: is unknown; the devices are 'interp', 'opencl', 'cuda', 'llvm', 'c'\n  help: choose one of them"},
      {"buffer_of_no_elements", [](Session& s) { Buffer(s.device(), 0, DType::Float32); },
       "buffer of float32 on interp: it has 0 elements, at least 1 is accepted and at most 576460752303423487"},
  };
}

/// GoogleTest prints a row with this.
void PrintTo(const LibraryCase& row, std::ostream* out) { *out << row.name; }

class Library : public testing::TestWithParam<LibraryCase> {};

TEST_P(Library, IsRefusedAndGoesOn) {
  Session session;
  try {
    GetParam().use(session);
    FAIL() << "was accepted";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), GetParam().says);
  }
  EXPECT_EQ(session.values(numbers(session, 2) + 1.0).doubles(), (std::vector<double>{2, 2}));
}

INSTANTIATE_TEST_SUITE_P(Errors, Library, testing::ValuesIn(library_cases()), [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace etch
