#include "base/naming.h"

#include <algorithm>
#include <iterator>

namespace etch {
namespace {

// Keywords of C99 to C23 and C++20, and words that <stdint.h>, <stdbool.h> and <stddef.h> define.
constexpr std::string_view kReserved[] = {
    "NULL",          "alignas",     "alignof",  "and",       "and_eq",    "asm",      "auto",         "bitand",     "bitor",
    "bool",          "break",       "case",     "catch",     "char",      "char16_t", "char32_t",     "char8_t",    "class",
    "co_await",      "co_return",   "co_yield", "compl",     "complex",   "concept",  "const",        "const_cast", "consteval",
    "constexpr",     "constinit",   "continue", "decltype",  "default",   "delete",   "do",           "double",     "dynamic_cast",
    "else",          "enum",        "errno",    "explicit",  "export",    "extern",   "false",        "float",      "for",
    "friend",        "goto",        "if",       "imaginary", "inline",    "int",      "int16_t",      "int32_t",    "int64_t",
    "int8_t",        "long",        "main",     "mutable",   "namespace", "new",      "noexcept",     "not",        "not_eq",
    "nullptr",       "offsetof",    "operator", "or",        "or_eq",     "private",  "protected",    "ptrdiff_t",  "public",
    "register",      "requires",    "restrict", "return",    "short",     "signed",   "size_t",       "sizeof",     "static",
    "static_assert", "static_cast", "struct",   "switch",    "template",  "this",     "thread_local", "throw",      "true",
    "try",           "typedef",     "typeid",   "typename",  "typeof",    "uint16_t", "uint32_t",     "uint64_t",   "uint8_t",
    "union",         "unsigned",    "using",    "virtual",   "void",      "volatile", "wchar_t",      "while",      "xor",
    "xor_eq"};

// Macros of the C library and of compilers, functions and types that C files of a project see; functions of <math.h> also with
// an f or l behind them.
constexpr std::string_view kLibrary[] = {"BIG_ENDIAN",
                                         "BUFSIZ",
                                         "BYTE_ORDER",
                                         "CHAR_BIT",
                                         "EOF",
                                         "EXIT_FAILURE",
                                         "EXIT_SUCCESS",
                                         "FD_CLR",
                                         "FD_ISSET",
                                         "FD_SET",
                                         "FD_SETSIZE",
                                         "FD_ZERO",
                                         "FILE",
                                         "HAVE_INITFINI_ARRAY",
                                         "I",
                                         "INFINITY",
                                         "LITTLE_ENDIAN",
                                         "MAXFLOAT",
                                         "NAN",
                                         "NFDBITS",
                                         "PDP_ENDIAN",
                                         "SNAN",
                                         "SNANF",
                                         "SNANL",
                                         "WCONTINUED",
                                         "WEXITED",
                                         "WNOHANG",
                                         "WNOWAIT",
                                         "WSTOPPED",
                                         "WUNTRACED",
                                         "alloca",
                                         "arm",
                                         "far",
                                         "fpclassify",
                                         "i386",
                                         "math_errhandling",
                                         "near",
                                         "strdupa",
                                         "strndupa",
                                         "abort",
                                         "abs",
                                         "assert",
                                         "atexit",
                                         "bcmp",
                                         "bcopy",
                                         "bzero",
                                         "calloc",
                                         "clock",
                                         "div",
                                         "double_t",
                                         "exit",
                                         "fclose",
                                         "ffs",
                                         "float_t",
                                         "fopen",
                                         "fprintf",
                                         "fputs",
                                         "fread",
                                         "free",
                                         "fwrite",
                                         "getc",
                                         "getenv",
                                         "gets",
                                         "index",
                                         "isfinite",
                                         "isgreater",
                                         "isinf",
                                         "isless",
                                         "isnan",
                                         "isnormal",
                                         "isunordered",
                                         "labs",
                                         "linux",
                                         "llabs",
                                         "malloc",
                                         "memchr",
                                         "memcmp",
                                         "memcpy",
                                         "memmove",
                                         "memset",
                                         "perror",
                                         "printf",
                                         "putc",
                                         "putchar",
                                         "puts",
                                         "qsort",
                                         "rand",
                                         "random",
                                         "read",
                                         "realloc",
                                         "remove",
                                         "rename",
                                         "rewind",
                                         "rindex",
                                         "scanf",
                                         "select",
                                         "setbuf",
                                         "signal",
                                         "signbit",
                                         "signgam",
                                         "snprintf",
                                         "sprintf",
                                         "srand",
                                         "sscanf",
                                         "stderr",
                                         "stdin",
                                         "stdout",
                                         "strcat",
                                         "strchr",
                                         "strcmp",
                                         "strcpy",
                                         "strdup",
                                         "strlen",
                                         "strncmp",
                                         "strncpy",
                                         "strstr",
                                         "strtol",
                                         "system",
                                         "time",
                                         "tmpfile",
                                         "ungetc",
                                         "unix",
                                         "vprintf",
                                         "write"};
constexpr std::string_view kMath[] = {
    "acos",       "acosh", "asin",  "asinh",     "atan",   "atan2",  "atanh", "cbrt",   "ceil",    "copysign", "cos",         "cosh",
    "drem",       "erf",   "erfc",  "exp",       "exp10",  "exp2",   "expm1", "fabs",   "fdim",    "floor",    "fma",         "fmax",
    "fmin",       "fmod",  "frexp", "gamma",     "hypot",  "ilogb",  "j0",    "j1",     "jn",      "ldexp",    "lgamma",      "llrint",
    "llround",    "log",   "log10", "log1p",     "log2",   "logb",   "lrint", "lround", "modf",    "nan",      "nearbyint",   "nextafter",
    "nexttoward", "pow",   "pow10", "remainder", "remquo", "rint",   "round", "scalb",  "scalbln", "scalbn",   "significand", "sin",
    "sincos",     "sinh",  "sqrt",  "tan",       "tanh",   "tgamma", "trunc", "y0",     "y1",      "yn"};

// What CUDA declares for kernels besides C's functions; some also with an f behind them.
constexpr std::string_view kCuda[] = {"blockDim",  "blockIdx", "clock64", "cospi",   "cyl_bessel_i0", "cyl_bessel_i1", "dim3",
                                      "erfcinv",   "erfcx",    "erfinv",  "fdivide", "gridDim",       "llmax",         "llmin",
                                      "max",       "min",      "norm",    "norm3d",  "norm4d",        "normcdf",       "rcbrt",
                                      "rhypot",    "rnorm",    "rnorm3d", "rnorm4d", "rsqrt",         "sincospi",      "sinpi",
                                      "threadIdx", "ullmax",   "ullmin",  "umax",    "umin",          "warpSize",      "normcdfinv"};

template <std::size_t N>
bool is_one_of(const std::string_view (&words)[N], std::string_view text) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

// Families of macros: limits of types (INT8_MAX, SIG_ATOMIC_MIN), constants of <math.h> and <float.h>, of CUDA.
bool begins_macro_family(std::string_view text) {
  constexpr std::string_view kBegin[] = {"CUDART", "CUDA_", "NV_", "DBL_", "FLT_", "FP_", "HUGE_", "LDBL_", "MATH_", "MB_", "M_", "SNANF"};
  return std::any_of(std::begin(kBegin), std::end(kBegin), [&](std::string_view word) { return text.starts_with(word); });
}

bool ends_macro_family(std::string_view text) {
  constexpr std::string_view kEnd[] = {"_C", "_MAX", "_MIN", "_WIDTH"};
  const bool upper = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return upper && std::any_of(std::begin(kEnd), std::end(kEnd), [&](std::string_view word) { return text.ends_with(word); });
}

bool is_reserved(std::string_view text) {
  const bool typed = text.ends_with('f') || text.ends_with('l');
  return is_one_of(kReserved, text) || is_one_of(kLibrary, text) || is_one_of(kMath, text) || is_one_of(kCuda, text) ||
         ends_macro_family(text) ||
         (typed && (is_one_of(kMath, text.substr(0, text.size() - 1)) || is_one_of(kCuda, text.substr(0, text.size() - 1))));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::string c_identifier(std::string_view name) {
  std::string result;
  for (char c : name) {
    const bool keep = is_letter(c) || is_digit(c);
    if (keep)
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty()) return "unnamed";
  if (is_digit(result.front())) result.insert(0, "n");
  if (const std::string lower = in_lower_case(result); lower == "etch" || lower.starts_with("etch_")) result.insert(0, "n_");
  if (begins_macro_family(result)) result.insert(0, "n_");  // whatever stands behind, a number too
  if (is_reserved(result)) result += '_';
  return result;
}

namespace {

// Words of OpenCL C that are none of C, and the functions and macros of its kernels.
bool is_opencl_word(std::string_view text) {
  constexpr std::string_view kWords[] = {"barrier", "constant", "event_t", "generic", "global",    "half",     "kernel",     "local",
                                         "mad",     "pipe",     "private", "quad",    "read_only", "select",   "read_write", "sampler_t",
                                         "uchar",   "uint",     "ulong",   "uniform", "ushort",    "vec_step", "write_only"};
  constexpr std::string_view kBegin[] = {"CLK_",  "CL_",     "as_",     "atom_",   "atomic_", "cl_",   "convert_", "get_",
                                         "half_", "image1d", "image2d", "image3d", "native_", "vload", "vstore"};
  constexpr std::string_view kVectors[] = {"char", "double", "float", "half", "int", "long", "short", "uchar", "uint", "ulong", "ushort"};
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  return is_one_of(kWords, text) || (digits < text.size() && is_one_of(kVectors, text.substr(0, digits))) ||
         std::any_of(std::begin(kBegin), std::end(kBegin), [&](std::string_view word) { return text.starts_with(word); });
}

}  // namespace

std::string size_identifier(std::string_view name) {
  constexpr std::string_view kOwn[] = {"acc", "g", "gid", "i", "idx", "l", "lane", "lid", "m", "r", "t", "tile", "v", "x"};
  const std::string result = c_identifier(name);
  const std::size_t digits = result.find_last_not_of("0123456789") + 1;
  const bool is_numbered = digits < result.size() && is_one_of(kOwn, std::string_view(result).substr(0, digits));
  return is_numbered || result == "arg" || is_opencl_word(result) ? "size_" + result : result;
}

std::string project_identifier(std::string_view name) {
  constexpr std::string_view kTaken[] = {
      "all",    "assert",    "aux",     "clean",   "codegen", "complex", "con",      "ctype",       "dbl",    "flt",     "ldbl",
      "uint",   "depend",    "errno",   "fenv",    "float",   "help",    "install",  "inttypes",    "iso646", "limits",  "locale",
      "m",      "math",      "nul",     "package", "prn",     "report",  "selftest", "setjmp",      "sig",    "signal",  "stdalign",
      "stdarg", "stdatomic", "stdbool", "stddef",  "stdint",  "stdio",   "stdlib",   "stdnoreturn", "string", "strings", "test",
      "tgmath", "threads",   "time",    "uchar",   "unistd",  "wchar",   "wctype"};
  constexpr std::size_t kLongest = 60;
  std::string result = c_identifier(c_identifier(name).substr(0, kLongest));
  if (is_one_of(kTaken, in_lower_case(result)) || is_one_of(kTaken, name)) result += result.back() == '_' ? "net" : "_net";
  return result;
}

std::string UniqueNames::add(const std::string& name) {
  std::string candidate = name;
  for (int& n = last_number_.try_emplace(name, 1).first->second; !taken_.insert(candidate).second;)
    candidate = name + "_" + std::to_string(++n);
  return candidate;
}

std::vector<std::string> project_symbols(std::string_view project) {
  std::vector<std::string> symbols;
  for (const char* what : {"_calls", "_check_weights", "_close", "_constants", "_kernels", "_open", "_profile", "_run", "_run_worker",
                           "_state_init", "_state_load", "_state_save", "_step"})
    symbols.push_back(std::string(project) + what);
  return symbols;
}

CNames::CNames(std::string_view project) {
  // Parameters, locals and tables of the emitted sources; NET_CALL_COUNT is no count of an input "call".
  constexpr std::string_view kOwn[] = {"after",   "arena",     "arena_bytes", "arg",        "args",         "blob",         "call",
                                       "calls",   "constants", "frame",       "host_bytes", "host_kernels", "host_program", "in_out",
                                       "io",      "io_align",  "kernels",     "loops",      "program",      "ranges",       "regions",
                                       "size_of", "states",    "status",      "variables",  "user",         "weights"};
  for (std::string_view word : kOwn) taken_.emplace(word);
  const std::string name = in_lower_case(project);
  for (const std::string& symbol : project_symbols(name)) taken_.insert(symbol);
  taken_.insert(name + "_session");  // a type
  for (char c : name) macro_prefix_ += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  macro_prefix_ += '_';
}

std::string CNames::add(std::string_view name) {
  std::string base = c_identifier(name);
  if (!macro_prefix_.empty() && base.starts_with(macro_prefix_)) base.insert(0, "n_");
  std::string candidate = base;
  // With a number behind it may be a word of the library.
  int& n = last_number_.try_emplace(base, 1).first->second;
  while (c_identifier(candidate) != candidate || !taken_.insert(in_lower_case(candidate)).second)
    candidate = base + (base.back() == '_' ? "" : "_") + std::to_string(++n);
  return candidate;
}

}  // namespace etch
