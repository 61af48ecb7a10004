// Text in and out: words and their ids, pairs of segments, links.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aligner {

/// Words and their ids 0, 1, 2 … in order of first occurrence.
class Vocabulary {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  Vocabulary() : slots_(1024, kUnknown) {}

  /// The id of a word, a new one if the word is new.
  std::uint32_t add(std::string_view word);
  /// The id of a word, or kUnknown.
  std::uint32_t find(std::string_view word) const;
  std::string_view word(std::uint32_t id) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::size_t slot_of(std::string_view word, std::uint32_t hash) const;

  std::string characters_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint32_t> slots_;
};

/// The tokens of one pair; views into the line they were read from.
struct SentencePair {
  std::vector<std::string_view> source;
  std::vector<std::string_view> target;

  std::uint64_t cells() const { return std::uint64_t{source.size()} * target.size(); }
};

/// Splits a line. Space and tab separate tokens; the token "|||", or a tab, separates the sides.
/// Throws Error, naming `position`, unless the line has exactly one separator of sides.
void split_pair(std::string_view line, const std::string& position, SentencePair& pair);

/// The warning about a pair with more than `max_cells` cells; `effect` says what happens to it.
std::string oversize_warning(const SentencePair& pair, const std::string& position,
                             std::uint64_t max_cells, const std::string& effect);

/// A link between a source and a target word, by position counted from 0.
struct LinkPair {
  std::uint32_t source;
  std::uint32_t target;
};

using Links = std::vector<LinkPair>;

/// Appends "0-0 1-2 …", without a line end.
void format_links(const Links& links, std::string& out);

}  // namespace aligner
