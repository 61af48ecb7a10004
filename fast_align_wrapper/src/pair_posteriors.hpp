// The arithmetic of one pair: joint values θ · prior, likelihoods, posteriors, best links.
//
// Matrices have a row per source word and a column per target word in either direction, so the
// generated words are the columns forward and the rows in reverse.
#pragma once

#include <cstdint>
#include <vector>

namespace aligner {

/// A generated word's link: 0 for NULL, else 1 + position of the conditioning word.
using Link = std::uint32_t;

struct PairShape {
  std::uint32_t rows;
  std::uint32_t columns;
  bool reverse;

  std::uint32_t generated() const { return reverse ? rows : columns; }
  std::uint32_t conditioning() const { return reverse ? columns : rows; }
};

struct PairStatistics {
  double log_likelihood = 0;
  double null_posterior = 0;
  double feature = 0;
};

/// Adds the joint values (rows × columns) to `likelihoods`, which holds those of NULL at first.
void sum_likelihoods(const PairShape& shape, const double* joint, double* likelihoods);

/// Divides joint values and the NULL values by the likelihoods; both become posteriors.
void normalize(const PairShape& shape, const double* likelihoods, double* joint, double* nulls);

/// Σ p(i | j) · -|i/n - (j - 1)/m|, NULL left out. The j - 1 is fast_align's.
double diagonal_feature(const PairShape& shape, const double* posterior);

/// The best link of each generated word; NULL first, a later position must be strictly better.
void best_links(const PairShape& shape, const double* joint, const double* nulls, Link* links);

}  // namespace aligner
