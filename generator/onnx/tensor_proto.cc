#include "onnx/tensor_proto.h"

#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "onnx/limits.h"
#include "onnx/protobuf_file.h"
#include "onnx/types.h"

namespace etch {
namespace {

using onnx::TensorProto;

std::vector<std::int64_t> dims_of(const TensorProto& proto, const std::string& where) {
  std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  require_sane_shape(dims, where);
  return dims;
}

std::int64_t count_of(const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  for (std::int64_t d : dims) count *= d;
  return count;
}

[[noreturn]] void fail_size(const std::string& where, std::int64_t have, const std::string& unit, std::int64_t want,
                            const std::vector<std::int64_t>& dims) {
  std::string shape;
  for (std::int64_t d : dims) shape += (shape.empty() ? "" : ",") + std::to_string(d);
  throw UserError(where, "it has " + std::to_string(have) + " " + unit + ", its shape [" + shape + "] needs " + std::to_string(want),
                  "the file is damaged or was written wrongly; export the model again");
}

/// A number of an external_data entry.
std::uint64_t entry_number(const std::string& where, const std::string& key, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UserError(where, "external data has the " + key + " '" + text + "', a number >= 0 is expected");
  }
  return value;
}

/// The file that holds external data. UserError if it is not inside `folder` after links and ".." are resolved.
std::filesystem::path external_path(const std::string& where, const std::string& location, const std::filesystem::path& folder) {
  if (location.empty()) throw UserError(where, "external data names no file");
  const std::filesystem::path relative(location);
  std::error_code error;
  const std::filesystem::path root = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, error);
  const std::filesystem::path file = std::filesystem::weakly_canonical(root / relative, error);
  const std::filesystem::path inside = file.lexically_relative(root);
  if (relative.is_absolute() || error || inside.empty() || *inside.begin() == "..") {
    throw UserError(where, "external data is at '" + location + "', which is outside the model's folder",
                    "put the data beside the model and name it by a relative path");
  }
  if (!std::filesystem::is_regular_file(file, error)) {
    throw UserError(where, "external data is in '" + location + "', there is no such file in the model's folder",
                    "copy the data file beside the model");
  }
  return file;
}

std::vector<std::byte> external_bytes(const TensorProto& proto, const std::string& where, const std::filesystem::path& folder,
                                      std::uint64_t bytes) {
  std::string location;
  std::uint64_t offset = 0, length = bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = entry_number(where, "offset", entry.value());
    if (entry.key() == "length") length = entry_number(where, "length", entry.value());
  }
  if (length != bytes) {
    throw UserError(where, "external data has the length " + std::to_string(length) + ", its shape and type need " + std::to_string(bytes));
  }
  const std::filesystem::path file = external_path(where, location, folder);
  refuse_lfs_pointer(file, file.string());  // the same for all tensors of the file
  const std::uint64_t size = std::filesystem::file_size(file);
  if (offset > size || bytes > size - offset) {
    throw UserError(where,
                    "external data is bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) + " of '" + location +
                        "', which has " + std::to_string(size),
                    "the data file is cut off or of another model");
  }
  std::vector<std::byte> result(bytes);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(reinterpret_cast<char*>(result.data()), static_cast<std::streamsize>(bytes));
  if (!in) throw UserError(where, "external data in '" + location + "' can't be read");
  return result;
}

/// Integers are stored in wider fields: what does not fit the type is an error.
template <class To, class Field>
void require_range(const Field& field, DType dtype, const std::string& where) {
  for (int i = 0; i < field.size(); i++) {
    if (std::in_range<To>(field.Get(i))) continue;
    throw UserError(where,
                    "its element " + std::to_string(i) + " is " + std::to_string(field.Get(i)) + ", " + std::string(name_of(dtype)) +
                        " holds " + std::to_string(std::numeric_limits<To>::min()) + " to " +
                        std::to_string(std::numeric_limits<To>::max()),
                    "write the tensor with a wider type, or with numbers of this one");
  }
}

/// Copies a typed field, each element converted to the type in memory.
template <class To, class Field>
std::vector<std::byte> field_bytes(const Field& field) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.size()) * sizeof(To));
  for (int i = 0; i < field.size(); i++) {
    const To value = static_cast<To>(field.Get(i));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(To), &value, sizeof(To));
  }
  return bytes;
}

template <class To, class Field>
std::vector<std::byte> integer_bytes(const Field& field, DType dtype, const std::string& where) {
  require_range<To>(field, dtype, where);
  return field_bytes<To>(field);
}

std::vector<std::byte> typed_bytes(const TensorProto& proto, DType dtype, const std::string& where) {
  switch (dtype) {
    case DType::Bool: {
      std::vector<std::byte> bytes = field_bytes<std::uint8_t>(proto.int32_data());
      for (std::byte& b : bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
      return bytes;
    }
    case DType::Int8:
      return integer_bytes<std::int8_t>(proto.int32_data(), dtype, where);
    case DType::UInt8:
      return integer_bytes<std::uint8_t>(proto.int32_data(), dtype, where);
    case DType::Int16:
      return integer_bytes<std::int16_t>(proto.int32_data(), dtype, where);
    case DType::UInt16:
      return integer_bytes<std::uint16_t>(proto.int32_data(), dtype, where);
    case DType::Float16:
    case DType::BFloat16:
      return field_bytes<std::uint16_t>(proto.int32_data());
    case DType::Int32:
      return field_bytes<std::int32_t>(proto.int32_data());
    case DType::UInt32:
      return integer_bytes<std::uint32_t>(proto.uint64_data(), dtype, where);
    case DType::Int64:
      return field_bytes<std::int64_t>(proto.int64_data());
    case DType::UInt64:
      return field_bytes<std::uint64_t>(proto.uint64_data());
    case DType::Float32:
      return field_bytes<float>(proto.float_data());
    case DType::Float64:
      return field_bytes<double>(proto.double_data());
  }
  return {};
}

/// ONNX stores little-endian; a bool is any byte that is not 0.
std::vector<std::byte> raw_bytes(const std::string& raw, DType dtype) {
  std::vector<std::byte> bytes(raw.size());
  if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), raw.size());
  if (dtype == DType::Bool) {
    for (std::byte& b : bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return bytes;
}

}  // namespace

Array array_of_proto(const TensorProto& proto, const std::string& where, const std::filesystem::path& folder) {
  const std::optional<DType> dtype = dtype_of_onnx(proto.data_type());
  if (!dtype) {
    throw UnsupportedError(where, "its element type is " + onnx_type_name(proto.data_type()) + ", accepted are " + accepted_types_text(),
                           "export the model with one of these types", "type " + onnx_type_name(proto.data_type()));
  }
  if (proto.has_segment())
    throw UserError(where, "it is stored in segments, which no exporter writes", "save the model with whole tensors");
  const std::vector<std::int64_t> dims = dims_of(proto, where);
  const std::int64_t count = count_of(dims), bytes = count * bytes_of(*dtype);
  if (proto.data_location() == TensorProto::EXTERNAL) {
    return Array(*dtype, dims, external_bytes(proto, where, folder, static_cast<std::uint64_t>(bytes)));
  }
  if (proto.has_raw_data()) {
    const std::int64_t have = static_cast<std::int64_t>(proto.raw_data().size());
    if (have != bytes) fail_size(where, have, "bytes", bytes, dims);
    return Array(*dtype, dims, raw_bytes(proto.raw_data(), *dtype));
  }
  std::vector<std::byte> values = typed_bytes(proto, *dtype, where);
  const std::int64_t have = static_cast<std::int64_t>(values.size()) / bytes_of(*dtype);
  if (have != count) fail_size(where, have, "values", count, dims);
  return Array(*dtype, dims, std::move(values));
}

void array_to_proto(const Array& array, const std::string& name, TensorProto& proto) {
  proto.set_name(name);
  proto.set_data_type(onnx_type_of(array.dtype()));
  for (std::int64_t d : array.shape()) proto.add_dims(d);
  proto.set_raw_data(array.bytes().data(), array.bytes().size());
}

NamedArray read_tensor_file(const std::filesystem::path& path) {
  TensorProto proto;
  read_message(path, "a tensor of ONNX test data (TensorProto)", proto);
  return {proto.name(), array_of_proto(proto, path.string(), path.parent_path())};
}

void write_tensor_file(const std::filesystem::path& path, const NamedArray& tensor) {
  TensorProto proto;
  array_to_proto(tensor.array, tensor.name, proto);
  write_file(path, serialize_message(proto));
}

}  // namespace etch
