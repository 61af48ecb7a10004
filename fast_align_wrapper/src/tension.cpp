#include "tension.hpp"

#include <algorithm>
#include <vector>

#include "diagonal_prior.hpp"

namespace aligner {

namespace {

constexpr int kSteps = 8;
constexpr double kStepSize = 20;
constexpr double kLowest = 0.1;
constexpr double kHighest = 14;

double size_feature(const PairSize& size, bool reverse, double tension) {
  const std::uint32_t m = reverse ? size.source_length : size.target_length;
  const std::uint32_t n = reverse ? size.target_length : size.source_length;
  double sum = 0;
  for (std::uint32_t j = 1; j <= m; ++j) {
    sum += diagonal_normalizer_slope(j, m, n, tension) / diagonal_normalizer(j, n, m, tension);
  }
  return sum * static_cast<double>(size.pairs);
}

double model_feature(const PairSizes& sizes, bool reverse, double tension, ThreadPool& threads) {
  std::vector<double> features(sizes.sizes.size());
  threads.for_each_range(features.size(), 64,
                         [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin; at < end; ++at) {
      features[at] = size_feature(sizes.sizes[at], reverse, tension);
    }
  });
  double sum = 0;
  double generated_words = 0;
  for (std::size_t at = 0; at < features.size(); ++at) {
    const PairSize& size = sizes.sizes[at];
    sum += features[at];
    generated_words += static_cast<double>(reverse ? size.source_length : size.target_length) *
                       static_cast<double>(size.pairs);
  }
  return sum / generated_words;
}

}  // namespace

double optimize_tension(const PairSizes& sizes, bool reverse, double data_feature, double tension,
                        ThreadPool& threads) {
  for (int step = 0; step < kSteps; ++step) {
    const double gradient = data_feature - model_feature(sizes, reverse, tension, threads);
    tension = std::clamp(tension + kStepSize * gradient, kLowest, kHighest);
  }
  return tension;
}

}  // namespace aligner
