// A parallel corpus as numbers: what training reads, once, for both directions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vocabulary.hpp"

namespace aligner {

/// Tokens of one side of all pairs; pair p has tokens[begin[p]] … tokens[begin[p + 1] - 1].
struct Side {
  Vocabulary words;
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint64_t> begin{0};

  std::uint32_t length(std::uint64_t pair) const {
    return static_cast<std::uint32_t>(begin[pair + 1] - begin[pair]);
  }
  const std::uint32_t* tokens_of(std::uint64_t pair) const { return tokens.data() + begin[pair]; }
};

/// Pairs that cannot be trained on (a side empty, or too large) keep their place with no tokens.
struct Corpus {
  Side source;
  Side target;
  std::uint64_t empty_pairs = 0;
  std::uint64_t oversize_pairs = 0;

  std::uint64_t pairs() const { return source.begin.size() - 1; }
  std::uint64_t trained_pairs() const { return pairs() - empty_pairs - oversize_pairs; }
  /// Source times target words of a pair.
  std::uint64_t cells(std::uint64_t pair) const {
    return std::uint64_t{source.length(pair)} * target.length(pair);
  }
};

/// Reads "source ||| target" lines. A pair with more than `max_cells` cells is left out, and
/// `warn` is told so. Throws Error on a malformed line or when no pair can be trained on.
Corpus read_corpus(const std::string& path, std::uint64_t max_cells,
                   const std::function<void(const std::string&)>& warn);

}  // namespace aligner
