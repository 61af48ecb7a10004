"""Files as the toolkits write them, following the description of each format.

Every writer takes segments and returns a file's bytes. A segment's ``weights`` have the EOS row
and column; a writer omits whatever its toolkit omits.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sample:
    source: tuple[str, ...]
    hypothesis: tuple[str, ...]
    weights: NDArray[np.float64]  # [T + 1, S + 1]

    @property
    def words(self) -> NDArray[np.float64]:
        return self.weights[:-1, :-1]

    @property
    def links(self) -> list[tuple[int, int]]:
        """Each target word linked to the source word that it attends to most: (source, target)."""
        return sorted((int(row.argmax()), t) for t, row in enumerate(self.words))


def sample(source: str, hypothesis: str, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    src, hyp = tuple(source.split()), tuple(hypothesis.split())
    rows = rng.dirichlet(np.full(len(src) + 1, 0.5), size=len(hyp) + 1)
    return Sample(src, hyp, np.round(rows, 4))


SAMPLES = (
    sample("Obama emp@@ fängt Net@@ any@@ ahu", "Obama receives Net@@ any@@ ahu", 1),
    sample("das ist <b> ein & Haus", "this is a house", 2),
    sample("ja", "yes , yes , yes , internationalisation", 3),
)


def _log_table(samples: Sequence[Sample], *, eos: bool, logger: bool) -> str:
    text = ""
    for number, s in enumerate(samples, start=1):
        rows = s.weights[: len(s.hypothesis) + eos, :-1]
        prefix = "[2018-10-01 12:00:00,123 INFO] " if logger else ""
        text += (
            f"{prefix}\nSENT {number}: {list(s.source)}\nPRED {number}: {' '.join(s.hypothesis)}\n"
        )
        text += "PRED SCORE: -1.2345\n\n" + prefix
        text += f"{'':>10.10} " + "".join(f"{token:>10.7} " for token in s.source) + "\n"
        for token, row in zip([*s.hypothesis, "</s>"], rows, strict=False):
            text += f"{token:>10.10} "
            for column, value in enumerate(row):
                fill = "*" if column == row.argmax() else " "
                text += f"{value:{fill}>10.7f} "
            text += "\n"
        text += "\n"
    return text


def opennmt_log(samples: Sequence[Sample]) -> bytes:
    return _log_table(samples, eos=True, logger=True).encode()


def opennmt_align_log(samples: Sequence[Sample]) -> bytes:
    return _log_table(samples, eos=False, logger=False).encode()


def _pairs(links: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{s}-{t}" for s, t in links)


def opennmt_align(samples: Sequence[Sample]) -> bytes:
    """--report_align --with_score."""
    return "".join(
        f"{' '.join(s.hypothesis)} ||| {_pairs(s.links)}\t-0.5123\n" for s in samples
    ).encode()


def _fairseq(samples: Sequence[Sample], alignment: Callable[[Sample], str]) -> bytes:
    text = "2020-01-01 | INFO | fairseq_cli.generate | loading model(s) from model.pt\n"
    for identity in reversed(range(len(samples))):  # longest batches come first
        s = samples[identity]
        text += f"S-{identity}\t{' '.join(s.source)}\nT-{identity}\tthe reference\n"
        text += f"H-{identity}\t-0.3\t{' '.join(s.hypothesis)}\nD-{identity}\t-0.3\tdetok\n"
        text += f"P-{identity}\t-0.1 -0.2\nA-{identity}\t{alignment(s)}\n"
    return (text + "Generate test with beam=5: BLEU4 = 12.3\n").encode()


def fairseq_soft(samples: Sequence[Sample]) -> bytes:
    return _fairseq(
        samples, lambda s: " ".join(",".join(f"{x:.6f}" for x in row) for row in s.weights)
    )


def fairseq_hard(samples: Sequence[Sample]) -> bytes:
    return _fairseq(samples, lambda s: _pairs(sorted(s.links, key=lambda link: link[1])))


def fairseq_old(samples: Sequence[Sample]) -> bytes:
    """One source index per target token, EOS included; EOS attends to EOS."""

    def indices(s: Sample) -> str:
        best = {t: source for source, t in s.links}
        return " ".join(str(best.get(t, len(s.source))) for t in range(len(s.hypothesis) + 1))

    return _fairseq(samples, indices)


def _marian_soft(s: Sample) -> str:
    return " ".join(",".join(f"{x:g}" for x in row) for row in s.weights)


def marian_soft(samples: Sequence[Sample]) -> bytes:
    return "".join(f"{' '.join(s.hypothesis)} ||| {_marian_soft(s)}\n" for s in samples).encode()


def marian_nbest(samples: Sequence[Sample]) -> bytes:
    text = ""
    for identity, s in enumerate(samples):
        for rank in (1, 2):
            words = " ".join(s.hypothesis) if rank == 1 else "another one"
            soft = _marian_soft(s) if rank == 1 else "1,0,0 0,1,0 0,0,1"
            text += (
                f"{identity} ||| {words} ||| {soft} ||| WordScores= -0.1 -0.2 "
                f"||| F0= -{rank}.5 ||| -{rank}.5\n"
            )
    return text.encode()


def marian_hard(samples: Sequence[Sample]) -> bytes:
    return "".join(
        f"{' '.join(s.hypothesis)} ||| {_pairs([*s.links, (len(s.source), len(s.hypothesis))])}\n"
        for s in samples
    ).encode()


def jsonl(samples: Sequence[Sample]) -> bytes:
    lines = []
    for s in samples:
        record = {
            "attention": s.weights.tolist(),
            "source": [*s.source, "</s>"],
            "hypothesis": [*s.hypothesis, "</s>"],
            "tgt_eos": True,
            "src_eos": True,
            "level": "bpe",
        }
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def npz(samples: Sequence[Sample]) -> bytes:
    records = [
        {"source": [*s.source, "</s>"], "hypothesis": [*s.hypothesis, "</s>"],
         "tgt_eos": True, "src_eos": True, "level": "bpe"}
        for s in samples
    ]  # fmt: skip
    arrays = {f"attention_{i}": s.weights for i, s in enumerate(samples)}
    file = io.BytesIO()
    np.savez(file, segments=np.array(json.dumps(records)), **arrays)
    return file.getvalue()


def bare_npz(samples: Sequence[Sample]) -> bytes:
    """Source × target, as fairseq has it in memory."""
    file = io.BytesIO()
    np.savez_compressed(file, **{f"arr_{i}": s.weights.T for i, s in enumerate(samples)})
    return file.getvalue()


def json_arrays(samples: Sequence[Sample]) -> bytes:
    return "".join(json.dumps(s.weights.tolist()) + "\n" for s in samples).encode()


@dataclass(frozen=True)
class Case:
    """A writer, the format of its files, and what loading them must give.

    ``src_eos``, ``tgt_eos``: what the toolkit keeps. ``texts``: which texts must be given.
    ``orientation``: what must be said of bare arrays.
    """

    format: str
    write: Callable[[Sequence[Sample]], bytes]
    tgt_eos: bool = False
    src_eos: bool = False
    texts: str = ""
    hard: bool = False
    orientation: str | None = None


CASES = {
    "opennmt-log": Case("opennmt-log", opennmt_log, tgt_eos=True),
    "opennmt-align-log": Case("opennmt-log", opennmt_align_log),
    "opennmt-align": Case("opennmt-align", opennmt_align, texts="src", hard=True),
    "fairseq-soft": Case("fairseq", fairseq_soft, tgt_eos=True, src_eos=True),
    "fairseq-hard": Case("fairseq", fairseq_hard, hard=True),
    "fairseq-old": Case("fairseq", fairseq_old, hard=True),
    "marian-soft": Case("marian", marian_soft, tgt_eos=True, src_eos=True, texts="src"),
    "marian-nbest": Case("marian", marian_nbest, tgt_eos=True, src_eos=True, texts="src"),
    "marian-hard": Case("marian", marian_hard, texts="src", hard=True),
    "jsonl": Case("jsonl", jsonl, tgt_eos=True, src_eos=True),
    "npz": Case("npz", npz, tgt_eos=True, src_eos=True),
    "arrays": Case(
        "arrays", bare_npz, tgt_eos=True, src_eos=True, texts="both", orientation="source-target"
    ),
    "json-arrays": Case(
        "json-arrays",
        json_arrays,
        tgt_eos=True,
        src_eos=True,
        texts="both",
        orientation="target-source",
    ),
}
