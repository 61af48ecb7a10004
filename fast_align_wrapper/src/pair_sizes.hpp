// The different (source length, target length) of a corpus: few, so priors are computed per size.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus.hpp"

namespace aligner {

struct PairSize {
  std::uint32_t source_length;
  std::uint32_t target_length;
  std::uint64_t pairs;

  std::uint64_t cells() const { return std::uint64_t{source_length} * target_length; }
};

struct PairSizes {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// In the order of their first occurrence.
  std::vector<PairSize> sizes;
  /// For each pair the position in `sizes`; kNone for a pair that is not trained on.
  std::vector<std::uint32_t> of_pair;
};

PairSizes count_pair_sizes(const Corpus& corpus);

}  // namespace aligner
