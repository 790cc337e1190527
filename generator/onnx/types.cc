#include "onnx/types.h"

namespace etch {
namespace {

struct TypeRow {
  int number;
  const char* name;
  std::optional<DType> dtype;
};

// Numbers and names as in onnx.proto of IR version 11; libonnx 1.12 itself ends at 16.
constexpr TypeRow kTypes[] = {
    {1, "float32", DType::Float32},    {2, "uint8", DType::UInt8},           {3, "int8", DType::Int8},
    {4, "uint16", DType::UInt16},      {5, "int16", DType::Int16},           {6, "int32", DType::Int32},
    {7, "int64", DType::Int64},        {8, "string", std::nullopt},          {9, "bool", DType::Bool},
    {10, "float16", DType::Float16},   {11, "float64", DType::Float64},      {12, "uint32", DType::UInt32},
    {13, "uint64", DType::UInt64},     {14, "complex64", std::nullopt},      {15, "complex128", std::nullopt},
    {16, "bfloat16", DType::BFloat16}, {17, "float8e4m3fn", std::nullopt},   {18, "float8e4m3fnuz", std::nullopt},
    {19, "float8e5m2", std::nullopt},  {20, "float8e5m2fnuz", std::nullopt}, {21, "uint4", std::nullopt},
    {22, "int4", std::nullopt},        {23, "float4e2m1", std::nullopt},     {24, "float8e8m0", std::nullopt},
    {25, "uint2", std::nullopt},       {26, "int2", std::nullopt},
};

}  // namespace

std::optional<DType> dtype_of_onnx(int type) {
  for (const TypeRow& row : kTypes) {
    if (row.number == type) return row.dtype;
  }
  return std::nullopt;
}

int onnx_type_of(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.number;
  }
  return 0;
}

std::string onnx_type_name(int type) {
  for (const TypeRow& row : kTypes) {
    if (row.number == type) return row.name;
  }
  return "type " + std::to_string(type);
}

std::string accepted_types_text() {
  std::string text;
  for (const TypeRow& row : kTypes) {
    if (row.dtype) text += std::string(text.empty() ? "" : ", ") + row.name;
  }
  return text;
}

}  // namespace etch
