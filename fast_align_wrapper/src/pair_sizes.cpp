#include "pair_sizes.hpp"

#include <unordered_map>

namespace aligner {

PairSizes count_pair_sizes(const Corpus& corpus) {
  PairSizes result;
  result.of_pair.assign(corpus.pairs(), PairSizes::kNone);
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint64_t pair = 0; pair < corpus.pairs(); ++pair) {
    if (corpus.cells(pair) == 0) continue;
    const std::uint32_t source = corpus.source.length(pair);
    const std::uint32_t target = corpus.target.length(pair);
    const auto [entry, is_new] = known.try_emplace(std::uint64_t{source} << 32 | target,
                                                   static_cast<std::uint32_t>(known.size()));
    if (is_new) result.sizes.push_back({source, target, 0});
    ++result.sizes[entry->second].pairs;
    result.of_pair[pair] = entry->second;
  }
  return result;
}

}  // namespace aligner
