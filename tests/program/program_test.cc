#include "program/program.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "support/expect_error.h"

namespace etch {
namespace {

// out = k(in, constant)
Program small() {
  Program p;
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
  k.arguments = {{DType::Float32, 4, "out", Access::Write}, {DType::Float32, 4, "in"}, {DType::Float32, 4, "w"}};
  p.kernels.push_back(k);
  ProgramCall c;
  c.arguments = {{2, Access::Write}, {0, Access::Read, true}, {1, Access::Read, true}};
  c.nodes = {"mul"};
  p.calls.push_back(c);
  c.arguments = {{3, Access::Write}, {2, Access::Read, true}, {1, Access::Read, true}};
  p.calls.push_back(c);
  return p;
}

TEST(Program, VerifyFindsEachBrokenRule) {
  EXPECT_NO_THROW(verify(small()));
  const struct {
    const char *what, *rule;
    std::function<void(Program&)> spoil;
  } rows[] = {
      {"two buffers of one name", "buffer names are unique", [](Program& p) { p.buffers[1].name = "in"; }},
      {"two kernels of one name", "kernel names are unique", [](Program& p) { p.kernels.push_back(p.kernels[0]); }},
      {"a kernel without name", "kernel names are unique", [](Program& p) { p.kernels[0].name = ""; }},
      {"a constant without data", "a constant has data of its type and size", [](Program& p) { p.buffers[1].data = Array(); }},
      {"a constant of another type", "a constant has data of its type and size",
       [](Program& p) { p.buffers[1].data = Array::filled(DType::Int32, {4}, Scalar::of_int(DType::Int32, 1)); }},
      {"an input out of range", "an input is a buffer", [](Program& p) { p.inputs = {9}; }},
      {"an input that is none", "an input is marked as one", [](Program& p) { p.inputs = {2}; }},
      {"an output out of range", "an output is a buffer", [](Program& p) { p.outputs = {-1}; }},
      {"an output that is none", "an output is marked as one", [](Program& p) { p.outputs = {2}; }},
      {"a kernel out of range", "a call names a kernel", [](Program& p) { p.calls[0].kernel = 1; }},
      {"a negative kernel", "a call names a kernel", [](Program& p) { p.calls[0].kernel = -1; }},
      {"too few arguments", "a call has a buffer for each argument", [](Program& p) { p.calls[0].arguments.pop_back(); }},
      {"a buffer out of range", "an argument is a buffer", [](Program& p) { p.calls[0].arguments[1].buffer = 4; }},
      {"read before written", "a buffer is written before it is read", [](Program& p) { std::swap(p.calls[0], p.calls[1]); }},
      {"writes an input", "inputs and constants are not written", [](Program& p) { p.calls[0].arguments[0].buffer = 0; }},
      {"writes a constant", "inputs and constants are not written", [](Program& p) { p.calls[0].arguments[0].buffer = 1; }},
      {"an argument of another type", "an argument has the type of its buffer",
       [](Program& p) { p.kernels[0].arguments[1].dtype = DType::Int8; }},
      {"the output may alias itself", "only what is read may be written over",
       [](Program& p) { p.calls[0].arguments[0].may_alias = true; }},
      {"a call that reads what its kernel writes", "a call writes what its kernel writes",
       [](Program& p) { p.calls[0].arguments[0].access = Access::Read; }},
      {"an output is never written", "every output is written", [](Program& p) { p.calls.pop_back(); }},
      {"a variable without range", "a variable has a range", [](Program& p) { p.variables = {{"n", 5, 4}}; }},
      {"two variables of one name", "variable names are unique", [](Program& p) { p.variables = {{"n", 1, 4}, {"n", 1, 4}}; }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    Program p = small();
    row.spoil(p);
    test::expect_error<InternalError>([&] { verify(p); }, row.rule);
  }
}

TEST(Program, TextHasOneLineForEachThing) {
  EXPECT_EQ(to_text(small()),
            "program in ASTs\n"
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
