#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <random>

#include "errors.hpp"

namespace aligner {

namespace {

// Paths a signal handler may unlink: it can touch nothing but lock-free atomics and system calls.
std::array<std::atomic<const char*>, 32> live_temporaries;

void remember(const char* path) {
  for (auto& slot : live_temporaries) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, path)) return;
  }
}

void forget(const char* path) {
  for (auto& slot : live_temporaries) {
    const char* expected = path;
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

/// A pipe or a device: opening it can block, and renaming over it would cut its readers off.
bool is_stream(const struct stat& status) {
  return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// A name in the target's folder that nobody can foresee, of a length that any folder takes.
std::string temporary_beside(const std::string& path) {
  std::random_device random;
  std::array<char, 40> name;
  const auto high = static_cast<std::uint32_t>(random());
  const auto low = static_cast<std::uint32_t>(random());
  std::snprintf(name.data(), name.size(), ".fast_align.%08x%08x", high, low);
  return path.substr(0, path.rfind('/') + 1) + name.data();
}

extern "C" void remove_and_die(int signal_number) {
  for (auto& slot : live_temporaries) {
    if (const char* path = slot.load()) ::unlink(path);
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

}  // namespace

void remove_temporaries_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, remove_and_die);
  std::signal(SIGXFSZ, SIG_IGN);  // a file grown too large is then an error of its write
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
    temporary_ = temporary_beside(path);
    descriptor_ = ::open(temporary_.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    temporary_.clear();  // it is not ours to remove
    throw Error(system_message(path_, "cannot write"));
  }
  // Whoever may not read the old file may not read the new one.
  if (exists && !temporary_.empty()) ::fchmod(descriptor_, status.st_mode & 07777);
  if (!temporary_.empty()) remember(temporary_.c_str());
}

OutputFile::~OutputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget(temporary_.c_str());
  }
}

void OutputFile::check_writable(const std::string& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!path.empty() && path != "-" && (!exists || !is_stream(status))) OutputFile trial(path);
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(system_message(path_, "cannot write"));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  if (descriptor_ > STDERR_FILENO) {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) throw Error(system_message(path_, "cannot write"));
  }
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw Error(system_message(path_, "cannot write"));
  }
  forget(temporary_.c_str());
  temporary_.clear();
}

}  // namespace aligner
