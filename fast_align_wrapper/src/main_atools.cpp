// atools: reads, converts, compares and symmetrises alignment links.

#include <getopt.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <initializer_list>
#include <iterator>
#include <queue>
#include <string>
#include <vector>

#include "system.hpp"
#include "text.hpp"

namespace aligner {
namespace {

// Symmetrisation (Och and Ney 2003; Koehn et al. 2003)

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

/// Joins sorted links; the method is the name of a command of atools.
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
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), command) != names.end();
  };
  const bool takes_one = is_one_of({"convert", "invert", "display"});
  const bool joins = is_one_of(
      {"intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"});
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
