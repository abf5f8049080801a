"""`make bench WHAT=…`: one command measures each thing, and writes its figures where a file is named."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from importlib import import_module
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import kept, rows
from bench.kept import Row
from tests.simulation import scale


def test_the_figures_are_one_flat_object_by_name() -> None:
    row = Row("epoch", "an epoch")
    row.figure("p50", 20, "ms")
    row.at_most("p50", 30)
    row.at_least("p50", 25)
    row.figure("tries", 7, "")
    assert bench.flat([row]) == {
        "epoch: p50": {"value": 20.0, "unit": "ms", "goal": "≤ 30 and ≥ 25", "met": False},
        "epoch: tries": {"value": 7.0, "unit": "", "goal": None, "met": None},
    }


def test_they_are_written_where_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", lambda n, silent: scale.Cost(n, len(silent), 1, 1, 9, 1, 1, 1, 0.5, 0, 0))
    assert bench.main(["scale", "--members", "4", "--silent", "--json", str(tmp_path / "told.json")]) == 0
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told["scale 4, 1 silent: cpu"] == {"value": 0.5, "unit": "s", "goal": None, "met": None}


@pytest.mark.parametrize("what", bench.WHAT)
def test_each_can_be_run(what: str) -> None:
    assert callable(import_module(bench.WHAT[what]).run)


def test_a_part_that_is_not_there_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["line", "--only", "tea"])
    assert "line has no tea; it has ingest, " in capsys.readouterr().err


def test_make_passes_on_what_the_command_takes() -> None:
    rule = (kept.ROOT / "Makefile").read_text(encoding="utf-8").partition("\nbench: setup")[2].partition("\n\n")[0]
    taken = set(bench.parser()._option_string_actions)
    passed = {f"--{name}" for name in re.findall(r"call (?:option|flag|each),([a-z]+)", rule)}
    assert {"--only", "--quick", "--json"} < passed < taken


def test_a_run_that_is_broken_off_keeps_the_rows_that_it_has(tmp_path: Path) -> None:
    def stopped(_: None) -> Row:
        raise KeyboardInterrupt

    measured = {"first": lambda _: Row("first", "is there"), "second": stopped}
    with pytest.raises(KeyboardInterrupt):
        rows.measure(Namespace(only=None, quick=True), measured, None, tmp_path, lambda: None)
    (file,) = (tmp_path / "quick").glob("*.json")
    assert [one["name"] for one in json.loads(file.read_text())["rows"]] == ["first"]
