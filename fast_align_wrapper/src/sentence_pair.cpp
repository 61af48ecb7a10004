#include "sentence_pair.hpp"

#include "errors.hpp"

namespace aligner {

namespace {

/// Appends the space-separated tokens of `text`; a "|||" among them counts as a separator.
int split_tokens(std::string_view text, int separators, SentencePair& pair) {
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(' ', begin)) != std::string_view::npos) {
    std::size_t end = text.find(' ', begin);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view token = text.substr(begin, end - begin);
    if (token == "|||") {
      ++separators;
    } else {
      (separators == 0 ? pair.source : pair.target).push_back(token);
    }
    begin = end;
  }
  return separators;
}

}  // namespace

void split_pair(std::string_view line, const std::string& position, SentencePair& pair) {
  pair.source.clear();
  pair.target.clear();
  int separators = 0;
  for (;;) {
    const std::size_t tab = line.find('\t');
    separators = split_tokens(line.substr(0, tab), separators, pair);
    if (tab == std::string_view::npos) break;
    ++separators;
    line.remove_prefix(tab + 1);
  }
  if (separators == 1) return;
  throw Error(position + (separators == 0 ? ": no '|||' between source and target"
                                          : ": more than one '|||' or tab in the line"));
}

}  // namespace aligner
