#include "word_occurrences.hpp"

namespace aligner {

WordOccurrences group_by_word(const Side& side, std::uint64_t first_pair, std::uint64_t last_pair) {
  WordOccurrences result;
  result.word_begin.assign(side.words.size() + std::uint64_t{1}, 0);
  const std::uint64_t first_token = side.begin[first_pair];
  const std::uint64_t last_token = side.begin[last_pair];
  for (std::uint64_t token = first_token; token < last_token; ++token) {
    ++result.word_begin[side.tokens[token] + 1];
  }
  for (std::size_t word = 1; word < result.word_begin.size(); ++word) {
    result.word_begin[word] += result.word_begin[word - 1];
  }
  result.places.resize(last_token - first_token);
  std::vector<std::uint64_t> next(result.word_begin.begin(), result.word_begin.end() - 1);
  for (std::uint64_t pair = first_pair; pair < last_pair; ++pair) {
    const std::uint32_t* tokens = side.tokens_of(pair);
    for (std::uint32_t position = 0; position < side.length(pair); ++position) {
      result.places[next[tokens[position]]++] = {static_cast<std::uint32_t>(pair), position};
    }
  }
  return result;
}

std::vector<std::uint32_t> divide_words(const WordOccurrences& occurrences) {
  std::vector<std::uint32_t> begin{0};
  const auto words = static_cast<std::uint32_t>(occurrences.word_begin.size() - 1);
  const std::uint64_t wanted = occurrences.places.size() / WordOccurrences::kPieces + 1;
  for (std::uint32_t word = 1; word <= words; ++word) {
    const std::uint64_t filled =
        occurrences.word_begin[word] - occurrences.word_begin[begin.back()];
    if (filled >= wanted || word == words) begin.push_back(word);
  }
  return begin;
}

}  // namespace aligner
