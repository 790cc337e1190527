// A backend that is not part of etch: one row each for a language, a device and a project form, and all of etch works with it.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "driver/compile.h"
#include "emit/form.h"
#include "models/zoo.h"
#include "renderer/cstyle.h"
#include "renderer/language.h"
#include "support/files.h"
#include "support/usable.h"
#include "target/target.h"
#include "validate/data_set.h"
#include "validate/validate.h"

namespace etch {
namespace {

// The language: as C, but every kernel ends with a comment that only its own device understands.
constexpr const char* kRemark = "/* in toy */\n";

Rendered render_toy(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options) {
  Rendered text = render_c(uops, language, signature, options);
  text.source += kRemark;
  return text;
}

const Language& toy_language() {
  static const Language row{.name = "toy", .style = kC.style, .render = render_toy, .prelude = kC.prelude};
  return row;
}

// The device: it translates programs into C, and has an option of its own.
struct ToyOptions {
  int* loads = nullptr;  // counts them
};

class Translated : public LoadedProgram {
 public:
  Translated(const Program& program, const DeviceOptions& options) : program_(program), device_(make_device("c", options)) {
    program_.language = &kC;
    for (ProgramKernel& kernel : program_.kernels) {
      if (!kernel.text.source.ends_with(kRemark)) throw DeviceError("kernel '" + kernel.name + "'", "is not written in toy");
      kernel.text.source.resize(kernel.text.source.size() - std::string_view(kRemark).size());
    }
    loaded_ = device_->load(program_);
  }
  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    return loaded_->run(inputs, vars, options);
  }
  void reset_state() override { loaded_->reset_state(); }

 private:
  Program program_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<LoadedProgram> loaded_;
};

class ToyDevice : public Device {
 public:
  using Device::Device;
  bool available(std::string* why) const override { return make_device("c", options())->available(why); }
  std::string description() const override { return "toy"; }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    if (int* loads = options().get<ToyOptions>().loads) (*loads)++;
    return std::make_unique<Translated>(program, options());
  }
  std::shared_ptr<JITRunner> make_runner(const LazyOp*, std::shared_ptr<const void>) const override {
    throw DeviceError("toy", "runs whole programs only");
  }
};

const DeviceRow& toy_device() {
  static const DeviceRow row{
      .name = "toy",
      .language = &toy_language(),
      .make = [](const DeviceRow& self, const DeviceOptions& options) -> std::unique_ptr<Device> {
        return std::make_unique<ToyDevice>(self, options);
      },
  };
  return row;
}

// The form: as C's, with a file of its own.
const ProjectForm& toy_form() {
  static const ProjectForm row = [] {
    ProjectForm form = kCForm;
    form.language = &toy_language();
    form.prepare = [](Project& p) { p.kernel_files = {{p.name + ".toy", "the kernels of " + p.name + "\n"}}; };
    return form;
  }();
  return row;
}

class ToyBackend : public testing::Test {
 protected:
  // A target in the language, as a user would write it.
  CompileOptions options() const {
    const TempDir dir("etch-test");
    std::string xml = test::content(std::filesystem::path(ETCH_SOURCE_DIR) / "targets" / "host.xml");
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"<language>c<", "<language>toy<"}, {"name=\"host\"", "name=\"board\""}})
      xml.replace(xml.find(from), from.size(), to);
    write_file(dir.path() / "board.xml", xml);
    CompileOptions options;
    options.import.path = "lenet.onnx";
    options.import.bytes = zoo_bytes(zoo_model("lenet"));
    options.target = read_target(dir.path() / "board.xml");
    options.tool_version = "0.1.0";
    return options;
  }
};

TEST_F(ToyBackend, IsUnknownWithoutItsRows) {
  EXPECT_THROW(language_of(options().target), UserError);
  EXPECT_THROW(make_device("toy"), DeviceError);
  EXPECT_THROW(Device::set_default("toy"), DeviceError);
}

TEST_F(ToyBackend, CompilesAndValidatesWithThreeRows) {
  const auto language = languages().add(toy_language());
  const auto device = devices().add(toy_device());
  const auto form = project_forms().add(toy_form());
  const CompileOptions compile = options();
  const Frontend frontend = read_model(compile);

  // The project is C's, with the form's own file and the language's own kernels.
  const CompiledProject project = compile_project(frontend, compile);
  EXPECT_EQ(project.report.language, "toy");
  std::vector<std::string> names;
  for (const EmittedFile& file : project.files) names.push_back(file.name);
  EXPECT_NE(std::ranges::find(names, "lenet.toy"), names.end());
  EXPECT_NE(std::ranges::find(names, "lenet.c"), names.end());

  // Its device runs it, as `validate` does, and the result is the reference's.
  EXPECT_EQ(device_names().back(), "toy");
  int loads = 0;
  DeviceOptions device_options;
  device_options.of<COptions>().flags = {"-std=gnu99", "-O1"};
  device_options.of<ToyOptions>().loads = &loads;
  const auto toy = make_device("toy", device_options);
  if (const std::string why = test::why_not(*toy); !why.empty()) GTEST_SKIP() << why;
  const Program reference = lower_model(frontend, nullptr, compile);
  const Program program = lower_model(frontend, toy->language(), compile);
  const std::vector<DataSet> sets = random_data_sets(frontend.model, 1);
  const auto outputs = reference_outputs(reference, *make_reference_device(), sets);
  const BackendResult result = validate_backend(program, reference, *toy, sets, outputs, {});
  EXPECT_TRUE(result.ok) << result.problem;
  EXPECT_EQ(loads, 1);

  // It may be what is meant where none is named.
  Device::set_default("toy");
  EXPECT_EQ(make_device("")->name(), "toy");
  Device::set_default("interp");
  EXPECT_EQ(make_device("")->name(), "interp");

  // It refuses a program in another language.
  EXPECT_THROW(toy->load(lower_model(frontend, &kC, compile)), InternalError);
}

}  // namespace
}  // namespace etch
