#include "forced.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <unordered_map>

#include "text.hpp"
#include "training.hpp"

namespace aligner {

namespace {

/// The translation probabilities of a trained model.
class Parameters {
 public:
  static constexpr std::uint32_t kNull = 0;

  /// Reads a file of "conditioning TAB generated TAB log θ" lines. Throws Error naming the first
  /// malformed line.
  explicit Parameters(const std::string& path) : slots_(1024, Entry{kEmptySlot, 0}) {
    conditioning_.add(kNullWord);
    LineReader reader(path);
    for (std::string_view line; reader.next(line);) {
      const std::size_t first = line.find('\t');
      const std::size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
      if (second == line.npos) {
        throw Error(reader.position() + ": not 'word TAB word TAB log probability'");
      }
      const std::string digits(line.substr(second + 1));
      char* end = nullptr;
      const double logarithm = std::strtod(digits.c_str(), &end);
      // A probability is at most 1; the rest is room for rounding.
      if (digits.empty() || end != digits.c_str() + digits.size() || !(logarithm <= 1e-3)) {
        throw Error(reader.position() + ": '" + digits + "' is not a log probability");
      }
      add(key_of(conditioning_.add(line.substr(0, first)),
                 generated_.add(line.substr(first + 1, second - first - 1))),
          std::exp(logarithm));
    }
    if (used_ == 0) throw Error(path + ": no parameters in the file");
  }

  /// The id of a conditioning word, or Vocabulary::kUnknown if it has no parameters.
  std::uint32_t conditioning_id(std::string_view word) const {
    // A word of the text called <eps> is not NULL.
    return word == kNullWord ? Vocabulary::kUnknown : conditioning_.find(word);
  }
  std::uint32_t generated_id(std::string_view word) const { return generated_.find(word); }

  /// θ; 1e-9 for an unknown word or a pair that was not saved.
  double probability(std::uint32_t conditioning, std::uint32_t generated) const {
    if (conditioning == Vocabulary::kUnknown || generated == Vocabulary::kUnknown) {
      return kUnseenProbability;
    }
    const Entry& entry = slots_[slot_of(key_of(conditioning, generated))];
    return entry.key == kEmptySlot ? kUnseenProbability : entry.probability;
  }

 private:
  static constexpr std::uint64_t kEmptySlot = UINT64_MAX;
  struct Entry {
    std::uint64_t key;
    double probability;
  };

  static std::uint64_t key_of(std::uint32_t conditioning, std::uint32_t generated) {
    return std::uint64_t{conditioning} << 32 | generated;
  }

  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (key * 0x9E3779B97F4A7C15ULL >> 32) & mask;
    while (slots_[slot].key != kEmptySlot && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  void add(std::uint64_t key, double probability) {
    if (2 * (used_ + 1) > slots_.size()) {
      std::vector<Entry> old(2 * slots_.size(), Entry{kEmptySlot, 0});
      old.swap(slots_);
      for (const Entry& entry : old) {
        if (entry.key != kEmptySlot) slots_[slot_of(entry.key)] = entry;
      }
    }
    Entry& slot = slots_[slot_of(key)];
    if (slot.key == kEmptySlot) ++used_;
    slot = {key, probability};
  }

  Vocabulary conditioning_;
  Vocabulary generated_;
  std::vector<Entry> slots_;
  std::uint64_t used_ = 0;
};

/// The result for a pair.
struct Answer {
  Links links;
  double score = 0;
  /// The posteriors in the output format (see the usage): m, n, the NULL column, the matrix.
  std::string posteriors;

  void put(std::size_t index, std::uint32_t bits) {
    for (std::size_t byte = 0; byte < 4; ++byte) {
      posteriors[4 * index + byte] = static_cast<char>(bits >> (8 * byte) & 0xFF);
    }
  }
  void put(std::size_t index, double value) {
    const auto number = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    put(index, bits);
  }
};

/// A pair with its text and its results.
struct Work {
  std::string line;
  SentencePair pair;
  bool is_oversize = false;
  Answer answer;
};

/// One thread's aligner; it keeps the priors of the pair sizes that it has seen.
class PairAligner {
 public:
  PairAligner(const Parameters& parameters, const SavedDirection& settings, bool with_posteriors)
      : parameters_(parameters), settings_(settings), with_posteriors_(with_posteriors) {}

  void align(Work& work) {
    Answer& answer = work.answer;
    answer.links.clear();
    answer.posteriors.clear();
    if (work.is_oversize) {
      answer.score = std::numeric_limits<double>::quiet_NaN();
      answer.posteriors.assign(with_posteriors_ ? 8 : 0, '\0');
      return;
    }
    const auto& conditioning = settings_.reverse ? work.pair.target : work.pair.source;
    const auto& generated = settings_.reverse ? work.pair.source : work.pair.target;
    const auto m = static_cast<std::uint32_t>(generated.size());
    const auto n = static_cast<std::uint32_t>(conditioning.size());
    conditioning_.clear();
    for (const std::string_view word : conditioning) {
      conditioning_.push_back(parameters_.conditioning_id(word));
    }
    joint_.resize(n + std::size_t{1});
    answer.score = log_length_probability(m, n, settings_.length_multiplier);
    if (with_posteriors_) {
      answer.posteriors.assign(4 * (2 + std::size_t{m} + std::size_t{m} * n), '\0');
      answer.put(0, m);
      answer.put(1, n);
    }
    const double null = null_prior(settings_.prior, n);
    for (std::uint32_t j = 0; j < m; ++j) {
      const double sum = compute_joint(parameters_.generated_id(generated[j]),
                                       n == 0 ? nullptr : prior_row(j, m, n), null);
      answer.score += std::log(sum);
      std::uint32_t best = 0;
      for (std::uint32_t i = 1; i <= n; ++i) {
        if (joint_[i] > joint_[best]) best = i;
      }
      if (best > 0) {
        answer.links.push_back(settings_.reverse ? LinkPair{j, best - 1} : LinkPair{best - 1, j});
      }
      if (!with_posteriors_) continue;
      answer.put(2 + std::size_t{j}, joint_[0] / sum);
      const std::size_t row = 2 + std::size_t{m} + std::size_t{j} * n;
      for (std::uint32_t i = 0; i < n; ++i) answer.put(row + i, joint_[i + 1] / sum);
    }
  }

 private:
  static constexpr std::uint64_t kCachedCells = std::uint64_t{1} << 20;

  const double* prior_row(std::uint32_t j, std::uint32_t m, std::uint32_t n) {
    const std::uint64_t cells = std::uint64_t{m} * n;
    const std::uint64_t size = std::uint64_t{m} << 32 | n;
    const auto known = cache_.find(size);
    if (known != cache_.end()) return known->second.data() + std::uint64_t{j} * n;
    if (cached_cells_ + cells > kCachedCells) {
      prior_scratch_.resize(n);
      fill_prior_row(settings_.prior, j + 1, m, n, 1, prior_scratch_.data());
      return prior_scratch_.data();
    }
    cached_cells_ += cells;
    std::vector<double>& rows = cache_[size];
    rows.resize(cells);
    for (std::uint32_t row = 0; row < m; ++row) {
      fill_prior_row(settings_.prior, row + 1, m, n, 1, rows.data() + std::uint64_t{row} * n);
    }
    return rows.data() + std::uint64_t{j} * n;
  }

  /// Fills joint_ for a generated word; returns its sum, NULL included.
  double compute_joint(std::uint32_t word, const double* prior, double null_prior) {
    joint_[0] = parameters_.probability(Parameters::kNull, word) * null_prior;
    double sum = joint_[0];
    for (std::size_t i = 0; i < conditioning_.size(); ++i) {
      joint_[i + 1] = parameters_.probability(conditioning_[i], word) * prior[i];
      sum += joint_[i + 1];
    }
    return sum;
  }

  const Parameters& parameters_;
  const SavedDirection& settings_;
  const bool with_posteriors_;
  std::vector<std::uint32_t> conditioning_;
  std::vector<double> joint_;
  std::vector<double> prior_scratch_;
  std::unordered_map<std::uint64_t, std::vector<double>> cache_;
  std::uint64_t cached_cells_ = 0;
};

void append_words(std::string& out, const std::vector<std::string_view>& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) out += ' ';
    out += words[at];
  }
  out += " ||| ";
}

class ForcedRun {
 public:
  ForcedRun(const ForcedSettings& settings, ThreadPool& threads)
      : settings_(settings),
        parameters_(settings.direction.parameters),
        aligners_(threads.size(),
                  PairAligner(parameters_, settings.direction, !settings.posteriors.empty())),
        reader_(settings.input),
        threads_(threads),
        out_("-") {
    if (settings.posteriors.empty()) return;
    posteriors_ = std::make_unique<OutputFile>(settings.posteriors);
    posteriors_->write("CEPOST1\n");
  }

  double run(const std::function<void(std::uint64_t)>& progress) {
    while (read_batch()) {
      align_batch();
      progress(reader_.line_number());
      // Thrown only now, so that the results of the lines before a malformed one are not lost.
      if (failure_) std::rethrow_exception(failure_);
    }
    out_.commit();
    if (posteriors_) posteriors_->commit();
    return total_score_;
  }

 private:
  static constexpr std::size_t kBatchPairs = 2048;
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

  bool read_batch() {
    size_ = 0;
    std::size_t bytes = 0;
    std::string_view line;
    while (size_ < kBatchPairs && bytes < kBatchBytes) {
      if (size_ > 0 && !reader_.has_buffered_line()) break;
      if (!reader_.next(line)) break;
      Work& work = batch_[size_];
      work.line.assign(line);
      try {
        split_pair(work.line, reader_.position(), work.pair);
      } catch (...) {
        failure_ = std::current_exception();
        return true;
      }
      work.is_oversize = work.pair.cells() > settings_.max_cells;
      if (work.is_oversize) {
        report(oversize_warning(work.pair, reader_.position(), settings_.max_cells,
                                              "the pair gets no links"));
      }
      bytes += line.size();
      ++size_;
    }
    return size_ > 0;
  }

  void align_batch() {
    threads_.for_each_range(size_, 16,
                            [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t at = begin; at < end; ++at) aligners_[thread].align(batch_[at]);
    });
    for (std::size_t at = 0; at < size_; ++at) {
      const Work& work = batch_[at];
      if (!work.is_oversize) total_score_ += work.answer.score;
      if (settings_.posteriors != "-") write_line(work);
      if (posteriors_) posteriors_->write(work.answer.posteriors);
    }
    out_.flush();
    if (posteriors_) posteriors_->flush();
  }

  void write_line(const Work& work) {
    line_.clear();
    append_words(line_, work.pair.source);
    append_words(line_, work.pair.target);
    format_links(work.answer.links, line_);
    std::array<char, 32> score;
    const int length = std::snprintf(score.data(), score.size(), " ||| %g\n", work.answer.score);
    line_.append(score.data(), static_cast<std::size_t>(length));
    out_.write(line_);
  }

  const ForcedSettings& settings_;
  const Parameters parameters_;
  std::vector<PairAligner> aligners_;  // one for each thread
  LineReader reader_;
  ThreadPool& threads_;
  OutputFile out_;
  std::unique_ptr<OutputFile> posteriors_;
  // Never resized: a pair's words are views into its line, which must not move.
  std::vector<Work> batch_ = std::vector<Work>(kBatchPairs);
  std::size_t size_ = 0;
  std::string line_;
  double total_score_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

double force_align(const ForcedSettings& settings,
                   const std::function<void(std::uint64_t)>& progress, ThreadPool& threads) {
  return ForcedRun(settings, threads).run(progress);
}

}  // namespace aligner
