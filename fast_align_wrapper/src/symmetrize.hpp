// Two directions' links made one (Och and Ney 2003; Koehn et al. 2003).
#pragma once

#include <optional>
#include <string>

#include "links.hpp"

namespace aligner {

enum class Symmetrization {
  kIntersect,
  kUnion,
  kGrowDiag,
  kGrowDiagFinal,
  kGrowDiagFinalAnd,
};

/// The method atools calls by this name.
std::optional<Symmetrization> symmetrization_named(const std::string& name);

/// The symmetrised links, sorted. The inputs are sorted too, and freed of repetitions.
void symmetrize(Symmetrization method, Links& forward, Links& reverse, Links& result);

}  // namespace aligner
