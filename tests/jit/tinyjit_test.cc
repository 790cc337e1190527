// TinyJit: run 0 plain, run 1 recorded, run 2 and later replayed; compared with numbers worked out here.
#include "jit/tinyjit.h"

#include "jit/jit_backends.h"

namespace etch {
namespace {

using test::error_of;
using test::expect_error;
using Tensors = std::vector<Tensor>;

class Jit : public test::JitBackends {
 protected:
  /// Floats that differ from call to call.
  Tensor numbers(const std::vector<std::int64_t>& shape, int call) {
    std::int64_t size = 1;
    for (const std::int64_t d : shape) size *= d;
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; i++) values.push_back(static_cast<double>((i * 7 + call * 5) % 11) - 5);
    return floats(shape, values);
  }
  bool is_compiled() const { return GetParam() != "interp"; }
};
#ifndef ETCH_FURTHER_BACKENDS
INSTANTIATE_TEST_SUITE_P(Backends, Jit, test::all_backends(), test::name_of_backend);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Jit);
#endif
// What takes the other devices long runs there in the long tests.
class JitOnHost : public Jit {};
INSTANTIATE_TEST_SUITE_P(Backends, JitOnHost, test::most_backends(), test::name_of_backend);

TEST_P(Jit, RunsThenRecordsThenReplays) {
  int traced = 0;
  TinyJit add(session(), [&](const Tensors& in) {
    traced++;
    return Tensors{in[0] + in[1] * 2.0};
  });
  for (int call = 0; call < 5; call++) {
    const Tensor a = numbers({3, 4}, call), b = numbers({3, 4}, call + 7);
    std::vector<double> expected = doubles(a);
    for (std::size_t i = 0; i < expected.size(); i++) expected[i] += 2 * doubles(b)[i];
    kernels_run();
    EXPECT_EQ(doubles(add({a, b})[0]), expected);
    EXPECT_EQ(kernels_run(), 1);
    EXPECT_EQ(traced, std::min(call + 1, 2));
    EXPECT_EQ(add.jit_cache().items.size(), call == 0 ? 0u : 1u);
  }
  EXPECT_EQ(add.count(), 5);
  add.reset();
  const Tensor c = numbers({2}, 1);
  EXPECT_EQ(doubles(add({c, numbers({2}, 1) * 0.0})[0]), doubles(c));  // and inputs may be lazy
  EXPECT_EQ(traced, 3);
}

// tinygrad's: what a call returned is overwritten by the next one.
TEST_P(JitOnHost, ResultsOfACallKeepTheirValues) {
  TinyJit twice(session(), [&](const Tensors& in) { return Tensors{in[0] * 2.0, in[0], in[0].sum({0})}; });
  std::vector<Tensors> results;
  for (int call = 0; call < 6; call++) results.push_back(twice({floats({2}, {call * 1.0, call + 10.0})}));
  for (int call = 0; call < 6; call++) {
    const auto& r = results[static_cast<std::size_t>(call)];
    EXPECT_EQ(doubles(r[0]), (std::vector<double>{2.0 * call, 2.0 * call + 20}));
    EXPECT_EQ(doubles(r[1]), (std::vector<double>{call * 1.0, call + 10.0}));
    EXPECT_EQ(doubles(r[2]), (std::vector<double>{2.0 * call + 10}));
  }
  const std::int64_t used = counters_->values().mem_used;
  for (int call = 0; call < 4; call++)
    for (const Tensor& t : twice({floats({2}, {1, 2})})) session().release(t);
  EXPECT_EQ(counters_->values().mem_used, used);
}

TEST_P(JitOnHost, TensorsOfTheSurroundingsAreReadAnew) {
  const Tensor weight = floats({2}, {1, 10});
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{in[0] * weight}; });
  for (int call = 0; call < 4; call++) {
    EXPECT_EQ(doubles(f({floats({2}, {3, 4})})[0]), (std::vector<double>{3.0 + 3 * call, 40.0 + 4 * call}));
    session().assign(weight, weight + 1.0);
  }
}

TEST_P(Jit, AssignmentsAreReplayed) {
  const Tensor sum = floats({2}, {0, 0}), turned = floats({2, 2}, {1, 2, 3, 4});
  TinyJit step(session(), [&](const Tensors& in) {
    session().assign({{sum, sum + in[0]}, {turned, turned.transpose(0, 1) + in[0].sum({0}).reshape({1, 1})}});
    return Tensors{sum * 1.0};
  });
  std::vector<double> expected{0, 0}, matrix{1, 2, 3, 4};
  for (int call = 0; call < 6; call++) {
    const double a = call, b = 2 * call - 3;
    const std::vector<double> got = doubles(step({floats({2}, {a, b})})[0]);
    expected = {expected[0] + a, expected[1] + b};
    matrix = {matrix[0] + a + b, matrix[2] + a + b, matrix[1] + a + b, matrix[3] + a + b};
    EXPECT_EQ(got, expected);
    EXPECT_EQ(doubles(sum), expected);
    EXPECT_EQ(doubles(turned), matrix);
  }
}

TEST_P(JitOnHost, SeveralRealizesInOneFunction) {
  TinyJit f(session(), [&](const Tensors& in) {
    const Tensor mean = session().realize(in[0].sum({0}) * 0.25);
    const Tensor centred = session().realize(in[0] - mean);
    return Tensors{(centred * centred).sum({0}), mean};
  });
  for (int call = 0; call < 4; call++) {
    const Tensors out = f({floats({4}, {1.0 * call, 2, 3, 6})});
    const double mean = (call + 11) / 4.0;
    const auto square = [&](double v) { return (v - mean) * (v - mean); };
    test::expect_near(doubles(out[0]), {square(call) + square(2) + square(3) + square(6)});
    test::expect_near(doubles(out[1]), {mean});
  }
}

TEST_P(JitOnHost, RandomNumbersDifferFromCallToCall) {
  session().manual_seed(7);
  std::vector<std::vector<double>> plain, replayed;
  for (int call = 0; call < 5; call++) plain.push_back(doubles(session().rand({20}) + floats({20}, std::vector<double>(20, 1.0))));
  session().manual_seed(7);
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{session().rand({20}) + in[0]}; });
  for (int call = 0; call < 5; call++) replayed.push_back(doubles(f({floats({20}, std::vector<double>(20, 1.0))})[0]));
  EXPECT_EQ(replayed, plain);
}

TEST_P(Jit, OneRecordingServesAllValuesOfAVariable) {
  const Sint n = session().variable("n", 1, 10);
  TinyJit attention(session(), [&](const Tensors& in) {  // of one query: in[1] are keys and values [n,4]
    const Tensor scores = in[1].matmul(in[0].reshape({4, 1}));
    const Tensor weights = (scores - scores.max({0}, true)).exp();
    return Tensors{(weights * in[1]).sum({0}) / weights.sum({0})};
  });
  std::size_t kernels = 0;
  for (const std::int64_t size : {4, 7, 1, 10, 3, 4}) {
    const Tensor q = floats({4}, {0.1, -0.2, 0.3, 0.05});
    const Array keys = session().values(numbers({size, 4}, static_cast<int>(size)));
    const std::vector<double> k = keys.doubles(), query = doubles(q);
    std::vector<double> expected(4);
    double total = 0;
    for (std::int64_t r = 0; r < size; r++) {
      double score = 0;
      for (std::size_t c = 0; c < 4; c++) score += k[static_cast<std::size_t>(r) * 4 + c] * query[c];
      total += std::exp(score);
      for (std::size_t c = 0; c < 4; c++) expected[c] += std::exp(score) * k[static_cast<std::size_t>(r) * 4 + c];
    }
    for (double& v : expected) v /= total;
    test::expect_near(doubles(attention({q, session().from(keys, {n, 4})})[0]), expected);
    if (attention.count() == 2) kernels = attention.jit_cache().items.size();
    if (attention.count() > 2) {
      EXPECT_EQ(attention.jit_cache().items.size(), kernels);
    }
  }
}

TEST_P(JitOnHost, ResultsMayHaveOpenSizes) {
  const Sint n = session().variable("n", 1, 6);
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{Tensor::cat({in[0], in[0] * 2.0}, 1)}; });
  for (const std::int64_t size : {2, 6, 1, 5}) {
    const Array x = session().values(numbers({size, 2}, 3));
    const Array y = session().values(f({session().from(x, {n, 2})})[0]);
    ASSERT_EQ(y.shape(), (std::vector<std::int64_t>{size, 4}));
    for (std::int64_t i = 0; i < size; i++)
      for (std::int64_t c = 0; c < 4; c++) EXPECT_EQ(y.double_at(i * 4 + c), x.double_at(i * 2 + c % 2) * (c < 2 ? 1 : 2));
  }
}

TEST_P(JitOnHost, BoundVariablesAreGivenAnewInEachCall) {
  const Sint position = session().variable("position", 0, 3);
  TinyJit pick(session(), [&](const Tensors& in) { return Tensors{in[0].at(0, position) + 0.5}; });
  for (const std::int64_t k : {0, 3, 1, 2, 3}) {
    session().bind(position, k);
    EXPECT_EQ(doubles(pick({floats({4, 1}, {10, 20, 30, 40})})[0]), (std::vector<double>{10.5 + 10.0 * static_cast<double>(k)}));
  }
  session().unbind(position);
  expect_error(error_of([&] { pick({floats({4, 1}, {10, 20, 30, 40})}); }),
               "is called with the variables none; it was recorded for position");
}

TEST_P(Jit, LoopsAreRecordedAsLoops) {
  TinyJit f(session(), [&](const Tensors& in) {
    const LoopResults made = Tensor::loop(session().graph(), 50, {in[0]}, [&](Sint turn, const Tensors& carried) {
      return LoopTurn{{carried[0] * 0.5 + in[1].at(0, turn)}, {}};
    });
    return Tensors{made.carried[0] + 1.0};
  });
  for (int call = 0; call < 4; call++) {
    const Tensor start = numbers({2}, call), x = numbers({50, 2}, call + 2);
    std::vector<double> state = doubles(start);
    const std::vector<double> values = doubles(x);
    for (std::size_t t = 0; t < 50; t++)
      for (std::size_t k = 0; k < 2; k++) state[k] = state[k] * 0.5 + values[2 * t + k];
    test::expect_near(doubles(f({start, x})[0]), {state[0] + 1, state[1] + 1});
  }
  ASSERT_EQ(f.jit_cache().loops.size(), 1u);
  EXPECT_LE(f.jit_cache().items.size(), 5u);  // not one an turn
  EXPECT_GE(get_jit_stats(f.jit_cache(), {}).kernels, 50);
}

TEST_P(JitOnHost, MemoryBetweenKernelsIsShared) {
  TinyJit f(session(),
            [&](const Tensors& in) {
              Tensor x = in[0];
              for (int k = 0; k < 12; k++) x = ((x + 1.0).contiguous() * x.sum({0})).contiguous();
              return Tensors{x * 1e-9};
            },
            {.graphs = false});
  for (int call = 0; call < 3; call++) f({floats({256}, std::vector<double>(256, 1e-3 * call))});
  std::set<const void*> places;
  std::int64_t kernels = 0;
  for (const JitItem& item : f.jit_cache().items) {
    kernels++;
    for (const auto& buffer : item.rawbufs)
      if (buffer && buffer->size() == 256) places.insert(buffer->opaque());
  }
  EXPECT_GE(kernels, 24);
  EXPECT_LE(places.size(), 4u);
}

TEST_P(JitOnHost, StatsAreSumsOfWhatRuns) {
  for (const bool graphs : {false, true}) {
    TinyJit f(session(), [&](const Tensors& in) { return Tensors{in[0].matmul(in[1]), in[0].contiguous() + 1.0}; }, {.graphs = graphs});
    for (int call = 0; call < 2; call++) f({numbers({4, 6}, call), numbers({6, 5}, call)});
    EXPECT_EQ(f.jit_cache().items.size(), graphs && is_compiled() ? 1u : 2u);
    const JitStats stats = get_jit_stats(f.jit_cache(), {});
    const GlobalCounters::Values before = counters_->values();
    f({numbers({4, 6}, 9), numbers({6, 5}, 9)});
    const GlobalCounters::Values after = counters_->values();
    EXPECT_EQ(stats.op_estimate, after.global_ops - before.global_ops);
    EXPECT_EQ(stats.mem_estimate, after.global_mem - before.global_mem);
    EXPECT_EQ(stats.kernels, after.kernel_count - before.kernel_count);
    EXPECT_EQ(stats.kernels, 2);
    EXPECT_EQ(stats.op_estimate, 2 * 4 * 6 * 5 + 4 * 6);
  }
}

TEST_P(JitOnHost, OtherInputsAreRefused) {
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{in[0] + 1.0}; });
  for (int call = 0; call < 3; call++) f({numbers({4}, call)});
  const std::string recorded = "it was recorded for float32 [4]\n  help: call reset() first";
  expect_error(error_of([&] { f({numbers({5}, 0)}); }), "recorded function: is called with float32 [5]; " + recorded);
  expect_error(error_of([&] { f({numbers({2, 2}, 0)}); }), "is called with float32 [2,2]; " + recorded);
  expect_error(error_of([&] { f({session().from(Array::of_ints(DType::Int32, {4}, std::vector<std::int64_t>{1, 2, 3, 4}))}); }),
               "is called with int32 [4]; " + recorded);
  expect_error(error_of([&] { f({}); }), "is called with none; " + recorded);
  expect_error(error_of([&] { f({numbers({4}, 0), numbers({4}, 1)}); }), "is called with float32 [4], float32 [4]; " + recorded);
  EXPECT_EQ(doubles(f({floats({4}, {1, 2, 3, 4})})[0]), (std::vector<double>{2, 3, 4, 5}));  // and it still works
}

TEST_P(JitOnHost, DuplicateInputsAndEmptyRecordingsAreRefused) {
  TinyJit add(session(), [&](const Tensors& in) { return Tensors{in[0] + in[1]}; });
  const Tensor x = numbers({4}, 0);
  expect_error(error_of([&] { add({x, x}); }), "arguments 0 and 1: are the same memory");
  expect_error(error_of([&] { add({x, x.reshape({2, 2})}); }), "arguments 0 and 1: are the same memory");
  TinyJit nothing(session(), [&](const Tensors& in) { return Tensors{in[0]}; });
  nothing({numbers({4}, 0)});
  expect_error(error_of([&] { nothing({numbers({4}, 1)}); }), "recorded function: ran no kernel");
}

TEST_P(JitOnHost, WhatNoReplayRepeatsIsRefused) {
  TinyJit reads(session(), [&](const Tensors& in) { return Tensors{in[0] * session().values(in[0]).double_at(0)}; });
  reads({numbers({4}, 0)});
  expect_error(error_of([&] { reads({numbers({4}, 1)}); }), "recorded function: reads values on the host, which no replay would repeat");
  TinyJit makes(session(), [&](const Tensors& in) { return Tensors{in[0] + floats({4}, {1, 2, 3, 4})}; });
  makes({numbers({4}, 0)});
  expect_error(error_of([&] { makes({numbers({4}, 1)}); }), "recorded function: makes a tensor of values of the host");
  EXPECT_EQ(doubles(numbers({1}, 0) * 0.0 + 3.0), (std::vector<double>{3}));  // the session goes on
}

TEST_P(JitOnHost, ARecordedFunctionInsideOfAnotherBecomesPartOfIt) {
  TinyJit twice(session(), [&](const Tensors& in) { return Tensors{in[0] * 2.0}; });
  for (const int before : {0, 3}) {
    for (int call = 0; call < before; call++) twice({floats({1}, {1})});
    TinyJit outer(session(), [&](const Tensors& in) { return Tensors{twice({in[0] + 1.0})[0] + 1.0}; });
    for (int call = 1; call <= 5; call++) EXPECT_EQ(doubles(outer({floats({1}, {1.0 * call})})[0]), (std::vector<double>{2.0 * call + 3}));
    twice.reset();
  }
}

TEST_P(JitOnHost, MemoryThatTheRecordingWritesIsNoArgument) {
  const Tensor w = floats({4}, {1, 2, 3, 4});
  TinyJit f(session(), [&](const Tensors& in) {
    session().assign(w, in[0].flip({0}) + w);
    return Tensors{w * 1.0};
  });
  for (int call = 0; call < 2; call++) f({floats({4}, {0, 0, 0, 0})});
  expect_error(error_of([&] { f({w}); }), "argument 0: is memory that the recorded function writes by itself");
  EXPECT_EQ(doubles(f({floats({4}, {4, 3, 2, 1})})[0]), (std::vector<double>{2, 4, 6, 8}));
}

TEST_P(JitOnHost, SeedsReachRecordings) {
  session().manual_seed(1);
  const std::vector<double> first = doubles(session().rand({8})), second = doubles(session().rand({8}));
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{session().rand({8}) + in[0]}; });
  const auto draw = [&] { return doubles(f({floats({8}, std::vector<double>(8, 0.0))})[0]); };
  for (int call = 0; call < 4; call++) {
    session().manual_seed(1);  // also between the plain call and the recording
    EXPECT_EQ(draw(), first) << call;
  }
  EXPECT_EQ(doubles(session().rand({8})), second);
}

TEST_P(JitOnHost, ResultsAreNeitherTargetsNorShapesOfOtherCalls) {
  const Tensor w = floats({2}, {0, 0});
  TinyJit f(session(), [&](const Tensors& in) {
    const Tensor value = w + in[0];
    session().assign(w, value);
    return Tensors{value, w, in[0].reshape({2, 1})};
  });
  std::vector<Tensors> results;
  for (int call = 0; call < 5; call++) results.push_back(f({floats({2}, {1, 10})}));
  for (int call = 0; call < 5; call++) {
    const Tensors& r = results[static_cast<std::size_t>(call)];
    const std::vector<double> expected{call + 1.0, 10 * (call + 1.0)};
    EXPECT_EQ(doubles(r[0]), expected) << call;
    EXPECT_EQ(doubles(r[1]), expected) << call;
    EXPECT_EQ(session().values(r[2]), test::floats({2, 1}, {1, 10}));
  }
}

TEST_P(JitOnHost, OpenSizesMayBeCapturedAndOtherVariablesBoundLater) {
  const Sint n = session().variable("n", 1, 6);
  const Tensor table = session().from(test::floats({3}, {1, 2, 3}), {n});
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{(table * 2.0).sum({0}) + in[0], (in[0] + 1.0).contiguous()}; });
  for (int call = 0; call < 4; call++) EXPECT_EQ(doubles(f({floats({1}, {1.0 * call})})[0]), (std::vector<double>{12.0 + call}));
  session().bind(session().variable("m", 1, 4), 2);
  EXPECT_EQ(doubles(f({floats({1}, {5})})[0]), (std::vector<double>{17}));
}

TEST_P(JitOnHost, LoopsMayHaveNoTurnsWhileTheyAreRecorded) {
  const Sint turns = session().variable("turns", 0, 8);
  TinyJit f(session(), [&](const Tensors& in) {
    return Tensors{
        Tensor::loop(session().graph(), turns, {in[0]}, [&](Sint, const Tensors& now) { return LoopTurn{{now[0] * 2.0}, {}}; }).carried[0] +
        0.5};
  });
  for (const std::int64_t count : {0, 0, 3, 0, 5}) {
    session().bind(turns, count);
    EXPECT_EQ(doubles(f({floats({1}, {1})})[0]), (std::vector<double>{static_cast<double>(1 << count) + 0.5})) << count;
  }
}

// ---- graphs of kernels

TEST_P(JitOnHost, KernelsAreReplayedAsGraphs) {
  const auto chain = [&](const Tensors& in) {
    Tensor x = in[0];
    for (int k = 0; k < 7; k++) x = (x + in[1].sum({0})).contiguous();
    return Tensors{x};
  };
  kernels_run();
  for (const int batch : {64, 3, 1}) {
    TinyJit f(session(), chain, {.graphs = true, .batch_size = batch});
    std::int64_t kernels = 0;
    for (int call = 0; call < 4; call++) {
      const Tensor a = numbers({5}, call), b = numbers({6}, call);
      double sum = 0;
      for (const double v : doubles(b)) sum += v;
      std::vector<double> expected = doubles(a);
      for (double& v : expected) v += 7 * sum;
      kernels_run();
      test::expect_near(doubles(f({a, b})[0]), expected);
      const std::int64_t run = kernels_run();
      if (call > 0) {
        EXPECT_EQ(run, kernels);
      }
      kernels = run;
    }
    std::size_t graphs = 0, held = 0;
    for (const JitItem& item : f.jit_cache().items) {
      const auto* graph = dynamic_cast<const GraphRunner*>(item.prg.get());
      if (graph == nullptr) continue;
      graphs++;
      held += static_cast<std::size_t>(graph->kernels());
      EXPECT_LE(graph->kernels(), batch);
    }
    if (!is_compiled() || batch == 1) {
      EXPECT_EQ(graphs, 0u);
    } else {
      EXPECT_GE(held + 1, static_cast<std::size_t>(kernels));
      EXPECT_EQ(graphs, (static_cast<std::size_t>(kernels) + static_cast<std::size_t>(batch) - 1) / static_cast<std::size_t>(batch) -
                            (kernels % batch == 1 ? 1 : 0));
    }
  }
}

TEST_P(Jit, GraphsTakeNewGridsAndValues) {
  const Sint n = session().variable("n", 1, 9);
  TinyJit f(session(), [&](const Tensors& in) {
    const Tensor y = (in[0] * 2.0).contiguous();
    return Tensors{y.sum({0}), (y + y.max({0})).contiguous()};
  });
  for (const std::int64_t size : {3, 9, 1, 5}) {
    const Array x = session().values(numbers({size}, static_cast<int>(size)));
    const Tensors out = f({session().from(x, {n})});
    double sum = 0, largest = -1e9;
    for (const double v : x.doubles()) {
      sum += 2 * v;
      largest = std::max(largest, 2 * v);
    }
    std::vector<double> expected;
    for (const double v : x.doubles()) expected.push_back(2 * v + largest);
    test::expect_near(doubles(out[0]), {sum});
    test::expect_near(doubles(out[1]), expected);
  }
}

TEST_P(JitOnHost, ItemsToUpdateAreThoseWithVariables) {
  const Sint n = session().variable("n", 1, 9);
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{in[0] * 2.0, in[1].sum({0})}; }, {.graphs = false});
  for (int call = 0; call < 2; call++) f({session().from(test::floats({4}, {1, 2, 3, 4}), {n}), numbers({3}, call)});
  const auto& items = f.jit_cache().items;
  ASSERT_EQ(items.size(), 2u);
  const std::vector<int> values = get_jc_idxs_with_updatable_var_vals(items), grids = get_jc_idxs_with_updatable_launch_dims(items);
  EXPECT_EQ(values.size(), is_compiled() ? 1u : 0u);
  EXPECT_EQ(grids.size(), GetParam() == "opencl" || GetParam() == "cuda" ? 1u : 0u);
  EXPECT_EQ(f.input_replace().size(), 4u);  // two inputs and two results
}

#ifndef ETCH_FURTHER_BACKENDS
TEST(SharedPieces, LivesThatMeetHaveOwnPieces) {
  const auto shared = share_pieces({{100, 0, 2}, {50, 1, 3}, {80, 3, 4}, {50, 4, 5}, {10, 6, 6}});
  EXPECT_EQ(shared.piece, (std::vector<int>{0, 1, 0, 1, 1}));
  EXPECT_EQ(shared.bytes, (std::vector<std::int64_t>{100, 50}));
  EXPECT_TRUE(share_pieces({}).bytes.empty());
}
#endif

#ifndef ETCH_FURTHER_BACKENDS
TEST(SharedPieces, RandomLivesNeverMeet) {
  std::uint32_t state = 1;
  const auto next = [&](std::uint32_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
  for (int round = 0; round < 200; round++) {
    std::vector<PlaceHolder> holders;
    for (std::uint32_t k = 0; k < 20; k++) {
      const int first = static_cast<int>(next(30));
      holders.push_back({1 + static_cast<std::int64_t>(next(9)), first, first + static_cast<int>(next(6))});
    }
    const SharedPieces shared = share_pieces(holders);
    for (std::size_t a = 0; a < holders.size(); a++) {
      EXPECT_GE(shared.bytes[static_cast<std::size_t>(shared.piece[a])], holders[a].bytes);
      for (std::size_t b = 0; b < a; b++)
        if (shared.piece[a] == shared.piece[b]) {
          EXPECT_TRUE(holders[a].last < holders[b].first || holders[b].last < holders[a].first);
        }
    }
  }
}
#endif

}  // namespace
}  // namespace etch
