// Alignment links "source-target", counted from 0, in Pharaoh lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aligner {

struct LinkPair {
  std::uint32_t source;
  std::uint32_t target;

  bool operator==(const LinkPair& other) const {
    return source == other.source && target == other.target;
  }
  bool operator<(const LinkPair& other) const {
    return source != other.source ? source < other.source : target < other.target;
  }
};

using Links = std::vector<LinkPair>;

/// Appends "0-0 1-2 …", without a line end.
void format_links(const Links& links, std::string& out);

/// Reads a Pharaoh line; `position` names it in the Error thrown when it is malformed.
void parse_links(std::string_view line, const std::string& position, Links& links);

}  // namespace aligner
