"""Writing files: complete or not at all; only regular files are replaced."""

from __future__ import annotations

import stat

import pytest

from coverage_eval.core.errors import DataError
from coverage_eval.core.writing import atomic_path, atomic_write


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "score"
    target.write_text("old")

    def fail() -> None:
        with atomic_write(target) as file:
            file.write("half of the ")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_symbolic_link_is_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for text in ("new", "newer"):
        with atomic_write(link) as file:
            file.write(text)
        assert link.is_symlink()
        assert target.read_text() == text


def test_messages_name_the_file_as_it_was_given(tmp_path):
    with pytest.raises(DataError, match="is a folder"), atomic_write(tmp_path):
        pass
    missing = tmp_path / "missing" / "score"
    with pytest.raises(DataError, match=f"{missing}: cannot be written"), atomic_write(missing):
        pass


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_are_kept(tmp_path, mode):
    target = tmp_path / "score"
    target.write_text("old")
    target.chmod(mode)
    with atomic_path(target) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) & ~mode & 0o077 == 0
        temporary.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert target.read_text() == "new"
