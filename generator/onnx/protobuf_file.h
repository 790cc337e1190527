// Reads a protobuf message from a file or from bytes. Large models are allowed, nothing is printed on standard error, and every
// failure is a UserError.
#pragma once

#include <filesystem>
#include <string>

#include "base/files.h"

namespace google::protobuf {
class Message;
}

namespace etch {

/// Fills `message` from the file. `kind` names in errors what the file should be: "an ONNX model".
void read_message(const std::filesystem::path& path, const std::string& kind, google::protobuf::Message& message);
/// The same from bytes; `where` stands for the file.
void parse_message(const std::string& bytes, const std::string& where, const std::string& kind, google::protobuf::Message& message);
/// The message's bytes, the same on every machine and in every run.
std::string serialize_message(const google::protobuf::Message& message);

}  // namespace etch
