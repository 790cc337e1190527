#include "audit/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include "audit/digest.h"
#include "audit/prototype.h"
#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "support/expect_error.h"
#include "support/needs.h"
#include "target/target.h"

namespace etch {
namespace {

const std::filesystem::path kData = std::filesystem::path(ETCH_TEST_DATA) / "audit";

using LineAndRule = std::pair<int, std::string>;

/// A sample file contains its expected findings: "// expect: RULE RULE" at the end of a line, and "// options: WORD WORD" in the first.
struct Sample {
  std::set<LineAndRule> expected;
  AuditOptions options;
};

Sample read_sample(const std::filesystem::path& file) {
  Sample sample;
  std::ifstream in(file);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    number++;
    if (const std::size_t at = line.find("// expect: "); at != std::string::npos) {
      std::istringstream rules(line.substr(at + 11));
      for (std::string rule; rules >> rule;) sample.expected.emplace(number, rule);
    }
    if (!line.starts_with("// options: ")) continue;
    std::istringstream words(line.substr(12));
    for (std::string word; words >> word;) {
      if (word == "single") sample.options.single_precision = true;
      if (!word.starts_with("prefix=")) continue;
      std::istringstream prefixes(word.substr(7));
      for (std::string prefix; std::getline(prefixes, prefix, ',');) sample.options.prefixes.push_back(prefix);
    }
  }
  return sample;
}

TEST(Audit, Samples) {
  std::set<std::string> rules;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kData)) {
    const auto& file = entry.path();
    if (file.extension() != ".c" && file.extension() != ".cl") continue;
    SCOPED_TRACE(file.filename().string());
    files++;
    const Sample sample = read_sample(file);
    const AuditReport report = audit_c({file}, sample.options);
    std::set<LineAndRule> found;
    std::string all;
    for (const Finding& f : report.findings) {
      found.emplace(f.line, f.rule);
      rules.insert(f.rule);
      all += describe(f) + "\n";
      EXPECT_EQ(f.file, file.string());
    }
    EXPECT_EQ(found, sample.expected) << all;
    EXPECT_EQ(report.ok(), sample.expected.empty());
  }
  EXPECT_EQ(files, 13);
  EXPECT_EQ(rules, (std::set<std::string>{"parse", "heap", "recursion", "vla", "mutable-static", "unbounded-loop", "double", "prefix",
                                          "indirect-call", "function-pointer-cast", "asm"}));
}

TEST(Audit, TextsNameTheReason) {
  struct Row {
    const char* file;
    int line;
    const char* text;
  };
  constexpr Row kRows[] = {
      {"heap.c", 4, "in hidden: malloc takes memory while the program runs"},
      {"recursion.c", 4, "in fact: calls itself: fact -> fact [recursion]"},
      {"recursion.c", 17, "in walk: calls itself: walk -> calls_the_walker -> walk [recursion]"},
      {"loops_bad.c", 20, "in body_changes: the end of the loop is not evident: i is changed in more than one place [unbounded-loop]"},
      {"loops_bad.c", 37, "the type of i is too narrow for its bound"},
      {"prefix.c", 6, "the external symbol run starts with none of etch_, net_ [prefix]"},
      {"pointers.c", 9, "a call through a pointer of type their_hook that is none of the runtime's [indirect-call]"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    const AuditReport report = audit_c({kData / row.file}, read_sample(kData / row.file).options);
    bool there = false;
    for (const Finding& f : report.findings) there |= f.line == row.line && describe(f).find(row.text) != std::string::npos;
    EXPECT_TRUE(there);
  }
}

const AuditedFunction* function_named(const AuditReport& report, std::string_view name) {
  for (const AuditedFunction& f : report.functions)
    if (f.name == name) return &f;
  return nullptr;
}

TEST(Audit, ProjectIsCleanAndCounted) {
  AuditOptions options;
  options.single_precision = true;
  const auto start = std::chrono::steady_clock::now();
  const AuditReport report = audit_directory(kData / "project", options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const Finding& f : report.findings) ADD_FAILURE() << describe(f);
  EXPECT_LT(seconds, 5) << "tens of milliseconds a file on an idle machine";
  EXPECT_EQ(report.files, (std::vector<std::string>{"etch_runtime.c", "net.c", "net_weights.c", "selftest.c"}));
  EXPECT_EQ(report.bounded_loops, 2 + 5 + 0 + 1);
  EXPECT_EQ(report.table_functions, (std::vector<std::string>{"k0_matmul", "k1_max_exp"}));
  const AuditedFunction* walk = function_named(report, "etch_walk");
  ASSERT_NE(walk, nullptr);
  EXPECT_TRUE(walk->external);
  EXPECT_EQ(walk->stack_array_bytes, 4 * 8 + 8);  // void *arg[4] and an etch_place
  EXPECT_EQ(walk->loops, 2);
  EXPECT_EQ(walk->callees, (std::vector<std::string>{"*void (void *, unsigned short)", "*void (void *const *)"}));
  const AuditedFunction* matmul = function_named(report, "k0_matmul");
  ASSERT_NE(matmul, nullptr);
  EXPECT_FALSE(matmul->external);
  EXPECT_EQ(matmul->stack_array_bytes, 16);
  const AuditedFunction* exponential = function_named(report, "k1_max_exp");
  ASSERT_NE(exponential, nullptr);
  EXPECT_EQ(exponential->callees, (std::vector<std::string>{"expf"}));
  std::int64_t constants = 0;
  for (const AuditedObject& o : report.objects)
    if (o.name == "net_weights") constants = o.bytes;
  EXPECT_EQ(constants, 16 * 8 * 4);
}

TEST(Audit, ProjectAsTheTargetSeesIt) {
  const Target target = find_target("cortex-m4f", std::filesystem::path(ETCH_SOURCE_DIR) / "targets");
  if (const std::string why = test::missing_package("picolibc-arm-none-eabi", target.toolchain.include); !why.empty()) GTEST_SKIP() << why;
  const AuditReport report = audit_directory(kData / "project", audit_options(target));
  for (const Finding& f : report.findings) ADD_FAILURE() << describe(f);
  EXPECT_EQ(function_named(report, "etch_walk")->stack_array_bytes, 4 * 4 + 8);  // pointers have 4 bytes here
}

// The target's headers have no CL/cl.h, so etch's own declarations are used, as on a machine without OpenCL.
TEST(Audit, OpenCLIsParsedWithoutItsHeaders) {
  const std::filesystem::path runtime = std::filesystem::path(ETCH_SOURCE_DIR) / "runtime_c/etch_opencl.c";
  const Target target = find_target("cortex-m4f", std::filesystem::path(ETCH_SOURCE_DIR) / "targets");
  if (const std::string why = test::missing_package("picolibc-arm-none-eabi", target.toolchain.include); !why.empty()) GTEST_SKIP() << why;
  const AuditReport without = audit_c({runtime}, audit_options(target));
  for (const Finding& f : without.findings) ADD_FAILURE() << describe(f);
  EXPECT_NE(function_named(without, "etch_cl_open"), nullptr);
  const TempDir dir;
  std::ofstream(dir.path() / "x.c") << "#include <CL/cl.h>\ncl_int f(cl_mem m) { return clReleaseEverything(m); }\n";
  EXPECT_FALSE(audit_c({dir.path() / "x.c"}, audit_options(target)).ok()) << "what OpenCL does not have is still found";
  if (const std::string why = test::missing_package("opencl-headers", "/usr/include/CL/cl.h"); !why.empty()) GTEST_SKIP() << why;
  const AuditReport with = audit_c({runtime});
  EXPECT_EQ(with.functions.size(), without.functions.size());
  EXPECT_EQ(with.bounded_loops, without.bounded_loops);
}

// No CUDA toolkit is asked for either, and kernels are read as C++.
TEST(Audit, CudaIsParsedWithoutItsHeaders) {
  const std::filesystem::path runtime = std::filesystem::path(ETCH_SOURCE_DIR) / "runtime_c/etch_cuda.c";
  const AuditReport report = audit_c({runtime});
  for (const Finding& f : report.findings) ADD_FAILURE() << describe(f);
  EXPECT_NE(function_named(report, "etch_cuda_open"), nullptr);
  const TempDir dir;
  const std::string kernel = "extern \"C\" __global__ void __launch_bounds__(32) k(float *y) {\n  y[threadIdx.x] = 1.0f;\n}\n";
  std::ofstream(dir.path() / "good.cu") << kernel << "extern const void *const table[1];\n"
                                        << "const void *const table[1] = {(const void *)k};\n";
  std::ofstream(dir.path() / "bad.cu") << "void h(float *y) { y[0] = 1.0f; }\nextern const void *const table[1];\n"
                                       << "const void *const table[1] = {(const void *)h};\n";
  const AuditReport good = audit_c({dir.path() / "good.cu"}), bad = audit_c({dir.path() / "bad.cu"});
  for (const Finding& f : good.findings) ADD_FAILURE() << describe(f);
  EXPECT_NE(function_named(good, "k"), nullptr) << "what is in an extern \"C\" is seen";
  ASSERT_EQ(bad.findings.size(), 1u) << "only of a kernel the address may be converted";
  EXPECT_EQ(bad.findings[0].rule, "function-pointer-cast");
}

TEST(Audit, OneChangeInAProjectIsFound) {
  struct Row {
    const char *file, *from, *to, *rule;
  };
  constexpr Row kRows[] = {
      {"net.c", "static void k1_max_exp", "void k1_max_exp", "prefix"},
      {"net.c", "static const etch_step steps", "static etch_step steps", "mutable-static"},
      {"net.c", "out[n] = expf(top)", "out[n] = (float)exp(top)", "double"},
      {"net.c", "k < 16", "k < missing", "parse"},
      {"net.c", "k < 16; k++", "k < 16; in[k]", "unbounded-loop"},
      {"etch_runtime.c", "void *arg[ETCH_MAX_ARGS]", "void *arg[step->count]", "vla"},
      {"net.c", "{k0_matmul, 3,", "{(etch_kernel)net_run, 3,", "function-pointer-cast"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.to);
    const TempDir dir;
    std::filesystem::copy(kData / "project", dir.path(), std::filesystem::copy_options::recursive);
    std::ifstream in(dir.path() / row.file);
    std::ostringstream text;
    text << in.rdbuf();
    std::string changed = text.str();
    const std::size_t at = changed.find(row.from);
    ASSERT_NE(at, std::string::npos);
    changed.replace(at, std::string_view(row.from).size(), row.to);
    std::ofstream(dir.path() / row.file) << changed;
    AuditOptions options;
    options.single_precision = true;
    const AuditReport report = audit_directory(dir.path(), options);
    EXPECT_TRUE(std::ranges::any_of(report.findings, [&](const Finding& f) { return f.rule == row.rule && f.file == row.file; }));
  }
}

TEST(Audit, RecursionAcrossFiles) {
  const TempDir dir;
  std::ofstream(dir.path() / "a.c")
      << "int b(int);\nint a(int x) { return b(x); }\nstatic int c(int x) { return x; }\nint use(int x) { return c(x); }\n";
  std::ofstream(dir.path() / "b.c") << "int a(int);\nint b(int x) { return a(x); }\nint use(int);\nstatic int c(int x) { return use(x); "
                                       "}\nint start(int x) { return c(x); }\n";
  const AuditReport report = audit_directory(dir.path());
  ASSERT_EQ(report.findings.size(), 2u);  // the two functions named c are not one
  EXPECT_EQ(describe(report.findings[0]), "a.c:2: in a: calls itself: a -> b -> a [recursion]");
  EXPECT_EQ(describe(report.findings[1]), "b.c:2: in b: calls itself: b -> a -> b [recursion]");
}

TEST(Audit, BadFolders) {
  const TempDir dir;
  test::expect_error<UserError>([&] { audit_directory(dir.path()); }, "there is no .c file in this folder");
  test::expect_error<UserError>([&] { audit_directory(dir.path() / "absent"); }, "absent: the folder cannot be read");
  test::expect_error<UserError>([&] { audit_c({dir.path() / "absent.c"}); }, "absent.c: the file cannot be read");
  std::filesystem::create_directories(dir.path() / "build");
  std::ofstream(dir.path() / "build/CMakeCache.txt") << "";
  std::ofstream(dir.path() / "build/x.c") << "";
  test::expect_error<UserError>([&] { audit_directory(dir.path()); },
                                "there is no .c file in this folder");  // build folders are not looked at
}

TEST(Audit, IncludesAndDefines) {
  const TempDir dir;
  std::filesystem::create_directories(dir.path() / "inc");
  std::ofstream(dir.path() / "inc/x.h") << "#define ONE 1\n";
  std::ofstream(dir.path() / "x.c") << "#include \"x.h\"\nint f(void) { return ONE + TWO; }\n";
  AuditOptions options;
  EXPECT_FALSE(audit_c({dir.path() / "x.c"}, options).ok());
  options.include_dirs = {dir.path() / "inc"};
  options.defines = {"TWO=2"};
  EXPECT_TRUE(audit_c({dir.path() / "x.c"}, options).ok());
}

TEST(Audit, SymbolsThatAreNamedNeedNoPrefix) {
  const TempDir dir;
  std::ofstream(dir.path() / "a.c") << "void scale(void) { }\nvoid scales(void) { }\n";
  AuditOptions options;
  options.prefixes = {"net_"};
  options.symbols = {"scale"};
  const AuditReport report = audit_directory(dir.path(), options);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(describe(report.findings[0]), "a.c:2: the external symbol scales starts with none of net_ [prefix]");
}

TEST(Prototype, IsReadWithItsTypes) {
  const CContents contents = read_c({
      {"a.c",
       "#include \"a.h\"\nvoid declared(int x);\nnumber *f(const number *restrict a, int8_t b[3], _Bool c, size_t, double d) { return 0; "
       "}\n"
       "static void g(void) { }\nvoid h() { }\ninline void i(void) { }\n"
       "int tentative, given = 1;\nextern int elsewhere;\nstatic int own;\n__attribute__((weak)) int weak;\nint named __asm__(\"foo\");\n"},
      {"a.h", "#include <stdint.h>\n#include <stddef.h>\ntypedef float number;\nstatic void of_header(void) { }\nint of_all;\n"},
  });
  const std::vector<Prototype>& found = contents.functions;
  ASSERT_EQ(found.size(), 4u);
  const Prototype& f = found[0];
  EXPECT_EQ(f.text, "number *f(const number *restrict a, int8_t *b, _Bool c, size_t, double d)");
  EXPECT_EQ(f.file, "a.c");
  EXPECT_EQ(f.line, 3);
  ASSERT_EQ(f.parameters.size(), 5u);
  using enum CType::Kind;
  const struct {
    CType::Kind kind;
    int bytes;
    bool pointer, constant;
    const char *number, *name;
  } rows[] = {{Float, 4, true, true, "float", "a"},
              {Signed, 1, true, false, "int8_t", "b"},
              {Bool, 1, false, false, "bool", "c"},
              {Unsigned, 8, false, false, "size_t", ""},
              {Float, 8, false, false, "double", "d"}};
  for (std::size_t i = 0; i < 5; i++) {
    const CParameter& p = f.parameters[i];
    EXPECT_TRUE(p.type.kind == rows[i].kind && p.type.bytes == rows[i].bytes && p.type.pointer == rows[i].pointer) << i;
    EXPECT_EQ(p.type.constant, rows[i].constant) << i;
    EXPECT_EQ(p.type.number, rows[i].number);
    EXPECT_EQ(p.name, rows[i].name);
  }
  EXPECT_EQ(found[1].not_callable, "it is static");
  EXPECT_EQ(found[1].text, "static void g(void)");
  EXPECT_EQ(found[2].text, "void h()");
  EXPECT_EQ(found[2].not_callable, "");
  EXPECT_EQ(found[3].text, "inline void i(void)");
  EXPECT_NE(found[3].not_callable, "");
  const std::vector<CDefinition> want{{"of_all", "a.h", 5},    {"f", "a.c", 3},     {"h", "a.c", 5},
                                      {"tentative", "a.c", 7}, {"given", "a.c", 7}, {"foo", "a.c", 11}};
  EXPECT_EQ(contents.definitions, want);
}

// The vectors of FIPS 180-4's examples, and the empty message.
TEST(Digest, Sha256) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Digest, OfAFileIsThatOfItsBytes) {
  const TempDir dir;
  for (const std::size_t size : {0u, 3u, 1u << 20, (3u << 20) + 5}) {
    std::string bytes;
    for (std::size_t i = 0; i < size; i++) bytes += static_cast<char>(i * i >> 3);
    write_file(dir.path() / "model", bytes);
    EXPECT_EQ(sha256_hex_of(dir.path() / "model"), sha256_hex(bytes)) << size;
  }
}

}  // namespace
}  // namespace etch
