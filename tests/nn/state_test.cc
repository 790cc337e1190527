// Files of named arrays: what is read is what was written, files by hand are what the format's description says, bad ones are refused.
#include "nn/state.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "nn/safetensors.h"
#include "support/expect_error.h"

namespace etch::nn {
namespace {

class Safetensors : public testing::Test {
 protected:
  /// A file with that header and so many bytes of data.
  std::filesystem::path file(const std::string& header, std::size_t data, std::optional<std::uint64_t> length = std::nullopt) {
    const std::uint64_t n = length.value_or(header.size());
    std::string bytes(reinterpret_cast<const char*>(&n), sizeof n);
    bytes += header + std::string(data, '\1');
    write_file(path_, bytes);
    return path_;
  }
  static std::string refused(const std::function<void()>& f) { return test::error_text<UserError>(f); }
  TempDir dir_{"etch-safetensors"};
  std::filesystem::path path_ = dir_.path() / "x.safetensors";
};

TEST_F(Safetensors, GiveBackWhatWasWrittenOfEveryType) {
  NamedArrays arrays;
  for (const char* name :
       {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"})
    arrays.emplace_back(name, Array::of_ints(dtype_named(name).value(), {2, 2}, std::vector<std::int64_t>{0, 1, 1, 0}));
  arrays.emplace_back("scalar", Array::scalar(Scalar::of_double(DType::Float32, 0.1)));
  arrays.emplace_back("empty", Array(DType::Float32, {0, 3}, {}));
  arrays.emplace_back("a \"name\" with \xc3\xa9", Array::of_doubles(DType::Float64, {1}, std::vector<double>{-0.0}));
  write_safetensors(path_, arrays);
  const std::string bytes = read_file(path_);
  EXPECT_EQ(read_safetensors(path_), arrays);
  write_safetensors(path_, read_safetensors(path_));
  EXPECT_EQ(read_file(path_), bytes) << "the same bytes";
}

// A file by hand, as the format's description has it.
TEST_F(Safetensors, ReadWhatTheDescriptionSays) {
  const NamedArrays got = read_safetensors(file(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]},"a":{"dtype":"I16","shape":[],"data_offsets":[0,2]}} )",
      4));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].first, "a");
  EXPECT_EQ(got[0].second.ints(), (std::vector<std::int64_t>{257}));
  EXPECT_EQ(got[1].second.ints(), (std::vector<std::int64_t>{1, 1}));
}

TEST_F(Safetensors, BadFilesAreRefused) {
  struct Row {
    const char* header;
    std::size_t data;
    const char* says;
  };
  const Row rows[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7, "'a' is at bytes 0 to 8 of 7"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9, "1 bytes at its end belong to no array"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6,
       "the bytes of 'b' belong to another array too"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2, "bytes in front of 'a' belong to none"},
      {R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "'a' is of type F8_E4M3, accepted are BOOL, I8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "'a' takes 8 bytes by its shape, it has 4"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "the shape of 'a' is not one of numbers"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]}})", 4, "'a' is too large"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "'a' is at bytes 4 to 0 of 4"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "the data_offsets of 'a' are not two numbers"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "'a' has no dtype"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
       "'a' is there twice"},
      {R"({"a":)", 0, "its header is no JSON object"},
      {R"([])", 0, "its header is no JSON object"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.header);
    EXPECT_THAT(refused([&] { (void)read_safetensors(file(row.header, row.data)); }), testing::HasSubstr(row.says));
  }
  EXPECT_THAT(refused([&] { (void)read_safetensors(file("{}", 0, 3)); }),
              testing::HasSubstr("its header of 3 bytes is longer than the file of 10"));
  EXPECT_THAT(refused([&] { (void)read_safetensors(file("{}", 0, ~std::uint64_t{0})); }), testing::HasSubstr("is longer than any may be"));
  write_file(path_, "abc");
  EXPECT_THAT(refused([&] { (void)read_safetensors(path_); }), testing::HasSubstr("it has 3 bytes, fewer than a header's length takes"));
  EXPECT_THAT(refused([&] { (void)read_safetensors(dir_.path() / "none"); }), testing::HasSubstr("none"));
}

TEST_F(Safetensors, WrittenFilesAreWholeOrNotThere) {
  const Array a = Array::filled(DType::Float32, {2}, Scalar::of_double(DType::Float32, 1));
  EXPECT_THAT(refused([&] { write_safetensors(path_, {{"a", a}, {"a", a}}); }), testing::HasSubstr("two arrays would have the name 'a'"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THAT(refused([&] { write_safetensors(dir_.path() / "no" / "folder", {{"a", a}}); }), testing::HasSubstr("folder"));
}

TEST_F(Safetensors, StatesComeBackOrAreRefusedAsAWhole) {
  Session session(make_device("interp"));
  const auto from = [&](std::vector<double> v) {
    return session.from(Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(v.size())}, v));
  };
  const auto values = [&](const Tensor& t) { return session.values(t).doubles(); };
  StateDict state;
  add(state, "fc.", {{"weight", from({1, 2})}, {"bias", from({3})}});
  save(session, state, path_);
  StateDict other{{"fc.bias", from({0})}, {"fc.weight", from({0, 0})}};
  load(session, other, path_);
  EXPECT_EQ(values(other[0].tensor), (std::vector<double>{3}));
  EXPECT_EQ(values(other[1].tensor), (std::vector<double>{1, 2}));

  const StateDict wrong{{"fc.weight", from({0, 0})}, {"fc.bias", from({0, 0})}};
  EXPECT_THAT(refused([&] { load(session, wrong, path_); }), testing::HasSubstr("'fc.bias' is float32 [1], the network's is float32 [2]"));
  EXPECT_EQ(values(wrong[0].tensor), (std::vector<double>{0, 0})) << "nothing has changed";
  EXPECT_THAT(refused([&] { load(session, {{"fc.scale", from({0})}}, path_); }), testing::HasSubstr("has no 'fc.scale', float32 [1]"));
  const StateDict part{{"fc.bias", from({0})}};
  EXPECT_THAT(refused([&] { load(session, part, path_); }), testing::HasSubstr("has 'fc.weight', float32 [2], which the network has not"));
  load(session, part, path_, false);
  EXPECT_EQ(values(part[0].tensor), (std::vector<double>{3}));
  EXPECT_THAT(refused([&] { add(state, "fc.", {{"bias", from({1})}}); }), testing::HasSubstr("state 'fc.bias': is there twice"));
}

}  // namespace
}  // namespace etch::nn
