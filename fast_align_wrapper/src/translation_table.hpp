// Translation probabilities θ of one direction, over the entries of a PairTable, and their update.
#pragma once

#include <cstdint>
#include <vector>

#include "cooccurrence.hpp"
#include "thread_pool.hpp"

namespace aligner {

/// The probability that every pair of words starts with, and that pairs never seen keep.
inline constexpr double kUnseenProbability = 1e-9;

/// One number per entry of the table, and one per generated word for NULL.
struct EntryValues {
  std::vector<double> entries;
  std::vector<double> null_entries;
};

/// How expected counts become probabilities.
struct UpdateSettings {
  bool variational_bayes = false;
  double alpha = 0.01;
};

/// θ(f|e) = exp(ψ(c(e,f) + α) - ψ(Σ_f' (c(e,f') + α))) over the f' seen with e, or the relative
/// counts. `reverse` says that rows of the table are generated words. Counts are set to zero.
void update_probabilities(const PairTable& table, bool reverse, const UpdateSettings& settings,
                          EntryValues& counts, EntryValues& probabilities, ThreadPool& threads);

}  // namespace aligner
