// Exporters call every model model.onnx: such files are named after their folder, so that two of them go into one program.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/tempdir.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

TEST(ModelName, AFileCalledModelIsNamedAfterItsFolder) {
  const TempDir work;
  for (const char* folder : {"wake-word", "gesture"}) {
    const fs::path dir = work.path() / folder;
    fs::create_directories(dir);
    ASSERT_TRUE(zoo_tool({"mlp", (dir / "model.onnx").string()}).ok());
  }
  struct Row {
    std::string file, cwd;
    std::vector<std::string> options;
    std::string name, line;  // line: what is said, empty: nothing
  };
  const std::string why = " after its folder, as the file is only called model.onnx; --name gives another name\n";
  const Row rows[] = {
      {(work.path() / "wake-word/model.onnx").string(), "", {}, "wake_word", "named wake_word" + why},
      {(work.path() / "gesture/../gesture/model.onnx").string(), "", {}, "gesture", "named gesture" + why},
      {"model.onnx", (work.path() / "gesture").string(), {}, "gesture", "named gesture" + why},
      {"./model.onnx", (work.path() / "gesture").string(), {"--name", "hand"}, "hand", ""},
  };
  for (std::size_t i = 0; i < std::size(rows); i++) {
    const Row& row = rows[i];
    SCOPED_TRACE(row.file);
    const fs::path out = work.path() / ("out" + std::to_string(i));
    std::vector<std::string> command{ETCH_BUILD_DIR "/etch", "compile", row.file, "-o", out.string()};
    command.insert(command.end(), row.options.begin(), row.options.end());
    ProcessOptions options;
    options.cwd = row.cwd;
    const ProcessResult compiled = run_process(command, options);
    ASSERT_TRUE(compiled.ok()) << compiled.err;
    EXPECT_TRUE(fs::exists(out / (row.name + ".h")));
    EXPECT_EQ(compiled.out.starts_with("named "), !row.line.empty()) << compiled.out.substr(0, 200);
    EXPECT_TRUE(compiled.out.starts_with(row.line)) << compiled.out.substr(0, 200);
  }
}

}  // namespace
}  // namespace etch
