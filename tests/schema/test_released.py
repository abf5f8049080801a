"""Files of a release stay unchanged, and are read as they were meant: journals, policies, migrations."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from infra.golden import GOLDEN, ROOT, SUMS, freeze
from memquorum.core import policy
from memquorum.core.avro import Codec
from memquorum.core.policy import Policy, PolicyError
from tests.builders import recorded
from tests.builders.published import kinds
from tests.builders.recorded import HISTORIES
from tests.schema.samples import CURRENT

RELEASED = sorted(GOLDEN.glob("*/*.avsc"))
JOURNALS = sorted(GOLDEN.glob("*/journals/*.json"))
FROZEN = sorted(GOLDEN.glob(f"*/{SUMS}"))


@pytest.fixture(scope="module")
def reader() -> Codec:
    """A codec that reads what every release wrote."""
    return Codec(CURRENT.values(), older=(json.loads(p.read_text()) for p in RELEASED))


def named(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", JOURNALS, ids=named)
def test_a_released_journal_is_still_found_sound(reader: Codec, path: Path) -> None:
    told = recorded.read(path.read_text())
    assert kinds(told.published(reader).audit(accepted=True, words=True)) == []


@pytest.mark.parametrize("path", JOURNALS, ids=named)
def test_a_released_journal_makes_the_rows_that_it_made(reader: Codec, path: Path) -> None:
    told = recorded.read(path.read_text())
    now = recorded.rows(told.published(reader))
    for table, before in told.rows.items():
        after = [{name: row[name] for name in old} for row, old in zip(now[table], before, strict=True)]
        assert after == before, table


def test_every_history_is_recorded() -> None:
    assert {path.stem for path in JOURNALS} == set(HISTORIES)


def test_a_setting_that_came_later_says_nothing_at_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    first = json.loads((GOLDEN / "1/settings.json").read_text())
    now = {f"{section}.{name}" for section, values in policy.to_json(Policy()).items() for name in values}
    assert now - set(first) == policy.ADDED, "name it in policy.ADDED: what was signed before would not be read"
    before = Policy(), policy.written(Policy()), Policy().experience.digest
    monkeypatch.setattr(policy, "ADDED", frozenset({"experience.runs"}))
    text = policy.written(Policy())
    assert '"runs"' in before[1] and '"runs"' not in text and policy.read(text) == Policy()
    other = policy.from_json({"experience": {"runs": 4}})
    assert policy.read(policy.written(other)) == other and other.experience.digest != Policy().experience.digest
    assert Policy().experience.digest != before[2]
    with pytest.raises(PolicyError, match="leaves out"):
        policy.read("{}")


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: path.parent.name)
def test_what_is_released_is_never_written_again(path: Path) -> None:
    told = dict(reversed(line.split("  ")) for line in path.read_text().splitlines())
    there = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in told if (ROOT / name).exists()}
    assert there == told
    with pytest.raises(FileExistsError, match="is released"):
        freeze(path.parent.name, again=True)
