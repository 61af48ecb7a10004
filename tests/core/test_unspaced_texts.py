"""Scripts without spaces: one tokeniser for every metric of words, and no figure without one."""

from __future__ import annotations

import json
import warnings

import pytest
import sacrebleu

import coverage_eval as ce
from coverage_eval.align.aligner import Aligner
from coverage_eval.core.batches import RowSample
from coverage_eval.core.errors import CorpusWarning
from coverage_eval.quality.meteor.words import check_english
from tests.rows import make_text_rows

CHINESE = ["这家公司忘记了一张地图和一本很大的书。", "他们在公园里买了红色的帽子，然后回家去了！"]
OTHER = ["这家公司忘记了一张地图和两本很大的书。", "他们在学校旁边买了红色的帽子，然后回家了！"]
JAPANESE = ["猫は家で寝ているので、私たちは静かに本を読むことにしました。"]
THAI = ["แมวนอนหลับอยู่ในบ้านเพราะฉะนั้นเราจึงอ่านหนังสือเงียบๆ"]
KHMER = ["ឆ្មាកំពុងដេកនៅក្នុងផ្ទះដូច្នេះយើងអានសៀវភៅដោយស្ងៀមស្ងាត់"]
SUBTITLES = ["今天天气很好。", "我喜欢你。", "好的。"] * 9
SCORES = {
    "bleu": ce.bleu, "ter": ce.ter, "rep": ce.rep, "letters": ce.letter_rep, "meteor": ce.meteor,
}  # fmt: skip


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize(
    ("text", "advice"),
    [(CHINESE, "--tokenize zh;"), (JAPANESE, "--tokenize ja-mecab or char;")]
    + [(text, "--tokenize char;") for text in (THAI, KHMER, [*THAI, "", "a"])]
    + [
        (SUBTITLES, "--tokenize zh;"),
        (["今日はいいね。", "うん、そうだね。"] * 9, "--tokenize ja"),
    ],
)
@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
def test_text_that_is_not_split_has_no_score_but_a_line_to_type(metric, text, advice):
    advice = "METEOR is for English: use BLEU" if metric == "meteor" else f"words.*add {advice}"
    with pytest.raises(ce.DataError, match=f"letters per token.*[;:] {advice}"):
        SCORES[metric](text, text)


@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
@pytest.mark.parametrize(
    "text",
    [
        [" ".join(text) for text in CHINESE],  # split into letters
        [
            "中华人民共和国 的 主席 今天 在 北京 会见 了 外国 客人 。",
            "プログラミング は 楽しい です",
        ]
        * 9,
        ["他们买了帽子"],  # too short to tell
        ["Tōkyō (東京都千代田区) is a city , and 北海道 is an island"],
        ["고양이가 집에서 자고 있어서 우리는 조용히 책을 읽기로 했습니다 ."],
    ],
)
def test_text_that_is_split_or_too_short_to_tell_has_a_score(text):
    assert float(ce.bleu(text, text)) >= 0
    assert float(ce.rep(text, text)) == 0


@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
@pytest.mark.parametrize("name", ["zh", "char", "13a", "intl"])
def test_one_tokeniser_reaches_every_metric_that_splits_text(name):
    texts = [*CHINESE, "the cat , sat on the mat."], [*OTHER, "the cat, sat on a mat ."]
    if name in {"13a", "intl"}:
        texts = tuple(text[2:] for text in texts)
    comparison = ce.compare(
        {"a": texts[0]}, texts[1], metrics=["bleu", "ter", "rep"], tokenize=name, resamples=0
    )
    cells = comparison.rows["a"]
    bleu = sacrebleu.corpus_bleu(*(texts[0], [texts[1]]), tokenize=name, force=True)
    assert float(cells["bleu"].score) == pytest.approx(bleu.score)
    assert f"|tok:{name}|" in str(cells["rep"].score.signature)
    assert f"|tok:{name}+tercom|" in str(cells["ter"].score.signature)
    splits = sacrebleu.BLEU(tokenize=name).tokenizer
    split = [list(map(splits, text)) for text in texts]
    expected = sacrebleu.corpus_ter(split[0], [split[1]]).score
    assert float(cells["ter"].score) == pytest.approx(expected)
    assert float(ce.ter(*texts, tokenize=name)) == pytest.approx(expected)


@pytest.mark.parametrize("metrics", ["bleu,ter,rep,meteor,seq-rep-4", "bleu,chrf", None])
def test_tables_have_dashes_and_json_null(tmp_path, monkeypatch, run_cli, metrics):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r").write_text("\n".join(CHINESE), encoding="utf-8")
    (tmp_path / "a").write_text("\n".join(OTHER), encoding="utf-8")
    asked = ["compare", "-r", "r", "r", "a", *(["-m", metrics] if metrics else [])]
    done = run_cli(*asked)
    assert any("–" in line.split() for line in done.stdout.splitlines())
    assert "add --tokenize zh" in done.stderr
    scores = json.loads(run_cli(*asked, "-f", "json").stdout)["scores"]
    assert {score["metric"] for score in scores if score["score"] is not None} <= {"chrF2"}
    assert "BLEU" in {score["metric"] for score in scores}
    report = run_cli("report", *asked[1:], "-o", "r.html", check=metrics == "bleu,chrf")
    assert "add --tokenize zh" in report.stderr
    assert " = " not in (failed := run_cli("bleu", "a", "r", check=False)).stdout
    assert (failed.returncode, "add --tokenize zh" in failed.stderr) == (1, True)
    assert " = " in run_cli("bleu", "a", "r", "--tokenize", "zh").stdout


@pytest.mark.parametrize("text", [CHINESE, [" ".join(text) for text in OTHER], JAPANESE, THAI])
def test_meteor_is_not_for_scripts_without_spaces(text):
    sample = RowSample(make_text_rows(text, text), ["h"], ["the reference"])
    (finding,) = check_english(sample)
    assert "METEOR is for English" in finding.message
    assert not check_english(RowSample(make_text_rows(["a cat"], ["a cat"]), ["h"], ["r"]))


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_a_source_whose_words_are_linked_is_to_be_split(language):
    source = {"zh": "".join(CHINESE), "ja": JAPANESE[0]}[language]
    hypothesis, links = "the cat sleeps at home", [[(0, 0)]]
    aligner = Aligner.from_links(links, links)
    with pytest.warns(CorpusWarning, match="letters per token.* --src-tokenize"):
        ce.drop([hypothesis], [hypothesis], [source], aligner)
    with warnings.catch_warnings():  # a metric of the outputs alone does not count its words
        warnings.filterwarnings("error", message=".*letters per token")
        ce.compare({"a": [hypothesis]}, [hypothesis], [source], metrics=["rep"])
