#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/runtime_text.h"
#include "renderer/cstyle.h"
#include "renderer/language.h"
#include "renderer/llvm.h"
#include "target/target.h"

namespace etch {
namespace {

// In the order of DType: bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64.
constexpr CStyle kCStyle{
    .kernel_prefix = "static void ",
    .function_prefix = "static inline ",
    .arguments_in_table = true,
    .value_type = {"bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "float", "float",
                   "float", "double"},
    .store_type = {"bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint16_t", "uint16_t",
                   "float", "double"},
    .load = {"", "", "", "", "", "", "", "", "", "#half_to_float($b[$i])", "#bfloat16_to_float($b[$i])", "", ""},
    .store = {"", "", "", "", "", "", "", "", "", "$b[$i] = #float_to_half($v)", "$b[$i] = #float_to_bfloat16($v)", "", ""},
    .math_suffix = "f",
    .i64_literal = "INT64_C($0)",
    .u64_literal = "UINT64_C($0)",
    .i32_min = "INT32_MIN",
    .i64_min = "INT64_MIN",
    .infinity = "INFINITY",
    .nan = "NAN",
    .infinity64 = "(double)INFINITY",
    .nan64 = "(double)NAN",
    .stores_apart = "ETCH_NO_VECTORS",
};

// A bool in memory is a byte (a kernel's argument may not point to bool); bfloat16 is a ushort.
constexpr CStyle kOpenClStyle{
    .kernel_prefix = "__kernel void ",
    .function_prefix = "static ",
    .global_prefix = "__global ",
    .local_prefix = "__local ",
    .value_type = {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "float", "float", "double"},
    .store_type = {"uchar", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "ushort", "float", "double"},
    .load = {"$b[$i] != 0", "", "", "", "", "", "", "", "", "vload_half($i, $b)", "#bfloat16_to_float($b[$i])", "", ""},
    .store = {"$b[$i] = (uchar)($v)", "", "", "", "", "", "", "", "", "vstore_half($v, $i, $b)", "$b[$i] = #float_to_bfloat16($v)", "", ""},
    .math_suffix = "",
    .i64_literal = "$0L",
    .u64_literal = "$0UL",
    .i32_min = "INT_MIN",
    .i64_min = "LONG_MIN",
    .infinity = "INFINITY",
    .nan = "NAN",
    .infinity64 = "(double)INFINITY",
    .nan64 = "(double)NAN",
    .group_id = "(int)get_group_id($0)",
    .local_id = "(int)get_local_id($0)",
    .item_id = "(int)get_global_id($0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
};

// A bool is a byte in memory too. Half and bfloat16 are bits in memory: only their conversions, which are etch_math.h's, touch them.
constexpr CStyle kCudaStyle{
    .kernel_prefix = "extern \"C\" __global__ void ",
    .function_prefix = "static __device__ inline ",
    .local_prefix = "__shared__ ",
    .value_type = {"bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long long",
                   "unsigned long long", "float", "float", "float", "double"},
    .store_type = {"bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long long",
                   "unsigned long long", "unsigned short", "unsigned short", "float", "double"},
    .load = {"", "", "", "", "", "", "", "", "", "#half_to_float($b[$i])", "#bfloat16_to_float($b[$i])", "", ""},
    .store = {"", "", "", "", "", "", "", "", "", "$b[$i] = #float_to_half($v)", "$b[$i] = #float_to_bfloat16($v)", "", ""},
    .math_suffix = "f",
    .i64_literal = "$0ll",
    .u64_literal = "$0ull",
    .i32_min = "(-2147483647 - 1)",
    .i64_min = "(-9223372036854775807ll - 1)",
    .infinity = "INFINITY",
    .nan = "NAN",
    .infinity64 = "(double)INFINITY",
    .nan64 = "(double)NAN",
    .group_id = "(int)blockIdx.$D",
    .local_id = "(int)threadIdx.$D",
    .item_id = "(int)(blockIdx.$D * blockDim.$D + threadIdx.$D)",
    .barrier = "__syncthreads()",
    .group_bound = "__launch_bounds__($0) ",  // without it a thread may get more registers than there are for the whole group
};

std::string include_math(const std::vector<std::string>& helpers) {
  return helpers.empty() ? "" : std::string("#include \"etch_math.h\"\n") + (uses_quant(helpers) ? "#include \"etch_quant.h\"\n" : "");
}

std::string text_of_quant(const std::vector<std::string>& helpers) {
  return uses_quant(helpers) ? std::string(runtime_text("etch_quant.h")) : "";
}

// OpenCL C has no files to include.
std::string copy_of_math(const std::vector<std::string>& helpers) {
  return helpers.empty() ? "" : std::string(runtime_text("etch_math.h")) + text_of_quant(helpers);
}

// CUDA compiled at run time has none either, and gets INFINITY and NAN from there.
std::string math_always(const std::vector<std::string>& helpers) {
  return std::string(runtime_text("etch_math.h")) + text_of_quant(helpers);
}

}  // namespace

bool uses_quant(const std::vector<std::string>& helpers) {
  const std::string_view text = runtime_text("etch_quant.h"), math = runtime_text("etch_math.h");
  return std::ranges::any_of(helpers, [&](const std::string& h) {
    const std::size_t lanes = h.find_last_not_of("0123456789");
    const bool has_lanes = lanes + 1 < h.size() && h[lanes] == 'x' && std::ranges::count(h, '_') > 1;  // one text for all of them
    const bool is_of_vectors = has_lanes && math.find(h.substr(0, lanes + 1) + "##n(") == std::string_view::npos;
    const bool is_named = text.find("(" + h + ",") != std::string_view::npos || text.find(" " + h + ",") != std::string_view::npos;
    const bool stands_there = text.find(" " + h + "(") != std::string_view::npos && math.find(" " + h + "(") == std::string_view::npos;
    return is_of_vectors || is_named || stands_there;  // a macro gets its name, or the function is there
  });
}

constinit const Language kC{.name = "c", .style = &kCStyle, .render = render_c, .prelude = include_math};

constinit const Language kOpenCl{
    .name = "opencl",
    .grid = true,
    .local_memory = true,
    .style = &kOpenClStyle,
    .render = render_c,
    .prelude = copy_of_math,
};

constinit const Language kCuda{
    .name = "cuda",
    .grid = true,
    .local_memory = true,
    .limits = {.groups = {INT32_MAX, 65535, 65535}},
    .style = &kCudaStyle,
    .render = render_c,
    .prelude = math_always,
};

constinit const Language kLlvm{.name = "llvm", .style = nullptr, .render = render_llvm, .prelude = llvm_math};

Table<Language>& languages() {
  static Table<Language> table{&kC, &kOpenCl, &kCuda, &kLlvm};
  return table;
}

const Language* find_language(std::string_view name) { return languages().find(&Language::name, name); }

bool is_language_of(const Target& target, const Language& language) { return target.language == language.name; }

const Language& language_of(const Target& target) {
  if (const Language* found = find_language(target.language)) return *found;
  std::string known;
  for (const Language* row : languages().rows()) known += (known.empty() ? "" : ", ") + std::string(row->name);
  throw UserError(fmt::format("{}:{}", target.file.string(), target.language_line),
                  fmt::format("<language>: the text is '{}', accepted are {}", target.language, known));
}

}  // namespace etch
