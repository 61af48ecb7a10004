#include "corpus.hpp"

#include "errors.hpp"
#include "line_reader.hpp"
#include "sentence_pair.hpp"

namespace aligner {

namespace {

void append(Side& side, const std::vector<std::string_view>& words) {
  for (const std::string_view word : words) side.tokens.push_back(side.words.add(word));
  side.begin.push_back(side.tokens.size());
}

}  // namespace

Corpus read_corpus(const std::string& path, std::uint64_t max_cells,
                   const std::function<void(const std::string&)>& warn) {
  Corpus corpus;
  LineReader reader(path);
  SentencePair pair;
  for (std::string_view line; reader.next(line);) {
    split_pair(line, reader.position(), pair);
    const std::uint64_t cells = std::uint64_t{pair.source.size()} * pair.target.size();
    if (cells == 0) {
      ++corpus.empty_pairs;
    } else if (cells > max_cells) {
      ++corpus.oversize_pairs;
      warn(reader.position() + ": " + std::to_string(pair.source.size()) + " times " +
           std::to_string(pair.target.size()) + " words are more than --max-cells " +
           std::to_string(max_cells) + ": the pair is left out of training and gets no links");
    }
    if (cells == 0 || cells > max_cells) {
      pair.source.clear();
      pair.target.clear();
    }
    append(corpus.source, pair.source);
    append(corpus.target, pair.target);
  }
  if (corpus.pairs() == 0) throw Error(path + ": the corpus has no lines");
  if (corpus.trained_pairs() == 0) {
    throw Error(path + ": no pair to train on: each of the " + std::to_string(corpus.pairs()) +
                " lines has an empty side or is too long");
  }
  corpus.source.tokens.shrink_to_fit();
  corpus.target.tokens.shrink_to_fit();
  return corpus;
}

}  // namespace aligner
