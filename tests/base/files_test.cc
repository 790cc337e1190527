// Files that are written as a whole or not at all, and read to their end.
#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "base/tempdir.h"
#include "support/expect_error.h"
#include "support/files.h"

namespace etch {
namespace {

// While it lives, files can't grow above so many bytes: what a full disk does.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST(Files, a_file_is_replaced_as_a_whole_or_stays) {
  const TempDir work("etch-files");
  const std::filesystem::path file = work.path() / "table", link = work.path() / "link";
  replace_file(file, "first");
  std::filesystem::create_symlink("table", link);
  replace_file(link, "second");
  EXPECT_EQ(read_file(file), "second");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  {
    const FileLimit full(3);
    test::expect_error<UserError>([&] { replace_file(file, "too long"); }, "can't be written: File too large");
    test::expect_error<UserError>([&] { require_replaceable(file, "too long"); }, "can't be written: File too large");
    require_replaceable(file, "abc");
  }
  EXPECT_EQ(read_file(file), "second");
  EXPECT_EQ(test::folder_content(work.path()).size(), 2u) << "nothing is left behind";
  test::expect_error<UserError>([] { require_replaceable("/nowhere/table", ""); }, "/nowhere/table: can't be written: No such file");
}

TEST(Files, what_can_not_be_read_to_its_end_is_an_error) {
  const TempDir work("etch-files");
  const std::string bytes = std::string(10'000, 'x') + '\0' + "end";
  write_file(work.path() / "file", bytes);
  EXPECT_EQ(read_file(work.path() / "file"), bytes);
  test::expect_error<UserError>([&] { read_file(work.path()); }, "can't be read: Is a directory");
  test::expect_error<UserError>([&] { read_file(work.path() / "none"); }, "can't be read: No such file or directory");
}

}  // namespace
}  // namespace etch
