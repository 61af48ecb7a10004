// Symmetrisation: joins the links of both directions (Och and Ney 2003; Koehn et al. 2003).
#pragma once

#include <string>

#include "text.hpp"

namespace aligner {

/// Whether `method` is intersect, union, grow-diag, grow-diag-final or grow-diag-final-and.
bool is_symmetrization(const std::string& method);

/// Joins sorted links without duplicates by such a method; the result is sorted.
void symmetrize(const std::string& method, const Links& forward, const Links& reverse,
                Links& result);

}  // namespace aligner
