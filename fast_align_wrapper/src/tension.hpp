// Gradient steps on λ, the tension of the diagonal prior (Dyer et al. 2013, section 2.2).
#pragma once

#include "pair_sizes.hpp"
#include "thread_pool.hpp"

namespace aligner {

/// Eight steps from `tension` towards the value whose expected feature is `data_feature` (the mean
/// over generated words). As in the reference, d log Z/dλ has Z's lengths exchanged.
double optimize_tension(const PairSizes& sizes, bool reverse, double data_feature, double tension,
                        ThreadPool& threads);

}  // namespace aligner
