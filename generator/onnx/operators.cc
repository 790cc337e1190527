#include "onnx/operators.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace etch {
namespace {

std::vector<OperatorRow> sorted_rows() {
  std::vector<OperatorRow> rows = {
#define ONNX_OP(name, since, types, function) {#name, since, types, &operators::function},
#define ONNX_TRAINING_OP(name, since, types, function) {#name, since, types, &operators::function, kTrainingDomain.data()},
#include "onnx/operators.def"
#undef ONNX_TRAINING_OP
#undef ONNX_OP
  };
  std::stable_sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
    return std::make_tuple(std::string_view(a.name), a.since) < std::make_tuple(std::string_view(b.name), b.since);
  });
  return rows;
}

/// The name in lower case with only its letters and digits, which typing errors rarely change.
std::string plain(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

const std::vector<OperatorRow>& operator_rows() {
  static const std::vector<OperatorRow> rows = sorted_rows();
  return rows;
}

const OperatorRow* find_operator(std::string_view name, int version, std::string_view domain) {
  const OperatorRow* found = nullptr;
  for (const OperatorRow& row : operator_rows()) {
    if (row.name == name && row.domain == domain && row.since <= version) found = &row;  // sorted: the last one is the newest
  }
  return found;
}

std::optional<int> oldest_opset_of(std::string_view name) {
  for (const OperatorRow& row : operator_rows()) {
    if (row.name == name && std::string_view(row.domain).empty()) return row.since;
  }
  return std::nullopt;
}

std::string nearest_operator(std::string_view name) {
  for (const OperatorRow& row : operator_rows()) {
    if (plain(row.name) == plain(name)) return row.name;
  }
  return "";
}

bool accepts(const OperatorRow& row, DType dtype) {
  const char letter = is_float(dtype) ? 'f' : is_int(dtype) ? 'i' : 'b';
  const std::string_view types = row.types;
  return types.find(letter) != std::string_view::npos || (letter == 'f' && types.find('F') != std::string_view::npos);
}

std::string types_text(const OperatorRow& row) {
  std::string text;
  for (char letter : std::string_view(row.types)) {
    if (!text.empty()) text += ", ";
    text += letter == 'f' || letter == 'F' ? "float" : letter == 'i' ? "integer" : "bool";
  }
  return text;
}

}  // namespace etch
