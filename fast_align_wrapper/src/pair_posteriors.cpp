#include "pair_posteriors.hpp"

#include <algorithm>
#include <cmath>

namespace aligner {

void sum_likelihoods(const PairShape& shape, const double* joint, double* likelihoods) {
  for (std::uint32_t row = 0; row < shape.rows; ++row, joint += shape.columns) {
    if (shape.reverse) {
      double sum = likelihoods[row];
      for (std::uint32_t column = 0; column < shape.columns; ++column) sum += joint[column];
      likelihoods[row] = sum;
    } else {
      for (std::uint32_t column = 0; column < shape.columns; ++column) {
        likelihoods[column] += joint[column];
      }
    }
  }
}

void normalize(const PairShape& shape, const double* likelihoods, double* joint, double* nulls) {
  for (std::uint32_t row = 0; row < shape.rows; ++row, joint += shape.columns) {
    if (shape.reverse) {
      const double likelihood = likelihoods[row];
      for (std::uint32_t column = 0; column < shape.columns; ++column) joint[column] /= likelihood;
    } else {
      for (std::uint32_t column = 0; column < shape.columns; ++column) {
        joint[column] /= likelihoods[column];
      }
    }
  }
  for (std::uint32_t word = 0; word < shape.generated(); ++word) nulls[word] /= likelihoods[word];
}

double diagonal_feature(const PairShape& shape, const double* posterior) {
  // Relative positions: (i, counted from 1) / n on the conditioning side, (j - 1) / m on the other.
  const double row_start = shape.reverse ? 0 : 1;
  const double column_start = shape.reverse ? 1 : 0;
  const double row_step = 1.0 / shape.rows;
  const double column_step = 1.0 / shape.columns;
  double total = 0;
  for (std::uint32_t row = 0; row < shape.rows; ++row, posterior += shape.columns) {
    const double place = (row + row_start) * row_step;
    for (std::uint32_t column = 0; column < shape.columns; ++column) {
      total -= posterior[column] * std::fabs(place - (column + column_start) * column_step);
    }
  }
  return total;
}

void best_links(const PairShape& shape, const double* joint, const double* nulls, Link* links) {
  std::fill(links, links + shape.generated(), Link{0});
  const auto joint_of = [&](std::uint32_t word, Link link) {
    if (link == 0) return nulls[word];
    return shape.reverse ? joint[std::uint64_t{word} * shape.columns + link - 1]
                         : joint[std::uint64_t{link - 1} * shape.columns + word];
  };
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    const double* values = joint + std::uint64_t{row} * shape.columns;
    for (std::uint32_t column = 0; column < shape.columns; ++column) {
      const std::uint32_t word = shape.reverse ? row : column;
      if (values[column] > joint_of(word, links[word])) {
        links[word] = (shape.reverse ? column : row) + 1;
      }
    }
  }
}

}  // namespace aligner
