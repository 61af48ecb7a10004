// A stream of pairs aligned with saved parameters, batch by batch, in order.
#pragma once

#include <functional>
#include <string>

#include "forced_pair.hpp"
#include "thread_pool.hpp"

namespace aligner {

/// Reads pairs from `input` and writes "source ||| target ||| links ||| score" to standard output,
/// and, if `posteriors_path` is not empty, the posteriors there. What can be answered without
/// waiting for more input is written at once. Returns the sum of the scores.
double force_align(const std::string& input, const Parameters& parameters,
                   const ForcedSettings& settings, const std::string& posteriors_path,
                   const std::function<void(std::uint64_t)>& progress, ThreadPool& threads);

}  // namespace aligner
