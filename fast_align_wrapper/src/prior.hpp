// Priors: of a link, near the diagonal or uniform, and of a length (Dyer et al. 2013, section 2).
//
// Positions count from 1. The generated side has m words and is indexed by j, the conditioning
// side has n words and is indexed by i.
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

/// p(NULL) for any word generated from a side of n words. 1 when n is 0: nothing else is left.
double null_prior(const PriorSettings& settings, std::uint32_t n);

/// Fills row[(i - 1) * stride] with p(i | j, m, n) for i = 1…n.
void fill_prior_row(const PriorSettings& settings, std::uint32_t j, std::uint32_t m,
                    std::uint32_t n, std::uint64_t stride, double* row);

/// log Poisson(m; 0.05 + n · multiplier): how likely n words are to give m.
double log_length_probability(std::uint32_t m, std::uint32_t n, double multiplier);

}  // namespace aligner
