// Each pass on lists of a few UOps, before and after.
#include "codegen/passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "codegen/builder.h"

namespace etch::passes_test {
namespace {

constexpr DType kF32 = DType::Float32, kI32 = DType::Int32;

struct Maker {
  UOpBuilder b;
  const UOp* out = b.add(UOp{.uop = UOpKind::DefineGlobal, .dtype = kF32, .number = 0});
  const UOp* in = b.add(UOp{.uop = UOpKind::DefineGlobal, .dtype = kF32, .number = 1});
  const UOp* i32(std::int64_t v) { return b.constant(Scalar::of_int(kI32, v)); }
  const UOp* f32(double v) { return b.constant(Scalar::of_double(kF32, v)); }
  const UOp* load(const UOp* index, int lanes = 1) {
    return b.add(UOp{.uop = UOpKind::Load, .dtype = kF32, .lanes = lanes, .src = {in, index}});
  }
  const UOp* loop(const std::string& name, std::int64_t n) {
    return b.add(UOp{.uop = UOpKind::Loop, .dtype = kI32, .src = {i32(0), i32(n)}, .name = name});
  }
  const UOp* acc(int lanes = 1) {
    return b.add(UOp{.uop = UOpKind::DefineAcc, .dtype = kF32, .lanes = lanes, .value = Scalar::of_int(kF32, 0)});
  }
  const UOp* phi(const UOp* acc, const UOp* v) {
    return b.add(UOp{.uop = UOpKind::Phi, .dtype = kF32, .lanes = acc->lanes, .src = {acc, v}});
  }
  void store(const UOp* index, const UOp* v) {
    b.add(UOp{.uop = UOpKind::Store, .dtype = kF32, .lanes = v->lanes, .src = {out, index, v}});
  }
  /// For each of 4: the sum of vectors over a loop, plus what is the same in all turns.
  void sums(int lanes) {
    const UOp* a = loop("i0", 4);
    const UOp* sum = acc(lanes);
    const UOp* l = loop("r0", 9);
    const UOp* total = phi(sum, b.alu(Op::Add, kF32, {sum, load(l, lanes)}));
    b.end(l);
    store(a, b.alu(Op::Add, kF32, {total, load(i32(0), lanes)}));
    b.end(a);
  }
};

struct PassCase {
  const char* name;
  UOpList (*pass)(const UOpList&);
  std::function<void(Maker&)> make;
  const char* after;
};

const PassCase kCases[] = {
    {"x * 1 and constants", fold_constants,
     [](Maker& m) {
       const UOp* at = m.b.alu(Op::Add, kI32, {m.i32(2), m.i32(3)});
       m.store(at, m.b.alu(Op::Mul, kF32, {m.load(m.i32(0)), m.f32(1)}));
     },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 2\n%3 = Const int32 3\n%4 = Const int32 5\n%5 = Const "
     "int32 0\n"
     "%6 = Load float32 %1 %5\n%7 = Const float32 1.0\n%8 = Store float32 %0 %4 %6\n"},
    {"x + 0.0 is not x", fold_constants, [](Maker& m) { m.store(m.i32(0), m.b.alu(Op::Add, kF32, {m.load(m.i32(0)), m.f32(0)})); },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 0\n%3 = Load float32 %1 %2\n%4 = Const float32 0.0\n"
     "%5 = Alu Add float32 %3 %4\n%6 = Store float32 %0 %2 %5\n"},
    {"what nobody uses", remove_dead,
     [](Maker& m) {
       m.load(m.i32(7));
       const UOp* l = m.loop("i0", 3);
       m.load(l);
       m.b.end(l);
       m.store(m.i32(0), m.f32(1));
     },
     "%0 = DefineGlobal float32 0\n%1 = Const int32 0\n%2 = Const float32 1.0\n%3 = Store float32 %0 %1 %2\n"},
    {"an accumulator that a turn reads before it changes", remove_dead,
     [](Maker& m) {
       const UOp* carried = m.acc();
       const UOp* l = m.loop("i0", 3);
       m.store(l, carried);
       m.phi(carried, m.load(l));
       m.phi(m.acc(), m.f32(1));
       m.b.end(l);
     },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = DefineAcc float32 0.0 0\n%3 = Const int32 0\n%4 = Const int32 3\n"
     "%5 = Loop int32 i0 %3 %4\n  %6 = Store float32 %0 %5 %2\n  %7 = Load float32 %1 %5\n  %8 = Phi float32 %2 %7\n%9 = End %5\n"},
    {"loads leave loops, not ifs", hoist_invariants,
     [](Maker& m) {
       const UOp* zero = m.i32(0);
       const UOp* a = m.loop("i0", 4);
       const UOp* c = m.b.alu(Op::CmpLt, DType::Bool, {zero, a});
       const UOp* g = m.b.add(UOp{.uop = UOpKind::If, .src = {c}});
       const UOp* l = m.loop("i1", 5);
       m.store(l, m.load(a));
       m.b.end(l);
       m.b.end(g);
       m.b.end(a);
     },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 0\n%3 = Const int32 4\n%4 = Const int32 5\n%5 = Loop "
     "int32 i0 %2 %3\n"
     "  %6 = Alu CmpLt bool %2 %5\n  %7 = If %6\n    %8 = Load float32 %1 %5\n    %9 = Loop int32 i1 %2 %4\n      %10 = Store float32 %0 "
     "%9 %8\n"
     "    %11 = End %9\n  %12 = End %7\n%13 = End %5\n"},
    {"a number behind sums is loaded once", hoist_invariants, [](Maker& m) { m.sums(1); },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 0\n%3 = Const int32 4\n%4 = Const int32 9\n"
     "%5 = Load float32 %1 %2\n%6 = Loop int32 i0 %2 %3\n  %7 = DefineAcc float32 0.0 0\n  %8 = Loop int32 r0 %2 %4\n"
     "    %9 = Load float32 %1 %8\n    %10 = Alu Add float32 %7 %9\n    %11 = Phi float32 %7 %10\n  %12 = End %8\n"
     "  %13 = Alu Add float32 %11 %5\n  %14 = Store float32 %0 %6 %13\n%15 = End %6\n"},
    {"a vector is loaded where it is added to a sum", hoist_invariants, [](Maker& m) { m.sums(4); },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 0\n%3 = Const int32 4\n%4 = Const int32 9\n"
     "%5 = Loop int32 i0 %2 %3\n  %6 = DefineAcc float32x4 0.0 0\n  %7 = Loop int32 r0 %2 %4\n    %8 = Load float32x4 %1 %7\n"
     "    %9 = Alu Add float32x4 %6 %8\n    %10 = Phi float32x4 %6 %9\n  %11 = End %7\n  %12 = Load float32x4 %1 %2\n"
     "  %13 = Alu Add float32x4 %10 %12\n  %14 = Store float32x4 %0 %5 %13\n%15 = End %5\n"},
    {"in all lanes x * 1, and integers: y + y * 0, at least the smallest one", fold_constants,
     [](Maker& m) {
       const auto all = [&](const UOp* number) {
         return m.b.add(UOp{.uop = UOpKind::Vectorize, .dtype = number->dtype, .lanes = 4, .src = {number, number, number, number}});
       };
       const UOp* x = m.b.alu(Op::Mul, kF32, {m.load(m.i32(0), 4), all(m.f32(1))});
       const UOp* y = m.b.add(UOp{.uop = UOpKind::Cast, .dtype = kI32, .lanes = 4, .src = {x}});
       const UOp* same = m.b.alu(Op::Add, kI32, {y, m.b.alu(Op::Mul, kI32, {y, all(m.i32(0))})});
       const UOp* larger = m.b.alu(Op::Max, kI32, {all(m.i32(INT32_MIN)), same});
       m.store(m.i32(0), m.b.add(UOp{.uop = UOpKind::Cast, .dtype = kF32, .lanes = 4, .src = {larger}}));
     },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 0\n%3 = Load float32x4 %1 %2\n%4 = Const float32 1.0\n"
     "%5 = Vectorize float32x4 %4 %4 %4 %4\n%6 = Cast int32x4 %3\n%7 = Vectorize int32x4 %2 %2 %2 %2\n%8 = Const int32 -2147483648\n"
     "%9 = Vectorize int32x4 %8 %8 %8 %8\n%10 = Cast float32x4 %6\n%11 = Store float32x4 %0 %2 %10\n"},
    {"nine times x", sum_loops,
     [](Maker& m) {
       const UOp* x = m.load(m.i32(0));
       const UOp* acc = m.acc();
       const UOp* l = m.loop("r0", 9);
       const UOp* p = m.phi(acc, m.b.alu(Op::Add, kF32, {acc, x}));
       m.b.end(l);
       m.store(m.i32(0), p);
     },
     "%0 = DefineGlobal float32 0\n%1 = DefineGlobal float32 1\n%2 = Const int32 0\n%3 = Load float32 %1 %2\n%4 = DefineAcc float32 0.0 0\n"
     "%5 = Const int32 9\n%6 = Const float32 9.0\n%7 = Alu Mul float32 %3 %6\n%8 = Alu Add float32 %4 %7\n%9 = Phi float32 %4 %8\n"
     "%10 = Loop int32 r0 %2 %5\n  %11 = Alu Add float32 %4 %3\n%12 = End %10\n%13 = Store float32 %0 %2 %9\n"},
};

TEST(Passes, BeforeAndAfter) {
  for (const PassCase& t : kCases) {
    Maker m;
    t.make(m);
    const UOpList list = m.b.finish();
    verify(list, "nothing");
    const UOpList after = t.pass(list);
    verify(after, t.name);
    EXPECT_EQ(to_text(after), t.after) << t.name;
  }
}

TEST(Passes, FoldingIsTyped) {
  struct Row {
    Op op;
    DType dtype;
    double a, b;
    double result;
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Row table[] = {
      {Op::Add, DType::UInt8, 200, 100, 44},    {Op::Add, DType::Int8, 100, 100, -56},
      {Op::Div, DType::Int32, -7, 2, -3},       {Op::Div, DType::Int32, 5, 0, 0},
      {Op::Mod, DType::Int32, -7, 2, -1},       {Op::Div, DType::Int8, -128, -1, -128},
      {Op::Max, DType::Float32, kNan, 1, kNan}, {Op::Max, DType::Float32, 1, kNan, kNan},
      {Op::Min, DType::Float32, 1, kNan, kNan}, {Op::Add, DType::Float32, 16777216, 1, 16777216},
      {Op::Add, DType::Float16, 2048, 1, 2048}, {Op::Add, DType::Float64, 16777216, 1, 16777217},
      {Op::Shl, DType::Int32, 1, 32, 0},        {Op::Shr, DType::Int32, -5, 40, -1},
  };
  for (const Row& t : table) {
    const auto got = evaluate(t.op, t.dtype, {Scalar::of_double(t.dtype, t.a), Scalar::of_double(t.dtype, t.b)});
    ASSERT_TRUE(got);
    if (std::isnan(t.result)) {
      EXPECT_TRUE(got->is_nan());
    } else {
      EXPECT_EQ(got->as_double(), t.result) << name_of(t.op) << " " << name_of(t.dtype);
    }
  }
}

}  // namespace
}  // namespace etch::passes_test
