// Priors of links, diagonal or uniform, and of lengths (Dyer et al. 2013, section 2).
//
// Positions count from 1. The generated side has m words, indexed by j; the conditioning side has
// n words, indexed by i.
#pragma once

#include <cstdint>

namespace aligner {

/// What a prior depends on besides the lengths.
struct PriorSettings {
  bool favor_diagonal = false;
  double null_probability = 0.08;  // 0 when there is no NULL word
  bool null_word = true;
  double tension = 4.0;
};

/// Sum over i = 1…n of exp(-tension * |i/n - j/m|), as two geometric series.
double diagonal_normalizer(std::uint32_t j, std::uint32_t m, std::uint32_t n, double tension);

/// Derivative of diagonal_normalizer with respect to the tension.
double diagonal_normalizer_slope(std::uint32_t j, std::uint32_t m, std::uint32_t n, double tension);

/// p(NULL) for any word generated from n words; 1 if n is 0, as NULL is then the only choice.
double null_prior(const PriorSettings& settings, std::uint32_t n);

/// Fills row[(i - 1) * stride] with p(i | j, m, n) for i = 1…n.
void fill_prior_row(const PriorSettings& settings, std::uint32_t j, std::uint32_t m,
                    std::uint32_t n, std::uint64_t stride, double* row);

/// log Poisson(m; 0.05 + n · multiplier), the log-probability that n words generate m words.
double log_length_probability(std::uint32_t m, std::uint32_t n, double multiplier);

}  // namespace aligner
