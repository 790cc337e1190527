// Models that are refused.
#pragma once

#include "error_case.h"

namespace etch {
inline std::string first_half(std::string s) { return s.substr(0, s.size() / 2); }
inline std::string nothing(std::string) { return ""; }
inline std::string sentence(std::string) { return "this is not a protobuf, it is a sentence\n"; }
inline std::string zeros(std::string s) { return std::string(s.size(), '\0'); }
inline std::string lfs_pointer(std::string) { return kLfsPointer; }
inline std::string flipped(std::string s) {
  for (std::size_t i = 0; i < s.size(); i += 3) s[i] = static_cast<char>(s[i] ^ 0x5a);
  return s;
}

inline onnx::TypeProto::Tensor& type_of_input(onnx::ModelProto& m) {
  return *m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
}

inline const std::vector<std::string> kCompile{"compile", "{m}", "--target", "host", "-o", "{d}/out"};

using Says = std::vector<const char*>;

inline ErrorCase with_bytes(const char* name, std::string (*bytes)(std::string), Says says) {
  ErrorCase row{name, kCompile, std::move(says)};
  row.bytes = bytes;
  return row;
}
inline ErrorCase spoilt(const char* name, void (*spoil)(onnx::ModelProto&), Says says) {
  ErrorCase row{name, kCompile, std::move(says)};
  row.spoil = spoil;
  return row;
}

inline ErrorCase graph(const char* name, const char* model, Says says, std::vector<std::string> options = {}) {
  ErrorCase row{name, kCompile, std::move(says)};
  row.args.insert(row.args.end(), options.begin(), options.end());
  row.model = model;
  return row;
}

inline std::vector<ErrorCase> file_cases() {
  const char* const not_a_model = "{m}: this is not an ONNX model: its ";
  const char* const damaged = " bytes are cut off, damaged or of another format";
  return {
      {"no_such_file", {"compile", "{d}/nothing.onnx", "-o", "{d}/out"}, {"{d}/nothing.onnx: there is no such file"}},
      {"a_folder", {"compile", "{d}", "-o", "{d}/out"}, {"{d}: this is a folder, an ONNX model is expected"}},
      with_bytes("truncated", first_half, {not_a_model, damaged}),
      with_bytes("empty_file", nothing, {"{m}: the file is empty"}),
      with_bytes("not_a_protobuf", sentence, {not_a_model, " 41 bytes", damaged}),
      with_bytes("zeros", zeros, {not_a_model, damaged}),
      with_bytes("flipped_bytes", flipped, {not_a_model, damaged}),
      with_bytes("lfs_pointer", lfs_pointer, {"{m}: it is a Git LFS pointer", "of 12345678 bytes", "help: fetch", "git lfs pull"}),
      spoilt("no_graph", [](onnx::ModelProto& m) { m.clear_graph(); }, {"{m}: the file has no graph"}),
      spoilt("no_opset", [](onnx::ModelProto& m) { m.clear_opset_import(); }, {"{m}: the model names no opset of ai.onnx"}),
      spoilt("opset_too_old", [](onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(3); },
             {"{m}: the model uses opset 3, opsets 7 to 28 are accepted"}),
      spoilt("opset_too_new", [](onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(99); },
             {"{m}: the model uses opset 99, opsets 7 to 28 are accepted"}),
  };
}

inline std::vector<ErrorCase> graph_cases() {
  return {
      graph("cyclic_graph", "(float[4] x) => (float[4] y) { a = Add (x, b) b = Relu (a) y = Relu (b) }",
            {"{m}: node 'a' (Add): the graph has a cycle: a -> b -> a"}),
      graph("missing_input_of_a_node", "(float[4] x) => (float[4] y) { y = Add (x, nowhere) }",
            {"{m}: node 'y' (Add): its input 'nowhere' is made by no node"}),
      graph("output_nobody_makes", "(float[4] x) => (float[4] z) { y = Relu (x) }", {"{m}: graph output 'z': it is made by no node"}),
      graph("value_made_twice", "(float[4] x) => (float[4] y) { y = Relu (x) y = Neg (x) }",
            {"{m}: node 'y' (Neg): its output 'y' is also made by node 'y'"}),
      graph("unsupported_operator", "(float[4] x) => (float[4] y) { y = NoSuchOperator (x) }",
            {"{m}: node 'y' (NoSuchOperator): operator 'NoSuchOperator' is not supported at opset 17", "help: 'etch ops' lists"}),
      spoilt("unsupported_domain", [](onnx::ModelProto& m) { m.mutable_graph()->mutable_node(2)->set_domain("com.example"); },
             {"{m}: node 'y' (Relu): its operator is of the domain 'com.example'"}),
      graph("unknown_attribute", "(float[4] x) => (float[4] y) { y = Relu <surprise = 3> (x) }",
            {"{m}: node 'y' (Relu): attribute surprise is not supported at opset 17"}),
      graph("control_flow", "(bool[1] x) => (float[1] y) { y = If (x) }", {"{m}: node 'y' (If): operator 'If' is not supported"}),
      graph("wrong_rank", "(float[1,3,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) }",
            {"{m}: node 'y' (Conv): its weight has the shape [4,3,3,3], 3 axes are expected"}),
      graph("shapes_do_not_broadcast", "(float[4] x, float[3] z) => (float[4] y) { y = Add (x, z) }",
            {"{m}: node 'y' (Add): shapes [4] and [3] do not broadcast: 4 against 3"}),
      graph("matmul_inner_sizes", "(float[2,4] x, float[3,2] z) => (float[2,2] y) { y = MatMul (x, z) }",
            {"{m}: node 'y' (MatMul): matmul: [2,4] by [3,2]: 4 columns against 3 rows"}),
      graph("reshape_to_another_size", "(float[4] x) => (float[3] y) { s = Constant <value = int64[1] {3}> () y = Reshape (x, s) }",
            {"{m}: node 'y' (Reshape): reshape: [4] (4 elements) to [3]: another number of elements"}),
      graph("string_tensor", "(string[4] x) => (string[4] y) { y = Identity (x) }",
            {"{m}: graph input 'x': its element type is string, accepted are float32"}),
      spoilt("complex_tensor", [](onnx::ModelProto& m) { type_of_input(m).set_elem_type(onnx::TensorProto::COMPLEX64); },
             {"{m}: graph input 'x': its element type is complex64, accepted are float32"}),
      graph("type_mismatch", "(float[4] x, int64[4] z) => (float[4] y) { y = MatMul (x, z) }",
            {"{m}: node 'y' (MatMul): input 0 is float32 and input 1 is int64, ONNX wants one type for both"}),
      graph("operator_not_for_that_type", "(bool[4] x) => (bool[4] y) { y = Exp (x) }",
            {"{m}: node 'y' (Exp): its input 0 is bool, accepted are: float"}),
      graph("declared_size_of_output", "(float[2,4] x) => (float[2,5] y) { y = Relu (x) }",
            {"{m}: graph output 'y': it is declared with shape [2,5], the nodes make [2,4]"}),
      graph("declared_rank_of_output", "(float[2,4] x) => (float[8] y) { y = Relu (x) }",
            {"{m}: graph output 'y': it is declared with shape [8], the nodes make [2,4]"}),
      graph("declared_size_beside_an_open_one", "(float[2,4] x) => (float[n,5] y) { y = Relu (x) }",
            {"{m}: graph output 'y': it is declared with shape [n,5], the nodes make [2,4]"}),
      {"declared_names_of_output_are_free", kCompile, {}, 0, "(float[2,4] x) => (float[a,4] y) { y = Relu (x) }"},
  };
}

inline std::vector<ErrorCase> size_cases() {
  return {
      graph("a_least_size_below_the_kernel", "(float[1,2,T] x) => (float[1,2,U] y) { y = MaxPool <kernel_shape = [3]> (x) }",
            {"{m}: node 'y' (MaxPool): window: a kernel of 3", "axis 2 where T < 3", "help: fix the size by --dim T=VALUE"},
            {"--dim", "T=1..8"}),
      graph("an_index_beyond_the_least_size",
            "(float[N,3] x) => (float[1,3] y) { i = Constant <value = int64[1] {3}> () y = Gather <axis = 0> (x, i) }",
            {"{m}: node 'y' (Gather): its index 3 is outside axis 0 where the size N is below 4", "help: fix the size by --dim N=VALUE"},
            {"--dim", "N=2..4"}),
      graph("huge_input", "(float[1048576,1048576] x) => (float[1048576,1048576] y) { y = Relu (x) }",
            {"{m}: graph input 'x': its shape [1048576,1048576] has more than 2147483648 elements"}),
      graph("size_beyond_int64", "(float[4294967296,4294967296] x) => (float[4294967296,4294967296] y) { y = Relu (x) }",
            {"{m}: graph input 'x': its shape [4294967296,4294967296] has more than 2147483648 elements"}),
      graph("huge_constant",
            "(float[1] x) => (float[1] y) { s = Constant <value = int64[2] {1048576, 1048576}> () c = ConstantOfShape (s)\n"
            " r = ReduceSum <keepdims = 0> (c) y = Add (x, r) }",
            {"{m}: node 'c' (ConstantOfShape): of what it computes, its shape [1048576,1048576] has more than 2147483648 elements"}),
      spoilt("negative_dimension", [](onnx::ModelProto& m) { type_of_input(m).mutable_shape()->mutable_dim(0)->set_dim_value(-3); },
             {"{m}: graph input 'x': its size at axis 0 is not fixed: it is given as -3", "help: pass --dim x[0]=VALUE"}),
      spoilt("unknown_dimension", [](onnx::ModelProto& m) { type_of_input(m).mutable_shape()->mutable_dim(0)->set_dim_param("batch"); },
             {"{m}: graph input 'x': its size at axis 0 is not fixed: it is called 'batch'", "help: pass --dim batch=VALUE"}),
      spoilt("no_shape", [](onnx::ModelProto& m) { type_of_input(m).clear_shape(); }, {"{m}: graph input 'x': it has no shape"}),
      spoilt("initializer_too_short", [](onnx::ModelProto& m) { replace_weight(m, {4, 3}, "1234"); },
             {"{m}: initializer 'w': it has 4 bytes, its shape [4,3] needs 48"}),
      spoilt("initializer_negative_dim", [](onnx::ModelProto& m) { replace_weight(m, {-4, 3}, "1234"); },
             {"{m}: initializer 'w': its shape [-4,3] has the size -4 at axis 0, sizes are >= 0"}),
      spoilt("initializer_huge_dim", [](onnx::ModelProto& m) { replace_weight(m, {1LL << 40, 1LL << 40}, "1234"); },
             {"{m}: initializer 'w': its shape [1099511627776,1099511627776] has more than 2147483648 elements"}),
      spoilt("external_file_absent", [](onnx::ModelProto& m) { replace_weight_by_file(m, "weights.bin"); },
             {"{m}: initializer 'w': external data is in 'weights.bin', there is no such file in the model's folder"}),
      spoilt("external_file_outside", [](onnx::ModelProto& m) { replace_weight_by_file(m, "../../../../etc/passwd"); },
             {"{m}: initializer 'w': external data is at '../../../../etc/passwd', which is outside the model's folder"}),
      graph("nothing_to_compute", "(float[0,4] x) => (float[0,4] y) { y = Relu (x) }",
            {"net: there is nothing to compute: every output is empty"}),
      {"float64_on_a_core_without_fpu",
       {"compile", "{m}", "--target", "cortex-m3", "-o", "{d}/out"},
       {"y: computed in float64, target cortex-m3 has no FPU"},
       1,
       "(double[4] x) => (double[4] y) { y = Relu (x) }"},
      {"float64_in_a_function_of_the_runtime",
       {"compile", "{m}", "--target", "cortex-m4f", "-o", "{d}/out"},
       {"y: computed in float64, the FPU of target cortex-m4f is single"},
       1,
       "(double[5,5] x) => (double y) { y = Det (x) }"},
      {"float64_on_a_single_precision_core",
       {"compile", "{m}", "--target", "cortex-m4f", "-o", "{d}/out"},
       {"y, z: computed in float64, the FPU of target cortex-m4f is single"},
       1,
       "(double[4] x, double[3] v) => (double[4] y, double[3] z) { y = Relu (x) z = Neg (v) }"},
  };
}

/// A scale or a zero point that ONNX does not define, in the middle of a quantised graph.
inline std::vector<ErrorCase> quantisation_cases() {
  const char* const help = "help: a scale is a finite number above 0";
  return {
      graph("scale_of_0",
            "(float[4] x) => (uint8[4] y) { s = Constant <value = float {0}> () z = Constant <value = uint8 {3}> () y = QuantizeLinear (x, "
            "s, z) }",
            {"{m}: node 'y' (QuantizeLinear): the scale is 0", help}),
      graph("negative_scale", "(int8[4] x) => (float[4] y) { s = Constant <value = float {-0.5}> () y = DequantizeLinear (x, s) }",
            {"{m}: node 'y' (DequantizeLinear): the scale is -0.5", help}),
      graph("scale_of_a_channel",
            "(int8[3,2] x) => (float[3,2] y) { s = Constant <value = float[3] {1, 0.5, 0}> () y = DequantizeLinear <axis = 0> (x, s) }",
            {"{m}: node 'y' (DequantizeLinear): the scale is 0 at element 2", help}),
      graph("infinite_scale",
            "(int8[4] x) => (float[4] y) { a = Constant <value = float {1}> () b = Constant <value = float {0}> () s = Div (a, b) "
            "y = DequantizeLinear (x, s) }",
            {"{m}: node 'y' (DequantizeLinear): the scale is inf", help}),
      graph("scale_that_is_no_number",
            "(int8[4] x) => (float[4] y) { b = Constant <value = float {0}> () s = Div (b, b) y = DequantizeLinear (x, s) }",
            {"{m}: node 'y' (DequantizeLinear): the scale is", "nan", help}),
      graph("scale_of_a_quantised_operator",
            "(int8[2,3] a, int8[3,2] b) => (int8[2,2] y) { s = Constant <value = float {0.5}> () n = Constant <value = float {0}> () "
            "z = Constant <value = int8 {3}> () y = QLinearMatMul (a, s, z, b, s, z, n, z) }",
            {"{m}: node 'y' (QLinearMatMul): the scale of y is 0", help}),
      graph("zero_point_of_another_type",
            "(int8[2,3] a, int8[3,2] b) => (int8[2,2] y) { s = Constant <value = float {0.5}> () u = Constant <value = uint8 {3}> () "
            "z = Constant <value = int8 {3}> () y = QLinearMatMul (a, s, u, b, s, z, s, z) }",
            {"{m}: node 'y' (QLinearMatMul): input 0 is int8 and input 2 is uint8, ONNX wants one type for both"}),
      graph("zero_point_of_a_dequantisation",
            "(int8[4] x) => (float[4] y) { s = Constant <value = float {0.5}> () z = Constant <value = uint8 {3}> () "
            "y = DequantizeLinear (x, s, z) }",
            {"{m}: node 'y' (DequantizeLinear): input 0 is int8 and input 2 is uint8, ONNX wants one type for both"}),
      graph("zero_point_of_a_quantisation",
            "(float[4] x) => (int32[4] y) { s = Constant <value = float {0.5}> () z = Constant <value = int32 {3}> () "
            "y = QuantizeLinear (x, s, z) }",
            {"{m}: node 'y' (QuantizeLinear): its input 2 is int32, QuantizeLinear takes int8, uint8 at opset 17"}),
      graph("zero_point_of_int32",
            "(int32[4] x) => (float[4] y) { s = Constant <value = float {0.5}> () z = Constant <value = int32 {3}> () "
            "y = DequantizeLinear (x, s, z) }",
            {"{m}: node 'y' (DequantizeLinear): x is int32 and its zero point is not 0", "help: ONNX defines no other"}),
      graph("zero_point_outside_of_its_type",
            "(int8[4] x) => (float[4] y) { s = Constant <value = float {0.5}> () z = Constant <value = int8 {300}> () "
            "y = DequantizeLinear (x, s, z) }",
            {"{m}: node 'z'", "element 0 is 300, int8 holds -128 to 127"}),
  };
}

}  // namespace etch
