// exp(ψ(x) - c), the update of variational Bayes, without a logarithm.
#pragma once

#include <cmath>

namespace aligner {

namespace digamma_detail {

/// Σ_{k=0…7} 1/(x + k), pairing k with 7 - k so that one division is enough.
inline double eight_reciprocals(double x) {
  const double y = x * (x + 7);
  const double a = y;
  const double b = y + 6;
  const double c = y + 10;
  const double d = y + 12;
  const double ab = a * b;
  const double cd = c * d;
  return (2 * x + 7) * ((a + b) * cd + (c + d) * ab) / (ab * cd);
}

/// ψ(z) - log(z) for z ≥ 8, by the asymptotic series (error below 1e-15).
inline double asymptotic_rest(double z) {
  const double r = 1 / z;
  const double s = r * r;
  return -0.5 * r -
         s * (1.0 / 12 -
              s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 -
                                                                      s * (691.0 / 32760 -
                                                                           s / 12))))));
}

}  // namespace digamma_detail

/// ψ(x), x > 0.
inline double digamma(double x) {
  const double z = x + 8;
  return std::log(z) + digamma_detail::asymptotic_rest(z) - digamma_detail::eight_reciprocals(x);
}

/// exp(ψ(x) - c), x > 0.
inline double exp_digamma_minus(double x, double c) {
  const double z = x + 8;
  return z * std::exp(digamma_detail::asymptotic_rest(z) -
                      digamma_detail::eight_reciprocals(x) - c);
}

}  // namespace aligner
