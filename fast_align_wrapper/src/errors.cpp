#include "errors.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>

namespace aligner {

std::string system_message(const std::string& path, const std::string& what) {
  const int reason = errno;
  return path + ": " + what + ": " + std::strerror(reason);
}

void report(const std::string& tool, const std::string& message) {
  const char* const digits = "0123456789abcdef";
  std::string line;
  for (std::size_t at = 0; at < message.size(); ++at) {
    const auto byte = static_cast<unsigned char>(message[at]);
    // C1 controls are two bytes in UTF-8, of which the first then says no more.
    const bool begins_c1 = byte == 0xC2 && at + 1 < message.size() &&
                           static_cast<unsigned char>(message[at + 1]) < 0xA0;
    if (begins_c1) continue;
    const bool is_c1 = at > 0 && static_cast<unsigned char>(message[at - 1]) == 0xC2 && byte < 0xA0;
    if (byte < 0x20 || byte == 0x7F || is_c1) {
      line += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    } else {
      line += message[at];
    }
  }
  std::cerr << tool << ": " << line << '\n';
}

}  // namespace aligner
