#include "errors.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string_view>

namespace aligner {

std::string system_message(const std::string& path, const std::string& what) {
  const int reason = errno;
  return path + ": " + what + ": " + std::strerror(reason);
}

namespace {

/// How many bytes at the beginning are a control character in UTF-8: C0, C1, or of text direction.
std::size_t control_length(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return 2;
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return 2;
  if (byte(0) != 0xE2) return 0;
  const bool is_mark = byte(1) == 0x80 && (byte(2) == 0x8E || byte(2) == 0x8F);
  const bool is_line_or_embedding = byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE;
  const bool is_isolate = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return is_mark || is_line_or_embedding || is_isolate ? 3 : 0;
}

}  // namespace

void report(const std::string& tool, const std::string& message) {
  const char* const digits = "0123456789abcdef";
  std::string line;
  std::size_t hidden = 0;  // bytes of a control character that are still to come
  for (std::size_t at = 0; at < message.size(); ++at) {
    if (hidden == 0) hidden = control_length(std::string_view(message).substr(at));
    if (hidden == 0) {
      line += message[at];
      continue;
    }
    --hidden;
    const auto byte = static_cast<unsigned char>(message[at]);
    line += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
  }
  std::cerr << tool << ": " << line << '\n';
}

}  // namespace aligner
