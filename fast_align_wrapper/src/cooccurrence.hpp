// Which source and target words occur in one pair, and where in the table each cell's entry is.
//
// The table has a row per source word; a row lists the target words seen with it, in the order of
// their first occurrence. Both directions use the same entries. A cell (source position, target
// position) of a pair is indexed by its place in the row, so that 32 bits are enough.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "corpus.hpp"
#include "row_places.hpp"
#include "thread_pool.hpp"
#include "word_occurrences.hpp"

namespace aligner {

/// The rows of the table: entries row_begin[e] … row_begin[e + 1] - 1 belong to source word e.
struct PairTable {
  std::vector<std::uint64_t> row_begin;
  std::vector<std::uint32_t> target_words;
  std::uint32_t columns = 0;  // different target words

  std::uint64_t entries() const { return target_words.size(); }
};

/// Row places of all cells of the pairs first_pair … last_pair - 1, each pair's cells source word
/// by source word.
struct CellIndex {
  std::uint64_t first_pair = 0;
  std::uint64_t last_pair = 0;
  std::vector<std::uint32_t> places;
};

/// The table and the index over it, whole or chunk by chunk.
class Cooccurrence {
 public:
  /// Builds the table. The index is kept whole if it fits in `memory_limit` bytes, else it is
  /// rebuilt for one chunk of pairs at a time whenever it is asked for.
  Cooccurrence(const Corpus& corpus, std::uint64_t memory_limit, ThreadPool& threads);

  const PairTable& table() const { return table_; }
  std::uint64_t chunks() const { return chunk_begin_.size() - 1; }
  /// The index of a chunk; the one returned before is gone.
  const CellIndex& chunk(std::uint64_t number);
  /// The first cell of a pair in the numbering of all cells.
  std::uint64_t cell_begin(std::uint64_t pair) const { return cell_begin_[pair]; }

 private:
  void divide(std::uint64_t memory_limit);
  /// Builds the table, and the index with it if there is but one chunk.
  void build_table();
  void rebuild(std::uint64_t number);
  void for_each_word(std::uint64_t first_pair, std::uint64_t last_pair,
                     const std::function<void(RowPlaces&, std::size_t piece, std::uint32_t word,
                                              const WordOccurrences&)>& task);
  void find_new_words(const WordOccurrences& occurrences, std::uint32_t word, RowPlaces& row,
                      std::vector<std::uint32_t>& found) const;
  void fill_index(const WordOccurrences& occurrences, std::uint32_t word, const RowPlaces& row);

  const Corpus& corpus_;
  ThreadPool& threads_;
  PairTable table_;
  std::vector<std::uint64_t> cell_begin_;
  std::vector<std::uint64_t> chunk_begin_;
  std::uint64_t current_ = UINT64_MAX;
  CellIndex index_;
};

}  // namespace aligner
