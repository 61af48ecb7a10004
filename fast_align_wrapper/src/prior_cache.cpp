#include "prior_cache.hpp"

#include <algorithm>
#include <numeric>

namespace aligner {

namespace {
constexpr std::uint64_t kNotCached = UINT64_MAX;
constexpr std::uint64_t kCachedCells = std::uint64_t{1} << 22;  // 32 MiB
}  // namespace

void fill_pair_prior(const PriorSettings& settings, bool reverse, std::uint32_t source_length,
                     std::uint32_t target_length, double* prior) {
  if (reverse) {
    for (std::uint32_t j = 1; j <= source_length; ++j, prior += target_length) {
      fill_prior_row(settings, j, source_length, target_length, 1, prior);
    }
  } else {
    for (std::uint32_t j = 1; j <= target_length; ++j, ++prior) {
      fill_prior_row(settings, j, target_length, source_length, target_length, prior);
    }
  }
}

PriorCache::PriorCache(const PairSizes& sizes, bool reverse)
    : sizes_(sizes), reverse_(reverse), offset_of_size_(sizes.sizes.size(), kNotCached) {
  std::vector<std::uint32_t> order(sizes.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return sizes.sizes[a].pairs > sizes.sizes[b].pairs;
  });
  std::uint64_t used = 0;
  for (const std::uint32_t size : order) {
    const std::uint64_t cells = sizes.sizes[size].cells();
    if (cells > kCachedCells - used) continue;
    offset_of_size_[size] = used;
    used += cells;
  }
  values_.resize(used);
}

void PriorCache::update(const PriorSettings& settings, ThreadPool& threads) {
  settings_ = settings;
  threads.for_each_range(sizes_.sizes.size(), 16,
                         [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t size = begin; size < end; ++size) {
      if (offset_of_size_[size] == kNotCached) continue;
      const PairSize& lengths = sizes_.sizes[size];
      fill_pair_prior(settings_, reverse_, lengths.source_length, lengths.target_length,
                      values_.data() + offset_of_size_[size]);
    }
  });
}

const double* PriorCache::prior_of(std::uint64_t pair, std::vector<double>& scratch) const {
  const std::uint32_t size = sizes_.of_pair[pair];
  if (offset_of_size_[size] != kNotCached) return values_.data() + offset_of_size_[size];
  const PairSize& lengths = sizes_.sizes[size];
  scratch.resize(lengths.cells());
  fill_pair_prior(settings_, reverse_, lengths.source_length, lengths.target_length,
                  scratch.data());
  return scratch.data();
}

}  // namespace aligner
