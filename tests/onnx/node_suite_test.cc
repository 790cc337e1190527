// The ONNX backend's node tests, as the package libonnx-testdata installs them: every folder is imported and interpreted.
// What is refused must be refused by a UserError; nothing may come out wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "base/error.h"
#include "support/evaluate.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  enum Kind { Passed, Refused, Failed } kind;
  std::string text;
};

Outcome run_folder(const fs::path& folder) {
  try {
    const ImportedModel model = import_onnx({.path = folder / "model.onnx"});
    for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
      const fs::path data = folder / ("test_data_set_" + std::to_string(set));
      const std::vector<NamedArray> inputs = test::read_data_set(data, "input"), wanted = test::read_data_set(data, "output");
      std::map<std::string, Array> values;
      for (std::size_t i = 0; i < model.inputs.size(); ++i)
        values[model.inputs[i].name] = test::as_declared(inputs.at(i).array, model.inputs[i].dtype);
      const std::vector<Array> got = test::evaluate_model(model, values);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::string difference =
            test::difference(got.at(i), test::as_declared(wanted[i].array, model.outputs.at(i).dtype), 1e-3, 1e-6);
        if (!difference.empty()) return {Outcome::Failed, "output " + std::to_string(i) + ": " + difference};
      }
    }
    return {Outcome::Passed, ""};
  } catch (const UserError& error) {
    return {Outcome::Refused, error.problem()};
  } catch (const std::exception& error) {
    return {Outcome::Failed, error.what()};
  }
}

TEST(NodeSuite, NothingFailsAndMostPass) {
  const fs::path root = "/usr/share/libonnx-testdata/data/node";
  if (!fs::exists(root)) GTEST_SKIP() << "package libonnx-testdata is not installed";
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.insert(entry.path());
  std::ofstream table(fs::path(ETCH_BUILD_DIR) / "node_suite.txt");  // all outcomes, for reading
  int passed = 0, refused = 0;
  for (const fs::path& folder : folders) {
    const Outcome outcome = run_folder(folder);
    const char* names[] = {"passed", "refused", "FAILED"};
    table << names[outcome.kind] << " " << folder.filename().string() << ": " << outcome.text << std::endl;
    passed += outcome.kind == Outcome::Passed;
    refused += outcome.kind == Outcome::Refused;
    if (outcome.kind == Outcome::Failed) ADD_FAILURE() << folder.filename().string() << ": " << outcome.text;
  }
  std::cout << passed << " passed, " << refused << " refused, of " << folders.size() << "\n";
  EXPECT_GE(passed, 500);
}

}  // namespace
}  // namespace etch
