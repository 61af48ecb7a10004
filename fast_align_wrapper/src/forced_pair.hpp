// The best links, the score and the posteriors of one pair under saved parameters.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "diagonal_prior.hpp"
#include "links.hpp"
#include "parameters.hpp"
#include "sentence_pair.hpp"

namespace aligner {

struct ForcedSettings {
  bool reverse = false;
  PriorSettings prior;
  double length_multiplier = 1;
  bool posteriors = false;
};

struct ForcedResult {
  Links links;
  double score = 0;
  /// The record of the posteriors' file: m, n, the NULL column, the matrix (see docs of main).
  std::string posteriors;
};

/// One thread's aligner: it keeps the priors of lengths it has seen.
class ForcedPairAligner {
 public:
  ForcedPairAligner(const Parameters& parameters, const ForcedSettings& settings)
      : parameters_(parameters), settings_(settings) {}

  void align(const SentencePair& pair, ForcedResult& result);

 private:
  const double* prior_row(std::uint32_t j, std::uint32_t m, std::uint32_t n);
  /// Fills joint_ for a generated word; returns the sum with NULL's.
  double compute_joint(std::uint32_t word, const double* prior, double null_prior);

  const Parameters& parameters_;
  const ForcedSettings& settings_;
  std::vector<std::uint32_t> conditioning_;
  std::vector<double> joint_;
  std::vector<double> prior_scratch_;
  std::unordered_map<std::uint64_t, std::vector<double>> cache_;
  std::uint64_t cached_cells_ = 0;
};

}  // namespace aligner
