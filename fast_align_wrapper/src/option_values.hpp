// Numbers on a command line.
#pragma once

#include <cstdint>
#include <string>

namespace aligner {

/// Throws UsageError naming the option unless the text is a whole number from least to most.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

/// Throws UsageError naming the option unless the text is a finite number from least to most.
double parse_real(const std::string& option, const std::string& text, double least, double most);

}  // namespace aligner
