// Priors of the commonest pair sizes, computed once per iteration instead of once per pair.
#pragma once

#include <cstdint>
#include <vector>

#include "diagonal_prior.hpp"
#include "pair_sizes.hpp"
#include "thread_pool.hpp"

namespace aligner {

/// Fills `prior` (source length × target length, rows are source words) for one direction.
void fill_pair_prior(const PriorSettings& settings, bool reverse, std::uint32_t source_length,
                     std::uint32_t target_length, double* prior);

class PriorCache {
 public:
  PriorCache(const PairSizes& sizes, bool reverse);

  /// Recomputes everything for new settings (a new tension).
  void update(const PriorSettings& settings, ThreadPool& threads);

  /// The matrix of a pair: cached, or computed into `scratch`.
  const double* prior_of(std::uint64_t pair, std::vector<double>& scratch) const;

 private:
  const PairSizes& sizes_;
  bool reverse_;
  PriorSettings settings_;
  std::vector<std::uint64_t> offset_of_size_;
  std::vector<double> values_;
};

}  // namespace aligner
