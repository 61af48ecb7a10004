// The command line of fast_align.
#pragma once

#include <cstdint>
#include <string>

#include "training.hpp"

namespace aligner {

/// What one direction of --both writes; an empty path is not written.
struct DirectionOutputs {
  std::string links;
  std::string pruned_parameters;
  std::string full_parameters;
};

struct Options {
  enum class Action { kHelp, kVersion, kTrain, kTrainBoth, kForce };

  Action action = Action::kTrain;
  std::string input;
  bool reverse = false;
  bool print_scores = false;
  bool progress = false;
  TrainingSettings training;
  double beam = -4;
  double length_multiplier = 1;
  std::string parameters_to_write;
  std::string parameters_to_force;
  std::string posteriors;
  DirectionOutputs forward;
  DirectionOutputs backward;
  std::string statistics;
  unsigned threads = 1;
  std::uint64_t memory = 0;
  std::uint64_t max_cells = 50000000;
};

/// Throws UsageError.
Options parse_options(int argc, char** argv);

extern const char* const kUsage;

}  // namespace aligner
