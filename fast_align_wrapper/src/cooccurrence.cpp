#include "cooccurrence.hpp"

#include <algorithm>

namespace aligner {

namespace {

/// A source word's occurrence: which pair, and which position in it.
struct Occurrence {
  std::uint32_t pair;
  std::uint32_t position;
};

/// Occurrences of all source words in a range of pairs, grouped by word.
struct Occurrences {
  std::vector<std::uint64_t> word_begin;
  std::vector<Occurrence> places;
};

Occurrences group_by_word(const Side& side, std::uint64_t first_pair, std::uint64_t last_pair) {
  Occurrences result;
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

/// Consecutive source words with about the same number of occurrences, as pieces of work.
std::vector<std::uint32_t> divide_words(const Occurrences& occurrences, std::size_t pieces) {
  std::vector<std::uint32_t> begin{0};
  const auto words = static_cast<std::uint32_t>(occurrences.word_begin.size() - 1);
  const std::uint64_t wanted = occurrences.places.size() / pieces + 1;
  for (std::uint32_t word = 1; word <= words; ++word) {
    const std::uint64_t filled =
        occurrences.word_begin[word] - occurrences.word_begin[begin.back()];
    if (filled >= wanted || word == words) begin.push_back(word);
  }
  return begin;
}

/// One thread's memory of where each target word is in the row at hand.
class RowPlaces {
 public:
  explicit RowPlaces(std::uint32_t target_words) : seen_in_(target_words, 0), place_(target_words) {}

  void start_row() {
    ++row_;
    size_ = 0;
  }
  bool add(std::uint32_t target_word) {
    if (seen_in_[target_word] == row_) return false;
    seen_in_[target_word] = row_;
    place_[target_word] = size_++;
    return true;
  }
  std::uint32_t place(std::uint32_t target_word) const { return place_[target_word]; }

 private:
  std::vector<std::uint64_t> seen_in_;
  std::vector<std::uint32_t> place_;
  std::uint64_t row_ = 0;
  std::uint32_t size_ = 0;
};

constexpr std::size_t kPieces = 256;

}  // namespace

Cooccurrence::Cooccurrence(const Corpus& corpus, std::uint64_t memory_limit, ThreadPool& threads)
    : corpus_(corpus), threads_(threads) {
  divide(memory_limit);
  const bool whole = chunks() == 1;
  if (whole) {
    index_.last_pair = corpus.pairs();
    index_.places.resize(cell_begin_.back());
    current_ = 0;
  }
  build_table(whole ? &index_ : nullptr);
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

void Cooccurrence::build_table(CellIndex* index) {
  const Occurrences occurrences = group_by_word(corpus_.source, 0, corpus_.pairs());
  const std::vector<std::uint32_t> pieces = divide_words(occurrences, kPieces);
  std::vector<std::vector<std::uint32_t>> rows(pieces.size() - 1);
  table_.columns = corpus_.target.words.size();
  table_.row_begin.assign(corpus_.source.words.size() + std::uint64_t{1}, 0);
  std::vector<RowPlaces> scratch(threads_.size(), RowPlaces(corpus_.target.words.size()));

  const auto scan_word = [&](std::uint32_t word, RowPlaces& row,
                             std::vector<std::uint32_t>& target_words) {
    row.start_row();
    for (std::uint64_t at = occurrences.word_begin[word]; at < occurrences.word_begin[word + 1];
         ++at) {
      const auto [pair, position] = occurrences.places[at];
      const std::uint32_t length = corpus_.target.length(pair);
      const std::uint32_t* targets = corpus_.target.tokens_of(pair);
      for (std::uint32_t j = 0; j < length; ++j) {
        if (row.add(targets[j])) target_words.push_back(targets[j]);
      }
      if (index == nullptr) continue;
      std::uint32_t* places =
          index->places.data() + cell_begin_[pair] + std::uint64_t{position} * length;
      for (std::uint32_t j = 0; j < length; ++j) places[j] = row.place(targets[j]);
    }
  };
  threads_.for_each_range(rows.size(), 1, [&](unsigned thread, std::uint64_t piece, std::uint64_t) {
    for (std::uint32_t word = pieces[piece]; word < pieces[piece + 1]; ++word) {
      const std::size_t before = rows[piece].size();
      scan_word(word, scratch[thread], rows[piece]);
      table_.row_begin[word + 1] = rows[piece].size() - before;
    }
  });
  for (std::size_t word = 1; word < table_.row_begin.size(); ++word) {
    table_.row_begin[word] += table_.row_begin[word - 1];
  }
  table_.target_words.reserve(table_.row_begin.back());
  for (std::vector<std::uint32_t>& row : rows) {
    table_.target_words.insert(table_.target_words.end(), row.begin(), row.end());
    std::vector<std::uint32_t>().swap(row);
  }
}

void Cooccurrence::rebuild(std::uint64_t number) {
  index_.first_pair = chunk_begin_[number];
  index_.last_pair = chunk_begin_[number + 1];
  const std::uint64_t first_cell = cell_begin_[index_.first_pair];
  index_.places.resize(cell_begin_[index_.last_pair] - first_cell);
  const Occurrences occurrences =
      group_by_word(corpus_.source, index_.first_pair, index_.last_pair);
  const std::vector<std::uint32_t> pieces = divide_words(occurrences, kPieces);
  std::vector<std::vector<std::uint32_t>> place_of(
      threads_.size(), std::vector<std::uint32_t>(corpus_.target.words.size()));

  const auto scan_word = [&](std::uint32_t word, std::vector<std::uint32_t>& place) {
    if (occurrences.word_begin[word] == occurrences.word_begin[word + 1]) return;
    const std::uint64_t row = table_.row_begin[word];
    for (std::uint64_t entry = row; entry < table_.row_begin[word + 1]; ++entry) {
      place[table_.target_words[entry]] = static_cast<std::uint32_t>(entry - row);
    }
    for (std::uint64_t at = occurrences.word_begin[word]; at < occurrences.word_begin[word + 1];
         ++at) {
      const auto [pair, position] = occurrences.places[at];
      const std::uint32_t length = corpus_.target.length(pair);
      const std::uint32_t* targets = corpus_.target.tokens_of(pair);
      std::uint32_t* places = index_.places.data() + (cell_begin_[pair] - first_cell) +
                              std::uint64_t{position} * length;
      for (std::uint32_t j = 0; j < length; ++j) places[j] = place[targets[j]];
    }
  };
  threads_.for_each_range(pieces.size() - 1, 1,
                          [&](unsigned thread, std::uint64_t piece, std::uint64_t) {
    for (std::uint32_t word = pieces[piece]; word < pieces[piece + 1]; ++word) {
      scan_word(word, place_of[thread]);
    }
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
