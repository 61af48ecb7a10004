// Trains one direction by expectation maximisation, and writes the results.
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

/// The probability of every pair of words before training, and of pairs never seen in it.
inline constexpr double kUnseenProbability = 1e-9;

/// NULL in files of saved parameters.
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

/// The result of the final pass: a link per generated word in corpus order, and a log-likelihood
/// per pair.
struct BestLinks {
  std::vector<Link> links;
  std::vector<double> log_likelihoods;
};

struct TrainedDirection {
  bool reverse = false;
  PriorSettings prior;  // with the final tension
  double length_multiplier = 1;
  std::vector<double> log_likelihood;  // of each iteration, natural logarithm
  EntryValues probabilities;
  BestLinks best;
};

/// Everything that is computed from the text alone; both directions share it.
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

/// Called with the number of pairs processed so far and in all, over all iterations.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Trains a model, and writes to `log` the same lines as the reference. The result does not depend
/// on the number of threads.
TrainedDirection train(TrainingText& text, bool reverse, const TrainingSettings& settings,
                       const Progress& progress, std::ostream& log);

/// Writes one line of links per input line, followed by " ||| log-probability" if `scores`.
void write_training_links(const std::string& path, const TrainingText& text,
                          const TrainedDirection& direction, bool scores);

/// Writes the statistics of both directions as JSON, with numbers in full precision.
void write_statistics(const std::string& path, const TrainingText& text,
                      const TrainedDirection& forward, const TrainedDirection& reverse,
                      const TrainingSettings& settings);

/// Writes parameters as the reference does: "conditioning TAB generated TAB log θ" for
/// log θ ≥ -beam · log max_f θ(f|e), with six significant digits.
void write_pruned_parameters(const std::string& path, const TrainingText& text,
                             const TrainedDirection& direction, double beam);

/// Writes all parameters with θ ≥ 1e-7, with enough digits to read back the same numbers.
void write_full_parameters(const std::string& path, const TrainingText& text,
                           const TrainedDirection& direction);

}  // namespace aligner
