#include "base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/tempdir.h"

namespace etch::process_test {
namespace {

struct Row {
  const char* name;
  std::vector<std::string> argv;
  std::string input;
  bool started;
  int exit_code, signal;
  std::string out, err;
};

const Row kRows[] = {
    {"output", {"printf", "a b"}, "", true, 0, 0, "a b", ""},
    {"no shell", {"printf", "%s", "$HOME;`ls`"}, "", true, 0, 0, "$HOME;`ls`", ""},
    {"exit status", {"sh", "-c", "echo x >&2; exit 7"}, "", true, 7, 0, "", "x\n"},
    {"signal", {"sh", "-c", "kill -SEGV $$"}, "", true, -1, SIGSEGV, "", ""},
    {"input", {"cat"}, std::string("a\0b", 3), true, 0, 0, std::string("a\0b", 3), ""},
    {"no input", {"cat"}, "", true, 0, 0, "", ""},
    {"unread input", {"true"}, std::string(1 << 20, 'x'), true, 0, 0, "", ""},
    {"absent", {"no-such-program-anywhere"}, "", false, -1, 0, "", "no-such-program-anywhere: not found"},
    {"not a program", {"/etc/passwd"}, "", false, -1, 0, "", "/etc/passwd: not found"},
};

TEST(Process, Rows) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    ProcessOptions options;
    options.stdin_text = row.input;
    const ProcessResult r = run_process(row.argv, options);
    EXPECT_EQ(r.started, row.started);
    EXPECT_EQ(r.exit_code, row.exit_code);
    EXPECT_EQ(r.signal, row.signal);
    EXPECT_FALSE(r.timed_out);
    EXPECT_EQ(r.out, row.out);
    EXPECT_EQ(r.err, row.err);
    EXPECT_EQ(r.ok(), row.started && row.exit_code == 0);
  }
}

TEST(Process, LargeDataPassesBothWays) {
  ProcessOptions options;
  for (int i = 0; i < 1 << 20; i++) options.stdin_text += static_cast<char>(i * 7 + (i >> 8));
  const ProcessResult r = run_process({"cat"}, options);
  EXPECT_TRUE(r.ok());
  EXPECT_TRUE(r.out == options.stdin_text);
}

TEST(Process, TimeAndMemoryAreTheProgramsOwn) {
  const ProcessResult busy = run_process({"sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"});
  const ProcessResult large = run_process({"dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"});
  const ProcessResult idle = run_process({"sleep", "0.05"});
  EXPECT_GT(busy.cpu_seconds, 2 * idle.cpu_seconds);
  EXPECT_GT(large.max_rss_bytes, std::int64_t{64} << 20);
  EXPECT_LT(idle.max_rss_bytes, large.max_rss_bytes / 2) << "not that of processes before it";
  EXPECT_GT(idle.max_rss_bytes, 0);
}

TEST(Process, OutputIsCapped) {
  ProcessOptions options;
  options.max_output_bytes = 1000;
  const ProcessResult r = run_process({"head", "-c", "3000000", "/dev/zero"}, options);
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.out.size(), 1000u);
}

TEST(Process, EnvironmentAndFolder) {
  const TempDir dir;
  ProcessOptions options;
  options.cwd = dir.path();
  options.env = {{"ETCH_TEST_A", "first"}, {"HOME", "/nowhere"}};
  const ProcessResult r = run_process({"sh", "-c", "echo $ETCH_TEST_A $HOME; pwd -P"}, options);
  EXPECT_EQ(r.out, "first /nowhere\n" + std::filesystem::canonical(dir.path()).string() + "\n");
  options.cwd = "/no/such/folder";
  EXPECT_FALSE(run_process({"true"}, options).started);
}

/// Processes also work if the caller has no standard input and output of its own (a daemon).
TEST(Process, ClosedStandardDescriptors) {
  EXPECT_EXIT(
      {
        close(0);
        close(1);
        ProcessOptions options;
        options.stdin_text = "abc";
        const ProcessResult r = run_process({"cat"}, options);
        _exit(r.ok() && r.out == "abc" ? 42 : 1);
      },
      testing::ExitedWithCode(42), "");
}

/// A program that never ends, and whose child ignores the terminal's signals, is ended with its child.
TEST(Process, TimeoutEndsTheGroup) {
  const TempDir dir;
  const std::filesystem::path beat = dir.path() / "beat";
  ProcessOptions options;
  options.timeout_s = 0.4;
  const ProcessResult r = run_process(
      {"sh", "-c", "echo begun; (trap '' TERM INT HUP; while :; do echo x >> '" + beat.string() + "'; sleep 0.05; done) & wait"}, options);
  EXPECT_TRUE(r.timed_out);
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.out, "begun\n");
  EXPECT_LT(r.seconds, 5);
  const auto size = std::filesystem::file_size(beat);
  EXPECT_GT(size, 0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(std::filesystem::file_size(beat), size);
}

/// If a program ends and leaves a child that holds its outputs, run_process returns without waiting, and the child is ended too.
TEST(Process, ChildLeftBehindIsEnded) {
  ProcessOptions options;
  options.timeout_s = 20;
  const ProcessResult r = run_process({"sh", "-c", "sleep 15 & echo done"}, options);
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.out, "done\n");
  EXPECT_LT(r.seconds, 5);
}

TEST(Process, EndlessOutputTimesOut) {
  ProcessOptions options;
  options.timeout_s = 0.3;
  options.max_output_bytes = 10;
  const ProcessResult r = run_process({"yes"}, options);
  EXPECT_TRUE(r.timed_out);
  EXPECT_LT(r.seconds, 5);
  EXPECT_EQ(r.out, "y\ny\ny\ny\ny\n");
}

TEST(Process, Describe) {
  ProcessResult r;
  EXPECT_EQ(describe(r), "not found");
  r.started = true;
  r.exit_code = 2;
  EXPECT_EQ(describe(r), "exit status 2");
  r.signal = SIGSEGV;
  EXPECT_EQ(describe(r), "killed by signal 11 (Segmentation fault)");
  r.timed_out = true;
  r.seconds = 5.01;
  EXPECT_EQ(describe(r), "timed out after 5 s");
}

TEST(TempDir, GoesWithItsContents) {
  std::filesystem::path path, kept;
  {
    TempDir dir, other;
    path = dir.path();
    EXPECT_NE(path, other.path());
    std::filesystem::create_directories(path / "a/b");
    std::ofstream(path / "a/b/file") << "x";
    TempDir moved(std::move(dir));
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(std::filesystem::exists(path / "a/b/file"));
    kept = other.release();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::remove(kept));
}

TEST(FindProgram, Rows) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_TRUE(find_program("/bin/sh"));
  EXPECT_FALSE(find_program("no-such-program-anywhere"));
  EXPECT_FALSE(find_program("/etc/passwd"));
  EXPECT_FALSE(find_program("/tmp"));
  EXPECT_FALSE(find_program(""));
}

}  // namespace
}  // namespace etch::process_test
