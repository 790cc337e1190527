// C and OpenCL as values.
#include <string>

#include "base/error.h"
#include "renderer/cstyle.h"

namespace etch {

// In the order of DType: bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64.
constinit const CStyle kC{
    .name = "c",
    .kernel_prefix = "static void ",
    .arguments_in_table = true,
    .value_type = {"bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "float", "float",
                   "float", "double"},
    .store_type = {"bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint16_t", "uint16_t",
                   "float", "double"},
    .load = {"", "", "", "", "", "", "", "", "", "etch_half_to_float($b[$i])", "etch_bfloat16_to_float($b[$i])", "", ""},
    .store = {"", "", "", "", "", "", "", "", "", "$b[$i] = etch_float_to_half($v)", "$b[$i] = etch_float_to_bfloat16($v)", "", ""},
    .math_suffix = "f",
    .i64_literal = "INT64_C($0)",
    .u64_literal = "UINT64_C($0)",
    .i32_min = "INT32_MIN",
    .i64_min = "INT64_MIN",
    .infinity = "INFINITY",
    .nan = "NAN",
    .infinity64 = "(double)INFINITY",
    .nan64 = "(double)NAN",
};

// A bool in memory is a byte (a kernel's argument may not point to bool); bfloat16 is a ushort.
constinit const CStyle kOpenCl{
    .name = "opencl",
    .grid = true,
    .kernel_prefix = "__kernel void ",
    .global_prefix = "__global ",
    .local_prefix = "__local ",
    .value_type = {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "float", "float", "double"},
    .store_type = {"uchar", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "ushort", "float", "double"},
    .load = {"$b[$i] != 0", "", "", "", "", "", "", "", "", "vload_half($i, $b)", "etch_bfloat16_to_float($b[$i])", "", ""},
    .store = {"$b[$i] = (uchar)($v)", "", "", "", "", "", "", "", "", "vstore_half($v, $i, $b)", "$b[$i] = etch_float_to_bfloat16($v)", "",
              ""},
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
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
};

const CStyle& style_named(std::string_view name) {
  for (const CStyle* style : {&kC, &kOpenCl})
    if (style->name == name) return *style;
  check(false, "a language has a table: " + std::string(name));
  return kC;
}

}  // namespace etch
