// Custom operators whose function does not fit, is not there or misbehaves.
#pragma once

#include "error_case.h"

namespace etch {

/// A run of y = Scale(x), alpha 0.5, by the function scale of a file.
inline ErrorCase custom(const char* name, const char* file, std::vector<const char*> says, std::vector<std::string> args = {}) {
  ErrorCase row{name, {"run", "{m}", "--backend", "c", "--custom", "com.example.Scale=scale", "--custom-file", "{c}"}, std::move(says)};
  row.args.insert(row.args.end(), args.begin(), args.end());
  row.model = "(float[4] x) => (float[4] y) { y = com.example.Scale <alpha = 0.5> (x) }";
  row.custom = file;
  return row;
}

inline std::vector<ErrorCase> custom_cases() {
  const char* const right = "void scale(float *y, const float *x, float alpha) { int i; for (i = 0; i < 4; i++) y[i] = alpha * x[i]; }\n";
  const char* const place = "node 'y' (com.example.Scale): custom function scale() of custom.c: it ";
  std::vector<ErrorCase> rows{
      custom(
          "wrong_prototype", "void scale(float *y, float *x, float alpha) { y[0] = alpha * x[0]; }\n",
          {"{m}: node 'y' (Scale): the custom function scale does not fit the node: parameter 2 'float *x' is for input 0 ('x', float32), "
           "which it only reads: const is missing\n",
           "\n  expected: void scale(float *y, const float *x, float alpha)\n",
           "\n  found:    void scale(float *y, float *x, float alpha)   (custom.c:1)\n", "help: correct custom.c: pointers first"}),
      custom("crashing_function", "void scale(float *y, const float *x, float alpha) { *(volatile float *)0 = y[0] = alpha * x[0]; }\n",
             {place, "it crashes: killed by signal 11 (Segmentation fault)"}),
      custom("function_that_writes_out_of_bounds",
             "void scale(float *y, const float *x, float alpha) { int i; for (i = 0; i <= 4; i++) y[i] = alpha * x[i % 4]; }\n",
             {place, "writes outside of its output, at index 4, there are 4 elements"}),
      custom("function_not_defined", "void scales(void) { }\n",
             {"--custom com.example.Scale=scale: no file of --custom-file defines the function; they define 'scales'"}),
      custom("function_that_calls_what_is_not_there", "void a(float *);\nvoid scale(float *y, const float *x, float alpha) { a(y); }\n",
             {"--custom-file custom.c: C compiler for functions in C ", "help: define what is missing in a file of --custom-file"}),
      custom("custom_file_that_does_not_parse", "void scale(float *y {\n",
             {"--custom-file custom.c: it is not C99 that compiles:\n  custom.c:1: expected ')'"}),
      custom("custom_file_absent", right, {"--custom-file {d}/no.c: is not there"}, {"--custom-file", "{d}/no.c"}),
      custom("custom_file_is_a_folder", right, {"--custom-file {d}: is a folder"}, {"--custom-file", "{d}"}),
      custom("custom_file_is_a_device", right, {"--custom-file /dev/null: is a pipe, a device or the like"},
             {"--custom-file", "/dev/null"}),
      custom("custom_file_of_another_kind", right, {"--custom-file {m}: is neither NAME.c nor NAME.h"}, {"--custom-file", "{m}"}),
      custom("custom_file_twice", right, {"--custom-file {c}: is the second file called custom.c"}, {"--custom-file", "{c}"}),
  };
  rows.push_back(custom("function_called_as_a_parameter", "void arg(float *y, const float *x, float alpha) { y[0] = alpha * x[0]; }\n",
                        {"custom function arg() of custom.c: the files of the project have something of this name"}));
  rows.back().args[5] = "com.example.Scale=arg";
  rows.push_back(
      custom("custom_without_file", nullptr, {"--custom com.example.Scale=scale: no file of --custom-file defines the function"}));
  rows.back().args = {"run", "{m}", "--custom", "com.example.Scale=scale"};
  rows.push_back(custom("custom_not_given", nullptr,
                        {"{m}: node 'y' (Scale): its operator is of the domain 'com.example'", "--custom com.example.Scale=FUNCTION"}));
  rows.back().args = {"run", "{m}"};
  rows.push_back(custom("function_called_as_a_parameter_on_a_device",
                        "void queue(float *y, const float *x, float alpha) { y[0] = alpha * x[0]; }\n",
                        {"custom function queue() of custom.c: the files of the project have something of this name"}));
  rows.back().args = {"compile",       "{m}", "--target", "opencl", "-o", "{d}/out", "--custom", "com.example.Scale=queue",
                      "--custom-file", "{c}"};
  return rows;
}

}  // namespace etch
