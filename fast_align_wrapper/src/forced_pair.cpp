#include "forced_pair.hpp"

#include <cmath>
#include <cstring>

#include "length_model.hpp"

namespace aligner {

namespace {

constexpr std::uint64_t kCachedCells = std::uint64_t{1} << 20;

void put_little_endian(std::string& out, std::size_t offset, std::uint32_t bits) {
  for (std::size_t byte = 0; byte < 4; ++byte) {
    out[offset + byte] = static_cast<char>(bits >> (8 * byte) & 0xFF);
  }
}

/// Writes one pair's record, whose places are known from its lengths.
class PosteriorRecord {
 public:
  PosteriorRecord(std::string& out, std::uint32_t m, std::uint32_t n) : out_(out), m_(m), n_(n) {
    out_.assign(4 * (2 + std::size_t{m} + std::size_t{m} * n), '\0');
    put_little_endian(out_, 0, m);
    put_little_endian(out_, 4, n);
  }
  void set_null(std::uint32_t j, double value) { set(2 + std::size_t{j}, value); }
  void set_cell(std::uint32_t j, std::uint32_t i, double value) {
    set(2 + std::size_t{m_} + std::size_t{j} * n_ + i, value);
  }

 private:
  void set(std::size_t place, double value) {
    const auto number = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    put_little_endian(out_, 4 * place, bits);
  }

  std::string& out_;
  std::uint32_t m_;
  std::uint32_t n_;
};

}  // namespace

const double* ForcedPairAligner::prior_row(std::uint32_t j, std::uint32_t m, std::uint32_t n) {
  const std::uint64_t cells = std::uint64_t{m} * n;
  const auto known = cache_.find(std::uint64_t{m} << 32 | n);
  if (known != cache_.end()) return known->second.data() + std::uint64_t{j} * n;
  if (cached_cells_ + cells > kCachedCells) {
    prior_scratch_.resize(n);
    fill_prior_row(settings_.prior, j + 1, m, n, 1, prior_scratch_.data());
    return prior_scratch_.data();
  }
  cached_cells_ += cells;
  std::vector<double>& rows = cache_[std::uint64_t{m} << 32 | n];
  rows.resize(cells);
  for (std::uint32_t row = 0; row < m; ++row) {
    fill_prior_row(settings_.prior, row + 1, m, n, 1, rows.data() + std::uint64_t{row} * n);
  }
  return rows.data() + std::uint64_t{j} * n;
}

double ForcedPairAligner::compute_joint(std::uint32_t word, const double* prior,
                                        double null_prior) {
  joint_[0] = parameters_.probability(Parameters::kNull, word) * null_prior;
  double sum = joint_[0];
  for (std::size_t i = 0; i < conditioning_.size(); ++i) {
    joint_[i + 1] = parameters_.probability(conditioning_[i], word) * prior[i];
    sum += joint_[i + 1];
  }
  return sum;
}

void ForcedPairAligner::align(const SentencePair& pair, ForcedResult& result) {
  const auto& conditioning_words = settings_.reverse ? pair.target : pair.source;
  const auto& generated_words = settings_.reverse ? pair.source : pair.target;
  const auto m = static_cast<std::uint32_t>(generated_words.size());
  const auto n = static_cast<std::uint32_t>(conditioning_words.size());
  conditioning_.clear();
  for (const std::string_view word : conditioning_words) {
    conditioning_.push_back(parameters_.conditioning_id(word));
  }
  joint_.resize(n + std::size_t{1});
  result.links.clear();
  result.score = log_length_probability(m, n, settings_.length_multiplier);
  result.posteriors.clear();
  std::string* const out = settings_.posteriors ? &result.posteriors : nullptr;
  std::string unused;
  PosteriorRecord record(out ? *out : unused, out ? m : 0, out ? n : 0);
  const double null = null_prior(settings_.prior, n);
  for (std::uint32_t j = 0; j < m; ++j) {
    const double sum = compute_joint(parameters_.generated_id(generated_words[j]),
                                     n == 0 ? nullptr : prior_row(j, m, n), null);
    result.score += std::log(sum);
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i <= n; ++i) {
      if (joint_[i] > joint_[best]) best = i;
    }
    if (best > 0) {
      result.links.push_back(settings_.reverse ? LinkPair{j, best - 1} : LinkPair{best - 1, j});
    }
    if (out == nullptr) continue;
    record.set_null(j, joint_[0] / sum);
    for (std::uint32_t i = 0; i < n; ++i) record.set_cell(j, i, joint_[i + 1] / sum);
  }
}

}  // namespace aligner
