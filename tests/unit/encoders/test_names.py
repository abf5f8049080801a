"""The second pass: what is told where its model is missing or another one, and what it makes of what that finds."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from memquorum.core.privacy import masking
from memquorum.encoders import EncoderUnavailable, names


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "names_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "def load(disable):\n"
        "    from types import SimpleNamespace as N\n"
        "    def read(text):\n"
        "        found = []\n"
        "        for label, word in (('PERSON', 'Ada'), ('GPE', 'Berlin'), ('DATE', 'today'), ('PERSON', '[name]')):\n"
        "            at = text.find(word)\n"
        "            if at >= 0:\n"
        "                found.append(N(label_=label, start_char=at, end_char=at + len(word), text=word))\n"
        "        return N(ents=found)\n"
        "    return read\n"
    )
    (folder / "weights").write_bytes(b"1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "spacy", types.ModuleType("spacy"))
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    return folder.name


def test_without_the_extra_it_says_what_to_do() -> None:
    with pytest.raises(EncoderUnavailable, match=r'pip install "memquorum\[ner\]"'):
        names.load("there_is_no_such_package")


def test_another_model_under_the_name_is_refused(package: str, tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="another model"):
        names.load(package)
    before = names.digest_of(tmp_path / package)
    (tmp_path / package / "weights").write_bytes(b"2")
    assert names.digest_of(tmp_path / package) != before


def test_names_and_places_are_masked_beside_what_patterns_find(package: str, tmp_path: Path) -> None:
    second = names.load(package, names.digest_of(tmp_path / package))
    assert masking.masked("Ada is in Berlin today, at +49 30 1234567.", second) == (
        "[name] is in [place] today, at [phone]."
    )
    assert masking.masked("[name] is in [place] today", second) == "[name] is in [place] today"
