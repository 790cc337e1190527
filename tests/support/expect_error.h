// For tests: an error is the expected one only if its text says what is wrong.
#pragma once

#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <string_view>

namespace etch::test {

/// The text of the Error that `call` throws; "" if it throws none.
template <class Error, class F>
std::string error_text(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// `call` must throw an Error whose text contains `part`.
template <class Error, class F>
void expect_error(F call, std::string_view part, std::source_location where = std::source_location::current()) {
  const std::string text = error_text<Error>(call);
  if (text.find(part) != std::string::npos && !part.empty()) return;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
      << (text.empty() ? "no error" : text) << "\nexpected is an error that says: " << part;
}

}  // namespace etch::test
