#include "line_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "errors.hpp"

namespace aligner {

namespace {
constexpr std::size_t kReadSize = std::size_t{1} << 18;

// Room for two segments of the longest line that coverage-eval reads by default.
constexpr std::size_t kLongestLine = std::size_t{1} << 28;
}

LineReader::LineReader(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(system_message(name_, "cannot open"));
}

LineReader::~LineReader() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

bool LineReader::fill() {
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + kReadSize);
  ssize_t got;
  do {
    got = ::read(descriptor_, buffer_.data() + old_size, kReadSize);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw Error(system_message(name_, "cannot read"));
  buffer_.resize(old_size + static_cast<std::size_t>(got));
  at_end_ = got == 0;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      line = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      ++line_number_;
      return true;
    }
    searched_ = buffer_.size();
    if (searched_ - begin_ > kLongestLine) {
      throw Error(name_ + ":" + std::to_string(line_number_ + 1) + ": a line of more than " +
                  std::to_string(kLongestLine) + " bytes is no segment");
    }
    if (at_end_ || !fill()) break;
  }
  if (begin_ == buffer_.size()) return false;
  line = std::string_view(buffer_).substr(begin_);
  begin_ = searched_ = buffer_.size();
  ++line_number_;
  return true;
}

bool LineReader::has_buffered_line() const {
  return buffer_.find('\n', searched_) != std::string::npos;
}

std::string LineReader::position() const { return name_ + ":" + std::to_string(line_number_); }

}  // namespace aligner
