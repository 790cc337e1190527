#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/tempdir.h"

namespace etch {
namespace {

// Where the bytes of a link go.
std::filesystem::path followed(const std::filesystem::path& path) {
  std::error_code bad;
  const std::filesystem::path followed = std::filesystem::weakly_canonical(path, bad);
  return bad ? path : followed;
}

// A new folder beside `path` with a file of its name.
TempDir written_beside(const std::filesystem::path& path, const std::string& bytes) {
  const std::filesystem::path folder = path.parent_path();
  try {
    TempDir beside(folder.empty() ? "." : folder, ".etch");
    write_file(beside.path() / path.filename(), bytes);
    return beside;
  } catch (const UserError& error) {  // it names a file that the user does not know
    const std::string& why = error.problem();
    throw UserError(path.string(), "can't be written: " + why.substr(why.rfind(": ") + 2),
                    "choose another file with -o whose folder can be written to, or make room");
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::string bytes;
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  char part[4096];
  if (file != nullptr)
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) bytes.append(part, n);
  const bool whole = file != nullptr && std::ferror(file) == 0;
  const int error = errno;
  if (file != nullptr) std::fclose(file);
  if (!whole)
    throw UserError(path.string(), std::string("can't be read: ") + std::strerror(error), "check the name and the file's permissions");
  return bytes;
}

void replace_file(const std::filesystem::path& path, const std::string& bytes) {
  const std::filesystem::path target = followed(path);
  const TempDir beside = written_beside(target, bytes);
  std::error_code bad;
  std::filesystem::rename(beside.path() / target.filename(), target, bad);
  if (bad) throw UserError(path.string(), "can't be written: " + bad.message(), "choose another file");
}

void require_replaceable(const std::filesystem::path& path, const std::string& bytes) { written_beside(followed(path), bytes); }

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  const auto fail = [&path] {
    throw UserError(path.string(), std::string("can't be written: ") + std::strerror(errno),
                    "choose another output folder with -o, or make room");
  };
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail();
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
  const int error = errno;
  const bool is_closed = std::fclose(file) == 0;  // over a network some errors come only now
  if (!whole) errno = error;
  if (!whole || !is_closed) fail();
}

void refuse_lfs_pointer(const std::filesystem::path& file, const std::string& where) {
  // https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: less than 1024 bytes, the version first, "size N" among the lines.
  constexpr std::string_view kVersions[] = {"version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"};
  constexpr std::size_t kLongest = 1024;
  std::string text(kLongest, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() >= kLongest || (!text.starts_with(kVersions[0]) && !text.starts_with(kVersions[1]))) return;
  const std::size_t at = text.find("\nsize "), begin = at == std::string::npos ? text.size() : at + 6;
  const std::string size = text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
  throw UserError(where,
                  (where.ends_with(file.filename().string()) ? "it" : file.filename().string()) + " is a Git LFS pointer, a text of " +
                      std::to_string(text.size()) + " bytes in place of the file" + (size.empty() ? "" : " of " + size + " bytes"),
                  "fetch the file itself: git lfs install && git lfs pull in its repository, or download it without git");
}

}  // namespace etch
