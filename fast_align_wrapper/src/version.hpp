#pragma once

namespace aligner {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace aligner
