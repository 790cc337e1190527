// Comparisons, logic, bits, remainders and powers. Expected values by hand from the definitions (Mod and Pow: Python's).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;

using Ints = std::vector<std::int64_t>;

struct BinaryCase {
  const char* op;
  int opset;
  DType dtype;
  Attributes attributes;
  Ints a, b, y;
};

const BinaryCase kBinaryCases[] = {
    {"BitwiseAnd", 18, DType::UInt8, {}, {0xf0, 0xff, 1}, {0x3c, 0x0f, 2}, {0x30, 0x0f, 0}},
    {"BitwiseOr", 18, DType::Int16, {}, {-256, 5}, {0x0f, 2}, {-241, 7}},
    {"BitwiseXor", 18, DType::Int64, {}, {-1, 5}, {1, 5}, {-2, 0}},
    {"BitwiseXor", 18, DType::Int8, {}, {-1, 127}, {127, -128}, {-128, -1}},
    {"BitShift", 11, DType::UInt8, {{"direction", "LEFT"}}, {1, 255, 3, 1}, {7, 1, 8, 200}, {128, 254, 0, 0}},
    {"BitShift", 11, DType::UInt32, {{"direction", "RIGHT"}}, {4294967295, 4294967295, 8}, {31, 32, 2}, {1, 0, 2}},
    {"BitShift", 11, DType::UInt64, {{"direction", "LEFT"}}, {1, 1}, {63, 64}, {std::numeric_limits<std::int64_t>::min(), 0}},
    {"Mod", 13, DType::Int32, {}, {-4, 7, 5, 4, -7, 8}, {2, -3, 8, -2, 3, 5}, {0, -2, 5, 0, 2, 3}},
    {"Mod", 13, DType::Int32, {{"fmod", std::int64_t{1}}}, {-4, 7, 5, 4, -7, 8}, {2, -3, 8, -2, 3, 5}, {0, 1, 5, 0, -1, 3}},
    {"Mod", 13, DType::Int8, {}, {-128, 127, -1}, {127, -128, -128}, {126, -1, -1}},
    {"Mod", 13, DType::Int64, {}, {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}, {10, -10}, {2, -3}},
    {"Mod", 13, DType::UInt8, {}, {255, 7}, {16, 9}, {15, 7}},
    {"Pow", 13, DType::Int32, {}, {2, -3, 0, 5, -1, 7}, {10, 3, 0, 1, 1001, 0}, {1024, -27, 1, 5, -1, 1}},
    {"Pow", 13, DType::Int64, {}, {3, -1, 1, 0, 2, -1}, {39, 64, 1000000, 64, -1, -3}, {4052555153018976267, 1, 1, 0, 0, -1}},
};

TEST(OnnxBits, IntegersAreExact) {
  for (const BinaryCase& c : kBinaryCases) {
    const auto n = static_cast<std::int64_t>(c.a.size());
    for (std::size_t constants : {1u, 2u}) {
      expect_node({c.op, c.opset, {ints({n}, c.a, c.dtype), ints({n}, c.b, c.dtype)}, c.attributes, 1, constants},
                  {ints({n}, c.y, c.dtype)});
    }
  }
  expect_node({"BitwiseNot", 18, {ints({3}, {0, 1, 255}, DType::UInt8)}}, {ints({3}, {255, 254, 0}, DType::UInt8)});
  expect_node({"BitwiseNot", 18, {ints({3}, {0, 1, -128}, DType::Int8)}}, {ints({3}, {-1, -2, 127}, DType::Int8)});
}

TEST(OnnxBits, FloatMod) {
  const Attributes fmod{{"fmod", std::int64_t{1}}};
  expect_node({"Mod", 13, {floats({4}, {-4.3, 7.2, 5, -8}), floats({4}, {2.1, -3.4, 8, 3})}, fmod},
              {floats({4}, {std::fmod(-4.3, 2.1), std::fmod(7.2, -3.4), 5, -2})}, 1e-5, 1e-6);
  expect_refused({"Mod", 13, {floats({1}, {1}), floats({1}, {1})}}, "ONNX wants fmod = 1 for floats");
}

TEST(OnnxBits, PowTakesTheTypeOfItsBase) {
  const Array x = floats({3}, {1, 2, -3});
  expect_node({"Pow", 15, {x, ints({3}, {4, 5, 3})}}, {floats({3}, {1, 32, -27})});
  expect_node({"Pow", 15, {x, ints({3}, {4, 5, 3}, DType::UInt8)}}, {floats({3}, {1, 32, -27})});
  for (double exponent : {0.0, 1.0, 2.0, 3.0, 5.0, -1.0, -2.0, 0.5, 1.5}) {  // numbers that have a shorter way, and that have none
    std::vector<double> y;
    for (double v : {1.0, 2.0, 0.25}) y.push_back(std::pow(v, exponent));
    for (std::size_t constants : {1u, 2u}) {
      expect_node({"Pow", 15, {floats({3}, {1, 2, 0.25}), floats({}, {exponent})}, {}, 1, constants}, {floats({3}, y)});
    }
  }
  // An integer base: the fraction of the result is cut off.
  expect_node({"Pow", 15, {ints({3}, {1, 2, 10}, DType::Int32), floats({3}, {2, 0.5, 1.5})}}, {ints({3}, {1, 1, 31}, DType::Int32)});
  expect_node({"Pow", 15, {ints({3}, {1, 2, 10}, DType::Int32), floats({}, {3})}}, {ints({3}, {1, 8, 1000}, DType::Int32)});
  expect_node({"Pow", 15, {floats({2}, {2, 3}), floats({2, 1}, {1, 2})}}, {floats({2, 2}, {2, 3, 4, 9})});
  expect_refused({"Pow", 11, {x, ints({3}, {4, 5, 3})}}, "from opset 12 on it takes int64");
}

TEST(OnnxLogic, ComparisonsWithNaNAreFalse) {
  const Array a = floats({4}, {NAN, 1, 2, 3}), b = floats({4}, {1, NAN, 2, 2});
  const auto flags = [](Ints v) { return ints({4}, std::move(v), DType::Bool); };
  expect_node({"Less", 13, {a, b}}, {flags({0, 0, 0, 0})});
  expect_node({"LessOrEqual", 16, {a, b}}, {flags({0, 0, 1, 0})});
  expect_node({"Greater", 13, {a, b}}, {flags({0, 0, 0, 1})});
  expect_node({"GreaterOrEqual", 16, {a, b}}, {flags({0, 0, 1, 1})});
  expect_node({"Equal", 19, {a, b}}, {flags({0, 0, 1, 0})});
}

TEST(OnnxLogic, EveryTypeIsComparedAsItself) {
  const Array a = ints({3}, {-1, 5, 0}, DType::UInt64), b = ints({3}, {1, 5, 3}, DType::UInt64);  // -1: the largest
  const auto flags = [](Ints v) { return ints({3}, std::move(v), DType::Bool); };
  expect_node({"Less", 13, {a, b}}, {flags({0, 0, 1})});
  expect_node({"GreaterOrEqual", 16, {a, b}}, {flags({1, 1, 0})});
  expect_node({"LessOrEqual", 16, {ints({3}, {-128, 5, 0}, DType::Int8), ints({3}, {127, 5, -1}, DType::Int8)}}, {flags({1, 1, 0})});
  expect_node({"Equal", 13, {flags({0, 1, 1}), flags({0, 0, 1})}}, {flags({1, 0, 1})});
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // not a double
  expect_node({"Equal", 13, {ints({3}, {large, 1, 1}), ints({3}, {large - 1, 1, 2})}}, {flags({0, 1, 0})});
  expect_refused({"Equal", 13, {ints({1}, {1}), ints({1}, {1}, DType::Int32)}}, "input 0 is int64 and input 1 is int32");
}

TEST(OnnxLogic, TablesOfTruth) {
  const auto flags = [](Ints v) { return ints({4}, std::move(v), DType::Bool); };
  const Array a = flags({0, 0, 1, 1}), b = flags({0, 1, 0, 1});
  expect_node({"And", 7, {a, b}}, {flags({0, 0, 0, 1})});
  expect_node({"Or", 7, {a, b}}, {flags({0, 1, 1, 1})});
  expect_node({"Xor", 7, {a, b}}, {flags({0, 1, 1, 0})});
  expect_node({"Not", 7, {a}}, {flags({1, 1, 0, 0})});
}

TEST(OnnxLogic, WhereBroadcastsAllThree) {
  const Array condition = ints({2, 1}, {1, 0}, DType::Bool);
  expect_node({"Where", 16, {condition, floats({3}, {1, 2, 3}), floats({}, {NAN})}}, {floats({2, 3}, {1, 2, 3, NAN, NAN, NAN})});
  expect_node({"Where", 16, {condition, ints({}, {1}, DType::Bool), ints({}, {0}, DType::Bool)}}, {ints({2, 1}, {1, 0}, DType::Bool)});
  expect_refused({"Where", 16, {floats({1}, {1}), floats({1}, {1}), floats({1}, {1})}}, "its input 0 is float32, accepted are: bool");
}

TEST(OnnxBits, CastLike) {
  expect_node({"CastLike", 19, {floats({3}, {1.9, -1.9, 300}), ints({1}, {0}, DType::Int32)}}, {ints({3}, {1, -1, 300}, DType::Int32)});
  expect_node({"CastLike", 15, {ints({2}, {0, 7}), ints({1}, {0}, DType::Bool)}}, {ints({2}, {0, 1}, DType::Bool)});
}

}  // namespace
}  // namespace etch
