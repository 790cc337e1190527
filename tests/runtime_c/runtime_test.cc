// The runtime that targets link, linked here: programs made by hand, every error path, two models that run in turns.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "etch_runtime.h"

namespace {

// out[i] = a[i] + b[i] for n elements, n a variable
void k_add(void* const* arg) {
  float* const out = static_cast<float*>(arg[0]);
  const float* const a = static_cast<const float*>(arg[1]);
  const float* const b = static_cast<const float*>(arg[2]);
  const std::int32_t n = *static_cast<const std::int32_t*>(arg[3]);
  for (std::int32_t i = 0; i < n; i++) out[i] = a[i] + b[i];
}

// out[i] = 2 * in[i] for n elements
void k_double(void* const* arg) {
  float* const out = static_cast<float*>(arg[0]);
  const float* const in = static_cast<const float*>(arg[1]);
  const std::int32_t n = *static_cast<const std::int32_t*>(arg[2]);
  for (std::int32_t i = 0; i < n; i++) out[i] = 2 * in[i];
}

// out = sum of four
void k_sum4(void* const* arg) {
  const float* const in = static_cast<const float*>(arg[1]);
  static_cast<float*>(arg[0])[0] = in[0] + in[1] + in[2] + in[3];
}

alignas(16) constexpr float kBias[4] = {10, 20, 30, 40};

// Model A: y[0..n) = 2 * (x + bias), n in 1..4: x + bias into the arena at 16, doubled into the output.
constexpr etch_ref kArgsA[] = {{ETCH_ARENA, 16}, {ETCH_IO, 0},     {ETCH_CONST, 0}, {ETCH_VAR, 0},
                               {ETCH_IO, 1},     {ETCH_ARENA, 16}, {ETCH_VAR, 0}};
constexpr etch_call kCallsA[] = {{k_add, 0, 4}, {k_double, 4, 3}};
constexpr etch_range kRangesA[] = {{1, 4}};
constexpr std::uint8_t kIoAlignA[] = {alignof(float), alignof(float)};
constexpr etch_program kModelA = {kCallsA, kArgsA, nullptr, kRangesA, 2, 0, 2, 1, 32, 16, 16, kIoAlignA};

// Model B: y = sum of x[0..4); needs no arena and no constants.
constexpr etch_ref kArgsB[] = {{ETCH_IO, 1}, {ETCH_IO, 0}};
constexpr etch_call kCallsB[] = {{k_sum4, 0, 2}};
constexpr etch_program kModelB = {kCallsB, kArgsB, nullptr, nullptr, 1, 0, 2, 0, 0, 1, 0, nullptr};

struct RunA {
  alignas(16) std::array<unsigned char, 48> arena{};
  std::array<float, 4> x{1, 2, 3, 4}, y{-1, -1, -1, -1};
  std::int32_t n = 4;
  void* io[2] = {x.data(), y.data()};
  void* arg[4] = {};
  etch_frame frame{arena.data(), 32, kBias, io, &n, arg, nullptr, nullptr, nullptr};
};

TEST(Run, ComputesWhatTheTableSays) {
  RunA run;
  EXPECT_EQ(etch_run(&kModelA, &run.frame), ETCH_OK);
  EXPECT_EQ(run.y, (std::array<float, 4>{22, 44, 66, 88}));
}

TEST(Run, VariablesLimitWhatIsComputed) {
  for (std::int32_t n = 1; n <= 4; n++) {
    RunA run;
    run.n = n;
    EXPECT_EQ(etch_run(&kModelA, &run.frame), ETCH_OK);
    for (std::size_t i = 0; i < 4; i++)
      EXPECT_EQ(run.y[i], static_cast<std::int32_t>(i) < n ? 2 * (run.x[i] + kBias[i]) : -1) << "n " << n << ", element " << i;
  }
}

TEST(Run, WritesNothingOutsideItsArena) {
  RunA run;
  run.arena.fill(0xA5);
  EXPECT_EQ(etch_run(&kModelA, &run.frame), ETCH_OK);
  for (std::size_t i = 0; i < 16; i++) EXPECT_EQ(run.arena[i], 0xA5);
  for (std::size_t i = 32; i < 48; i++) EXPECT_EQ(run.arena[i], 0xA5);
}

TEST(Run, EveryMistakeIsAStatusAndWritesNothing) {
  const struct {
    const char* what;
    void (*spoil)(RunA&);
    etch_status expected;
  } rows[] = {
      {"no arena", [](RunA& r) { r.frame.arena = nullptr; }, ETCH_NULL},
      {"one byte too few", [](RunA& r) { r.frame.arena_bytes = 31; }, ETCH_ARENA_SMALL},
      {"arena off by four", [](RunA& r) { r.frame.arena = r.arena.data() + 4; }, ETCH_ARENA_ALIGN},
      {"no constants", [](RunA& r) { r.frame.constants = nullptr; }, ETCH_NULL},
      {"constants off by four", [](RunA& r) { r.frame.constants = kBias + 1; }, ETCH_BLOB_ALIGN},
      {"no input", [](RunA& r) { r.io[0] = nullptr; }, ETCH_NULL},
      {"no output", [](RunA& r) { r.io[1] = nullptr; }, ETCH_NULL},
      {"input off by two", [](RunA& r) { r.io[0] = r.arena.data() + 2; }, ETCH_IO_ALIGN},
      {"output off by one", [](RunA& r) { r.io[1] = r.arena.data() + 1; }, ETCH_IO_ALIGN},
      {"no table of inputs", [](RunA& r) { r.frame.io = nullptr; }, ETCH_NULL},
      {"no room for arguments", [](RunA& r) { r.frame.arg = nullptr; }, ETCH_NULL},
      {"no variables", [](RunA& r) { r.frame.variables = nullptr; }, ETCH_NULL},
      {"below the range", [](RunA& r) { r.n = 0; }, ETCH_RANGE},
      {"above the range", [](RunA& r) { r.n = 5; }, ETCH_RANGE},
      {"negative", [](RunA& r) { r.n = -1; }, ETCH_RANGE},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    RunA run;
    row.spoil(run);
    EXPECT_EQ(etch_run(&kModelA, &run.frame), row.expected);
    EXPECT_EQ(run.y, (std::array<float, 4>{-1, -1, -1, -1}));
    EXPECT_EQ(run.arena, (std::array<unsigned char, 48>{}));
  }
  RunA run;
  EXPECT_EQ(etch_run(nullptr, &run.frame), ETCH_NULL);
  EXPECT_EQ(etch_run(&kModelA, nullptr), ETCH_NULL);
}

// Model C: y = 2 * (x + bias) by way of two arenas: the sum at 16 of the second one; the first is not used by a call.
constexpr etch_ref kArgsC[] = {{ETCH_POOL + 1, 16}, {ETCH_IO, 0},        {ETCH_CONST, 0}, {ETCH_VAR, 0},
                               {ETCH_IO, 1},        {ETCH_POOL + 1, 16}, {ETCH_VAR, 0}};
constexpr etch_call kCallsC[] = {{k_add, 0, 4}, {k_double, 4, 3}};
constexpr etch_program kModelC = {kCallsC, kArgsC, nullptr, kRangesA, 2, 0, 2, 1, 0, 16, 16, kIoAlignA};
constexpr etch_pool_size kPoolsC[] = {{8, 8}, {32, 16}, {0, 16}};

TEST(Run, SeveralArenasAreFoundByNumber) {
  RunA run;
  std::array<unsigned char, 16> other{};
  void* pools[] = {other.data(), run.arena.data(), nullptr};
  run.frame.arena = nullptr;
  run.frame.arena_bytes = 0;
  run.frame.pools = pools;
  EXPECT_EQ(etch_run(&kModelC, &run.frame), ETCH_OK);
  EXPECT_EQ(run.y, (std::array<float, 4>{22, 44, 66, 88}));
  EXPECT_EQ(other, (std::array<unsigned char, 16>{}));
}

TEST(Run, SeveralArenasAreEachChecked) {
  alignas(16) std::array<unsigned char, 48> memory{};
  unsigned char* const at = memory.data();
  const struct {
    const char* what;
    std::array<void*, 3> pools;
    std::array<std::size_t, 3> bytes;
    etch_status expected;
  } rows[] = {
      {"as needed", {at, at + 16, nullptr}, {8, 32, 0}, ETCH_OK},
      {"the first is null", {nullptr, at + 16, nullptr}, {8, 32, 0}, ETCH_NULL},
      {"the second is null", {at, nullptr, nullptr}, {8, 32, 0}, ETCH_NULL},
      {"a byte too few in the first", {at, at + 16, nullptr}, {7, 32, 0}, ETCH_ARENA_SMALL},
      {"a byte too few in the second", {at, at + 16, nullptr}, {8, 31, 0}, ETCH_ARENA_SMALL},
      {"the first is off by four", {at + 4, at + 16, nullptr}, {8, 32, 0}, ETCH_ARENA_ALIGN},
      {"the second is off by eight", {at, at + 8, nullptr}, {8, 32, 0}, ETCH_ARENA_ALIGN},
      {"what is not needed is not looked at", {at, at + 16, at + 1}, {8, 32, 0}, ETCH_OK},
  };
  for (const auto& row : rows) EXPECT_EQ(etch_check_pools(kPoolsC, 3, row.pools.data(), row.bytes.data()), row.expected) << row.what;
}

TEST(Run, TwoModelsTakeTurns) {
  float x[4] = {1, 2, 3, 4};
  float y = 0;
  void* io[2] = {x, &y};
  void* arg[2] = {};
  const etch_frame b{nullptr, 0, nullptr, io, nullptr, arg, nullptr, nullptr, nullptr};
  RunA a;
  for (int turn = 0; turn < 3; turn++) {
    a.x[0] = x[0] = static_cast<float>(turn);
    ASSERT_EQ(etch_run(&kModelA, &a.frame), ETCH_OK);
    ASSERT_EQ(etch_run(&kModelB, &b), ETCH_OK);
    EXPECT_EQ(a.y[0], 2 * (static_cast<float>(turn) + 10));
    EXPECT_EQ(y, static_cast<float>(turn) + 9);
  }
}

TEST(Run, RunsOverlapInTime) {
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (std::size_t t = 0; t < wrong.size(); t++) {
    threads.emplace_back([t, &wrong] {
      RunA run;
      for (int i = 0; i < 1000; i++) {
        run.x[3] = static_cast<float>(t) * 1000 + static_cast<float>(i);
        wrong[t] += etch_run(&kModelA, &run.frame) != ETCH_OK || run.y[3] != 2 * (run.x[3] + 40);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

TEST(Run, CallsBackAfterEveryKernel) {
  struct Seen {
    std::vector<std::uint32_t> calls;
    std::vector<float> firsts;
  } seen;
  RunA run;
  run.frame.user = &seen;
  run.frame.after = [](void* user, std::uint32_t call, void* const* arg) {
    static_cast<Seen*>(user)->calls.push_back(call);
    static_cast<Seen*>(user)->firsts.push_back(*static_cast<const float*>(arg[0]));
  };
  EXPECT_EQ(etch_run(&kModelA, &run.frame), ETCH_OK);
  EXPECT_EQ(seen.calls, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(seen.firsts, (std::vector<float>{11, 22}));
}

// --- loops

/// The calls of a run in order, and the counters before each: by recursion over the table.
using Steps = std::vector<std::pair<std::uint32_t, std::vector<std::int32_t>>>;

struct Nest {
  std::vector<etch_loop> loops;
  std::vector<std::int32_t> variables;  // without counters
  std::uint32_t calls = 0;

  void walk(std::uint32_t first, std::uint32_t end, std::size_t loop, std::vector<std::int32_t>& counters, Steps& steps) const {
    for (std::uint32_t c = first; c < end;) {
      while (loop < loops.size() && loops[loop].first_call < c) loop++;
      if (loop == loops.size() || loops[loop].first_call != c) {
        steps.emplace_back(c++, counters);
        continue;
      }
      const etch_loop& l = loops[loop];
      const std::int64_t count = l.of_variable != 0 ? variables[l.count] : static_cast<std::int64_t>(l.count);
      for (std::int64_t turn = 0; turn < count; turn++) {
        counters[loop] = static_cast<std::int32_t>(turn);
        walk(l.first_call, l.end_call, loop + 1, counters, steps);
      }
      counters[loop] = -1;  // outside of a loop its counter means nothing
      c = l.end_call;
    }
  }
};

/// Loops in each other and side by side, some of them empty, some that share their first or last call.
class RandomNests {
 public:
  Nest next() {
    nest_ = {};
    nest_.variables = {below(4), below(4)};
    add(3, below(3) + 1);
    return nest_;
  }

 private:
  std::int32_t below(std::uint32_t n) { return static_cast<std::int32_t>(random_() % n); }
  void add(int depth, int pieces) {
    for (int k = 0; k < pieces; k++) {
      if (depth == 0 || below(3) == 0) {
        nest_.calls += static_cast<std::uint32_t>(below(3)) + 1;
        continue;
      }
      const std::size_t loop = nest_.loops.size();
      const bool of_variable = below(3) == 0;
      nest_.loops.push_back({nest_.calls, 0, static_cast<std::uint32_t>(below(of_variable ? 2 : 4)), of_variable ? 1u : 0u});
      add(depth - 1, below(3) + 1);
      nest_.loops[loop].end_call = nest_.calls;
    }
  }
  std::mt19937 random_{7};
  Nest nest_;
};

TEST(Loops, RunAsARecursionOverTheTableDoes) {
  RandomNests nests;
  int nested = 0, empty = 0;
  for (int n = 0; n < 2000; n++) {
    const Nest nest = nests.next();
    std::vector<std::int32_t> variables = nest.variables, counters(nest.loops.size(), -1);
    variables.resize(nest.variables.size() + nest.loops.size(), -1);
    Steps expected;
    nest.walk(0, nest.calls, 0, counters, expected);
    etch_walk walk{};
    const std::uint64_t calls = etch_walk_begin(&walk, nest.loops.data(), static_cast<std::uint32_t>(nest.loops.size()), nest.calls,
                                                variables.data(), static_cast<std::uint32_t>(nest.variables.size()));
    ASSERT_EQ(calls, expected.size()) << "nest " << n;
    for (const auto& [call, before] : expected) {
      ASSERT_EQ(walk.call, call) << "nest " << n;
      for (std::size_t l = 0; l < before.size(); l++) {
        empty += before[l] < 0 ? 1 : 0;
        if (before[l] < 0) continue;
        ASSERT_EQ(variables[nest.variables.size() + l], before[l]) << "nest " << n << ", loop " << l;
      }
      nested += before.size() > 1 && before[0] >= 0 && before[1] >= 0 ? 1 : 0;
      etch_walk_on(&walk);
    }
    EXPECT_EQ(walk.call, nest.calls) << "nest " << n;
  }
  EXPECT_GT(nested, 1000);
  EXPECT_GT(empty, 1000);
}

// y[step] = 2 * y[step - 1] for `turns` turns, a variable; y[0] is not touched.
void k_next(void* const* arg) {
  float* const y = static_cast<float*>(arg[0]);
  const std::int32_t step = *static_cast<const std::int32_t*>(arg[1]);
  y[step + 1] = 2 * y[step];
}

TEST(Loops, KernelsTakeTheCounter) {
  static constexpr etch_ref args[] = {{ETCH_IO, 0}, {ETCH_VAR, 1}};
  static constexpr etch_call calls[] = {{k_next, 0, 2}};
  static constexpr etch_loop loops[] = {{0, 1, 0, 1}};
  static constexpr etch_range ranges[] = {{0, 7}};
  static constexpr etch_program program = {calls, args, loops, ranges, 1, 1, 1, 1, 0, 1, 0, nullptr};
  for (std::int32_t turns = 0; turns <= 7; turns++) {
    std::array<float, 8> y{1};
    std::int32_t variables[2] = {turns, 0};
    void* io[1] = {y.data()};
    void* arg[2] = {};
    const etch_frame frame{nullptr, 0, nullptr, io, variables, arg, nullptr, nullptr, nullptr};
    ASSERT_EQ(etch_run(&program, &frame), ETCH_OK);
    for (std::int32_t i = 0; i < 8; i++) EXPECT_EQ(y[static_cast<std::size_t>(i)], i <= turns ? static_cast<float>(1 << i) : 0.0f);
  }
}

TEST(Loops, NeedRoomForTheirCounters) {
  static constexpr etch_ref args[] = {{ETCH_IO, 0}, {ETCH_VAR, 0}};
  static constexpr etch_call calls[] = {{k_next, 0, 2}};
  static constexpr etch_loop loops[] = {{0, 1, 3, 0}};
  static constexpr etch_program program = {calls, args, loops, nullptr, 1, 1, 1, 0, 0, 1, 0, nullptr};
  std::array<float, 8> y{1};
  void* io[1] = {y.data()};
  void* arg[2] = {};
  etch_frame frame{nullptr, 0, nullptr, io, nullptr, arg, nullptr, nullptr, nullptr};
  EXPECT_EQ(etch_run(&program, &frame), ETCH_NULL);
  std::int32_t counter = 0;
  frame.variables = &counter;
  EXPECT_EQ(etch_run(&program, &frame), ETCH_OK);
  EXPECT_EQ(y[3], 8.0f);
}

// --- blob

struct alignas(64) Blob {
  etch_blob_header header{};
  std::array<unsigned char, 40> payload{};
  etch_blob_info info{};

  Blob() {
    for (std::size_t i = 0; i < payload.size(); i++) payload[i] = static_cast<unsigned char>(i * 7);
    info = {payload.size(), etch_hash(payload.data(), payload.size()), 16};
    header.magic = ETCH_BLOB_MAGIC;
    header.version = ETCH_BLOB_VERSION;
    header.payload_bytes = info.payload_bytes;
    header.hash = info.hash;
    header.align = info.align;
  }
};
constexpr std::size_t kBlobBytes = ETCH_BLOB_HEADER_BYTES + 40;
static_assert(sizeof(etch_blob_header) == ETCH_BLOB_HEADER_BYTES);

TEST(Blob, HashIsFnv1a) {
  // From the reference test vectors of FNV-1a, 64 bits.
  EXPECT_EQ(etch_hash("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(etch_hash("a", 1), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(etch_hash("foobar", 6), 0x85944171f73967e8u);
}

TEST(Blob, OpensAndChecks) {
  const Blob blob;
  const void* constants = nullptr;
  EXPECT_EQ(etch_blob_open(&blob.info, &blob, &constants), ETCH_OK);
  EXPECT_EQ(constants, blob.payload.data());
  EXPECT_EQ(etch_blob_check(&blob.info, &blob, kBlobBytes), ETCH_OK);
}

TEST(Blob, EveryFaultHasItsStatus) {
  const struct {
    const char* what;
    void (*spoil)(Blob&);
    etch_status opened, checked;
    std::size_t bytes;
  } rows[] = {
      {"other magic", [](Blob& b) { b.header.magic++; }, ETCH_BLOB_FORMAT, ETCH_BLOB_FORMAT, kBlobBytes},
      {"other byte order", [](Blob& b) { b.header.magic = 0x45544342; }, ETCH_BLOB_FORMAT, ETCH_BLOB_FORMAT, kBlobBytes},
      {"later version", [](Blob& b) { b.header.version++; }, ETCH_BLOB_FORMAT, ETCH_BLOB_FORMAT, kBlobBytes},
      {"another model", [](Blob& b) { b.header.hash++; }, ETCH_BLOB_OTHER, ETCH_BLOB_OTHER, kBlobBytes},
      {"another size", [](Blob& b) { b.header.payload_bytes++; }, ETCH_BLOB_OTHER, ETCH_BLOB_OTHER, kBlobBytes},
      {"one bit flipped", [](Blob& b) { b.payload[39] ^= 1; }, ETCH_OK, ETCH_BLOB_DAMAGED, kBlobBytes},
      {"cut off", [](Blob&) {}, ETCH_OK, ETCH_BLOB_SIZE, kBlobBytes - 1},
      {"cut off in the header", [](Blob&) {}, ETCH_OK, ETCH_BLOB_SIZE, 63},
      {"empty", [](Blob&) {}, ETCH_OK, ETCH_BLOB_SIZE, 0},
      {"something behind", [](Blob&) {}, ETCH_OK, ETCH_BLOB_SIZE, kBlobBytes + 1},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    Blob blob;
    row.spoil(blob);
    const void* constants = &blob;
    EXPECT_EQ(etch_blob_open(&blob.info, &blob, &constants), row.opened);
    EXPECT_EQ(constants == nullptr, row.opened != ETCH_OK);
    EXPECT_EQ(etch_blob_check(&blob.info, &blob, row.bytes), row.checked);
  }
  const Blob blob;
  const void* constants = nullptr;
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(&blob);
  EXPECT_EQ(etch_blob_open(&blob.info, bytes + 8, &constants), ETCH_BLOB_ALIGN);
  EXPECT_EQ(etch_blob_open(nullptr, &blob, &constants), ETCH_NULL);
  EXPECT_EQ(etch_blob_open(&blob.info, nullptr, &constants), ETCH_NULL);
  EXPECT_EQ(etch_blob_open(&blob.info, &blob, nullptr), ETCH_NULL);
  EXPECT_EQ(etch_blob_check(&blob.info, nullptr, kBlobBytes), ETCH_NULL);
  EXPECT_EQ(etch_blob_check(nullptr, &blob, kBlobBytes), ETCH_NULL);
}

// --- arena

TEST(Arena, HandsOutAlignedPiecesAndRemembersThePeak) {
  alignas(64) unsigned char memory[256];
  etch_arena arena;
  ASSERT_EQ(etch_arena_init(&arena, memory, sizeof memory), ETCH_OK);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  EXPECT_EQ(etch_arena_take(&arena, 10, 1, &a), ETCH_OK);
  EXPECT_EQ(a, memory);
  EXPECT_EQ(etch_arena_take(&arena, 32, 16, &b), ETCH_OK);
  EXPECT_EQ(b, memory + 16);
  const std::size_t mark = arena.used;
  EXPECT_EQ(mark, 48u);
  EXPECT_EQ(etch_arena_take(&arena, 192, 64, &c), ETCH_OK);  // to the last byte
  EXPECT_EQ(c, memory + 64);
  EXPECT_EQ(etch_arena_take(&arena, 1, 1, &a), ETCH_NO_SPACE);
  EXPECT_EQ(a, nullptr);
  EXPECT_EQ(etch_arena_release(&arena, mark), ETCH_OK);
  EXPECT_EQ(arena.used, mark);
  EXPECT_EQ(arena.peak, 256u);
  EXPECT_EQ(etch_arena_take(&arena, 0, 1, &a), ETCH_OK);
  EXPECT_EQ(etch_arena_release(&arena, mark + 1), ETCH_RANGE);
}

TEST(Arena, RefusesWhatDoesNotFitWithoutWrappingAround) {
  const struct {
    std::size_t bytes, align;
    etch_status expected;
  } rows[] = {
      {100, 1, ETCH_OK},
      {101, 1, ETCH_NO_SPACE},
      {SIZE_MAX, 1, ETCH_NO_SPACE},
      {SIZE_MAX - 50, 64, ETCH_NO_SPACE},
      {1, SIZE_MAX / 2 + 1, ETCH_NO_SPACE},
      {1, 0, ETCH_ARENA_ALIGN},
      {1, 3, ETCH_ARENA_ALIGN},
  };
  for (const auto& row : rows) {
    alignas(64) unsigned char memory[100];
    etch_arena arena;
    ASSERT_EQ(etch_arena_init(&arena, memory, sizeof memory), ETCH_OK);
    void* block = memory;
    EXPECT_EQ(etch_arena_take(&arena, row.bytes, row.align, &block), row.expected) << row.bytes << ", " << row.align;
    EXPECT_EQ(block == nullptr, row.expected != ETCH_OK);
    EXPECT_EQ(arena.used, row.expected == ETCH_OK ? row.bytes : 0);
  }
  etch_arena arena;
  unsigned char memory[1];
  void* block = nullptr;
  EXPECT_EQ(etch_arena_init(nullptr, memory, 1), ETCH_NULL);
  EXPECT_EQ(etch_arena_init(&arena, nullptr, 1), ETCH_NULL);
  EXPECT_EQ(etch_arena_take(nullptr, 1, 1, &block), ETCH_NULL);
  EXPECT_EQ(etch_arena_release(nullptr, 0), ETCH_NULL);
}

TEST(Status, EachHasItsOwnText) {
  std::vector<std::string> texts;
  EXPECT_STREQ(etch_status_text(static_cast<etch_status>(ETCH_CUDA_CLOSED + 1)), "unknown status") << "the last one is tested";
  for (int s = ETCH_OK; s <= ETCH_CUDA_CLOSED; s++) {
    const std::string text = etch_status_text(static_cast<etch_status>(s));
    EXPECT_NE(text, "unknown status");
    for (const std::string& other : texts) EXPECT_NE(text, other);
    texts.push_back(text);
  }
}

}  // namespace
