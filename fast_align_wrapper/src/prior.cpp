#include "prior.hpp"

#include <cmath>
#include <limits>

namespace aligner {

namespace {

// One side of the diagonal: `count` positions at the distances first, first + step, …
struct Series {
  double count;
  double first;
  double step;
};

struct Sides {
  Series below;
  Series above;
};

Sides sides_of_diagonal(std::uint32_t j, std::uint32_t m, std::uint32_t n) {
  const auto floor = static_cast<double>(std::uint64_t{j} * n / m);
  const double centre = static_cast<double>(j) / m;
  const double step = 1.0 / n;
  // j can exceed m, because size_feature() swaps the lengths as the reference does. The number of
  // positions above the diagonal would then be negative; the reference sums an infinite series.
  const double above = floor <= n ? n - floor : std::numeric_limits<double>::infinity();
  return {{floor, centre - floor / n, step}, {above, (floor + 1) / n - centre, step}};
}

double sum(const Series& series, double tension) {
  const double ratio = std::exp(-tension * series.step);
  const double last = std::exp(-tension * series.step * series.count);
  return std::exp(-tension * series.first) * (1 - last) / (1 - ratio);
}

// d/d tension of sum(): -Σ_t (first + t step) · exp(-tension (first + t step)), t = 0 … count - 1.
double sum_slope(const Series& series, double tension) {
  const double ratio = std::exp(-tension * series.step);
  const double last = std::exp(-tension * series.step * series.count);
  const double plain = (1 - last) / (1 - ratio);
  const double weighted =
      (ratio * (1 - last) / (1 - ratio) - series.count * last) / (1 - ratio);
  return -std::exp(-tension * series.first) * (series.first * plain + series.step * weighted);
}

}  // namespace

double diagonal_normalizer(std::uint32_t j, std::uint32_t m, std::uint32_t n, double tension) {
  const Sides sides = sides_of_diagonal(j, m, n);
  return sum(sides.below, tension) + sum(sides.above, tension);
}

double diagonal_normalizer_slope(std::uint32_t j, std::uint32_t m, std::uint32_t n,
                                 double tension) {
  const Sides sides = sides_of_diagonal(j, m, n);
  return sum_slope(sides.below, tension) + sum_slope(sides.above, tension);
}

double null_prior(const PriorSettings& settings, std::uint32_t n) {
  if (n == 0) return 1;
  if (!settings.null_word) return 0;
  return settings.favor_diagonal ? settings.null_probability : 1.0 / (n + 1.0);
}

void fill_prior_row(const PriorSettings& settings, std::uint32_t j, std::uint32_t m,
                    std::uint32_t n, std::uint64_t stride, double* row) {
  if (!settings.favor_diagonal) {
    const double uniform = 1.0 / (n + (settings.null_word ? 1.0 : 0.0));
    for (std::uint32_t i = 0; i < n; ++i) row[i * stride] = uniform;
    return;
  }
  const double not_null = 1 - (settings.null_word ? settings.null_probability : 0.0);
  const double scale = diagonal_normalizer(j, m, n, settings.tension) / not_null;
  const double centre = static_cast<double>(j) / m;
  for (std::uint32_t i = 1; i <= n; ++i) {
    const double distance = std::fabs(static_cast<double>(i) / n - centre);
    row[(i - 1) * stride] = std::exp(-settings.tension * distance) / scale;
  }
}

double log_length_probability(std::uint32_t m, std::uint32_t n, double multiplier) {
  const double mean = 0.05 + n * multiplier;
  double logarithm = m * std::log(mean) - mean;
  for (std::uint32_t factor = 2; factor <= m; ++factor) logarithm -= std::log(factor);
  return logarithm;
}

}  // namespace aligner
