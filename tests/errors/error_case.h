// The expected error for a bad model, a bad option or both: one row of the tables of this folder.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace etch {

/// A model that compiles; the rows damage it.
inline constexpr const char* kGoodModel = R"((float[1,4] x) => (float[1,3] y) {
  w = Constant <value = float[4,3] {1,2,3,4,5,6,7,8,9,10,11,12}> ()
  h = MatMul (x, w)
  y = Relu (h)
})";

struct ErrorCase {
  const char* name;
  std::vector<std::string> args;   // {m} the model, {d} an empty folder, {c} a file of C
  std::vector<const char*> says;   // on standard error: how it begins, behind "etch: error: " if there is that; then other parts of it
  int status = 1;                  // 0: it is accepted
  const char* model = kGoodModel;  // ONNX text behind the graph's name
  void (*spoil)(onnx::ModelProto&) = nullptr;
  std::string (*bytes)(std::string) = nullptr;  // changes the file's bytes
  const char* custom = nullptr;                 // a file of C beside the model, {c}
};

/// A Git LFS pointer: what git checks out if the large file itself was not fetched.
inline constexpr const char* kLfsPointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n";

/// Adds an initializer w.
inline onnx::TensorProto* add_weight(onnx::ModelProto& m, const std::vector<std::int64_t>& dims, const std::string& bytes = "") {
  onnx::TensorProto* t = m.mutable_graph()->add_initializer();
  t->set_name("w");
  t->set_data_type(onnx::TensorProto::FLOAT);
  for (std::int64_t d : dims) t->add_dims(d);
  if (!bytes.empty()) t->set_raw_data(bytes);
  return t;
}

/// Puts an initializer in place of the good model's constant w.
inline onnx::TensorProto* replace_weight(onnx::ModelProto& m, const std::vector<std::int64_t>& dims, const std::string& bytes = "") {
  m.mutable_graph()->mutable_node()->DeleteSubrange(0, 1);
  return add_weight(m, dims, bytes);
}

/// The same with its data in another file.
inline void replace_weight_by_file(onnx::ModelProto& m, const std::string& file) {
  onnx::TensorProto* t = replace_weight(m, {4, 3});
  t->set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* location = t->add_external_data();
  location->set_key("location");
  location->set_value(file);
}

}  // namespace etch
