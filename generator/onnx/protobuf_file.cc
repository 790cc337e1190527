#include "onnx/protobuf_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>

#include "base/error.h"

namespace etch {
namespace {

/// Parses all of `stream`; false if it is cut off or is no such message.
bool parse_stream(google::protobuf::io::ZeroCopyInputStream& stream, google::protobuf::Message& message) {
  google::protobuf::LogSilencer silence;  // otherwise the library prints a message of its own
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return message.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

[[noreturn]] void fail_parse(const std::string& where, const std::string& kind, std::uintmax_t size) {
  if (size == 0) throw UserError(where, "the file is empty, " + kind + " is expected");
  if (size > static_cast<std::uintmax_t>(std::numeric_limits<int>::max())) {
    throw UserError(where, "the file has " + std::to_string(size) + " bytes, protobuf holds at most 2147483647",
                    "save the model with its weights as external data");
  }
  throw UserError(where, "this is not " + kind + ": its " + std::to_string(size) + " bytes are cut off, damaged or of another format",
                  "export or copy the file again and compare its size with the original's");
}

}  // namespace

void read_message(const std::filesystem::path& path, const std::string& kind, google::protobuf::Message& message) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw UserError(path.string(), "there is no such file", "check the path");
  if (std::filesystem::is_directory(status)) {
    throw UserError(path.string(), "this is a folder, " + kind + " is expected", "name the file in it, for example model.onnx");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError(path.string(), std::string("the file can't be opened: ") + std::strerror(errno));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  google::protobuf::io::IstreamInputStream stream(&file);
  refuse_lfs_pointer(path, path.string());
  if (error || size == 0 || !parse_stream(stream, message)) fail_parse(path.string(), kind, error ? 1 : size);
}

void parse_message(const std::string& bytes, const std::string& where, const std::string& kind, google::protobuf::Message& message) {
  if (bytes.empty() || bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) fail_parse(where, kind, bytes.size());
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (!parse_stream(stream, message)) fail_parse(where, kind, bytes.size());
}

std::string serialize_message(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace etch
