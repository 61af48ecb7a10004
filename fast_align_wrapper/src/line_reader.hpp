// Lines of a file or of standard input; only '\n' ends a line, and NUL is a character like others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aligner {

class LineReader {
 public:
  /// Opens `path`; "-" is standard input. Throws Error when it cannot be opened.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its '\n', valid until the next call; false at the end.
  bool next(std::string_view& line);

  /// Whether next() would answer without waiting for more input.
  bool has_buffered_line() const;

  std::uint64_t line_number() const { return line_number_; }
  /// "PATH:LINE" of the line last read, for messages.
  std::string position() const;

 private:
  bool fill();

  std::string name_;
  int descriptor_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;
  std::uint64_t line_number_ = 0;
  bool at_end_ = false;
};

}  // namespace aligner
