// Where etch looks for its own files.
#include "base/installation.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/tempdir.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

TEST(Installation, AFileIsLookedForInOneAfterTheOther) {
  const TempDir temp("etch-test");
  const fs::path named = temp.path() / "named", on_path = temp.path() / "on_path", built = temp.path() / "built.txt";
  for (const fs::path& prefix : {named, on_path}) fs::create_directories(prefix / "bin");
  for (const char* name : {"all.txt", "two.txt", "last.txt"}) write_file(on_path / name, "");
  write_file(named / "all.txt", "");
  write_file(built, "");
  write_file(on_path / "bin/etch", "#!/bin/sh\n");
  fs::permissions(on_path / "bin/etch", fs::perms::owner_all);
  const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  ASSERT_EQ(setenv("PATH", (on_path / "bin").c_str(), 1), 0);
  use_installation(named);
  use_installation(named);
  EXPECT_EQ(own_file("all.txt", built), named / "all.txt");
  EXPECT_EQ(own_file("two.txt", built), built);
  EXPECT_EQ(own_file("last.txt", temp.path() / "not_built"), fs::canonical(on_path) / "last.txt");
  // It is nowhere: where this program's installation would have it.
  const fs::path own = fs::canonical("/proc/self/exe").parent_path().parent_path();
  EXPECT_EQ(own_file("none.txt", temp.path() / "not_built"), own / "none.txt");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace etch
