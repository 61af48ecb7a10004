// One line of input, "source ||| target", split into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aligner {

/// The tokens of one pair; views into the line they were read from.
struct SentencePair {
  std::vector<std::string_view> source;
  std::vector<std::string_view> target;
};

/// Splits a line. Space and tab separate tokens; the token "|||", or a tab, separates the sides.
/// `position` names the line in the Error thrown when it does not have exactly one separator.
void split_pair(std::string_view line, const std::string& position, SentencePair& pair);

}  // namespace aligner
