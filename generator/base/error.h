// Two kinds of errors. A UserError is about the user's input and is worded in the user's terms: the place, the problem, and
// what to do. An InternalError is a bug of etch; its text is the rule that must hold.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace etch {

/// An error of the input. `where` names file and node, `what` says what was found (with numbers) and what is accepted,
/// `help` what to do (may be empty). Lower case, no final period.
class UserError : public std::exception {
 public:
  UserError(std::string where, std::string what, std::string help = "");
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }
  const std::string& help() const { return help_; }

 private:
  std::string where_, problem_, help_;
  std::string text_;  // "where: what\n  help: help"
};

/// The input is good, but etch does not support it: an operator, an attribute, a type. `subject` is what is not supported,
/// without the place, so that many files can be grouped by it.
class UnsupportedError : public UserError {
 public:
  UnsupportedError(std::string where, std::string what, std::string help, std::string subject)
      : UserError(std::move(where), std::move(what), std::move(help)), subject_(std::move(subject)) {}
  const std::string& subject() const { return subject_; }

 private:
  std::string subject_;
};

/// A bug of etch: one of its own rules does not hold.
class InternalError : public std::exception {
 public:
  InternalError(std::string_view rule, const std::source_location& at);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// A size or index beyond 64 bits. While a model is read this is the model's fault: the importer then throws an error that names the
/// node instead.
class IndexOverflow : public InternalError {
 public:
  using InternalError::InternalError;
};

[[noreturn]] void fail_check(std::string_view rule, const std::source_location& at);

/// Throws InternalError unless `holds`. `rule` is the rule itself: check(rank == axes.size(), "one axis per dimension").
inline void check(bool holds, std::string_view rule, const std::source_location& at = std::source_location::current()) {
  if (!holds) fail_check(rule, at);
}

}  // namespace etch
