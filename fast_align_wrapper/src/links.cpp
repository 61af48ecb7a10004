#include "links.hpp"

#include <array>
#include <charconv>

#include "errors.hpp"

namespace aligner {

namespace {

// No segment is longer; a larger number is a mistake that would cost gigabytes.
constexpr std::uint32_t kMostPositions = 1U << 27;

void append_number(std::string& out, std::uint32_t number) {
  std::array<char, 10> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

LinkPair parse_link(std::string_view text, const std::string& position) {
  LinkPair link{};
  const char* end = text.data() + text.size();
  const auto source = std::from_chars(text.data(), end, link.source);
  if (source.ec == std::errc() && source.ptr != end && *source.ptr == '-') {
    const auto target = std::from_chars(source.ptr + 1, end, link.target);
    const bool in_range = link.source < kMostPositions && link.target < kMostPositions;
    if (target.ec == std::errc() && target.ptr == end && in_range) return link;
  }
  throw Error(position + ": '" + std::string(text) + "' is not a link 'source-target'");
}

}  // namespace

void format_links(const Links& links, std::string& out) {
  bool first = true;
  for (const LinkPair& link : links) {
    if (!first) out += ' ';
    first = false;
    append_number(out, link.source);
    out += '-';
    append_number(out, link.target);
  }
}

void parse_links(std::string_view line, const std::string& position, Links& links) {
  links.clear();
  constexpr std::string_view kBlanks = " \t\r";
  std::size_t begin = 0;
  while ((begin = line.find_first_not_of(kBlanks, begin)) != std::string_view::npos) {
    std::size_t end = line.find_first_of(kBlanks, begin);
    if (end == std::string_view::npos) end = line.size();
    links.push_back(parse_link(line.substr(begin, end - begin), position));
    begin = end;
  }
}

}  // namespace aligner
