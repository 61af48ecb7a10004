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


def _python2_array(array: NDArray[np.float64], *, first: bool) -> bytes:
    """Opcodes of one float32 array, as Python 2's cPickle writes them in protocol 2."""
    data = array.astype("<f4").tobytes()
    shape = b"".join(b"K" + bytes([n]) for n in array.shape) + b"\x86"
    if first:  # later arrays refer to the memo
        function = b"cnumpy.core.multiarray\n_reconstruct\nq\x10cnumpy\nndarray\nq\x11"
        dtype = (
            b"cnumpy\ndtype\nq\x12U\x02f4K\x00K\x01\x87Rq\x13"
            b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        )
    else:
        function, dtype = b"h\x10h\x11", b"h\x13"
    content = b"T" + len(data).to_bytes(4, "little") + data
    return function + b"K\x00\x85U\x01b\x87R(K\x01" + shape + dtype + b"\x89" + content + b"tb"


def python2_pickle(
    pred: Sequence[NDArray[np.float64]], gold: Sequence[NDArray[np.float64]]
) -> bytes:
    body = b"\x80\x02}q\x00("
    first = True
    for name, arrays in ((b"pred", pred), (b"gold", gold)):
        body += b"U" + bytes([len(name)]) + name + b"]("
        for array in arrays:
            body += _python2_array(array, first=first)
            first = False
        body += b"e"
    return body + b"u."


def python2_pickle_protocol_0(pred: Sequence[NDArray[np.float64]]) -> bytes:
    """Protocol 0, Python 2's default: text, with bytes as an escaped string."""
    body = b"(dp0\nS'pred'\np1\n(lp2\n"
    for array in pred:
        data = repr(array.astype("<f4").tobytes())[1:].encode("ascii")
        rows, columns = array.shape
        body += (
            b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n"
            b"(I%d\nI%d\ntcnumpy\ndtype\n(S'f4'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
            b"I00\nS%b\ntba" % (rows, columns, data)
        )
    return body + b"sS'gold'\np3\n(lp4\ns."


def opennmt_pickle(samples: Sequence[Sample]) -> bytes:
    return python2_pickle([s.weights[:, :-1] for s in samples], [])


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


def sockeye_matrix(samples: Sequence[Sample]) -> bytes:
    """S rows of T values; no EOS on either side."""
    text = ""
    for number, s in enumerate(samples):
        text += f"{number} ||| {' '.join(s.hypothesis)} ||| -1.25 ||| {' '.join(s.source)} "
        text += f"||| {len(s.source)} ||| {len(s.hypothesis)}\n"
        text += "".join(" ".join(f"{x:f}" for x in row) + "\n" for row in s.words.T) + "\n"
    return text.encode()


def sockeye_links(samples: Sequence[Sample]) -> bytes:
    return "".join(f"{' '.join(s.hypothesis)}\t{_pairs(s.links)}\n" for s in samples).encode()


def sockeye_json(samples: Sequence[Sample]) -> bytes:
    lines = []
    for number, s in enumerate(samples):
        links = [list(link) for link in s.links]
        record = {
            "sentence_id": number,
            "translation": " ".join(s.hypothesis),
            "translations": [" ".join(s.hypothesis), "another one"],
            "scores": [0.1, 0.2],
            "alignments": [links, [[0, 0]]],
        }
        lines.append(json.dumps(record, sort_keys=True) + "\n")
    return "".join(lines).encode()


def nematus(samples: Sequence[Sample]) -> bytes:
    """Python 2's print leaves a space at the end of a row, and a blank line after a matrix."""
    text = ""
    for number, s in enumerate(samples):
        text += f"{number} ||| {' '.join(s.hypothesis)} ||| 0 ||| {' '.join(s.source)} "
        text += f"||| {len(s.source) + 1} {len(s.hypothesis)}\n"
        text += "".join("".join(f"{x!r} " for x in row.tolist()) + "\n" for row in s.weights)
        text += "\n"
    return text.encode()


def nematus_json(samples: Sequence[Sample]) -> bytes:
    text = ""
    for number, s in enumerate(samples):
        source, target = [*s.source, "</s>"], [*s.hypothesis, "</s>"]
        text += json.dumps(
            [
                (target[t], source[j], str(w), number, 0)
                for t, row in enumerate(s.weights.tolist())
                for j, w in enumerate(row)
            ],
            ensure_ascii=False,
        )
    return text.encode()


def alti(samples: Sequence[Sample]) -> bytes:
    """Source includes EOS; rows predict pred_toks; half of each row goes to the target prefix."""
    lines = []
    for s in samples:
        source = [*s.source, "</s>"]
        predicted = [*s.hypothesis, "</s>"]
        fed = ["</s>", *s.hypothesis]
        rows = [
            [*(w / 2 for w in row), *(0.5 / (t + 1) if k <= t else 0.0 for k in range(len(fed)))]
            for t, row in enumerate(s.weights.tolist())
        ]
        record = {
            "contributions": rows,
            "alignment": [[t, source] for source, t in s.links],
            "src_toks": source,
            "tgt_toks": fed,
            "pred_toks": predicted,
        }
        lines.append(json.dumps(record) + "\n")
    return "".join(lines).encode()


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


def pharaoh(samples: Sequence[Sample]) -> bytes:
    return "".join(_pairs(s.links) + "\n" for s in samples).encode()


def talp(samples: Sequence[Sample]) -> bytes:
    """The first link of each pair is only possible."""
    return pharaoh(samples).replace(b"-", b"p", 1)


def naacl(samples: Sequence[Sample]) -> bytes:
    return "".join(
        f"{number:04d} {s + 1} {t + 1} {'SP'[t % 2]}\n"
        for number, item in enumerate(samples, start=1)
        for s, t in item.links
    ).encode()


def giza(samples: Sequence[Sample]) -> bytes:
    text = ""
    for number, item in enumerate(samples, start=1):
        words = "NULL ({ }) "
        for position, token in enumerate(item.source):
            linked = "".join(f"{t + 1} " for s, t in item.links if s == position)
            words += f"{token} ({{ {linked}}}) "
        text += (
            f"# Sentence pair ({number}) source length {len(item.source)} target length "
            f"{len(item.hypothesis)} alignment score : 0.1\n{' '.join(item.hypothesis)}\n{words}\n"
        )
    return text.encode()


@dataclass(frozen=True)
class Case:
    """A writer, the format of its files, and what loading them must give.

    ``src_eos``, ``tgt_eos``: what the toolkit keeps. ``texts``: which texts must be given.
    """

    format: str
    write: Callable[[Sequence[Sample]], bytes]
    tgt_eos: bool = False
    src_eos: bool = False
    texts: str = ""
    hard: bool = False
    scale: float = 1.0


CASES = {
    "opennmt-pickle": Case("opennmt-pickle", opennmt_pickle, tgt_eos=True, texts="both"),
    "opennmt-log": Case("opennmt-log", opennmt_log, tgt_eos=True),
    "opennmt-align-log": Case("opennmt-log", opennmt_align_log),
    "opennmt-align": Case("opennmt-align", opennmt_align, texts="src", hard=True),
    "fairseq-soft": Case("fairseq", fairseq_soft, tgt_eos=True, src_eos=True),
    "fairseq-hard": Case("fairseq", fairseq_hard, hard=True),
    "fairseq-old": Case("fairseq", fairseq_old, hard=True),
    "marian-soft": Case("marian", marian_soft, tgt_eos=True, src_eos=True, texts="src"),
    "marian-nbest": Case("marian", marian_nbest, tgt_eos=True, src_eos=True, texts="src"),
    "marian-hard": Case("marian", marian_hard, texts="src", hard=True),
    "sockeye": Case("sockeye", sockeye_matrix),
    "sockeye-links": Case("sockeye-links", sockeye_links, texts="src", hard=True),
    "sockeye-json": Case("sockeye-json", sockeye_json, texts="src", hard=True),
    "nematus": Case("nematus", nematus, tgt_eos=True, src_eos=True),
    "nematus-json": Case("nematus-json", nematus_json, tgt_eos=True, src_eos=True),
    "alti": Case("alti", alti, tgt_eos=True, src_eos=True, scale=0.5),
    "jsonl": Case("jsonl", jsonl, tgt_eos=True, src_eos=True),
    "npz": Case("npz", npz, tgt_eos=True, src_eos=True),
    "pharaoh": Case("links", pharaoh, texts="both", hard=True),
    "talp": Case("links", talp, texts="both", hard=True),
    "naacl": Case("links", naacl, texts="both", hard=True),
    "giza": Case("links", giza, texts="both", hard=True),
    "arrays": Case("arrays", bare_npz, tgt_eos=True, src_eos=True, texts="both"),
    "json-arrays": Case("json-arrays", json_arrays, tgt_eos=True, src_eos=True, texts="both"),
}
