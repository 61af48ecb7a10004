#include <cmath>
#include <cstdlib>

#include "errors.hpp"
#include "line_reader.hpp"
#include "parameters.hpp"

namespace aligner {

namespace {

constexpr std::uint64_t kEmptySlot = UINT64_MAX;

// The logarithm of 1, and room for its rounding.
constexpr double kGreatestLogarithm = 1e-3;

std::uint64_t key_of(std::uint32_t conditioning, std::uint32_t generated) {
  return std::uint64_t{conditioning} << 32 | generated;
}

double parse_logarithm(std::string_view text, const LineReader& reader) {
  const std::string digits(text);
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || end != digits.c_str() + digits.size() ||
      !(value <= kGreatestLogarithm)) {
    throw Error(reader.position() + ": '" + digits + "' is not a log probability");
  }
  return value;
}

}  // namespace

Parameters::Parameters(const std::string& path) : slots_(1024, Entry{kEmptySlot, 0}) {
  conditioning_.add(kNullWord);
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
    if (second == line.npos) {
      throw Error(reader.position() + ": not 'word TAB word TAB log probability'");
    }
    const double logarithm = parse_logarithm(line.substr(second + 1), reader);
    add(conditioning_.add(line.substr(0, first)),
        generated_.add(line.substr(first + 1, second - first - 1)), std::exp(logarithm));
  }
  if (used_ == 0) throw Error(path + ": no parameters in the file");
}

std::uint32_t Parameters::conditioning_id(std::string_view word) const {
  // A word of the text called <eps> is not NULL.
  return word == kNullWord ? Vocabulary::kUnknown : conditioning_.find(word);
}

std::size_t Parameters::slot_of(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (key * 0x9E3779B97F4A7C15ULL >> 32) & mask;
  while (slots_[slot].key != kEmptySlot && slots_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

void Parameters::add(std::uint32_t conditioning, std::uint32_t generated, double probability) {
  if (2 * (used_ + 1) > slots_.size()) {
    std::vector<Entry> old(2 * slots_.size(), Entry{kEmptySlot, 0});
    old.swap(slots_);
    for (const Entry& entry : old) {
      if (entry.key != kEmptySlot) slots_[slot_of(entry.key)] = entry;
    }
  }
  const std::size_t slot = slot_of(key_of(conditioning, generated));
  if (slots_[slot].key == kEmptySlot) ++used_;
  slots_[slot] = {key_of(conditioning, generated), probability};
}

double Parameters::probability(std::uint32_t conditioning, std::uint32_t generated) const {
  if (conditioning == Vocabulary::kUnknown || generated == Vocabulary::kUnknown) {
    return kUnseenProbability;
  }
  const Entry& entry = slots_[slot_of(key_of(conditioning, generated))];
  return entry.key == kEmptySlot ? kUnseenProbability : entry.probability;
}

}  // namespace aligner
