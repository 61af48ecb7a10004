"""Marks that are no words: any name in their brackets, beside real text that has such brackets."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.core.batches import Row
from coverage_eval.core.forms import conversion_command
from coverage_eval.outputs.output_errors import OutputErrorFinder
from coverage_eval.outputs.special_tokens import (
    find_special_token,
    stripping_command,
    without_special_tokens,
)

NAMES = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True)
KNOWN = st.sampled_from(["s", "bos", "eos", "pad", "unk", "mask", "sep", "cls", "EOS", "PAD"])

TOKENS = st.one_of(
    NAMES.map("<|{}|>".format),
    NAMES.map("<｜{}｜>".format),
    NAMES.map(" <{}>".format),
    NAMES.map("</{}>".format),
    KNOWN.map("<{}>".format),
    KNOWN.map("[{}]".format),
    st.integers(0, 99).map("<extra_id_{}>".format),
    st.sampled_from(["[INST]", "[/INST]", "<<SYS>>", "<0x0A>", "<2de>", " eng_Latn", " __de__"]),
    st.sampled_from(["[en_XX]", " en_XX", " [eng_Latn]", " pt_BR"]),
    st.sampled_from([" UNK", " @UNK@", " _UNK", " $UNK$"]),
)
"""What tokenisers and chat templates are full of."""

THOUGHTS = st.sampled_from(
    [
        "<think>{}</think>",
        "<thinking>{}</thinking>",
        "[THINK]{}[/THINK]",
        "◁think▷{}◁/think▷",
        "{}</think>",
    ]
)

TEXT = "the old dog sleeps in the garden ."


def kinds(output: str, source: str = "der alte hund schläft im garten .") -> list[str]:
    row = Row((output,), (), source)
    (errors,) = OutputErrorFinder.learn([row]).find_row(row)
    return [error.kind for error in errors]


@given(TOKENS, st.integers(1, 7))
@settings(max_examples=200)
def test_any_special_token_is_found_and_stripped(token, place):
    words = TEXT.split()
    text = f"{' '.join(words[:place])}{token} {' '.join(words[place:])}"
    assert find_special_token(text) == token.strip()
    assert without_special_tokens(text).split() == words
    assert kinds(text) == ["special-token"]
    assert not find_special_token(text, [f"a source with {token.strip()}"])


@pytest.mark.parametrize("tag", [">>eng<<", ">>en_GB<<", "[2en]", "[to_en]", "[en_XX]", "zh_CN"])
def test_the_tag_of_a_language_at_the_start_is_a_mark_in_all_outputs(tag):
    verbs = ["sleeps", "eats", "runs", "sits", "reads", "sings", "plays", "works", "walks"]
    rows = [
        Row((f"{tag} the {noun} {verb} today .",), (), f"heute {verb}n die {noun}s .")
        for noun in ("dog", "man", "child")
        for verb in verbs
    ]
    finder = OutputErrorFinder.learn(rows)
    assert {e.kind for row in rows for e in finder.find_row(row)[0]} == {"special-token"}


@given(THOUGHTS)
def test_what_a_model_reasoned_is_no_part_of_the_output(block):
    thought = "der alte hund schläft im garten . is the source , so I say"
    assert without_special_tokens(f"{block.format(thought)} {TEXT}") == TEXT
    assert kinds(f"{block.format(thought)} {TEXT}") == ["special-token"]


@pytest.mark.parametrize("start", ["<think>", "<reasoning>", "[THINK]"])
def test_a_block_that_is_not_closed_leaves_nothing(start):
    assert without_special_tokens(f"{start} {TEXT} let me") == ""
    assert kinds(f"{start} {TEXT} let me") == ["empty", "special-token"]


@given(st.lists(st.one_of(TOKENS, st.just("<think> so it is </think> ")), min_size=1, max_size=4))
@settings(max_examples=20)
def test_the_line_of_a_shell_strips_what_was_found(tmp_path_factory, tokens):
    lines = [f"{token}{TEXT}" if "think" in token else f"the dog{token} sleeps" for token in tokens]
    file = tmp_path_factory.mktemp("strip") / "out put.txt"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    line = conversion_command(stripping_command(map(find_special_token, lines)), file)
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    stripped = done.stdout.decode().split("\n")[:-1]
    assert [text.split() for text in stripped] == [
        without_special_tokens(text).split() for text in lines
    ]


@pytest.mark.parametrize(
    "text",
    ["3 < 4 and 5 > 4", "a <- b -> c", "i <3 you", "see [1] and [12, p. 3]", ">>Hallo<<, sagt er",
     "« Bonjour », dit-il", "vector<int> x", "[sic] he said", "[UPDATE] it is over",
     "<john@example.org>", "<https://example.org>", "snake_case and __init__", "x << 2 >> y",
     "a|b|c", "[NASA] said", "what?? no!!"],
)  # fmt: skip
def test_real_text_has_none(text):
    assert find_special_token(text) == ""
    assert without_special_tokens(text) == text
