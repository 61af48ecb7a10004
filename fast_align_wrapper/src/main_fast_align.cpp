// fast_align: trains the model of Dyer, Chahuneau and Smith (2013), or aligns with a trained one.

#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

#include "forced.hpp"
#include "training.hpp"

namespace aligner {
namespace {

// The command line

const char* const kUsage =
    R"(Usage: fast_align -i FILE [options] > LINKS
       fast_align -i FILE --both [--forward-links F] [--forward-params F] ... [options]
       fast_align -i FILE -f PARAMS -T TENSION -m MULTIPLIER [options] > ALIGNED

FILE has one pair per line, "source ||| target"; with -f, "-" is standard input.

Options of the original fast_align:
  -i, --input FILE            parallel text
  -d, --favor_diagonal        prefer links near the diagonal [recommended]
  -o, --optimize_tension      fit the strength of that preference (with -d) [recommended]
  -v, --variational_bayes     Dirichlet prior on translation probabilities [recommended]
  -r, --reverse               condition on the target, generate the source
  -I, --iterations N          passes over the text (5)
  -q, --p0 P                  probability of NULL (0.08)
  -N, --no_null_word          train without NULL
  -a, --alpha A               concentration of the Dirichlet prior (0.01)
  -T, --diagonal_tension T    initial tension; with -f, that of the saved parameters (4)
  -p, --conditional_probabilities FILE   save the translation parameters
  -t, --beam_threshold B      save those with log p >= -B * log of the best (-4)
  -f, --force_align FILE      align with saved parameters
  -m, --mean_srclen_multiplier M   length ratio of the saved parameters (1)
  -s, --print_scores          print " ||| log-probability" after the links
  -b, --thread_buffer_size N  accepted for compatibility; no effect

Further options:
      --both                  read the text once, train both directions, and write:
      --forward-links F, --reverse-links F       the links of each direction
      --forward-params F, --reverse-params F     parameters, as -p
      --forward-full F, --reverse-full F         parameters with p >= 1e-7, in full precision
      --stats F                                  statistics of training, as JSON
      --posteriors F          with -f: write posteriors in binary: "CEPOST1\n", then for each
                              pair, little endian: uint32 m (generated words), uint32 n
                              (conditioning words), m float32 p(NULL), m * n float32 p(a_j = i),
                              row by row; F "-" is standard output, in place of the links
      --threads N             number of threads (all cores); it does not change the result
      --memory BYTES          memory limit of the cell index (half of the machine's memory)
      --max-cells N           skip pairs with more than N source * target words (50000000); they
                              get no links; with -f they get the score nan and a 0 x 0 matrix
      --parent PID            end when the calling process PID ends (on Linux)
      --progress              print "progress DONE TOTAL LABEL" lines on standard error
      --version, --help
)";

/// The files that --both writes for one direction; nothing is written to an empty path.
struct DirectionOutputs {
  std::string links;
  std::string pruned_parameters;
  std::string full_parameters;

  bool empty() const {
    return links.empty() && pruned_parameters.empty() && full_parameters.empty();
  }
};

struct Options {
  enum class Action { kHelp, kVersion, kTrain, kTrainBoth, kForce };

  Action action = Action::kTrain;
  std::string input;
  bool reverse = false;
  bool print_scores = false;
  bool progress = false;
  TrainingSettings training;
  double beam = -4;
  ForcedSettings forced;
  std::string parameters_to_write;
  DirectionOutputs forward;
  DirectionOutputs backward;
  std::string statistics;
  unsigned threads = 1;
  std::uint64_t memory = 0;
  std::uint64_t max_cells = 50000000;
  std::uint64_t parent = 0;
};

enum LongOption : int {
  kBoth = 256,
  kForwardLinks,
  kReverseLinks,
  kForwardParams,
  kReverseParams,
  kForwardFull,
  kReverseFull,
  kStats,
  kPosteriors,
  kThreads,
  kMemory,
  kMaxCells,
  kParent,
  kProgress,
  kVersionOption,
};

const option kLongOptions[] = {
    {"input", required_argument, nullptr, 'i'},
    {"favor_diagonal", no_argument, nullptr, 'd'},
    {"optimize_tension", no_argument, nullptr, 'o'},
    {"variational_bayes", no_argument, nullptr, 'v'},
    {"reverse", no_argument, nullptr, 'r'},
    {"iterations", required_argument, nullptr, 'I'},
    {"p0", required_argument, nullptr, 'q'},
    {"prob_align_null", required_argument, nullptr, 'q'},
    {"no_null_word", no_argument, nullptr, 'N'},
    {"alpha", required_argument, nullptr, 'a'},
    {"diagonal_tension", required_argument, nullptr, 'T'},
    {"conditional_probabilities", required_argument, nullptr, 'p'},
    {"beam_threshold", required_argument, nullptr, 't'},
    {"force_align", required_argument, nullptr, 'f'},
    {"mean_srclen_multiplier", required_argument, nullptr, 'm'},
    {"print_scores", no_argument, nullptr, 's'},
    {"thread_buffer_size", required_argument, nullptr, 'b'},
    {"both", no_argument, nullptr, kBoth},
    {"forward-links", required_argument, nullptr, kForwardLinks},
    {"reverse-links", required_argument, nullptr, kReverseLinks},
    {"forward-params", required_argument, nullptr, kForwardParams},
    {"reverse-params", required_argument, nullptr, kReverseParams},
    {"forward-full", required_argument, nullptr, kForwardFull},
    {"reverse-full", required_argument, nullptr, kReverseFull},
    {"stats", required_argument, nullptr, kStats},
    {"posteriors", required_argument, nullptr, kPosteriors},
    {"threads", required_argument, nullptr, kThreads},
    {"memory", required_argument, nullptr, kMemory},
    {"max-cells", required_argument, nullptr, kMaxCells},
    {"parent", required_argument, nullptr, kParent},
    {"progress", no_argument, nullptr, kProgress},
    {"version", no_argument, nullptr, kVersionOption},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

/// Throws UsageError naming the option unless the text is a whole number from lowest to highest.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t lowest,
                          std::uint64_t highest) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc() && result.ptr == end && value >= lowest && value <= highest) {
    return value;
  }
  throw UsageError(option + " takes a whole number from " + std::to_string(lowest) + " to " +
                   std::to_string(highest) + ", not '" + text + "'");
}

/// Throws UsageError naming the option unless the text is a finite number from lowest to highest.
double parse_real(const std::string& option, const std::string& text, double lowest,
                  double highest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (is_number && std::isfinite(value) && value >= lowest && value <= highest) return value;
  std::ostringstream message;
  message << option << " takes a number from " << lowest << " to " << highest << ", not '" << text
          << "'";
  throw UsageError(message.str());
}

constexpr unsigned kMaxThreads = 1024;

// Distances are at most 1, and exp(-708) is about the smallest double with full precision.
constexpr double kMaxTension = 700;

void apply(int code, const std::string& value, Options& options) {
  TrainingSettings& training = options.training;
  switch (code) {
    case 'i': options.input = value; break;
    case 'd': training.prior.favor_diagonal = true; break;
    case 'o': training.optimize_tension = true; break;
    case 'v': training.update.variational_bayes = true; break;
    case 'r': options.reverse = true; break;
    case 'I': training.iterations = static_cast<int>(parse_whole("-I", value, 1, 10000)); break;
    case 'q': training.prior.null_probability = parse_real("-q", value, 0, 0.999999); break;
    case 'N': training.prior.null_word = false; break;
    case 'a': training.update.alpha = parse_real("-a", value, 1e-6, 1e6); break;
    case 'T': training.prior.tension = parse_real("-T", value, 1e-3, kMaxTension); break;
    case 'p': options.parameters_to_write = value; break;
    case 't': options.beam = parse_real("-t", value, -1e9, 1e9); break;
    case 'f': options.forced.direction.parameters = value; break;
    case 'm': options.forced.direction.length_multiplier = parse_real("-m", value, 0, 1e9); break;
    case 's': options.print_scores = true; break;
    case 'b': parse_whole("-b", value, 0, UINT64_MAX); break;
    case kBoth: options.action = Options::Action::kTrainBoth; break;
    case kForwardLinks: options.forward.links = value; break;
    case kReverseLinks: options.backward.links = value; break;
    case kForwardParams: options.forward.pruned_parameters = value; break;
    case kReverseParams: options.backward.pruned_parameters = value; break;
    case kForwardFull: options.forward.full_parameters = value; break;
    case kReverseFull: options.backward.full_parameters = value; break;
    case kStats: options.statistics = value; break;
    case kPosteriors: options.forced.posteriors = value; break;
    case kThreads:
      options.threads = static_cast<unsigned>(parse_whole("--threads", value, 1, kMaxThreads));
      break;
    case kMemory: options.memory = parse_whole("--memory", value, 1, UINT64_MAX); break;
    case kMaxCells: options.max_cells = parse_whole("--max-cells", value, 1, UINT64_MAX); break;
    case kParent: options.parent = parse_whole("--parent", value, 1, INT32_MAX); break;
    case kProgress: options.progress = true; break;
    case kVersionOption: options.action = Options::Action::kVersion; break;
    case 'h': options.action = Options::Action::kHelp; break;
  }
}

/// Throws UsageError if options conflict or a required one is missing.
void check(const Options& options) {
  const bool both = options.action == Options::Action::kTrainBoth;
  const bool forced = options.action == Options::Action::kForce;
  const bool has_both_outputs =
      !options.forward.empty() || !options.backward.empty() || !options.statistics.empty();
  if (options.input.empty()) throw UsageError("-i FILE is needed");
  if (both && (options.reverse || !options.parameters_to_write.empty() || options.print_scores ||
               !options.forced.direction.parameters.empty())) {
    throw UsageError("--both cannot be combined with -r, -p, -s or -f");
  }
  if (!both && has_both_outputs) {
    throw UsageError("--stats and the outputs of each direction need --both");
  }
  if (both && !has_both_outputs) {
    throw UsageError("--both needs an output, such as --forward-links FILE");
  }
  if (forced && !options.parameters_to_write.empty()) {
    throw UsageError("-f cannot be combined with -p");
  }
  if (!forced && !options.forced.posteriors.empty()) throw UsageError("--posteriors needs -f");
}

Options parse_options(int argc, char** argv) {
  Options options;
  options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
  options.memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
  const char* const short_options = "i:dovrI:q:Na:T:p:t:f:m:sb:h";
  opterr = 0;
  for (int code; (code = getopt_long(argc, argv, short_options, kLongOptions, nullptr)) != -1;) {
    if (code == '?') {
      throw UsageError(std::string("unknown option or missing value: '") + argv[optind - 1] +
                       "'; see fast_align --help");
    }
    apply(code, optarg == nullptr ? "" : optarg, options);
  }
  if (options.action == Options::Action::kHelp || options.action == Options::Action::kVersion) {
    return options;
  }
  if (optind < argc) throw UsageError(std::string("unexpected argument '") + argv[optind] + "'");
  if (options.action == Options::Action::kTrain && !options.forced.direction.parameters.empty()) {
    options.action = Options::Action::kForce;
  }
  check(options);
  return options;
}

// The actions

/// Prints "progress DONE TOTAL LABEL" lines, at most ten a second.
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

TrainedDirection train_direction(TrainingText& text, bool reverse, const Options& options) {
  ProgressLines lines(options.progress);
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    lines.print(done, total, reverse ? "reverse" : "forward");
  };
  return train(text, reverse, options.training, progress, std::cerr);
}

void train_one(const Options& options, TrainingText& text) {
  const TrainedDirection direction = train_direction(text, options.reverse, options);
  write_training_links("-", text, direction, options.print_scores);
  if (options.parameters_to_write.empty()) return;
  std::cerr << "conditional probabilities: " << options.parameters_to_write << '\n';
  write_pruned_parameters(options.parameters_to_write, text, direction, options.beam);
}

/// Trains one direction and writes its outputs; the result keeps only what the statistics need.
TrainedDirection train_and_write(TrainingText& text, bool reverse, const Options& options) {
  std::cerr << (reverse ? "REVERSE\n" : "FORWARD\n");
  TrainedDirection direction = train_direction(text, reverse, options);
  const DirectionOutputs& outputs = reverse ? options.backward : options.forward;
  std::vector<std::function<void()>> writers;  // each writes one file, so that they can run at once
  if (!outputs.links.empty()) {
    writers.push_back([&] { write_training_links(outputs.links, text, direction, false); });
  }
  if (!outputs.pruned_parameters.empty()) {
    writers.push_back([&] {
      write_pruned_parameters(outputs.pruned_parameters, text, direction, options.beam);
    });
  }
  if (!outputs.full_parameters.empty()) {
    writers.push_back([&] { write_full_parameters(outputs.full_parameters, text, direction); });
  }
  text.threads.for_each_range(writers.size(), 1, [&](unsigned, std::uint64_t at, std::uint64_t) {
    writers[at]();
  });
  direction.probabilities = EntryValues();
  direction.best = BestLinks();
  return direction;
}

void train_both(const Options& options, TrainingText& text) {
  const TrainedDirection forward = train_and_write(text, false, options);
  const TrainedDirection reverse = train_and_write(text, true, options);
  if (!options.statistics.empty()) {
    write_statistics(options.statistics, text, forward, reverse, options.training);
  }
}

void force(const Options& options, ThreadPool& threads) {
  ProgressLines lines(options.progress);
  ForcedSettings settings = options.forced;
  settings.input = options.input;
  settings.direction.reverse = options.reverse;
  settings.direction.prior = options.training.prior;
  settings.max_cells = options.max_cells;
  // The number of pairs is not known in advance, so the total is 0.
  const auto progress = [&](std::uint64_t done) { lines.print(done, 0, "align"); };
  const double score = force_align(settings, progress, threads);
  std::cerr << "TOTAL LOG PROB " << score << '\n';
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
  if (options.parent != 0) end_with_parent(options.parent);
  const DirectionOutputs& forward = options.forward;
  const DirectionOutputs& backward = options.backward;
  for (const std::string& path :
       {forward.links, forward.pruned_parameters, forward.full_parameters, backward.links,
        backward.pruned_parameters, backward.full_parameters, options.parameters_to_write,
        options.forced.posteriors, options.statistics}) {
    OutputFile::check_writable(path);
  }
  ThreadPool threads(options.threads);
  if (options.action == Options::Action::kForce) {
    force(options, threads);
    return;
  }
  const Corpus corpus = read_corpus(options.input, options.max_cells);
  TrainingText text(corpus, options.memory, threads);
  if (options.action == Options::Action::kTrainBoth) {
    train_both(options, text);
  } else {
    train_one(options, text);
  }
}

}  // namespace
}  // namespace aligner

int main(int argc, char** argv) {
  return aligner::run_tool([&] { aligner::run(argc, argv); });
}
