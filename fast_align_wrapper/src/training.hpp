// Expectation maximisation of one direction, and what it leaves behind.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "corpus.hpp"
#include "prior.hpp"

namespace aligner {

/// The probability that every pair of words starts with, and that pairs never seen keep.
inline constexpr double kUnseenProbability = 1e-9;

/// How saved parameters write NULL.
inline constexpr std::string_view kNullWord = "<eps>";

/// How expected counts become probabilities.
struct UpdateSettings {
  bool variational_bayes = false;
  double alpha = 0.01;
};

struct TrainingSettings {
  int iterations = 5;
  bool optimize_tension = false;
  PriorSettings prior;
  UpdateSettings update;
};

/// One number per entry of the PairTable, and one per generated word for NULL.
struct EntryValues {
  std::vector<double> entries;
  std::vector<double> null_entries;
};

/// A generated word's link: 0 for NULL, else 1 + position of the conditioning word.
using Link = std::uint32_t;

/// What a final pass gives: a link per generated word in corpus order, a log-likelihood per pair.
struct BestLinks {
  std::vector<Link> links;
  std::vector<double> log_likelihoods;
};

struct TrainedDirection {
  bool reverse = false;
  PriorSettings prior;  // with the tension reached
  double length_multiplier = 1;
  std::vector<double> log_likelihood;  // of each iteration, natural logarithm
  EntryValues probabilities;
  BestLinks best;
};

/// What the two directions share: everything computed from the text alone.
struct TrainingText {
  TrainingText(const Corpus& read, std::uint64_t memory_limit, ThreadPool& pool)
      : corpus(read), sizes(count_pair_sizes(read)), cooccurrence(read, memory_limit, pool),
        threads(pool) {}

  const Side& generated(bool reverse) const { return reverse ? corpus.source : corpus.target; }
  const Side& conditioning(bool reverse) const { return generated(!reverse); }

  const Corpus& corpus;
  PairSizes sizes;
  Cooccurrence cooccurrence;
  ThreadPool& threads;
};

/// Called with the work done and the whole of it, in passes over pairs.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Trains, writing the quantities that the reference logs, in its words, to `log`. The numbers do
/// not depend on the number of threads.
TrainedDirection train(TrainingText& text, bool reverse, const TrainingSettings& settings,
                       const Progress& progress, std::ostream& log);

/// One line of links per input line; with `scores`, " ||| log-probability" after them.
void write_training_links(const std::string& path, const TrainingText& text,
                          const TrainedDirection& direction, bool scores);

/// The figures of both directions as JSON, every number in full precision.
void write_statistics(const std::string& path, const TrainingText& text,
                      const TrainedDirection& forward, const TrainedDirection& reverse,
                      const TrainingSettings& settings);

/// Parameters as the reference saves them, "conditioning TAB generated TAB log θ" with
/// log θ ≥ -beam · log max_f θ(f|e), six significant digits.
void write_pruned_parameters(const std::string& path, const TrainingText& text,
                             const TrainedDirection& direction, double beam);

/// All parameters with θ ≥ 1e-7, digits enough to read the same numbers back.
void write_full_parameters(const std::string& path, const TrainingText& text,
                           const TrainedDirection& direction);

}  // namespace aligner
