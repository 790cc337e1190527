#include "base/error.h"

#include <utility>

namespace etch {

UserError::UserError(std::string where, std::string what, std::string help)
    : where_(std::move(where)), problem_(std::move(what)), help_(std::move(help)) {
  text_ = where_.empty() ? problem_ : where_ + ": " + problem_;
  if (!help_.empty()) text_ += "\n  help: " + help_;
}

InternalError::InternalError(std::string_view rule, const std::source_location& at)
    : text_("internal error: the rule '" + std::string(rule) + "' does not hold (" + at.function_name() + ", line " +
            std::to_string(at.line()) + ")") {}

void fail_check(std::string_view rule, const std::source_location& at) { throw InternalError(rule, at); }

}  // namespace etch
