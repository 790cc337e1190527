// Dot-product and matrix instructions of a target, as its description lists them. The code generator places them (OptOp TC), a language
// writes them: by one of the texts here where the compiler has the instruction, else in plain code of the same meaning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etch {

/// One way to write an instruction.
///   dot     an expression: $0 the sum, $1 and $2 the operands, vectors of `lanes` numbers of the sum's type; of one lane $0 is a number,
///           $1 and $2 are uint32_t that hold elements as memory does, of 8 bytes pointers to the first element, of 16 vectors
///   matrix  statements: d[0], d[1], ... the sums of a work-item, a[0], ... and b[0], ... the bits of its operands
struct InstructionText {
  std::string when;    // condition for the preprocessor: "defined(__AVX512VNNI__)"
  std::string header;  // to be included for it: "immintrin.h"; may be empty
  std::string text;
  std::int64_t step = 0;  // of the instruction's steps, the one that this is a text of
};

/// A digit of the number of a work-item or of a register, the fastest digit first: it has `size` values, and each step moves `step`
/// elements along `axis` of the tile (m, n or k).
struct TileDigit {
  char axis = 'm';
  std::int64_t size = 1, step = 1;
};

/// Which elements of a tile a work-item has: those at the sum of the moves of its own number and that of the register.
struct TilePart {
  std::vector<TileDigit> items, registers;
};

/// The number of values that the digits have together.
std::int64_t count_of(const std::vector<TileDigit>& digits);

struct TargetInstruction {
  std::string name;                    // a C identifier: "vpdpbusd"
  std::string a, b, sum;               // types of the operands and of the sum: "uint8", "int8", "int32"
  std::vector<InstructionText> texts;  // the first one whose condition holds

  /// Dot products: lane l of the sum (one lane: a number) gets the products of elements l * macs to l * macs + macs - 1 of a and b.
  /// With two steps, of one lane: a has macs * 2 adjacent elements, of which step 0 takes those of even numbers, step 1 the others; b has
  /// the macs elements of one step.
  /// Without steps, of numbers of 16 bits: b has the elements of even numbers first, then those of odd ones.
  std::int64_t macs = 0, lanes = 0, steps = 1;
  bool words = false;              // b is constants that lie in whole words of 4 bytes, of which one instruction may load several
  std::string intrinsic, feature;  // the same in LLVM IR, and the feature of the processor that it needs; may be empty

  /// Matrix products of some work-items together: m x n sums, each of k products. The items have the same digits in all three parts.
  std::int64_t m = 0, n = 0, k = 0;
  TilePart of_a, of_b, of_sum;

  bool is_matrix() const { return m > 0; }
  /// Whether b has first the elements that are multiplied with those of even numbers in a: constants alone can lie so.
  bool parts_evens() const { return b == "int16"; }
  /// Whether those of odd numbers follow at once, and not with another step.
  bool is_whole_pair() const { return parts_evens() && steps == 1; }
  /// Whether operands of one lane are values, vectors, and not places in memory.
  bool takes_vectors() const { return lanes == 1 && macs == 16; }
};

}  // namespace etch
