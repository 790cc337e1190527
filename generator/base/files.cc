#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace etch {

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  const auto fail = [&path] {
    throw UserError(path.string(), std::string("can't be written: ") + std::strerror(errno), "choose another output folder with -o, or make room");
  };
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (!file) fail();
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() && std::fflush(file.get()) == 0;
  if (!whole) fail();
}

}  // namespace etch
