// Forced alignment: new pairs aligned with saved parameters, batch by batch, in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "prior.hpp"
#include "system.hpp"

namespace aligner {

struct ForcedSettings {
  std::string input;
  std::string parameters;
  /// Where posteriors are written, "-" for standard output instead of the links; empty for none.
  std::string posteriors;
  bool reverse = false;
  PriorSettings prior;
  double length_multiplier = 1;
  std::uint64_t max_cells = 0;
};

/// Reads pairs and writes "source ||| target ||| links ||| score" to standard output. What can be
/// answered without waiting for more input is written at once. A pair with more than `max_cells`
/// cells has no links and the score "nan", with a warning. Returns the sum of the other scores.
double force_align(const ForcedSettings& settings,
                   const std::function<void(std::uint64_t)>& progress, ThreadPool& threads);

}  // namespace aligner
