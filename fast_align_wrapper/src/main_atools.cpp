// atools: reads, converts, compares and symmetrises alignment links.

#include <getopt.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "symmetrize.hpp"
#include "system.hpp"

namespace aligner {
namespace {

// The command line

const char* const kAtoolsUsage =
    R"(Usage: atools -c COMMAND -i LINKS [-j LINKS]

Links are "0-0 1-2 ...", one line per pair; "-" is standard input (for one of the two).

Commands on -i:         convert (sort, remove duplicates), invert, display
Commands on -i and -j:  intersect, union, grow-diag, grow-diag-final, grow-diag-final-and,
                        fmeasure (of -j, with -i as the reference)

  -i, --input_1 FILE
  -j, --input_2 FILE
  -c, --command COMMAND
      --version, --help
)";

struct AtoolsOptions {
  std::string first;
  std::string second;
  std::string command;
  bool help = false;
  bool version = false;
};

AtoolsOptions parse_atools_options(int argc, char** argv) {
  const option long_options[] = {
      {"input_1", required_argument, nullptr, 'i'}, {"input_2", required_argument, nullptr, 'j'},
      {"command", required_argument, nullptr, 'c'}, {"version", no_argument, nullptr, 'V'},
      {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0},
  };
  AtoolsOptions options;
  opterr = 0;
  for (int code; (code = getopt_long(argc, argv, "i:j:c:h", long_options, nullptr)) != -1;) {
    switch (code) {
      case 'i': options.first = optarg; break;
      case 'j': options.second = optarg; break;
      case 'c': options.command = optarg; break;
      case 'V': options.version = true; break;
      case 'h': options.help = true; break;
      default:
        throw UsageError(std::string("unknown option or missing value: '") + argv[optind - 1] +
                         "'; see atools --help");
    }
  }
  if (optind < argc) throw UsageError(std::string("unexpected argument '") + argv[optind] + "'");
  return options;
}

/// Reads the links of a line, sorted and without duplicates.
void parse_sorted_links(std::string_view line, const LineReader& reader, Links& links) {
  parse_links(line, reader.position(), links);
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

void for_each_two_lines(const AtoolsOptions& options,
                        const std::function<void(const Links&, const Links&)>& task) {
  LineReader first(options.first);
  LineReader second(options.second);
  Links first_links;
  Links second_links;
  for (;;) {
    std::string_view first_line;
    std::string_view second_line;
    const bool has_first = first.next(first_line);
    const bool has_second = second.next(second_line);
    if (has_first != has_second) {
      const LineReader& shorter = has_first ? second : first;
      throw Error(options.first + " and " + options.second + " differ in length: only " +
                  std::to_string(shorter.line_number()) + " lines in " +
                  (has_first ? options.second : options.first));
    }
    if (!has_first) return;
    parse_sorted_links(first_line, first, first_links);
    parse_sorted_links(second_line, second, second_links);
    task(first_links, second_links);
  }
}

void write_line(const Links& links, OutputFile& out) {
  std::string line;
  format_links(links, line);
  line += '\n';
  out.write(line);
}

constexpr std::uint64_t kMostCells = 10'000'000;

/// A grid, a row per source word and a column per target word, '*' for a link.
void display(const Links& links, const std::string& input, OutputFile& out) {
  std::uint32_t columns = 0;
  for (const LinkPair& link : links) columns = std::max(columns, link.target + 1);
  const std::uint32_t rows = links.empty() ? 0 : links.back().source + 1;
  // A link of a few characters, such as 99999999-0, can need gigabytes.
  if (std::uint64_t{rows} * columns > kMostCells) {
    throw Error(input + ": a grid of " + std::to_string(rows) + " times " + std::to_string(columns) +
                " words is too large to display");
  }
  std::uint32_t row = 0;
  for (auto link = links.begin(); link != links.end(); ++row) {
    std::string cells(columns, '.');
    for (; link != links.end() && link->source == row; ++link) cells[link->target] = '*';
    out.write(cells);
    out.write("\n");
  }
  out.write("\n");
}

void measure(const AtoolsOptions& options) {
  std::uint64_t in_reference = 0;
  std::uint64_t in_test = 0;
  std::uint64_t in_both = 0;
  Links common;
  for_each_two_lines(options, [&](const Links& reference, const Links& test) {
    symmetrize("intersect", reference, test, common);
    in_reference += reference.size();
    in_test += test.size();
    in_both += common.size();
  });
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  std::cout << "P: " << ratio(in_both, in_test) << "\nR: " << ratio(in_both, in_reference)
            << "\nF: " << ratio(2 * in_both, in_reference + in_test) << '\n' << std::flush;
}

void run_one_input(const AtoolsOptions& options) {
  OutputFile out("-");
  LineReader reader(options.first);
  Links links;
  for (std::string_view line; reader.next(line);) {
    parse_sorted_links(line, reader, links);
    if (options.command == "display") {
      display(links, options.first, out);
      continue;
    }
    if (options.command == "invert") {
      for (LinkPair& link : links) std::swap(link.source, link.target);
      std::sort(links.begin(), links.end());
    }
    write_line(links, out);
  }
  out.commit();
}

void run_symmetrization(const AtoolsOptions& options) {
  OutputFile out("-");
  Links result;
  for_each_two_lines(options, [&](const Links& first, const Links& second) {
    symmetrize(options.command, first, second, result);
    write_line(result, out);
  });
  out.commit();
}

void run(int argc, char** argv) {
  const AtoolsOptions options = parse_atools_options(argc, argv);
  if (options.help || options.version) {
    std::cout << (options.help ? kAtoolsUsage
                               : "atools (coverage-eval) " + std::string(kVersion) + "\n")
              << std::flush;
    return;
  }
  const std::string& command = options.command;
  const bool takes_one = command == "convert" || command == "invert" || command == "display";
  const bool joins = is_symmetrization(command);
  if (!takes_one && !joins && command != "fmeasure") {
    throw UsageError(command.empty() ? "-c COMMAND is needed; see atools --help"
                                     : "unknown command '" + command + "'");
  }
  if (options.first.empty()) throw UsageError("-i LINKS is needed");
  if (takes_one) {
    if (!options.second.empty()) throw UsageError(command + " takes no -j");
    run_one_input(options);
    return;
  }
  if (options.second.empty()) throw UsageError("-j LINKS is needed for " + command);
  if (options.first == "-" && options.second == "-") {
    throw UsageError("only one of -i and -j can be standard input");
  }
  if (joins) {
    run_symmetrization(options);
  } else {
    measure(options);
  }
}

}  // namespace
}  // namespace aligner

int main(int argc, char** argv) {
  return aligner::run_tool("atools", [&] { aligner::run(argc, argv); });
}
