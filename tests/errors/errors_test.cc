// Bad input ends with a clear error and exit status 1 (2 only for a command line that can't be parsed), and leaves nothing
// behind. Each row runs the tool as a user would.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "base/tempdir.h"
#include "command_cases.h"
#include "custom_cases.h"
#include "model_cases.h"

namespace etch {

/// GoogleTest prints a row with this.
void PrintTo(const ErrorCase& row, std::ostream* out) { *out << row.name; }

namespace {

namespace fs = std::filesystem;

fs::path custom_beside(const fs::path& model) { return model.parent_path() / "custom.c"; }

std::string filled(std::string s, const fs::path& model, const fs::path& dir) {
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"{m}", model.string()}, {"{d}", dir.string()}, {"{c}", custom_beside(model).string()}})
    for (auto at = s.find(from); at != std::string::npos; at = s.find(from, at + to.size())) s.replace(at, from.size(), to);
  return s;
}

void write_model(const fs::path& path, const ErrorCase& row) {
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, (std::string("<ir_version: 8, opset_import: [\"\" : 17]>\ng ") + row.model).c_str());
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  if (row.spoil != nullptr) row.spoil(proto);
  const std::string bytes = proto.SerializeAsString();
  std::ofstream(path, std::ios::binary) << (row.bytes != nullptr ? row.bytes(bytes) : bytes);
}

class Errors : public testing::TestWithParam<ErrorCase> {};

TEST_P(Errors, is_clear_and_leaves_nothing) {
  const ErrorCase& row = GetParam();
  const TempDir work("etch-errors");
  const fs::path dir = work.path() / "dir", net = work.path() / "net", model = net / "model.onnx";
  fs::create_directory(dir);
  fs::create_directory(net);
  write_model(model, row);
  if (HasFatalFailure()) return;
  if (row.custom != nullptr) std::ofstream(custom_beside(model)) << row.custom;

  std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
  for (const std::string& arg : row.args) argv.push_back(filled(arg, model, dir));
  ProcessOptions options;
  options.timeout_s = 60;
  const ProcessResult result = run_process(argv, options);
  EXPECT_EQ(describe(result), "exit status " + std::to_string(row.status)) << result.err;
  if (row.status == 0) {
    EXPECT_EQ(result.err, "");
    return;
  }
  const std::string prefix = "etch: error: ";
  const bool has_prefix = result.err.starts_with(prefix);
  EXPECT_TRUE(has_prefix || row.status == 2) << result.err;
  EXPECT_TRUE(result.err.substr(has_prefix ? prefix.size() : 0).starts_with(filled(row.says.at(0), model, dir)))
      << "does not begin with: " << row.says[0] << "\n"
      << result.err;
  for (const char* part : row.says)
    EXPECT_NE(result.err.find(filled(part, model, dir)), std::string::npos) << "not said: " << part << "\n" << result.err;
  EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
  EXPECT_TRUE(fs::is_empty(dir)) << "left behind: " << fs::directory_iterator(dir)->path();
  EXPECT_EQ(std::distance(fs::directory_iterator(net), {}), row.custom == nullptr ? 1 : 2) << "something was left beside the model";
  EXPECT_EQ(std::distance(fs::directory_iterator(work.path()), {}), 2);
}

std::string name_of_row(const testing::TestParamInfo<ErrorCase>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Files, Errors, testing::ValuesIn(file_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Graphs, Errors, testing::ValuesIn(graph_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Quantisation, Errors, testing::ValuesIn(quantisation_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Sizes, Errors, testing::ValuesIn(size_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Options, Errors, testing::ValuesIn(option_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Tune, Errors, testing::ValuesIn(tune_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Workers, Errors, testing::ValuesIn(worker_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(CustomOperator, Errors, testing::ValuesIn(custom_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Debug, Errors, testing::ValuesIn(debug_cases()), name_of_row);
INSTANTIATE_TEST_SUITE_P(CommandLines, Errors, testing::ValuesIn(command_cases()), name_of_row);

}  // namespace
}  // namespace etch
