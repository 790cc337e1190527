// Program: what TinyJit would record of one run, and all that a device needs to replay it or emit needs to print it:
// kernels, their calls in order, buffers, constants, variables. It knows no device and no file format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch {

enum class BufferKind : std::uint8_t { Input, Output, Intermediate, Constant };

struct ProgramBuffer {
  std::string name;  // ONNX name of the value or weight; unique within the program
  BufferKind kind{};
  DType dtype{};
  std::vector<Sint> shape;        // may hold Variables; empty for a scalar
  std::int64_t max_elements = 0;  // of the largest shape that the variables allow
  Array data;                     // Constant only
  bool laid_out = false;          // Constant: data is in the order in which its kernels read it, not in that of shape

  std::int64_t max_bytes() const { return max_elements * bytes_of(dtype); }
};

/// One function of emitted code. Equal kernels are one, called several times.
struct ProgramKernel {
  std::string name;                           // C identifier without prefix: "conv_relu", unique within the program
  std::string shape_name;                     // tinygrad's: "r_4_8_8_3_3" after optimisation
  std::string opts;                           // "UPCAST 0 4, UNROLL 1 3": what the optimiser did, empty if nothing
  const LazyOp* ast = nullptr;                // owned by the program's graph; what INTERP evaluates
  std::string uops;                           // printed, for --dump
  std::string source;                         // the function in the program's language, named `name`; empty for interp
  std::vector<DType> arg_dtypes;              // output first, then inputs, as in Call::buffers
  std::vector<std::string> arg_names;         // what the source calls them
  std::vector<std::string> variables;         // names, in the order in which the kernel takes them after the buffers
  std::vector<Sint> global_size, local_size;  // launch dimensions, empty for C
  std::int64_t indices_proved = 0;            // LOAD and STORE indices of the linearised kernel, each proved in bounds
  std::vector<std::string> helpers;           // functions of runtime_c that the source calls ("etch_exp2f", "etch_half_to_float")
};

struct ProgramCall {
  int kernel = 0;
  std::vector<int> buffers;        // output first, then inputs in the order of the kernel's arguments
  std::vector<std::string> nodes;  // names of the ONNX nodes that the kernel computes, in graph order
  std::string short_name;          // C identifier of the main one: "conv_op2"
  std::vector<bool> may_alias;     // for each buffer: the output may be written over it (each element is read only at the
                                   // position that is then written); false for the output itself
  Sint macs = 0, flops = 0;        // work.macs counts multiply-accumulates
  Sint bytes = 0;                  // read and written at least once
};

struct ProgramVariable {
  std::string name;  // "batch"
  std::int64_t min = 0, max = 0;
};

struct Program {
  std::string language;  // "interp", "c", "opencl"
  std::vector<ProgramVariable> variables;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramCall> calls;
  std::vector<int> inputs, outputs;   // buffers, in the order of the model's
  std::vector<std::string> folded;    // nodes that no call computes
  std::shared_ptr<const void> owner;  // keeps alive what the pointers point into
};

/// Checks that every reference is in range, every buffer is written before it is read, constants have data, and names are
/// unique; throws InternalError.
void verify(const Program& program);
/// Buffers, kernels and calls, one a line.
std::string to_text(const Program& program);

}  // namespace etch
