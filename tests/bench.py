"""``make bench``: the speed of what must be fast, each compared with a baseline in the same run.

``python -m tests.bench [PART ...]`` runs the given parts, by default all that need no PyTorch.
Times differ between machines, ratios hardly. The real texts are in ``COVERAGE_EVAL_SHARED``;
without them the small grammar's are used.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from coverage_eval import Aligner, attention
from coverage_eval.cli.main import main
from coverage_eval.core.batches import Row
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.coverage.drop import DROP
from coverage_eval.registry import make_metric
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import compare_statistics
from tests.grammar import generate
from tests.planting import inject_lines
from tests.repetition import oracles
from tests.rows import score_of, statistics_of

Array = NDArray[np.float64]
Work = Callable[[], object]
SHARED = Path(os.environ.get("COVERAGE_EVAL_SHARED", Path(__file__).parents[2] / "shared"))
CAPTIONS = SHARED / "data" / "multi30k-de-en"


def read(language: str, lines: int) -> list[str]:
    """A side of Multi30k or, without it, of the grammar."""
    if CAPTIONS.is_dir():
        return (CAPTIONS / f"train.{language}").read_text(encoding="utf-8").split("\n")[:lines]
    pairs = generate(lines, seed=1)
    return [" ".join(pair.source if language == "de" else pair.target) for pair in pairs]


def elapsed(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor(work: Work) -> float:
    """Processor time of this process, so other processes do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fastest(*works: Work, rounds: int, clock: Callable[[Work], float] = processor) -> list[float]:
    """The least seconds of each, taken in turns, because a busy machine slows all of them."""
    times = [[clock(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def show(name: str, seconds: float, baseline: str, ratio: float) -> None:
    print(f"{name:<64}{1e3 * seconds:12.3f} ms   {baseline} takes {ratio:.2f} times as long")


def rep() -> None:
    """REP of segments of about 20 words, compared with a transcription of its definition."""
    lines = read("en", 29_000)
    pairs = pairwise(lines)
    references = [" ".join(f"{first} {second}".split(" ")[:20]) for first, second in pairs]
    hypotheses = inject_lines(references, "repetition-phrase", 0.02)
    metric = REP()
    assert score_of(metric, hypotheses, references).score == oracles.rep(hypotheses, references)
    fast, slow = fastest(
        lambda: statistics_of(metric, hypotheses, references),
        lambda: oracles.rep(hypotheses, references),
        rounds=3,
    )
    show(f"REP of {len(references):,} segments", fast, "its definition", slow / fast)


def aligner() -> None:
    """Training, compared with plain EM; forced alignment, and DROP, compared with training."""
    sources, targets = read("de", 29_000), read("en", 29_000)
    few = 1000
    start = time.perf_counter()
    it = Aligner.train(sources, targets)
    train = time.perf_counter() - start
    plain = 2 * processor(lambda: plain_em(sources[:few], targets[:few])) * len(sources) / few
    show(f"training on {len(sources):,} pairs", train, "plain EM (extrapolated)", plain / train)
    with it:
        rows = [Row((target,), (), source) for source, target in zip(sources, targets, strict=True)]
        forced = elapsed(lambda: deque(it.align(rows), maxlen=0))
        show("forced alignment of them", forced, "training", train / forced)
        outputs = inject_lines(targets, "omission-word", 0.05)
        drop = elapsed(lambda: score_of(DROP(it), outputs, targets, sources=sources))
        show("DROP, which aligns twice", drop, "forced alignment", forced / drop)


def plain_em(sources: list[str], targets: list[str]) -> None:
    """Plain EM in one direction (no prior, no Bayes), with a dictionary of counts."""
    pairs = [(["", *s.split()], t.split()) for s, t in zip(sources, targets, strict=True)]
    theta: dict[tuple[str, str], float] = defaultdict(lambda: 1e-9)
    for _ in range(4):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        totals: dict[str, float] = defaultdict(float)
        for source, target in pairs:
            for word in target:
                values = np.array([theta[other, word] for other in source])
                for other, share in zip(source, values / values.sum(), strict=True):
                    counts[other, word] += share
                    totals[other] += share
        theta = defaultdict(float, {key: counts[key] / totals[key[0]] for key in counts})


def resampling() -> None:
    """1,000 resamples of eight systems, compared with sacreBLEU's paired test of BLEU."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    references = read("en", 2000)
    systems = {
        f"system {n}": inject_lines(references, "omission-word", 0.01 * n, n) for n in range(8)
    }
    bleu = make_metric("bleu", {})
    metrics = {"bleu": bleu}
    statistics = {
        "bleu": {n: statistics_of(bleu, texts, references) for n, texts in systems.items()}
    }

    def theirs(samples: int) -> None:
        metric = {"BLEU": BLEU(references=[references], force=True)}
        PairedTest(list(systems.items()), metric, None, "bs", samples)()

    bootstrap = partial(compare_statistics, statistics, metrics, SignificanceTest("bootstrap"))
    (ours,) = fastest(bootstrap, rounds=3, clock=elapsed)
    # Their counting of n-grams is subtracted: a test with one sample does nothing else.
    theirs_only = elapsed(lambda: theirs(1000)) - elapsed(lambda: theirs(1))
    show("BLEU of 8 systems × 2,000 segments, bootstrap", ours, "sacreBLEU", theirs_only / ours)


def transformations() -> None:
    """Batches, compared with a softmax plus a sort."""
    # Once a process has freed a large block, glibc keeps freed memory instead of giving it back
    # after every call, as in any program that works long with such arrays (limit: 32 MB).
    np.empty(3_900_000)
    rng, shape = np.random.default_rng(0), (640, 30)
    credit = np.maximum(rng.integers(1, 4, size=shape) - rng.uniform(0, 3, size=shape), 0)
    cases = {
        "credit f - β": (2 * rng.normal(size=shape), credit),
        "scores nearly equal": (0.1 * rng.normal(size=shape), rng.uniform(size=shape)),
        "tight bounds": (rng.normal(size=shape), rng.uniform(0.02, 0.15, size=shape)),
    }
    for batched in (attention.constrained_sparsemax, attention.constrained_softmax):
        for kind, (z, u) in cases.items():
            ours, plain = fastest(
                partial(batched, z, u),
                lambda z=z: (attention.softmax(z), np.sort(z, axis=1)),
                rounds=20,
            )
            show(f"{batched.__name__}, {kind}", ours, "softmax plus sort", plain / ours)


def torch() -> None:
    """Training steps in PyTorch, compared with softmax."""
    import torch as pt

    def clock(work: Work) -> float:
        if device == "cpu":
            return processor(work)
        pt.cuda.synchronize()
        return elapsed(lambda: (work(), pt.cuda.synchronize()))

    pt.set_num_threads(1)
    names = ("softmax", "sparsemax", "constrained_softmax", "constrained_sparsemax")
    for device in ["cpu", *["cuda"] * pt.cuda.is_available()]:
        base, *rest = fastest(*(training_step(n, device) for n in names), rounds=15, clock=clock)
        for name, taken in zip(names[1:], rest, strict=True):
            show(f"training step with {name}, {device}", taken, "softmax", base / taken)


def training_step(transformation: str, device: str) -> Work:
    """A step of a decoder: an LSTM cell, bilinear attention, and word scores for the batch."""
    import torch as pt

    from coverage_eval.torch import BilinearScorer, ConstrainedAttention

    hidden, vocabulary, sentences, words = 256, 8000, 64, 14
    pt.manual_seed(0)
    cell = pt.nn.LSTMCell(2 * hidden, hidden)
    attend = ConstrainedAttention(BilinearScorer(hidden, hidden), transformation, sink=True)
    out, score = pt.nn.Linear(2 * hidden, hidden), pt.nn.Linear(hidden, vocabulary)
    decoder = pt.nn.ModuleList([cell, attend, out, score]).to(device)
    optimizer = pt.optim.SGD(decoder.parameters(), lr=0.1)
    fed_words = pt.randn(words, sentences, hidden, device=device)
    memory = pt.randn(sentences, words, hidden, device=device)
    gold = pt.randint(vocabulary, (words, sentences), device=device)
    bounded = transformation.startswith("constrained")

    def step() -> None:
        optimizer.zero_grad()
        source = attend.source(memory, fertilities=1.5 if bounded else None)
        cumulative, fed, state = attend.start(source), pt.zeros_like(fed_words[0]), None
        outputs = []
        for word in fed_words:
            state = cell(pt.cat([word, fed], -1), state)
            context, _, cumulative = attend(state[0], source, cumulative)
            fed = pt.tanh(out(pt.cat([context, state[0]], -1)))
            outputs.append(fed)
        logits = score(pt.stack(outputs)).flatten(0, 1)
        pt.nn.functional.cross_entropy(logits, gold.flatten()).backward()
        optimizer.step()

    return step


def long_lines() -> None:
    """A line of 40,000 words beside one of 10,000, which takes a quarter or more if linear."""
    words = " ".join(read("en", 4000)).split()[:40_000]
    others = read("de", 60)
    kinds: dict[str, Callable[[int], str]] = {
        "one word": lambda size: " ".join(["word"] * size),
        "words": lambda size: " ".join(words[:size]),
        "numbers": lambda size: " ".join(map(str, range(size))),
        "words with numbers": lambda size: " ".join(f"w{n**2 % 4999}" for n in range(size)),
        "two words": lambda size: " ".join("ab"[n**2 % 4999 % 2] for n in range(size)),
        "one token": lambda size: "word" * size,
        "spaces": lambda size: f"word{'     ' * size}word",
        "marks": lambda size: "a. " * size,
        "bold text": lambda size: "**a " * size,
        "a link": lambda size: "a.b-" * size,
        "notes": lambda size: "Note: " * size,
    }
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as nothing:
        for kind, make in kinds.items():
            commands: dict[str, list[Work]] = {"compare": [], "report": []}
            for size in (40_000, 10_000):
                hyp, ref = (str(Path(folder, f"{name}{size}")) for name in ("hyp", "ref"))
                for name, line in ((hyp, make(size)), (ref, make(size + 1))):
                    Path(name).write_text("\n".join([*others, line]), encoding="utf-8")
                texts = [hyp, "-m", "bleu,rep", "-r", ref]
                commands["compare"].append(partial(main, ["compare", *texts, "-s", ref]))
                page = ["-o", str(Path(folder, "report.html"))]
                commands["report"].append(partial(main, ["report", *texts, *page]))
            for command, works in commands.items():
                with redirect_stdout(nothing), redirect_stderr(nothing):
                    long, short = fastest(*works, rounds=2)
                show(f"{command} with a line of 40,000 words: {kind}", long, "10,000", short / long)


def commands() -> None:
    """The installed commands, user time of whole processes, compared with sacreBLEU's command.

    REP of 140,330 segments of 20 words is compared with a transcription of the authors' script.
    """
    ours, theirs = (str(Path(sys.executable).with_name(n)) for n in ("coverage-eval", "sacrebleu"))
    lines = read("en", 29_000)
    damaged = [line.replace(" a ", " the ").replace(" in ", " at ") for line in lines]
    with TemporaryDirectory() as folder:
        for size in (3, 2_445):
            hyp, ref = (str(Path(folder, f"{name}{size}")) for name in ("hyp", "ref"))
            for name, text in ((hyp, damaged), (ref, lines)):
                Path(name).write_text("".join(f"{line}\n" for line in text[:size]), "utf-8")
            sacrebleu = [theirs, ref, "-i", hyp, "-b"]
            for metric in ("rep", "bleu"):
                _show_commands(f"{metric} of {size:,} lines", [ours, metric, hyp, ref], sacrebleu)
        compare = [ours, "compare", "-m", "bleu", "-r", ref, hyp, f"b={ref}", "-f", "csv"]
        paired = [theirs, ref, "-i", hyp, ref, "--paired-bs", "-m", "bleu"]
        _show_commands("compare -m bleu of two systems", compare, paired)
        pairs = pairwise(lines * 5)
        long = [" ".join(f"{first} {second}".split(" ")[:20]) for first, second in pairs][:140_330]
        texts = (inject_lines(long, "repetition-phrase", 0.02), long)
        hyp, ref = (str(Path(folder, f"{name}long")) for name in ("hyp", "ref"))
        for name, text in zip((hyp, ref), texts, strict=True):
            Path(name).write_text("".join(f"{line}\n" for line in text), "utf-8")
        used = user_time([ours, "rep", hyp, ref])
        script = processor(partial(oracles.rep, *texts))
        show("rep of 140,330 segments", used, "the authors' script", script / used)


def user_time(command: list[str]) -> float:
    """User time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, capture_output=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def _show_commands(name: str, command: list[str], baseline: list[str], runs: int = 7) -> None:
    """The medians of runs in turns."""
    times = [(user_time(command), user_time(baseline)) for _ in range(runs)]
    own, other = (median(column) for column in zip(*times, strict=True))
    print(f"{name:<64}{1e3 * own:12.0f} ms   {own / other:.2f} times sacreBLEU's command")


PARTS: dict[str, Work] = {
    "commands": commands, "rep": rep,
    "aligner": aligner, "resampling": resampling, "long_lines": long_lines,
    "transformations": transformations,
}  # fmt: skip

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        {**PARTS, "torch": torch}[part]()
