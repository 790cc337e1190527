// The order of what a kernel's text reads and writes.
#include <gtest/gtest.h>

#include "codegen/kernel.h"
#include "ir/uop.h"
#include "renderer/cstyle.h"

namespace etch {
namespace {

// out0[0] = a[0]; out1[0] = int32(rint(b[0])), where out0 may lie over b: b is read before out0 is written, also where the conversion
// does the rounding.
TEST(Texts, ARoundedValueIsReadBeforeTheOutputIsWritten) {
  UOpList uops;
  const auto add = [&](UOp u) {
    uops.order.push_back(uops.make(std::move(u)));
    return uops.order.back();
  };
  const auto buffer = [&](DType dtype, std::int64_t number) {
    return add({.uop = UOpKind::DefineGlobal, .dtype = dtype, .number = number, .size = 1});
  };
  const UOp *out0 = buffer(DType::Float32, 0), *out1 = buffer(DType::Int32, 1);
  const UOp *a = buffer(DType::Float32, 2), *b = buffer(DType::Float32, 3);
  const UOp* first = add({.uop = UOpKind::Const, .dtype = DType::Int32, .exact = true, .value = Scalar::of_int(DType::Int32, 0)});
  const UOp* of_a = add({.uop = UOpKind::Load, .dtype = DType::Float32, .src = {a, first}});
  const UOp* of_b = add({.uop = UOpKind::Load, .dtype = DType::Float32, .src = {b, first}});
  const UOp* rounded = add({.uop = UOpKind::Alu, .dtype = DType::Float32, .src = {of_b}, .op = Op::Rint});
  add({.uop = UOpKind::Store, .dtype = DType::Float32, .src = {out0, first, of_a}});
  const UOp* whole = add({.uop = UOpKind::Cast, .dtype = DType::Int32, .src = {rounded}});
  add({.uop = UOpKind::Store, .dtype = DType::Int32, .src = {out1, first, whole}});
  verify(uops, "the test");
  const KernelSignature signature{"f",
                                  {{DType::Float32, 1, "out0", Access::Write},
                                   {DType::Int32, 1, "out1", Access::Write},
                                   {DType::Float32, 1, "a"},
                                   {DType::Float32, 1, "b"}},
                                  {}};
  const std::string text = render_c(uops, kC, signature, {}).source;
  EXPECT_LT(text.find("b[0]"), text.find("out0[0] =")) << text;
}

}  // namespace
}  // namespace etch
