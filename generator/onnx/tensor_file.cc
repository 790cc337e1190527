#include "onnx/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "onnx/tensor_proto.h"

namespace etch {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian elements, as do arrays in memory");

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || std::filesystem::is_directory(file)) throw UserError(file.string(), "can't be read", "check the path and its permissions");
  refuse_lfs_pointer(file, file.string());
  std::vector<std::byte> bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw UserError(file.string(), "can't be read to its end", "check the disk");
  return bytes;
}

struct NumpyType {
  std::string_view descr;
  DType dtype;
};
constexpr NumpyType kNumpyTypes[] = {
    {"|b1", DType::Bool},   {"|i1", DType::Int8},    {"|u1", DType::UInt8},   {"<i2", DType::Int16},
    {"<u2", DType::UInt16}, {"<i4", DType::Int32},   {"<u4", DType::UInt32},  {"<i8", DType::Int64},
    {"<u8", DType::UInt64}, {"<f2", DType::Float16}, {"<f4", DType::Float32}, {"<f8", DType::Float64},
};

// The value of 'key' in a .npy header: the text in the quotes or parentheses after it, or up to the next comma.
std::optional<std::string> header_value(std::string_view header, std::string_view key) {
  const auto at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  auto start = header.find(':', at);
  if (start == std::string_view::npos) return std::nullopt;
  start = header.find_first_not_of(' ', start + 1);
  if (start == std::string_view::npos) return std::nullopt;
  const char open = header[start];
  const char* const close = open == '\'' ? "'" : open == '(' ? ")" : ",}";
  if (open == '\'' || open == '(') start++;
  const auto end = header.find_first_of(close, start);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(header.substr(start, end - start));
}

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  while (true) {
    const auto start = text.find_first_not_of(" ,");
    if (start == std::string_view::npos) return shape;
    std::int64_t d = 0;
    const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), d);
    if (error != std::errc() || d < 0) return std::nullopt;
    shape.push_back(d);
    text = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  }
}

// Column-major to row-major.
std::vector<std::byte> from_fortran(const std::vector<std::byte>& bytes, const std::vector<std::int64_t>& shape, std::size_t width) {
  std::vector<std::byte> result(bytes.size());
  const auto count = static_cast<std::int64_t>(bytes.size() / width);
  for (std::int64_t flat = 0; flat < count; flat++) {
    std::int64_t rest = flat, stride = count, from = 0;
    for (std::size_t i = shape.size(); i-- > 0;) {
      stride /= shape[i];
      from += rest % shape[i] * stride;
      rest /= shape[i];
    }
    std::memcpy(result.data() + static_cast<std::size_t>(flat) * width, bytes.data() + static_cast<std::size_t>(from) * width, width);
  }
  return result;
}

// The shape without its leading axes of size 1, which do not change the data.
std::vector<std::int64_t> without_leading_ones(std::vector<std::int64_t> shape) {
  shape.erase(shape.begin(), std::ranges::find_if(shape, [](std::int64_t d) { return d != 1; }));
  return shape;
}

}  // namespace

Array read_npy(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_bytes(file);
  const auto bad = [&](const std::string& what) {
    return UserError(file.string(), what, "write it by numpy.save of a C-contiguous, little-endian array");
  };
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) throw bad("is not a .npy file (no \\x93NUMPY at its start)");
  const std::size_t start = byte(6) == 1 ? 10 : 12;
  const std::size_t length = byte(6) == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (byte(6) < 1 || byte(6) > 3 || start + length > bytes.size()) throw bad("has a broken .npy header");
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + start, length);
  const auto descr = header_value(header, "descr"), fortran = header_value(header, "fortran_order"),
             shape_value = header_value(header, "shape");
  const auto shape = shape_value ? parse_shape(*shape_value) : std::nullopt;
  if (!descr || !fortran || !shape) throw bad("has a .npy header without descr, fortran_order or shape");
  const auto* const type = std::ranges::find(kNumpyTypes, std::string_view(*descr), &NumpyType::descr);
  if (type == std::end(kNumpyTypes))
    throw bad(fmt::format("has elements of type '{}'; accepted are bool, (u)int8-64 and float16-64, little-endian", *descr));
  const auto width = static_cast<std::size_t>(bytes_of(type->dtype));
  std::size_t want = width;
  for (std::int64_t d : *shape)
    if (__builtin_mul_overflow(want, static_cast<std::size_t>(d), &want)) throw bad("has a shape of more than 2^63 elements");
  if (bytes.size() - start - length != want)
    throw bad(fmt::format("has {} bytes of data, its shape and type need {}", bytes.size() - start - length, want));
  std::vector<std::byte> data(bytes.begin() + static_cast<std::ptrdiff_t>(start + length), bytes.end());
  if (*fortran == "True" && shape->size() > 1) data = from_fortran(data, *shape, width);
  return {type->dtype, *shape, std::move(data)};
}

std::vector<std::byte> npy_bytes(const Array& array) {
  if (array.dtype() == DType::BFloat16) return npy_bytes(Array::of_doubles(DType::Float32, array.shape(), array.doubles()));
  const auto* const type = std::ranges::find(kNumpyTypes, array.dtype(), &NumpyType::dtype);
  std::string shape;
  for (std::int64_t d : array.shape()) shape += fmt::format("{},", d);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type->descr, shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string text = "\x93NUMPY";
  text += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  text += header;
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  bytes.insert(bytes.end(), array.bytes().begin(), array.bytes().end());
  return bytes;
}

Array read_tensor_file(const std::filesystem::path& file, DType dtype, const std::vector<std::int64_t>& shape) {
  const std::string ending = file.extension().string();
  Array array;
  if (ending == ".npy") {
    array = read_npy(file);
  } else if (ending == ".pb") {
    array = read_tensor_file(file).array;
  } else {
    std::vector<std::byte> bytes = read_bytes(file);
    std::int64_t want = bytes_of(dtype);
    for (std::int64_t d : shape) want *= d;
    if (static_cast<std::int64_t>(bytes.size()) != want)
      throw UserError(file.string(),
                      fmt::format("has {} bytes, {} [{}] needs {}", bytes.size(), name_of(dtype), fmt::join(shape, ","), want),
                      "give raw elements, a .npy or a TensorProto .pb of that type and shape");
    return {dtype, shape, std::move(bytes)};
  }
  if ((dtype == DType::BFloat16 || dtype == DType::Float16) && array.dtype() == DType::Float32)
    array = Array::of_doubles(dtype, array.shape(), array.doubles());
  if (array.dtype() != dtype || without_leading_ones(array.shape()) != without_leading_ones(shape))
    throw UserError(file.string(),
                    fmt::format("is {} [{}], the model takes {} [{}]", name_of(array.dtype()), fmt::join(array.shape(), ","),
                                name_of(dtype), fmt::join(shape, ",")),
                    "convert it to that type and shape");
  return array.reshaped(shape);
}

Array random_array(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  std::vector<double> values(static_cast<std::size_t>(size));
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
  for (double& v : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto top = static_cast<double>(state >> 40);  // 24 bits
    if (is_float(dtype))
      v = top / 8388608.0 - 1.0;
    else if (dtype == DType::Bool)
      v = static_cast<double>(state >> 63);
    else
      v = static_cast<double>(state >> 60) - (is_unsigned(dtype) ? 0 : 8);
  }
  return Array::of_doubles(dtype, shape, values);
}

}  // namespace etch
