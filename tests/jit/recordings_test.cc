// What recordings of TinyJit keep apart: memory that a call gives, memory that the function finds, and the sizes of both.
#include <numeric>

#include "jit/jit_backends.h"
#include "jit/tinyjit.h"

namespace etch {
namespace {

using test::error_of;
using test::expect_error;
using Tensors = std::vector<Tensor>;

class Recordings : public test::JitBackends {};
INSTANTIATE_TEST_SUITE_P(Backends, Recordings, test::most_backends(), test::name_of_backend);

TEST_P(Recordings, ACapturedSizeHoldsForReplays) {
  const Sint n = session().variable("n", 1, 6);
  const Tensor table = session().from(test::floats({3}, {1, 2, 3}), {n});
  TinyJit f(session(), [&](const Tensors& in) { return Tensors{(table * in[0]).sum({0})}; });
  const auto call = [&](const std::vector<double>& x) {
    return doubles(f({session().from(test::floats({static_cast<std::int64_t>(x.size())}, x), {n})})[0]);
  };
  for (int k = 0; k < 3; k++) EXPECT_EQ(call({1, 1, 2}), (std::vector<double>{9}));
  expect_error(error_of([&] { call({1, 1, 2, 5, 5}); }), "variable 'n': is 5 and 3 at once");
  TinyJit binds(session(), [&](const Tensors& in) {
    session().bind(n, 2);
    return Tensors{in[0] + 1.0};
  });
  binds({floats({1}, {1})});
  expect_error(error_of([&] { binds({floats({1}, {1})}); }), "recorded function: binds a variable, which no replay would repeat");
}

TEST_P(Recordings, ValuesOfOneVariableInSeveralCapturedTensorsAreRefused) {
  const Sint n = session().variable("n", 0, 6);
  const Tensor three = session().from(test::floats({3}, {1, 1, 1}), {n}), five = session().from(test::floats({5}, {1, 1, 1, 1, 1}), {n});
  TinyJit f(session(), [&](const Tensors& in) {
    return Tensors{session().realize(three.sum({0}) + in[0]), session().realize(five.sum({0}) + in[0])};
  });
  f({floats({1}, {0})});
  expect_error(error_of([&] { f({floats({1}, {0})}); }),
               "variable 'n': is 3 and 5 in tensors that the recorded function reads without being given them");
  TinyJit g(session(), [&](const Tensors& in) { return Tensors{in[0].sum({0}) + 1.0}; });  // of any size, also of none
  for (const std::vector<double>& x : std::vector<std::vector<double>>{{1, 2}, {}, {4}, {}, {1, 2, 3}}) {
    const Tensor given = session().from(test::floats({static_cast<std::int64_t>(x.size())}, x), {n});
    EXPECT_EQ(doubles(g({given})[0])[0], std::accumulate(x.begin(), x.end(), 1.0));
  }
  const Sint other = session().variable("other", 1, 9);
  TinyJit h(session(), [&](const Tensors& in) { return Tensors{in[0] + 1.0}; });
  session().bind(other, 4);
  for (int call = 0; call < 4; call++) {
    EXPECT_EQ(doubles(h({floats({1}, {3})})[0]), (std::vector<double>{4}));
    if (call == 1) session().unbind(other);  // the function never used it
  }
}

TEST_P(Recordings, WrittenArgumentsAreNoMemoryThatTheRecordingReads) {
  const Tensor w = floats({4}, {1, 2, 3, 4});
  TinyJit f(session(), [&](const Tensors& in) {
    session().assign(in[0], in[0] + w.flip({0}));
    return Tensors{};
  });
  for (int call = 0; call < 3; call++) {
    const Tensor x = floats({4}, {0, 0, 0, 0});
    f({x});
    EXPECT_EQ(doubles(x), (std::vector<double>{4, 3, 2, 1}));
  }
  expect_error(error_of([&] { f({w}); }), "argument 0: is written by the recorded function, which also reads that memory by itself");
}

TEST_P(Recordings, AssignedMemoryIsNoResult) {
  Tensor state;
  TinyJit counts(session(), [&](const Tensors& in) {
    if (!state) state = session().realize(in[0] * 0.0);
    session().assign(state, state + in[0]);
    return Tensors{state};
  });
  TinyJit steps(session(), [&](const Tensors& in) {
    const Tensor next = in[0] + 1.0;
    session().assign(in[0], next);
    return Tensors{next};
  });
  const Tensor one = floats({1}, {1}), x = floats({1}, {0});
  Tensors counted, stepped;
  for (int call = 0; call < 4; call++) {
    counted.push_back(counts({one})[0]);
    stepped.push_back(steps({x})[0]);
  }
  for (std::size_t call = 0; call < 4; call++) {
    EXPECT_EQ(doubles(counted[call]), (std::vector<double>{static_cast<double>(call) + 1}));
    EXPECT_EQ(doubles(stepped[call]), (std::vector<double>{static_cast<double>(call) + 1}));
  }
}

}  // namespace
}  // namespace etch
