// The cache of compiled kernels: found again, safe against damage, against folders that can't be written and against other processes.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>

#include "base/tempdir.h"
#include "device/compiled.h"
#include "device/packed_folder.h"
#include "support/device_checks.h"
#include "support/files.h"
#include "support/usable.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const fs::path& dir) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(dir)) files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

std::string content(const fs::path& file) { return test::content(file); }
void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

/// Counts what it compiles: the text backwards.
class Backwards : public Compiler {
 public:
  explicit Backwards(CacheOptions cache, std::string key = "1") : Compiler(std::move(cache)), key_(std::move(key)) {}
  std::string cachekey() const override { return key_; }
  std::string compile(const std::string& text) const override {
    compiled++;
    return {text.rbegin(), text.rend()};
  }
  std::string disassemble(const std::string& binary) const override { return binary; }
  mutable std::atomic<int> compiled = 0;

 private:
  std::string key_;
};

TEST(DeviceLayer, CompileCachedOnDisk) {
  const TempDir dir("etch-test");
  const CacheOptions cache{.dir = dir.path() / "a" / "b"};
  const std::string text = std::string("abc\0def\n", 8), made = std::string("\nfed\0cba", 8);
  EXPECT_FALSE(fs::exists(cache.dir));
  const Backwards first(cache), second(cache), newer(cache, "2"), off({});
  for (int again = 0; again < 2; again++) EXPECT_EQ(first.compile_cached(text), made);
  EXPECT_EQ(second.compile_cached(text), made);
  EXPECT_EQ(first.compiled, 1);
  EXPECT_EQ(second.compiled, 0);
  EXPECT_EQ(entries(cache.dir).size(), 1u);
  EXPECT_EQ(fs::status(cache.dir).permissions(), fs::perms::owner_all);
  EXPECT_EQ(newer.compile_cached(text), made);  // another compiler
  EXPECT_EQ(newer.compiled, 1);
  EXPECT_EQ(first.compile_cached(text + "x"), "x" + made);  // another text
  EXPECT_EQ(first.compiled, 2);
  // Where the compiler's key ends and the text begins matters.
  EXPECT_EQ(Backwards(cache, "1a").compile_cached("b"), "b");
  EXPECT_EQ(Backwards(cache, "1").compile_cached("ab"), "ba");
  EXPECT_EQ(entries(cache.dir).size(), 5u);
  for (int again = 0; again < 2; again++) EXPECT_EQ(off.compile_cached(text), made);
  EXPECT_EQ(off.compiled, 2);
}

TEST(DeviceLayer, DamagedCacheEntryIsRecomputed) {
  const TempDir dir("etch-test");
  const CacheOptions cache{.dir = dir.path()};
  const std::string text = "some text", made = "txet emos";
  Backwards(cache).compile_cached(text);
  const fs::path entry = entries(dir.path()).at(0);
  const std::string good = content(entry);
  std::vector<std::string> damaged = {"", "x", std::string(good.size(), '\0'), good + "y", "etch cache 2\n" + good.substr(13)};
  for (std::size_t i = 0; i < good.size(); i++) {
    damaged.push_back(good.substr(0, i));
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    damaged.push_back(flipped);
  }
  for (const std::string& bytes : damaged) {
    write(entry, bytes);
    const Backwards compiler(cache);
    ASSERT_EQ(compiler.compile_cached(text), made);
    ASSERT_EQ(compiler.compiled, 1) << bytes;
    ASSERT_EQ(content(entry), good) << "it is put in order";
  }
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_EQ(Backwards(cache).compile_cached(text), made);
  fs::remove(entry);
  fs::create_symlink("/etc/passwd", entry);
  EXPECT_EQ(Backwards(cache).compile_cached(text), made);
}

TEST(DeviceLayer, CacheInAFolderThatCantBeWritten) {
  const TempDir dir("etch-test");
  write(dir.path() / "file", "");
  const fs::path folders[] = {"/proc/etch-cache", dir.path() / "file", dir.path() / "file" / "below", dir.path() / std::string(300, 'x')};
  for (const fs::path& folder : folders) {
    const Backwards compiler({.dir = folder});
    for (int again = 1; again <= 2; again++) {
      EXPECT_EQ(compiler.compile_cached("ab"), "ba") << folder;
      EXPECT_EQ(compiler.compiled, again) << folder;
    }
  }
  EXPECT_EQ(entries(dir.path()).size(), 1u);
}

TEST(DeviceLayer, CacheStaysBelowItsLimit) {
  const TempDir dir("etch-test");
  const DiskCache cache({.dir = dir.path(), .most_bytes = 2000});
  const auto age = [&](const char* key, int hours) {
    fs::last_write_time(cache.file_of(key), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  cache.keep("too large", std::string(2001, 'x'));
  EXPECT_TRUE(entries(dir.path()).empty());
  cache.keep("old", std::string(500, 'o'));
  cache.keep("used", std::string(500, 'u'));
  cache.keep("older", std::string(500, 'p'));
  age("old", 2);
  age("used", 4);
  age("older", 3);
  EXPECT_EQ(cache.find("used"), std::string(500, 'u'));  // used now
  cache.keep("new", std::string(500, 'n'));
  EXPECT_EQ(cache.find("older"), std::nullopt);
  EXPECT_EQ(cache.find("old"), std::string(500, 'o'));
  EXPECT_EQ(cache.find("used"), std::string(500, 'u'));
  EXPECT_EQ(cache.find("new"), std::string(500, 'n'));
  // What a process left unfinished goes, what one may be writing now and what is not etch's stays.
  write(dir.path() / "abc.part", "");
  write(dir.path() / "def.part", "");
  write(dir.path() / "notes.txt", std::string(5000, 'x'));
  fs::last_write_time(dir.path() / "abc.part", fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.keep("new", std::string(500, 'n'));
  EXPECT_FALSE(fs::exists(dir.path() / "abc.part"));
  EXPECT_TRUE(fs::exists(dir.path() / "def.part"));
  EXPECT_TRUE(fs::exists(dir.path() / "notes.txt"));
}

TEST(DeviceLayer, CacheIsSharedBySeveral) {
  const TempDir dir("etch-test");
  std::vector<std::future<int>> running;
  for (int t = 0; t < 8; t++)
    running.push_back(std::async(std::launch::async, [&dir] {
      const DiskCache cache({.dir = dir.path(), .most_bytes = 20'000});  // so that entries are removed meanwhile, too
      int wrong = 0;
      for (int i = 0; i < 100; i++) {
        const std::string key = std::to_string(i % 7), value(static_cast<std::size_t>(4000 + i % 7), static_cast<char>('a' + i % 7));
        const auto found = cache.find(key);
        wrong += found && *found != value ? 1 : 0;
        cache.keep(key, value);
      }
      return wrong;
    }));
  for (auto& r : running) EXPECT_EQ(r.get(), 0);
  for (const fs::path& file : entries(dir.path())) EXPECT_EQ(file.extension(), ".entry");
}

// The real compilers.
class DeviceLayerCache : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    options_.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
    options_.of<CudaOptions>().device = "cpu";
    options_.cache.dir = dir_.path() / "cache";
    if (const std::string why = test::why_not(*make_device(GetParam(), options_)); !why.empty()) GTEST_SKIP() << why;
  }
  /// y = x + 1, and 2x + 1 by another text.
  Program program(const std::string& what) const {
    const std::map<std::string, std::string> texts = {
        {"c", "static void k(void *const *arg) { float x = *(const float *)arg[1]; *(float *)arg[0] = " + what + "; }\n"},
        {"opencl", "__kernel void k(__global float *o, __global const float *a) { float x = a[0]; o[0] = " + what + "; }\n"},
        {"cuda", "extern \"C\" __global__ void k(float *o, const float *a) { float x = a[0]; o[0] = " + what + "; }\n"},
        {"llvm",
         "define void @k(ptr %arg) {\n  %o = load ptr, ptr %arg\n  %at = getelementptr ptr, ptr %arg, i64 1\n"
         "  %i = load ptr, ptr %at\n  %x = load float, ptr %i\n  %z = fadd float %x, " +
             std::string(what == "x + 1" ? "0.0" : "%x") + "\n  %y = fadd float %z, 1.0\n  store float %y, ptr %o\n  ret void\n}\n"}};
    test::ProgramBuilder b(GetParam());
    const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
    b.call(b.kernel("k", texts.at(GetParam()), 2, {}, {1}), {y, x});
    return b.take();
  }
  double run(const Program& program) const {
    return make_device(GetParam(), options_)->load(program)->run({test::floats({1}, {3})})[0].double_at(0);
  }
  std::size_t kept() const { return entries(options_.cache.dir).size(); }

  TempDir dir_{"etch-test"};
  DeviceOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Backends, DeviceLayerCache, testing::Values("c", "llvm", "opencl", "cuda"),
                         [](const auto& row) { return row.param; });

TEST_P(DeviceLayerCache, KeepsProgramsByTheirText) {
  const Program one = program("x + 1"), two = program("2 * x + 1");
  EXPECT_EQ(run(one), 4);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(run(one), 4);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(run(two), 7);
  EXPECT_EQ(kept(), 2u);
  EXPECT_EQ(run(one), 4);
}

// The first text finds what was made of the second: so it is the entry that ran, and nothing was compiled.
TEST_P(DeviceLayerCache, RunsWhatIsKept) {
  const Program one = program("x + 1"), two = program("2 * x + 1");
  EXPECT_EQ(run(one), 4);
  const fs::path entry = entries(options_.cache.dir).at(0);
  EXPECT_EQ(run(two), 7);
  for (const fs::path& file : entries(options_.cache.dir))
    if (file != entry) fs::copy_file(file, entry, fs::copy_options::overwrite_existing);
  EXPECT_EQ(run(one), 7);
}

TEST_P(DeviceLayerCache, DamagedCacheEntryIsRecomputed) {
  const Program one = program("x + 1");
  EXPECT_EQ(run(one), 4);
  const fs::path entry = entries(options_.cache.dir).at(0);
  const std::string good = content(entry);
  for (const std::string& bytes : {good.substr(0, good.size() / 2), good + "x", std::string()}) {
    write(entry, bytes);
    EXPECT_EQ(run(one), 4);
    EXPECT_EQ(content(entry).size(), good.size());
  }
}

TEST_P(DeviceLayerCache, CacheInAFolderThatCantBeWritten) {
  options_.cache.dir = "/proc/etch-cache";
  EXPECT_EQ(run(program("x + 1")), 4);
  EXPECT_EQ(run(program("x + 1")), 4);
}

// PoCL compiles a kernel when it is first started: what it makes is part of the entry, and a second run adds nothing to it.
TEST_P(DeviceLayerCache, KeepsWhatADriverMakesLater) {
  EXPECT_EQ(run(program("x + 1")), 4);
  const fs::path entry = entries(options_.cache.dir).at(0);
  const std::string first = content(entry);
  EXPECT_EQ(run(program("x + 1")), 4);
  EXPECT_EQ(content(entry), first);
  if (GetParam() == "opencl" && first.find("program.bc") != std::string::npos) {
    EXPECT_NE(first.find("k.so"), std::string::npos);
  }
}

// One process of the device runs them all: what the driver has loaded stays as it is while equal programs come and go.
TEST_P(DeviceLayerCache, EqualProgramsFollowEachOther) {
  const auto device = make_device(GetParam(), options_);
  const Program one = program("x + 1");
  for (int k = 0; k < 3; k++) EXPECT_EQ(device->load(one)->run({test::floats({1}, {3})})[0].double_at(0), 4);
  const auto first = device->load(one), second = device->load(one);
  for (int k = 0; k < 2; k++)
    for (const auto& loaded : {first.get(), second.get()}) EXPECT_EQ(loaded->run({test::floats({1}, {5})})[0].double_at(0), 6);
}

TEST(DeviceLayer, PackedFilesComeBack) {
  const TempDir from("etch-test"), to("etch-test");
  fs::create_directories(from.path() / "a" / "b");
  write(from.path() / "a" / "b" / "one", std::string("1\n\0x", 4));
  write(from.path() / "two", "");
  write(from.path() / "three", "3");
  EXPECT_EQ(files_below(from.path()), (std::set<std::string>{"a/b/one", "three", "two"}));
  const std::string packed = pack_files(from.path(), {"a/b/one", "two", "gone"});
  unpack_files(packed, to.path() / "new");
  EXPECT_EQ(files_below(to.path()), (std::set<std::string>{"new/a/b/one", "new/two"}));
  EXPECT_EQ(content(to.path() / "new" / "a" / "b" / "one"), std::string("1\n\0x", 4));
  write(to.path() / "new" / "two", "a driver has it");
  unpack_files(packed, to.path() / "new");
  EXPECT_EQ(content(to.path() / "new" / "two"), "a driver has it");
  for (const std::string bad : {"x", "3", "3\nab", "99\nabc", "6\n../bad1\nx", "7\na/../..1\nx", "-1\n", "4\n/bad1\nx"})
    unpack_files(bad, to.path() / "new");
  EXPECT_EQ(files_below(to.path()), (std::set<std::string>{"new/a/b/one", "new/two"}));
}

// A second run starts no compiler.
TEST(DeviceLayer, CompilerIsNotStartedAgain) {
  const TempDir dir("etch-test");
  const std::string script = (dir.path() / "compiler").string(), log = (dir.path() / "log").string();
  DeviceOptions options;
  if (const std::string why = test::why_not(*make_device("c", options)); !why.empty()) GTEST_SKIP() << why;
  write(script, "#!/bin/sh\necho started >> '" + log + "'\nexec cc \"$@\"\n");
  fs::permissions(script, fs::perms::owner_all);
  options.of<COptions>().cc = script;
  options.cache.dir = dir.path() / "cache";
  const Program program = test::two_calls("c",
                                          {"static void twice(void *const *arg) { for (int i = 0; i < 4; i++) "
                                           "((float *)arg[0])[i] = 2 * ((float *)arg[1])[i]; }\n"},
                                          {"static void add(void *const *arg) { for (int i = 0; i < 4; i++) "
                                           "((float *)arg[0])[i] = ((float *)arg[1])[i] + ((float *)arg[2])[i]; }\n"});
  for (int again = 0; again < 3; again++) test::expect_calls_in_order(*make_device("c", options)->load(program));
  EXPECT_EQ(content(log), "started\n");
  options.of<COptions>().flags.emplace_back("-DOTHER");
  test::expect_calls_in_order(*make_device("c", options)->load(program));
  EXPECT_EQ(content(log), "started\nstarted\n");
  write(script, content(script) + "# another version\n");
  test::expect_calls_in_order(*make_device("c", options)->load(program));
  EXPECT_EQ(content(log), "started\nstarted\nstarted\n");
}

}  // namespace
}  // namespace etch
