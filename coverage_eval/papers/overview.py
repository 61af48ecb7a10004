"""Every table, figure, equation and footnote of both papers: its command, and how far it is shown.

The state of what an audit checks is the verdicts of the audit, so it cannot be out of date.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from coverage_eval.papers.audits import AUDITS, run_audits
from coverage_eval.papers.claims import Audit, Claim
from coverage_eval.tables.table import Printable, Table

NMT, SPARSEMAX = "Malaviya et al. (2018)", "Madsen et al. (2017)"


@dataclass(frozen=True)
class Item:
    """A part of a paper.

    Attributes:
        paper: :data:`NMT` or :data:`SPARSEMAX`.
        part: Its number, such as ``eq. 4``.
        content: What it says, in a few words.
        command: The command that shows it, without ``coverage-eval``; or the script of the
            repository, which begins with ``python``; empty if there is nothing to compute.
        place: For an audit, what its claims or their places say; all its claims if empty.
        state: How far it is shown, where no audit decides.
    """

    paper: str
    part: str
    content: str
    command: str
    place: str = ""
    state: str = ""

    @property
    def audit(self) -> str | None:
        """The audit whose verdicts are its state; None if there is none."""
        found = self.command.removeprefix("audit ")
        return found if found in AUDITS else None

    def claims(self, audit: Audit) -> list[Claim]:
        """The claims of its audit that are about it."""
        return [claim for claim in audit.claims if self.place in f" {claim.text} ({claim.place})"]


_RUNS = "eight seeds of one corpus are kept: one claim confirmed, two not decidable"
_LENGTH = "python notebooks/reproduction/timing/against_length.py"

ITEMS = (
    Item(NMT, "eq. 1, section 2", "the model: BiLSTM encoder, LSTM decoder",
         "audit run run", state="replayed in NumPy, equal to the trained models' outputs"),
    Item(NMT, "eq. 2, section 2", "softmax attention with bilinear scores", "audit scripts",
         " 19."),
    Item(NMT, "footnote 1", "code and scripts", "audit scripts"),
    Item(NMT, "footnote 2", "additive scores showed no improvement",
         "reproduce table1 --scoring additive -o run",
         state="three seeds of small trainings are kept; not decidable at this size"),
    Item(NMT, "section 3, softmax", "softmax gives all words attention, sparsemax does not",
         "audit attention", "forces all"),
    Item(NMT, "eq. 3", "sparsemax as a projection", "audit attention", "eq. 3"),
    Item(NMT, "eq. 4", "constrained softmax, closest in divergence", "audit attention", "eq. 4"),
    Item(NMT, "eq. 5", "credit: bounds are what is left of the fertility", "audit attention",
         "credit"),
    Item(NMT, "eq. 6", "constrained sparsemax", "audit proposition1", "normalization"),
    Item(NMT, "section 3, Proposition 1, cost", "sparsemax and csparsemax in O(J), csoftmax in "
         "O(J log J)", _LENGTH, state="seconds by J; cannot be told apart up to a million words"),
    Item(NMT, "Proposition 1, eqs. 7 and 8", "form, gradients, their cost", "audit proposition1"),
    Item(NMT, "Figure 1", "attention on the simplex in three rounds", "audit figure1"),
    Item(NMT, "Figure 1, drawn", "the simplex", "simplex -o figure1.pdf",
         state="drawn from the printed scores"),
    Item(NMT, "section 3", "two levels of sparsity", "audit attention", "two levels"),
    Item(NMT, "section 4", "CONSTANT, GUIDED, PREDICTED fertilities", "audit scripts", " 10."),
    Item(NMT, "footnote 3", "fertilities of Gu et al. (2018)", "",
         state="another system's; nothing to compute"),
    Item(NMT, "section 4, sink", "without it, a target is at most Σf long", "audit attention",
         "sink"),
    Item(NMT, "section 4, exhaustion", "scores z + c·u", "audit scripts", " 9."),
    Item(NMT, "section 5, corpora", "153,326 pairs of De-En, 329,882 of Ja-En, 560,767 of Ro-En",
         "", state="the authors' logs have 150,801 of De-En; nothing to compute"),
    Item(NMT, "section 5, time", "no noticeable slowdown",
         "python tests/bench/bench_nmt.py steps.csv",
         state="ratios to softmax with intervals; see the results"),
    Item(NMT, "footnote 4", "sizes of the model", "reproduce table1 --preset paper -o run",
         state="the settings are those; not trained, for want of a GPU"),
    Item(NMT, "footnote 5", "coverage penalty with ε", "audit scripts", " 13."),
    Item(NMT, "section 5, COVPENALTY", "36 pairs of weights, length and coverage", "audit scripts",
         " 15."),
    Item(NMT, "section 5, COVVECTOR", "coverage in the scores", "audit scripts", " 6."),
    Item(NMT, "footnote 6", "REP and DROP", "audit scripts", "section 5, page 374"),
    Item(NMT, "Table 1, as printed", "section 5's claims on the printed figures", "audit table1"),
    Item(NMT, "Table 1, trained", "eight systems", "reproduce table1 -o run", state=_RUNS),
    Item(NMT, "Table 2, as printed", "PREDICTED against the others", "audit table2"),
    Item(NMT, "Table 2, trained", "fertilities", "reproduce table2 --resume -o run",
         state="one seed is kept, which decides nothing"),
    Item(NMT, "Figure 2, as printed", "csparsemax fixed repetitions", "audit figure2"),
    Item(NMT, "Figure 2, drawn", "softmax attends repeatedly to the same portion, csparsemax does "
         "not", "reproduce figure2 run -o figure2.pdf",
         state="drawn from a run; what words receive: see the results"),
    Item(NMT, "Appendix A, eqs. 9 to 16", "Lagrangian, threshold, Jacobians", "audit appendix-a"),
    Item(NMT, "Appendix A, eqs. 17 to 22", "the canonical problem", "audit reduction"),
    Item(NMT, "Algorithm 1", "the solver by medians", "audit algorithm1"),
    Item(NMT, "Appendix B", "eight examples by four systems", "audit appendix-b"),
    Item(SPARSEMAX, "eqs. 1 to 3, Algorithms 1 and 2", "softmax and sparsemax",
         "audit report-equations", "Algorithm 2"),
    Item(SPARSEMAX, "eqs. 4 and 5", "product with the Jacobian", "audit report-equations", "eq. 5"),
    Item(SPARSEMAX, "eqs. 6 to 10", "loss and its gradient", "audit report-equations", "loss"),
    Item(SPARSEMAX, "section 2.1", "O(log K) with K processors", "audit report-statements",
         "processors"),
    Item(SPARSEMAX, "eq. 11, Table 1", "regression on five data sets, Jensen–Shannon divergence",
         "reproduce regression", state="Iris is bundled; the others from your copy"),
    Item(SPARSEMAX, "footnote 1", "kinds of labels", "reproduce regression",
         state="read from the files' own labels"),
    Item(SPARSEMAX, "Tables 2 to 4, as printed", "what section 3 says of them",
         "audit report-tables"),
    Item(SPARSEMAX, "Figure 1; Table 2, λ tuned", "Iris: better \"for all parameter choices\"",
         "reproduce regression --plot figure1.pdf",
         state="only by this command, on Iris: for all λ after 100 epochs, not at the minimum"),
    Item(SPARSEMAX, "Table 3", "test divergence and errors", "reproduce regression --splits 20",
         state="Iris: direction confirmed after 100 epochs, gone at the minimum"),
    Item(SPARSEMAX, "Table 4", "seconds of the losses", "reproduce timing",
         state="ratios on a CPU with intervals; see the results"),
    Item(SPARSEMAX, "footnotes 2 and 3", "code", "", state="nothing to compute"),
    Item(SPARSEMAX, "eq. 12, Figures 2 and 3", "attention from number words to digits",
         "reproduce digits -o digits --seeds 5", state="five seeds are kept; not decidable"),
    Item(SPARSEMAX, "section 4, indicator vectors", "attention to one word has no gradient",
         "audit report-statements", "indicator"),
    Item(SPARSEMAX, "section 4, regression", "the loss is convex: no such problem",
         "audit report-statements", "convex"),
    Item(SPARSEMAX, "section 4, stability", "stable, as there is no log(·)",
         "audit report-statements", "stable"),
    Item(SPARSEMAX, "section 4, sparsemax as output layer", "very similar results",
         "reproduce digits --output-layer sparsemax -o digits",
         state="three seeds of a smaller task are kept; see the results"),
    Item(SPARSEMAX, "section 4, size of the data", "may explain Iris",
         "reproduce regression --examples 30",
         state="on Iris and on a larger set like it; see the results"),
    Item(SPARSEMAX, "section 4.1, GPU", "odd–even sort in O(K)", "audit report-statements",
         "odd-even"),
    Item(SPARSEMAX, "section 4.1, CPU", "other solvers are much faster than sorting", _LENGTH,
         state="not confirmed in NumPy: medians are slower than one sort from 16,000 words on"),
    Item(SPARSEMAX, "slips", "section 3.1 says Table 1 for Table 2 and calls a learning rate λ; "
         "section 3.2 says Table 4.1 for Table 4 and lists five implementations as four; section "
         "3.3 says 1000 epochs for 1000 steps (100,000 examples in batches of 100); section 4.1 "
         "names a table without its number; the introduction computes usual attention by "
         "\"sparsemax\" for softmax; eq. 4 lacks a ∂", "",
         state="read; nothing to compute"),
)  # fmt: skip


def present_overview() -> Printable:
    """One row for each part of the papers; the state of an audit is its number of verdicts."""
    audits = run_audits(*dict.fromkeys(item.audit for item in ITEMS if item.audit))
    rows = []
    for item in ITEMS:
        state = item.state
        if item.audit:
            verdicts = Counter(claim.verdict.value for claim in item.claims(audits[item.audit]))
            state = ", ".join(f"{number} × {verdict}" for verdict, number in verdicts.items())
        rows.append((item.paper, item.part, item.content, item.command, state))
    notes = (
        "reproduce table1 and table2 also need the names of six texts; see their --help.",
        "The results are in notebooks/reproduction/README.md.",
    )
    header = ("paper", "part", "content", "command", "state")
    return Printable((Table(header, tuple(rows), notes=notes),))
