// Errors of files and machines: large files that were not fetched, a full disk, signals. Each is reported, and nothing is left behind.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "base/tempdir.h"
#include "error_case.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

onnx::ModelProto parsed(const std::string& graph) {
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, ("<ir_version: 8, opset_import: [\"\" : 17]>\ng " + graph).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return proto;
}

// A Git LFS pointer in place of each file of a model and its data.
TEST(GitLfs, PointerIsNamedAsSuch) {
  const TempDir work("etch-lfs");
  const auto path = [&](const char* name) { return (work.path() / name).string(); };
  for (const char* name : {"weights.bin", "x.npy", "x.pb", "x.raw"}) std::ofstream(path(name)) << kLfsPointer;
  onnx::ModelProto proto = parsed(kGoodModel);
  std::ofstream(path("good.onnx"), std::ios::binary) << proto.SerializeAsString();
  replace_weight_by_file(proto, "weights.bin");
  std::ofstream(path("external.onnx"), std::ios::binary) << proto.SerializeAsString();
  const struct {
    std::vector<std::string> args;
    const char* says;
  } rows[] = {
      {{"compile", path("external.onnx"), "-o", path("out")}, "weights.bin: it is a Git LFS pointer"},
      {{"inspect", path("external.onnx")}, "weights.bin: it is a Git LFS pointer"},
      {{"run", path("good.onnx"), "--input", path("x.npy")}, "x.npy: it is a Git LFS pointer"},
      {{"run", path("good.onnx"), "--input", path("x.pb")}, "x.pb: it is a Git LFS pointer"},
      {{"run", path("good.onnx"), "--input", path("x.raw")}, "x.raw: it is a Git LFS pointer"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
    argv.insert(argv.end(), row.args.begin(), row.args.end());
    const ProcessResult result = run_process(argv);
    EXPECT_EQ(describe(result), "exit status 1") << row.says;
    for (const char* part : {row.says, "of 12345678 bytes", "git lfs pull"})
      EXPECT_NE((result.out + result.err).find(part), std::string::npos) << part << "\n" << result.out << result.err;
    EXPECT_FALSE(fs::exists(path("out")));
  }
}

TEST(TemporaryFolder, IsNamedWhereItIsNone) {
  const TempDir work("etch-errors");
  const std::string model = (work.path() / "model.onnx").string();
  std::ofstream(model, std::ios::binary) << parsed(kGoodModel).SerializeAsString();
  ProcessOptions options;
  options.env = {{"TMPDIR", "/nope"}};
  const ProcessResult result = run_process({ETCH_BUILD_DIR "/etch", "run", model, "--backend", "c"}, options);
  EXPECT_EQ(describe(result), "exit status 1");
  EXPECT_TRUE(
      result.err.starts_with("etch: error: the folder of temporary files: No such file or directory\n  help: let TMPDIR name a folder"))
      << result.err;
}

// Where nothing is compiled, for want of a compiler or because it is a device's driver that does, compile needs none.
TEST(TemporaryFolder, IsNotNeededToEmit) {
  const TempDir work("etch-errors");
  const std::string model = (work.path() / "model.onnx").string(), out = (work.path() / "out").string();
  std::ofstream(model, std::ios::binary) << parsed(kGoodModel).SerializeAsString();
  ProcessOptions options;
  options.env = {{"TMPDIR", "/nope"}};
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--target", "opencl"}, {"--no-measure"}}) {
    std::vector<std::string> argv{ETCH_BUILD_DIR "/etch", "compile", model, "-o", out};
    argv.insert(argv.end(), how.begin(), how.end());
    const ProcessResult result = run_process(argv, options);
    EXPECT_EQ(describe(result), "exit status 0") << how[0] << result.err;
  }
}

// An output folder that holds what etch did not write is told of before anything is read.
TEST(OutputFolder, IsLookedAtFirst) {
  const TempDir work("etch-errors");
  std::ofstream(work.path() / "notes.txt") << "mine";
  const ProcessResult result = run_process({ETCH_BUILD_DIR "/etch", "compile", "no-such.onnx", "-o", work.path().string()});
  EXPECT_EQ(describe(result), "exit status 1");
  EXPECT_NE(result.err.find("the folder holds notes.txt, which etch did not write"), std::string::npos) << result.err;
}

// The folder of compiled kernels: whatever is wrong with it, the run is the same, and nothing is said.
TEST(KernelCache, IsNeverNeeded) {
  const TempDir work("etch-cache");
  const fs::path cache = work.path() / "cache";
  const std::string model = (work.path() / "model.onnx").string();
  std::ofstream(model, std::ios::binary) << parsed(kGoodModel).SerializeAsString();
  const auto run = [&](const std::string& folder) {
    const ProcessResult result = run_process({ETCH_BUILD_DIR "/etch", "run", model, "--backend", "c", "--cache", folder});
    EXPECT_EQ(describe(result), "exit status 0") << folder << ": " << result.err;
    EXPECT_EQ(result.err, "input 'x': random, seed 0\n") << folder;
    return result.out;
  };
  const auto entries = [&] { return std::distance(fs::directory_iterator(cache), {}); };
  const std::string want = run("off");
  EXPECT_FALSE(want.empty());
  EXPECT_EQ(run(cache.string()), want);
  ASSERT_GE(entries(), 1);
  const auto kept = entries();
  EXPECT_EQ(run(cache.string()), want);
  EXPECT_EQ(entries(), kept);
  const struct {
    const char* name;
    void (*damage)(const fs::path& entry);
  } rows[] = {
      {"cut off", [](const fs::path& entry) { fs::resize_file(entry, fs::file_size(entry) / 2); }},
      {"empty", [](const fs::path& entry) { fs::resize_file(entry, 0); }},
      {"another text", [](const fs::path& entry) { std::ofstream(entry) << "not a kernel"; }},
      {"another byte", [](const fs::path& entry) { std::fstream(entry, std::ios::in | std::ios::out).seekp(2000) << 'x'; }},
      {"a folder", [](const fs::path& entry) { fs::remove(entry), fs::create_directory(entry); }},
  };
  for (const auto& row : rows) {
    for (const auto& entry : fs::directory_iterator(cache)) row.damage(entry.path());
    EXPECT_EQ(run(cache.string()), want) << row.name;
    EXPECT_EQ(run(cache.string()), want) << row.name;
  }
  for (const std::string& folder : {std::string("/proc/etch-cache"), model, model + "/below"}) EXPECT_EQ(run(folder), want);
}

// Where no --cache is given: ETCH_CACHE, else the user's folder.
TEST(KernelCache, LiesWhereTheUserWants) {
  const TempDir work("etch-cache");
  const auto path = [&](const char* name) { return (work.path() / name).string(); };
  const std::string model = path("model.onnx");
  std::ofstream(model, std::ios::binary) << parsed(kGoodModel).SerializeAsString();
  const struct {
    std::vector<EnvVar> env;
    std::string folder;  // where entries appear; empty: nowhere
  } rows[] = {
      {{{"ETCH_CACHE", path("own")}, {"XDG_CACHE_HOME", path("none")}}, path("own")},
      {{{"ETCH_CACHE", ""}, {"XDG_CACHE_HOME", path("xdg")}, {"HOME", path("none")}}, path("xdg") + "/etch"},
      {{{"ETCH_CACHE", ""}, {"XDG_CACHE_HOME", "relative"}, {"HOME", path("home")}}, path("home") + "/.cache/etch"},
      {{{"ETCH_CACHE", "off"}, {"XDG_CACHE_HOME", path("none")}}, ""},
      {{{"ETCH_CACHE", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}}, ""},
  };
  for (const auto& row : rows) {
    ProcessOptions options;
    options.env = row.env;
    options.cwd = work.path();
    const ProcessResult result = run_process({ETCH_BUILD_DIR "/etch", "run", model, "--backend", "c"}, options);
    EXPECT_EQ(describe(result), "exit status 0") << result.err;
    if (!row.folder.empty()) {
      EXPECT_FALSE(fs::is_empty(row.folder)) << row.folder;
    }
    EXPECT_FALSE(fs::exists(path("none")) || fs::exists(path("relative")));
  }
}

TEST(DefaultDevice, IsThatOfTheEnvironment) {
  const TempDir work("etch-device");
  const std::string model = (work.path() / "model.onnx").string();
  std::ofstream(model, std::ios::binary) << parsed(kGoodModel).SerializeAsString();
  ProcessOptions options;
  options.env = {{"ETCH_DEVICE", "fortran"}};
  const ProcessResult unknown = run_process({ETCH_BUILD_DIR "/etch", "run", model}, options);
  EXPECT_EQ(describe(unknown), "exit status 1");
  EXPECT_TRUE(unknown.err.starts_with("etch: error: ETCH_DEVICE=fortran: is unknown; the backends are 'interp', ")) << unknown.err;
  // The C compiler is looked for only where C is what runs.
  options.env = {{"ETCH_DEVICE", "c"}};
  const ProcessResult c = run_process({ETCH_BUILD_DIR "/etch", "run", model, "--cc", "no-such-cc"}, options);
  EXPECT_NE(c.err.find("backend c: is not available here: no C compiler: 'no-such-cc' is not found"), std::string::npos) << c.err;
  EXPECT_TRUE(run_process({ETCH_BUILD_DIR "/etch", "run", model, "--cc", "no-such-cc", "--backend", "interp"}, options).ok());
  options.env = {{"ETCH_DEVICE", ""}};
  EXPECT_TRUE(run_process({ETCH_BUILD_DIR "/etch", "run", model, "--cc", "no-such-cc"}, options).ok());
}

// A full disk: /dev/full can't be a folder, so this uses a file system of 64 KiB, if one can be mounted, and writes more than that.
TEST(FullDisk, LeavesNothing) {
  const TempDir work("etch-full");
  const fs::path disk = work.path() / "disk";
  const std::string model = (work.path() / "model.onnx").string();
  onnx::ModelProto proto = parsed("(float[100,200] x) => (float[100,200] y) { y = MatMul (x, w) }");
  std::string weights(200 * 200 * 4, '\0');
  for (std::size_t i = 0; i < weights.size(); i++) weights[i] = static_cast<char>(i * 7919 % 60);
  add_weight(proto, {200, 200}, weights);
  std::ofstream(model, std::ios::binary) << proto.SerializeAsString();
  fs::create_directory(disk);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"compile", model, "-o", (disk / "out").string()},
                                               {"compile", model, "-o", disk.string()},
                                               {"run", model, "--output", (disk / "a" / "out").string()},
                                               {"run", model, "--output", disk.string()}}) {
    if (!run_process({"mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk.string()}).ok())
      GTEST_SKIP() << "a small file system can't be mounted here (needs root)";
    std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
    argv.insert(argv.end(), args.begin(), args.end());
    const ProcessResult result = run_process(argv);
    const bool left = !fs::is_empty(disk);
    run_process({"umount", disk.string()});
    EXPECT_EQ(describe(result), "exit status 1") << result.err;
    EXPECT_NE(result.err.find(disk.string()), std::string::npos) << result.err;
    EXPECT_FALSE(left) << args[0] << " " << args[3];
  }
}

// Each signal ends the tool as a signal does, and its temporary folders are gone.
TEST(Interrupt, LeavesNothing) {
  const TempDir work("etch-interrupt");
  const fs::path temp = work.path() / "tmp", out = work.path() / "out";
  const std::string model = (work.path() / "model.onnx").string();
  fs::create_directory(temp);
  // Compiling and running it takes longer than the signal needs.
  const char* const much = "(float[1000,1000] x) => (float[1000,1000] y) { h = MatMul (x, x) i = MatMul (h, h) y = MatMul (i, i) }";
  std::ofstream(model, std::ios::binary) << parsed(much).SerializeAsString();
  const std::string compile = "compile -o '" + out.string() + "'";
  for (const char* command : {"run --backend opencl", "run --backend c", "validate --backends opencl", compile.c_str()}) {
    for (const char* signal : {"INT", "TERM", "HUP"}) {
      ProcessOptions options;
      options.env = {{"TMPDIR", temp.string()}};
      // As soon as there is a temporary folder. An ignored INT, as background jobs of sh have it, is none; env gives it back.
      const std::string script = std::string("env --default-signal " ETCH_BUILD_DIR "/etch ") + command + " '" + model + "' & " +
                                 "while [ -z \"$(ls -A '" + temp.string() + "')\" ] && kill -0 $! 2>&-; do sleep 0.01; done; " +
                                 "sleep 0.1; kill -" + signal + " $!; wait $! 2>&-";
      const ProcessResult result = run_process({"sh", "-c", script}, options);
      const bool needs_opencl = std::string(command).find("opencl") != std::string::npos;
      if (needs_opencl && result.err.find("is not available here") != std::string::npos) continue;  // no OpenCL on this machine
      EXPECT_GT(result.exit_code, 128) << command << " " << signal << ": " << describe(result) << result.err;
      EXPECT_EQ(result.err, "") << command << " " << signal;
      EXPECT_TRUE(fs::is_empty(temp)) << command << " " << signal << " left " << fs::directory_iterator(temp)->path();
      EXPECT_FALSE(fs::exists(out)) << command << " " << signal;
    }
  }
}

}  // namespace
}  // namespace etch
