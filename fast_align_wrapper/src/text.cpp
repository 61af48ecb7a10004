#include "text.hpp"

#include <algorithm>

#include "system.hpp"

namespace aligner {

namespace {

// 64-bit FNV-1a, folded to 32 bits.
std::uint32_t hash_of(std::string_view word) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char character : word) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211ULL;
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

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
  if (std::size_t{2} * size() > slots_.size()) {
    slots_.assign(2 * slots_.size(), kUnknown);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t known = 0; known < size(); ++known) {
      std::size_t free_slot = hashes_[known] & mask;
      while (slots_[free_slot] != kUnknown) free_slot = (free_slot + 1) & mask;
      slots_[free_slot] = known;
    }
  }
  return id;
}

void split_pair(std::string_view line, const std::string& position, SentencePair& pair) {
  pair.source.clear();
  pair.target.clear();
  int separators = 0;
  for (std::size_t begin = 0; begin < line.size();) {
    std::size_t end = begin;
    while (end < line.size() && line[end] != ' ' && line[end] != '\t') ++end;
    const std::string_view token = line.substr(begin, end - begin);
    if (token == "|||") {
      ++separators;
    } else if (!token.empty()) {
      (separators == 0 ? pair.source : pair.target).push_back(token);
    }
    separators += end < line.size() && line[end] == '\t';
    begin = end + 1;
  }
  if (separators == 1) return;
  throw Error(position + (separators == 0 ? ": no '|||' between source and target"
                                          : ": more than one '|||' or tab in the line"));
}

std::string oversize_warning(const SentencePair& pair, const std::string& position,
                             std::uint64_t max_cells, const std::string& effect) {
  return "warning: " + position + ": " + std::to_string(pair.source.size()) + " times " +
         std::to_string(pair.target.size()) + " words exceed --max-cells " +
         std::to_string(max_cells) + "; " + effect;
}

void format_links(const Links& links, std::string& out) {
  const char* between = "";
  for (const LinkPair& link : links) {
    out += between;
    out += std::to_string(link.source);
    out += '-';
    out += std::to_string(link.target);
    between = " ";
  }
}

}  // namespace aligner
