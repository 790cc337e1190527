// --debug N and --picture DIR as a user calls them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/tempdir.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::string model() { return test::zoo_model("mlp").string(); }

ProcessResult tool_with(const std::vector<std::string>& args, const EnvVar& variable) {
  std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
  argv.insert(argv.end(), args.begin(), args.end());
  ProcessOptions options;
  options.env = {variable};
  return run_process(argv, options);
}

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(part) != std::string::npos) found.push_back(line);
  return found;
}

// One line for each call, which --profile prints in its own way; standard output stays as it is.
TEST(Debug, RunPrintsATable) {
  const ProcessResult plain = etch_tool({"run", model(), "--backend", "c"});
  const ProcessResult profile = etch_tool({"run", model(), "--backend", "c", "--profile"});
  const ProcessResult told = etch_tool({"run", model(), "--backend", "c", "--debug", "2"});
  ASSERT_TRUE(plain.ok() && profile.ok() && told.ok()) << told.err;
  EXPECT_EQ(told.out, plain.out);
  EXPECT_EQ(lines_with(told.err, "  c       k").size(), lines_with(profile.err, " % ").size() - 1) << told.err;
  EXPECT_EQ(lines_with(told.err, "   sum  ").size(), 1u);
  EXPECT_EQ(lines_with(told.err, "==").size(), 0u) << "no ASTs";
  EXPECT_EQ(lines_with(told.err, "input 'input': random").size(), 1u);
}

// INTERP runs nowhere else but here; its table is beside that of the other backends.
TEST(Debug, ValidatePrintsATableForEachBackend) {
  const ProcessResult told = etch_tool({"validate", model(), "--backends", "interp,c,llvm", "--debug", "2"});
  ASSERT_TRUE(told.ok()) << told.err;
  const ProcessResult plain = etch_tool({"validate", model(), "--backends", "interp,c,llvm"});
  for (const char* name : {"interp", "c", "llvm"})
    EXPECT_GE(lines_with(told.err, std::string("  ") + name + std::string(8 - std::string(name).size(), ' ') + "k0_").size(), 1u) << name;
  EXPECT_EQ(lines_with(told.out, " ok ").size(), lines_with(plain.out, " ok ").size());
  EXPECT_EQ(plain.err, "");
}

// What --dump prints on standard output: the same texts.
TEST(Debug, CompilePrintsStages) {
  const TempDir work("etch-debug");
  const std::string out = (work.path() / "out").string();
  const ProcessResult dumped = etch_tool({"compile", model(), "--dump=uops,source", "--no-measure", "-o", out});
  ASSERT_TRUE(dumped.ok()) << dumped.err;
  const std::size_t source_at = dumped.out.find("==== source\n");
  const auto texts = [](std::string text) {
    std::vector<std::string> kernels;
    for (std::size_t at = text.find("-- k"); at != std::string::npos;) {
      const std::size_t begin = text.find('\n', at) + 1, next = text.find("\n-- k", begin);
      kernels.push_back(text.substr(begin, next == std::string::npos ? text.find("\n\n", begin) - begin : next - begin));
      at = next == std::string::npos ? next : next + 1;
    }
    return kernels;
  };
  const std::vector<std::string> uops = texts(dumped.out.substr(0, source_at)), sources = texts(dumped.out.substr(source_at));
  ASSERT_GT(uops.size(), 2u);
  ASSERT_EQ(uops.size(), sources.size());
  for (const char* level : {"0", "1", "2", "3", "4", "5"}) {
    const ProcessResult told = etch_tool({"compile", model(), "--no-measure", "-o", out, "--debug", level});
    ASSERT_TRUE(told.ok()) << told.err;
    EXPECT_EQ(told.err.empty(), level[0] == '0');
    EXPECT_EQ(lines_with(told.err, "-- AST").size(), level[0] >= '3' ? uops.size() : 0);
    for (const std::string& text : uops) EXPECT_EQ(told.err.find(text) != std::string::npos, level[0] >= '5') << text;
    for (const std::string& text : sources) EXPECT_EQ(told.err.find(text) != std::string::npos, level[0] >= '4') << text;
  }
}

TEST(Debug, CompilePrintsTheTargetsInstructions) {
  const TempDir work("etch-debug");
  const std::string out = (work.path() / "out").string();
  const ProcessResult without = etch_tool({"compile", model(), "--no-measure", "-o", out, "--debug", "6"});
  EXPECT_EQ(lines_with(without.err, "none are shown: the target's compiler is left out").size(), 1u);
  const ProcessResult opencl = etch_tool({"compile", model(), "--target", "opencl", "-o", out, "--debug", "6"});
  EXPECT_EQ(lines_with(opencl.err, "none are shown: the device's driver compiles the kernels").size(), 1u) << opencl.err;
  for (const auto& [target, compiler, instruction] :
       {std::tuple{"host", "objdump", "ret"}, {"cortex-m4f", "arm-none-eabi-objdump", "vfma.f32"}}) {
    const ProcessResult told = etch_tool({"compile", model(), "--target", target, "-o", out, "--debug", "6"});
    ASSERT_TRUE(told.ok()) << told.err;
    const std::string shown = told.err.substr(told.err.find("-- instructions\n"));
    if (find_program(compiler)) {
      EXPECT_FALSE(lines_with(shown, instruction).empty()) << shown;
    } else {
      EXPECT_EQ(lines_with(shown, "none are shown: ").size(), 1u);
    }
  }
}

TEST(Debug, TheEnvironmentSetsTheLevel) {
  const std::vector<std::string> run{"run", model(), "--backend", "interp"};
  const ProcessResult told = tool_with(run, {"ETCH_DEBUG", "1"}), wrong = tool_with(run, {"ETCH_DEBUG", "7"});
  EXPECT_EQ(lines_with(told.err, "interp: loaded ").size(), 1u) << told.err;
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(wrong.err.starts_with("etch: error: --debug 7: is no level from 0 to 6")) << wrong.err;
  std::vector<std::string> over = run;
  over.insert(over.end(), {"--debug", "0"});
  EXPECT_EQ(lines_with(tool_with(over, {"ETCH_DEBUG", "1"}).err, "loaded").size(), 0u);
}

// A picture for the schedule and each kernel; the same bytes again.
TEST(Picture, CompileAndInspectWritePictures) {
  const TempDir work("etch-picture");
  const std::string out = (work.path() / "out").string(), one = (work.path() / "one").string(), two = (work.path() / "two").string();
  const ProcessResult compiled = etch_tool({"compile", model(), "--no-measure", "-o", out, "--picture", one});
  ASSERT_TRUE(compiled.ok()) << compiled.err;
  const auto report = nlohmann::json::parse(test::content(fs::path(out) / "report.json"));
  const auto files = test::folder_content(one);
  EXPECT_EQ(files.size(), report.at("kernels").size() + 1);
  EXPECT_TRUE(files.contains("schedule.svg"));
  EXPECT_EQ(lines_with(compiled.out, std::to_string(files.size()) + " pictures in " + one).size(), 1u) << compiled.out;
  const ProcessResult inspected = etch_tool({"inspect", model(), "--no-measure", "--picture", two, "--json"});
  ASSERT_TRUE(inspected.ok()) << inspected.err;
  EXPECT_TRUE(nlohmann::json::accept(inspected.out));
  EXPECT_EQ(test::folder_content(two), files);
}

// Those of a model replace those of another, and nothing else.
TEST(Picture, OnlyPicturesByEtchAreReplaced) {
  const TempDir work("etch-picture");
  const fs::path pictures = work.path() / "pictures";
  const auto inspect = [&](const std::string& net) {
    return etch_tool({"inspect", test::zoo_model(net).string(), "--no-measure", "--picture", pictures.string()});
  };
  ASSERT_TRUE(inspect("mlp").ok());
  const auto of_mlp = test::folder_content(pictures);
  write_file(pictures / "own.svg", "<svg/>");
  ASSERT_TRUE(inspect("lenet").ok());
  auto of_lenet = test::folder_content(pictures);
  EXPECT_EQ(of_lenet.at("own.svg"), "<svg/>");
  ASSERT_TRUE(inspect("mlp").ok());
  fs::remove(pictures / "own.svg");
  EXPECT_EQ(test::folder_content(pictures), of_mlp) << "none of lenet is left";
  write_file(pictures / "schedule.svg", "<svg/>");
  const auto before = test::folder_content(pictures);
  const ProcessResult refused = inspect("lenet");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(
      refused.err.starts_with("etch: error: " + (pictures / "schedule.svg").string() + ": is there already, and etch did not write it"))
      << refused.err;
  EXPECT_EQ(test::folder_content(pictures), before);
}

}  // namespace
}  // namespace etch
