// Output that appears whole or not at all: a temporary file beside the target, renamed at the end.
#pragma once

#include <string>
#include <string_view>

namespace aligner {

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

}  // namespace aligner
