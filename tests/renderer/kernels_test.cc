// Typical kernels, their UOps and their texts in every language, as golden files: UPDATE_GOLDEN=1 rewrites them, and the diff is reviewed.
// That the texts are right is shown where they are run (tests/codegen); here it is shown that they stay as they are.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "program/generate.h"
#include "program/lower.h"
#include "renderer/cstyle.h"
#include "support/golden.h"
#include "target/target.h"

namespace etch {
namespace {

using Shape = std::vector<Sint>;

/// Makes ASTs: arguments 1, 2, ... are inputs.
struct Maker {
  LazyOps ops;
  Symbols symbols;

  const LazyOp* load(int argument, const Shape& shape, DType dtype = DType::Float32) {
    return ops.load(argument, dtype, ShapeTracker::from_shape(shape));
  }
  const LazyOp* view(int argument, const Shape& shape, const Shape& strides, DType dtype = DType::Float32) {
    return ops.load(argument, dtype, ShapeTracker({View::create(shape, strides)}));
  }
  const LazyOp* number(double v, const Shape& shape, DType dtype = DType::Float32) {
    return ops.constant(Scalar::of_double(dtype, v), ShapeTracker::from_shape(Shape(shape.size(), 1)).expand(shape));
  }
  const LazyOp* op(Op o, std::vector<const LazyOp*> src) { return ops.elementwise(o, std::move(src)); }
  const LazyOp* sum(const LazyOp* x, std::vector<int> axes) { return ops.reduce(Op::ReduceSum, x, std::move(axes)); }
  const LazyOp* store(const LazyOp* x) { return ops.store(0, x, ShapeTracker::from_shape(x->shape)); }
};

struct Made {
  const LazyOp* store = nullptr;
  std::vector<Sint> elements;  // of the arguments
};

Made elementwise(Maker& m) {
  return {m.store(m.op(Op::Mul, {m.op(Op::Add, {m.load(1, {12}), m.load(2, {12})}), m.load(1, {12})})), {12, 12, 12}};
}

Made relu_bias(Maker& m) {
  const Shape shape{4, 6};
  const LazyOp* sum = m.op(Op::Add, {m.load(1, shape), m.view(2, shape, {1, 0})});
  return {m.store(m.op(Op::Max, {sum, m.number(0, shape)})), {24, 24, 4}};
}

Made sum(Maker& m) { return {m.store(m.sum(m.load(1, {3, 8}), {1})), {3, 24}}; }

Made max(Maker& m) { return {m.store(m.ops.reduce(Op::ReduceMax, m.load(1, {3, 8}), {1})), {3, 24}}; }

Made mean(Maker& m) { return {m.store(m.op(Op::Mul, {m.sum(m.load(1, {3, 8}), {1}), m.number(0.125, {3, 1})})), {3, 24}}; }

Made matmul(Maker& m) {
  const Shape all{4, 6, 8};
  return {m.store(m.sum(m.op(Op::Mul, {m.view(1, all, {8, 0, 1}), m.view(2, all, {0, 1, 6})}), {2})), {24, 32, 48}};
}

Made matvec(Maker& m) {
  const Shape all{16, 8};
  return {m.store(m.sum(m.op(Op::Mul, {m.view(1, all, {8, 1}), m.view(2, all, {0, 1})}), {1})), {16, 128, 8}};
}

/// A window of 3 x 3 over channels of 6 x 6 padded to 8 x 8, that start `planes` elements from each other.
ShapeTracker windows(const Shape& shape, const Shape& strides) {
  const View padded = View::create({2, 8, 8}, Shape{36, 6, 1}, -7, std::vector<Range>{{0, 2}, {1, 7}, {1, 7}});
  return ShapeTracker({padded, View::create(shape, strides)});
}

Made conv3x3(Maker& m) {
  const Shape all{2, 6, 6, 2, 3, 3};
  const LazyOp* x = m.ops.load(1, DType::Float32, windows(all, {0, 8, 1, 64, 8, 1}));
  return {m.store(m.sum(m.op(Op::Mul, {x, m.view(2, all, {18, 0, 0, 9, 3, 1})}), {3, 4, 5})), {72, 72, 36}};
}

Made depthwise(Maker& m) {
  const Shape all{2, 6, 6, 3, 3};
  const LazyOp* x = m.ops.load(1, DType::Float32, windows(all, {64, 8, 1, 8, 1}));
  return {m.store(m.sum(m.op(Op::Mul, {x, m.view(2, all, {9, 0, 0, 3, 1})}), {3, 4})), {72, 72, 18}};
}

Made softmax_of(Maker& m, const Shape& all) {
  const LazyOp* x = m.load(1, all);
  const LazyOp* e = m.op(Op::Exp, {m.op(Op::Sub, {x, m.ops.expand(m.ops.reduce(Op::ReduceMax, x, {1}), all)})});
  return {m.store(m.op(Op::Div, {e, m.ops.expand(m.sum(e, {1}), all)})), {all[0] * all[1], all[0] * all[1]}};
}

Made softmax(Maker& m) { return softmax_of(m, {3, 8}); }

Made grouped_softmax(Maker& m) { return softmax_of(m, {3, 4096}); }

Made layer_norm(Maker& m) {
  const Shape all{3, 8}, one{3, 1};
  const LazyOp* x = m.load(1, all);
  const LazyOp* mean = m.op(Op::Mul, {m.sum(x, {1}), m.number(0.125, one)});
  const LazyOp* centred = m.op(Op::Sub, {x, m.ops.expand(mean, all)});
  const LazyOp* variance = m.op(Op::Mul, {m.sum(m.op(Op::Mul, {centred, centred}), {1}), m.number(0.125, one)});
  const LazyOp* deviation = m.op(Op::Sqrt, {m.op(Op::Add, {variance, m.number(1e-5, one)})});
  return {m.store(m.op(Op::Div, {centred, m.ops.expand(deviation, all)})), {24, 24}};
}

Made max_pool(Maker& m) { return {m.store(m.ops.reduce(Op::ReduceMax, m.view(1, {2, 3, 3, 2, 2}, {36, 12, 2, 6, 1}), {3, 4})), {18, 72}}; }

Made gather(Maker& m) {
  const LazyOp* index = m.view(2, {4, 6}, {1, 0}, DType::Int64);
  return {m.store(m.ops.load_at(1, DType::Float32, ShapeTracker({View::create({4, 6, 10}, Shape{0, 1, 6})}), index)), {24, 60, 4}};
}

Made cumsum(Maker& m) { return {m.store(m.ops.scan(Op::ReduceSum, m.load(1, {3, 8}), 1)), {24, 24}}; }

Made masked_pad(Maker& m) {
  const View padded = View::create({4, 7}, Shape{5, 1}, -5 - 1, std::vector<Range>{{1, 3}, {1, 6}});
  return {m.store(m.ops.load(1, DType::Float32, ShapeTracker({padded}))), {28, 10}};
}

Made grouped_sum(Maker& m) { return {m.store(m.sum(m.load(1, {8, 64}), {1})), {8, 512}}; }

Made symbolic(Maker& m) {
  const Sint n = m.symbols.variable("n", 1, 16);
  return {m.store(m.sum(m.load(1, {n, 8}), {1})), {n, n * 8}};
}

Made products_of_bytes(Maker& m) {
  const Shape all{2, 16, 8};
  const LazyOp *a = m.view(1, all, {8, 0, 1}, DType::UInt8), *b = m.view(2, all, {0, 1, 16}, DType::Int8);
  return {m.store(m.sum(m.op(Op::Mul, {m.ops.cast(a, DType::Int32), m.ops.cast(b, DType::Int32)}), {2})), {32, 16, 128}};
}

Made products_of_halves(Maker& m) {
  const Shape all{16, 16, 32};
  const LazyOp *a = m.view(1, all, {32, 0, 1}, DType::Float16), *b = m.view(2, all, {0, 1, 16}, DType::Float16);
  return {m.store(m.sum(m.op(Op::Mul, {m.ops.cast(a, DType::Float32), m.ops.cast(b, DType::Float32)}), {2})), {256, 512, 512}};
}

struct Language4 {
  const Language* language;
  const char* suffix;
  const char* target;  // whose instructions it has
};

struct Typical {
  const char* name;
  Made (*make)(Maker&);
  std::vector<Opt> grid_opts = {};  // for languages with a grid, instead of the heuristics
  std::string_view languages = "c cl cu ll";
};

TEST(Golden, TypicalKernels) {
  const Typical table[] = {
      {"elementwise", elementwise},
      {"relu_bias", relu_bias},
      {"sum", sum},
      {"max", max},
      {"mean", mean},
      {"matmul", matmul},
      {"matvec", matvec},
      {"conv3x3", conv3x3, {{OptOp::Local, 1, 3}, {OptOp::Upcast, 0, 2}}},
      {"depthwise", depthwise, {{OptOp::Local, 0, 2}, {OptOp::LastLocal, 0, 3}}},
      {"softmax", softmax},
      {"grouped_softmax", grouped_softmax, {}, "cl cu"},
      {"layer_norm", layer_norm},
      {"max_pool", max_pool, {{OptOp::NoLocals}}},
      {"gather", gather},
      {"cumsum", cumsum},
      {"masked_pad", masked_pad},
      {"grouped_sum", grouped_sum, {{OptOp::GroupTop, 0, 16}, {OptOp::UpcastMid, 0, 2}}},
      {"symbolic", symbolic},
      {"dot_product", products_of_bytes, {}, "c ll"},
      {"matrix_product", products_of_halves, {}, "cu"},
  };
  const Language4 languages[] = {
      {&kC, "c", "x86-64-vnni"}, {&kOpenCl, "cl", "opencl"}, {&kCuda, "cu", "cuda"}, {&kLlvm, "ll", "x86-64-vnni"}};
  std::map<std::string, std::string> files;
  std::map<std::string, int> kernels;  // by language
  for (const Typical& t : table) {
    Maker maker;
    const Made made = t.make(maker);
    KernelSignature signature{t.name, {}, {}};
    for (std::size_t i = 0; i < made.elements.size(); i++)
      signature.arguments.push_back(
          {DType::Float32, made.elements[i], i == 0 ? "out" : std::string(1, "xyz"[i - 1]), i == 0 ? Access::Write : Access::Read, i == 2});
    for (const LazyOp* op : toposort(made.store))
      if (op->op == Op::Load || op->op == Op::Store) signature.arguments.at(static_cast<std::size_t>(op->mem().index)).dtype = op->dtype;
    for (const Language4& l : languages) {
      if (t.languages.find(l.suffix) == std::string_view::npos) continue;
      CodegenOptions options;  // scalars; with what TC needs
      options.has_local = l.language->local_memory;
      options.instructions =
          codegen_options(find_target(l.target, std::filesystem::path(ETCH_SOURCE_DIR) / "targets"), *l.language).instructions;
      if (l.language->grid && !t.grid_opts.empty()) options.opts = t.grid_opts;
      const ProgramKernel kernel = generate_kernel(made.store, signature, *l.language, options);
      std::string text;
      for (const std::string& d : kernel.text.definitions) text += d + "\n";
      files[std::string(t.name) + "." + l.suffix] = text + kernel.text.source;
      kernels[l.suffix]++;
      // Those of the languages with loops are the same, and those with a grid.
      const std::string uops = std::string(t.name) + (l.language->grid ? ".grid" : ".loops") + ".uops";
      const auto [known, is_new] = files.try_emplace(uops, kernel.uops);
      EXPECT_EQ(known->second, kernel.uops) << uops;
    }
  }
  for (const Language4& l : languages) EXPECT_GE(kernels[l.suffix], 15) << l.suffix;
  test::expect_golden("kernels", files);
}

}  // namespace
}  // namespace etch
