// Converts ONNX's TensorProto to Array and back, in every storage form: raw bytes, the typed fields (float16 and bfloat16 as bits in
// int32_data), external files. Also reads the files of test data (input_0.pb), which hold one TensorProto each.
#pragma once

#include <filesystem>
#include <string>

#include "ir/array.h"

namespace onnx {
class TensorProto;
}

namespace etch {

/// The values of `proto`. Every error begins with `where` ("model.onnx: initializer 'w'"). External data is looked for in `folder`,
/// and its path may not lead out of it.
Array array_of_proto(const onnx::TensorProto& proto, const std::string& where, const std::filesystem::path& folder);
/// `array` as raw bytes.
void array_to_proto(const Array& array, const std::string& name, onnx::TensorProto& proto);

struct NamedArray {
  std::string name;
  Array array;
};
/// Reads a file that holds one TensorProto; UserError if it is none.
NamedArray read_tensor_file(const std::filesystem::path& path);
void write_tensor_file(const std::filesystem::path& path, const NamedArray& tensor);

}  // namespace etch
