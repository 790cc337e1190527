#include "program/program.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"

namespace etch {
namespace {

// out = k(in, constant)
Program small() {
  Program p;
  p.language = "interp";
  for (const auto& [name, kind] : {std::pair("in", BufferKind::Input), std::pair("w", BufferKind::Constant),
                                   std::pair("h", BufferKind::Intermediate), std::pair("out", BufferKind::Output)}) {
    ProgramBuffer b;
    b.name = name;
    b.kind = kind;
    b.dtype = DType::Float32;
    b.shape = {4};
    b.max_elements = 4;
    if (kind == BufferKind::Constant) b.data = Array::filled(DType::Float32, {4}, Scalar::of_double(DType::Float32, 1));
    p.buffers.push_back(b);
  }
  p.inputs = {0};
  p.outputs = {3};
  ProgramKernel k;
  k.name = "k0_mul";
  k.arg_dtypes = std::vector<DType>(3, DType::Float32);
  p.kernels.push_back(k);
  ProgramCall c;
  c.buffers = {2, 0, 1};
  c.may_alias = {false, true, true};
  c.nodes = {"mul"};
  p.calls.push_back(c);
  c.buffers = {3, 2, 1};
  p.calls.push_back(c);
  return p;
}

TEST(Program, VerifyFindsEachBrokenRule) {
  EXPECT_NO_THROW(verify(small()));
  const std::pair<const char*, std::function<void(Program&)>> rows[] = {
      {"two buffers of one name", [](Program& p) { p.buffers[1].name = "in"; }},
      {"two kernels of one name", [](Program& p) { p.kernels.push_back(p.kernels[0]); }},
      {"a kernel without name", [](Program& p) { p.kernels[0].name = ""; }},
      {"a constant without data", [](Program& p) { p.buffers[1].data = Array(); }},
      {"a constant of another type",
       [](Program& p) { p.buffers[1].data = Array::filled(DType::Int32, {4}, Scalar::of_int(DType::Int32, 1)); }},
      {"an input out of range", [](Program& p) { p.inputs = {9}; }},
      {"an input that is none", [](Program& p) { p.inputs = {2}; }},
      {"an output that is none", [](Program& p) { p.outputs = {2}; }},
      {"a kernel out of range", [](Program& p) { p.calls[0].kernel = 1; }},
      {"a negative kernel", [](Program& p) { p.calls[0].kernel = -1; }},
      {"too few arguments", [](Program& p) { p.calls[0].buffers.pop_back(); }},
      {"a buffer out of range", [](Program& p) { p.calls[0].buffers[1] = 4; }},
      {"read before written", [](Program& p) { std::swap(p.calls[0], p.calls[1]); }},
      {"writes an input", [](Program& p) { p.calls[0].buffers[0] = 0; }},
      {"writes a constant", [](Program& p) { p.calls[0].buffers[0] = 1; }},
      {"an argument of another type", [](Program& p) { p.kernels[0].arg_dtypes[1] = DType::Int8; }},
      {"the output may alias itself", [](Program& p) { p.calls[0].may_alias[0] = true; }},
      {"an output is never written", [](Program& p) { p.calls.pop_back(); }},
      {"a variable without range", [](Program& p) { p.variables = {{"n", 5, 4}}; }},
      {"two variables of one name", [](Program& p) { p.variables = {{"n", 1, 4}, {"n", 1, 4}}; }},
  };
  for (const auto& [what, spoil] : rows) {
    Program p = small();
    spoil(p);
    EXPECT_THROW(verify(p), InternalError) << what;
  }
}

TEST(Program, TextHasOneLineForEachThing) {
  EXPECT_EQ(to_text(small()),
            "program in interp\n"
            "b0    input        float32  in [4]\n"
            "b1    constant     float32  w [4]\n"
            "b2    intermediate float32  h [4]\n"
            "b3    output       float32  out [4]\n"
            "k0    k0_mul  []\n"
            "call 0    k0 (b2, b0*, b1*)  mul\n"
            "call 1    k0 (b3, b2*, b1*)  mul\n");
}

}  // namespace
}  // namespace etch
