#include "audit/stack.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

// As gcc 12 writes it; the depths below were added by hand.
constexpr std::string_view kNet = R"VCG(graph: { title: "net.c"
node: { title: "net.c:k0" label: "k0\nnet.c:8:13\n40 bytes (static)" }
node: { title: "net.c:k1" label: "k1\nnet.c:22:13\n16 bytes (static)" }
node: { title: "expf" label: "expf\n/usr/include/math.h:473:14" shape : ellipse }
edge: { sourcename: "net.c:k1" targetname: "expf" label: "net.c:27:14" }
node: { title: "net_run" label: "net_run\nnet.c:38:5\n24 bytes (static)" }
node: { title: "etch_run" label: "etch_run\netch_runtime.h:29:5" shape : ellipse }
edge: { sourcename: "net_run" targetname: "etch_run" label: "net.c:42:10" }
}
)VCG";
constexpr std::string_view kRuntime = R"VCG(graph: { title: "etch_runtime.c"
node: { title: "etch_run" label: "etch_run\netch_runtime.c:3:5\n56 bytes (static)" }
node: { title: "__indirect_call" label: "Indirect Call Placeholder" shape : ellipse }
edge: { sourcename: "etch_run" targetname: "__indirect_call" label: "etch_runtime.c:18:5" }
}
)VCG";
constexpr std::string_view kOdd = R"VCG(graph: { title: "odd.c"
node: { title: "dynamic" label: "dynamic\nodd.c:1:1\n24 bytes (dynamic)" }
node: { title: "bounded" label: "bounded\nodd.c:2:1\n24 bytes (dynamic,bounded)" }
node: { title: "again" label: "again\nodd.c:3:1\n8 bytes (static)" }
node: { title: "back" label: "back\nodd.c:4:1\n8 bytes (static)" }
edge: { sourcename: "again" targetname: "back" label: "odd.c:3:2" }
edge: { sourcename: "back" targetname: "again" label: "odd.c:4:2" }
node: { title: "diamond" label: "diamond\nodd.c:5:1\n1 bytes (static)" }
node: { title: "left" label: "left\nodd.c:6:1\n10 bytes (static)" }
node: { title: "right" label: "right\nodd.c:7:1\n20 bytes (static)" }
node: { title: "bottom" label: "bottom\nodd.c:8:1\n100 bytes (static)" }
edge: { sourcename: "diamond" targetname: "left" label: "odd.c:5:2" }
edge: { sourcename: "diamond" targetname: "right" label: "odd.c:5:3" }
edge: { sourcename: "left" targetname: "bottom" label: "odd.c:6:2" }
edge: { sourcename: "right" targetname: "bottom" label: "odd.c:7:2" }
}
)VCG";
constexpr std::string_view kLibrary =
    "net.elf:     file format elf32-littlearm\n\n"
    "00000374 <expf>:\n"
    " 374:\tvmov\tr2, s0\n"
    " 378:\tpush\t{r4, r5, lr}\n"
    " 37a:\tsub\tsp, #20\n"
    " 37c:\tvpush\t{d8-d10}\n"
    " 380:\tbls.n\t388 <expf+0x14>\n"
    " 3a4:\tb.w\t51c <__math_oflowf>\n"
    " 3a8:\tldr\tr0, [pc, #292]\t@ (4c4 <expf+0x150>)\n"
    " 3b0:\tadd\tsp, #20\n"
    " 3b2:\tpop\t{r4, r5, pc}\n"
    "\n"
    "0000051c <__math_oflowf>:\n"
    " 51c:\tstr.w\tlr, [sp, #-8]!\n"
    " 520:\tstmdb\tsp!, {r4, r5, r6, lr}\n"
    " 524:\tbl\t600 <with_errno>\n"
    " 528:\tldr\tpc, [sp], #4\n"
    "\n"
    "00000600 <with_errno>:\n"
    " 600:\tsub.w\tsp, sp, #4096\n"
    " 604:\tbx\tlr\n"
    "\n"
    "00000700 <moves>:\n"
    " 700:\tmov\tsp, r3\n"
    "\n"
    "00000710 <pointer>:\n"
    " 710:\tblx\tr3\n"
    "\n"
    "00000720 <spills>:\n"
    " 720:\tvpush\t{s16-s19}\n"
    " 724:\tstrd\tr0, r1, [sp, #-16]!\n"
    " 728:\tstr\tr0, [sp, #4]\n";

StackGraph all() {
  StackGraph graph = merge(parse_callgraph_info(kNet), parse_callgraph_info(kRuntime));
  graph = merge(graph, parse_callgraph_info(kOdd));
  return merge(graph, parse_disassembly(kLibrary, kArm));
}

struct Row {
  const char* entry;
  std::optional<std::int64_t> bytes;
  std::vector<std::string> path, unresolved;
};

// expf: 12 + 20 + 24 = 56; __math_oflowf: 8 + 16 = 24; with_errno: 4096
const Row kRows[] = {
    {"net_run",
     24 + 56 + 16 + 56 + 24 + 4096,
     {"net_run 24", "etch_run 56", "net.c:k1 16", "expf 56", "__math_oflowf 24", "with_errno 4096"},
     {}},
    {"k0", 40, {"net.c:k0 40"}, {}},
    {"net.c:k0", 40, {"net.c:k0 40"}, {}},
    {"bounded", 24, {"bounded 24"}, {}},
    {"dynamic", std::nullopt, {"dynamic 0"}, {"dynamic: no figure"}},
    {"diamond", 121, {"diamond 1", "right 20", "bottom 100"}, {}},
    {"again", std::nullopt, {"again 8", "back 8"}, {"again: calls itself"}},
    {"moves", std::nullopt, {"moves 0"}, {"moves: no figure"}},
    {"pointer", std::nullopt, {"pointer 0"}, {"pointer: calls through a pointer"}},
    {"spills", 16 + 16, {"spills 32"}, {}},
    {"absent", std::nullopt, {}, {"absent: no such function"}},
};

TEST(Stack, WorstCase) {
  const StackGraph graph = all();
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.entry);
    const StackBound bound = worst_case_stack(graph, row.entry, {{"etch_run", {"k0", "k1"}}});
    EXPECT_EQ(bound.bytes, row.bytes);
    EXPECT_EQ(bound.path, row.path);
    EXPECT_EQ(bound.unresolved, row.unresolved);
  }
}

TEST(Stack, WhatIsMissingIsNamed) {
  const StackGraph graph = merge(parse_callgraph_info(kNet), parse_callgraph_info(kRuntime));
  EXPECT_EQ(worst_case_stack(graph, "net_run").unresolved, (std::vector<std::string>{"etch_run: calls through a pointer"}));
  EXPECT_EQ(worst_case_stack(graph, "net_run", {{"etch_run", {"k0", "k1"}}}).unresolved, (std::vector<std::string>{"expf: no figure"}));
  // What is known without it: 24 + 56 + the deeper of 40 and 16.
  const StackBound without_expf = worst_case_stack(graph, "net_run", {{"etch_run", {"k0", "k1"}}});
  EXPECT_EQ(without_expf.known_bytes, 24 + 56 + 40);
  EXPECT_EQ(without_expf.without_figure, (std::vector<std::string>{"expf"}));
  EXPECT_EQ(worst_case_stack(graph, "net_run").known_bytes, std::nullopt) << "a call through a pointer may go anywhere";
  EXPECT_EQ(worst_case_stack(graph, "net_run", {{"etch_run", {"k0"}}}).bytes, 24 + 56 + 40);
  EXPECT_EQ(worst_case_stack(graph, "net_run", {{"etch_run", {"k0", "gone"}}}).unresolved, (std::vector<std::string>{"gone: no figure"}));
}

TEST(Stack, NamesOfTwoFiles) {
  std::string other(kNet);
  for (std::size_t at = other.find("net.c"); at != std::string::npos; at = other.find("net.c", at)) other.replace(at, 5, "two.c");
  for (std::size_t at = other.find("net_run"); at != std::string::npos; at = other.find("net_run", at)) other.replace(at, 7, "two_run");
  for (std::size_t at = other.find("40 bytes"); at != std::string::npos; at = other.find("40 bytes", at)) other.replace(at, 8, "64 bytes");
  const StackGraph graph = merge(merge(parse_callgraph_info(kNet), parse_callgraph_info(other)), parse_callgraph_info(kRuntime));
  EXPECT_EQ(worst_case_stack(graph, "k0").unresolved, (std::vector<std::string>{"k0: more than one function of this name"}));
  EXPECT_EQ(worst_case_stack(graph, "net_run", {{"etch_run", {"k0"}}}).bytes, 24 + 56 + 64);  // both k0 are meant
  EXPECT_EQ(worst_case_stack(graph, "net_run", {{"etch_run", {"net.c:k0"}}}).bytes, 24 + 56 + 40);
}

TEST(Stack, UsageFiles) {
  const StackGraph graph = parse_stack_usage(
      "etch_runtime.c:3:5:etch_run\t56\tstatic\nnet.c:k0\t40\tstatic\nnet.c:9:1:vla\t24\tdynamic\nnet.c:9:1:b\t32\tdynamic,"
      "bounded\n\nbroken line\n");
  ASSERT_EQ(graph.size(), 4u);
  EXPECT_EQ(graph.at("etch_run").bytes, 56);
  EXPECT_EQ(graph.at("k0").bytes, 40);
  EXPECT_EQ(graph.at("vla").bytes, std::nullopt);
  EXPECT_EQ(graph.at("b").bytes, 32);
}

// The remarks are clang-19's; its prologues subtract 64 + 1280 bytes in add, 16 + 192 in few, where the .su file says 48 and 16.
TEST(Stack, FramesWithVectorsOfRiscV) {
  const StackGraph frames = parse_stack_usage("main.c:15:add\t48\tstatic\nmain.c:16:few\t16\tstatic\nmain.c:30:main\t32\tstatic\n");
  std::string remarks = "main.c:15:1: remark: \nFunction: add\nOffset: [SP-8], Type: Spill, Align: 8, Size: 8\n";
  for (int i = 1; i <= 40; i++) remarks += "Offset: [SP-" + std::to_string(8 * i) + "], Type: Spill, Align: 8, Size: vscale x 8\n";
  remarks += "   15 | void add(float *out) {\n      | ^\nmain.c:16:1: remark: \nFunction: few\n";
  for (int i = 1; i <= 5; i++)
    remarks += "Offset: [SP-16-" + std::to_string(8 * i) + " x vscale], Type: Spill, Align: 8, Size: vscale x 8\n";
  remarks += "main.c:30:1: remark: \nFunction: main\nOffset: [SP-8], Type: Spill, Align: 8, Size: 8 [-Rpass-analysis=stack-frame-layout]\n";
  const StackGraph of_256_bits = add_scalable_frames(frames, remarks, 256 / 64);
  EXPECT_EQ(of_256_bits.at("add").bytes, 64 + 1280);
  EXPECT_EQ(of_256_bits.at("few").bytes, 16 + 192 + 16);  // with room to align it, which this one does not need
  EXPECT_EQ(of_256_bits.at("main").bytes, 32);
  const StackGraph unknown = add_scalable_frames(frames, remarks, 0);
  EXPECT_EQ(unknown.at("add").bytes, std::nullopt);
  EXPECT_EQ(unknown.at("main").bytes, 32);
  const StackGraph wide = add_scalable_frames(frames, "Function: few\nOffset: [SP-64], Type: Spill, Align: 32, Size: vscale x 64\n", 4);
  EXPECT_GE(*wide.at("few").bytes, 16 + 64 * 4);
}

TEST(Stack, Reachable) {
  EXPECT_EQ(reachable(all(), "net_run", {{"etch_run", {"k1"}}}),
            (std::vector<std::string>{"__math_oflowf", "etch_run", "expf", "net.c:k1", "net_run", "with_errno"}));
  EXPECT_EQ(reachable(all(), "again"), (std::vector<std::string>{"again", "back"}));
}

struct Listing {
  const InstructionSet* set;
  const char* code;
  std::optional<std::int64_t> bytes;
  std::set<std::string> callees;
  bool indirect;
};
const Listing listings[] = {
    {&kArm, "10000100:\tpush\t{r4, lr}\n10000102:\tbl\t10000200 <g>\n10000106:\tbx\tlr\n", 8, {"g"}, false},
    {&kArm, " 100:\tsub\tsp, #8\n 102:\tbne.n\t10a <f+0xa>\n 104:\tb.w\t200 <g>\n 108:\tbx\tr3\n", 8, {"g"}, true},
    // Frames of more than 508 bytes on Armv6-M: -640, and then 640, in r7.
    {&kArm, " 100:\tpush\t{r7, lr}\n 102:\tldr\tr7, [pc, #8]\n 104:\tadd\tsp, r7\n 106:\tadd\tsp, r7\n", std::nullopt, {}, false},
    {&kArm, " 100:\tadd\tsp, sp, r7\n", std::nullopt, {}, false},
    {&kArm, " 100:\tadd\tsp, #-16\n 102:\tadd\tsp, #16\n 104:\tadd.w\tsp, sp, #4096\t@ 0x1000\n", 16, {}, false},
    {&kRiscV32,
     "80000100:\taddi\tsp,sp,-32\n80000102:\tsw\tra,28(sp)\n80000104:\tjal\tra,80000200 <g>\n80000108:\taddi\tsp,sp,32\n",
     32,
     {"g"},
     false},
    {&kRiscV32, "80000100:\tbnez\ta0,80000108 <f+0x8>\n80000104:\tj\t80000200 <g>\n80000108:\tjalr\ta5\n8000010a:\tret\n", 0, {"g"}, true},
    {&kRiscV32,
     "80000100:\tjal\tt0,80000300 <__riscv_save_4>\n80000104:\taddi\tsp,sp,-16\n80000106:\tj\t80000400 <__riscv_restore_4>\n",
     64 + 16,
     {},
     false},
    // Far calls: the pair of instructions holds the distance, objdump adds the place.
    {&kRiscV32, "80000100:\tauipc\tra,0x100\n80000104:\tjalr\t-8(ra) # 80100200 <g>\n80000108:\tret\n", 0, {"g"}, false},
    {&kRiscV32, "80000100:\tauipc\tt1,0x100\n80000104:\tjr\t-8(t1) # 80100200 <g>\n", 0, {"g"}, false},
    {&kRiscV32, "80000100:\tlui\tt1,0x1\n80000104:\tsub\tsp,sp,t1\n", std::nullopt, {}, false},
    {&kAArch64,
     "  400100:\tstp\tx29, x30, [sp, #-64]!\n  400104:\tsub\tsp, sp, #0x1, lsl #12\n  400108:\tbl\t400200 <g>\n",
     4160,
     {"g"},
     false},
    {&kAArch64, "  400100:\tb.eq\t400108 <f+0x8>  // b.none\n  400104:\tb\t400200 <g>\n  400108:\tbr\tx1\n", 0, {"g"}, true},
    {&kAArch64, "  400100:\tsub\tsp, sp, x12\n  400104:\tret\n", std::nullopt, {}, false},
    {&kAvr,
     "     100:\tpush\tr28\n     102:\trcall\t.+0      \t; 0x104 <f+0x4>\n     104:\tsbiw\tr28, 0x2c\t; 44\n"
     "     106:\tout\t0x3d, r28\t; 61\n     108:\tcall\t0x200\t; 0x200 <g>\n     10c:\tret\n",
     3 + 1 + 3 + 44,
     {"g"},
     false},
    {&kAvr, "     100:\tsbrc\tr24, 7\n     102:\tret\n     104:\teicall\n     106:\tret\n", 3, {}, true},
    {&kAvr, "     100:\tsubi\tr28, 0x2C\t; 44\n     102:\tsbci\tr29, 0x01\t; 1\n", std::nullopt, {}, false},
    {&kAvr, "     100:\tout\t0x3d, r24\t; 61\n", std::nullopt, {}, false},
};

/// One function `f` of each listing: what it takes, and where it goes.
TEST(Stack, ListingsOfEveryArchitecture) {
  for (const Listing& row : listings) {
    SCOPED_TRACE(row.code);
    const StackGraph graph = parse_disassembly("00000100 <f>:\n" + std::string(row.code), *row.set);
    ASSERT_EQ(graph.size(), 1u);
    EXPECT_EQ(graph.at("f").bytes, row.bytes);
    EXPECT_EQ(graph.at("f").callees, row.callees);
    EXPECT_EQ(graph.at("f").indirect, row.indirect);
  }
  EXPECT_FALSE(parse_disassembly("00000100 <__divsf3>:\n80000100:\tjr\ta5\n", kRiscV32).at("__divsf3").indirect) << "a jump table";
  EXPECT_FALSE(parse_disassembly("00000100 <__memcpy_simd>:\n100:\tbr\tx3\n", kAArch64).at("__memcpy_simd").indirect) << "a jump table";
  EXPECT_TRUE(parse_disassembly("00000100 <run>:\n100:\tbr\tx3\n", kAArch64).at("run").indirect);
  EXPECT_TRUE(parse_disassembly("00000100 <.iplt>:\n100:\tldr\tpc, [ip, #3724]!\n", kArm).at(".iplt").indirect);
  const StackGraph divides = parse_disassembly("00000100 <f>:\n100:\tbl\t200 <__aeabi_ldiv0>\n104:\tbl\t300 <__udivmoddi4>\n", kArm);
  EXPECT_EQ(divides.at("f").callees, std::set<std::string>{"__udivmoddi4"}) << "no divisor is 0";
  EXPECT_EQ(instruction_set("thumbv8m.main-none-eabihf"), &kArm);
  EXPECT_EQ(instruction_set("riscv32-unknown-elf"), &kRiscV32);
  EXPECT_EQ(instruction_set("aarch64-linux-gnu"), &kAArch64);
  EXPECT_EQ(instruction_set("avr"), &kAvr);
  EXPECT_EQ(instruction_set("x86_64-linux-gnu"), nullptr);
}

// As libm's product of floats: a function jumps back into the one that called it, behind the call, and one runs into the next.
TEST(Stack, FunctionsThatRunIntoEachOther) {
  const StackGraph graph = parse_disassembly(
      "00000100 <f>:\n     100:\tcall\t0x10c\t; 0x10c <g>\n     104:\tpush\tr28\n     106:\tpop\tr28\n     108:\tjmp\t0x200\t; 0x200 "
      "<away>\n"
      "0000010c <g>:\n     10c:\tpush\tr2\n     10e:\tbrcs\t.-12     \t; 0x104 <f+0x4>\n     110:\tpop\tr2\n"
      "00000112 <h>:\n     112:\tpush\tr3\n     114:\tpush\tr4\n     116:\trcall\t.-18     \t; 0x106 <f+0x6>\n     118:\tret\n"
      "00000200 <away>:\n     200:\tpush\tr5\n     202:\tret\n",
      kAvr);
  EXPECT_EQ(graph.at("away").bytes, 3 + 1);
  EXPECT_EQ(graph.at("f").bytes, 3 + 1 + 1);  // with what it jumps to
  EXPECT_EQ(graph.at("f").callees, std::set<std::string>{"g"});
  EXPECT_EQ(graph.at("g").bytes, 3 + 1 + 1 + 1 + 2);  // with the end of f, away, and h
  EXPECT_EQ(graph.at("h").bytes, 3 + 2);
  EXPECT_EQ(graph.at("h").callees, std::set<std::string>{"code at 262"});
  EXPECT_EQ(graph.at("code at 262").bytes, 3 + 1);
  // f, g, h, and the piece of f that h calls.
  EXPECT_EQ(worst_case_stack(graph, "f").bytes, 5 + 8 + 4);
}

TEST(Stack, GarbageIsNoCrash) {
  for (const char* text :
       {"", "\n", "node:", "node: { title: \"", "edge: { sourcename: \"a\"", "x\ty", "000 <f>:\n 1:\tpush\t{", " 1:\tb"}) {
    parse_callgraph_info(text);
    parse_stack_usage(text);
    for (const InstructionSet* set : {&kArm, &kAArch64, &kRiscV32, &kRiscV64, &kAvr}) parse_disassembly(text, *set);
  }
}

}  // namespace
}  // namespace etch
