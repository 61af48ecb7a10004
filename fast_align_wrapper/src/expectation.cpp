#include "expectation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aligner {

namespace {
// Between the halves of a batch all threads wait for each other: batches are large, so that they
// wait seldom, and 8 MiB of posteriors cost little.
constexpr std::uint64_t kBatchCells = std::uint64_t{1} << 20;
constexpr std::uint64_t kPairsAtOnce = 32;
}  // namespace

Expectation::Expectation(const Corpus& corpus, Cooccurrence& cooccurrence, const PairSizes& sizes,
                         bool reverse, ThreadPool& threads)
    : corpus_(corpus),
      cooccurrence_(cooccurrence),
      reverse_(reverse),
      threads_(threads),
      priors_(sizes, reverse),
      scratch_(threads.size()) {
  assign_owners();
}

void Expectation::assign_owners() {
  // Longest processing time first: the thread with the least work takes the next heaviest word.
  const Side& source = corpus_.source;
  std::vector<std::uint64_t> cells(source.words.size(), 0);
  for (std::uint64_t pair = 0; pair < corpus_.pairs(); ++pair) {
    const std::uint32_t* tokens = source.tokens_of(pair);
    for (std::uint32_t i = 0; i < source.length(pair); ++i) {
      cells[tokens[i]] += corpus_.target.length(pair);
    }
  }
  std::vector<std::uint32_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return cells[a] > cells[b]; });
  std::vector<std::uint64_t> load(threads_.size(), 0);
  load[0] = generated().tokens.size();  // the counts of NULL are the first thread's
  owner_of_source_word_.resize(cells.size());
  for (const std::uint32_t word : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owner_of_source_word_[word] = static_cast<std::uint16_t>(least - load.begin());
    *least += cells[word];
  }
}

void Expectation::set_prior(const PriorSettings& settings) {
  settings_ = settings;
  priors_.update(settings, threads_);
}

PairShape Expectation::shape(std::uint64_t pair) const {
  return {corpus_.source.length(pair), corpus_.target.length(pair), reverse_};
}

void Expectation::for_each_batch(
    const std::function<void(const CellIndex&, const Batch&)>& task,
    const std::function<void(std::uint64_t)>& progress) {
  for (std::uint64_t number = 0; number < cooccurrence_.chunks(); ++number) {
    const CellIndex& index = cooccurrence_.chunk(number);
    for (std::uint64_t first = index.first_pair; first < index.last_pair;) {
      std::uint64_t last = first + 1;
      const std::uint64_t limit = cooccurrence_.cell_begin(first) + kBatchCells;
      while (last < index.last_pair && cooccurrence_.cell_begin(last + 1) <= limit) ++last;
      statistics_.assign(last - first, PairStatistics());
      task(index, {first, last});
      progress(last);
      first = last;
    }
  }
}

void Expectation::sum_in_order(const Batch& batch, PairStatistics& total) const {
  for (std::uint64_t at = 0; at < batch.last_pair - batch.first_pair; ++at) {
    total.log_likelihood += statistics_[at].log_likelihood;
    total.null_posterior += statistics_[at].null_posterior;
    total.feature += statistics_[at].feature;
  }
}

double Expectation::compute_joint(const CellIndex& index, std::uint64_t pair,
                                  const EntryValues& probabilities, double* joint, double* nulls,
                                  Scratch& scratch) const {
  const PairShape lengths = shape(pair);
  const double* prior = priors_.prior_of(pair, scratch.prior);
  const std::uint32_t* places = index.places.data() + cooccurrence_.cell_begin(pair) -
                                cooccurrence_.cell_begin(index.first_pair);
  const std::uint32_t* source = corpus_.source.tokens_of(pair);
  const std::uint64_t* row_begin = cooccurrence_.table().row_begin.data();
  double* out = joint;
  for (std::uint32_t row = 0; row < lengths.rows; ++row) {
    const double* theta = probabilities.entries.data() + row_begin[source[row]];
    for (std::uint32_t column = 0; column < lengths.columns; ++column) {
      *out++ = theta[*places++] * *prior++;
    }
  }
  const double null = null_prior(settings_, lengths.conditioning());
  const std::uint32_t* words = generated().tokens_of(pair);
  for (std::uint32_t word = 0; word < lengths.generated(); ++word) {
    nulls[word] = probabilities.null_entries[words[word]] * null;
  }
  scratch.likelihoods.assign(nulls, nulls + lengths.generated());
  sum_likelihoods(lengths, joint, scratch.likelihoods.data());
  double log_likelihood = 0;
  for (const double likelihood : scratch.likelihoods) log_likelihood += std::log(likelihood);
  return log_likelihood;
}

void Expectation::compute_posteriors(const CellIndex& index, const Batch& batch,
                                     const EntryValues& probabilities) {
  const std::uint64_t first_cell = cooccurrence_.cell_begin(batch.first_pair);
  const std::uint64_t first_token = generated().begin[batch.first_pair];
  posteriors_.resize(cooccurrence_.cell_begin(batch.last_pair) - first_cell);
  null_posteriors_.resize(generated().begin[batch.last_pair] - first_token);
  const auto compute = [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t pair = batch.first_pair + begin; pair < batch.first_pair + end; ++pair) {
      const PairShape lengths = shape(pair);
      if (corpus_.cells(pair) == 0) continue;
      double* joint = posteriors_.data() + (cooccurrence_.cell_begin(pair) - first_cell);
      double* nulls = null_posteriors_.data() + (generated().begin[pair] - first_token);
      PairStatistics& result = statistics_[pair - batch.first_pair];
      result.log_likelihood =
          compute_joint(index, pair, probabilities, joint, nulls, scratch_[thread]);
      normalize(lengths, scratch_[thread].likelihoods.data(), joint, nulls);
      result.null_posterior = std::accumulate(nulls, nulls + lengths.generated(), 0.0);
      if (settings_.favor_diagonal) result.feature = diagonal_feature(lengths, joint);
    }
  };
  threads_.for_each_range(batch.last_pair - batch.first_pair, kPairsAtOnce, compute);
}

void Expectation::add_counts(const CellIndex& index, const Batch& batch, EntryValues& counts) {
  const std::uint64_t first_cell = cooccurrence_.cell_begin(index.first_pair);
  threads_.run([&](unsigned thread) {
    const std::uint32_t* places = index.places.data() +
                                  (cooccurrence_.cell_begin(batch.first_pair) - first_cell);
    const double* posterior = posteriors_.data();
    for (std::uint64_t pair = batch.first_pair; pair < batch.last_pair; ++pair) {
      const std::uint32_t columns = corpus_.target.length(pair);
      const std::uint32_t* source = corpus_.source.tokens_of(pair);
      for (std::uint32_t row = 0; row < corpus_.source.length(pair);
           ++row, places += columns, posterior += columns) {
        if (owner_of_source_word_[source[row]] != thread) continue;
        double* row_counts =
            counts.entries.data() + cooccurrence_.table().row_begin[source[row]];
        for (std::uint32_t j = 0; j < columns; ++j) row_counts[places[j]] += posterior[j];
      }
    }
    if (thread != 0) return;
    const std::uint32_t* words = generated().tokens_of(batch.first_pair);
    for (std::size_t at = 0; at < null_posteriors_.size(); ++at) {
      counts.null_entries[words[at]] += null_posteriors_[at];
    }
  });
}

PairStatistics Expectation::count(const EntryValues& probabilities, EntryValues& counts,
                                  const std::function<void(std::uint64_t)>& progress) {
  PairStatistics total;
  for_each_batch(
      [&](const CellIndex& index, const Batch& batch) {
        compute_posteriors(index, batch, probabilities);
        add_counts(index, batch, counts);
        sum_in_order(batch, total);
      },
      progress);
  return total;
}

PairStatistics Expectation::decode(const EntryValues& probabilities, BestLinks& best,
                                   const std::function<void(std::uint64_t)>& progress) {
  best.links.resize(generated().tokens.size());
  best.log_likelihoods.resize(corpus_.pairs());
  PairStatistics total;
  for_each_batch(
      [&](const CellIndex& index, const Batch& batch) {
        const auto decode_pairs = [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
          Scratch& scratch = scratch_[thread];
          for (std::uint64_t at = begin; at < end; ++at) {
            const std::uint64_t pair = batch.first_pair + at;
            const PairShape lengths = shape(pair);
            if (corpus_.cells(pair) == 0) continue;
            scratch.joint.resize(corpus_.cells(pair));
            scratch.nulls.resize(lengths.generated());
            const double log_likelihood = compute_joint(
                index, pair, probabilities, scratch.joint.data(), scratch.nulls.data(), scratch);
            statistics_[at].log_likelihood = best.log_likelihoods[pair] = log_likelihood;
            best_links(lengths, scratch.joint.data(), scratch.nulls.data(),
                       best.links.data() + generated().begin[pair]);
          }
        };
        threads_.for_each_range(batch.last_pair - batch.first_pair, kPairsAtOnce, decode_pairs);
        sum_in_order(batch, total);
      },
      progress);
  return total;
}

}  // namespace aligner
