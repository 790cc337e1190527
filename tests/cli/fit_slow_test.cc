// Every compile ends with a verdict whether the project fits. Its figures must be those of the target's own compiler and linker.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/tempdir.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/needs.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::folder_content;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// The Cortex-M4F's description with other memories, as for a user's own board.
void write_board(const fs::path& dir, const std::string& name, const std::string& flash, const std::string& ram) {
  fs::create_directories(dir);
  std::string xml = content(fs::path(ETCH_SOURCE_DIR) / "targets" / "cortex-m4f.xml");
  const auto change = [&xml](const std::string& from, const std::string& to) {
    const auto at = xml.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    xml.replace(at, from.size(), to);
  };
  change("<target name=\"cortex-m4f\"", "<target name=\"" + name + "\"");
  change("origin=\"0x00000000\" size=\"4M\"", "origin=\"0x00000000\" size=\"" + flash + "\"");
  change("origin=\"0x20000000\" size=\"4M\"", "origin=\"0x20000000\" size=\"" + ram + "\"");
  std::ofstream(dir / (name + ".xml")) << xml;
}

class Fits : public testing::Test {
 protected:
  std::string zoo(const std::string& name) { return test::zoo_model(name).string(); }
  std::string path(const std::string& name) { return (work_.path() / name).string(); }
  nlohmann::json compiled(const std::string& model, std::vector<std::string> options, const std::string& out) {
    options.insert(options.begin(), {"compile", model, "-o", path(out)});
    const ProcessResult result = etch_tool(options);
    EXPECT_TRUE(result.ok()) << result.err;
    EXPECT_TRUE(has(result.out, "Fit on ")) << result.out;
    return nlohmann::json::parse(content(work_.path() / out / "fit.json"));
  }
  const TempDir work_{"etch-fit"};
};

// A model that is called like a file of weights has its code measured as any other.
TEST_F(Fits, TheNameOfAModelDoesNotMatter) {
  const std::string model = zoo("mlp");
  const auto code = [&](const std::string& name) {
    return compiled(model, {"--name", name, "--target", "host"}, name).at("flash").at("code_bytes");
  };
  const auto plain = code("the_model");
  if (plain.is_null()) GTEST_SKIP() << "no C compiler to measure with: apt-get install gcc";
  EXPECT_EQ(code("my_weights"), plain);
}

TEST_F(Fits, AllFilesButTheVerdictAreTheSameWithoutACompiler) {
  const std::string model = zoo("lenet");
  for (const char* target : {"host", "cortex-m4f", "opencl", "cuda"}) {
    const auto with = compiled(model, {"--target", target}, "with");
    const auto without = compiled(model, {"--target", target, "--no-measure"}, "without");
    auto a = folder_content(work_.path() / "with"), b = folder_content(work_.path() / "without");
    ASSERT_EQ(a.erase("fit.json"), 1u);
    ASSERT_EQ(b.erase("fit.json"), 1u);
    EXPECT_EQ(a, b) << target;
    EXPECT_TRUE(without.at("flash").at("code_bytes").is_null());
    const auto report = nlohmann::json::parse(a.at("report.json"));
    EXPECT_EQ(without.at("ram").at("arena_bytes"), report.at("arena_bytes"));
    EXPECT_EQ(without.at("ram").at("input_bytes"), report.at("input_bytes"));
    EXPECT_EQ(without.at("ram").at("output_bytes"), report.at("output_bytes"));
    EXPECT_EQ(without.at("flash").at("weights_bytes"), report.at("weights_bytes"));
    EXPECT_EQ(with.at("ram").at("limit_bytes").is_null(), std::string(target) != "cortex-m4f") << "hosts have no limit";
  }
}

// Flags as an engineer would write them for this core, none taken from etch.
ProcessResult link_by_hand(const fs::path& dir, const std::vector<std::string>& sources, const std::string& elf) {
  std::vector<std::string> argv = words(
      "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=picolibc.specs "
      "-DPICOLIBC_INTEGER_PRINTF_SCANF -O2 -ffunction-sections -fdata-sections --oslib=semihost --crt0=hosted -Tpicolibc.ld "
      "-Wl,--gc-sections -Wl,--no-warn-rwx-segments -Wl,--defsym=__flash=0 -Wl,--defsym=__flash_size=4194304 "
      "-Wl,--defsym=__ram=536870912 -Wl,--defsym=__ram_size=16777216 -Wl,--defsym=__stack_size=65536 -I.");
  argv.insert(argv.end(), sources.begin(), sources.end());
  argv.insert(argv.end(), {"-lm", "-o", elf});
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 300;
  return run_process(argv, options);
}

// text + data by the program `size`: the part of the image that is in flash.
std::int64_t flash_by_size(const std::string& elf) {
  const ProcessResult result = run_process({"arm-none-eabi-size", elf});
  EXPECT_TRUE(result.ok()) << result.err;
  const auto columns = words(result.out.substr(result.out.find('\n')));
  return std::stoll(columns.at(0)) + std::stoll(columns.at(1));
}

TEST_F(Fits, FlashIsWhatTheImageGrowsBy) {
  if (const std::string why = test::missing({"arm-none-eabi-gcc"}); !why.empty()) GTEST_SKIP() << why;
  std::ofstream(work_.path() / "empty.c") << "int main(void) { return 0; }\n";
  ASSERT_TRUE(link_by_hand(work_.path(), {"empty.c"}, path("empty.elf")).ok());
  const std::int64_t empty = flash_by_size(path("empty.elf"));
  // The last one needs much of the C library, and has almost no weights.
  const std::string functions = write_text_model(work_.path() / "functions.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[8] x) => (float[8] y) { a = Sin (x) b = Tanh (a) c = Exp (b) d = Atan (c) e = Sqrt (d) y = Erf (e) })");
  const std::pair<std::string, const char*> models[] = {
      {zoo("mlp"), "incbin"}, {zoo("lenet"), "auto"}, {zoo("ds_cnn"), "c"}, {zoo("ds_cnn"), "blob"}, {functions, "auto"}};
  for (const auto& [model, weights] : models) {
    const std::string name = fs::path(model).stem().string();
    SCOPED_TRACE(name + " " + weights);
    const auto fit = compiled(model, {"--target", "cortex-m4f", "--weights", weights}, "out");
    std::string upper = name;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::string header = content(work_.path() / "out" / (name + ".h"));
    const std::string in = name == "functions" ? "X" : "INPUT", out = name == "functions" ? "Y" : "OUTPUT";
    ASSERT_TRUE(has(header, upper + "_" + in + "_COUNT") && has(header, upper + "_" + out + "_COUNT")) << header;
    // As the README shows it. A blob of weights is read from an address.
    const bool blob = std::string(weights) == "blob";
    std::ofstream(work_.path() / "out" / "app.c")
        << "#include \"" << name << ".h\"\nstatic double memory[(" << upper << "_ARENA_BYTES + 7) / 8];\nfloat input[" << upper << "_" << in
        << "_COUNT], output[" << upper << "_" << out << "_COUNT];\nint main(void) { return " << name << "_run(memory, sizeof memory, "
        << (blob ? "(const void *)0x10000000, " : "") << "input, output) != ETCH_OK; }\n";
    std::vector<std::string> sources;
    for (const auto& entry : fs::directory_iterator(work_.path() / "out"))
      if ((entry.path().extension() == ".c" || entry.path().extension() == ".S") && entry.path().stem() != "selftest")
        sources.push_back(entry.path().filename().string());
    const ProcessResult linked = link_by_hand(work_.path() / "out", sources, path("app.elf"));
    ASSERT_TRUE(linked.ok()) << linked.err.substr(0, 2000);
    const std::int64_t grown = flash_by_size(path("app.elf")) - empty, said = fit.at("flash").at("used_bytes");
    EXPECT_NEAR(static_cast<double>(said), static_cast<double>(grown), 0.02 * static_cast<double>(grown));
    EXPECT_GT(fit.at("flash").at("code_bytes"), 0);
    if (name == "functions") {
      EXPECT_GT(fit.at("flash").at("library_bytes"), 500);
    }
    EXPECT_TRUE(fit.at("ram").at("stack_bytes").is_number()) << fit.dump();
    fs::remove_all(work_.path() / "out");
  }
}

TEST_F(Fits, TheStackIsWhatValidateSays) {
  if (const std::string why = test::missing({"arm-none-eabi-gcc", "qemu-system-arm"}); !why.empty()) GTEST_SKIP() << why;
  const std::string model = zoo("lenet");
  const auto fit = compiled(model, {"--target", "cortex-m4f"}, "out");
  const ProcessResult result = etch_tool({"validate", model, "--backends", "interp", "--target", "cortex-m4f", "--json"});
  ASSERT_TRUE(result.ok()) << result.err << result.out;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("target").at("stack_bound_bytes"), fit.at("ram").at("stack_bytes"));
  EXPECT_LE(json.at("target").at("stack_bytes"), fit.at("ram").at("stack_bytes")) << "what the emulator saw";
  EXPECT_GT(json.at("target").at("stack_bytes"), 0);
  EXPECT_EQ(json.at("target").at("code_bytes"), fit.at("flash").at("code_bytes"));
  EXPECT_EQ(json.at("fit"), fit);
}

TEST_F(Fits, WhatDoesNotFitLeavesNoFolder) {
  const std::string model = zoo("lenet");  // 23 520 bytes of arena, 246 840 of weights
  const fs::path boards = work_.path() / "boards";
  write_board(boards, "large", "512K", "128K");
  write_board(boards, "small_flash", "64K", "128K");
  write_board(boards, "small_ram", "512K", "16K");
  const struct {
    const char* board;
    int status;
    std::vector<const char*> says;
  } rows[] = {
      {"large", 0, {}},
      {"small_flash", 1, {"bytes of flash are needed", "weights 246 840", "the target has 65 536 (flash 65 536)", "--weights blob", "XML"}},
      {"small_ram", 1, {"bytes of RAM are needed", "arena 23 520", "the target has 16 384"}},
  };
  for (const auto& row : rows) {
    for (const char* measure : {"", "--no-measure"}) {
      std::vector<std::string> options{model, "--targets-dir", boards.string(), "--target", row.board};
      if (*measure != 0) options.push_back(measure);
      for (const char* command : {"compile", "inspect", "validate"}) {
        SCOPED_TRACE(std::string(row.board) + " " + command + " " + measure);
        std::vector<std::string> args{command};
        args.insert(args.end(), options.begin(), options.end());
        if (std::string(command) == "validate") {
          if (row.status == 0) continue;  // would run it
          args.insert(args.end(), {"--backends", "interp"});
        }
        if (std::string(command) == "compile") args.insert(args.end(), {"-o", path("out")});
        const ProcessResult result = etch_tool(args);
        EXPECT_EQ(describe(result), "exit status " + std::to_string(row.status)) << result.err;
        for (const char* part : row.says) EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
        EXPECT_EQ(fs::exists(path("out")), row.status == 0 && std::string(command) == "compile");
        const bool measured = *measure == 0 && find_program("arm-none-eabi-gcc").has_value();
        const char* verdict = row.status != 0 ? ": NO\n" : measured ? ": yes\n" : ": yes, as far as is known without code and stack\n";
        if (std::string(command) == "inspect") {
          EXPECT_TRUE(has(result.out, verdict)) << result.out;
        }
        fs::remove_all(path("out"));
      }
    }
  }
}

// The weights alone fit but the code does not, which is known only after measuring.
TEST_F(Fits, CodeThatDoesNotFitIsMeasured) {
  if (const std::string why = test::missing({"arm-none-eabi-gcc"}); !why.empty()) GTEST_SKIP() << why;
  const std::string model = write_text_model(work_.path() / "m.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[8] x) => (float[8] y) { a = Sin (x) b = Tanh (a) c = Exp (b) y = Erf (c) })");
  const fs::path boards = work_.path() / "boards";
  write_board(boards, "tiny", "2K", "128K");
  const std::vector<std::string> args{"compile", model, "--targets-dir", boards.string(), "--target", "tiny", "-o", path("out")};
  const ProcessResult result = etch_tool(args);
  EXPECT_EQ(describe(result), "exit status 1");
  EXPECT_TRUE(has(result.err, "the target has 2 048 (flash 2 048)") && has(result.err, "code ")) << result.err;
  EXPECT_FALSE(fs::exists(path("out")));
  std::vector<std::string> without = args;
  without.push_back("--no-measure");
  const ProcessResult unknown = etch_tool(without);
  EXPECT_TRUE(unknown.ok() && has(unknown.out, "as far as is known without code and stack")) << unknown.err << unknown.out;
  EXPECT_TRUE(nlohmann::json::parse(content(work_.path() / "out" / "fit.json")).at("fits").is_null());
}

TEST_F(Fits, JsonIsTheReportWithTheVerdict) {
  const std::string model = zoo("mlp");
  for (const char* command : {"compile", "inspect"}) {
    std::vector<std::string> args{command, model, "--json"};
    if (std::string(command) == "compile") args.insert(args.end(), {"-o", path("out")});
    const ProcessResult result = etch_tool(args);
    ASSERT_TRUE(result.ok()) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_TRUE(json.at("fit").at("fits").get<bool>());
    EXPECT_TRUE(json.at("arena_bytes").is_number());
  }
  write_board(work_.path() / "boards", "small", "16K", "128K");
  const ProcessResult no = etch_tool({"inspect", model, "--json", "--targets-dir", path("boards"), "--target", "small"});
  EXPECT_EQ(no.exit_code, 1);
  EXPECT_FALSE(nlohmann::json::parse(no.out).at("fit").at("fits").get<bool>());
  EXPECT_TRUE(no.err.starts_with("etch: error: target 'small': the model does not fit: ")) << no.err;
  const ProcessResult failed = etch_tool({"compile", path("nothing.onnx"), "--json", "-o", path("out2")});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_FALSE(nlohmann::json::parse(failed.out).at("ok").get<bool>());
}

// If code and stack can't be measured, this is reported but is no error: the files are correct.
TEST_F(Fits, ACompilerThatRefusesOrIsAbsentIsNamed) {
  const std::string model = zoo("mlp");
  for (const char* compiler : {"no-such-gcc", "false"}) {
    const auto fit = compiled(model, {"--target", "cortex-m4f", "--cc", compiler}, "out");
    EXPECT_TRUE(fit.at("compiler").is_null());
    EXPECT_TRUE(has(fit.at("not_measured").get<std::string>(), compiler)) << fit.dump();
    EXPECT_FALSE(has(fit.dump(), "/tmp")) << fit.dump();
  }
}

TEST_F(Fits, TheFolderMayBeReplaced) {
  const std::string model = zoo("mlp");
  compiled(model, {}, "out");
  compiled(model, {}, "out");
  std::ofstream(work_.path() / "out" / "mine.json") << "{}";
  const ProcessResult result = etch_tool({"compile", model, "-o", path("out")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.err, "mine.json")) << result.err;
}

}  // namespace
}  // namespace etch
