#pragma once

#include <cmath>
#include <cstdint>

namespace aligner {

/// log Poisson(m; 0.05 + n · multiplier): how likely n words are to give m.
inline double log_length_probability(std::uint32_t m, std::uint32_t n, double multiplier) {
  const double mean = 0.05 + n * multiplier;
  double logarithm = m * std::log(mean) - mean;
  for (std::uint32_t factor = 2; factor <= m; ++factor) logarithm -= std::log(factor);
  return logarithm;
}

}  // namespace aligner
