// What the aligner asks of the system: messages, lines read, files written, threads, a parent.
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

/// The data or the machine is at fault: exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line is at fault: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "TOOL: MESSAGE" on standard error: one line, whatever files and command lines had in it.
void report(const std::string& tool, const std::string& message);

/// Runs a tool and returns its exit status; what it throws becomes one line on standard error.
int run_tool(const std::string& tool, const std::function<void()>& run);

/// Lines of a file or of standard input; only '\n' ends a line, and NUL is a character like others.
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

/// Output that appears whole or not at all: a temporary file beside the target, renamed at the end.
class OutputFile {
 public:
  /// Opens for writing; "-" is standard output. Pipes and devices are written directly.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws the Error now that would come at the end of long work; leaves no file behind.
  static void check_writable(const std::string& path);

  void write(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kBufferSize) flush();
  }
  void flush();

  /// Writes what is left and gives the file its name. Without it, nothing remains of the file.
  void commit();

 private:
  static constexpr std::size_t kBufferSize = std::size_t{1} << 16;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::string buffer_;
};

/// On SIGINT, SIGTERM, SIGHUP and SIGPIPE: remove the temporary files, then die of the signal.
void remove_temporaries_on_signals();

/// Ends this process as soon as the one that started it has ended (on Linux only). `caller` is the
/// process that asked for it, which may have ended by now.
void end_with_parent(std::uint64_t caller);

/// A fixed set of threads that run the same function together.
class ThreadPool {
 public:
  /// `threads` counts the calling thread. If the system refuses some of them, there are fewer, and
  /// a warning on standard error.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Runs task(0) … task(size() - 1) at the same time, and returns when all have ended.
  void run(const std::function<void(unsigned)>& task);

  /// Runs task(thread, begin, end) for pieces of `step` out of 0 … count - 1, whoever is free
  /// taking the next: for work whose result does not depend on who does it.
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
