#include "emit/write.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/tempdir.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& where, const std::string& what) {
  throw UserError(where.string(), what, "choose another output folder with -o, or make room");
}

// Folders that had to be made for the target; gone again unless keep() is called.
class MadeFolders {
 public:
  explicit MadeFolders(const fs::path& folder) {
    for (fs::path p = folder; !p.empty() && !fs::exists(p); p = p.parent_path()) first_ = p;
    if (first_.empty()) return;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      remove();
      fail(folder, "can't make the folder: " + error.message());
    }
  }
  ~MadeFolders() { remove(); }
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  void keep() { first_.clear(); }

 private:
  void remove() {
    std::error_code ignored;
    if (!first_.empty()) fs::remove_all(first_, ignored);
    first_.clear();
  }
  fs::path first_;
};

void check_replaceable(const fs::path& dir) {
  std::error_code error;
  const fs::file_status status = fs::status(dir, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) fail(dir, "is there already and is not a folder");
  const bool empty = fs::is_empty(dir, error);
  if (error) fail(dir, "can't be read: " + error.message());
  if (!empty && !fs::exists(dir / "report.json")) {
    throw UserError(dir.string(),
                    "the folder holds other files, only an empty folder or an earlier output of etch (with report.json) is replaced",
                    "choose another output folder with -o, or empty this one");
  }
}

// `made` takes the place of `dir`; what was there goes only when the new one stands.
void swap_in(TempDir& made, const fs::path& dir, const fs::path& parent) {
  std::error_code error;
  if (!fs::exists(dir)) {
    fs::rename(made.path(), dir, error);
    if (error) fail(dir, "can't rename the finished folder: " + error.message());
    made.release();
    return;
  }
  TempDir old(parent, ".etch-old");
  const fs::path aside = old.path() / "old";
  fs::rename(dir, aside, error);
  if (error) fail(dir, "can't replace the folder: " + error.message());
  fs::rename(made.path(), dir, error);
  if (error) {
    std::error_code ignored;
    fs::rename(aside, dir, ignored);
    fail(dir, "can't rename the finished folder: " + error.message());
  }
  made.release();
}

}  // namespace

void write_project(const fs::path& dir, const std::vector<EmittedFile>& files, const std::function<void(const fs::path&)>& inspect) {
  if (dir.empty()) fail("output folder", "has no name");
  fs::path target = fs::absolute(dir).lexically_normal();
  if (target.filename().empty()) target = target.parent_path();
  const fs::path parent = target.parent_path();
  check_replaceable(target);
  MadeFolders folders(parent);
  {
    TempDir made(parent, ".etch-new");
    for (const EmittedFile& file : files) write_file(made.path() / file.name, file.text);
    if (inspect) inspect(made.path());
    // mkdtemp's folders are private; a project is as readable as the user's other folders.
    std::error_code ignored;
    fs::permissions(made.path(),
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
                    ignored);
    swap_in(made, target, parent);
  }
  folders.keep();
}

}  // namespace etch
