#include "emit/write.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/tempdir.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReport = "report.json";

[[noreturn]] void fail(const fs::path& where, const std::string& what) {
  throw UserError(where.string(), what, "choose another output folder, or make room");
}

// Folders that had to be made on the way to the output folder; the destructor removes them unless keep() was called.
class MadeFolders {
 public:
  explicit MadeFolders(const fs::path& folder) {
    fs::path first;
    for (fs::path p = folder; !p.empty() && !fs::exists(p); p = p.parent_path()) first = p;
    if (first.empty()) return;
    first_ = TempDir::adopt(first);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) fail(folder, "can't make the folder: " + error.message());
  }
  void keep() {
    if (first_) first_->release();
  }

 private:
  std::optional<TempDir> first_;
};

// The folder that `dir` names: symbolic links followed, no dots.
fs::path real_folder(const fs::path& dir) {
  if (dir.empty()) fail("output folder", "has no name");
  std::error_code error;
  const fs::path absolute = fs::absolute(dir).lexically_normal();
  const fs::path link = absolute.filename().empty() ? absolute.parent_path() : absolute;
  if (fs::is_symlink(link, error) && !fs::exists(link, error))
    throw UserError(dir.string(), "is a symbolic link to " + fs::read_symlink(link, error).string() + ", which is not there",
                    "make that folder, or remove the link");
  fs::path real = fs::weakly_canonical(dir.is_absolute() ? dir : absolute, error);
  if (error) fail(dir, "can't be reached: " + error.message());
  if (real.filename().empty()) real = real.parent_path();
  const fs::file_status status = fs::status(real, error);
  if (fs::exists(status) && !fs::is_directory(status)) fail(dir, "is there already and is not a folder");
  return real;
}

// The files that etch wrote, from the folder's report; empty if there is no report of etch.
std::set<std::string> files_of_report(const fs::path& dir) {
  std::ifstream in(dir / kReport);
  const nlohmann::json report = nlohmann::json::parse(in, nullptr, false);
  if (!report.is_object() || !report.contains("etch") || !report.contains("files") || !report["files"].is_array()) return {};
  std::set<std::string> files{kReport};
  for (const auto& name : report["files"])
    if (name.is_string()) files.insert(name.get<std::string>());
  return files;
}

// All files in the folder, which may be replaced. UserError if one of them was not written by etch.
std::vector<std::string> replaceable(const fs::path& real, const fs::path& dir) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entries(real, error);
  if (error) fail(dir, "can't be read: " + error.message());
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) found.push_back(entries->path().filename().string());
  if (error) fail(dir, "can't be read: " + error.message());
  if (found.empty()) return found;
  std::ranges::sort(found);
  const auto ours = files_of_report(real);
  for (const std::string& name : found) {
    const fs::file_status status = fs::symlink_status(real / name, error);
    if (fs::is_directory(status))
      throw UserError(dir.string(), "the folder holds the folder " + name + ", which etch did not write",
                      "move or remove it (a build folder is better beside the project: cmake -S out -B out-build), or choose another "
                      "output folder with -o");
    if (!ours.contains(name) || !fs::is_regular_file(status))
      throw UserError(dir.string(), "the folder holds " + name + ", which etch did not write: no report.json of etch here names it",
                      "move it to another place, or choose another output folder with -o; etch replaces only what it wrote");
  }
  return found;
}

void move_all(const std::vector<std::string>& names, const fs::path& from, const fs::path& to, std::vector<std::string>& moved) {
  for (const std::string& name : names) {
    std::error_code error;
    fs::rename(from / name, to / name, error);
    if (error) fail(to / name, "can't rename: " + error.message());
    moved.push_back(name);
  }
}

// Moves the files `names` from `made` into `dir` and removes the files `old`; on an error everything is restored. The folder itself
// stays, so that it remains the current folder of a shell.
void exchange(const fs::path& dir, const std::vector<std::string>& old, const fs::path& made, const std::vector<std::string>& names) {
  const TempDir aside(dir, ".etch-old");
  const auto held = hold_interrupts();
  std::vector<std::string> gone, come;
  try {
    move_all(old, dir, aside.path(), gone);
    move_all(names, made, dir, come);
  } catch (const UserError&) {
    std::error_code ignored;
    for (const std::string& name : come) fs::rename(dir / name, made / name, ignored);
    for (const std::string& name : gone) fs::rename(aside.path() / name, dir / name, ignored);
    throw;
  }
}

std::vector<std::string> names_in(const fs::path& dir) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// Whether a file has the text in its first kilobyte.
bool begins_with_mark(const fs::path& file, std::string_view mark) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return false;
  std::string begin(1024, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find(mark) != std::string::npos;
}

}  // namespace

void write_project(const fs::path& dir, const std::vector<EmittedFile>& files, const std::function<void(const fs::path&)>& inspect) {
  const fs::path target = real_folder(dir);
  const bool is_there = fs::exists(target);
  const std::vector<std::string> old = is_there ? replaceable(target, dir) : std::vector<std::string>();
  MadeFolders folders(target.parent_path());
  {
    TempDir made(is_there ? target : target.parent_path(), ".etch-new");
    for (const EmittedFile& file : files) write_file(made.path() / file.name, file.text);
    if (inspect) inspect(made.path());
    if (is_there) {
      exchange(target, old, made.path(), names_in(made.path()));
    } else {
      std::error_code error;
      // mkdtemp's folders are private; a project is as readable as the user's other folders.
      fs::permissions(
          made.path(),
          fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec, error);
      const auto held = hold_interrupts();
      fs::rename(made.path(), target, error);
      if (error) fail(dir, "can't rename the finished folder: " + error.message());
      made.release();
    }
  }
  folders.keep();
}

void require_replaceable(const fs::path& dir) {
  const fs::path target = real_folder(dir);
  if (fs::exists(target)) replaceable(target, dir);
}

struct WaitingFiles::State {
  explicit State(const fs::path& dir) : target(real_folder(dir)), folders(target), made(target, ".etch-new") {}
  fs::path target;
  MadeFolders folders;
  TempDir made;
  std::vector<std::string> names, old;
};

WaitingFiles::WaitingFiles(const fs::path& dir, const std::vector<EmittedFile>& files, std::string_view mark)
    : state_(std::make_unique<State>(dir)) {
  State& s = *state_;
  for (const EmittedFile& file : files) {
    write_file(s.made.path() / file.name, file.text);
    s.names.push_back(file.name);
    const fs::path there = s.target / file.name;
    const fs::file_status status = fs::symlink_status(there);
    if (fs::is_directory(status)) fail(there, "is there already and is a folder");
    if (!fs::exists(status)) continue;
    if (!mark.empty() && !begins_with_mark(there, mark))
      throw UserError(there.string(), "is there already, and etch did not write it", "move it to another place, or choose another folder");
    s.old.push_back(file.name);
  }
  if (mark.empty()) return;
  for (const std::string& name : names_in(s.target))
    if (std::ranges::find(s.names, name) == s.names.end() && begins_with_mark(s.target / name, mark)) s.old.push_back(name);
}

WaitingFiles::~WaitingFiles() = default;

void WaitingFiles::commit() {
  exchange(state_->target, state_->old, state_->made.path(), state_->names);
  state_->folders.keep();
}

void write_into(const fs::path& dir, const std::vector<EmittedFile>& files) { WaitingFiles(dir, files).commit(); }

}  // namespace etch
