#include "onnx/header.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/naming.h"
#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/types.h"

namespace etch {
namespace {

std::string accepted_opsets() { return "opsets " + std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " are accepted"; }

// "batch,3,?": the sizes as the file has them.
std::string declared_sizes(const onnx::TensorShapeProto& shape) {
  std::string text;
  for (int axis = 0; axis < shape.dim_size(); axis++) {
    const auto& dim = shape.dim(axis);
    text += axis == 0 ? "" : ",";
    text += dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text;
}

// "float32 [batch,3,?]"
std::string declared_text(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) return info.has_type() ? "no tensor" : "";
  const auto& type = info.type().tensor_type();
  const auto dtype = dtype_of_onnx(type.elem_type());
  const std::string text = dtype ? std::string(name_of(*dtype)) : onnx_type_name(type.elem_type());
  return type.has_shape() ? text + " [" + declared_sizes(type.shape()) + "]" : text;
}

void read_declared(const onnx::GraphProto& graph, ImportedModel& result) {
  std::set<std::string> weights;
  for (const auto& tensor : graph.initializer()) weights.insert(tensor.name());
  for (const auto& info : graph.input())
    if (!weights.contains(info.name())) result.declared.push_back("input   " + info.name() + " " + declared_text(info));
  for (const auto& info : graph.output()) result.declared.push_back("output  " + info.name() + " " + declared_text(info));
}

// A file that is called model.onnx, as exporters call every model, has its folder's name.
std::string name_of_model(const ImportOptions& options, const std::string& graph, bool& named_after_folder) {
  if (!options.name.empty()) return options.name;
  std::string stem = options.path.stem().string();
  if (stem == "model") {
    std::error_code bad;
    const std::string folder = std::filesystem::weakly_canonical(options.path, bad).parent_path().filename().string();
    named_after_folder = !bad && !folder.empty();
    if (named_after_folder) stem = folder;
  }
  return stem.empty() ? graph : stem;
}

}  // namespace

bool is_main_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

int version_of_domain(const onnx::ModelProto& model, std::string_view domain) {
  int version = 0;
  for (const auto& import : model.opset_import())
    if (import.domain() == domain || (domain.empty() && is_main_domain(import.domain())))
      version = static_cast<int>(std::clamp<std::int64_t>(import.version(), 0, 1 << 20));
  return version;
}

bool is_accepted_opset(int opset) { return opset >= kOldestOpset && opset <= kNewestOpset; }

void read_header(const onnx::ModelProto& model, const ImportOptions& options, const std::string& place, ImportedModel& result) {
  const onnx::GraphProto& graph = model.graph();
  if (!model.has_graph() || graph.node_size() + graph.output_size() == 0)
    throw UserError(place, "the file has no graph, an ONNX model is expected", "check that it is the file that the exporter wrote");
  result.ir_version = model.ir_version();
  result.producer = model.producer_name();
  if (!model.producer_version().empty()) result.producer += (result.producer.empty() ? "" : " ") + model.producer_version();
  result.name = project_identifier(name_of_model(options, graph.name(), result.named_after_folder));
  read_declared(graph, result);
}

void read_opset(const onnx::ModelProto& model, const std::string& place, ImportedModel& result) {
  result.opset = version_of_domain(model, "");
  if (result.opset == 0) {
    // If the model uses other domains, the errors about these say more than one about the missing opset.
    const auto is_main = [](const onnx::NodeProto& node) { return is_main_domain(node.domain()); };
    const auto is_other = [](const onnx::NodeProto& node) { return !is_main_domain(node.domain()) && node.domain() != kTrainingDomain; };
    const auto& nodes = model.graph().node();
    if (std::ranges::any_of(nodes, is_other) || (!nodes.empty() && std::ranges::none_of(nodes, is_main))) return;
    throw UserError(place, "the model names no opset of ai.onnx", "export it again; " + accepted_opsets());
  }
  if (is_accepted_opset(result.opset)) return;
  const std::string opset = "opset " + std::to_string(result.opset);
  throw UnsupportedError(place, "the model uses " + opset + ", " + accepted_opsets(),
                         "export it with opset " + std::to_string(result.opset < kOldestOpset ? 13 : kNewestOpset) +
                             ", or convert it with onnx.version_converter",
                         opset);
}

const onnx::TypeProto_Tensor& require_tensor_type(const onnx::ValueInfoProto& info, const std::string& place) {
  if (!info.type().has_tensor_type()) {
    throw UnsupportedError(place,
                           info.has_type() ? "it is a sequence, map, optional or sparse tensor, tensors are accepted" : "it has no type",
                           "export the model with plain tensors at its border", "inputs and outputs that are no tensors");
  }
  return info.type().tensor_type();
}

DType require_dtype(int type, const std::string& place) {
  if (const auto dtype = dtype_of_onnx(type)) return *dtype;
  throw UnsupportedError(place, "its element type is " + onnx_type_name(type) + ", accepted are " + accepted_types_text(),
                         "export the model with one of these types", "type " + onnx_type_name(type));
}

std::string differs_from_declared(const onnx::ValueInfoProto& info, const Tensor& tensor, const std::string& place, bool bound) {
  if (!info.has_type()) return "";
  const auto& type = require_tensor_type(info, place);
  if (type.elem_type() != 0 && require_dtype(type.elem_type(), place) != tensor.dtype()) {
    throw UserError(place,
                    "it is declared as " + onnx_type_name(type.elem_type()) + ", the nodes make " + std::string(name_of(tensor.dtype())),
                    "the file was edited wrongly; export the model again");
  }
  if (!type.has_shape()) return "";
  const int rank = type.shape().dim_size();
  bool same = rank == tensor.rank(), numbers = true;
  for (int axis = 0; axis < rank; axis++) {
    const auto& dim = type.shape().dim(axis);
    const bool both = dim.has_dim_value() && (rank != tensor.rank() || tensor.dim(axis).is_int());
    numbers = numbers && both;
    if (both && rank == tensor.rank()) same = same && tensor.dim(axis).as_int() == dim.dim_value();
  }
  if (same) return "";
  const std::string what = "it is declared with shape [" + declared_sizes(type.shape()) + "], the nodes make " + shape_text(tensor.shape());
  if (bound || (rank != tensor.rank() && !numbers)) return what;
  throw UserError(place, what, "export the model again, or correct the declared shape");
}

}  // namespace etch
