// A parallel corpus as word ids, read once for both directions, and the table of its word pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "system.hpp"
#include "text.hpp"

namespace aligner {

/// Tokens of one side of all pairs; pair p has tokens[begin[p]] … tokens[begin[p + 1] - 1].
struct Side {
  Vocabulary words;
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint64_t> begin{0};

  std::uint32_t length(std::uint64_t pair) const {
    return static_cast<std::uint32_t>(begin[pair + 1] - begin[pair]);
  }
  const std::uint32_t* tokens_of(std::uint64_t pair) const { return tokens.data() + begin[pair]; }
};

/// Pairs that cannot be used (an empty side, or too many cells) keep their number, without tokens.
struct Corpus {
  Side source;
  Side target;
  std::uint64_t empty_pairs = 0;
  std::uint64_t oversize_pairs = 0;

  std::uint64_t pairs() const { return source.begin.size() - 1; }
  std::uint64_t trained_pairs() const { return pairs() - empty_pairs - oversize_pairs; }
  /// Source times target words of a pair.
  std::uint64_t cells(std::uint64_t pair) const {
    return std::uint64_t{source.length(pair)} * target.length(pair);
  }
};

/// Reads "source ||| target" lines. A pair with more than `max_cells` cells is left out, with a
/// warning. Throws Error on a malformed line or when no pair can be trained on.
Corpus read_corpus(const std::string& path, std::uint64_t max_cells);

struct PairSize {
  std::uint32_t source_length;
  std::uint32_t target_length;
  std::uint64_t pairs;

  std::uint64_t cells() const { return std::uint64_t{source_length} * target_length; }
};

/// The distinct sizes of a corpus's pairs. There are few of them, so priors are computed per size.
struct PairSizes {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// In order of first occurrence.
  std::vector<PairSize> sizes;
  /// For each pair its index in `sizes`, or kNone if it is not trained on.
  std::vector<std::uint32_t> of_pair;
};

PairSizes count_pair_sizes(const Corpus& corpus);

/// Which source and target words occur together in a pair. The row of source word e, entries
/// row_begin[e] … row_begin[e + 1] - 1, lists the target words seen with it in order of first
/// occurrence. Both directions use the same entries.
struct PairTable {
  std::vector<std::uint64_t> row_begin;
  std::vector<std::uint32_t> target_words;
  std::uint32_t columns = 0;  // distinct target words

  std::uint64_t entries() const { return target_words.size(); }
};

/// For each cell (source position, target position) of the pairs first_pair … last_pair - 1, its
/// offset in its row of the table. A pair's cells are stored source word by source word. An offset
/// in a row, unlike one in the whole table, fits in 32 bits.
struct CellIndex {
  std::uint64_t first_pair = 0;
  std::uint64_t last_pair = 0;
  std::vector<std::uint32_t> offsets;
};

class RowOffsets;
struct WordOccurrences;

/// The table of word pairs and the cell index, which is built whole or chunk by chunk.
class Cooccurrence {
 public:
  /// Builds the table. If the whole index fits in `memory_limit` bytes, it is built once and kept;
  /// otherwise chunk() rebuilds it for one range of pairs at a time.
  Cooccurrence(const Corpus& corpus, std::uint64_t memory_limit, ThreadPool& threads);

  const PairTable& table() const { return table_; }
  std::uint64_t chunks() const { return chunk_begin_.size() - 1; }
  /// The index of a chunk, valid until the next call.
  const CellIndex& chunk(std::uint64_t number);
  /// The number of a pair's first cell, counted over the whole corpus.
  std::uint64_t cell_begin(std::uint64_t pair) const { return cell_begin_[pair]; }

 private:
  /// Builds the table, and the index too if there is only one chunk.
  void build_table();
  void for_each_word(std::uint64_t first_pair, std::uint64_t last_pair,
                     const std::function<void(RowOffsets&, std::size_t piece, std::uint32_t word,
                                              const WordOccurrences&)>& task);
  void find_new_words(const WordOccurrences& occurrences, std::uint32_t word, RowOffsets& row,
                      std::vector<std::uint32_t>& found) const;
  void fill_index(const WordOccurrences& occurrences, std::uint32_t word, const RowOffsets& row);

  const Corpus& corpus_;
  ThreadPool& threads_;
  PairTable table_;
  std::vector<std::uint64_t> cell_begin_;
  std::vector<std::uint64_t> chunk_begin_;
  std::uint64_t current_ = UINT64_MAX;
  CellIndex index_;
};

}  // namespace aligner
