#include "option_values.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "errors.hpp"

namespace aligner {

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc() && result.ptr == end && value >= least && value <= most) {
    return value;
  }
  throw UsageError(option + " takes a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most) + ", not '" + text + "'");
}

double parse_real(const std::string& option, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (is_number && std::isfinite(value) && value >= least && value <= most) return value;
  std::ostringstream message;
  message << option << " takes a number from " << least << " to " << most << ", not '" << text
          << "'";
  throw UsageError(message.str());
}

}  // namespace aligner
