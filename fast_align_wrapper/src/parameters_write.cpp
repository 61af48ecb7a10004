#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "output_file.hpp"
#include "parameters.hpp"

namespace aligner {

namespace {

constexpr double kLeastSaved = 1e-7;

/// Which entries of a direction are saved, and how.
struct Selection {
  const char* number_format;
  /// The least log θ saved for a conditioning word whose best log θ is given.
  double (*threshold)(double best, double beam);
  double beam;
};

class ParametersWriter {
 public:
  ParametersWriter(const std::string& path, const TrainingText& text,
                   const TrainedDirection& direction, const Selection& selection)
      : out_(path), text_(text), direction_(direction), selection_(selection) {}

  void write() {
    const Side& conditioning =
        direction_.reverse ? text_.corpus.target : text_.corpus.source;
    const std::vector<double> best = best_of_words(conditioning.words.size());
    write_null();
    const PairTable& table = text_.cooccurrence.table();
    for (std::uint32_t row = 0; row + std::size_t{1} < table.row_begin.size(); ++row) {
      for (std::uint64_t at = table.row_begin[row]; at < table.row_begin[row + 1]; ++at) {
        const std::uint32_t column = table.target_words[at];
        const double value = direction_.probabilities.entries[at];
        const std::uint32_t e = direction_.reverse ? column : row;
        const std::uint32_t f = direction_.reverse ? row : column;
        write_entry(conditioning.words.word(e), f, value, best[e]);
      }
    }
    out_.commit();
  }

 private:
  std::vector<double> best_of_words(std::uint32_t words) const {
    const PairTable& table = text_.cooccurrence.table();
    std::vector<double> best(words, 0);
    for (std::uint32_t row = 0; row + std::size_t{1} < table.row_begin.size(); ++row) {
      for (std::uint64_t at = table.row_begin[row]; at < table.row_begin[row + 1]; ++at) {
        double& most = best[direction_.reverse ? table.target_words[at] : row];
        most = std::max(most, direction_.probabilities.entries[at]);
      }
    }
    return best;
  }

  void write_null() {
    if (!direction_.prior.null_word) return;
    const std::vector<double>& values = direction_.probabilities.null_entries;
    const double best = *std::max_element(values.begin(), values.end());
    for (std::uint32_t f = 0; f < values.size(); ++f) {
      write_line(kNullWord, f, values[f], best);
    }
  }

  void write_entry(std::string_view e, std::uint32_t f, double value, double best) {
    // The name is taken: read back, a word called <eps> would spoil the parameters of NULL.
    if (e != kNullWord) write_line(e, f, value, best);
  }

  void write_line(std::string_view e, std::uint32_t f, double value, double best) {
    const double logarithm = std::log(value);
    if (!(logarithm >= selection_.threshold(std::log(best), selection_.beam))) return;
    const Side& generated = direction_.reverse ? text_.corpus.source : text_.corpus.target;
    std::array<char, 32> digits;
    const int length =
        std::snprintf(digits.data(), digits.size(), selection_.number_format, logarithm);
    out_.write(e);
    out_.write("\t");
    out_.write(generated.words.word(f));
    out_.write("\t");
    out_.write({digits.data(), static_cast<std::size_t>(length)});
    out_.write("\n");
  }

  OutputFile out_;
  const TrainingText& text_;
  const TrainedDirection& direction_;
  Selection selection_;
};

}  // namespace

void write_pruned_parameters(const std::string& path, const TrainingText& text,
                             const TrainedDirection& direction, double beam) {
  const auto threshold = [](double best, double factor) { return -factor * best; };
  ParametersWriter(path, text, direction, {"%.6g", threshold, beam}).write();
}

void write_full_parameters(const std::string& path, const TrainingText& text,
                           const TrainedDirection& direction) {
  const auto threshold = [](double, double) { return std::log(kLeastSaved); };
  ParametersWriter(path, text, direction, {"%.17g", threshold, 0}).write();
}

}  // namespace aligner
