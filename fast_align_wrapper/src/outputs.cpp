// Writes the results of training: links, scores, statistics and parameters.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "training.hpp"

namespace aligner {

namespace {

std::string number(const char* format, double value) {
  std::array<char, 40> digits;
  const int length = std::snprintf(digits.data(), digits.size(), format, value);
  return {digits.data(), static_cast<std::size_t>(length)};
}

std::string statistics_of(const TrainingText& text, const TrainedDirection& direction,
                          const TrainingSettings& settings) {
  const Corpus& corpus = text.corpus;
  const PriorSettings& prior = direction.prior;
  std::string json = "{\"tension\": " + number("%.17g", prior.tension);
  json += ", \"length_multiplier\": " + number("%.17g", direction.length_multiplier);
  json += ", \"p0\": " + number("%.17g", prior.null_word ? prior.null_probability : 0.0);
  json += ", \"alpha\": " + number("%.17g", settings.update.alpha);
  json += ", \"iterations\": " + std::to_string(settings.iterations);
  json += ", \"pairs\": " + std::to_string(corpus.pairs());
  json += ", \"source_tokens\": " + std::to_string(corpus.source.tokens.size());
  json += ", \"target_tokens\": " + std::to_string(corpus.target.tokens.size());
  json += ", \"empty_pairs\": " + std::to_string(corpus.empty_pairs);
  json += ", \"oversize_pairs\": " + std::to_string(corpus.oversize_pairs);
  json += ", \"log_likelihood\": [";
  for (std::size_t at = 0; at < direction.log_likelihood.size(); ++at) {
    json += (at > 0 ? ", " : "") + number("%.17g", direction.log_likelihood[at]);
  }
  return json + "]}";
}

}  // namespace

void write_training_links(const std::string& path, const TrainingText& text,
                          const TrainedDirection& direction, bool scores) {
  const Side& generated = text.generated(direction.reverse);
  const Side& conditioning = text.conditioning(direction.reverse);
  OutputFile out(path);
  Links links;
  std::string line;
  for (std::uint64_t pair = 0; pair < text.corpus.pairs(); ++pair) {
    const Link* link = direction.best.links.data() + generated.begin[pair];
    links.clear();
    for (std::uint32_t word = 0; word < generated.length(pair); ++word) {
      if (link[word] == 0) continue;
      const std::uint32_t other = link[word] - 1;
      links.push_back(direction.reverse ? LinkPair{word, other} : LinkPair{other, word});
    }
    line.clear();
    format_links(links, line);
    if (scores && text.corpus.cells(pair) > 0) {
      const double of_length = log_length_probability(
          generated.length(pair), conditioning.length(pair), direction.length_multiplier);
      line += " ||| " + number("%g", of_length + direction.best.log_likelihoods[pair]);
    }
    line += '\n';
    out.write(line);
  }
  out.commit();
}

void write_statistics(const std::string& path, const TrainingText& text,
                      const TrainedDirection& forward, const TrainedDirection& reverse,
                      const TrainingSettings& settings) {
  OutputFile out(path);
  out.write("{\"forward\": " + statistics_of(text, forward, settings) +
            ",\n \"reverse\": " + statistics_of(text, reverse, settings) + "}\n");
  out.commit();
}

namespace {

/// Writes the parameters with log θ ≥ threshold(best log θ of the conditioning word).
template <typename Threshold>
void write_parameters(const std::string& path, const TrainingText& text,
                      const TrainedDirection& direction, const char* number_format,
                      Threshold threshold) {
  OutputFile out(path);
  const auto write_line = [&](std::string_view e, std::uint32_t f, double value, double best) {
    const double logarithm = std::log(value);
    if (!(logarithm >= threshold(std::log(best)))) return;
    out.write(e);
    out.write("\t");
    out.write(text.generated(direction.reverse).words.word(f));
    out.write("\t" + number(number_format, logarithm) + "\n");
  };
  if (direction.prior.null_word) {
    const std::vector<double>& values = direction.probabilities.null_entries;
    const double best = *std::max_element(values.begin(), values.end());
    for (std::uint32_t f = 0; f < values.size(); ++f) write_line(kNullWord, f, values[f], best);
  }
  const PairTable& table = text.cooccurrence.table();
  const auto for_each_entry = [&](const auto& task) {
    for (std::uint32_t row = 0; row + std::size_t{1} < table.row_begin.size(); ++row) {
      for (std::uint64_t at = table.row_begin[row]; at < table.row_begin[row + 1]; ++at) {
        const std::uint32_t column = table.target_words[at];
        const double value = direction.probabilities.entries[at];
        direction.reverse ? task(column, row, value) : task(row, column, value);
      }
    }
  };
  const Vocabulary& conditioning = text.conditioning(direction.reverse).words;
  std::vector<double> best(conditioning.size(), 0);
  for_each_entry([&](std::uint32_t e, std::uint32_t, double value) {
    best[e] = std::max(best[e], value);
  });
  for_each_entry([&](std::uint32_t e, std::uint32_t f, double value) {
    const std::string_view word = conditioning.word(e);
    // In the file <eps> stands for NULL, so a word of that name is left out.
    if (word != kNullWord) write_line(word, f, value, best[e]);
  });
  out.commit();
}

}  // namespace

void write_pruned_parameters(const std::string& path, const TrainingText& text,
                             const TrainedDirection& direction, double beam) {
  write_parameters(path, text, direction, "%.6g", [&](double best) { return -beam * best; });
}

void write_full_parameters(const std::string& path, const TrainingText& text,
                           const TrainedDirection& direction) {
  const double least = std::log(1e-7);
  write_parameters(path, text, direction, "%.17g", [&](double) { return least; });
}

}  // namespace aligner
