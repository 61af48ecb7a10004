#include "errors.hpp"

#include <cerrno>
#include <cstring>

namespace aligner {

std::string system_message(const std::string& path, const std::string& what) {
  const int reason = errno;
  return path + ": " + what + ": " + std::strerror(reason);
}

}  // namespace aligner
