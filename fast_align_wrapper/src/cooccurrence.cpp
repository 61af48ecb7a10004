#include "cooccurrence.hpp"

#include <algorithm>

namespace aligner {

Cooccurrence::Cooccurrence(const Corpus& corpus, std::uint64_t memory_limit, ThreadPool& threads)
    : corpus_(corpus), threads_(threads) {
  divide(memory_limit);
  if (chunks() == 1) {
    index_.last_pair = corpus.pairs();
    index_.places.resize(cell_begin_.back());
    current_ = 0;
  }
  build_table();
}

void Cooccurrence::divide(std::uint64_t memory_limit) {
  const std::uint64_t most = std::max<std::uint64_t>(1, memory_limit / sizeof(std::uint32_t));
  cell_begin_.reserve(corpus_.pairs() + 1);
  cell_begin_.push_back(0);
  chunk_begin_.push_back(0);
  for (std::uint64_t pair = 0; pair < corpus_.pairs(); ++pair) {
    cell_begin_.push_back(cell_begin_.back() + corpus_.cells(pair));
    const bool is_first = chunk_begin_.back() == pair;
    if (cell_begin_.back() - cell_begin_[chunk_begin_.back()] > most && !is_first) {
      chunk_begin_.push_back(pair);
    }
  }
  chunk_begin_.push_back(corpus_.pairs());
}

void Cooccurrence::for_each_word(
    std::uint64_t first_pair, std::uint64_t last_pair,
    const std::function<void(RowPlaces&, std::size_t, std::uint32_t, const WordOccurrences&)>&
        task) {
  const WordOccurrences occurrences = group_by_word(corpus_.source, first_pair, last_pair);
  const std::vector<std::uint32_t> pieces = divide_words(occurrences);
  std::vector<RowPlaces> rows(threads_.size(), RowPlaces(corpus_.target.words.size()));
  threads_.for_each_range(pieces.size() - 1, 1,
                          [&](unsigned thread, std::uint64_t piece, std::uint64_t) {
    for (std::uint32_t word = pieces[piece]; word < pieces[piece + 1]; ++word) {
      task(rows[thread], piece, word, occurrences);
    }
  });
}

void Cooccurrence::find_new_words(const WordOccurrences& occurrences, std::uint32_t word,
                                  RowPlaces& row, std::vector<std::uint32_t>& found) const {
  for (std::uint64_t at = occurrences.word_begin[word]; at < occurrences.word_begin[word + 1];
       ++at) {
    const std::uint32_t pair = occurrences.places[at].pair;
    const std::uint32_t* targets = corpus_.target.tokens_of(pair);
    for (std::uint32_t j = 0; j < corpus_.target.length(pair); ++j) {
      if (row.add(targets[j])) found.push_back(targets[j]);
    }
  }
}

void Cooccurrence::fill_index(const WordOccurrences& occurrences, std::uint32_t word,
                              const RowPlaces& row) {
  const std::uint64_t first_cell = cell_begin_[index_.first_pair];
  for (std::uint64_t at = occurrences.word_begin[word]; at < occurrences.word_begin[word + 1];
       ++at) {
    const auto [pair, position] = occurrences.places[at];
    const std::uint32_t length = corpus_.target.length(pair);
    const std::uint32_t* targets = corpus_.target.tokens_of(pair);
    std::uint32_t* places = index_.places.data() + (cell_begin_[pair] - first_cell) +
                            std::uint64_t{position} * length;
    for (std::uint32_t j = 0; j < length; ++j) places[j] = row.place(targets[j]);
  }
}

void Cooccurrence::build_table() {
  std::vector<std::vector<std::uint32_t>> found(WordOccurrences::kPieces + 1);
  table_.columns = corpus_.target.words.size();
  table_.row_begin.assign(corpus_.source.words.size() + std::uint64_t{1}, 0);
  for_each_word(0, corpus_.pairs(), [&](RowPlaces& row, std::size_t piece, std::uint32_t word,
                                        const WordOccurrences& occurrences) {
    const std::size_t before = found[piece].size();
    row.start_row(nullptr, 0);
    find_new_words(occurrences, word, row, found[piece]);
    table_.row_begin[word + 1] = found[piece].size() - before;
    if (chunks() == 1) fill_index(occurrences, word, row);
  });
  for (std::size_t word = 1; word < table_.row_begin.size(); ++word) {
    table_.row_begin[word] += table_.row_begin[word - 1];
  }
  table_.target_words.reserve(table_.row_begin.back());
  for (std::vector<std::uint32_t>& words : found) {
    table_.target_words.insert(table_.target_words.end(), words.begin(), words.end());
    std::vector<std::uint32_t>().swap(words);
  }
}

void Cooccurrence::rebuild(std::uint64_t number) {
  index_.first_pair = chunk_begin_[number];
  index_.last_pair = chunk_begin_[number + 1];
  index_.places.resize(cell_begin_[index_.last_pair] - cell_begin_[index_.first_pair]);
  for_each_word(index_.first_pair, index_.last_pair,
                [&](RowPlaces& row, std::size_t, std::uint32_t word,
                    const WordOccurrences& occurrences) {
    if (occurrences.word_begin[word] == occurrences.word_begin[word + 1]) return;
    const std::uint64_t begin = table_.row_begin[word];
    row.start_row(table_.target_words.data() + begin, table_.row_begin[word + 1] - begin);
    fill_index(occurrences, word, row);
  });
}

const CellIndex& Cooccurrence::chunk(std::uint64_t number) {
  if (number != current_) {
    rebuild(number);
    current_ = number;
  }
  return index_;
}

}  // namespace aligner
