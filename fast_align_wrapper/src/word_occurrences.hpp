// Where each source word occurs, so that rows of the table can be made one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus.hpp"

namespace aligner {

struct Occurrence {
  std::uint32_t pair;
  std::uint32_t position;
};

/// Occurrences in a range of pairs, grouped by word, each word's in the order of the text.
struct WordOccurrences {
  /// No range is divided into more pieces than one more than this.
  static constexpr std::size_t kPieces = 256;

  std::vector<std::uint64_t> word_begin;
  std::vector<Occurrence> places;
};

WordOccurrences group_by_word(const Side& side, std::uint64_t first_pair, std::uint64_t last_pair);

/// Consecutive words with about the same number of occurrences, as pieces of work: piece p has the
/// words result[p] … result[p + 1] - 1.
std::vector<std::uint32_t> divide_words(const WordOccurrences& occurrences);

}  // namespace aligner
