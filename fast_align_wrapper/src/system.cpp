#include "system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <random>
#include <utility>

namespace aligner {

namespace {

/// "PATH: WHAT: reason" for a failed system call, with the reason from errno.
Error system_error(const std::string& path, const std::string& what) {
  const int reason = errno;
  return Error(path + ": " + what + ": " + std::strerror(reason));
}

/// Whether a byte is part of a character that controls a terminal: ASCII's or those of U+0080 to
/// U+009F, which are 0xC2 and another byte in UTF-8.
bool is_control(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const auto is_high = [&](std::size_t index) {
    return index < text.size() && byte(index) >= 0x80 && byte(index) < 0xA0;
  };
  if (byte(at) < 0x20 || byte(at) == 0x7F) return true;
  return byte(at) == 0xC2 ? is_high(at + 1) : is_high(at) && at > 0 && byte(at - 1) == 0xC2;
}

}  // namespace

void report(const std::string& message) {
  const char* const digits = "0123456789abcdef";
  std::string line;
  for (std::size_t at = 0; at < message.size(); ++at) {
    const auto byte = static_cast<unsigned char>(message[at]);
    if (is_control(message, at)) {
      line += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    } else {
      line += message[at];
    }
  }
  std::cerr << "fast_align: " << line << '\n';
}

int run_tool(const std::function<void()>& run) {
  try {
    run();
    return 0;
  } catch (const UsageError& error) {
    report(error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    report("out of memory; try a smaller --memory");
  } catch (const std::exception& error) {
    report(error.what());
  }
  return 1;
}

// Input

namespace {
constexpr std::size_t kReadSize = std::size_t{1} << 18;

// Room for two segments of the longest line that coverage-eval reads by default.
constexpr std::size_t kLongestLine = std::size_t{1} << 28;
}  // namespace

LineReader::LineReader(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw system_error(name_, "cannot open");
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
  if (got < 0) throw system_error(name_, "cannot read");
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
      throw Error(name_ + ":" + std::to_string(line_number_ + 1) + ": the line has more than " +
                  std::to_string(kLongestLine) + " bytes; is this a text file?");
    }
    if (at_end_ || !fill()) break;
  }
  if (begin_ == buffer_.size()) return false;
  line = std::string_view(buffer_).substr(begin_);
  begin_ = searched_ = buffer_.size();
  ++line_number_;
  return true;
}

// Output

namespace {

// The paths that a signal handler unlinks. It may use only lock-free atomics and system calls.
std::array<std::atomic<const char*>, 32> live_temporaries;

/// Puts `path` in the first slot that holds `expected`, if there is one.
void exchange_temporary(const char* expected, const char* path) {
  for (auto& slot : live_temporaries) {
    const char* found = expected;
    if (slot.compare_exchange_strong(found, path)) return;
  }
}

constexpr std::string_view kPrefix = ".fast_align.";

extern "C" void remove_and_die(int signal_number) {
  for (auto& slot : live_temporaries) {
    if (const char* path = slot.load()) ::unlink(path);
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

std::atomic<pid_t> first_parent;

// The signal also comes when the parent lives on and only the thread that started this process has
// ended.
extern "C" void die_if_orphan(int) {
  if (::getppid() != first_parent) remove_and_die(SIGTERM);
}

/// Also true of a zombie, which exists until its parent asks for its exit status.
bool has_ended(pid_t process) {
  if (::kill(process, 0) != 0 && errno == ESRCH) return true;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string status((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = status.rfind(')');  // "PID (NAME) STATE …"; there may be no /proc
  return name_end != std::string::npos && status.substr(name_end + 1, 2) == " Z";
}

}  // namespace

void remove_temporaries_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, remove_and_die);
  std::signal(SIGXFSZ, SIG_IGN);  // write() then fails on a file that grows too large
}

void end_with_parent(std::uint64_t caller) {
  first_parent = ::getppid();
#ifdef __linux__
  std::signal(SIGUSR1, die_if_orphan);
  ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
#endif
  if (has_ended(static_cast<pid_t>(caller)) || ::getppid() != first_parent) remove_and_die(SIGTERM);
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") {
    path_ = "standard output";
    descriptor_ = STDOUT_FILENO;
    return;
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    // An unpredictable name, short enough for any file system.
    std::random_device random;
    temporary_ = folder + std::string(kPrefix) + std::to_string(random()) +
                 std::to_string(random());
    descriptor_ = ::open(temporary_.c_str(), kFlags, 0666);
  }
  if (descriptor_ < 0) {
    temporary_.clear();  // it is not ours to remove
    throw system_error(path_, "cannot write");
  }
  if (temporary_.empty()) return;
  // The new file keeps the permissions of the old one.
  if (exists) ::fchmod(descriptor_, status.st_mode & 07777);
  exchange_temporary(nullptr, temporary_.c_str());
}

OutputFile::~OutputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    exchange_temporary(temporary_.c_str(), nullptr);
  }
}

void OutputFile::check_writable(const std::string& path) {
  struct stat status {};
  // Pipes and devices are not tried: opening a pipe can block.
  const bool is_stream = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
                         !S_ISDIR(status.st_mode);
  if (!path.empty() && path != "-" && !is_stream) OutputFile trial(path);
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error(path_, "cannot write");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  if (temporary_.empty() && descriptor_ <= STDERR_FILENO) return;  // standard output
  bool done = ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!temporary_.empty()) {
    done = done && std::rename(temporary_.c_str(), path_.c_str()) == 0;
    if (done) {
      exchange_temporary(temporary_.c_str(), nullptr);
      temporary_.clear();
    }
  }
  if (!done) throw system_error(path_, "cannot write");
}

// Threads

ThreadPool::ThreadPool(unsigned threads) {
  std::string refusal;
  for (unsigned wanted = threads; size() < wanted;) {
    try {
      workers_.emplace_back([this, thread = size()] { work(thread); });
    } catch (const std::exception& error) {
      refusal = error.what();
      // Half as many as could be started, which leaves memory for the work itself.
      wanted = size() / 2;
      stop();
    }
  }
  if (!refusal.empty()) {
    report("warning: the system refuses " + std::to_string(threads) +
                             " threads (" + refusal + "); continuing with " +
                             std::to_string(size()));
  }
}

void ThreadPool::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  stopping_ = false;
}

void ThreadPool::call(unsigned thread) {
  try {
    (*task_)(thread);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::work(unsigned thread) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    call(thread);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

void ThreadPool::run(const std::function<void(unsigned)>& task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = &task;
    running_ = size() - 1;
    ++round_;
  }
  start_.notify_all();
  call(0);
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::for_each_range(
    std::uint64_t count, std::uint64_t step,
    const std::function<void(unsigned, std::uint64_t, std::uint64_t)>& task) {
  std::atomic<std::uint64_t> next{0};
  run([&](unsigned thread) {
    for (;;) {
      const std::uint64_t begin = next.fetch_add(step);
      if (begin >= count) return;
      task(thread, begin, std::min(count, begin + step));
    }
  });
}

}  // namespace aligner
