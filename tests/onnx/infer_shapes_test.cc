// Shapes of Tensors against the shape inference of libonnx, an independent implementation, on every node test that etch accepts.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "onnx/import.h"
#include "onnx/protobuf_file.h"
#include "onnx/types.h"
#include "support/needs.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

/// Compares outputs; returns how many dimensions both know.
int compare(const ImportedModel& ours, const onnx::GraphProto& theirs, const std::string& name) {
  int compared = 0;
  for (int i = 0; i < theirs.output_size(); i++) {
    const ImportedTensor& output = ours.outputs.at(static_cast<std::size_t>(i));
    const auto& type = theirs.output(i).type().tensor_type();
    EXPECT_EQ(dtype_of_onnx(type.elem_type()), output.dtype) << name;
    if (!type.has_shape()) continue;
    EXPECT_EQ(type.shape().dim_size(), static_cast<int>(output.shape.size())) << name;
    for (int axis = 0; axis < std::min(type.shape().dim_size(), static_cast<int>(output.shape.size())); axis++) {
      if (!type.shape().dim(axis).has_dim_value()) continue;
      EXPECT_EQ(type.shape().dim(axis).dim_value(), output.shape[static_cast<std::size_t>(axis)].as_int()) << name << ", axis " << axis;
      compared++;
    }
  }
  return compared;
}

TEST(InferShapes, AgreesWithLibonnx) {
  const fs::path root = "/usr/share/libonnx-testdata/data/node";
  if (const std::string why = test::missing_package("libonnx-testdata", root); !why.empty()) GTEST_SKIP() << why;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.insert(entry.path());
  int models = 0, dims = 0;
  for (const fs::path& folder : folders) {
    onnx::ModelProto model;
    read_message(folder / "model.onnx", "an ONNX model", model);
    // The files declare the shapes that inference should find, so these are removed first.
    for (auto& output : *model.mutable_graph()->mutable_output()) {
      if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
    }
    ImportedModel ours;
    try {
      ours = import_onnx({.path = folder / "model.onnx"});
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), onnx::ShapeInferenceOptions(true, 1, true));
    } catch (const UserError&) {
      continue;  // refused; the node suite counts these
    }
    models++;
    dims += compare(ours, model.graph(), folder.filename().string());
  }
  EXPECT_GE(models, 500);
  EXPECT_GE(dims, 1000);
}

}  // namespace
}  // namespace etch
