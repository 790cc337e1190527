// A target with several memory pools: what is emitted runs on the host and on an emulated board with two RAMs, says where each tensor is
// and why, checks every arena, and shares arenas with another model. What pools can't hold is said.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "support/boards.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/needs.h"
#include "support/quantised_mlp.h"
#include "support/rounds.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch::pools_test {
namespace {

namespace fs = std::filesystem;
using test::content;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

// The description of `base`, called `name`, with these memories and pools instead of its RAM.
void write_board(const fs::path& dir, const std::string& base, const std::string& name, const std::string& memories) {
  fs::create_directories(dir);
  std::string xml = content(fs::path(ETCH_SOURCE_DIR) / "targets" / (base + ".xml"));
  replace(xml, "<target name=\"" + base + "\"", "<target name=\"" + name + "\"");
  if (const auto ram = xml.find("  <memory name=\"ram\""); ram != std::string::npos) xml.erase(ram, xml.find('\n', ram) + 1 - ram);
  replace(xml, "  <arena ", memories + "  <arena ");
  std::ofstream(dir / (name + ".xml")) << xml;
}

constexpr const char* kHostMemories =
    "  <memory name=\"tcm\" kind=\"ram\" origin=\"0x1000\" size=\"4K\"/>\n"
    "  <memory name=\"ram\" kind=\"ram\" origin=\"0x100000\" size=\"1M\"/>\n";

// Intermediates a and b of 1024 bytes each, c of 64; a is read twice.
constexpr const char* kNetwork = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,8,8] x) => (float[1,4,2,2] y, float[1,4,8,8] z) {
  a = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
  b = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a)
  c = AveragePool <kernel_shape = [4, 4], strides = [4, 4]> (b)
  y = MaxPool <kernel_shape = [1, 1]> (c)
  z = Sub (a, b)
})";

class Pools : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (work_.path() / name).string(); }
  std::string boards() const { return path("boards"); }
  std::string network(const std::string& name) const { return write_text_model(path(name + ".onnx"), kNetwork); }
  ProcessResult compiled(const std::string& model, const std::string& board, std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"compile", model, "--targets-dir", boards(), "--target", board, "-o", path("out")};
    args.insert(args.end(), more.begin(), more.end());
    return etch_tool(args);
  }
  void host_board(const std::string& name, const std::string& pools) const { write_board(boards(), "c99", name, kHostMemories + pools); }

  const TempDir work_{"etch-pools"};
};

TEST_F(Pools, TheReportSaysWhereEachTensorIsAndWhy) {
  host_board("two",
             "  <pool name=\"tcm\" memory=\"tcm\" size=\"1500\"/>\n  <pool name=\"few\" memory=\"tcm\" size=\"8\"/>\n"
             "  <pool name=\"dma\" memory=\"ram\" size=\"8K\" holds=\"io\"/>\n  <pool name=\"sram\" memory=\"ram\" size=\"64K\"/>\n");
  const ProcessResult result = compiled(network("net"), "two");
  ASSERT_TRUE(result.ok()) << result.err;
  const std::string header = content(path("out/net.h")), report = content(path("out/report.txt"));
  for (const char* part :
       {"#define NET_ARENA_TCM_BYTES ", "#define NET_ARENA_TCM_ALIGN 8u", "#define NET_ARENA_FEW_BYTES 1u /* none is needed",
        "#define NET_ARENA_SRAM_BYTES ", "void *arena_tcm, size_t arena_tcm_bytes, void *arena_few, size_t arena_few_bytes",
        "No tensor lies in pool few: arena_few may be null"})
    EXPECT_TRUE(has(header, part)) << part << "\n" << header;
  EXPECT_FALSE(has(header, "NET_ARENA_ALIGN") || has(header, "void *arena,")) << header;
  for (const char* part : {"no tensor may use it: the smallest that it may hold has ",
                           "no tensor may use it: it holds inputs and outputs alone, which are the caller's without --io-in-arena",
                           "the fastest pool", "no room in tcm beside "})
    EXPECT_TRUE(has(report, part)) << part << "\n" << report;
  const auto json = nlohmann::json::parse(content(path("out/report.json")));
  ASSERT_EQ(json.at("pools").size(), 4u);
  EXPECT_EQ(json.at("pools")[0].at("name"), "tcm");
  EXPECT_LE(json.at("pools")[0].at("bytes"), 1500);
  EXPECT_TRUE(json.at("pools")[0].at("unused").is_null());
  EXPECT_TRUE(json.at("pools")[1].at("unused").is_string());
  std::int64_t in_pools = 0;
  for (const auto& pool : json.at("pools")) in_pools += pool.at("bytes").get<std::int64_t>();
  EXPECT_EQ(json.at("arena_bytes"), in_pools);
  for (const auto& tensor : json.at("arena")) EXPECT_TRUE(tensor.contains("pool") && tensor.contains("why")) << tensor;
}

TEST_F(Pools, WhatPoolsCantHoldIsAnError) {
  const struct {
    const char* pools;
    std::vector<std::string> options;
    std::vector<const char*> says;
  } rows[] = {
      {"  <pool name=\"tcm\" memory=\"tcm\" size=\"1000\"/>\n",
       {},
       {"tensor '", "takes 1024 bytes, the largest pool that may hold it, tcm, has 1000", "<pool>"}},
      {"  <pool name=\"tcm\" memory=\"tcm\" size=\"2000\"/>\n",
       {},
       {"the target's pools (tcm 2000)", "the tensors need at least 20", "at call ", "the pools have 2000"}},
      {"  <pool name=\"tcm\" memory=\"tcm\" size=\"1K\"/>\n  <pool name=\"ram\" memory=\"ram\" size=\"1K\" holds=\"io\"/>\n",
       {},
       {"the target's pools (tcm 1024, ram 1024)"}},
      {"  <pool name=\"dma\" memory=\"ram\" holds=\"io\"/>\n",
       {},
       {"tensor '", "no pool of the target may hold intermediates (dma 1048576)"}},
      {"  <pool name=\"ram\" memory=\"ram\" holds=\"intermediates\"/>\n",
       {"--io-in-arena"},
       {"tensor 'x'", "no pool of the target may hold inputs and outputs, for which --io-in-arena asks"}},
      {"  <pool name=\"tcm\" memory=\"psram\"/>\n", {}, {"bad.xml:", "<pool>: memory is 'psram', no memory, accepted are tcm, ram"}},
      {"  <pool name=\"tcm\" memory=\"tcm\" size=\"0\"/>\n", {}, {"bad.xml:", "<pool>: size is '0', accepted is a number from 1 to 4096"}},
      {"  <pool name=\"tcm\" memory=\"tcm\" size=\"1K\"/>\n  <pool name=\"tcm\" memory=\"ram\"/>\n",
       {},
       {"bad.xml:", "<pool>: the name 'tcm' is taken"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.pools);
    host_board("bad", row.pools);
    const ProcessResult result = compiled(network("net"), "bad", row.options);
    EXPECT_EQ(describe(result), "exit status 1") << result.err;
    for (const char* part : row.says) EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
    EXPECT_FALSE(fs::exists(path("out")));
  }
}

TEST_F(Pools, ADeviceHasNone) {
  write_board(boards(), "opencl", "bad", std::string(kHostMemories) + "  <pool name=\"tcm\" memory=\"tcm\"/>\n");
  const ProcessResult result = compiled(network("net"), "bad");
  EXPECT_EQ(describe(result), "exit status 1") << result.err;
  EXPECT_TRUE(has(result.err, "run on a device with its own") && has(result.err, "leave <pool> out")) << result.err;
}

// The kernels run in buffers of the pools on this machine, with guards around each.
TEST_F(Pools, BackendsOfTheHostRunInThem) {
  host_board("two", "  <pool name=\"tcm\" memory=\"tcm\" size=\"1200\"/>\n  <pool name=\"sram\" memory=\"ram\"/>\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--io-in-arena"}, {"--optimize", "ram", "--io-in-arena"}}) {
    std::vector<std::string> args{"validate", network("net"), "--targets-dir", boards(), "--target", "two", "--backends", "c,llvm"};
    args.insert(args.end(), more.begin(), more.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_TRUE(result.ok()) << result.out << result.err;
  }
}

constexpr const char* kTwoModels = R"c(
#include <stdio.h>
#include <string.h>
#include "one.h"
#include "two.h"

ETCH_ALIGNED(16) static unsigned char tcm_memory[4096], ram_memory[16384];
static float x[ONE_X_COUNT], y[ONE_Y_COUNT], z[ONE_Z_COUNT], y2[TWO_Y_COUNT], z2[TWO_Z_COUNT];

int main(void) {
  etch_arena tcm, ram;
  void *a, *b;
  size_t i;
  for (i = 0; i < ONE_X_COUNT; i++) x[i] = (float)(i * 37u % 11u);
  etch_arena_init(&tcm, tcm_memory, sizeof tcm_memory);
  etch_arena_init(&ram, ram_memory, sizeof ram_memory);
  if (etch_arena_take(&tcm, ONE_ARENA_TCM_BYTES, ONE_ARENA_TCM_ALIGN, &a) != ETCH_OK) return 1;
  if (etch_arena_take(&ram, ONE_ARENA_SRAM_BYTES, ONE_ARENA_SRAM_ALIGN, &b) != ETCH_OK) return 2;
  printf("%d ", (int)one_run(a, ONE_ARENA_TCM_BYTES, b, ONE_ARENA_SRAM_BYTES, x, y, z));
  printf("%d ", (int)one_run(NULL, ONE_ARENA_TCM_BYTES, b, ONE_ARENA_SRAM_BYTES, x, y, z));
  printf("%d ", (int)one_run(a, ONE_ARENA_TCM_BYTES - 1u, b, ONE_ARENA_SRAM_BYTES, x, y, z));
  printf("%d ", (int)one_run(a, ONE_ARENA_TCM_BYTES, b, ONE_ARENA_SRAM_BYTES - 1u, x, y, z));
  printf("%d ", (int)one_run(a, ONE_ARENA_TCM_BYTES, (unsigned char *)b + 1, ONE_ARENA_SRAM_BYTES, x, y, z));
  etch_arena_release(&tcm, 0);
  etch_arena_release(&ram, 0);
  if (etch_arena_take(&tcm, TWO_ARENA_TCM_BYTES, TWO_ARENA_TCM_ALIGN, &a) != ETCH_OK) return 3;
  if (etch_arena_take(&ram, TWO_ARENA_SRAM_BYTES, TWO_ARENA_SRAM_ALIGN, &b) != ETCH_OK) return 4;
  printf("%d ", (int)two_run(a, TWO_ARENA_TCM_BYTES, b, TWO_ARENA_SRAM_BYTES, x, y2, z2));
  printf("%d\n", memcmp(y, y2, sizeof y) == 0 && memcmp(z, z2, sizeof z) == 0);
  return 0;
}
)c";

// One model lies in the pools in another way than the other.
TEST_F(Pools, ModelsShareThemAndCheckEach) {
  const fs::path all = work_.path() / "all";
  fs::create_directory(all);
  for (const auto& [name, size] : {std::pair("one", "1200"), {"two", "200"}}) {
    host_board(name, std::string("  <pool name=\"tcm\" memory=\"tcm\" size=\"") + size + "\"/>\n  <pool name=\"sram\" memory=\"ram\"/>\n");
    const ProcessResult result = compiled(network(name), name);
    ASSERT_TRUE(result.ok()) << result.err;
    fs::remove(path("out/selftest.c"));
    for (const auto& entry : fs::directory_iterator(path("out"))) fs::copy(entry.path(), all, fs::copy_options::overwrite_existing);
  }
  std::ofstream(all / "main.c") << kTwoModels;
  ProcessOptions options;
  options.cwd = all;
  std::vector<std::string> argv{"gcc",
                                "-std=c99",
                                "-Wall",
                                "-Wextra",
                                "-Wpedantic",
                                "-Wconversion",
                                "-Wshadow",
                                "-Werror",
                                "-fsanitize=address,undefined",
                                "-fno-sanitize-recover=all",
                                "-g",
                                "-o",
                                "program"};
  for (const auto& entry : fs::directory_iterator(all))
    if (entry.path().extension() == ".c") argv.push_back(entry.path().filename());
  argv.emplace_back("-lm");
  const ProcessResult built = run_process(argv, options);
  ASSERT_TRUE(built.ok()) << built.err;
  const ProcessResult ran = run_process({(all / "program").string()}, options);
  EXPECT_EQ(ran.out, "0 1 2 2 3 0 1\n") << ran.err;  // fine, null, small, small, misaligned, fine; equal
  const ProcessResult as_cpp =
      run_process({"g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++", "one.c"}, options);
  EXPECT_TRUE(as_cpp.ok()) << as_cpp.err;
}

// The SRAM of the emulated Cortex-M55 and its data TCM, which lies elsewhere and which no linker knows.
constexpr const char* kBoardMemories =
    "  <memory name=\"dtcm\" kind=\"ram\" origin=\"0x20000000\" size=\"512K\"/>\n"
    "  <memory name=\"ram\" kind=\"ram\" origin=\"0x21000000\" size=\"4M\"/>\n";

TEST_F(Pools, AnEmulatedBoardWithTwoRamsGivesTheSameBits) {
  if (const std::string why = test::missing_tools(test::board_target("cortex-m55")); !why.empty()) GTEST_SKIP() << why;
  struct Model {
    std::string file, data;
    const char* dtcm;  // size
  };
  fs::create_directory(path("mlp"));
  std::vector<Model> models{{test::quantised_mlp(path("mlp")), path("mlp"), "100"}};
  if (const auto kws = downloaded_model("kws_int8"); kws && test::rounds(2) == 2)
    models.push_back({(*kws / "model.onnx").string(), kws->string(), "8K"});
  for (const Model& model : models) {
    write_board(boards(), "cortex-m55", "board",
                std::string(kBoardMemories) + "  <pool name=\"dtcm\" memory=\"dtcm\" size=\"" + model.dtcm +
                    "\" address=\"0x20000000\"/>\n  <pool name=\"sram\" memory=\"ram\" size=\"1M\"/>\n");
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--optimize", "ram", "--io-in-arena"}, {}}) {
      SCOPED_TRACE(model.file);
      std::vector<std::string> args{"validate",   model.file, "--data", model.data, "--targets-dir", boards(), "--target", "board",
                                    "--backends", "c,llvm",   "--rtol", "0",        "--atol",        "0",      "-o",       path("out")};
      args.insert(args.end(), more.begin(), more.end());
      const ProcessResult result = etch_tool(args);
      EXPECT_TRUE(result.ok()) << result.out << result.err;
      const auto json = nlohmann::json::parse(content(path("out/report.json")));
      EXPECT_TRUE(json.at("instructions").is_number());
      for (const auto& pool : json.at("pools")) EXPECT_GT(pool.at("tensors"), 0) << pool;
      fs::remove_all(path("out"));
    }
  }
}

}  // namespace
}  // namespace etch::pools_test
