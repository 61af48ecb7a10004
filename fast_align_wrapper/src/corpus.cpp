#include "corpus.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace aligner {

Corpus read_corpus(const std::string& path, std::uint64_t max_cells) {
  Corpus corpus;
  LineReader reader(path);
  SentencePair pair;
  const auto append = [](Side& side, const std::vector<std::string_view>& words) {
    for (const std::string_view word : words) side.tokens.push_back(side.words.add(word));
    side.begin.push_back(side.tokens.size());
  };
  for (std::string_view line; reader.next(line);) {
    split_pair(line, reader.position(), pair);
    const std::uint64_t cells = pair.cells();
    corpus.empty_pairs += cells == 0;
    if (cells > max_cells) {
      ++corpus.oversize_pairs;
      report(oversize_warning(pair, reader.position(), max_cells,
                                            "the pair is left out of training and gets no links"));
    }
    if (cells == 0 || cells > max_cells) pair = SentencePair();
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

PairSizes count_pair_sizes(const Corpus& corpus) {
  PairSizes result;
  result.of_pair.assign(corpus.pairs(), PairSizes::kNone);
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint64_t pair = 0; pair < corpus.pairs(); ++pair) {
    if (corpus.cells(pair) == 0) continue;
    const std::uint32_t source = corpus.source.length(pair);
    const std::uint32_t target = corpus.target.length(pair);
    const auto [entry, is_new] = known.try_emplace(std::uint64_t{source} << 32 | target,
                                                   static_cast<std::uint32_t>(known.size()));
    if (is_new) result.sizes.push_back({source, target, 0});
    ++result.sizes[entry->second].pairs;
    result.of_pair[pair] = entry->second;
  }
  return result;
}

/// Where a token of a source word stands.
struct Occurrence {
  std::uint32_t pair;
  std::uint32_t position;
};

/// Where each source word occurs in a range of pairs, in text order; the table is built from it row
/// by row.
struct WordOccurrences {
  WordOccurrences(const Side& side, std::uint64_t first_pair, std::uint64_t last_pair)
      : word_begin(side.words.size() + std::uint64_t{1}, 0) {
    const std::uint64_t first_token = side.begin[first_pair];
    const std::uint64_t last_token = side.begin[last_pair];
    for (std::uint64_t token = first_token; token < last_token; ++token) {
      ++word_begin[side.tokens[token] + 1];
    }
    std::partial_sum(word_begin.begin(), word_begin.end(), word_begin.begin());
    list.resize(last_token - first_token);
    std::vector<std::uint64_t> next(word_begin.begin(), word_begin.end() - 1);
    for (std::uint64_t pair = first_pair; pair < last_pair; ++pair) {
      const std::uint32_t* tokens = side.tokens_of(pair);
      for (std::uint32_t position = 0; position < side.length(pair); ++position) {
        list[next[tokens[position]]++] = {static_cast<std::uint32_t>(pair), position};
      }
    }
  }

  const Occurrence* begin(std::uint32_t word) const { return list.data() + word_begin[word]; }
  const Occurrence* end(std::uint32_t word) const { return list.data() + word_begin[word + 1]; }

  std::vector<std::uint64_t> word_begin;
  std::vector<Occurrence> list;
};

/// One thread's record of the offset of each target word in the current row.
class RowOffsets {
 public:
  explicit RowOffsets(std::uint32_t target_words)
      : seen_in_(target_words, 0), offset_(target_words) {}

  /// Starts a row that already has these words.
  void start_row(const std::uint32_t* words, std::uint64_t count) {
    ++row_;
    size_ = 0;
    for (std::uint64_t at = 0; at < count; ++at) add(words[at]);
  }
  /// Adds a word to the row unless it is there; returns whether it was new.
  bool add(std::uint32_t target_word) {
    if (seen_in_[target_word] == row_) return false;
    seen_in_[target_word] = row_;
    offset_[target_word] = size_++;
    return true;
  }
  std::uint32_t offset(std::uint32_t target_word) const { return offset_[target_word]; }

 private:
  std::vector<std::uint32_t> seen_in_;
  std::vector<std::uint32_t> offset_;
  std::uint32_t row_ = 0;
  std::uint32_t size_ = 0;
};

namespace {

// A range of words is divided into at most this many pieces of work, plus one.
constexpr std::size_t kPieces = 256;

/// Divides the words into pieces of work with about the same number of occurrences. Piece p is the
/// words result[p] … result[p + 1] - 1.
std::vector<std::uint32_t> divide_words(const WordOccurrences& occurrences) {
  std::vector<std::uint32_t> begin{0};
  const auto words = static_cast<std::uint32_t>(occurrences.word_begin.size() - 1);
  const std::uint64_t wanted = occurrences.list.size() / kPieces + 1;
  for (std::uint32_t word = 1; word <= words; ++word) {
    const std::uint64_t filled =
        occurrences.word_begin[word] - occurrences.word_begin[begin.back()];
    if (filled >= wanted || word == words) begin.push_back(word);
  }
  return begin;
}

}  // namespace

Cooccurrence::Cooccurrence(const Corpus& corpus, std::uint64_t memory_limit, ThreadPool& threads)
    : corpus_(corpus), threads_(threads) {
  const std::uint64_t max_cells = std::max<std::uint64_t>(1, memory_limit / sizeof(std::uint32_t));
  cell_begin_.reserve(corpus.pairs() + 1);
  cell_begin_.push_back(0);
  chunk_begin_.push_back(0);
  for (std::uint64_t pair = 0; pair < corpus.pairs(); ++pair) {
    cell_begin_.push_back(cell_begin_.back() + corpus.cells(pair));
    const bool is_first = chunk_begin_.back() == pair;
    if (cell_begin_.back() - cell_begin_[chunk_begin_.back()] > max_cells && !is_first) {
      chunk_begin_.push_back(pair);
    }
  }
  chunk_begin_.push_back(corpus.pairs());
  if (chunks() == 1) {
    index_.last_pair = corpus.pairs();
    index_.offsets.resize(cell_begin_.back());
    current_ = 0;
  }
  build_table();
}

void Cooccurrence::for_each_word(
    std::uint64_t first_pair, std::uint64_t last_pair,
    const std::function<void(RowOffsets&, std::size_t, std::uint32_t, const WordOccurrences&)>&
        task) {
  const WordOccurrences occurrences(corpus_.source, first_pair, last_pair);
  const std::vector<std::uint32_t> pieces = divide_words(occurrences);
  std::vector<RowOffsets> rows(threads_.size(), RowOffsets(corpus_.target.words.size()));
  threads_.for_each_range(pieces.size() - 1, 1,
                          [&](unsigned thread, std::uint64_t piece, std::uint64_t) {
    for (std::uint32_t word = pieces[piece]; word < pieces[piece + 1]; ++word) {
      task(rows[thread], piece, word, occurrences);
    }
  });
}

void Cooccurrence::fill_index(const WordOccurrences& occurrences, std::uint32_t word,
                              const RowOffsets& row) {
  const std::uint64_t first_cell = cell_begin_[index_.first_pair];
  for (auto at = occurrences.begin(word); at < occurrences.end(word); ++at) {
    const std::uint32_t length = corpus_.target.length(at->pair);
    const std::uint32_t* targets = corpus_.target.tokens_of(at->pair);
    std::uint32_t* offsets = index_.offsets.data() + (cell_begin_[at->pair] - first_cell) +
                            std::uint64_t{at->position} * length;
    for (std::uint32_t j = 0; j < length; ++j) offsets[j] = row.offset(targets[j]);
  }
}

void Cooccurrence::build_table() {
  std::vector<std::vector<std::uint32_t>> found(kPieces + 1);
  table_.columns = corpus_.target.words.size();
  table_.row_begin.assign(corpus_.source.words.size() + std::uint64_t{1}, 0);
  for_each_word(0, corpus_.pairs(), [&](RowOffsets& row, std::size_t piece, std::uint32_t word,
                                        const WordOccurrences& occurrences) {
    const std::size_t before = found[piece].size();
    row.start_row(nullptr, 0);
    for (auto at = occurrences.begin(word); at < occurrences.end(word); ++at) {
      const std::uint32_t* targets = corpus_.target.tokens_of(at->pair);
      for (std::uint32_t j = 0; j < corpus_.target.length(at->pair); ++j) {
        if (row.add(targets[j])) found[piece].push_back(targets[j]);
      }
    }
    table_.row_begin[word + 1] = found[piece].size() - before;
    if (chunks() == 1) fill_index(occurrences, word, row);
  });
  std::partial_sum(table_.row_begin.begin(), table_.row_begin.end(), table_.row_begin.begin());
  table_.target_words.reserve(table_.row_begin.back());
  for (std::vector<std::uint32_t>& words : found) {
    table_.target_words.insert(table_.target_words.end(), words.begin(), words.end());
    std::vector<std::uint32_t>().swap(words);
  }
}

const CellIndex& Cooccurrence::chunk(std::uint64_t number) {
  if (number == current_) return index_;
  current_ = number;
  index_.first_pair = chunk_begin_[number];
  index_.last_pair = chunk_begin_[number + 1];
  index_.offsets.resize(cell_begin_[index_.last_pair] - cell_begin_[index_.first_pair]);
  for_each_word(index_.first_pair, index_.last_pair,
                [&](RowOffsets& row, std::size_t, std::uint32_t word,
                    const WordOccurrences& occurrences) {
    if (occurrences.begin(word) == occurrences.end(word)) return;
    const std::uint64_t begin = table_.row_begin[word];
    row.start_row(table_.target_words.data() + begin, table_.row_begin[word + 1] - begin);
    fill_index(occurrences, word, row);
  });
  return index_;
}

}  // namespace aligner
