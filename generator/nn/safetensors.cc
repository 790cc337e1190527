#include "nn/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace etch::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of arrays are the file's");

using Json = nlohmann::ordered_json;

constexpr std::size_t kLength = 8;              // bytes that hold the length of the header
constexpr std::size_t kMostHeader = 100000000;  // the limit of the format's own implementation

struct TypeName {
  DType dtype;
  const char* name;
};
constexpr TypeName kTypes[] = {
    {DType::Bool, "BOOL"},     {DType::Int8, "I8"},     {DType::UInt8, "U8"},    {DType::Int16, "I16"},  {DType::UInt16, "U16"},
    {DType::Int32, "I32"},     {DType::UInt32, "U32"},  {DType::Int64, "I64"},   {DType::UInt64, "U64"}, {DType::Float16, "F16"},
    {DType::BFloat16, "BF16"}, {DType::Float32, "F32"}, {DType::Float64, "F64"},
};

std::string accepted_types() {
  std::string text;
  for (const TypeName& t : kTypes) text += (text.empty() ? "" : ", ") + std::string(t.name);
  return text;
}

/// A file while it is read; every mistake names it.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file.string()), bytes_(read_file(file)) {}

  NamedArrays read() {
    const Json header = read_header();
    struct Entry {
      std::string name;
      std::size_t begin, end;
      Array array;
    };
    std::vector<Entry> entries;
    for (const auto& [name, facts] : header.items()) {
      if (name == "__metadata__") continue;
      const auto [begin, end] = range_of(name, facts);
      entries.push_back({name, begin, end, array_of(name, facts, begin, end)});
    }
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::tuple(e.begin, e.end, e.name); });
    std::size_t next = 0;
    NamedArrays result;
    for (Entry& e : entries) {
      if (e.begin != next)
        fail(e.begin < next ? "the bytes of '" + e.name + "' belong to another array too"
                            : "bytes in front of '" + e.name + "' belong to none");
      next = e.end;
      result.emplace_back(std::move(e.name), std::move(e.array));
    }
    if (next != bytes_.size() - data_) fail(std::to_string(bytes_.size() - data_ - next) + " bytes at its end belong to no array");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(file_, what, "accepted is a whole file in the format safetensors");
  }

  Json read_header() {
    if (bytes_.size() < kLength) fail("it has " + std::to_string(bytes_.size()) + " bytes, fewer than a header's length takes");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLength);
    if (length > kMostHeader || length > bytes_.size() - kLength)
      fail("its header of " + std::to_string(length) + " bytes is longer than " +
           (length > kMostHeader ? "any may be" : "the file of " + std::to_string(bytes_.size())) + ": it is cut off, or another format");
    data_ = kLength + static_cast<std::size_t>(length);
    std::set<std::string> names;
    const auto once = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
        fail("'" + parsed.get<std::string>() + "' is there twice");
      return true;
    };
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(kLength), end = bytes_.begin() + static_cast<std::ptrdiff_t>(data_);
    if (!Json::accept(begin, end)) fail("its header is no JSON object");
    Json header = Json::parse(begin, end, once);
    if (!header.is_object()) fail("its header is no JSON object");
    return header;
  }

  std::pair<std::size_t, std::size_t> range_of(const std::string& name, const Json& facts) const {
    const auto is_number = [](const Json& v) { return v.is_number_unsigned() || (v.is_number_integer() && v.get<std::int64_t>() >= 0); };
    if (!facts.is_object() || !facts.contains("data_offsets")) fail("'" + name + "' has no data_offsets");
    const Json& offsets = facts["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !is_number(offsets[0]) || !is_number(offsets[1]))
      fail("the data_offsets of '" + name + "' are not two numbers");
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    if (begin > end || end > bytes_.size() - data_)
      fail("'" + name + "' is at bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
           std::to_string(bytes_.size() - data_));
    return {begin, end};
  }

  Array array_of(const std::string& name, const Json& facts, std::size_t begin, std::size_t end) const {
    if (!facts.contains("dtype") || !facts["dtype"].is_string()) fail("'" + name + "' has no dtype");
    const auto text = facts["dtype"].get<std::string>();
    const auto* type = std::ranges::find(kTypes, text, [](const TypeName& t) { return std::string(t.name); });
    if (type == std::end(kTypes)) fail("'" + name + "' is of type " + text + ", accepted are " + accepted_types());
    if (!facts.contains("shape") || !facts["shape"].is_array()) fail("'" + name + "' has no shape");
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = static_cast<std::uint64_t>(bytes_of(type->dtype));
    for (const Json& d : facts["shape"]) {
      if (!d.is_number_integer() || (!d.is_number_unsigned() && d.get<std::int64_t>() < 0))
        fail("the shape of '" + name + "' is not one of numbers");
      const auto size = d.get<std::uint64_t>();
      if (size != 0 && bytes > std::uint64_t{1} << 62 >> std::min(62, static_cast<int>(std::bit_width(size))))
        fail("'" + name + "' is too large");
      bytes *= size;
      shape.push_back(static_cast<std::int64_t>(size));
    }
    if (bytes != end - begin)
      fail("'" + name + "' takes " + std::to_string(bytes) + " bytes by its shape, it has " + std::to_string(end - begin));
    std::vector<std::byte> data(end - begin);
    if (!data.empty()) std::memcpy(data.data(), bytes_.data() + data_ + begin, data.size());
    if (type->dtype == DType::Bool && std::ranges::any_of(data, [](std::byte b) { return b > std::byte{1}; }))
      fail("'" + name + "' has a bool that is neither 0 nor 1");
    return {type->dtype, std::move(shape), std::move(data)};
  }

  std::string file_, bytes_;
  std::size_t data_ = 0;  // where the arrays begin
};

}  // namespace

NamedArrays read_safetensors(const std::filesystem::path& file) { return Reader(file).read(); }

void write_safetensors(const std::filesystem::path& file, const NamedArrays& arrays) {
  Json header = Json::object();
  std::size_t next = 0;
  for (const auto& [name, array] : arrays) {
    if (header.contains(name) || name == "__metadata__")
      throw UserError(file.string(), "two arrays would have the name '" + name + "'", "accepted are names that differ");
    const auto* type = std::ranges::find(kTypes, array.dtype(), &TypeName::dtype);
    check(type != std::end(kTypes), "every type has a name in safetensors");
    const std::size_t end = next + array.bytes().size();
    header[name] = {{"dtype", type->name}, {"shape", array.shape()}, {"data_offsets", {next, end}}};
    next = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kLength - text.size() % kLength) % kLength, ' ');  // the arrays begin at a multiple of 8
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), kLength);
  bytes += text;
  for (const auto& [name, array] : arrays) bytes.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
  replace_file(file, bytes);
}

}  // namespace etch::nn
