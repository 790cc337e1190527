#include <fmt/format.h>

#include <bit>

#include "base/fnv.h"
#include "emit/literals.h"
#include "emit/project.h"

namespace etch {
namespace {

const ProgramBuffer& buffer_of(const Project& p, const ConstantMember& member) {
  return p.program->buffers[static_cast<std::size_t>(member.buffer)];
}

// A member of the struct: a constant, or padding bytes before the next one, so that the layout does not depend on compiler attributes.
struct Member {
  std::string name;
  const ConstantMember* constant = nullptr;  // null: padding
  std::int64_t padding = 0;                  // bytes
};

std::vector<Member> members_of(const Project& p) {
  std::vector<Member> members;
  std::int64_t end = 0;
  const auto pad_to = [&](std::int64_t offset) {
    if (offset > end) members.push_back({fmt::format("etch_pad_{}", members.size()), nullptr, offset - end});
  };
  for (const ConstantMember& constant : p.constants) {
    pad_to(constant.offset);
    members.push_back({constant.member, &constant, 0});
    end = constant.offset + buffer_of(p, constant).max_bytes();
  }
  pad_to(p.constants_bytes);
  return members;
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
}

bool needs_math_header(const Project& p) {
  for (const ConstantMember& member : p.constants) {
    const Array& data = buffer_of(p, member).data;
    if (!is_float(data.dtype()) || bytes_of(data.dtype()) == 2) continue;
    for (std::int64_t i = 0; i < data.size(); i++) {
      const double value = data.double_at(i);
      if (value - value != 0) return true;  // infinity or NaN
    }
  }
  return false;
}

// The bytes of a little-endian target; the bytes of `data` are the host's.
void append_little_endian(std::string& bytes, const Array& data) {
  static_assert(std::endian::native == std::endian::little, "a big-endian host has to turn each element around here");
  const auto raw = data.bytes();
  bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
}

template <class T>
void append_value(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); i++) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::string constants_binary(const Project& p) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(p.constants_bytes));
  for (const ConstantMember& member : p.constants) {
    bytes.resize(static_cast<std::size_t>(member.offset), '\0');
    append_little_endian(bytes, buffer_of(p, member).data);
  }
  bytes.resize(static_cast<std::size_t>(p.constants_bytes), '\0');
  return bytes;
}

// Comment of a constant: "conv1.weight int8 [16,3,3,3], in reading order".
std::string described(const ProgramBuffer& buffer) {
  return in_comment(shortened(buffer.name)) + " " + type_text(buffer) + (buffer.laid_out ? ", in reading order" : "");
}

// Of constants that no struct can hold.
std::string places_of_constants(const Project& p) {
  std::string text = fmt::format("/* {} bytes; where in them each constant begins. */\n", grouped(p.constants_bytes));
  for (const ConstantMember& member : p.constants)
    text += fmt::format("#define {}_AT_{} {}u /* {} */\n", p.macro, member.member, member.offset, described(buffer_of(p, member)));
  return text +
         fmt::format(
             "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\nextern {} unsigned char {}_constants[];\n#ifdef __cplusplus\n}}\n#endif\n",
             p.constant_word(), p.name);
}

std::string_view placement_text(WeightsForm form) {
  switch (form) {
    case WeightsForm::Auto:
    case WeightsForm::C:
      return "";
    case WeightsForm::Incbin:
      return " Their bytes are in the .bin file that the .S file includes.";
    case WeightsForm::Blob:
      return " Their bytes are in the .bin file, behind its header.";
  }
  return "";
}

}  // namespace

std::string weights_header(const Project& p) {
  std::string text =
      p.first_line() + " The constants, in the order in which the kernels read them." + std::string(placement_text(p.weights)) + " */\n";
  text += fmt::format("#ifndef {0}_WEIGHTS_H\n#define {0}_WEIGHTS_H\n\n#include <stdbool.h>\n\n#include \"etch_runtime.h\"\n\n", p.macro);
  if (p.by_offset()) return text + places_of_constants(p) + "\n#endif\n";
  text += fmt::format("struct {}_constants {{ /* {} bytes */\n", p.name, grouped(p.constants_bytes));
  for (const Member& member : members_of(p)) {
    if (member.constant == nullptr) {
      text += fmt::format("  unsigned char {}[{}];\n", member.name, member.padding);
      continue;
    }
    const ProgramBuffer& buffer = buffer_of(p, *member.constant);
    text += fmt::format("  {} {}[{}]; /* {} */\n", c_type(buffer), member.name, buffer.max_elements, described(buffer));
  }
  text += "};\n";
  if (p.weights != WeightsForm::C) {
    text +=
        "\n#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)\n#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\n"
        "#error \"the numbers in the .bin file are little-endian: generate with --weights c\"\n#endif\n#endif\n";
    text += fmt::format(
        "\n/* The layout of the file; a compiler that lays the struct out in another way stops here. */\n"
        "typedef char {0}_constants_layout[sizeof(struct {0}_constants) == {1}u ? 1 : -1];\n",
        p.name, p.constants_bytes);
  }
  if (p.weights == WeightsForm::C || p.weights == WeightsForm::Incbin) {
    text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    text += fmt::format("extern {1} struct {0}_constants {0}_constants;\n", p.name, p.constant_word());
    text += "#ifdef __cplusplus\n}\n#endif\n";
  }
  return text + "\n#endif\n";
}

std::string weights_source(const Project& p) {
  std::string text = p.first_line() + " */\n";
  text += fmt::format("#include \"{}_weights.h\"\n", p.name);
  if (needs_math_header(p)) text += "\n#include <math.h>\n";
  const std::string aligned = p.constants_align > 1 ? fmt::format("ETCH_ALIGNED({}) ", p.constants_align) : "";
  text += fmt::format("\nETCH_CONST_SECTION {1}{2} struct {0}_constants {0}_constants = {{\n", p.name, aligned, p.constant_word());
  for (const Member& member : members_of(p)) {
    if (member.constant == nullptr) {
      text += fmt::format("  {{0}}, /* {} */\n", member.name);
      continue;
    }
    const Array& data = buffer_of(p, *member.constant).data;
    text += fmt::format("  {{ /* {} */\n", member.name) + c_initializers(data, 0, data.size(), "    ") + "  },\n";
  }
  return text + "};\n";
}

std::string weights_assembler(const Project& p) {
  std::string text = p.first_line() + " The constants of the model as bytes; for GNU as and clang.\n";
  text += " * ETCH_WEIGHTS_SECTION places them elsewhere: -D'ETCH_WEIGHTS_SECTION=.section .qspi,\"a\",%progbits'. */\n";
  text += fmt::format(
      "#if defined(__APPLE__)\n"
      "  .section __TEXT,__const\n"
      "#define SYMBOL _{0}_constants\n"
      "#else\n"
      "#define SYMBOL {0}_constants\n"
      "#if defined(ETCH_WEIGHTS_SECTION)\n"
      "  ETCH_WEIGHTS_SECTION\n"
      "#else\n"
      "  .section {3}.{0}_constants,\"a\",%progbits\n"
      "#endif\n"
      "  .type SYMBOL, %object\n"
      "  .size SYMBOL, {1}\n"
      "#endif\n"
      "  .globl SYMBOL\n"
      "  .balign {2}\n"
      "SYMBOL:\n"
      "  .incbin \"{0}_weights.bin\"\n"
      "#if defined(__ELF__)\n"
      "  .section .note.GNU-stack,\"\",%progbits\n"
      "#endif\n",
      p.name, p.constants_bytes, p.constants_align, p.space() ? ".etch_weights" : ".rodata");
  return text;
}

std::string weights_binary(const Project& p) {
  std::string constants = constants_binary(p);
  if (p.weights != WeightsForm::Blob) return constants;
  std::string bytes;
  append_value<std::uint32_t>(bytes, 0x42435445u);  // as etch_blob_header of the runtime
  append_value<std::uint32_t>(bytes, 1u);
  append_value<std::uint64_t>(bytes, static_cast<std::uint64_t>(constants.size()));
  append_value<std::uint64_t>(bytes, fnv1a_64(constants));
  append_value<std::uint32_t>(bytes, static_cast<std::uint32_t>(p.constants_align));
  bytes.resize(64, '\0');
  return bytes + constants;
}

}  // namespace etch
