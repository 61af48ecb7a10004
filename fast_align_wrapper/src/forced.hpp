// Forced alignment: aligns new pairs with saved parameters, batch by batch and in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "prior.hpp"
#include "system.hpp"

namespace aligner {

/// A trained model of one direction.
struct SavedDirection {
  std::string parameters;
  bool reverse = false;
  PriorSettings prior;
  double length_multiplier = 1;
};

struct ForcedSettings {
  std::string input;
  SavedDirection direction;
  /// File for the posteriors, or empty; "-" writes them to standard output instead of the links.
  std::string posteriors;
  std::uint64_t max_cells = 0;
};

/// Reads pairs and writes "source ||| target ||| links ||| score" to standard output. It answers
/// every complete line before it waits for more input. A pair with more than `max_cells` cells gets
/// a warning, no links and the score "nan". Returns the sum of the other scores.
double force_align(const ForcedSettings& settings,
                   const std::function<void(std::uint64_t)>& progress, ThreadPool& threads);

}  // namespace aligner
