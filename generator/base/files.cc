#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/error.h"

namespace etch {

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
