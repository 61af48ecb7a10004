// Words and their numbers, 0, 1, 2 … in the order of their first occurrence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aligner {

class Vocabulary {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  Vocabulary();

  /// The number of a word, a new one if it was not seen before.
  std::uint32_t add(std::string_view word);
  /// The number of a word, or kUnknown.
  std::uint32_t find(std::string_view word) const;
  std::string_view word(std::uint32_t id) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::size_t slot_of(std::string_view word, std::uint32_t hash) const;
  void grow();

  std::string characters_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace aligner
