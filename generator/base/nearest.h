// Suggestions for a misspelt name: errors about an unknown name list the known ones, the most similar first.
//
//   throw UserError(place, "no dimension is called 'bacth'", "the model's dimensions: " + nearest_text("bacth", names));
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace etch {

/// Normalized edit distance of two names, from 0 (equal) to 1. Case is ignored; a letter too many, a missing letter and two exchanged
/// letters cost less than a wrong letter.
double name_distance(std::string_view a, std::string_view b);

/// `names`, those most similar to `wanted` first; equally similar ones keep their order.
std::vector<std::string> nearest_first(std::string_view wanted, const std::vector<std::string>& names);

/// The same as one text: "'batch', 'width'"; of many the nearest dozen "and 30 more". Empty where there are no names.
std::string nearest_text(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace etch
