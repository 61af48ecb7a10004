// What needs the operating system: messages, input lines, output files, threads, the parent.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace aligner {

inline constexpr const char* kVersion = "0.1.0";

/// Bad data, or a failure of the machine: exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A mistake on the command line: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Prints "fast_align: MESSAGE" as one line on standard error; control characters are escaped.
void report(const std::string& message);

/// Runs the program and returns its exit status; an exception becomes one line on standard error.
int run_tool(const std::function<void()>& run);

/// Lines of a file or of standard input; only '\n' ends a line, and NUL is an ordinary character.
class LineReader {
 public:
  /// Opens `path`; "-" is standard input. Throws Error if it cannot be opened.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its '\n', valid until the next call; false at the end.
  bool next(std::string_view& line);

  /// Whether next() would return without waiting for more input.
  bool has_buffered_line() const { return buffer_.find('\n', searched_) != std::string::npos; }

  std::uint64_t line_number() const { return line_number_; }
  /// "PATH:LINE" of the line last read, for messages.
  std::string position() const { return name_ + ":" + std::to_string(line_number_); }

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

/// Output that appears complete or not at all: the file has a temporary name until commit().
class OutputFile {
 public:
  /// Opens a file for writing; "-" is standard output. Pipes and devices are written directly.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error if `path` cannot be written, so that long work fails before it starts. Leaves no
  /// file behind.
  static void check_writable(const std::string& path);

  void write(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kBufferSize) flush();
  }
  void flush();

  /// Writes the rest and renames the file to its final name. Without it the file is removed.
  void commit();

 private:
  static constexpr std::size_t kBufferSize = std::size_t{1} << 16;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::string buffer_;
};

/// Makes SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporary files before the process ends.
void remove_temporaries_on_signals();

/// Makes this process end when its parent ends (Linux only). `caller` is the process id given with
/// --parent; if that process has already ended, this one ends now.
void end_with_parent(std::uint64_t caller);

/// A fixed set of threads that run the same function together.
class ThreadPool {
 public:
  /// `threads` counts the calling thread. If the system refuses some of them, the pool has fewer,
  /// and a warning on standard error says how many.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Runs task(0) … task(size() - 1) in parallel, and returns when all have ended.
  void run(const std::function<void(unsigned)>& task);

  /// Divides 0 … count - 1 into pieces of `step` and runs task(thread, begin, end) on each. A free
  /// thread takes the next piece, so the result must not depend on which thread that is.
  void for_each_range(std::uint64_t count, std::uint64_t step,
                      const std::function<void(unsigned, std::uint64_t, std::uint64_t)>& task);

 private:
  void work(unsigned thread);
  void call(unsigned thread);
  void stop();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(unsigned)>* task_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned running_ = 0;
  std::exception_ptr failure_;
  bool stopping_ = false;
};

}  // namespace aligner
