#include "output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
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

constexpr std::string_view kPrefix = ".fast_align.";

/// A name in a folder that nobody can foresee, of a length that any folder takes.
std::string temporary_in(const std::string& folder) {
  std::random_device random;
  std::array<char, 40> name;
  const auto high = static_cast<std::uint32_t>(random());
  const auto low = static_cast<std::uint32_t>(random());
  std::snprintf(name.data(), name.size(), "%08x%08x", high, low);
  return folder + std::string(kPrefix) + name.data();
}

/// Removes what killed runs left in a folder: a run holds a lock of its files as long as it lives.
void remove_abandoned(const std::string& folder) {
  DIR* entries = ::opendir(folder.empty() ? "." : folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (std::string_view(entry->d_name).substr(0, kPrefix.size()) != kPrefix) continue;
    const std::string path = folder + entry->d_name;
    const int found = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (found < 0) continue;
    struct stat status {};
    const bool ours = ::fstat(found, &status) == 0 && status.st_uid == ::geteuid();
    const bool file = ours && S_ISREG(status.st_mode);
    if (file && ::flock(found, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    ::close(found);
  }
  ::closedir(entries);
}

bool is_at(int descriptor, const std::string& path) {
  struct stat ours {}, there {};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
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
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    remove_abandoned(folder);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    do {  // another run may take it for abandoned before it is locked
      if (descriptor_ >= 0) ::close(descriptor_);
      temporary_ = temporary_in(folder);
      descriptor_ = ::open(temporary_.c_str(), kFlags, 0666);
      if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
    } while (descriptor_ >= 0 && !is_at(descriptor_, temporary_));
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
  if (temporary_.empty() && descriptor_ <= STDERR_FILENO) return;  // standard output
  const int lock = temporary_.empty() ? -1 : ::dup(descriptor_);  // held until it has its name
  bool done = ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!temporary_.empty()) {
    done = done && std::rename(temporary_.c_str(), path_.c_str()) == 0;
    if (done) {
      forget(temporary_.c_str());
      temporary_.clear();
    }
  }
  if (lock >= 0) ::close(lock);
  if (!done) throw Error(system_message(path_, "cannot write"));
}

}  // namespace aligner
