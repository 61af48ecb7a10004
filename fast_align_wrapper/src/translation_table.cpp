#include "translation_table.hpp"

#include <algorithm>

#include "digamma.hpp"

namespace aligner {

namespace {

/// Turns the counts given one conditioning word into its probabilities.
class Update {
 public:
  Update(const UpdateSettings& settings, double total)
      : bayes_(settings.variational_bayes),
        alpha_(settings.alpha),
        total_(total),
        log_or_inverse_(bayes_ ? digamma(total) : (total > 0 ? 1 / total : 0)) {}
  Update() = default;

  double operator()(double count) const {
    if (!bayes_) return count * log_or_inverse_;
    // The only word seen with its neighbour: 1, without a rounding error that could hide it later.
    if (count + alpha_ == total_) return 1;
    return exp_digamma_minus(count + alpha_, log_or_inverse_);
  }

 private:
  bool bayes_ = false;
  double alpha_ = 0;
  double total_ = 0;
  double log_or_inverse_ = 0;
};

void update_null(const UpdateSettings& settings, std::vector<double>& counts,
                 std::vector<double>& probabilities) {
  const double smoothing = settings.variational_bayes ? settings.alpha : 0;
  double total = 0;
  for (const double count : counts) total += count + smoothing;
  const Update update(settings, total);
  for (std::size_t word = 0; word < counts.size(); ++word) {
    probabilities[word] = update(counts[word]);
  }
}

void update_rows(const PairTable& table, const UpdateSettings& settings,
                 const std::vector<double>& counts, std::vector<double>& probabilities,
                 ThreadPool& threads) {
  const double smoothing = settings.variational_bayes ? settings.alpha : 0;
  threads.for_each_range(table.row_begin.size() - 1, 64,
                         [&](unsigned, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t row = first; row < last; ++row) {
      const std::uint64_t begin = table.row_begin[row];
      const std::uint64_t end = table.row_begin[row + 1];
      double total = 0;
      for (std::uint64_t entry = begin; entry < end; ++entry) total += counts[entry] + smoothing;
      const Update update(settings, total);
      for (std::uint64_t entry = begin; entry < end; ++entry) {
        probabilities[entry] = update(counts[entry]);
      }
    }
  });
}

void update_columns(const PairTable& table, const UpdateSettings& settings,
                    const std::vector<double>& counts, std::vector<double>& probabilities,
                    ThreadPool& threads) {
  const double smoothing = settings.variational_bayes ? settings.alpha : 0;
  // By one thread, in table order: the order of additions must not depend on the threads.
  std::vector<double> totals(table.columns, 0);
  for (std::uint64_t entry = 0; entry < table.entries(); ++entry) {
    totals[table.target_words[entry]] += counts[entry] + smoothing;
  }
  std::vector<Update> updates(table.columns);
  for (std::size_t word = 0; word < table.columns; ++word) {
    updates[word] = Update(settings, totals[word]);
  }
  threads.for_each_range(table.entries(), 1 << 14,
                         [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t entry = begin; entry < end; ++entry) {
      probabilities[entry] = updates[table.target_words[entry]](counts[entry]);
    }
  });
}

}  // namespace

void update_probabilities(const PairTable& table, bool reverse, const UpdateSettings& settings,
                          EntryValues& counts, EntryValues& probabilities, ThreadPool& threads) {
  update_null(settings, counts.null_entries, probabilities.null_entries);
  if (reverse) {
    update_columns(table, settings, counts.entries, probabilities.entries, threads);
  } else {
    update_rows(table, settings, counts.entries, probabilities.entries, threads);
  }
  std::fill(counts.entries.begin(), counts.entries.end(), 0.0);
  std::fill(counts.null_entries.begin(), counts.null_entries.end(), 0.0);
}

}  // namespace aligner
