// Expectation maximisation of one direction.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "cooccurrence.hpp"
#include "corpus.hpp"
#include "expectation.hpp"
#include "pair_sizes.hpp"
#include "translation_table.hpp"

namespace aligner {

struct TrainingSettings {
  int iterations = 5;
  bool optimize_tension = false;
  PriorSettings prior;
  UpdateSettings update;
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

  const Corpus& corpus;
  PairSizes sizes;
  Cooccurrence cooccurrence;
  ThreadPool& threads;
};

/// Called with the work done and the whole of it, in passes over pairs.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Trains, writing the quantities that the reference logs, in its words, to `log`.
TrainedDirection train(TrainingText& text, bool reverse, const TrainingSettings& settings,
                       const Progress& progress, std::ostream& log);

}  // namespace aligner
