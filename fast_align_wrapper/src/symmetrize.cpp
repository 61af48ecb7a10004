#include "symmetrize.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <queue>
#include <vector>

namespace aligner {

bool is_symmetrization(const std::string& method) {
  return method == "intersect" || method == "union" || method == "grow-diag" ||
         method == "grow-diag-final" || method == "grow-diag-final-and";
}

namespace {

/// A growing subset of the union of two sets of links. It is stored as the sorted union with a flag
/// per link, because a source × target grid would be too large for long pairs.
class Grower {
 public:
  Grower(const Links& forward, const Links& reverse) {
    std::set_union(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                   std::back_inserter(links_));
    is_in_.resize(links_.size());
    for (const LinkPair& link : links_) {
      source_used_.resize(std::max<std::size_t>(source_used_.size(), link.source + 1));
      target_used_.resize(std::max<std::size_t>(target_used_.size(), link.target + 1));
    }
    Links common;
    std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                          std::back_inserter(common));
    for (const LinkPair& link : common) add(place_of(link));
  }

  /// Passes over the sorted links, adding those with a neighbour in the set and a word that has no
  /// link yet, until a whole pass adds none. Only neighbours of added links need to be visited:
  /// those that sort after the added link in the same pass, the others in the next one.
  void grow() {
    Places pass, next;
    for (std::size_t place = 0; place < links_.size(); ++place) {
      if (is_in_[place]) push_neighbours(place, pass, pass);
    }
    for (; !pass.empty(); std::swap(pass, next)) {
      while (!pass.empty()) {
        const std::size_t place = pass.top();
        pass.pop();
        if (is_in_[place] || !any_side_free(links_[place])) continue;
        add(place);
        push_neighbours(place, next, pass);
      }
    }
  }

  void add_where_any_side_is_free(const Links& links) {
    for (const LinkPair& link : links) {
      if (any_side_free(link)) add(place_of(link));
    }
  }

  void add_where_both_sides_are_free(const Links& links) {
    for (const LinkPair& link : links) {
      if (!source_used_[link.source] && !target_used_[link.target]) add(place_of(link));
    }
  }

  void copy_to(Links& result) const {
    for (std::size_t place = 0; place < links_.size(); ++place) {
      if (is_in_[place]) result.push_back(links_[place]);
    }
  }

 private:
  using Places =
      std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<std::size_t>>;

  bool any_side_free(const LinkPair& link) const {
    return !source_used_[link.source] || !target_used_[link.target];
  }
  std::size_t place_of(const LinkPair& link) const {
    return static_cast<std::size_t>(std::lower_bound(links_.begin(), links_.end(), link) -
                                    links_.begin());
  }
  /// Queues the neighbours of a link that are not in the set: in `before` those that sort before
  /// it, in `behind` those that sort after it.
  void push_neighbours(std::size_t of, Places& before, Places& behind) const {
    const LinkPair& link = links_[of];
    // Rows source - 1 … source + 1; in each, links to target - 1 … target + 1 stand together.
    const std::uint32_t first_row = link.source == 0 ? 0 : link.source - 1;
    for (std::uint32_t row = first_row; row <= link.source + 1; ++row) {
      std::size_t place = place_of({row, link.target == 0 ? 0 : link.target - 1});
      for (; place < links_.size() && links_[place].source == row &&
             links_[place].target <= link.target + 1;
           ++place) {
        if (!is_in_[place]) (place < of ? before : behind).push(place);
      }
    }
  }
  void add(std::size_t place) {
    is_in_[place] = true;
    source_used_[links_[place].source] = true;
    target_used_[links_[place].target] = true;
  }

  Links links_;
  std::vector<bool> is_in_;
  std::vector<bool> source_used_;
  std::vector<bool> target_used_;
};

}  // namespace

void symmetrize(const std::string& method, const Links& forward, const Links& reverse,
                Links& result) {
  result.clear();
  if (method == "intersect") {
    std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                          std::back_inserter(result));
  } else if (method == "union") {
    std::set_union(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                   std::back_inserter(result));
  } else {
    Grower grower(forward, reverse);
    grower.grow();
    for (const Links* links : {&forward, &reverse}) {
      if (method == "grow-diag-final") grower.add_where_any_side_is_free(*links);
      if (method == "grow-diag-final-and") grower.add_where_both_sides_are_free(*links);
    }
    grower.copy_to(result);
  }
}

}  // namespace aligner
