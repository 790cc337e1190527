// Pictures: what is in them, against the program or the text of the UOps; that they are sound, see parsed_svg.h; that they are made fast.
#include "picture/picture.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <regex>
#include <set>

#include "base/tempdir.h"
#include "driver/pictures.h"
#include "parsed_svg.h"
#include "program/generate.h"
#include "renderer/language.h"
#include "support/made_once.h"
#include "support/programs.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch {
namespace {

using test::expect_sound;
using test::parse_svg;
using test::ParsedSvg;

/// A model's program for a target, and its options.
struct Lowered {
  CompileOptions options;
  Program program;
};

Lowered lowered(const std::filesystem::path& model, const std::string& target) {
  Lowered result;
  result.options.import.path = model;
  if (model.stem().string().ends_with("_batch")) result.options.import.dims = {{"batch", 1, 16}};
  result.options.target = find_target(target, {std::filesystem::path(ETCH_SOURCE_DIR) / "targets"});
  const Frontend frontend = read_model(result.options);
  result.program = lower_model(frontend, &language_of(result.options.target), result.options);
  return result;
}

Lowered zoo(const std::string& name, const std::string& target = "cortex-m4f") { return lowered(test::zoo_model(name), target); }

const ProgramKernel& kernel_of(const Program& program, std::size_t call) {
  return program.kernels[static_cast<std::size_t>(program.calls[call].kernel)];
}

// For each value that a call reads the box that wrote it last; programs without loops.
std::set<std::pair<std::string, std::string>> edges_by_hand(const Program& program) {
  std::map<int, std::string> writers;
  for (std::size_t i = 0; i < program.inputs.size(); i++) writers[program.inputs[i]] = "input" + std::to_string(i);
  std::set<std::pair<std::string, std::string>> edges;
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const std::string call = "call" + std::to_string(c);
    for (int b : program.calls[c].reads())
      if (writers.contains(b)) edges.emplace(writers[b], call);
    for (int b : program.calls[c].writes()) writers[b] = call;
  }
  for (std::size_t i = 0; i < program.outputs.size(); i++) edges.emplace(writers.at(program.outputs[i]), "output" + std::to_string(i));
  return edges;
}

std::set<std::pair<std::string, std::string>> edges_of(const ParsedSvg& svg) {
  std::set<std::pair<std::string, std::string>> edges;
  for (const test::ParsedEdge& e : svg.edges) edges.emplace(e.from, e.to);
  return edges;
}

void expect_all_boxes(const ParsedSvg& svg, const Program& program) {
  EXPECT_EQ(svg.boxes.size(), program.calls.size() + program.inputs.size() + program.outputs.size());
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const test::ParsedBox* box = svg.box("call" + std::to_string(c));
    ASSERT_NE(box, nullptr);
    EXPECT_EQ(box->texts.at(0).text, kernel_of(program, c).name);
    EXPECT_EQ(box->texts.at(1).text, kernel_of(program, c).shape_name);
  }
}

TEST(Picture, ScheduleHasABoxForEachCallAndAnEdgeForEachValue) {
  for (const char* name : {"mlp_batch", "lenet", "resnet8", "ds_cnn", "autoencoder", "detector", "file_type"}) {
    const Lowered model = zoo(name);
    const ParsedSvg svg = parse_svg(schedule_picture(model.program, name));
    expect_sound(svg);
    expect_all_boxes(svg, model.program);
    EXPECT_EQ(edges_of(svg), edges_by_hand(model.program)) << name;
    EXPECT_TRUE(svg.frames.empty());
  }
}

// Box by box: work and bytes, weights with their sizes, and the value that is written.
TEST(Picture, ScheduleShowsWorkAndSizes) {
  const Lowered model = zoo("lenet");
  const ParsedSvg svg = parse_svg(schedule_picture(model.program, "lenet"));
  std::vector<std::string> texts;
  for (const test::ParsedText& t : svg.box("call0")->texts) texts.push_back(t.text);
  // 6 x 28 x 28 outputs of 5 x 5 products and sums, with bias and Relu: 244 608 operations. 28 x 28 floats, 6 x 25 weights, 6 biases, and
  // 6 x 28 x 28 results are 22 576 bytes.
  const ProgramKernel& kernel = kernel_of(model.program, 0);
  EXPECT_EQ(texts, (std::vector<std::string>{kernel.name, kernel.shape_name, "245 k ops, 22.6 KB", "conv1.weight [6,1,5,5] 600 B",
                                             "conv1.bias [6] 24 B", "float32 [1,6,28,28]", "18.8 KB"}));
  EXPECT_EQ(svg.box("input0")->texts.at(1).text, "float32 [1,1,28,28]");
  EXPECT_EQ(svg.box("output0")->texts.at(2).text, "40 B");
}

// 12 steps; carried are the last output and the cell.
constexpr const char* kLstm = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[12,1,3] x, float[1,8,3] w, float[1,8,2] r) => (float[1,1,2] y, float[12,1,1,2] z) {
  a = Relu (x)
  s, h, c = LSTM <hidden_size = 2> (a, w, r)
  y = Neg (h)
  z = Abs (s)
})";

TEST(Picture, LoopsAreFramesWithWhatATurnLeavesToTheNext) {
  const TempDir work("etch-picture");
  const Lowered model = lowered(write_text_model(work.path() / "lstm.onnx", kLstm), "cortex-m4f");
  ASSERT_EQ(model.program.loops.size(), 1u);
  const ParsedSvg svg = parse_svg(schedule_picture(model.program, "lstm"));
  expect_sound(svg);
  expect_all_boxes(svg, model.program);
  ASSERT_EQ(svg.frames.size(), 1u);
  const int inputs = static_cast<int>(model.program.inputs.size());
  EXPECT_EQ(svg.frames[0].first, model.program.loops[0].first + inputs);
  EXPECT_EQ(svg.frames[0].end, model.program.loops[0].end + inputs);
  EXPECT_TRUE(std::ranges::any_of(svg.texts, [](const test::ParsedText& t) { return t.text.ends_with("12 turns"); }));
  EXPECT_EQ(std::ranges::count_if(svg.edges, &test::ParsedEdge::back), 2) << "the output and the cell";
}

// The text of the UOps is printed by other code.
TEST(Picture, UOpsHaveABoxAndAnEdgeForEachSource) {
  const std::regex line(R"( *%(\d+) = (\w+).*)"), operand(R"( %(\d+))");
  for (const char* target : {"cortex-m4f", "x86-64-v3", "opencl"}) {
    const Lowered model = zoo("lenet", target);
    for (const ProgramKernel& kernel : model.program.kernels) {
      const ParsedSvg svg = parse_svg(uops_picture(kernel.code, kernel.name));
      expect_sound(svg);
      std::multiset<std::pair<std::string, std::string>> want, got;
      std::size_t boxes = 0, frames = 0;
      std::istringstream lines(kernel.uops);
      for (std::string text; std::getline(lines, text);) {
        std::smatch m;
        ASSERT_TRUE(std::regex_match(text, m, line)) << text;
        const std::string to = "u" + m[1].str(), kind = m[2];
        if (kind == "End") continue;
        boxes++;
        frames += kind == "Loop" || kind == "If" ? 1 : 0;
        const test::ParsedBox* box = svg.box(to);
        ASSERT_NE(box, nullptr) << text;
        EXPECT_TRUE(box->texts.at(0).text.starts_with(kind)) << text;
        const std::string sources = text.substr(text.find('=') + 1);
        for (std::sregex_iterator s(sources.begin(), sources.end(), operand), none; s != none; s++) want.emplace("u" + (*s)[1].str(), to);
      }
      for (const test::ParsedEdge& e : svg.edges) got.emplace(e.from, e.to);
      EXPECT_EQ(svg.boxes.size(), boxes) << kernel.name;
      EXPECT_EQ(svg.frames.size(), frames) << kernel.name;
      EXPECT_EQ(got, want) << kernel.name;
    }
  }
}

// What XML and fonts make difficult.
TEST(Picture, NamesAreEscapedAndFit) {
  const std::string names[] = {"a<b>&\"c'd]]>",
                               "line\nbreak\x01\t",
                               std::string("\xFF\xC3(\xE2\x82\xED\xA0\x80", 8),
                               "Größe/größer",
                               "\xE5\xB1\x82\xE3\x81\xAE\xE5\x90\x8D\xE5\x89\x8D\xEF\xBF\xBF",
                               std::string(5000, 'w'),
                               ""};
  for (const std::string& name : names) {
    test::ProgramBuilder b("c");
    const int x = b.input(name + "x", DType::Float32, {4}), w = b.constant(name + "w", test::floats({4}, {1, 2, 3, 4}));
    const int y = b.output(name + "y", DType::Float32, {4});
    b.call(b.kernel("k", "", 3), {y, x, w});
    Program program = b.take();
    program.kernels[0].shape_name = name;
    program.calls[0].nodes = {name};
    const std::string svg = schedule_picture(program, name);
    expect_sound(parse_svg(svg));
    EXPECT_EQ(svg, schedule_picture(program, name)) << "the same bytes";
  }
  test::ProgramBuilder b("c");
  b.input("Größe <1>", DType::Float32, {4});
  EXPECT_EQ(parse_svg(schedule_picture(b.take(), "t")).boxes.at(0).texts.at(0).text, "Größe <1>");
}

TEST(Picture, AnEmptyProgramIsAPicture) {
  const ParsedSvg svg = parse_svg(schedule_picture(test::ProgramBuilder("c").take(), "nothing"));
  expect_sound(svg);
  EXPECT_TRUE(svg.boxes.empty());
}

// Calls that read any of the values before, mostly those just before.
Program random_program(int calls, std::mt19937& random) {
  test::ProgramBuilder b("c");
  std::vector<int> values{b.input("x", DType::Float32, {16}), b.input("x2", DType::Float32, {3})};
  const int kernels[] = {b.kernel("one", "", 2), b.kernel("two", "", 3), b.kernel("three", "", 4)};
  for (int c = 0; c < calls; c++) {
    const int inputs = static_cast<int>(random() % 3) + 1;
    std::vector<int> buffers{c + 1 == calls
                                 ? b.output("y", DType::Float32, {16})
                                 : b.intermediate("v" + std::to_string(c), DType::Float32, {static_cast<int>(random() % 100'000)})};
    for (int i = 0; i < inputs; i++) {
      const std::size_t reach = random() % 8 == 0 ? values.size() : std::min<std::size_t>(values.size(), 4);
      buffers.push_back(values[values.size() - 1 - random() % reach]);
    }
    b.call(kernels[inputs - 1], buffers);
    values.push_back(buffers[0]);
  }
  return b.take();
}

TEST(Picture, RandomProgramsAreSound) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; i++) {
    const Program program = random_program(1 + static_cast<int>(random() % 60), random);
    const ParsedSvg svg = parse_svg(schedule_picture(program, "random"));
    expect_sound(svg);
    EXPECT_EQ(edges_of(svg), edges_by_hand(program));
  }
}

TEST(Picture, AThousandCallsTakeNoTime) {
  std::mt19937 random(11);
  const Program program = random_program(1000, random);
  const std::clock_t begin = std::clock();
  const std::string svg = schedule_picture(program, "large");
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  expect_sound(parse_svg(svg));
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(seconds, 1);
#else
  EXPECT_LT(seconds, 20);
#endif
}

// The driver's files: one for the schedule and one for each kernel.
TEST(Picture, FilesOfAModel) {
  const Lowered model = zoo("mlp");
  const std::vector<EmittedFile> files = pictures_of(model.program, "mlp");
  ASSERT_EQ(files.size(), model.program.kernels.size() + 1);
  EXPECT_EQ(files[0].name, "schedule.svg");
  for (std::size_t k = 0; k < model.program.kernels.size(); k++) EXPECT_EQ(files[k + 1].name, model.program.kernels[k].name + ".svg");
  EXPECT_EQ(files[0].text, schedule_picture(model.program, "mlp"));
}

}  // namespace
}  // namespace etch
