// Where each target word is in one row of the table, while the row is built or looked up.
#pragma once

#include <cstdint>
#include <vector>

namespace aligner {

/// One thread's memory of where each target word is in the row at hand.
class RowPlaces {
 public:
  explicit RowPlaces(std::uint32_t target_words)
      : seen_in_(target_words, 0), place_(target_words) {}

  /// Begins a row that has these words already.
  void start_row(const std::uint32_t* words, std::uint64_t count) {
    ++row_;
    size_ = 0;
    for (std::uint64_t at = 0; at < count; ++at) add(words[at]);
  }
  /// Whether the word was new to the row.
  bool add(std::uint32_t target_word) {
    if (seen_in_[target_word] == row_) return false;
    seen_in_[target_word] = row_;
    place_[target_word] = size_++;
    return true;
  }
  std::uint32_t place(std::uint32_t target_word) const { return place_[target_word]; }

 private:
  std::vector<std::uint32_t> seen_in_;
  std::vector<std::uint32_t> place_;
  std::uint32_t row_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace aligner
