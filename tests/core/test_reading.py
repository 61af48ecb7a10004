"""Reading texts: what a line is, what a token is, tokenisers, and every message on bad input."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coverage_eval.core import files
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.packed import zstd
from coverage_eval.core.texts import read_parallel, read_segments
from coverage_eval.core.tokenizers import Tokenizer, find_tokens, tokenize
from coverage_eval.core.unsupported_files import identify_file

# All white space of Unicode and Python except space, tab and line feed.
OTHER_SPACES = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u202f\u2028\u2029\u3000\ufeff"


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


class TestSegments:
    @given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))))
    def test_written_lines_are_read_back(self, tmp_path_factory, lines):
        if lines and lines[0].startswith("\ufeff"):
            lines[0] = lines[0].lstrip("\ufeff")
        # Lines such as 'msgid ""' begin a file of another kind, which is refused by name.
        assume(not any(line.lstrip().startswith(("{", "[", "<")) for line in lines))
        path = tmp_path_factory.mktemp("text") / "a.txt"
        data = "".join(f"{line}\n" for line in lines).encode()
        assume(identify_file(data, path) is None)
        assert list(read_segments(write(path, data))) == lines
        packed = path.with_suffix(".gz")
        packed.write_bytes(gzip.compress(data))
        assert list(read_segments(packed)) == lines

    def test_only_newline_ends_a_line(self, tmp_path):
        text = f"a{OTHER_SPACES}b\nc\x00d"
        assert list(read_segments(write(tmp_path / "a", text.encode()))) == text.split("\n")

    @pytest.mark.parametrize(
        ("data", "segments"), [(b"", []), (b"\n", [""]), (b"a", ["a"]), (b"a\n\n", ["a", ""])]
    )
    def test_empty_lines_are_segments(self, tmp_path, data, segments):
        assert list(read_segments(write(tmp_path / "a", data))) == segments

    def test_byte_order_mark_is_removed_once(self, tmp_path):
        data = b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n"
        assert list(read_segments(write(tmp_path / "a", data))) == ["a", "\ufeffb"]

    def test_carriage_returns_are_stripped_with_one_warning(self, tmp_path):
        path = write(tmp_path / "dos.txt", b"a\nb\r\nc\r\nd\re\n")
        with pytest.warns(CorpusWarning) as caught:
            assert list(read_segments(path)) == ["a", "b", "c", "d\re"]
        (warning,) = caught
        assert str(warning.message).startswith(f"{path}: line 2 ends in a carriage return")
        assert warning.filename == __file__
        mac = write(tmp_path / "mac.txt", b"a\rb\r")
        with pytest.warns(CorpusWarning, match=r"line 1 has carriage returns inside; if they end"):
            assert list(read_segments(mac)) == ["a\rb"]

    def test_invalid_utf8_is_an_error_with_file_line_and_byte(self, tmp_path):
        path = write(tmp_path / "latin1.txt", "gut\ngrün\n".encode("latin-1"))
        expected = f"{path}: line 2: not valid UTF-8 (byte 0xfc)"
        with pytest.raises(DataError, match=re.escape(expected)):
            list(read_segments(path))

    def test_a_line_that_is_too_long_is_named(self, tmp_path, monkeypatch):
        path = write(tmp_path / "a", b"four\n" * 20_000 + b"x" * 200_001)
        monkeypatch.setattr(files, "MAX_LINE_BYTES", 200_000)
        with pytest.raises(DataError, match="a: line 20001 is longer than 200,000 bytes, so"):
            list(read_segments(path))
        path.write_bytes(path.read_bytes()[:-1])
        assert len(list(read_segments(path))) == 20_001

    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    def test_line_ends_without_end_are_no_text(self, tmp_path, monkeypatch, end):
        path = write(tmp_path / "a.gz", gzip.compress(b"a\n" + end * 5_000 + b"b\n" + end * 5_001))
        monkeypatch.setattr(files, "MAX_BLANK_LINES", 5_000)
        with pytest.raises(DataError, match="line 10003 is the last of 5,001 blank lines, so"):
            list(read_segments(path))

    def test_a_pipe_without_line_ends_does_not_fill_the_disk(self, monkeypatch):
        with pytest.raises(DataError, match="/dev/zero: line 1 is longer than 67,108,864 bytes"):
            list(read_segments("/dev/zero"))
        lines = b"four\n" * 20_000 + b"x" * 200_001
        monkeypatch.setattr(files, "MAX_LINE_BYTES", 200_000)
        for data, number in ((lines, 20_001), (lines[:-1], 0)):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            if number:
                with pytest.raises(DataError, match=f"standard input: line {number} is longer th"):
                    list(read_segments("-"))
            else:
                assert len(list(read_segments("-"))) == 20_001

    def test_missing_file(self, tmp_path):
        with pytest.raises(DataError, match=r"nowhere\.txt: no such file$"):
            list(read_segments(tmp_path / "nowhere.txt"))

    def test_folder(self, tmp_path):
        with pytest.raises(DataError, match="is a folder; name a text file"):
            list(read_segments(tmp_path))

    @pytest.mark.parametrize(
        ("name", "damage"),
        [("a.gz", b"not gzip\n"), ("a.gz", gzip.compress(b"a\n" * 99, mtime=0)[:-9]),
         ("a.zst", zstd.compress(b"a\n" * 99)[:-3])],
    )  # fmt: skip
    def test_damaged_files(self, tmp_path, name, damage):
        with pytest.raises(DataError, match=rf"{name}: damaged (gzip|zstd) file"):
            list(read_segments(write(tmp_path / name, damage)))

    def test_standard_input(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
        assert list(read_segments("-")) == ["a", "b"]


class TestParallel:
    @pytest.mark.parametrize(("first", "second"), [(2, 5), (5, 2), (0, 1), (3, 0)])
    def test_unequal_counts(self, tmp_path, first, second):
        one, two = write(tmp_path / "h", b"x\n" * first), write(tmp_path / "r", b"y\n" * second)
        expected = f"unequal numbers of lines: {one} has {first}, {two} has {second}; "
        with pytest.raises(DataError, match=re.escape(expected)):
            list(read_parallel(one, two))

    def test_of_many_files_only_those_that_differ_are_named(self, tmp_path):
        files = [write(tmp_path / f"{n}", b"x\n" * (5 - (n == 3))) for n in range(6)]
        expected = f"lines: {files[0]} has 5, {files[3]} has 4; line N of one file"
        with pytest.raises(DataError, match=re.escape(expected)):
            list(read_parallel(*files))

    @pytest.mark.parametrize("other", ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
    def test_two_names_of_standard_input(self, other):
        with pytest.raises(DataError, match=r"'-' \(standard input\) is named more than once"):
            list(read_parallel("-", other))


class TestTokens:
    @given(st.text(st.sampled_from("ab \t\xa0\u3000\u2028\x0b\r")))
    def test_tokens_agree_with_the_rule(self, text):
        assert tokenize(text) == re.findall(r"\S+", text)


TEXT = 'Die Häuser, d.h. 3.5 "alte" Häuser & 一所房子!'


@pytest.mark.parametrize(
    ("name", "where"),
    [("13a", "13a.Tokenizer13a"), ("intl", "intl.TokenizerV14International"),
     ("zh", "zh.TokenizerZh"), ("char", "char.TokenizerChar")],
)  # fmt: skip
def test_tokenizers_equal_sacrebleus(name, where):
    module, kind = where.split(".")
    theirs = getattr(import_module(f"sacrebleu.tokenizers.tokenizer_{module}"), kind)()
    assert list(Tokenizer(name)(TEXT)) == theirs(TEXT).split()
    assert Tokenizer(name)(TEXT.split()) == Tokenizer(name)(TEXT)
    assert list(Tokenizer(name, lowercase=True)(TEXT)) == theirs(TEXT.lower()).split()


def test_the_tokenizer_none_only_splits_and_lowercases():
    assert list(Tokenizer()("A  b.\tc")) == ["A", "b.", "c"]
    assert list(Tokenizer(lowercase=True)(["A b", "C"])) == ["a b", "c"]
    assert list(Tokenizer(stem=3)(["abcd", "ab"])) == ["abc", "ab"]
    assert Tokenizer(stem=3).settings == {"case": "mixed", "tok": "none", "stem": "3"}
    with pytest.raises(ValueError, match="stem is a number of letters, not -1"):
        Tokenizer(stem=-1)
    with pytest.raises(ValueError, match="unknown tokenizer 'x'; one of none, "):
        Tokenizer("x")
    assert Tokenizer().settings == {"case": "mixed", "tok": "none"}
    assert Tokenizer("zh", lowercase=True).settings == {"case": "lc", "tok": "zh"}


ODD_TEXT = st.lists(
    st.sampled_from([
        "a", "Haus.", "猫", "。", "3.5", "-", "&amp;", "&quot;", "&amp;lt;", "&eacute;",
        "<skipped>",
        "\u00e9", "e\u0301", "İ", "Σ", "ﬀ", "😀", "▁", "'s", " ", "  ", "\t", "\u3000", "\xa0",
    ]),
    max_size=15,
).map("".join)  # fmt: skip
"""Entities, accents, emoji, white space, and other text that tokenisers write otherwise."""


@given(ODD_TEXT, st.sampled_from(["none", "13a", "intl", "zh", "char"]), st.booleans())
def test_each_token_is_found_where_it_was_written(text, name, lowercase):
    for segment in (text, text.split(" ")):
        tokens = Tokenizer(name, lowercase)(segment)
        words = Tokenizer(name, lowercase, stem=2).locate(segment)
        assert words.text == text
        assert list(words.spans) == sorted(words.spans)
        for token, word, (start, end) in zip(tokens, words, words.spans, strict=True):
            assert (0 <= start <= end <= len(text), text[start:end]) == (True, word)
            read = word.lower() if lowercase else word
            if name == "13a":
                for old, new in (("<skipped>", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<")):
                    read = read.replace(old, new)
            read = read.replace("ς", "σ")  # whether it is final depends on what is around it
            if "İ" not in word:  # two letters in lower case, perhaps of two tokens
                assert read == token.replace("ς", "σ")


def test_tokens_that_are_written_otherwise_stand_for_what_is_between_their_neighbours():
    text = "e\u0301 ㎏ is a long word  ㎏"
    tokens = [
        "▁é",
        "▁k",
        "g",
        "▁is",
        "▁a",
        "▁long",
        "▁wo",
        "rd",
        "▁kg",
    ]  # SentencePiece, after NFKC
    found = [text[start:end] for start, end in find_tokens(text, tokens)]
    assert found == [*["e\u0301 ㎏"] * 3, "is", "a", "long", "wo", "rd", "㎏"]


def test_tokenizers_can_be_sent_to_processes():
    tokens = Tokenizer("13a")
    assert pickle.loads(pickle.dumps(tokens))(TEXT) == tokens(TEXT)
