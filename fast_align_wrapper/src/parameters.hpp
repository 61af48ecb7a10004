// Translation parameters as text: "conditioning TAB generated TAB log θ", NULL written <eps>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpus.hpp"
#include "training.hpp"
#include "vocabulary.hpp"

namespace aligner {

inline constexpr std::string_view kNullWord = "<eps>";

/// As the reference saves them: log θ ≥ -beam · log max_f θ(f|e), six significant digits.
void write_pruned_parameters(const std::string& path, const TrainingText& text,
                             const TrainedDirection& direction, double beam);

/// All pairs with θ ≥ 1e-7, digits enough to read the same numbers back.
void write_full_parameters(const std::string& path, const TrainingText& text,
                           const TrainedDirection& direction);

/// Saved parameters, for aligning text that was not trained on.
class Parameters {
 public:
  static constexpr std::uint32_t kNull = 0;

  /// Reads a file; throws Error naming the line that is malformed.
  explicit Parameters(const std::string& path);

  /// The number of a conditioning word, Vocabulary::kUnknown if it has no parameters.
  std::uint32_t conditioning_id(std::string_view word) const;
  std::uint32_t generated_id(std::string_view word) const { return generated_.find(word); }

  /// θ, 1e-9 for a pair that was not saved or an unknown word.
  double probability(std::uint32_t conditioning, std::uint32_t generated) const;

 private:
  void add(std::uint32_t conditioning, std::uint32_t generated, double probability);
  std::size_t slot_of(std::uint64_t key) const;

  struct Entry {
    std::uint64_t key;
    double probability;
  };

  Vocabulary conditioning_;
  Vocabulary generated_;
  std::vector<Entry> slots_;
  std::uint64_t used_ = 0;
};

}  // namespace aligner
