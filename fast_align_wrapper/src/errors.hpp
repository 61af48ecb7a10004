// The two ways a run can fail: the data or the machine (exit status 1), or the command line (2).
#pragma once

#include <stdexcept>
#include <string>

namespace aligner {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "PATH: WHAT: reason" for a failed system call, the reason taken from errno.
std::string system_message(const std::string& path, const std::string& what);

/// "TOOL: MESSAGE" on standard error: one line, whatever files and command lines had in it.
void report(const std::string& tool, const std::string& message);

}  // namespace aligner
