// The tool as a user calls it: each command once, on bundled models.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/tempdir.h"
#include "onnx/builder.h"
#include "onnx/tensor_file.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/tool.h"
#include "validate/compare.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::folder_content;

class Commands : public testing::Test {
 protected:
  std::string model(const std::string& name) { return test::zoo_model(name).string(); }
  const TempDir work_{"etch-commands"};
};

TEST_F(Commands, compile_gives_the_same_bytes_in_another_folder_from_another_path) {
  const std::string a = model("lenet");
  const fs::path other = work_.path() / "some" / "other place";
  fs::create_directories(other);
  fs::copy_file(a, other / "lenet.onnx");
  for (const char* target : {"host", "cortex-m4f", "opencl", "cuda"}) {
    const fs::path first = work_.path() / (std::string("one_") + target), second = other / (std::string("two_") + target);
    ASSERT_TRUE(etch_tool({"compile", a, "--target", target, "-o", first.string()}).ok());
    ASSERT_TRUE(etch_tool({"compile", (other / "lenet.onnx").string(), "--target", target, "-o", second.string()}).ok());
    EXPECT_EQ(folder_content(first), folder_content(second));
  }
}

TEST_F(Commands, validate_on_a_gpu_passes_or_says_what_is_missing) {
  const ProcessResult result = etch_tool({"validate", model("lenet"), "--target", "cuda"});
  if (result.ok()) return;
  EXPECT_EQ(result.exit_code, 1);
  const char* missing = find_program("nvcc") ? "target cuda: no NVIDIA GPU is on this machine" : "its compiler nvcc is not installed";
  EXPECT_NE(result.err.find(missing), std::string::npos) << result.out << result.err;
}

TEST_F(Commands, what_is_emitted_builds_with_one_line_and_passes_its_self_test) {
  for (const char* name : {"mlp", "lenet", "ds_cnn"}) {
    const fs::path out = work_.path() / name;
    const ProcessResult compiled = etch_tool({"compile", model(name), "--weights", "c", "-o", out.string()});
    ASSERT_TRUE(compiled.ok()) << compiled.err;
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (!find_program(compiler)) continue;
      ProcessOptions options;
      options.cwd = out;
      // As in: cc *.c -lm
      std::vector<std::string> argv{compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"};
      for (const auto& entry : fs::directory_iterator(out))
        if (entry.path().extension() == ".c") argv.push_back(entry.path().filename().string());
      argv.insert(argv.end(), {"-lm", "-o", (work_.path() / "selftest").string()});
      const ProcessResult built = run_process(argv, options);
      ASSERT_TRUE(built.ok()) << compiler << ": " << built.err.substr(0, 2000);
      const ProcessResult ran = run_process({(work_.path() / "selftest").string()});
      EXPECT_TRUE(ran.ok()) << ran.out;
      EXPECT_NE(ran.out.find("PASS"), std::string::npos) << ran.out;
    }
  }
}

TEST_F(Commands, report_has_what_machines_read) {
  const fs::path out = work_.path() / "out";
  ASSERT_TRUE(etch_tool({"compile", model("ds_cnn"), "--target", "cortex-m4f", "-o", out.string()}).ok());
  const auto report = nlohmann::json::parse(content(out / "report.json"));
  for (const char* key : {"arena_bytes", "arena_lower_bound_bytes", "weights_bytes", "macs", "indices_proved"})
    EXPECT_TRUE(report.at(key).is_number()) << key;
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(out)) files.insert(entry.path().filename().string());
  EXPECT_EQ(report.at("files").get<std::set<std::string>>(), files);
  EXPECT_TRUE(report.at("code_bytes").is_null()) << "compile needs no cross compiler, so it measures none";
  ASSERT_FALSE(report.at("kernels").empty());
  for (const auto& kernel : report.at("kernels")) {
    EXPECT_TRUE(kernel.at("name").is_string() && kernel.at("macs").is_number() && kernel.at("bytes").is_number()) << kernel.dump();
    EXPECT_FALSE(kernel.at("nodes").empty()) << kernel.dump();
  }
  EXPECT_EQ(report.at("macs").get<std::int64_t>(), 2656768) << "MLPerf Tiny's keyword spotting network";
}

TEST_F(Commands, run_reads_and_writes_arrays) {
  const std::string m = model("mlp");
  const fs::path a = work_.path() / "a", b = work_.path() / "b";
  ASSERT_TRUE(etch_tool({"run", m, "--backend", "interp", "--seed", "3", "--output", a.string()}).ok());
  ASSERT_TRUE(etch_tool({"run", m, "--backend", "c", "--seed", "3", "--output", b.string()}).ok());
  const Array by_interp = read_npy(a / "output.npy"), by_c = read_npy(b / "output.npy");
  ASSERT_EQ(by_interp.shape(), (std::vector<std::int64_t>{1, 10}));
  EXPECT_TRUE(compare(by_c, by_interp).ok) << compare(by_c, by_interp).problem;
  double sum = 0;
  for (double p : by_interp.doubles()) sum += p;
  EXPECT_NEAR(sum, 1, 1e-6) << "the outputs of softmax";
  const fs::path other = work_.path() / "other";
  ASSERT_TRUE(etch_tool({"run", m, "--backend", "interp", "--seed", "4", "--output", other.string()}).ok());
  EXPECT_NE(content(a / "output.npy"), content(other / "output.npy")) << "another seed, another input";
  const ProcessResult fed = etch_tool({"run", m, "--backend", "interp", "--input", "input=" + (a / "output.npy").string()});
  EXPECT_EQ(fed.exit_code, 1);
  EXPECT_NE(fed.err.find("output.npy: is float32 [1,10], the model takes float32 [1,784]"), std::string::npos) << fed.err;
}

TEST_F(Commands, run_says_how_long_each_call_took) {
  for (const char* backend : {"interp", "c", "llvm", "cuda"}) {
    const ProcessResult result = etch_tool({"run", model("mlp"), "--backend", backend, "--profile"});
    ASSERT_TRUE(result.ok()) << result.err;
    const std::regex line(R"( +[0-9.]+ ms +([0-9.]+) %  (.*)\n)");
    std::string calls;
    double share = 0;
    for (std::sregex_iterator it(result.err.begin(), result.err.end(), line), end; it != end; it++) {
      calls += it->str(2) + "\n";
      if (it->str(2) != "all calls") share += std::stod(it->str(1));
    }
    EXPECT_EQ(calls, "gemm_fc1: fc1, Relu_1\ngemm_fc2: fc2, Relu_3\ngemm_fc3: fc3\nsoftmax: softmax\nall calls\n") << result.err;
    EXPECT_NEAR(share, 100, 1) << result.err;
  }
}

TEST_F(Commands, dump_prints_every_stage) {
  const ProcessResult result =
      etch_tool({"compile", model("lenet"), "--dump=graph,schedule,ast,uops,source,plan", "-o", (work_.path() / "out").string()});
  ASSERT_TRUE(result.ok()) << result.err;
  for (const char* stage : {"==== graph", "==== schedule", "==== ast", "==== uops", "==== source", "==== plan"})
    EXPECT_NE(result.out.find(stage), std::string::npos) << stage;
}

TEST_F(Commands, the_model_may_stand_behind_every_option) {
  const std::string m = model("mlp"), out = (work_.path() / "out").string(), dumped = (work_.path() / "dumped").string();
  const std::vector<std::string> rows[] = {
      {"validate", "--backends", "interp", m},
      {"compile", "-o", out, "--dump", "graph", m},
      {"compile", "-o", dumped, "--dump", "graph,plan", m},
      {"run", "--seed", "3", m},
      {"validate", "--backends", "interp,c", "--json", m},
  };
  for (const auto& row : rows) {
    const ProcessResult result = etch_tool(row);
    EXPECT_EQ(describe(result), "exit status 0") << row[1] << result.err;
  }
}

TEST_F(Commands, compile_into_the_current_folder_and_again) {
  const std::string m = model("mlp");
  const fs::path out = work_.path() / "out";
  fs::create_directory(out);
  ProcessOptions options;
  options.cwd = out;
  for (int i = 0; i < 2; i++) {
    const ProcessResult result =
        run_process({"sh", "-c", ETCH_BUILD_DIR "/etch compile '" + m + "' -o . && ls report.json mlp.c && ls -A | wc -l"}, options);
    EXPECT_TRUE(result.ok()) << result.err;
    EXPECT_TRUE(result.out.ends_with("mlp.c\nreport.json\n12\n")) << result.out;
  }
  std::ofstream(out / "mine.c") << "int mine;";
  const ProcessResult kept = etch_tool({"compile", m, "-o", out.string()});
  EXPECT_EQ(kept.exit_code, 1);
  EXPECT_NE(kept.err.find("mine.c"), std::string::npos) << kept.err;
  EXPECT_EQ(content(out / "mine.c"), "int mine;");
}

TEST_F(Commands, inspect_ops_targets_audit_say_what_they_should) {
  const std::string m = model("ds_cnn");
  const fs::path out = work_.path() / "out";
  ASSERT_TRUE(etch_tool({"compile", m, "-o", out.string()}).ok());
  const struct {
    std::vector<std::string> args;
    std::vector<const char*> says;
  } rows[] = {
      {{"inspect", m}, {"2 656 768", "Conv", "arena", "k0"}},
      {{"ops"}, {"Conv ", "Softmax", "7-28", "10-28", "float, integer, bool"}},
      {{"targets"}, {"host", "x86-64-v3", "x86-64-v4", "cortex-m4f", "opencl"}},
      {{"audit", out.string()}, {"nothing found"}},
      {{"--version"}, {"etch 0."}},
      {{"--help"}, {"compile", "validate"}},
  };
  for (const auto& row : rows) {
    const ProcessResult result = etch_tool(row.args);
    EXPECT_EQ(describe(result), "exit status 0") << row.args[0] << result.err;
    for (const char* part : row.says)
      EXPECT_NE(result.out.find(part), std::string::npos) << row.args[0] << " does not say " << part << "\n" << result.out;
  }
}

// Also where the target decides how an operator is imported: inputs of several steps at once, sums in blocks.
TEST_F(Commands, inspect_tells_the_program_that_compile_writes) {
  GraphBuilder recurrent("net", 14), sums("net", 13);
  const auto x = recurrent.input("x", DType::Float32, {100, 1, 64});
  const auto w = recurrent.seeded("w", {1, 512, 64}, 64), r = recurrent.seeded("r", {1, 512, 128}, 128);
  recurrent.output(recurrent.node("LSTM", {x, w, r}, {{"hidden_size", 128}}), DType::Float32, {100, 1, 1, 128});
  const auto rows = sums.input("x", DType::Float32, {32, 20000});
  sums.output(sums.node("MatMul", {rows, sums.seeded("w", {20000, 32}, 20000)}), DType::Float32, {32, 32});
  for (const GraphBuilder* g : {&recurrent, &sums}) {
    const std::string m = (work_.path() / "net.onnx").string(), out = (work_.path() / "out").string();
    g->write(m);
    const std::vector<std::string> how{m, "--target", "x86-64-v4", "--no-measure"};
    std::vector<std::string> inspect{"inspect", "--json"}, compile{"compile", "-o", out};
    inspect.insert(inspect.end(), how.begin(), how.end());
    compile.insert(compile.end(), how.begin(), how.end());
    const ProcessResult told = etch_tool(inspect);
    ASSERT_TRUE(told.ok() && etch_tool(compile).ok()) << told.err;
    const auto one = nlohmann::json::parse(told.out), other = nlohmann::json::parse(content(fs::path(out) / "report.json"));
    EXPECT_GT(other.at("arena_bytes"), 0);
    for (const char* what : {"arena_bytes", "weights_bytes", "macs", "functions", "kernels"})
      EXPECT_EQ(one.at(what), other.at(what)) << what;
  }
}

TEST_F(Commands, conformance_counts_and_fails_on_a_wrong_case) {
  const ProcessResult good = etch_tool({"conformance", ETCH_TEST_DATA "/conformance/symbolic_cases.json"});
  EXPECT_TRUE(good.ok()) << good.err;
  EXPECT_NE(good.out.find("v08_wrong"), std::string::npos) << good.out;
  auto json = nlohmann::json::parse(content(ETCH_TEST_DATA "/conformance/symbolic_cases.json"));
  json["cases"][0]["evals"][0]["value"] = 12345;
  const fs::path spoilt = work_.path() / "spoilt.json";
  std::ofstream(spoilt) << json;
  const ProcessResult bad = etch_tool({"conformance", spoilt.string()});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.out.find(json["cases"][0]["id"].get<std::string>()), std::string::npos) << bad.out;
}

}  // namespace
}  // namespace etch
