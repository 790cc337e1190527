// Functions of custom operators that do not fit, or misbehave: the error shows what is expected and what was found, or names the function
// and the node.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "custom_model.h"

namespace etch {
namespace {

using test::custom_node;
using test::customs;
using test::error_of;

// y [4] = Scale(x [4]) with alpha and an integer.
std::string model() {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float32, {4});
  g.output(custom_node(g, "Scale", {x}, {{"alpha", 0.5}, {"steps", std::int64_t{3}}}, "y"), DType::Float32, {4});
  return g.bytes();
}

CompileOptions options_with(const std::string& source) {
  return test::options_for(model(), customs({{"scale.c", "#include <stdint.h>\n" + source}}, {{"com.example.Scale", "scale"}}));
}

const std::string kPlace = "net.onnx: node 'y' (Scale): the custom function scale does not fit the node: ";
const std::string kHelp =
    "\n  help: correct scale.c: pointers first, to the outputs, then to the inputs; then, in any order, a number for each attribute, "
    "called "
    "like it, and the sizes it wants: int32_t x_count, the elements of x, int32_t x_dim0, its first axis";

struct Mismatch {
  const char *found, *problem, *expected;
};

constexpr const char* kRight = "void scale(float *y, const float *x, float alpha, int32_t steps)";

const Mismatch kMismatches[] = {
    {"void scale(float *y, float *x, float alpha, int32_t steps)",
     "parameter 2 'float *x' is for input 0 ('x', float32), which it only reads: const is missing", kRight},
    {"void scale(const float *y, const float *x, float alpha, int32_t steps)",
     "parameter 1 'const float *y' is for the output ('y', float32), which it writes: it can't be const", kRight},
    {"void scale(float *y, const double *x, float alpha, int32_t steps)",
     "parameter 2 'const double *x' is for input 0 ('x', float32), a pointer to float is expected", kRight},
    {"void scale(float *y, const volatile float *x, float alpha, int32_t steps)",
     "parameter 2 'const volatile float *x' is for input 0 ('x', float32), a pointer to float is expected", kRight},
    {"void scale(float *y, const float *x, float alpha)", "the attribute steps, the integer 3, is missing", kRight},
    {"void scale(float *y, float alpha, int32_t steps)", "it begins with 1 pointer, the node has 1 output and 1 input", kRight},
    {"void scale(float *y, const float *x, const float *z, float alpha, int32_t steps)",
     "it begins with 3 pointers, the node has 1 output and 1 input", kRight},
    {"void scale(float *y, const float *x, int32_t steps, int32_t alpha)",
     "parameter 4 'int32_t alpha' is for the attribute alpha, the float 0.5",
     "void scale(float *y, const float *x, int32_t steps, float alpha)"},
    {"void scale(float *y, const float *x, float alpha, float steps)",
     "parameter 4 'float steps' is for the attribute steps, the integer 3", kRight},
    {"void scale(float *y, const float *x, float alpha, int32_t steps, float beta)",
     "parameter 5 'float beta' is called like no attribute and no size", kRight},
    {"void scale(float *y, const float *x, float alpha, int32_t steps, float x_count)",
     "parameter 5 'float x_count' is for the number of elements of x, an integer up to 4", kRight},
    {"int scale(float *y, const float *x, float alpha, int32_t steps)", "it returns int, not void", kRight},
    {"static void scale(float *y, const float *x, float alpha, int32_t steps)", "it is static", kRight},
    {"inline void scale(float *y, const float *x, float alpha, int32_t steps)",
     "it is inline, of which C makes no function that other files can call: drop inline", kRight},
    {"void scale(float *y, const float *x, float alpha, int32_t steps, ...)", "it takes a variable number of arguments", kRight},
    {"void scale(float *y, float *x, double alpha)",
     "parameter 2 'float *x' is for input 0 ('x', float32), which it only reads: const is missing; the attribute steps, the integer 3, is "
     "missing",
     "void scale(float *y, const float *x, double alpha, int32_t steps)"},
};

TEST(CustomOperator, WrongPrototypesShowBothSignatures) {
  for (const Mismatch& row : kMismatches) {
    const std::string body = std::string(row.found).starts_with("int") ? " { return 0; }\n" : " { }\n";
    EXPECT_EQ(error_of([&] { read_model(options_with(row.found + body)); }),
              kPlace + row.problem + "\n  expected: " + row.expected + "\n  found:    " + row.found + "   (scale.c:2)" + kHelp);
  }
}

// What a type is called does not matter, what it is does.
TEST(CustomOperator, TakesAnyWordsForATypeThatIsTheSameEverywhere) {
  const auto accepts = [](const std::string& source) { return error_of([&] { read_model(options_with(source)); }); };
  EXPECT_EQ(accepts("typedef float sample; typedef const sample *samples;\n"
                    "void scale(sample *restrict out, samples in, const double alpha, const unsigned char steps) { }\n"),
            "");
  EXPECT_EQ(accepts("void scale(float out[4], const float in[static 4], float alpha, long steps, unsigned in_dim0, int out_count) { }\n"),
            "");
  EXPECT_EQ(accepts("inline void scale(float *y, const float *x, float alpha, int32_t steps) { }\n"
                    "extern inline void scale(float *y, const float *x, float alpha, int32_t steps);\n"),
            "")
      << "an external definition";
  EXPECT_NE(accepts("void scale(float *y, const float *x, float alpha, int32_t steps) __asm__(\"foo\");\n"
                    "void scale(float *y, const float *x, float alpha, int32_t steps) { }\n")
                .find("its symbol is another, foo: drop __asm__"),
            std::string::npos);
  EXPECT_NE(accepts("void scale(float *y, const long *x, float alpha, int32_t steps) { }\n"), "");
  EXPECT_NE(accepts("void scale(float *y, const struct s *x, float alpha, int32_t steps) { }\n"), "");
}

TEST(CustomOperator, AFileThatDoesNotParseIsNamedWithItsErrors) {
  EXPECT_EQ(error_of([&] { options_with("int 3;\nvoid scale(float *y { }\n"); }),
            "--custom-file scale.c: it is not C99 that compiles:\n  scale.c:2: expected identifier or '('\n  scale.c:3: expected ')'\n  "
            "scale.c:3: expected function body after function declarator\n"
            "  help: correct it; a compiler shows all errors: cc -std=c99 -c scale.c");
  EXPECT_EQ(error_of([&] { options_with("#include \"mine.h\"\n"); }),
            "--custom-file scale.c: it is not C99 that compiles:\n  scale.c:2: 'mine.h' file not found\n"
            "  help: name the header too: --custom-file FILE.h");
}

TEST(CustomOperator, FilesThatNoBuildTakesAreRefused) {
  for (const char* name : {"my file.c", "a;b.c", "q\"x.c", "(x).c", "a#b.c", "x\\y.c", "a$b.c", "-x.c"}) {
    const std::string error = error_of([&] { customs({{name, "void scale(void) { }\n"}}, {{"com.example.Scale", "scale"}}); });
    EXPECT_NE(error.find("its name has more than letters, digits, '_', '-' and '.', or begins with '-'"), std::string::npos)
        << name << error;
  }
  const TempDir dir("etch-custom");
  const std::filesystem::path pipe = dir.path() / "pipe.c";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { read_custom_operators({pipe}, {}); }),
            "--custom-file " + pipe.string() + ": is a pipe, a device or the like, not a file\n  help: name a file of C");
}

TEST(CustomOperator, AFunctionThatIsNotThereIsNamedWithThoseThatAre) {
  const auto error = [](const std::map<std::string, std::string>& files, const std::string& function) {
    return error_of([&] { customs(files, {{"com.example.Scale", function}}); });
  };
  EXPECT_EQ(error({{"a.c", "void scales(void) { }\nvoid other(void) { }\n"}}, "scale"),
            "--custom com.example.Scale=scale: no file of --custom-file defines the function; they define 'scales', 'other'\n"
            "  help: name the C file that defines it: --custom-file FILE.c");
  EXPECT_EQ(error({{"a.c", "void scale(void);\n"}}, "scale"),
            "--custom com.example.Scale=scale: no file of --custom-file defines the function\n"
            "  help: name the C file that defines it: --custom-file FILE.c");
  EXPECT_EQ(error({{"a.c", "void scale(void) { }\n"}, {"b.c", "void scale(void) { }\n"}}, "scale"),
            "--custom com.example.Scale=scale: the function is defined in a.c and in b.c\n  help: keep one");
  EXPECT_EQ(error({{"a.c", "void scale(void) { }\nint main(void) { return 0; }\n"}}, "scale"),
            "--custom-file a.c: it defines main, which programs that run the model have\n  help: move main to a file of its own");
  EXPECT_EQ(error({{"a.c", "void scale(void) { }\nint table[2];\n"}, {"b.c", "static int a;\n\nvoid table(void) { }\n"}}, "scale"),
            "--custom-file b.c, line 3: it defines table, which a.c defines in line 2\n  help: keep one, or make it static");
  EXPECT_TRUE(error({{"a.c", "void expf2(void) { }\n"}}, "for").starts_with("--custom com.example.Scale=for: the function's name is no "));
}

std::string error_with(const std::string& node, const OnnxDim& declared, bool declares = true,
                       const std::vector<std::string>& outputs = {"h"}) {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float32, {"n"});
  g.node_with_outputs("Scale", {x}, outputs, {{node, std::string("text")}}, "h", "com.example");
  if (node.empty()) g.proto().mutable_graph()->mutable_node(0)->clear_attribute();
  if (declares) test::declare(g, "h", {declared});
  g.output(g.relu("h"), DType::Float32, {"n"});
  CompileOptions options =
      test::options_for(g.bytes(), customs({{"scale.c", "void scale(float *y, const float *x) { }\n"}}, {{"com.example.Scale", "scale"}}));
  options.import.dims = {{"n", 1, 4}};
  return error_of([&] { read_model(options); });
}

TEST(CustomOperator, NodesThatItCannotComputeAreRefused) {
  const std::string place = "net.onnx: node 'h' (Scale): ";
  EXPECT_EQ(error_with("", OnnxDim(4), false),
            place +
                "the model does not declare the type and shape of its output 'h', which no rule gives here\n"
                "  help: declare it in the model (value_info): onnx.helper.make_tensor_value_info(\"h\", TYPE, SHAPE)");
  EXPECT_EQ(error_with("", OnnxDim("k")), place +
                                              "the model declares the size at axis 0 of its output 'h' as 'k', which no input has\n"
                                              "  help: declare it as a number, or by the name of a dimension of an input");
  EXPECT_EQ(error_with("", OnnxDim(-5)), place + "output 'h': its shape [-5] has the size -5 at axis 0, sizes are >= 0");
  EXPECT_TRUE(error_with("", OnnxDim(std::int64_t{1} << 40)).starts_with(place + "output 'h': its shape [1099511627776] has more than "));
  EXPECT_TRUE(
      error_with("", OnnxDim("n"), true, {"h", ""}).starts_with(place + "its output 1 is left out, a custom function writes all\n"));
  EXPECT_EQ(error_with("mode", OnnxDim("n")), place +
                                                  "attribute mode is no float and no integer, which a custom function takes as numbers\n"
                                                  "  help: export the node with numbers alone, or with the values as an input");
  const std::string error = error_with("", OnnxDim("n"));
  EXPECT_TRUE(error.starts_with(place + "the custom function scale does not fit the node: the open size n of axis 0 of y is missing\n"
                                        "  expected: void scale(float *y, const float *x, int32_t y_dim0)\n"
                                        "  found:    void scale(float *y, const float *x)   (scale.c:1)"))
      << error;
}

struct Misbehaviour {
  const char *body, *problem;
};

const Misbehaviour kMisbehaviours[] = {
    {"*(volatile int *)0 = 1;", "it crashes: killed by signal 11 (Segmentation fault)"},
    {"abort();", "it crashes: killed by signal 6 (Aborted)"},
    {"exit(3);", "it ends the process: exit status 3"},
    {"for (;;) { }", "it does not return: timed out after 2 s"},
    {"y[4] = 0;", "it writes outside of its output, at index 4, there are 4 elements"},
    {"y[100] = 0;", "it writes outside of its output, at index 100, there are 4 elements"},
    {"y[-2] = 0;", "it writes outside of its output, at index -2, there are 4 elements"},
    {"((float *)x)[5] = 0;", "it writes outside of its input 0, at index 5, there are 4 elements"},
    {"((float *)x)[1] = 7;", "it writes into its input 0, at index 1, which it may only read"},
    {"y[(int64_t)1 << 44] = 0;", "it crashes: killed by signal 11 (Segmentation fault)"},
};

TEST(CustomOperator, WhatAFunctionCallsHasToBeThere) {
  const CompileOptions options =
      options_with("float helper(float x);\nvoid scale(float *y, const float *x, float alpha, int32_t steps) { y[0] = helper(x[0]); }\n");
  const Program program = lower_model(read_model(options), nullptr, options);
  const std::string error = error_of([&] { make_reference_device()->load(program); });
  EXPECT_TRUE(error.starts_with("--custom-file scale.c: C compiler for functions in C ")) << error;
  EXPECT_NE(error.find("helper"), std::string::npos) << error;
}

TEST(CustomOperator, OneThatNoNodeIsOfIsNoted) {
  CompileOptions options = options_with("void scale(float *y, const float *x, float alpha, int32_t steps) { }\nvoid b(void) { }\n");
  CustomOperator unused = options.import.customs[0];
  unused.op = "Scales";
  options.import.customs.push_back(unused);
  EXPECT_EQ(import_onnx(options.import).warnings,
            std::vector<std::string>{"--custom com.example.Scales: no node of the model is of this operator"});
}

// Whatever it does, this process goes on.
TEST(CustomOperator, AFunctionThatMisbehavesIsNamedWithItsNode) {
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 2, 3, 4})};
  for (const Misbehaviour& row : kMisbehaviours) {
    const CompileOptions options = options_with(
        std::string("#include <stdlib.h>\nvoid scale(float *y, const float *x, float alpha, int32_t steps) {\n  ") + row.body + "\n}\n");
    const Frontend frontend = read_model(options);
    const bool hangs = std::string(row.body).starts_with("for");
    DeviceOptions device_options;
    if (hangs) device_options.custom_timeout_s = 2;
    for (const auto& device : test::devices(device_options)) {
      if (hangs && device->name() != device_names().front()) continue;  // it takes as long on each
      const Program program = lower_model(frontend, device->language(), options);
      const std::string error = error_of([&] { device->load(program)->run(inputs); });
      EXPECT_TRUE(error.starts_with(std::string("node 'y' (com.example.Scale): custom function scale() of scale.c: ") + row.problem))
          << device->name() << ", " << row.body << "\n"
          << error;
    }
  }
}

}  // namespace
}  // namespace etch
