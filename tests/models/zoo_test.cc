// Each network of the zoo, imported from its ONNX bytes and written with the Tensor API: the same outputs.
#include "models/zoo.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/tempdir.h"
#include "onnx/seeded.h"
#include "support/evaluate.h"
#include "support/expect_error.h"
#include "support/files.h"

namespace etch {

/// GoogleTest prints a row with this.
void PrintTo(const ZooModel& model, std::ostream* out) { *out << model.name; }

namespace {

ImportedModel import_zoo(const ZooModel& model) {
  ImportOptions options{.bytes = zoo_bytes(model), .name = model.name};
  if (model.input_shape[0] < 0) options.dims = {{"batch", 1, 16}};
  return import_onnx(options);
}

Array input_of(const ZooModel& model, std::int64_t batch) {
  std::vector<std::int64_t> shape = model.input_shape;
  if (shape[0] < 0) shape[0] = batch;
  const Array values = seeded_array("input of the test", shape, 1.0f);
  if (model.ids == 0) return values;
  std::vector<std::int64_t> ids;
  for (double v : values.doubles()) ids.push_back(static_cast<std::int64_t>((v + 1) / 2 * static_cast<double>(model.ids - 1)));
  return Array::of_ints(DType::Int64, shape, ids);
}

class Zoo : public testing::TestWithParam<ZooModel> {};

TEST_P(Zoo, OnnxAndTensorApiGiveTheSameOutputs) {
  const ZooModel& model = GetParam();
  const ImportedModel imported = import_zoo(model);
  for (std::int64_t batch : {1, 3, 16}) {
    if (batch > 1 && model.input_shape[0] > 0) break;
    const Array input = input_of(model, batch);
    const auto graph = LazyGraph::create();
    const Shape shape(input.shape().begin(), input.shape().end());
    const Tensor output = model.tensor(Tensor::input(*graph, "x", model.input_type(), shape));
    const Array wanted = test::evaluate_tensors({output}, {{"x", input}})[0];
    VarValues vars;
    if (model.input_shape[0] < 0) vars["batch"] = batch;
    const Array got = test::evaluate_model(imported, {{"input", input}}, vars)[0];
    EXPECT_EQ(test::difference(got, wanted, 1e-6, 1e-6), "") << model.name << ", batch " << batch;
  }
}

TEST_P(Zoo, OutputsDependOnTheInput) {
  const ZooModel& model = GetParam();
  const ImportedModel imported = import_zoo(model);
  VarValues vars;
  if (model.input_shape[0] < 0) vars["batch"] = 1;
  const Array input = input_of(model, 1);
  const Array zero = Array::filled(input.dtype(), input.shape(), Scalar::of_int(input.dtype(), 0));
  const Array a = test::evaluate_model(imported, {{"input", input}}, vars)[0],
              b = test::evaluate_model(imported, {{"input", zero}}, vars)[0];
  EXPECT_NE(test::difference(a, b, 1e-2, 1e-2), "") << a.at(0).to_text() << " " << b.at(0).to_text();
}

// The reference takes seconds for the detector: it is among the slow tests.
std::vector<ZooModel> small_ones() {
  std::vector<ZooModel> models = zoo();
  std::erase_if(models, [](const ZooModel& m) { return std::string_view(m.name) == "detector"; });
  return models;
}

INSTANTIATE_TEST_SUITE_P(All, Zoo, testing::ValuesIn(small_ones()), [](const auto& row) { return std::string(row.param.name); });

TEST(WriteZoo, WritesTheSameBytesEachTime) {
  const TempDir first, second;
  const auto a = write_zoo(first.path()), b = write_zoo(second.path());
  ASSERT_EQ(a.size(), zoo().size());
  for (std::size_t i = 0; i < a.size(); i++) {
    const std::string left = test::content(a[i]), right = test::content(b[i]);
    EXPECT_GT(left.size(), 1000u);
    EXPECT_EQ(left, right) << a[i];
    if (a[i].stem() == "mlp") {
      EXPECT_EQ(fnv1a_32(left), 1927203669u);  // computed once, so that another machine must give the same bytes
    }
  }
}

TEST(ZooModel, UnknownNamesAreRefused) {
  test::expect_error<UserError>([&] { zoo_model("vgg"); }, "there is no model 'vgg', there are: mlp, ");
}

}  // namespace
}  // namespace etch
