// One pass over the corpus: posteriors into expected counts, or the best links.
//
// The same numbers come out whatever the number of threads: a batch's posteriors are computed by
// whoever is free, then each thread adds up, in corpus order, the rows of the table it owns.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cooccurrence.hpp"
#include "corpus.hpp"
#include "pair_posteriors.hpp"
#include "prior_cache.hpp"
#include "translation_table.hpp"

namespace aligner {

/// What a final pass gives: a link per generated word in corpus order, a log-likelihood per pair.
struct BestLinks {
  std::vector<Link> links;
  std::vector<double> log_likelihoods;
};

class Expectation {
 public:
  Expectation(const Corpus& corpus, Cooccurrence& cooccurrence, const PairSizes& sizes,
              bool reverse, ThreadPool& threads);

  /// Sets the priors for the passes that follow.
  void set_prior(const PriorSettings& settings);

  /// Adds the expected counts to `counts`.
  PairStatistics count(const EntryValues& probabilities, EntryValues& counts,
                       const std::function<void(std::uint64_t)>& progress);

  /// Fills `best`; no counts, so null_posterior and feature stay 0.
  PairStatistics decode(const EntryValues& probabilities, BestLinks& best,
                        const std::function<void(std::uint64_t)>& progress);

 private:
  struct Batch {
    std::uint64_t first_pair;
    std::uint64_t last_pair;
  };
  struct Scratch {
    std::vector<double> prior;
    std::vector<double> joint;
    std::vector<double> likelihoods;
    std::vector<double> nulls;
  };

  const Side& generated() const { return reverse_ ? corpus_.source : corpus_.target; }
  PairShape shape(std::uint64_t pair) const;
  void for_each_batch(const std::function<void(const CellIndex&, const Batch&)>& task,
                      const std::function<void(std::uint64_t)>& progress);
  /// Pair by pair into the total, so that it depends neither on threads nor on batches.
  void sum_in_order(const Batch& batch, PairStatistics& total) const;
  /// Fills joint, nulls and likelihoods; returns the log-likelihood.
  double compute_joint(const CellIndex& index, std::uint64_t pair, const EntryValues& probabilities,
                       double* joint, double* nulls, Scratch& scratch) const;
  void compute_posteriors(const CellIndex& index, const Batch& batch,
                          const EntryValues& probabilities);
  void add_counts(const CellIndex& index, const Batch& batch, EntryValues& counts);
  void assign_owners();

  const Corpus& corpus_;
  Cooccurrence& cooccurrence_;
  bool reverse_;
  ThreadPool& threads_;
  PriorSettings settings_;
  PriorCache priors_;
  std::vector<std::uint16_t> owner_of_source_word_;
  std::vector<Scratch> scratch_;
  std::vector<double> posteriors_;
  std::vector<double> null_posteriors_;
  std::vector<PairStatistics> statistics_;
};

}  // namespace aligner
