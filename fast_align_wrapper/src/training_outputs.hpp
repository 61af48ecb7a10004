// What training leaves behind: links, scores and statistics.
#pragma once

#include <string>

#include "training.hpp"

namespace aligner {

/// One line of links per input line; with `scores`, " ||| log-probability" after them.
void write_training_links(const std::string& path, const TrainingText& text,
                          const TrainedDirection& direction, bool scores);

/// The figures of both directions as JSON, every number in full precision.
void write_statistics(const std::string& path, const TrainingText& text,
                      const TrainedDirection& forward, const TrainedDirection& reverse,
                      const TrainingSettings& settings);

}  // namespace aligner
