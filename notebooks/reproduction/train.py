"""Train, decode and score the systems of Table 1 or Table 2 of Malaviya et al. 2018.

    python notebooks/reproduction/train.py --train train.de train.en --valid val.de val.en \\
      --test test.de test.en --settings settings.json -o RUN

The settings are a JSON file with some fields of ``systems.Settings``, or the manifest of a kept
run. Texts are tokenised, one segment per line. RUN gets, for each system, its translations in the
three forms of ``score.py``, the epochs of each model, the scores of all hypotheses, the manifest
and the table; ``RUN/private`` gets what must not be published: the test set, attention with its
tokens, parameters and the word aligner. Two runs on one machine are equal to the bit.

COVPENALTY is applied in the beam, with the pair of weights that gives the best BLEU on the first
validation sentences (``tune_on``); "…, rescoring" chooses from the lists of a beam without it.

``--decode-after 5 9 13`` translates instead with the parameters that a model had after these
epochs, as decoded and with the α that gives the best BLEU on the validation text; ``--test`` may be
repeated, and segments are numbered through. ``SYSTEM.by_epoch.csv.gz`` has these translations.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from corpus import Bitext, Bounds, Minibatch, PieceText, make_minibatches
from model import ADDED, FertilityPredictor, Translator, translation_loss
from rescore import GRID, Candidates, best, search
from score import BLEU_OF_PAPER, at_equal_length, file_hash, score_run, write_lines
from search import Penalties, Translation, attention_maps, best_texts, translate
from systems import TABLES, Settings, System, find_systems
from torch import nn

from coverage_eval.align.aligner import Aligner
from coverage_eval.attention import coverage_penalty
from coverage_eval.attention.fertility import actual, constant, guided
from coverage_eval.attention_maps import save
from coverage_eval.core.progress import progress_bar, track
from coverage_eval.core.texts import read_parallel

_DECODED = 32  # sentences decoded at once
COLUMNS = ("system", "segment", "rank", "log_probability", "pieces", "coverage_penalty")


@dataclass
class Run:
    """A run in its folder: everything is made when it is first needed, and once."""

    folder: Path
    settings: Settings
    texts: dict[str, list[tuple[str, str]]]
    device: str = "cpu"
    decode_after: Sequence[int] = ()
    records: dict[str, Any] = field(default_factory=dict)
    decoded: dict[str, list[list[Translation]]] = field(default_factory=dict)
    trained: dict[str, Translator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "private").mkdir(parents=True)

    @cached_property
    def lines(self) -> dict[str, list[tuple[str, ...]]]:
        """The three parts of the corpora."""
        return {
            part: [line for paths in pairs for line in read_parallel(*paths)]
            for part, pairs in self.texts.items()
        }

    @cached_property
    def bitext(self) -> Bitext:
        """The corpora in pieces; the word aligner and the test set are written beside."""
        train, valid = ([(s, t) for s, t in self.lines[part]] for part in ("train", "valid"))
        sources, references = zip(*self.lines["test"])
        settings = self.settings
        bitext = Bitext.prepare(train, valid, sources, settings.merges, settings.max_length)
        private = self.folder / "private"
        Aligner.train_pairs(train).save(private / "words.model")
        write_lines(private / "test.src", sources)
        write_lines(private / "test.ref", references)
        parts = {
            "byte pairs": str(bitext.pairs),
            "source vocabulary": "\n".join(bitext.source.pieces),
            "target vocabulary": "\n".join(bitext.target.pieces),
        }
        self.records["corpora"] = {
            "training pairs": len(bitext.train.sources),
            "source vocabulary": len(bitext.source),
            "target vocabulary": len(bitext.target),
            "sha256": {name: sha256(text.encode()).hexdigest() for name, text in parts.items()},
        }
        return bitext

    @cached_property
    def predicted(self) -> dict[str, Bounds]:
        """PREDICTED fertilities of validation and test text, without sinks."""
        torch.manual_seed(self.settings.seed)
        model = FertilityPredictor(self.settings, len(self.bitext.source)).to(self.device)
        self.train(model, model.objective, "fertility-predictor", "actual")
        parts = {"valid": self.bitext.valid, "test": self.bitext.test}
        return {part: model.predict(self.batches(text)) for part, text in parts.items()}

    def bounds(self, part: str, fertility: str | float | None) -> Bounds | None:
        """Upper bounds of a part's sources, +inf for each source's sink.

        In the training text, PREDICTED means ACTUAL.
        """
        text: PieceText = getattr(self.bitext, part)
        words = [source[:-1] for source in text.sources]
        if fertility is None:
            return None
        if not isinstance(fertility, str):
            rows = [constant(len(source), fertility) for source in words]
        elif fertility == "guided":
            train = self.bitext.train
            table = guided(zip(train.sources, train.links, strict=True))
            rows = [table.fertilities(source) for source in words]
        elif fertility == "predicted" and part != "train":
            rows = [row + ADDED for row in self.predicted[part]]
        else:
            pairs = zip(words, text.links, strict=True)
            rows = [actual(links, len(source)) + ADDED for source, links in pairs]
        return [np.append(row, np.inf) for row in rows]

    def batches(
        self, text: PieceText, bounds: Bounds | None = None, size: int | None = None
    ) -> list[Minibatch]:
        """The text as tensors."""
        size = size or self.settings.batch
        return make_minibatches(text, self.bitext.source, self.bitext.target, bounds, size=size)

    def model(self, system: System) -> Translator:
        """The trained model of a system."""
        if system.model not in self.trained:
            torch.manual_seed(self.settings.seed)
            sizes = len(self.bitext.source), len(self.bitext.target)
            model = Translator(self.settings, system, *sizes).to(self.device)
            self.train(model, partial(translation_loss, model), system.model, system.fertility)
            torch.save(model.state_dict(), self.folder / "private" / f"{system.model}.pt")
            self.trained[system.model] = model
        return self.trained[system.model]

    def train(
        self,
        model: nn.Module,
        objective: Callable[[Minibatch], tuple[torch.Tensor, int]],
        name: str,
        fertility: str | float | None,
    ) -> None:
        """SGD with a halving rate and early stopping; the model gets the best epoch's parameters.

        Seed and epoch determine the order of batches; seed, epoch and batch their dropout.
        """
        settings, seed = self.settings, self.settings.seed
        parts = ((self.bitext.train, "train"), (self.bitext.valid, "valid"))
        batches, valid = (self.batches(text, self.bounds(p, fertility)) for text, p in parts)
        rate, halving, epochs, kept = settings.rate, False, [], {}
        for epoch in range(1, settings.epochs + 1):
            started = time.monotonic()
            optimizer = torch.optim.SGD(model.parameters(), lr=rate)
            order = np.random.default_rng([seed, epoch]).permutation(len(batches))
            model.train()
            total, words = 0.0, 0
            with progress_bar(f"{name}: epoch {epoch}") as progress:
                for number in track(range(len(batches)), progress, len(batches)):
                    (random_seed,) = np.random.SeedSequence([seed, epoch, number]).generate_state(
                        1, np.uint64
                    )
                    torch.manual_seed(int(random_seed) >> 1)  # torch wants 63 bits
                    batch = batches[order[number]].to(torch.device(self.device))
                    loss, count = objective(batch)
                    optimizer.zero_grad(set_to_none=True)
                    (loss / len(batch.rows)).backward()
                    nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
                    optimizer.step()
                    total, words = total + loss.item(), words + count
            perplexity = self.perplexity(model, objective, valid)
            if not (math.isfinite(total) and math.isfinite(perplexity)):
                raise SystemExit(f"{name}: the loss of epoch {epoch} is not finite; lower the rate")
            before = epochs[-1]["valid_perplexity"] if epochs else math.inf
            epochs.append({
                "epoch": epoch, "rate": rate, "train_perplexity": _exp(total / words),
                "valid_perplexity": perplexity, "words": words,
            })  # fmt: skip
            seconds = time.monotonic() - started
            print(f"{name}: {json.dumps(epochs[-1])}, {seconds:.0f} s", file=sys.stderr)
            write_lines(self.folder / f"{name}.epochs.jsonl", map(json.dumps, epochs))
            halving |= perplexity > before or epoch >= settings.halve_from
            rate = rate / 2 if halving else rate
            best_epoch = min(epochs, key=lambda record: float(record["valid_perplexity"]))["epoch"]
            if best_epoch == epoch:
                kept = {key: value.clone() for key, value in model.state_dict().items()}
            if epoch in self.decode_after:
                torch.save(model.state_dict(), self.parameters(name, epoch))
            if epoch - best_epoch >= settings.patience:
                break
        model.load_state_dict(kept)
        model.eval()
        found = {"epochs": len(epochs), "best epoch": best_epoch}
        self.records[name] = {
            **found,
            "valid perplexity": epochs[best_epoch - 1]["valid_perplexity"],
        }

    def parameters(self, name: str, epoch: int) -> Path:
        """The file of the parameters that a model had after an epoch."""
        return self.folder / "private" / f"{name}.epoch{epoch}.pt"

    @torch.no_grad()
    def perplexity(
        self, model: nn.Module, objective: Callable[..., Any], batches: Iterable[Minibatch]
    ) -> float:
        """Of a text under a model, per word."""
        model.eval()
        found = [objective(batch.to(torch.device(self.device))) for batch in batches]
        return _exp(sum(loss.item() for loss, _ in found) / sum(words for _, words in found))

    def translate(
        self,
        system: System,
        part: str,
        first: int | None = None,
        penalties: Penalties | None = None,
    ) -> list[list[Translation]]:
        """The n-best lists of a part of the corpora."""
        model, bounds = self.model(system), self.bounds(part, system.fertility)
        text: PieceText = getattr(self.bitext, part).first(first)
        batches = self.batches(text, bounds, _DECODED)
        return translate(
            model, text, batches, self.bitext.target, beam=self.settings.beam, penalties=penalties,
            label=f"{system.name}: {part}",
        )  # fmt: skip

    def make(self, system: System) -> None:
        """Train, decode, and write a system's translations."""
        penalties = self.tune(system) if system.penalized else Penalties()
        lists = self.decoded[system.file] = self.translate(system, "test", penalties=penalties)
        candidates = candidates_of(lists)
        references = [reference for _, reference in self.lines["test"]]
        forms = {
            "test": best_texts(lists),
            "test.normalized": candidates.choose(1.0, penalties.beta),
            "test.equal": at_equal_length(candidates, penalties.beta, references),
        }
        for form, texts in forms.items():
            write_lines(self.folder / f"{system.file}.{form}.hyp.gz", texts)
        maps = attention_maps(self.bitext.test, lists)
        save(maps, self.folder / "private" / f"{system.file}.attention.npz")

    def make_by_epoch(self, system: System) -> None:
        """Train, and translate with the parameters of the chosen epochs."""
        model, rows = self.model(system), []
        references = [reference for _, reference in self.lines["valid"]]
        for epoch in self.decode_after:
            model.load_state_dict(torch.load(self.parameters(system.model, epoch)))
            valid, test = (candidates_of(self.translate(system, p)) for p in ("valid", "test"))
            grid = [
                [
                    alpha,
                    0.0,
                    float(BLEU_OF_PAPER.corpus_score(valid.choose(alpha, 0.0), [references])),
                ]
                for alpha in GRID
            ]
            alpha, _, bleu = best(grid)
            note = {"alpha": alpha, "valid BLEU": bleu, "grid": grid}
            self.records[f"{system.file}, epoch {epoch}"] = note
            forms = zip(test.choose(0.0, 0.0), test.choose(alpha, 0.0), strict=True)
            rows += [(segment, epoch, *texts) for segment, texts in enumerate(forms, 1)]
        columns = ["segment", "epoch", "as decoded", "with α from validation"]
        table = pd.DataFrame(sorted(rows), columns=columns)
        packing = {"method": "gzip", "mtime": 0}
        table.to_csv(
            self.folder / f"{system.file}.by_epoch.csv.gz", index=False, compression=packing
        )

    def tune(self, system: System) -> Penalties:
        """Choose α and β for the beam, and for rescoring the lists of a beam without penalties."""
        plain = replace(system, penalized=False)
        if plain.file not in self.decoded:
            self.make(plain)
        references = [target for _, target in self.lines["valid"]]
        grid = search(candidates_of(self.translate(plain, "valid")), references, BLEU_OF_PAPER)
        alpha, beta, bleu = best(grid)
        rescored = candidates_of(self.decoded[plain.file]).choose(alpha, beta)
        write_lines(self.folder / f"{system.file}.test.rescored.hyp.gz", rescored)
        note = {"alpha": alpha, "beta": beta, "valid BLEU": bleu, "grid": grid}
        self.records[f"{system.file}, rescoring"] = note
        first, grid, texts = self.settings.tune_on, [], {}
        for alpha, beta in product(GRID, GRID):
            lists = self.translate(plain, "valid", first, Penalties(alpha, beta))
            texts[alpha, beta] = best_texts(lists)
            bleu = float(BLEU_OF_PAPER.corpus_score(texts[alpha, beta], [references[:first]]))
            grid.append([alpha, beta, bleu])
        alpha, beta, bleu = best(grid)
        write_lines(self.folder / f"{system.file}.valid.hyp.gz", texts[alpha, beta])
        note = {"alpha": alpha, "beta": beta, "valid BLEU": bleu, "grid": grid}
        self.records[system.file] = note
        return Penalties(alpha, beta)

    def write_scores(self) -> None:
        """Write the scores of all hypotheses."""
        names = {system.file: system.name for table in TABLES.values() for system in table[::-1]}
        names |= {system.file: system.name for system in TABLES["table1"]}
        path = self.folder / "nbest_scores.csv.gz"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            rows = [",".join(COLUMNS)]
            for file, lists in self.decoded.items():
                for segment, translations in enumerate(lists, 1):
                    for rank, item in enumerate(translations, 1):
                        log, penalty = item.hypothesis.log_probability, _coverage_penalty(item)
                        figures = segment, rank, f"{log:.4f}", len(item.pieces), f"{penalty:.4f}"
                        rows.append(",".join(map(str, (names[file], *figures))))
            packed.write("".join(f"{row}\n" for row in rows).encode())

    def write_manifest(self) -> None:
        """Write the settings, the corpora, what was made and the machine."""
        manifest = {
            "settings": asdict(self.settings),
            "corpora": {
                part: [{"file": Path(p).name, "sha256": file_hash(p)} for ps in pairs for p in ps]
                for part, pairs in self.texts.items()
            },
            "made": self.records,
            "machine": {
                "processor": platform.processor() or platform.machine(),
                "kernels": torch.backends.cpu.get_cpu_capability(),
                "threads": torch.get_num_threads(),
                "device": self.device,
                **{name: version(name) for name in ("coverage-eval", "torch", "tokenizers")},
            },
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        (self.folder / "manifest.json").write_text(f"{text}\n", encoding="utf-8")


def _exp(mean: float) -> float:
    return math.exp(mean) if mean < 700 else math.inf


def _coverage_penalty(item: Translation) -> float:
    received = item.hypothesis.attention[:, :-1].sum(axis=0, dtype=np.float64)
    return float(coverage_penalty(received.round(6)))


def candidates_of(lists: Sequence[Sequence[Translation]]) -> Candidates:
    """N-best lists with their penalties."""
    items = [item for translations in lists for item in translations]
    return Candidates(
        best_texts([item] for item in items),
        np.cumsum([0, *map(len, lists[:-1])]),
        np.array([round(item.hypothesis.log_probability, 6) for item in items]),
        np.array([len(item.pieces) for item in items]),
        np.array([_coverage_penalty(item) for item in items]),
    )


def main() -> None:
    """Make a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for part in ("train", "valid", "test"):
        parser.add_argument(
            f"--{part}", nargs=2, required=True, action="append", metavar=("SOURCE", "TARGET")
        )
    parser.add_argument("--settings", type=Path, help="JSON file; default: the paper's")
    parser.add_argument("--seed", type=int, help="instead of the settings'")
    parser.add_argument("--table", default="table1", choices=TABLES)
    parser.add_argument("--system", action="append", default=[], help="only this row; repeatable")
    parser.add_argument("--decode-after", type=int, nargs="+", default=[], metavar="EPOCH")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a new folder")
    arguments = parser.parse_args()
    settings = Settings.read(arguments.settings) if arguments.settings else Settings()
    if arguments.seed is not None:
        settings = replace(settings, seed=arguments.seed)
    if arguments.output.exists():
        parser.error(f"{arguments.output} exists; name a new folder")
    texts = {part: getattr(arguments, part) for part in ("train", "valid", "test")}
    run = Run(arguments.output, settings, texts, arguments.device, arguments.decode_after)
    for system in find_systems(arguments.table, arguments.system):
        if run.decode_after:
            run.make_by_epoch(system)
        elif system.file not in run.decoded:
            run.make(system)
    run.write_manifest()
    if not run.decode_after:
        run.write_scores()
        print(score_run(arguments.output, arguments.table))


if __name__ == "__main__":
    main()
