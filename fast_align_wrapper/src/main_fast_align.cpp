// fast_align: trains the model of Dyer, Chahuneau and Smith (2013), or aligns with a trained one.

#include <chrono>
#include <csignal>
#include <iostream>
#include <new>

#include "corpus.hpp"
#include "errors.hpp"
#include "forced_alignment.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "parameters.hpp"
#include "thread_pool.hpp"
#include "training.hpp"
#include "training_outputs.hpp"
#include "version.hpp"

namespace aligner {
namespace {

/// "progress DONE TOTAL LABEL" lines, ten a second at most.
class ProgressLines {
 public:
  explicit ProgressLines(bool enabled) : enabled_(enabled) {}

  void print(std::uint64_t done, std::uint64_t total, const char* label) {
    if (!enabled_) return;
    const auto now = std::chrono::steady_clock::now();
    if (done != total && now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    std::cerr << "progress " << done << ' ' << total << ' ' << label << '\n' << std::flush;
  }

 private:
  bool enabled_;
  std::chrono::steady_clock::time_point last_;
};

Corpus read_training_corpus(const Options& options) {
  return read_corpus(options.input, options.max_cells, [](const std::string& message) {
    report("fast_align", "warning: " + message);
  });
}

TrainedDirection train_direction(TrainingText& text, bool reverse, const Options& options,
                                 ProgressLines& lines) {
  const char* label = reverse ? "reverse" : "forward";
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    lines.print(done, total, label);
  };
  return train(text, reverse, options.training, progress, std::cerr);
}

void train_one(const Options& options, ThreadPool& threads) {
  ProgressLines lines(options.progress);
  const Corpus corpus = read_training_corpus(options);
  TrainingText text(corpus, options.memory, threads);
  const TrainedDirection direction = train_direction(text, options.reverse, options, lines);
  write_training_links("-", text, direction, options.print_scores);
  if (options.parameters_to_write.empty()) return;
  std::cerr << "conditional probabilities: " << options.parameters_to_write << '\n';
  write_pruned_parameters(options.parameters_to_write, text, direction, options.beam);
}

/// Writes a direction's outputs and frees what only they needed.
void finish_direction(const DirectionOutputs& outputs, const Options& options,
                      const TrainingText& text, TrainedDirection& direction) {
  if (!outputs.links.empty()) write_training_links(outputs.links, text, direction, false);
  if (!outputs.pruned_parameters.empty()) {
    write_pruned_parameters(outputs.pruned_parameters, text, direction, options.beam);
  }
  if (!outputs.full_parameters.empty()) {
    write_full_parameters(outputs.full_parameters, text, direction);
  }
  direction.probabilities = EntryValues();
  direction.best = BestLinks();
}

void train_both(const Options& options, ThreadPool& threads) {
  ProgressLines lines(options.progress);
  const Corpus corpus = read_training_corpus(options);
  TrainingText text(corpus, options.memory, threads);
  std::cerr << "FORWARD\n";
  TrainedDirection forward = train_direction(text, false, options, lines);
  finish_direction(options.forward, options, text, forward);
  std::cerr << "REVERSE\n";
  TrainedDirection reverse = train_direction(text, true, options, lines);
  finish_direction(options.backward, options, text, reverse);
  if (!options.statistics.empty()) {
    write_statistics(options.statistics, text, forward, reverse, options.training);
  }
}

void force(const Options& options, ThreadPool& threads) {
  ProgressLines lines(options.progress);
  const Parameters parameters(options.parameters_to_force);
  ForcedSettings settings;
  settings.reverse = options.reverse;
  settings.prior = options.training.prior;
  settings.length_multiplier = options.length_multiplier;
  settings.posteriors = !options.posteriors.empty();
  // How many pairs will come is not known: the total is 0.
  const auto progress = [&](std::uint64_t done) { lines.print(done, 0, "align"); };
  const double score = force_align(options.input, parameters, settings, options.posteriors,
                                   progress, threads);
  std::cerr << "TOTAL LOG PROB " << score << '\n';
}

void check_outputs(const Options& options) {
  for (const DirectionOutputs* outputs : {&options.forward, &options.backward}) {
    OutputFile::check_writable(outputs->links);
    OutputFile::check_writable(outputs->pruned_parameters);
    OutputFile::check_writable(outputs->full_parameters);
  }
  for (const std::string* path :
       {&options.parameters_to_write, &options.posteriors, &options.statistics}) {
    OutputFile::check_writable(*path);
  }
}

void run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.action == Options::Action::kHelp) {
    std::cout << kUsage << std::flush;
    return;
  }
  if (options.action == Options::Action::kVersion) {
    std::cout << "fast_align (coverage-eval) " << kVersion << '\n' << std::flush;
    return;
  }
  remove_temporaries_on_signals();
  check_outputs(options);
  ThreadPool threads(options.threads);
  switch (options.action) {
    case Options::Action::kForce: force(options, threads); break;
    case Options::Action::kTrainBoth: train_both(options, threads); break;
    default: train_one(options, threads);
  }
}

}  // namespace
}  // namespace aligner

int main(int argc, char** argv) {
  try {
    aligner::run(argc, argv);
    return 0;
  } catch (const aligner::UsageError& error) {
    aligner::report("fast_align", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << "fast_align: out of memory: a smaller --memory needs less\n";
  } catch (const std::exception& error) {
    aligner::report("fast_align", error.what());
  }
  return 1;
}
