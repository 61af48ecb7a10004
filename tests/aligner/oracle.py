"""The alignment model in plain Python, written from its description, as an independent oracle.

Every sum is computed term by term, without closed forms; digamma is SciPy's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field

from scipy.special import digamma

NULL = "<eps>"
UNSEEN = 1e-9
Table = dict[tuple[str, str], float]
Sentences = tuple[list[str], list[str]]
"""The generated words and the conditioning words of a pair."""


@dataclass
class Settings:
    favor_diagonal: bool = True
    optimize_tension: bool = True
    variational_bayes: bool = True
    iterations: int = 5
    p0: float = 0.08
    alpha: float = 0.01
    tension: float = 4.0
    null_word: bool = True

    def flags(self) -> list[str]:
        switches = {
            "-d": self.favor_diagonal,
            "-o": self.optimize_tension,
            "-v": self.variational_bayes,
            "-N": not self.null_word,
        }
        values = {"-I": self.iterations, "-q": self.p0, "-a": self.alpha, "-T": self.tension}
        return [flag for flag, on in switches.items() if on] + [
            str(part) for flag_value in values.items() for part in flag_value
        ]


@dataclass
class Model:
    settings: Settings
    tension: float
    theta: Table = field(default_factory=dict)
    log_likelihood: list[float] = field(default_factory=list)

    def priors(self, j: int, m: int, n: int) -> list[float]:
        """p(NULL), p(1) … p(n) for the j-th of m generated words, j from 1."""
        null = self.settings.null_word
        if not self.settings.favor_diagonal:
            uniform = 1 / (n + null)
            return [uniform if null else 0.0] + [uniform] * n
        weights = [math.exp(-self.tension * abs(i / n - j / m)) for i in range(1, n + 1)]
        p0 = self.settings.p0 if null else 0.0
        return [p0] + [(1 - p0) * weight / sum(weights) for weight in weights]

    def joint(self, pair: Sentences, j: int) -> list[float]:
        generated, conditioning = pair
        priors = self.priors(j, len(generated), len(conditioning))
        word = generated[j - 1]
        return [
            self.theta.get((other, word), UNSEEN) * prior
            for other, prior in zip([NULL, *conditioning], priors, strict=True)
        ]


def exchanged_normalizer(j: int, m: int, n: int, tension: float) -> float:
    """Σ_i exp(-λ|i/m - j/n|) with swapped lengths; if j is past the end, an infinite sum."""
    floor = j * m // n
    below = sum(math.exp(-tension * (j / n - i / m)) for i in range(1, floor + 1))
    last = m if floor <= m else floor + int(60 * m / tension) + 1
    above = sum(math.exp(-tension * (i / m - j / n)) for i in range(floor + 1, last + 1))
    return below + above


def model_feature(pairs: list[Sentences], tension: float) -> float:
    total = 0.0
    words = 0
    for generated, conditioning in pairs:
        m, n = len(generated), len(conditioning)
        words += m
        for j in range(1, m + 1):
            distances = [abs(i / n - j / m) for i in range(1, n + 1)]
            slope = sum(-distance * math.exp(-tension * distance) for distance in distances)
            total += slope / exchanged_normalizer(j, m, n, tension)
    return total / words


def train(pairs: list[Sentences], settings: Settings) -> Model:
    """Expectation maximisation over pairs of (generated, conditioning) words, no side empty."""
    model = Model(settings, settings.tension)
    for generated, conditioning in pairs:
        for word in generated:
            for other in [NULL] * settings.null_word + conditioning:
                model.theta[other, word] = UNSEEN
    for iteration in range(1, settings.iterations + 1):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        likelihood = 0.0
        feature = 0.0
        for pair in pairs:
            generated, conditioning = pair
            for j, word in enumerate(generated, 1):
                joint = model.joint(pair, j)
                likelihood += math.log(sum(joint))
                for i, value in enumerate(joint):
                    counts[([NULL, *conditioning])[i], word] += value / sum(joint)
                    if i > 0:
                        distance = abs(i / len(conditioning) - (j - 1) / len(generated))
                        feature -= distance * value / sum(joint)
        model.log_likelihood.append(likelihood)
        if iteration == settings.iterations:
            break
        if settings.optimize_tension and settings.favor_diagonal and iteration > 1:
            data = feature / sum(len(generated) for generated, _ in pairs)
            for _ in range(8):
                step = 20 * (data - model_feature(pairs, model.tension))
                model.tension = min(14.0, max(0.1, model.tension + step))
        update(model, counts)
    return model


def update(model: Model, counts: dict[tuple[str, str], float]) -> None:
    bayes = model.settings.variational_bayes
    smoothing = model.settings.alpha if bayes else 0.0
    totals: dict[str, float] = defaultdict(float)
    for other, word in model.theta:
        totals[other] += counts[other, word] + smoothing
    for other, word in model.theta:
        count = counts[other, word] + smoothing
        model.theta[other, word] = (
            math.exp(digamma(count) - digamma(totals[other])) if bayes else count / totals[other]
        )


def score(model: Model, pair: Sentences, multiplier: float) -> float:
    """log Poisson(m; 0.05 + n · multiplier) + Σ_j log Σ_i."""
    generated, conditioning = pair
    m = len(generated)
    mean = 0.05 + len(conditioning) * multiplier
    length = m * math.log(mean) - mean - math.lgamma(m + 1)
    return length + sum(math.log(sum(model.joint(pair, j))) for j in range(1, m + 1))
