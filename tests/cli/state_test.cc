// --state from the user's side: a model whose input and output are what a stream keeps from run to run.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/tempdir.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch::state_test {
namespace {

constexpr const char* kAverage = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1] x, float[1] mean_in, int64[1] runs_in) => (float[1] mean_out, float[1] y, int64[1] runs_out)
<float[1] keep = {0.75}, float[1] take = {0.25}, int64[1] one = {1}> {
  a = Mul (mean_in, keep)
  b = Mul (x, take)
  mean_out = Add (a, b)
  y = Mul (mean_out, mean_out)
  runs_out = Add (runs_in, one)
})";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(StateOption, RunKeepsWhatIsBound) {
  const TempDir work("etch-state");
  const std::string model = write_text_model(work.path() / "average.onnx", kAverage);
  const auto x = work.path() / "x.raw";
  const float value = 8;
  std::ofstream(x, std::ios::binary).write(reinterpret_cast<const char*>(&value), sizeof value);
  for (const char* backend : {"interp", "llvm"}) {
    const std::vector<std::string> args{
        "run", model, "--backend", backend, "--state", "mean_in=mean_out", "--state", "runs_in=runs_out", "--input", x.string()};
    for (const auto& [times, expected] : {std::pair{"1", "y float32 [1]: 4.0\n"}, {"2", "y float32 [1]: 12.25\n"}}) {
      std::vector<std::string> all = args;
      all.insert(all.end(), {"--times", times});
      const ProcessResult ran = etch_tool(all);
      EXPECT_TRUE(ran.ok()) << ran.err;
      EXPECT_EQ(ran.out, expected) << backend;  // 8 / 4 = 2; 2 * 3 / 4 + 2 = 3.5
    }
  }
}

TEST(StateOption, CompilesAndValidates) {
  const TempDir work("etch-state");
  const std::string model = write_text_model(work.path() / "average.onnx", kAverage);
  const auto out = work.path() / "out";
  const std::vector<std::string> states{"--state", "mean_in=mean_out", "--state", "runs_in=runs_out"};
  std::vector<std::string> compile{"compile", model, "-o", out.string(), "--no-measure"};
  compile.insert(compile.end(), states.begin(), states.end());
  const ProcessResult made = etch_tool(compile);
  ASSERT_TRUE(made.ok()) << made.err;
  const std::string header = text_of(out / "average.h");
  EXPECT_TRUE(has(header, "#define AVERAGE_STATE_BYTES 16u\n")) << header;
  EXPECT_TRUE(has(header, "etch_status average_state_init(void *state);\n")) << header;
  EXPECT_TRUE(has(header, "average_run(void *arena, size_t arena_bytes, void *state, const float *x, float *y);\n")) << header;
  EXPECT_TRUE(has(text_of(out / "report.txt"), "bytes of RAM, the caller's, kept from run to run")) << text_of(out / "report.txt");
  EXPECT_TRUE(has(text_of(out / "fit.json"), "\"state_bytes\": 16"));
  std::vector<std::string> validate{"validate", model, "--backends", "interp,c,llvm", "--target", "host"};
  validate.insert(validate.end(), states.begin(), states.end());
  const ProcessResult checked = etch_tool(validate);
  EXPECT_TRUE(checked.ok()) << checked.out << checked.err;
}

TEST(StateOption, WrongBindingsAreRefused) {
  const TempDir work("etch-state");
  const std::string model = write_text_model(work.path() / "average.onnx", kAverage);
  const struct {
    std::vector<std::string> states;
    int status;
    const char* says;
  } rows[] = {
      {{"mean"}, 2, "--state mean: has no input and output"},
      {{"mein_in=mean_out"}, 1, "--state mein_in=mean_out: the model has no input 'mein_in' left\n  help: its inputs: 'mean_in'"},
      {{"mean_in=mean"}, 1, "--state mean_in=mean: the model has no output 'mean' left\n  help: its outputs: 'mean_out'"},
      {{"mean_in=runs_out"}, 1, "--state mean_in=runs_out: the input is float32 [1], the output int64 [1]"},
      {{"mean_in=mean_out", "mean_in=y"}, 1, "--state mean_in=y: the model has no input 'mean_in' left"},
      {{"mean_in=mean_out", "x=mean_out"}, 1, "--state x=mean_out: the model has no output 'mean_out' left"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> args{"inspect", model};
    for (const std::string& state : row.states) args.insert(args.end(), {"--state", state});
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(result.exit_code, row.status) << row.says;
    EXPECT_TRUE(has(result.err, row.says)) << row.says << "\n" << result.err;
  }
  const std::string open = write_text_model(work.path() / "open.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[n,2] h) => (float[n,2] k) { k = Relu (h) })");
  const ProcessResult result = etch_tool({"inspect", open, "--dim", "n=1..4", "--state", "h=k"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.err, "--state h=k: the input is float32 [n,2]: its size is open")) << result.err;
}

}  // namespace
}  // namespace etch::state_test
