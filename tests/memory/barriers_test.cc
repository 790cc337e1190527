// Where workers wait for each other: by hand, and for random programs against a record of who touched each byte since the last barrier.
#include "memory/barriers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "support/rounds.h"

namespace etch {
namespace {

class Calls {
 public:
  Calls() {
    program.workers.most = 2;
    for (const char* loop : {"y", ""}) {
      program.kernels.emplace_back();
      program.kernels.back().shared = loop;
    }
  }
  int buffer(BufferKind kind, std::int64_t bytes, std::int64_t offset = -1) {
    ProgramBuffer b;
    b.kind = kind;
    b.dtype = DType::UInt8;
    b.max_elements = bytes;
    program.buffers.push_back(b);
    plan.placements.push_back({.offset = offset});
    return static_cast<int>(program.buffers.size()) - 1;
  }
  /// Reads all buffers but the first.
  void call(std::vector<int> buffers, bool alone = false) {
    ProgramCall c;
    c.kernel = alone ? 1 : 0;
    for (const int b : buffers) c.arguments.push_back({b, c.arguments.empty() ? Access::Write : Access::Read});
    program.calls.push_back(c);
  }
  /// The calls as letters: w waits, A alone, _ neither, W both.
  std::string text() const {
    std::string text;
    for (const SharedCall& c : shared_calls(program, plan)) text += c.waits && c.alone ? 'W' : c.waits ? 'w' : c.alone ? 'A' : '_';
    return text;
  }

  Program program;
  MemoryPlan plan;
};

TEST(Barriers, StandBetweenCallsThatShareBytes) {
  Calls c;
  const int in = c.buffer(BufferKind::Input, 64), a = c.buffer(BufferKind::Intermediate, 64, 0);
  const int b = c.buffer(BufferKind::Intermediate, 64, 64), out = c.buffer(BufferKind::Output, 64);
  c.call({a, in});
  c.call({b, in});      // beside the first
  c.call({out, a, b});  // what both wrote
  EXPECT_EQ(c.text(), "__w");
}

TEST(Barriers, StandBeforeWhatIsWrittenOverAnother) {
  Calls c;
  const int in = c.buffer(BufferKind::Input, 64), a = c.buffer(BufferKind::Intermediate, 64, 0), out = c.buffer(BufferKind::Output, 32);
  const int over = c.buffer(BufferKind::Intermediate, 16, 48), beside = c.buffer(BufferKind::Intermediate, 16, 64);
  c.call({a, in});
  c.call({out, a});       // waits
  c.call({beside, in});   // nobody has touched that
  c.call({over, in});     // what the second reads
  c.call({out, beside});  // behind that barrier, but the output is that of the second
  EXPECT_EQ(c.text(), "_w_w_");
}

TEST(Barriers, AreNotNeededByOneWorker) {
  Calls c;
  const int in = c.buffer(BufferKind::Input, 64), a = c.buffer(BufferKind::Intermediate, 64, 0);
  const int b = c.buffer(BufferKind::Intermediate, 64, 64), out = c.buffer(BufferKind::Output, 64);
  c.call({a, in}, true);
  c.call({b, a}, true);  // the same worker
  c.call({out, b});
  EXPECT_EQ(c.text(), "AAw");
}

TEST(Barriers, ConstantsAndStates) {
  Calls c;
  const int in = c.buffer(BufferKind::Input, 64), w = c.buffer(BufferKind::Constant, 64), state = c.buffer(BufferKind::State, 64);
  const int out = c.buffer(BufferKind::Output, 64), more = c.buffer(BufferKind::Output, 64);
  c.call({out, in, w});
  c.call({more, state, w});
  c.call({state, in});  // others still read it
  EXPECT_EQ(c.text(), "__w");
}

// The next turn may need what the one before wrote.
TEST(Barriers, StandAtTheEdgesOfLoops) {
  Calls c;
  const int in = c.buffer(BufferKind::Input, 64), a = c.buffer(BufferKind::Intermediate, 64, 0), out = c.buffer(BufferKind::Output, 64);
  const int b = c.buffer(BufferKind::Intermediate, 64, 64), more = c.buffer(BufferKind::Output, 64);
  c.call({a, in});
  c.call({b, in}, true);
  c.call({out, in});
  c.call({more, in});
  c.program.loops.push_back({"t", 3, 1, 3});
  EXPECT_EQ(c.text(), "_W_w");
}

TEST(Barriers, OfRandomPrograms) {
  std::mt19937 rng(41);
  int waiting = 0, calls = 0;
  for (int round = 0; round < test::rounds(300); round++) {
    Calls c;
    std::vector<int> buffers{c.buffer(BufferKind::Input, 40)};
    for (int n = 0; n < 12; n++)
      buffers.push_back(c.buffer(BufferKind::Intermediate, 1 + rng() % 40, static_cast<std::int64_t>(rng() % 120)));
    for (int n = 0; n < 20; n++) {
      std::vector<int> used{buffers[1 + rng() % 12]};
      for (std::size_t k = rng() % 3; k > 0; k--) used.push_back(buffers[rng() % 13]);
      c.call(used, rng() % 3 == 0);
    }
    struct Access {
      bool written = false, by_all = false, any = false;
    };
    std::map<std::int64_t, Access> since;  // by byte; the input lies elsewhere
    const std::vector<SharedCall> shared = shared_calls(c.program, c.plan);
    for (std::size_t n = 0; n < shared.size(); n++) {
      bool must_wait = false;
      const auto each_byte = [&](auto visit) {
        for (const CallArgument& a : c.program.calls[n].arguments) {
          const auto b = static_cast<std::size_t>(a.buffer);
          const std::int64_t first = c.plan.placements[b].offset < 0 ? 1000 : c.plan.placements[b].offset;
          for (std::int64_t at = first; at < first + c.program.buffers[b].max_elements; at++)
            visit(since[at], a.access == etch::Access::Write);
        }
      };
      each_byte([&](const Access& before, bool writes) {
        must_wait |= before.any && (before.written || writes) && (before.by_all || !shared[n].alone);
      });
      ASSERT_EQ(shared[n].waits, must_wait) << "round " << round << ", call " << n;
      if (must_wait) since.clear();
      each_byte([&](Access& now, bool writes) {
        now.any = true;
        now.written |= writes;
        now.by_all |= !shared[n].alone;
      });
      waiting += must_wait ? 1 : 0;
      calls++;
    }
  }
  EXPECT_GT(waiting, calls / 10);
  EXPECT_LT(waiting, calls);
}

}  // namespace
}  // namespace etch
