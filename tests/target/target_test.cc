#include "target/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/needs.h"

namespace etch {
namespace {

const std::filesystem::path kTargets = std::filesystem::path(ETCH_SOURCE_DIR) / "targets";

/// The file that the bad rows below change: small, complete, one element a line.
constexpr std::string_view kGood = R"(<target name="t">
<description>a test</description>
<core name="cortex-m7" fpu="single" fma="true" pointer="32"/>
<registers float="32"/>
<vector bits="128" registers="8" extensions="true" hides_equal="true"/><cache level1="48K" level2="1M"/>
<memory name="itcm" kind="flash" origin="0x1000" size="64K"/>
<memory name="ram" kind="ram" origin="0x20000000" size="2M"/>
<memory name="dtcm" kind="ram" origin="0x30000000" size="0x100"/>
<arena align="8"/><pool name="fast" memory="dtcm" address="0x30000008" size="32"/><pool name="slow" memory="ram" holds="io"/><cycles instruction="1" load="2" store="3" taken="0" source="a manual"/>
<math double="exp2f log2f" none="rintf" library="expf tanhf"/><feature macro="__ARM_FP"/><feature macro="__ARM_FEATURE_DSP"/>
<toolchain file="gcc.cmake" triple="thumbv7em-none-eabihf" linker="ld" package="cc ld">
<compiler>first</compiler>
<compiler><!-- after the first --> second </compiler>
<flag>-O2</flag><flag kind="code">-mcpu=cortex-m7</flag><flag kind="abi">-mfloat-abi=hard</flag><flag kind="build">-DA="b c"</flag>
<link>-Wl,--defsym=a={itcm.origin},{ram.size}</link>
<library>-lm</library>
</toolchain>
<emulator program="qemu" kind="process" package="q"><arg>-M</arg><arg>board</arg></emulator>
<dot name="dp4" a="uint8" b="int8" sum="int32" macs="4" lanes="8"><text when="A" header="h.h">f($0, $1, $2)</text></dot>
<matrix name="mm" a="float16" b="float16" sum="float32" size="4x2x2">
<items a="m2x2" b="n2x1" sum="m2x1"/>
<registers a="m2x1 k2x1" b="k2x1" sum="m2x2 n2x1"/></matrix>
</target>
)";

std::filesystem::path write(const TempDir& dir, std::string_view text, const char* name = "t.xml") {
  std::ofstream(dir.path() / name) << text;
  return dir.path() / name;
}

TEST(Target, WhatMostLeaveOpenIsRead) {
  const TempDir dir;
  const Target t = read_target(write(dir, kGood));
  EXPECT_TRUE(t.vector.hides_equal);
  EXPECT_EQ(t.first_cache_bytes, 48 << 10);
  EXPECT_EQ(t.cache_bytes, 1 << 20);
  std::string open(kGood);
  open.replace(open.find(" level1=\"48K\""), 13, "");
  EXPECT_EQ(read_target(write(dir, open)).first_cache_bytes, kFirstCache);
}

TEST(Target, EveryFieldIsRead) {
  const TempDir dir;
  const Target t = read_target(write(dir, kGood));
  EXPECT_EQ(t.name, "t");
  EXPECT_EQ(t.description, "a test");
  EXPECT_EQ(t.language, "c");
  EXPECT_EQ(t.core, "cortex-m7");
  EXPECT_EQ(t.fpu, Fpu::Single);
  EXPECT_TRUE(t.fma);
  EXPECT_EQ(t.parallelism, 1);
  EXPECT_EQ(t.pointer_bits, 32);
  EXPECT_EQ(t.float_registers, 32);
  EXPECT_EQ(t.vector.bits, 128);
  EXPECT_EQ(t.vector.registers, 8);
  EXPECT_TRUE(t.vector.extensions);
  EXPECT_EQ(t.float_lanes(), 4);
  ASSERT_EQ(t.memories.size(), 3u);
  EXPECT_EQ(t.memories[1].name, "ram");
  EXPECT_EQ(t.memories[1].origin, 0x20000000);
  EXPECT_EQ(t.bytes(MemoryKind::Ram), (2 << 20) + 0x100);
  EXPECT_EQ(t.bytes(MemoryKind::Flash), 65536);
  EXPECT_EQ(t.arena_align, 8);
  EXPECT_TRUE(t.cycles);
  EXPECT_EQ(t.cycles.estimate(1000, 100, 10, 1), 1000 + 200 + 30);
  EXPECT_EQ(text(t.cycles), "1 an instruction, 2 more a load, 3 more a store (a manual)");
  EXPECT_EQ(t.library_math, (std::vector<std::string>{"expf", "tanhf"}));
  EXPECT_TRUE(t.computes_in_double("log2f"));
  EXPECT_FALSE(t.computes_in_double("log2"));
  EXPECT_EQ(t.toolchain.file, "gcc.cmake");
  EXPECT_EQ(t.toolchain.triple, "thumbv7em-none-eabihf");
  EXPECT_EQ(t.toolchain.compilers, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(t.features, (std::vector<std::string>{"__ARM_FP", "__ARM_FEATURE_DSP"}));
  EXPECT_EQ(t.toolchain.flags, (std::vector<std::string>{"-O2", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-DA=\"b c\""}));
  EXPECT_EQ(t.toolchain.flags_of(FlagKind::Code), (std::vector<std::string>{"-mcpu=cortex-m7"}));
  EXPECT_EQ(t.toolchain.flags_of(FlagKind::Abi), (std::vector<std::string>{"-mfloat-abi=hard"}));
  EXPECT_EQ(t.toolchain.flags_of(FlagKind::Build), (std::vector<std::string>{"-O2", "-DA=\"b c\""}));
  EXPECT_EQ(t.toolchain.link, (std::vector<std::string>{"-Wl,--defsym=a=4096,2097152"}));
  EXPECT_EQ(t.toolchain.libraries, (std::vector<std::string>{"-lm"}));
  EXPECT_EQ(t.toolchain.linker, "ld");
  EXPECT_EQ(t.toolchain.package, "cc ld");
  EXPECT_EQ(t.emulator.program, "qemu");
  EXPECT_EQ(t.emulator.package, "q");
  EXPECT_EQ(t.emulator.kind, EmulatorKind::Process);
  EXPECT_EQ(t.emulator.args, (std::vector<std::string>{"-M", "board"}));
  EXPECT_FALSE(t.is_host());
  ASSERT_EQ(t.instructions.size(), 2u);
  const TargetInstruction &dot = t.instructions[0], &matrix = t.instructions[1];
  EXPECT_FALSE(dot.is_matrix());
  EXPECT_EQ(dot.name + dot.a + dot.b + dot.sum, "dp4uint8int8int32");
  EXPECT_EQ(dot.macs * 100 + dot.lanes, 408);
  EXPECT_EQ(dot.steps, 1);
  EXPECT_EQ(t.integer_registers, 11);
  EXPECT_EQ(dot.texts[0].when + dot.texts[0].header + dot.texts[0].text, "Ah.hf($0, $1, $2)");
  EXPECT_TRUE(matrix.is_matrix());
  EXPECT_EQ(matrix.m * 100 + matrix.n * 10 + matrix.k, 422);
  EXPECT_EQ(matrix.of_sum.registers.size(), 2u);
  EXPECT_EQ(matrix.of_sum.registers[0].step, 2);
}

// Beside the description, else among those that come with etch.
TEST(Target, TheTableOfStepsIsFound) {
  const TempDir dir;
  const auto with = [](const std::string& name) {
    std::string text(kGood);
    return text.insert(text.find("<vector"), "<tuning file=\"" + name + "\"/>");
  };
  std::ofstream(dir.path() / "mine.opts") << "";
  EXPECT_EQ(read_target(write(dir, kGood)).tuning, "");
  EXPECT_EQ(read_target(write(dir, with("mine.opts"))).tuning, dir.path() / "mine.opts");
  EXPECT_EQ(read_target(write(dir, with("cortex-m4f.opts"))).tuning, own_targets_dir() / "cortex-m4f.opts");
  try {
    read_target(write(dir, with("other.opts")));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("t.xml:5: <tuning>: file 'other.opts' is neither beside the description nor in "),
              std::string::npos)
        << error.what();
  }
}

TEST(Target, PoolsAreRead) {
  const TempDir dir;
  const Target t = read_target(write(dir, kGood));
  ASSERT_EQ(t.pools.size(), 2u);
  EXPECT_EQ(t.pools[0].name + " " + t.pools[0].memory, "fast dtcm");
  EXPECT_EQ(t.pools[0].size, 32);
  EXPECT_EQ(t.pools[0].address, 0x30000008);
  EXPECT_EQ(t.pools[0].holds, PoolContent::All);
  EXPECT_EQ(t.pools[1].size, 2 << 20);  // the whole memory
  EXPECT_EQ(t.pools[1].address, -1);
  EXPECT_EQ(text(t.pools[1].holds), "io");
}

TEST(Target, Defaults) {
  const TempDir dir;
  const Target t = read_target(write(dir, R"(<target name="t"><description>d</description><core name="c" fpu="none"/>
    <registers float="0"/><toolchain file="f"><compiler>cc</compiler></toolchain></target>)"));
  EXPECT_EQ(t.language, "c");
  EXPECT_EQ(t.fpu, Fpu::None);
  EXPECT_EQ(t.vector.bits, 0);
  EXPECT_EQ(t.float_lanes(), 1);
  EXPECT_EQ(t.pointer_bits, 64);
  EXPECT_FALSE(t.cycles);
  EXPECT_EQ(t.bytes(MemoryKind::Ram), 0);
  EXPECT_TRUE(t.is_host());
}

struct BadRow {
  const char *from, *to;  // one change of kGood
  int line;
  const char* message;
};

constexpr BadRow kBad[] = {
    {"<target name=\"t\">", "<target name=\"u\">", 1, "name is 'u', the file's name says 't'"},
    {"<target name=\"t\">", "<target>", 1, "<target> needs the attribute name"},
    {"<target name=\"t\">", "<target name=\"t\" colour=\"red\">", 1, "<target>: unknown attribute colour, accepted are name"},
    {"<target name=\"t\">", "<target name=\"t\">stray", 1, "<target> holds the text 'stray', none is accepted"},
    {"<description>a test</description>", "", 1, "<target> needs an element <description>"},
    {"<description>a test</description>", "<description/>", 2, "<description> has to hold a text and nothing else"},
    {"<description>a test</description>", "<description>a</description><description>b</description>", 2,
     "<description> stands twice, first in line 2"},
    {"<core name=\"cortex-m7\"", "<core name=\"cortex-m99\"", 3,
     "<core>: name 'cortex-m99' is no core of thumbv7em-none-eabihf that Clang knows"},
    {"<core name=\"cortex-m7\"", "<core name=\"x86-64-v3\"", 3, "<core>: name 'x86-64-v3' is no core of thumbv7em-none-eabihf"},
    {"triple=\"thumbv7em-none-eabihf\"", "triple=\"cortex-m7\"", 11,
     "<toolchain>: triple is 'cortex-m7', which names no machine that Clang knows"},
    {"triple=\"thumbv7em-none-eabihf\"", "triple=\"thumbv7em-none-eabihfhf\"", 11,
     "<toolchain>: triple is 'thumbv7em-none-eabihfhf', which names no machine that Clang knows"},
    {"fpu=\"single\"", "fpu=\"half\"", 3, "<core>: fpu is 'half', accepted are none, single, double"},
    {"fpu=\"single\"", "", 3, "<core> needs the attribute fpu"},
    {"fma=\"true\"", "fma=\"yes\"", 3, "<core>: fma is 'yes', accepted are true, false"},
    {"pointer=\"32\"", "pointer=\"33\"", 3, "<core>: pointer is '33', accepted are 16, 32, 64"},
    {"pointer=\"32\"", "product=\"16\"", 3, "<core>: product is '16', accepted are 0, 32, 64"},
    {"pointer=\"32\"", "bytes=\"signed\"", 3, "<core>: bytes is 'signed', accepted are any, unsigned"},
    {"pointer=\"32\"", "order=\"no\"", 3, "<core>: order is 'no', accepted are out, in"},
    {"pointer=\"32\"", "threads=\"0\"", 3, "<core>: threads is '0', accepted is a number from 1 to 4096"},
    {"<registers float=\"32\"/>", "", 1, "<target> needs an element <registers>"},
    {"<registers float=\"32\"/>", "<registers float=\"-1\"/>", 4, "<registers>: float is '-1', accepted is a number from 0 to 1024"},
    {"<registers float=\"32\"/>", "<registers float=\"many\"/>", 4, "float is 'many'"},
    {"<registers float=\"32\"/>", "<registers float=\"1e3\"/>", 4, "float is '1e3'"},
    {"bits=\"128\"", "bits=\"100\"", 5, "<vector>: bits is '100', accepted are 0, 64, 128, 256, 512, 1024"},
    {"bits=\"128\"", "bits=\"0\"", 5, "<vector>: bits and registers are both 0 or both not 0"},
    {"bits=\"128\" registers=\"8\"", "bits=\"0\" registers=\"0\"", 5, "<vector>: extensions is true, but bits is 0"},
    {"extensions=\"true\"", "integers=\"true\"", 5, "<vector>: integers is true, but extensions is false"},
    {"extensions=\"true\"", "scalars=\"true\"", 5, "<vector>: scalars is true, but extensions is false"},
    {"1M\"/>", "0\"/>", 5, "<cache>: level2 is '0', accepted is a number from 1024 to 1099511627776"},
    {"<cache level1=\"48K\" level2=\"1M\"/>", "<cache/>", 5, "level2"},
    {"48K", "0", 5, "<cache>: level1 is '0', accepted is a number from 1024 to 1099511627776"},
    {"48K", "2M", 5, "<cache>: level1 is larger than level2"},
    {"<vector", "<vektor", 5,
     "unknown element <vektor> in <target>, accepted are description, language, core, registers, vector, cache, memory"},
    {"size=\"64K\"", "size=\"0\"", 6, "<memory>: size is '0', accepted is a number from 1 to 1125899906842624"},
    {"size=\"64K\"", "size=\"64KB\"", 6, "size is '64KB'"},
    {"size=\"64K\"", "size=\"0x10K\"", 6, "size is '0x10K'"},
    {"size=\"64K\"", "size=\"99999999999999999999\"", 6, "size is '99999999999999999999'"},
    {"size=\"64K\"", "size=\"9223372036854775807K\"", 6, "size is '9223372036854775807K'"},
    {"size=\"64K\"", "size=\"\"", 6, "<memory> needs the attribute size"},
    {"kind=\"flash\"", "kind=\"rom\"", 6, "<memory>: kind is 'rom', accepted are ram, flash"},
    {"name=\"dtcm\"", "name=\"ram\"", 8, "<memory>: the name 'ram' is taken"},
    {"origin=\"0x30000000\"", "origin=\"0x20001000\"", 8, "<memory>: dtcm and ram overlap"},
    {"align=\"8\"", "align=\"12\"", 9, "<arena>: align is 12, accepted are powers of two"},
    {"memory=\"dtcm\"", "memory=\"tcm\"", 9, "<pool>: memory is 'tcm', no memory, accepted are ram, dtcm"},
    {"memory=\"dtcm\"", "memory=\"itcm\"", 9, "<pool>: memory is 'itcm', not of kind ram, accepted are ram, dtcm"},
    {"size=\"32\"", "size=\"0\"", 9, "<pool>: size is '0', accepted is a number from 1 to 256"},
    {"size=\"32\"", "size=\"257\"", 9, "<pool>: size is '257', accepted is a number from 1 to 256"},
    {"name=\"fast\"", "name=\"slow\"", 9, "<pool>: the name 'slow' is taken"},
    {"name=\"fast\"", "name=\"a_b\"", 9, "<pool>: name is 'a_b', accepted are up to 16 lower-case letters and digits"},
    {"name=\"fast\"", "", 9, "<pool> needs the attribute name"},
    {"memory=\"ram\" holds", "memory=\"dtcm\" holds", 9, "<pool>: the pools of memory 'dtcm' have 288 bytes together, the memory has 256"},
    {"memory=\"ram\" holds=\"io\"", "memory=\"dtcm\" size=\"32\" address=\"0x30000020\"", 9, "<pool>: slow and fast overlap"},
    {"holds=\"io\"", "holds=\"weights\"", 9, "<pool>: holds is 'weights', accepted are all, intermediates, io"},
    {"address=\"0x30000008\"", "address=\"0x30000004\"", 9,
     "<pool>: address is 0x30000004, accepted are multiples of the arena's alignment, 8"},
    {"address=\"0x30000008\"", "address=\"0x300000f0\"", 9, "<pool>: address is '0x300000f0', accepted is a number from"},
    {"instruction=\"1\"", "instruction=\"0\"", 9, "<cycles>: instruction is '0', accepted is a number from 1 to 1000"},
    {"taken=\"0\"", "", 9, "<cycles> needs the attribute taken"},
    {"a manual", "", 9, "<cycles> needs the attribute source"},
    {"exp2f log2f", "exp2f exp2f", 10, "<math>: exp2f stands twice"},
    {"<compiler>first</compiler>", "<compiler><b>x</b></compiler>", 12, "<compiler> has to hold a text and nothing else"},
    {"<flag>-O2</flag>", "<flags>-O2</flags>", 14, "unknown element <flags> in <toolchain>, accepted are compiler, flag, link, library"},
    {"kind=\"code\"", "kind=\"cpu\"", 14, "<flag>: kind is 'cpu', accepted are code, abi, build"},
    {">-mcpu=cortex-m7<", ">-mcpu cortex-m7<", 14, "<flag>: '-mcpu cortex-m7' holds a space"},
    {">-mcpu=cortex-m7<", ">-mcpu=$CORE<", 14, "<flag>: '-mcpu=$CORE' holds a space, a quote, '\\', '$' or ';'"},
    {"macro=\"__ARM_FP\"", "macro=\"4fp\"", 10, "<feature>: macro is '4fp', accepted is a name of C"},
    {"macro=\"__ARM_FP\"", "macro=\"a+b\"", 10, "<feature>: macro is 'a+b', accepted is a name of C"},
    {"macro=\"__ARM_FP\"", "macro=\"__ARM_FEATURE_DSP\"", 10, "<feature>: __ARM_FEATURE_DSP stands twice"},
    {"{ram.size}", "{rom.size}", 15, "names no memory of this target"},
    {"{ram.size}", "{ram.end}", 15, "names no memory of this target"},
    {"program=\"qemu\"", "", 18, "<emulator> needs the attribute program"},
    {"kind=\"process\"", "kind=\"user\"", 18, "<emulator>: kind is 'user', accepted are board, process"},
    {"name=\"dp4\"", "name=\"4dp\"", 19, "<dot>: name is '4dp', accepted is a name of C"},
    {"name=\"mm\"", "name=\"dp4\"", 20, "<matrix>: the name 'dp4' is taken"},
    {"lanes=\"8\"", "lanes=\"5\"", 19, "<dot>: lanes is '5', accepted are 1, 4, 8, 16"},
    {"lanes=\"8\"", "", 19, "<dot> needs the attribute lanes"},
    {"macs=\"4\"", "macs=\"2\"", 19,
     "<dot>: accepted are 4 macs of bytes, 8 or 16 in 1 lane, or in 1 lane 4 macs, or 2 macs in 2 steps, where b is int16"},
    {"macs=\"4\"", "macs=\"17\"", 19, "<dot>: macs is '17', accepted is a number from 2 to 16"},
    {"macs=\"4\"", "macs=\"4\" steps=\"3\"", 19, "<dot>: steps is '3', accepted is a number from 1 to 2"},
    {"macs=\"4\"", "macs=\"4\" steps=\"2\"", 19,
     "<dot>: accepted are 4 macs of bytes, 8 or 16 in 1 lane, or in 1 lane 4 macs, or 2 macs in 2 steps, where b is int16"},
    {"b=\"int8\"", "b=\"int16\"", 19,
     "<dot>: accepted are 4 macs of bytes, 8 or 16 in 1 lane, or in 1 lane 4 macs, or 2 macs in 2 steps, where b is int16"},
    {"macs=\"4\"", "macs=\"4\" words=\"true\"", 19, "<dot>: words are of 1 lane, lanes is 8"},
    {"macs=\"4\"", "macs=\"4\" words=\"yes\"", 19, "<dot>: words is 'yes', accepted are true, false"},
    {"<text when=\"A\"", "<text step=\"1\" when=\"A\"", 19, "<dot>: step 1 has a text, but there are 1 steps"},
    {"<registers float=\"32\"/>", "<registers float=\"32\" integer=\"2\"/>", 4,
     "<registers>: integer is '2', accepted is a number from 3 to 1024"},
    {"a=\"uint8\"", "a=\"uint9\"", 19, "<dot>: a is 'uint9', accepted are uint8, int8"},
    {"<text when=\"A\"", "<text", 19, "<text> needs the attribute when"},
    {"<text when=\"A\" header=\"h.h\">f($0, $1, $2)</text>", "", 19, "<dot> needs an element <text>"},
    {"size=\"4x2x2\"", "size=\"4x2\"", 20, "<matrix>: size is '4x2', accepted are m, n and k: 16x8x16"},
    {"b=\"float16\"", "b=\"bfloat16\"", 20, "<matrix>: b is 'bfloat16', accepted are float16"},
    {"a=\"m2x2\"", "a=\"n2x2\"", 21, "<items>: a has the digit 'n2x2', accepted is the letter m or k, a size, x and a step: m4x2"},
    {"a=\"m2x2\"", "a=\"m2x1\"", 20, "<items> and <registers> of a do not name each of its 4 x 2 elements once"},
    {"sum=\"m2x2 n2x1\"", "sum=\"m2x2\"", 20, "<items> and <registers> of sum do not name each of its 4 x 2 elements once"},
    {"b=\"n2x1\" ", "b=\"n2x1 k2x1\" ", 20, "<items> and <registers> of b do not name each of its 2 x 2 elements once"},
    {"</emulator>", "", 18, "this is not well-formed XML (XML_ERROR_MISMATCHED_ELEMENT)"},
    {"<target name=\"t\">", "<board name=\"t\">", 1, "this is not well-formed XML"},
};

TEST(Target, BadFilesNameFileAndLine) {
  const TempDir dir;
  for (const BadRow& row : kBad) {
    SCOPED_TRACE(row.message);
    std::string text(kGood);
    const std::size_t at = text.find(row.from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string_view(row.from).size(), row.to);
    const std::filesystem::path file = write(dir, text);
    try {
      read_target(file);
      ADD_FAILURE() << "accepted";
    } catch (const UserError& e) {
      EXPECT_EQ(e.where(), file.string() + ":" + std::to_string(row.line));
      EXPECT_NE(e.problem().find(row.message), std::string::npos) << e.what();
    }
  }
}

TEST(Target, WordsOfADotProductAreAligned) {
  const TempDir dir;
  const auto with = [&](const char* align) {
    std::string text(kGood);
    text.replace(text.find("lanes=\"8\""), 9, "lanes=\"1\" words=\"true\"");
    return read_target(write(dir, text.replace(text.find("align=\"8\""), 9, align)));
  };
  EXPECT_TRUE(with("align=\"4\"").instructions[0].words);
  test::expect_error<UserError>([&] { with("align=\"2\""); }, "<dot>: words need <arena align=\"4\"/> or more, it is 2");
}

TEST(Target, OtherBadFiles) {
  const TempDir dir;
  test::expect_error<UserError>([&] { read_target(dir.path() / "absent.xml"); }, "absent.xml: the target description cannot be read");
  test::expect_error<UserError>([&] { read_target(dir.path()); }, "the target description cannot be read");
  test::expect_error<UserError>([&] { read_target(write(dir, "")); }, "XML_ERROR_EMPTY_DOCUMENT");
  test::expect_error<UserError>([&] { read_target(write(dir, "\x01\x02 no xml")); }, "XML_ERROR_PARSING_TEXT");
  test::expect_error<UserError>([&] { read_target(write(dir, "<board name=\"t\"/>")); },
                                "unknown element <board> at the top, accepted are target");
}

TEST(Target, FindByName) {
  EXPECT_EQ(find_target("cortex-m4f", kTargets).name, "cortex-m4f");
  try {
    find_target("z80", kTargets);
    ADD_FAILURE() << "accepted";
  } catch (const UserError& e) {
    const std::string nearest = "unknown target 'z80', known are 'avr', 'c99', 'x86-64-v3', 'x86-64-v4', 'cuda', 'host', ";
    EXPECT_TRUE(e.problem().starts_with(nearest)) << e.problem();
  }
  test::expect_error<UserError>([&] { find_target("../targets/host", kTargets); }, "unknown target '../targets/host', known are 'host'");
  test::expect_error<UserError>([&] { find_target("", kTargets); }, "unknown target '', known are 'avr', 'c99'");
  test::expect_error<UserError>([&] { find_target("host", kTargets / "absent"); }, "there is no target description (*.xml) in this folder");
}

struct ShippedRow {
  const char* name;
  Fpu fpu;
  std::int64_t pointer_bits, vector_bits, vector_registers, align;
  bool host;
};

// Figures of the architectures' manuals: SSE2/AVX2 have 16 vector registers, AVX-512 has 32; FPv4-SP has 32 singles.
constexpr ShippedRow kShipped[] = {
    {"avr", Fpu::None, 16, 0, 0, 1, false},
    {"c99", Fpu::Double, 64, 0, 0, 8, true},
    {"cortex-a53", Fpu::Double, 64, 128, 32, 16, false},
    {"cortex-a55", Fpu::Double, 64, 128, 32, 16, false},
    {"cortex-a7", Fpu::Double, 32, 128, 16, 16, false},
    {"cortex-a72", Fpu::Double, 64, 128, 32, 16, false},
    {"cortex-m0plus", Fpu::None, 32, 0, 0, 8, false},
    {"cortex-m3", Fpu::None, 32, 0, 0, 8, false},
    {"cortex-m33", Fpu::Single, 32, 0, 0, 8, false},
    {"cortex-m4f", Fpu::Single, 32, 0, 0, 8, false},
    {"cortex-m55", Fpu::Double, 32, 128, 8, 16, false},
    {"cortex-m7", Fpu::Double, 32, 0, 0, 8, false},
    {"cuda", Fpu::Double, 64, 0, 0, 256, true},
    {"host", Fpu::Double, 64, 128, 16, 16, true},
    {"opencl", Fpu::Double, 64, 0, 0, 512, true},
    {"rv32imc", Fpu::None, 32, 0, 0, 8, false},
    {"rv64gc", Fpu::Double, 64, 0, 0, 16, false},
    {"rv64gcv", Fpu::Double, 64, 256, 32, 32, false},
    {"x86-64-v3", Fpu::Double, 64, 256, 16, 32, true},
    {"x86-64-v4", Fpu::Double, 64, 512, 32, 64, true},
    {"x86-64-vnni", Fpu::Double, 64, 512, 32, 64, true},
};

TEST(Target, ConstantsOfTheirOwnSpace) {
  const Target avr = find_target("avr", kTargets), host = find_target("host", kTargets);
  EXPECT_EQ(avr.int_bits, 16);
  EXPECT_TRUE(avr.constants);
  EXPECT_EQ(avr.constants.name, "__memx");
  EXPECT_EQ(avr.constants.integer, "__uint24");
  EXPECT_EQ(avr.constants.largest, 32767);
  EXPECT_TRUE(avr.lacks("erff"));
  EXPECT_FALSE(avr.lacks("expf"));
  EXPECT_EQ(host.int_bits, 32);
  EXPECT_FALSE(host.constants);
  const TempDir dir;
  const auto described = [&](const std::string& constants) {
    write(dir,
          "<target name=\"x\"><description>d</description><core name=\"c\" fpu=\"none\"/><registers float=\"0\"/>" + constants +
              "<toolchain file=\"f\"><compiler>cc</compiler></toolchain></target>",
          "x.xml");
    return find_target("x", dir.path());
  };
  EXPECT_EQ(described(R"(<constants space="__flash" integer="uint16_t" object="65536"/>)").constants.largest, 65536);
  test::expect_error<UserError>([&] { described(R"(<constants space="a b" integer="int" object="1"/>)"); }, "'a b' is no name of C");
  test::expect_error<UserError>([&] { described(R"(<constants space="a" integer="int" object="0"/>)"); }, "object is '0'");
  test::expect_error<UserError>([&] { described(R"(<constants space="a" integer="int"/>)"); }, "object");
}

TEST(Target, IntegerArithmeticOfACore) {
  const Target m0 = find_target("cortex-m0plus", kTargets), m3 = find_target("cortex-m3", kTargets),
               m4 = find_target("cortex-m4f", kTargets);
  EXPECT_EQ(m0.product_bits, 32);
  EXPECT_TRUE(m0.unsigned_bytes);
  EXPECT_EQ(m3.product_bits, 64);
  EXPECT_FALSE(m3.unsigned_bytes);
  EXPECT_EQ(m4.product_bits, 0);
}

TEST(Target, ShippedOnes) {
  std::vector<std::string> rows;
  for (const ShippedRow& row : kShipped) {
    SCOPED_TRACE(row.name);
    rows.push_back(row.name);
    const Target t = find_target(row.name, kTargets);
    EXPECT_EQ(t.fpu, row.fpu);
    EXPECT_EQ(t.pointer_bits, row.pointer_bits);
    EXPECT_EQ(t.vector.bits, row.vector_bits);
    EXPECT_EQ(t.vector.registers, row.vector_registers);
    EXPECT_EQ(t.arena_align, row.align);
    EXPECT_EQ(t.is_host(), row.host);
    EXPECT_GE(t.arena_align * 8, t.vector.bits);
    EXPECT_TRUE(std::filesystem::exists(kTargets.parent_path() / "toolchains" / t.toolchain.file)) << t.toolchain.file;
  }
  EXPECT_EQ(target_names(kTargets), rows);
}

// The user's own descriptions come first and take precedence over bundled ones of the same name; the other bundled ones stay.
TEST(Target, OwnOnesAndBundledOnes) {
  const TempDir dir;
  write(dir, R"(<target name="zz"><description>d</description><core name="c" fpu="none"/>
    <registers float="0"/><toolchain file="f"><compiler>cc</compiler></toolchain></target>)",
        "zz.xml");
  write(dir, R"(<target name="host"><description>mine</description><core name="c" fpu="none"/>
    <registers float="0"/><toolchain file="f"><compiler>cc</compiler></toolchain></target>)",
        "host.xml");
  const std::vector<std::filesystem::path> dirs{dir.path(), kTargets};
  std::vector<std::string> names;
  for (const TargetFile& f : target_files(dirs)) {
    names.push_back(f.name);
    EXPECT_EQ(f.hides, f.name == "host" ? kTargets / "host.xml" : std::filesystem::path()) << f.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"host",       "zz",         "avr",           "c99",        "cortex-a53", "cortex-a55",
                                             "cortex-a7",  "cortex-a72", "cortex-m0plus", "cortex-m3",  "cortex-m33", "cortex-m4f",
                                             "cortex-m55", "cortex-m7",  "cuda",          "opencl",     "rv32imc",    "rv64gc",
                                             "rv64gcv",    "x86-64-v3",  "x86-64-v4",     "x86-64-vnni"}));
  EXPECT_EQ(find_target("host", dirs).description, "mine");
  EXPECT_EQ(find_target("cortex-m4f", dirs).name, "cortex-m4f");
  test::expect_error<UserError>([&] { find_target("z80", dirs); }, "unknown target 'z80', known are 'zz'");
  test::expect_error<UserError>([&] { find_target("host", {dir.path() / "absent", kTargets}); },
                                "there is no target description (*.xml) in this folder");
  for (const TargetFile& f : target_files({kTargets, kTargets})) EXPECT_EQ(f.hides, "") << "one folder named twice hides nothing";
}

// Toolchain files read flags and memories from the description: CMake and etch must read the same.
TEST(Target, ToolchainFilesReadTheDescription) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const Target t = find_target("cortex-m4f", kTargets);
  const TempDir dir;
  std::ofstream(dir.path() / "print.cmake") << "include(" << (kTargets.parent_path() / "toolchains/read_target.cmake").string() << ")\n"
                                            << "etch_target_flags(flags " << (kTargets / "cortex-m4f.xml").string() << " \"^-\")\n"
                                            << "etch_target_link(link " << (kTargets / "cortex-m4f.xml").string() << ")\n"
                                            << "foreach(each IN LISTS flags link)\n  message(STATUS \"${each}\")\nendforeach()\n";
  const ProcessResult printed = run_process({"cmake", "-P", (dir.path() / "print.cmake").string()});
  ASSERT_TRUE(printed.ok()) << printed.err;
  std::string wanted;
  for (const auto* list : {&t.toolchain.flags, &t.toolchain.link})
    for (const std::string& flag : *list) wanted += "-- " + flag + "\n";
  EXPECT_EQ(printed.out, wanted);
  // Nothing else in toolchains/ repeats content of a description.
  for (const auto& entry : std::filesystem::directory_iterator(kTargets.parent_path() / "toolchains"))
    for (const char* flag : {"-march", "-mcpu", "-mfpu", "-mfloat-abi", "--specs", "-mprefer"})
      EXPECT_EQ(test::content(entry.path()).find(flag), std::string::npos) << entry.path() << " " << flag;
}

}  // namespace
}  // namespace etch
