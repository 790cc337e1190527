// Projects for several workers: built with threads and ThreadSanitizer, against the self-test's expected outputs, bit for bit against one
// worker, and with wrong arguments.
#include "emit/workers.h"

#include <gtest/gtest.h>

#include <cctype>
#include <regex>

#include "base/tempdir.h"
#include "build.h"
#include "device_project.h"
#include "driver/train.h"
#include "emulator/processor.h"
#include "support/needs.h"

namespace etch {
namespace {

using test::c_files;
using test::put;
using test::run_in;
using Files = std::vector<EmittedFile>;

constexpr const char* kStrict = "gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O1 -pthread ";

Files files_for(const std::string& target, const std::string& model, int workers, WeightsForm weights = WeightsForm::C,
                bool in_bytes = false) {
  CompileOptions options = test::options_for(target, model, weights, {}, in_bytes);
  options.workers = workers;
  return compile_project(read_model(options), options).files;
}

ProcessResult built(const std::filesystem::path& dir, const std::string& command) {
  std::vector<std::string> args = c_files(dir);
  args.emplace_back("-lm");
  return run_in(dir, command, args);
}

/// What the self-test prints on so many threads under ThreadSanitizer, which wants addresses that are not random.
std::string on_threads(const Files& files, const std::string& macro, int threads) {
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult made =
      built(temp.path(), std::string(kStrict) + "-fsanitize=thread -D" + macro + "_THREADS=" + std::to_string(threads) + " -o test");
  if (!made.ok()) return made.err;
  const ProcessResult ran = run_in(temp.path(), "setarch -R", {(temp.path() / "test").string()});
  return ran.out + ran.err;
}

class OnThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing({"gcc", "setarch"}); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(OnThreads, NetworksRunWithoutRaces) {
  for (const char* target : {"c99", "cortex-m0plus"})
    for (const int threads : {2, 3}) {
      EXPECT_EQ(on_threads(files_for(target, "ds_cnn", 3), "DS_CNN", threads), "PASS\n") << target << " " << threads;
      EXPECT_EQ(on_threads(files_for(target, "ds_cnn", 3, WeightsForm::C, true), "DS_CNN", threads), "PASS\n")
          << target << " int8 " << threads;
    }
  EXPECT_EQ(on_threads(files_for("c99", "lenet", 2, WeightsForm::Blob), "LENET", 2), "PASS\n");
}

// Without them ThreadSanitizer sees races: it would see those of a barrier that is missing. Which barriers are needed is shown in
// memory/barriers_test.cc.
TEST_F(OnThreads, BarriersAreNeeded) {
  Files files = files_for("c99", "ds_cnn", 2);
  const auto source = std::ranges::find(files, "ds_cnn.c", &EmittedFile::name);
  const std::size_t table = source->text.find(" work["), end = source->text.find("};", table);
  int removed = 0;
  for (std::size_t at = table; (at = source->text.find("ETCH_CALL_WAITS", at)) < end; removed++)
    source->text.replace(at, 15, "0              ");
  EXPECT_GT(removed, 5);
  EXPECT_NE(on_threads(files, "DS_CNN", 2).find("WARNING: ThreadSanitizer: data race"), std::string::npos);
}

TEST_F(OnThreads, AStateIsKept) {
  CompileOptions options = test::options_for("c99", "lenet", WeightsForm::C);
  GraphBuilder g("mean", 17, 8);
  const auto x = g.input("x", DType::Float32, {4, 1024}), mean = g.input("mean_in", DType::Float32, {4, 1024});
  const auto half = g.initializer("half", Array::of_doubles(DType::Float32, {1}, std::vector<double>{0.5}));
  g.node_with_outputs("Add", {g.node("Mul", {mean, half}), g.node("Mul", {x, half})}, {"mean_out"}, {}, "add");
  g.output("mean_out", DType::Float32, {4, 1024});
  g.node_with_outputs("Exp", {"mean_out"}, {"y"}, {}, "exp");
  g.output("y", DType::Float32, {4, 1024});
  options.import.path = "mean.onnx";
  options.import.bytes = g.bytes();
  options.import.states = {{"mean_in", "mean_out"}};
  options.workers = 2;
  const Files files = compile_project(read_model(options), options).files;
  EXPECT_NE(test::text_in(files, "mean.c").find("shared along"), std::string::npos);
  EXPECT_EQ(on_threads(files, "MEAN", 2), "PASS\n");
}

TEST_F(OnThreads, ATrainingStepIsShared) {
  CompileOptions options = test::options_for("c99", "ds_cnn", WeightsForm::C);
  options.workers = 2;
  Files files = compile_trained(options, train_options("loss=crossentropy,optimizer=sgd")).files;
  std::erase_if(files, [](const EmittedFile& file) { return file.name == "selftest.c"; });
  EXPECT_EQ(on_threads(files, "DS_CNN_TRAIN", 2), "PASS\n");
}

// Parts of workers, one after the other: without threads the barrier may do nothing where no call waits for another one, and wrong
// arguments are found before any.
constexpr const char* kWrong = R"c(
#include <stdio.h>
#include "ds_cnn.h"
static union { etch_widest widest; unsigned char bytes[DS_CNN_ARENA_BYTES]; } arena;
static float x[DS_CNN_INPUT_COUNT], y[DS_CNN_PROBABILITIES_COUNT];
static int calls;
static void count(void *user) { calls += *(int *)user; }
static int run(uint32_t worker, uint32_t workers, etch_barrier barrier) {
  int one = 1;
  return (int)ds_cnn_run_worker(worker, workers, barrier, &one, arena.bytes, sizeof arena.bytes, x, y);
}
int main(void) {
  printf("%d %d %d %d %d, ", run(0, 0, count), run(0, 4, count), run(2, 2, count), run(0, UINT32_MAX, count), run(0, 2, NULL));
  printf("%d, ", (int)ds_cnn_run_worker(0, 2, count, NULL, arena.bytes, 8, x, y));
  printf("%d waits; ", calls);
  printf("%d %d, ", run(0, 1, NULL), run(0, 1, count));
  printf("%d waits; ", calls);
  printf("%d, ", run(1, 3, count));
  printf("waits: %d\n", calls > 5);
  return 0;
}
)c";

TEST_F(OnThreads, WrongArgumentsAreFoundBeforeAnyWork) {
  Files files = files_for("c99", "ds_cnn", 3);
  const std::string header = test::text_in(files, "ds_cnn.h");
  std::string text = kWrong;
  for (const auto& [word, kind] : {std::pair("DS_CNN_INPUT_COUNT", "input "), {"DS_CNN_PROBABILITIES_COUNT", "output"}}) {
    const std::size_t end = header.rfind('\n', header.find(std::string("/* ") + kind)),
                      begin = end + 1 + std::string_view("#define ").size();
    text.replace(text.find(word), std::string_view(word).size(), header.substr(begin, header.find(' ', begin) - begin));
  }
  test::set_selftest(files, text);
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult made = built(temp.path(), std::string(kStrict) + "-fsanitize=address,undefined -o test");
  ASSERT_TRUE(made.ok()) << made.err;
  EXPECT_EQ(run_in(temp.path(), "./test").out, "4 4 4 4 1, 2, 0 waits; 0 0, 0 waits; 0, waits: 1\n");
}

// Each number of workers gives the bits of NAME_run: where loops are vectors whose last tiles overlap, where steps are a loop of the
// program, where sums are integers, and where some workers get no turn of a loop at all.
struct BitsCase {
  const char *name, *target;
  int workers;        // at most
  const char* holds;  // a text in NAME.c: what this row is here for
  std::size_t bytes;  // of all outputs
};
void PrintTo(const BitsCase& row, std::ostream* out) { *out << row.name << " for " << row.target; }

std::string lstm_bytes() {
  GraphBuilder g("lstm", 17, 8);
  const auto x = g.input("x", DType::Float32, {24, 1, 32});
  const std::vector<GraphBuilder::Value> inputs{x, g.seeded("w", {1, 256, 32}, 32), g.seeded("r", {1, 256, 64}, 64)};
  g.node_with_outputs("LSTM", inputs, {"states"}, {{"hidden_size", std::int64_t{64}}}, "lstm");
  const auto rows = g.node("Reshape", {"states", g.ints("shape", {24, 64})});
  g.output(g.node("Softmax", {g.dense(rows, "dense", 64, 21)}), DType::Float32, {24, 21});
  return g.bytes();
}

/// Images of 3 channels, 5 rows and 7 columns: no loop has a turn for each of 8 workers.
std::string few_rows_bytes() {
  GraphBuilder g("few_rows", 17, 8);
  const auto x = g.input("x", DType::Float32, {1, 16, 5, 7});
  const auto y = g.relu(g.conv(x, "first", 16, 3, {3, 3}, {1, 1}, {1, 1, 1, 1}));
  g.output(g.relu(g.conv(y, "second", 3, 5, {5, 5}, {1, 1}, {2, 2, 2, 2})), DType::Float32, {1, 5, 5, 7});
  return g.bytes();
}

CompileOptions options_of(const BitsCase& row) {
  const std::string_view name = row.name;
  CompileOptions options = test::options_for(row.target, "ds_cnn", WeightsForm::C, {}, name == "ds_cnn_int8");
  options.import.path = std::string(name) + ".onnx";
  if (name == "lstm") options.import.bytes = lstm_bytes();
  if (name == "few_rows") options.import.bytes = few_rows_bytes();
  options.workers = row.workers;
  return options;
}

/// The self-test, which writes all bits of each output before it compares them.
void write_bits(Files& files) {
  std::string& text = std::ranges::find(files, "selftest.c", &EmittedFile::name)->text;
  const std::size_t compared = text.find("  for (i = 0;", text.find("int main"));
  ASSERT_NE(compared, std::string::npos);
  std::string bits;
  const std::regex array("static \\w+ (out_\\w+)\\[");
  for (std::sregex_iterator out(text.begin(), text.end(), array), end; out != end; out++)
    bits += "  for (i = 0; i < sizeof " + out->str(1) + "; i++) printf(\"%02x\", ((unsigned char *)" + out->str(1) + ")[i]);\n";
  text.insert(compared, bits);
}

class Bits : public testing::TestWithParam<BitsCase> {};

TEST_P(Bits, AreTheSameForAnyNumberOfWorkers) {
  const BitsCase& row = GetParam();
  const CompileOptions options = options_of(row);
  if (const std::string why = test::missing({"gcc"}); !why.empty()) GTEST_SKIP() << why;
  if (std::string why; !can_run_here(options.target, &why)) GTEST_SKIP() << why;
  CompiledProject project = compile_project(read_model(options), options);
  EXPECT_NE(test::text_in(project.files, std::string(row.name) + ".c").find(row.holds), std::string::npos);
  write_bits(project.files);
  const TempDir temp;
  put(temp.path(), project.files);
  std::string command = "gcc -std=c99 -w -pthread";
  for (const std::string& flag : options.target.toolchain.flags) command += " " + flag;
  std::vector<std::string> sources = c_files(temp.path());
  std::erase(sources, "selftest.c");
  ASSERT_TRUE(run_in(temp.path(), command + " -c", sources).ok());
  std::vector<std::string> objects = test::files_with(temp.path(), ".o");
  objects.insert(objects.end(), {"selftest.c", "-lm"});
  std::string alone, macro = row.name;
  std::ranges::transform(macro, macro.begin(), [](unsigned char c) { return std::toupper(c); });
  for (const int threads : {0, 1, 2, 3, row.workers}) {
    const std::string define = threads == 0 ? "" : " -D" + macro + "_THREADS=" + std::to_string(threads);
    const ProcessResult made = run_in(temp.path(), command + define + " -o test", objects);
    ASSERT_TRUE(made.ok()) << made.err;
    const std::string out = run_in(temp.path(), "./test").out;
    if (threads == 0) alone = out;
    EXPECT_EQ(out, alone) << threads;
  }
  EXPECT_TRUE(alone.ends_with("PASS\n")) << alone;
  EXPECT_EQ(alone.size(), 2 * row.bytes + 5);
}

constexpr BitsCase kBitsCases[] = {
    {"ds_cnn", "c99", 4, "workers share the loop of c_tile", 48},
    {"ds_cnn", "x86-64-v3", 4, "etch_f32x8", 48},
    {"ds_cnn_int8", "c99", 4, "workers share the loop of yx", 12},
    {"ds_cnn_int8", "x86-64-v3", 4, "+ (worker + 1) / workers", 12},  // whose last turn is a tile that overlaps
    {"lstm", "c99", 4, "static const etch_loop loops[", 2016},
    {"lstm", "x86-64-v3", 4, "static const etch_loop loops[", 2016},
    {"few_rows", "c99", 8, "worker_times_5 / workers", 700},
    {"few_rows", "x86-64-v3", 8, "worker_times_5 / workers", 700},
};
INSTANTIATE_TEST_SUITE_P(OnThreads, Bits, testing::ValuesIn(kBitsCases), [](const auto& row) {
  return std::string(row.param.name) + (std::string_view(row.param.target) == "c99" ? "" : "_in_vectors");
});

TEST_F(OnThreads, AreAnExampleOfTheProjectsBuild) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  put(temp.path() / "net", files_for("c99", "ds_cnn", 2));
  const ProcessResult plain = run_in(temp.path(), "cmake -S net -B plain"),
                      made = run_in(temp.path(), "cmake -S net -B with -DDS_CNN_EXAMPLES=ON");
  ASSERT_TRUE(plain.ok() && made.ok()) << plain.err << made.err;
  ASSERT_TRUE(run_in(temp.path(), "cmake --build plain").ok());
  EXPECT_FALSE(std::filesystem::exists(temp.path() / "plain" / "ds_cnn_threads"));
  const ProcessResult build = run_in(temp.path(), "cmake --build with");
  ASSERT_TRUE(build.ok()) << build.out << build.err;
  EXPECT_EQ(run_in(temp.path(), "with/ds_cnn_threads").out, "PASS\n");
}

// One worker is what every project has: nothing of several is in it.
TEST(Workers, OneNeedsNothing) {
  const Files files = files_for("c99", "ds_cnn", 1);
  for (const EmittedFile& file : files) {
    if (file.name.starts_with("etch_runtime")) continue;
    EXPECT_EQ(file.text.find("worker"), std::string::npos) << file.name;
    EXPECT_FALSE(file.name.starts_with("etch_workers")) << file.name;
  }
}

TEST(Workers, AreInTheReport) {
  CompileOptions options = test::options_for("c99", "ds_cnn", WeightsForm::C);
  options.workers = 4;
  const CompiledProject project = compile_project(read_model(options), options);
  const ReportWorkers& workers = project.report.workers;
  EXPECT_EQ(workers.most, 4);
  EXPECT_GT(workers.shared_calls, 8);
  EXPECT_GE(workers.barriers, workers.shared_calls - 1);
  EXPECT_NE(to_text(project.report).find("Up to 4 workers: each does a part of "), std::string::npos);
  EXPECT_NE(to_json(project.report).find("\"shared_loop\": \""), std::string::npos);
}

}  // namespace
}  // namespace etch
