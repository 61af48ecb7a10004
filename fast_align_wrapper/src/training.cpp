#include "training.hpp"

#include <cmath>

#include "errors.hpp"
#include "tension.hpp"

namespace aligner {

namespace {

double mean_length_ratio(const PairSizes& sizes, const Corpus& corpus, bool reverse) {
  double sum = 0;
  for (const PairSize& size : sizes.sizes) {
    const double ratio = static_cast<double>(size.target_length) / size.source_length;
    sum += (reverse ? 1 / ratio : ratio) * static_cast<double>(size.pairs);
  }
  return sum / static_cast<double>(corpus.trained_pairs());
}

void log_pass(const PairStatistics& statistics, double words, std::size_t sizes,
              std::ostream& log) {
  const double bits = statistics.log_likelihood / std::log(2.0);
  const double cross_entropy = -bits / words;
  log << "  log_e likelihood: " << statistics.log_likelihood
      << "\n  log_2 likelihood: " << bits
      << "\n     cross entropy: " << cross_entropy
      << "\n        perplexity: " << std::exp2(cross_entropy)
      << "\n      posterior p0: " << statistics.null_posterior / words
      << "\n posterior al-feat: " << statistics.feature / words
      << "\n       size counts: " << sizes << '\n';
}

/// One direction's training while it runs.
class Training {
 public:
  Training(TrainingText& text, bool reverse, const TrainingSettings& settings,
           const Progress& progress, std::ostream& log)
      : text_(text), settings_(settings), progress_(progress), log_(log),
        expectation_(text.corpus, text.cooccurrence, text.sizes, reverse, text.threads) {
    const Side& generated = reverse ? text.corpus.source : text.corpus.target;
    words_ = static_cast<double>(generated.tokens.size());
    null_words_ = generated.words.size();
    result_.reverse = reverse;
    result_.prior = settings.prior;
    result_.length_multiplier = mean_length_ratio(text.sizes, text.corpus, reverse);
  }

  TrainedDirection run() {
    log_ << "INITIAL PASS \nexpected target length = source length * "
         << result_.length_multiplier << '\n';
    const std::uint64_t entries = text_.cooccurrence.table().entries();
    result_.probabilities.entries.assign(entries, kUnseenProbability);
    result_.probabilities.null_entries.assign(null_words_, kUnseenProbability);
    counts_.entries.assign(settings_.iterations > 1 ? entries : 0, 0);
    counts_.null_entries.assign(null_words_, 0);
    for (int iteration = 1; iteration <= settings_.iterations; ++iteration) iterate(iteration);
    return std::move(result_);
  }

 private:
  void iterate(int iteration) {
    const bool is_final = iteration == settings_.iterations;
    log_ << "ITERATION " << iteration << (is_final ? " (FINAL)\n" : "\n");
    expectation_.set_prior(result_.prior);
    const auto progress = [&](std::uint64_t pairs) {
      const std::uint64_t all = text_.corpus.pairs();
      progress_(static_cast<std::uint64_t>(iteration - 1) * all + pairs,
                static_cast<std::uint64_t>(settings_.iterations) * all);
    };
    const PairStatistics statistics =
        is_final ? expectation_.decode(result_.probabilities, result_.best, progress)
                 : expectation_.count(result_.probabilities, counts_, progress);
    if (!std::isfinite(statistics.log_likelihood)) {
      throw Error("training failed: the likelihood of iteration " + std::to_string(iteration) +
                  " is not a finite number");
    }
    result_.log_likelihood.push_back(statistics.log_likelihood);
    log_pass(statistics, words_, text_.sizes.sizes.size(), log_);
    if (!is_final) update(iteration, statistics);
    log_.flush();
  }

  void update(int iteration, const PairStatistics& statistics) {
    // The reference leaves the tension alone after the first, uniform, pass.
    if (settings_.optimize_tension && result_.prior.favor_diagonal && iteration > 1) {
      result_.prior.tension =
          optimize_tension(text_.sizes, result_.reverse, statistics.feature / words_,
                           result_.prior.tension, text_.threads);
      log_ << "     final tension: " << result_.prior.tension << '\n';
    }
    update_probabilities(text_.cooccurrence.table(), result_.reverse, settings_.update, counts_,
                         result_.probabilities, text_.threads);
  }

  TrainingText& text_;
  const TrainingSettings& settings_;
  const Progress& progress_;
  std::ostream& log_;
  Expectation expectation_;
  double words_ = 0;
  std::uint64_t null_words_ = 0;
  TrainedDirection result_;
  EntryValues counts_;
};

}  // namespace

TrainedDirection train(TrainingText& text, bool reverse, const TrainingSettings& settings,
                       const Progress& progress, std::ostream& log) {
  return Training(text, reverse, settings, progress, log).run();
}

}  // namespace aligner
