#include "vocabulary.hpp"

#include "errors.hpp"

namespace aligner {

namespace {

// FNV-1a, its halves folded together.
std::uint32_t hash_of(std::string_view word) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char character : word) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211ULL;
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

Vocabulary::Vocabulary() : slots_(1024, kUnknown) {}

std::string_view Vocabulary::word(std::uint32_t id) const {
  const std::uint64_t begin = id == 0 ? 0 : ends_[id - 1];
  return std::string_view(characters_).substr(begin, ends_[id] - begin);
}

std::size_t Vocabulary::slot_of(std::string_view sought, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != kUnknown &&
         (hashes_[slots_[slot]] != hash || word(slots_[slot]) != sought)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::uint32_t Vocabulary::find(std::string_view sought) const {
  return slots_[slot_of(sought, hash_of(sought))];
}

std::uint32_t Vocabulary::add(std::string_view added) {
  const std::uint32_t hash = hash_of(added);
  const std::size_t slot = slot_of(added, hash);
  if (slots_[slot] != kUnknown) return slots_[slot];
  const std::uint32_t id = size();
  if (id == kUnknown) throw Error("more than four billion different words");
  slots_[slot] = id;
  characters_.append(added);
  ends_.push_back(characters_.size());
  hashes_.push_back(hash);
  if (std::size_t{2} * size() > slots_.size()) grow();
  return id;
}

void Vocabulary::grow() {
  slots_.assign(2 * slots_.size(), kUnknown);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != kUnknown) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

}  // namespace aligner
