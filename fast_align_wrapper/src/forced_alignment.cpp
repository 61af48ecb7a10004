#include "forced_alignment.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "line_reader.hpp"
#include "output_file.hpp"

namespace aligner {

namespace {

constexpr std::size_t kBatchPairs = 2048;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;
constexpr std::string_view kPosteriorsMagic = "CEPOST1\n";

struct Work {
  std::string line;
  SentencePair pair;
  ForcedResult result;
};

void append_words(std::string& out, const std::vector<std::string_view>& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) out += ' ';
    out += words[at];
  }
}

std::string output_line(const Work& work) {
  std::array<char, 32> score;
  const int length = std::snprintf(score.data(), score.size(), "%g\n", work.result.score);
  std::string line;
  append_words(line, work.pair.source);
  line += " ||| ";
  append_words(line, work.pair.target);
  line += " ||| ";
  format_links(work.result.links, line);
  line += " ||| ";
  line.append(score.data(), static_cast<std::size_t>(length));
  return line;
}

class ForcedRun {
 public:
  ForcedRun(const std::string& input, const Parameters& parameters, const ForcedSettings& settings,
            const std::string& posteriors_path, ThreadPool& threads)
      : reader_(input), threads_(threads), out_("-") {
    for (unsigned thread = 0; thread < threads.size(); ++thread) {
      aligners_.emplace_back(parameters, settings);
    }
    if (settings.posteriors) {
      posteriors_ = std::make_unique<OutputFile>(posteriors_path);
      posteriors_->write(kPosteriorsMagic);
    }
  }

  double run(const std::function<void(std::uint64_t)>& progress) {
    while (read_batch()) {
      align_batch();
      progress(reader_.line_number());
      // Lines before a malformed one are not lost.
      if (failure_) std::rethrow_exception(failure_);
    }
    out_.commit();
    if (posteriors_) posteriors_->commit();
    return total_score_;
  }

 private:
  bool read_batch() {
    size_ = 0;
    std::size_t bytes = 0;
    std::string_view line;
    while (size_ < kBatchPairs && bytes < kBatchBytes) {
      if (size_ > 0 && !reader_.has_buffered_line()) break;
      if (!reader_.next(line)) break;
      Work& work = batch_[size_];
      work.line.assign(line);
      try {
        split_pair(work.line, reader_.position(), work.pair);
      } catch (...) {
        failure_ = std::current_exception();
        return true;
      }
      bytes += line.size();
      ++size_;
    }
    return size_ > 0;
  }

  void align_batch() {
    threads_.for_each_range(size_, 16,
                            [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t at = begin; at < end; ++at) {
        aligners_[thread].align(batch_[at].pair, batch_[at].result);
      }
    });
    for (std::size_t at = 0; at < size_; ++at) {
      total_score_ += batch_[at].result.score;
      out_.write(output_line(batch_[at]));
      if (posteriors_) posteriors_->write(batch_[at].result.posteriors);
    }
    out_.flush();
    if (posteriors_) posteriors_->flush();
  }

  LineReader reader_;
  ThreadPool& threads_;
  OutputFile out_;
  std::unique_ptr<OutputFile> posteriors_;
  std::vector<ForcedPairAligner> aligners_;
  // Of one size for good: the pairs' words are views into the lines, which must not move.
  std::vector<Work> batch_ = std::vector<Work>(kBatchPairs);
  std::size_t size_ = 0;
  double total_score_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

double force_align(const std::string& input, const Parameters& parameters,
                   const ForcedSettings& settings, const std::string& posteriors_path,
                   const std::function<void(std::uint64_t)>& progress, ThreadPool& threads) {
  return ForcedRun(input, parameters, settings, posteriors_path, threads).run(progress);
}

}  // namespace aligner
