#include "options.hpp"

#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "errors.hpp"
#include "option_values.hpp"

namespace aligner {

const char* const kUsage =
    R"(Usage: fast_align -i FILE [options] > LINKS
       fast_align -i FILE --both [--forward-links F] [--forward-params F] ... [options]
       fast_align -i FILE -f PARAMS -T TENSION -m MULTIPLIER [options] > ALIGNED

FILE has one pair a line, "source ||| target"; with -f, "-" is standard input.

Options of the original fast_align:
  -i, --input FILE            parallel text
  -d, --favor_diagonal        prefer links near the diagonal [recommended]
  -o, --optimize_tension      fit how near (with -d) [recommended]
  -v, --variational_bayes     Dirichlet prior on translation probabilities [recommended]
  -r, --reverse               condition on the target, generate the source
  -I, --iterations N          passes over the text (5)
  -q, --p0 P                  probability of NULL (0.08)
  -N, --no_null_word          no NULL
  -a, --alpha A               of the Dirichlet prior (0.01)
  -T, --diagonal_tension T    to start with, or of the saved parameters (4)
  -p, --conditional_probabilities FILE   save the translation parameters
  -t, --beam_threshold B      save those with log p >= -B * log of the best (-4)
  -f, --force_align FILE      align with saved parameters
  -m, --mean_srclen_multiplier M   length ratio of the saved parameters (1)
  -s, --print_scores          " ||| log-probability" after the links
  -b, --thread_buffer_size N  accepted, without effect

Further options:
      --both                  train both directions from one reading, and write:
      --forward-links F, --reverse-links F       links of each direction
      --forward-params F, --reverse-params F     as -p
      --forward-full F, --reverse-full F         all with p >= 1e-7, in full precision
      --stats F                                  JSON
      --posteriors F          with -f: binary posteriors: "CEPOST1\n", then for each pair, little
                              endian, uint32 m (generated words), uint32 n (conditioning words),
                              m float32 p(NULL), m * n float32 p(a_j = i), row by row
      --threads N             (all cores); the result does not depend on it
      --memory BYTES          limit of the cell index (half of the machine's memory)
      --max-cells N           leave out pairs with more source * target words (50000000)
      --progress              "progress DONE TOTAL LABEL" lines on standard error
      --version, --help
)";

namespace {

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
    {"progress", no_argument, nullptr, kProgress},
    {"version", no_argument, nullptr, kVersionOption},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

constexpr unsigned kMostThreads = 1024;

// Words are at most 1 apart, and exp(-708) is the least that a double holds with all its digits.
constexpr double kGreatestTension = 700;

std::uint64_t half_of_memory() {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

/// The options of the original; false for another.
bool apply_original(int code, const std::string& value, Options& options) {
  TrainingSettings& training = options.training;
  switch (code) {
    case 'i': options.input = value; return true;
    case 'd': training.prior.favor_diagonal = true; return true;
    case 'o': training.optimize_tension = true; return true;
    case 'v': training.update.variational_bayes = true; return true;
    case 'r': options.reverse = true; return true;
    case 'I':
      training.iterations = static_cast<int>(parse_whole("-I", value, 1, 10000));
      return true;
    case 'q': training.prior.null_probability = parse_real("-q", value, 0, 0.999999); return true;
    case 'N': training.prior.null_word = false; return true;
    case 'a': training.update.alpha = parse_real("-a", value, 1e-6, 1e6); return true;
    case 'T':
      training.prior.tension = parse_real("-T", value, 1e-3, kGreatestTension);
      return true;
    case 'p': options.parameters_to_write = value; return true;
    case 't': options.beam = parse_real("-t", value, -1e9, 1e9); return true;
    case 'f': options.parameters_to_force = value; return true;
    case 'm': options.length_multiplier = parse_real("-m", value, 0, 1e9); return true;
    case 's': options.print_scores = true; return true;
    case 'b': parse_whole("-b", value, 0, UINT64_MAX); return true;
    default: return false;
  }
}

void apply_own(int code, const std::string& value, Options& options) {
  switch (code) {
    case kBoth: options.action = Options::Action::kTrainBoth; break;
    case kForwardLinks: options.forward.links = value; break;
    case kReverseLinks: options.backward.links = value; break;
    case kForwardParams: options.forward.pruned_parameters = value; break;
    case kReverseParams: options.backward.pruned_parameters = value; break;
    case kForwardFull: options.forward.full_parameters = value; break;
    case kReverseFull: options.backward.full_parameters = value; break;
    case kStats: options.statistics = value; break;
    case kPosteriors: options.posteriors = value; break;
    case kThreads:
      options.threads = static_cast<unsigned>(parse_whole("--threads", value, 1, kMostThreads));
      break;
    case kMemory: options.memory = parse_whole("--memory", value, 1, UINT64_MAX); break;
    case kMaxCells: options.max_cells = parse_whole("--max-cells", value, 1, UINT64_MAX); break;
    case kProgress: options.progress = true; break;
    case kVersionOption: options.action = Options::Action::kVersion; break;
    case 'h': options.action = Options::Action::kHelp; break;
    default: throw UsageError("unknown option; see fast_align --help");
  }
}

bool writes_anything(const DirectionOutputs& outputs) {
  return !outputs.links.empty() || !outputs.pruned_parameters.empty() ||
         !outputs.full_parameters.empty();
}

void check(const Options& options) {
  const bool both = options.action == Options::Action::kTrainBoth;
  const bool forced = options.action == Options::Action::kForce;
  const bool has_both_outputs = writes_anything(options.forward) ||
                                writes_anything(options.backward) || !options.statistics.empty();
  if (options.input.empty()) throw UsageError("-i FILE is needed");
  if (both && (options.reverse || !options.parameters_to_write.empty() || options.print_scores ||
               !options.parameters_to_force.empty())) {
    throw UsageError("--both goes with none of -r, -p, -s and -f");
  }
  if (!both && has_both_outputs) {
    throw UsageError("the outputs of both directions need --both");
  }
  if (both && !has_both_outputs) throw UsageError("--both needs an output, as --forward-links FILE");
  if (forced && !options.parameters_to_write.empty()) throw UsageError("-f does not go with -p");
  if (!forced && !options.posteriors.empty()) throw UsageError("--posteriors needs -f");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  options.memory = half_of_memory();
  const char* const short_options = "i:dovrI:q:Na:T:p:t:f:m:sb:h";
  opterr = 0;
  for (int code; (code = getopt_long(argc, argv, short_options, kLongOptions, nullptr)) != -1;) {
    if (code == '?') {
      throw UsageError(std::string("unknown option or missing value: '") + argv[optind - 1] +
                       "'; see fast_align --help");
    }
    const std::string value = optarg == nullptr ? "" : optarg;
    if (!apply_original(code, value, options)) apply_own(code, value, options);
  }
  if (options.action == Options::Action::kHelp || options.action == Options::Action::kVersion) {
    return options;
  }
  if (optind < argc) throw UsageError(std::string("unexpected argument '") + argv[optind] + "'");
  if (options.action == Options::Action::kTrain && !options.parameters_to_force.empty()) {
    options.action = Options::Action::kForce;
  }
  check(options);
  return options;
}

}  // namespace aligner
