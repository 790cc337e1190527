#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "emit/form.h"
#include "emit/literals.h"
#include "emit/printed.h"
#include "emit/project.h"
#include "emit/signature.h"
#include "emit/workers.h"

namespace etch {
namespace {

constexpr std::int64_t kLiteralInputs = 64;     // inputs with more elements come from the generator if possible
constexpr std::int64_t kLiteralOutputs = 4096;  // of outputs with more elements every n-th one is compared

const ProgramBuffer& buffer_of(const Project& p, int b) { return p.program->buffers[static_cast<std::size_t>(b)]; }
const std::string& name_of_buffer(const Project& p, int b) { return p.buffer_names[static_cast<std::size_t>(b)]; }
// The name of the array of an input or output; a prefix avoids clashes with names of the C library.
std::string array_of(const Project& p, int b) {
  return (buffer_of(p, b).kind == BufferKind::Input ? "in_" : "out_") + name_of_buffer(p, b);
}
bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

// One step of the generator; the emitted text of it is in generator_text.
std::uint32_t next_random(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

std::uint32_t first_state(std::uint32_t seed, int number) { return seed ^ (static_cast<std::uint32_t>(number) + 1u) * 2654435761u; }

Scalar random_scalar(DType dtype, std::uint32_t r) {
  switch (dtype) {
    case DType::Bool:
      return Scalar::of_int(dtype, r >> 23);
    case DType::Int8:
      return Scalar::of_int(dtype, static_cast<std::int64_t>(r >> 16) - 128);
    case DType::UInt8:
      return Scalar::of_int(dtype, r >> 16);
    case DType::Int16:
    case DType::UInt16:
    case DType::Int32:
    case DType::UInt32:
    case DType::Int64:
    case DType::UInt64:
      return Scalar::of_int(dtype, (r >> 8) % 100);
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
      return Scalar::of_double(dtype, (static_cast<double>(r) - 8388608.0) / 8388608.0);
  }
  return {};
}

std::string random_expression(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "(next_random(&seed) >> 23) != 0u";
    case DType::Int8:
      return "(int8_t)((int)(next_random(&seed) >> 16) - 128)";
    case DType::UInt8:
      return "(uint8_t)(next_random(&seed) >> 16)";
    case DType::Int16:
    case DType::UInt16:
    case DType::Int32:
    case DType::UInt32:
    case DType::Int64:
    case DType::UInt64:
      return fmt::format("({})((next_random(&seed) >> 8) % 100u)", info(dtype).c_type);
    case DType::Float32:
      return "((float)next_random(&seed) - 8388608.0f) / 8388608.0f";
    case DType::Float64:
      return "((double)next_random(&seed) - 8388608.0) / 8388608.0";
    case DType::Float16:
    case DType::BFloat16:
      break;  // rounding to 16-bit floats needs more than an expression, so these use literals
  }
  return "";
}

bool is_generated(const Array& data, std::uint32_t seed, int number) {
  return data.size() > kLiteralInputs && !is_half(data.dtype()) && data == lcg_input(data.dtype(), data.shape(), seed, number);
}

// An output that has elements.
struct Output {
  int buffer = 0;
  Array expected;
  std::int64_t step = 1, compared = 0;
};

std::vector<Output> outputs_of(const Project& p, const SelfTest& test) {
  std::vector<Output> result;
  for (std::size_t i = 0; i < test.expected.size(); i++) {
    Output o{p.program->outputs[i], test.expected[i]};
    o.step = std::max<std::int64_t>(1, (o.expected.size() + kLiteralOutputs - 1) / kLiteralOutputs);
    if (o.step > 1) o.step |= 1;  // odd, so that it runs through all positions of an even row
    o.compared = (o.expected.size() + o.step - 1) / o.step;
    if (o.compared > 0) result.push_back(std::move(o));
  }
  return result;
}

std::string inputs_text(const Project& p, const SelfTest& test) {
  std::string text;
  bool generator = false;
  for (std::size_t i = 0; i < test.inputs.size(); i++) {
    const int b = p.program->inputs[i];
    const Array& data = test.inputs[i];
    const std::string declared = fmt::format("{} {}[{}]", c_type(buffer_of(p, b)), array_of(p, b), count_macro(p, b));
    if (is_generated(data, test.seed, static_cast<int>(i))) {
      generator = true;
      text += "static " + declared + ";\n";
    } else if (data.size() == 0) {
      text += "static const " + declared + fmt::format(" = {{{}}};\n", c_literal(Scalar::of_int(data.dtype(), 0)));
    } else {
      text += "static const " + declared + " = {\n" + c_initializers(data, 0, data.size(), "  ") + "};\n";
    }
  }
  for (int b : p.program->outputs) text += fmt::format("static {} {}[{}];\n", c_type(buffer_of(p, b)), array_of(p, b), count_macro(p, b));
  if (!generator) return text;
  return text +
         "\n/* Reproducible input that needs no place in flash: a linear congruential generator, 24 bits a step. */\n"
         "static uint32_t next_random(uint32_t *seed) {\n"
         "  *seed = *seed * 1664525u + 1013904223u;\n"
         "  return *seed >> 8;\n"
         "}\n";
}

std::string fill_text(const Project& p, const SelfTest& test) {
  std::string text;
  for (std::size_t i = 0; i < test.inputs.size(); i++) {
    if (!is_generated(test.inputs[i], test.seed, static_cast<int>(i))) continue;
    const int b = p.program->inputs[i];
    text += fmt::format("  seed = 0x{:08x}u;\n  for (i = 0; i < {}u; i++) {}[i] = {};\n", first_state(test.seed, static_cast<int>(i)),
                        test.inputs[i].size(), array_of(p, b), random_expression(buffer_of(p, b).dtype));
  }
  if (text.empty()) return "";
  return "static void fill_inputs(void) {\n  uint32_t seed;\n  size_t i;\n" + text + "}\n";
}

std::string expected_text(const Project& p, const std::vector<Output>& outputs) {
  std::string text;
  for (const Output& o : outputs) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(o.compared * bytes_of(o.expected.dtype())));
    for (std::int64_t i = 0; i < o.compared; i++) store_scalar(o.expected.dtype(), bytes.data(), i, o.expected.at(i * o.step));
    const Array picked(o.expected.dtype(), {o.compared}, std::move(bytes));
    if (o.step > 1) text += fmt::format("/* every {}th element of {} */\n", o.step, name_of_buffer(p, o.buffer));
    text += fmt::format("static const {} expected_{}[{}] = {{\n{}}};\n", c_type(buffer_of(p, o.buffer)), name_of_buffer(p, o.buffer),
                        o.compared, c_initializers(picked, 0, o.compared, "  "));
  }
  return text;
}

double largest(const Array& data) {
  double result = 0;
  for (std::int64_t i = 0; i < data.size(); i++) {
    const double value = std::abs(data.double_at(i));
    if (std::isfinite(value)) result = std::max(result, value);
  }
  return result;
}

std::string half_text(DType dtype) {
  if (dtype == DType::BFloat16) {
    return "static float bfloat16_value(uint16_t bits) {\n"
           "  const uint32_t wide = (uint32_t)bits << 16;\n"
           "  float value;\n"
           "  memcpy(&value, &wide, sizeof value);\n"
           "  return value;\n"
           "}\n\n";
  }
  return "static float float16_value(uint16_t bits) {\n"
         "  const int exponent = (bits >> 10) & 31;\n"
         "  const float fraction = (float)(bits & 1023);\n"
         "  float value;\n"
         "  if (exponent == 31) {\n"
         "    value = fraction == 0.0f ? INFINITY : NAN;\n"
         "  } else if (exponent == 0) {\n"
         "    value = ldexpf(fraction, -24);\n"
         "  } else {\n"
         "    value = ldexpf(fraction + 1024.0f, exponent - 25);\n"
         "  }\n"
         "  return (bits & 0x8000) != 0 ? -value : value;\n"
         "}\n\n";
}

// For comparisons that must be exact: with 0, of values that are equal to the bit, of a NaN with itself.
constexpr std::string_view kExactPragma =
    "#if defined(__GNUC__)\n"
    "#pragma GCC diagnostic ignored \"-Wfloat-equal\"\n"
    "#endif\n";

std::string near_text(bool wide) {
  const char* type = wide ? "double" : "float";
  return fmt::format(
      "static int is_near_{0}({0} got, {0} want, {0} relative, {0} absolute) {{\n"
      "  const {0} apart = got < want ? want - got : got - want;\n"
      "  if (got == want || (got != got && want != want)) return 1; /* infinities; NaN */\n"
      "  return isfinite(apart) && apart <= relative * (want < 0 ? -want : want) + absolute;\n"
      "}}\n\n",
      type);
}

std::string compare_text(const Project& p, const SelfTest& test, const Output& o) {
  const std::string& name = name_of_buffer(p, o.buffer);
  const std::string array = array_of(p, o.buffer);
  const DType dtype = o.expected.dtype();
  const std::string index = o.step > 1 ? fmt::format("i * {}u", o.step) : "i";
  std::string condition = fmt::format("{}[{}] == expected_{}[i]", array, index, name);
  if (is_float(dtype)) {
    const bool wide = dtype == DType::Float64;
    const DType as = wide ? DType::Float64 : DType::Float32;
    const auto value = [&](const std::string& element) {
      return is_half(dtype) ? fmt::format("{}_value({})", etch::name_of(dtype), element) : element;
    };
    // A float16 or bfloat16 result may be rounded in the other direction.
    const double step = dtype == DType::Float16 ? 1.0 / 512 : dtype == DType::BFloat16 ? 1.0 / 64 : 0;
    condition = fmt::format("is_near_{}({}, {}, {}, {})", wide ? "double" : "float", value(fmt::format("{}[{}]", array, index)),
                            value(fmt::format("expected_{}[i]", name)), c_literal(Scalar::of_double(as, std::max(test.relative, step))),
                            c_literal(Scalar::of_double(as, test.absolute * largest(o.expected))));
  }
  return fmt::format(
      "  for (i = 0; i < {0}u; i++) {{\n"
      "    if (!({1})) {{\n"
      "      printf(\"FAIL {2}[%lu]\\n\", (unsigned long)({3}));\n"
      "      return 1;\n"
      "    }}\n"
      "  }}\n",
      o.compared, condition, name, index);
}

std::string helpers_text(const std::vector<Output>& outputs) {
  auto any = [&](auto test) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) { return test(o.expected.dtype()); });
  };
  std::string text;
  if (any(is_float)) text += std::string(kExactPragma) + "\n";
  if (any([](DType d) { return d == DType::Float16; })) text += half_text(DType::Float16);
  if (any([](DType d) { return d == DType::BFloat16; })) text += half_text(DType::BFloat16);
  if (any([](DType d) { return is_float(d) && d != DType::Float64; })) text += near_text(false);
  if (any([](DType d) { return d == DType::Float64; })) text += near_text(true);
  return text;
}

std::string blob_text(const Project& p) {
  return fmt::format(
      "/* The weights file, read whole; firmware would place it in flash instead. */\n"
      "{2}\n"
      "static int read_weights(const char *path) {{\n"
      "  unsigned char *const weights = {3};\n"
      "  FILE *const file = fopen(path, \"rb\");\n"
      "  size_t bytes;\n"
      "  if (file == NULL) return 0;\n"
      "  bytes = fread(weights, 1, {0}_WEIGHTS_BYTES, file);\n"
      "  fclose(file);\n"
      "  return {1}_check_weights(weights, bytes) == ETCH_OK;\n"
      "}}\n\n",
      p.state_macro(), p.state_name(),
      static_memory("weights_block", p.state_macro() + "_WEIGHTS_BYTES", p.state_macro() + "_WEIGHTS_ALIGN", p.weights_align()),
      blob_address(p));
}

// With the sizes of the outputs in this run; with open sizes the arrays may be larger.
Printing printing(const Project& p, const SelfTest& test) {
  std::vector<PrintedArray> arrays;
  for (int b : p.program->outputs) {
    std::int64_t count = 1;
    for (const Sint& d : buffer_of(p, b).shape) count *= evaluate(d, test.variables);
    if (count > 0) arrays.push_back({name_of_buffer(p, b), array_of(p, b), buffer_of(p, b).dtype, count});
  }
  return printing_of(arrays, test.prints_sums);
}

bool is_in_arena(const Project& p, int b) { return !p.form->on_device && p.has_place_in_arena(b); }

std::string place_in_arena(const Project& p, int b) {
  const int arena = p.plan->placements[static_cast<std::size_t>(b)].pool;
  return fmt::format("((unsigned char *)({}) + {})", arena_address(p, static_cast<std::size_t>(arena)), offset_macro(p, b));
}

std::string argument_of(const Project& p, int b) {
  if (buffer_of(p, b).by_value) return array_of(p, b) + "[0]";
  if (!is_in_arena(p, b)) return array_of(p, b);
  const bool is_input = buffer_of(p, b).kind == BufferKind::Input;
  return fmt::format("({}{} *)(void *){}", is_input ? "const " : "", c_type(buffer_of(p, b)), place_in_arena(p, b));
}

// A run on inputs in the arena, which overwrites them: they are copied there before each run, and outputs from there after it.
std::string run_in_arena(const Project& p, const std::string& call) {
  std::string copies, back;
  for (int b : p.program->inputs)
    if (is_in_arena(p, b)) copies += fmt::format("  memcpy({}, {}, sizeof {});\n", place_in_arena(p, b), array_of(p, b), array_of(p, b));
  for (int b : p.program->outputs)
    if (is_in_arena(p, b)) back += fmt::format("  memcpy({}, {}, sizeof {});\n", array_of(p, b), place_in_arena(p, b), array_of(p, b));
  return fmt::format("static etch_status run_in_arena(void) {{\n  etch_status status;\n{}  status = {};\n{}  return status;\n}}\n\n",
                     copies, call, back);
}

std::string call_arguments(const Project& p, const SelfTest& test) {
  std::vector<std::string> result = p.form->selftest_arguments(p);
  for (const ProgramVariable& v : p.program->variables) result.push_back(std::to_string(test.variables.at(v.name)));
  for (int b : p.program->inputs) result.push_back(argument_of(p, b));
  for (int b : p.program->outputs) result.push_back(argument_of(p, b));
  return list_text(result);
}

std::string main_text(const Project& p, const SelfTest& test, const std::vector<Output>& outputs, const SelfTestParts& parts, bool fill) {
  const bool blob = p.is_blob() || p.starts_of_blob();
  std::string text = blob ? "int main(int argc, char **argv) {\n" : "int main(void) {\n";
  text += parts.declarations;
  text += "  etch_status status;\n";
  if (!outputs.empty()) text += "  size_t i;\n";
  if (test.runs > 1 && !parts.runs_itself) text += "  int run;\n";
  text += parts.checks;
  if (blob)
    text += fmt::format(
        "  if (!read_weights(argc > 1 ? argv[1] : \"{}_weights.bin\")) {{\n"
        "    printf(\"FAIL weights\\n\");\n    return 1;\n  }}\n",
        p.state_name());
  if (fill) text += "  fill_inputs();\n";
  text += parts.reset;
  text +=
      test.runs > 1 && !parts.runs_itself
          ? fmt::format("  status = ETCH_OK;\n  for (run = 0; run < {} && status == ETCH_OK; run++) status = {};\n", test.runs, parts.call)
          : fmt::format("  status = {};\n", parts.call);
  text +=
      "  if (status != ETCH_OK) {\n"
      "    printf(\"FAIL status %d\\n\", (int)status);\n"
      "    return 1;\n"
      "  }\n";
  if (test.expected.empty()) return text + printing(p, test).calls + "  printf(\"RAN, no result to compare with\\n\");\n  return 0;\n}\n";
  for (const Output& o : outputs) text += compare_text(p, test, o);
  return text + "  printf(\"PASS\\n\");\n  return 0;\n}\n";
}

}  // namespace

std::string blob_address(const Project& p) {
  return static_memory_address("weights_block", p.state_macro() + "_WEIGHTS_ALIGN", p.weights_align());
}

Array lcg_input(DType dtype, const std::vector<std::int64_t>& shape, std::uint32_t seed, int number) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  std::vector<std::byte> bytes(static_cast<std::size_t>(size * bytes_of(dtype)));
  std::uint32_t state = first_state(seed, number);
  for (std::int64_t i = 0; i < size; i++) store_scalar(dtype, bytes.data(), i, random_scalar(dtype, next_random(state)));
  return {dtype, shape, std::move(bytes)};
}

std::string selftest_source(const Project& p, const SelfTest& test) {
  check(test.inputs.size() == p.program->inputs.size() && (test.expected.empty() || test.expected.size() == p.program->outputs.size()) &&
            std::ranges::all_of(p.program->variables, [&](const ProgramVariable& v) { return test.variables.contains(v.name); }),
        "a self-test has a value for every input and variable, and for every output or for none");
  const std::vector<Output> outputs = outputs_of(p, test);
  const std::string fill = fill_text(p, test);
  const bool compares = !test.expected.empty();
  std::string text = p.first_line();
  text += test.runs > 1 ? fmt::format(" Runs the model {} times on one input, which its state tells apart, and ", test.runs)
                        : " Runs the model on one input and ";
  text += compares ? "compares with the host's reference. */\n"
          : p.program->outputs.empty()
              ? "compares nothing: all that it computes is its state. */\n"
              : "prints a checksum of each output:\n * the reference was too much work (etch compile --selftest interp). */\n";
  if (has_workers(p)) text += workers_selftest_first(p);
  text += fmt::format("#include \"{}.h\"\n\n", p.name);
  SelfTestParts parts = p.form->selftest(p, call_arguments(p, test), test.runs);
  const auto in_arena = [&](int b) { return is_in_arena(p, b); };
  if (std::ranges::any_of(p.program->inputs, in_arena) || std::ranges::any_of(p.program->outputs, in_arena)) {
    parts.functions += run_in_arena(p, parts.call);
    parts.call = "run_in_arena()";
  }
  text += parts.includes;
  text += "#include <math.h>\n#include <stdbool.h>\n#include <stdio.h>\n";
  if (has_workers(p)) text += "#include <stdlib.h>\n";
  text += "#include <string.h>\n\n";
  text += parts.memory;
  text += inputs_text(p, test) + expected_text(p, outputs) + "\n" + helpers_text(outputs);
  if (!compares) text += printing(p, test).functions;
  if (!fill.empty()) text += fill + "\n";
  if (p.is_blob() || p.starts_of_blob()) text += blob_text(p);
  text += parts.functions;
  return text + main_text(p, test, outputs, parts, !fill.empty());
}

}  // namespace etch
