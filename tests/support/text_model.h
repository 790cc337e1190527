// Models as text, in the language of onnx/defs/parser.h, written as files for the tool to read.
#pragma once

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace etch {

/// Writes the model to `path`; the text has the header too: <ir_version: 8, opset_import: ["" : 17]> g (...) => (...) {...}
inline std::string write_text_model(const std::filesystem::path& path, const char* text) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path.string();
}

}  // namespace etch
