"""Texts for the tests of METEOR, and their statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from coverage_eval.core.batches import ONE_SYSTEM, Batch, Row, RowSample
from coverage_eval.core.metric import Metric, Statistics
from coverage_eval.core.texts import numbered


def count(metric: Metric, segments: Iterable[Sequence[Any]]) -> Statistics:
    """Statistics ``[segments, k]`` of tuples of a hypothesis and its references."""
    rows = [Row((hypothesis,), tuple(references)) for hypothesis, *references in segments]
    references = numbered("reference", rows[0].references if rows else ())
    fitted = metric.fit(RowSample(rows, [ONE_SYSTEM], references))
    return fitted.count(Batch(rows))[0]


ENGLISH = [
    "The old woman next door keeps three cats and a parrot .",
    "When the rain stopped , we walked down to the harbour to look at the boats .",
    "He had never seen so many people on the square before .",
    "I do not know whether the shop is open on Sundays .",
    "Her brother said that he would call us as soon as the train arrived .",
    "They built a small house at the edge of the forest , far from the road .",
]

GERMAN = [
    "Die alte Frau von nebenan hat drei Katzen und einen Papagei .",
    "Als der Regen aufhörte , gingen wir zum Hafen hinunter , um die Boote anzusehen .",
    "Er hatte noch nie so viele Menschen auf dem Platz gesehen .",
    "Ich weiß nicht , ob der Laden sonntags geöffnet ist .",
    "Ihr Bruder sagte , dass er uns anrufen würde , sobald der Zug angekommen sei .",
    "Sie bauten ein kleines Haus am Rand des Waldes , weit weg von der Straße .",
]

DANISH = [
    "Den gamle kone ved siden af har tre katte og en papegøje .",
    "Da regnen holdt op , gik vi ned til havnen for at se på bådene .",
    "Han havde aldrig før set så mange mennesker på pladsen .",
    "Jeg ved ikke , om butikken har åbent om søndagen .",
    "Hendes bror sagde , at han ville ringe til os , så snart toget var kommet .",
    "De byggede et lille hus i udkanten af skoven , langt fra vejen .",
]

JAPANESE = [
    "隣 の おばあさん は 猫 を 三 匹 と おうむ を 一 羽 飼 っ て い る 。",
    "雨 が や ん だ の で 、 私 たち は 船 を 見 に 港 へ 下り て 行 っ た 。",
    "彼 は 広場 に これ ほど 多く の 人 が い る の を 見 た こと が な かっ た 。",
    "その 店 が 日曜 に 開 い て い る か どう か 知 ら な い 。",
]
