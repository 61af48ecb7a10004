#include "training_outputs.hpp"

#include <array>
#include <cstdio>

#include "length_model.hpp"
#include "links.hpp"
#include "output_file.hpp"

namespace aligner {

namespace {

/// The links of a pair, in the order of the generated words.
void links_of_pair(const TrainingText& text, bool reverse, const BestLinks& best,
                   std::uint64_t pair, Links& links) {
  const Side& generated = reverse ? text.corpus.source : text.corpus.target;
  const Link* link = best.links.data() + generated.begin[pair];
  links.clear();
  for (std::uint32_t word = 0; word < generated.length(pair); ++word) {
    if (link[word] == 0) continue;
    const std::uint32_t other = link[word] - 1;
    links.push_back(reverse ? LinkPair{word, other} : LinkPair{other, word});
  }
}

double pair_score(const TrainingText& text, const TrainedDirection& direction,
                  std::uint64_t pair) {
  const Corpus& corpus = text.corpus;
  const Side& generated = direction.reverse ? corpus.source : corpus.target;
  const Side& conditioning = direction.reverse ? corpus.target : corpus.source;
  return log_length_probability(generated.length(pair), conditioning.length(pair),
                                direction.length_multiplier) +
         direction.best.log_likelihoods[pair];
}

std::string number(const char* format, double value) {
  std::array<char, 40> digits;
  const int length = std::snprintf(digits.data(), digits.size(), format, value);
  return {digits.data(), static_cast<std::size_t>(length)};
}

std::string statistics_of(const TrainingText& text, const TrainedDirection& direction,
                          const TrainingSettings& settings) {
  const Corpus& corpus = text.corpus;
  std::string json = "{\"tension\": " + number("%.17g", direction.prior.tension);
  json += ", \"length_multiplier\": " + number("%.17g", direction.length_multiplier);
  json += ", \"p0\": " + number("%.17g", direction.prior.null_word
                                              ? direction.prior.null_probability : 0.0);
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
  OutputFile out(path);
  Links links;
  std::string line;
  for (std::uint64_t pair = 0; pair < text.corpus.pairs(); ++pair) {
    links_of_pair(text, direction.reverse, direction.best, pair, links);
    line.clear();
    format_links(links, line);
    if (scores && text.corpus.cells(pair) > 0) {
      line += " ||| " + number("%g", pair_score(text, direction, pair));
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

}  // namespace aligner
