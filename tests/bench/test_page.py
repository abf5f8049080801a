"""The page of measurements is what the command makes of the kept results, and nothing is said that they do not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import kept, measured, page, plot
from bench.kept import Row
from bench.right import page as right
from bench.vm import page as validation


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    made = page.render(page.latest(kept.read()))
    assert plot.stale(page.PAGE.parent, made) == [], "run `make bench WHAT=pages`"
    plots = {Path("performance") / file.name for file in (page.PAGE.parent / "performance").glob("*.svg")}
    assert plots == made.keys() - {Path("performance.md")}


def test_the_goals_page_is_what_the_command_makes_of_the_results() -> None:
    found = measured.rows()
    assert measured.PAGE.read_text(encoding="utf-8") == measured.render(found), "run `make bench WHAT=pages`"


def test_every_goal_is_one_that_a_kept_row_has_and_what_was_not_measured_says_so() -> None:
    found = measured.rows()
    for line in measured.LINES:
        assert line.figure in {goal["figure"] for goal in found[line.row][1]["goals"]}
    told = measured.render({name: row for name, row in found.items() if name != "erase"})
    assert '| not measured | | `make bench ONLY="erase"`' in told


def test_the_page_of_spec_b_is_what_the_command_makes_and_what_was_not_measured_says_so() -> None:
    runs = kept.read(validation.RESULTS)
    assert validation.PAGE.read_text(encoding="utf-8") == validation.render(runs), "run `make bench WHAT=pages`"
    assert validation.render([]).count("| | | not measured | |") == len(validation.ORDER)


def _row(name: str, value: float) -> Row:
    row = Row(name, "a row")
    row.figure("p50", value, "ms")
    row.at_most("p50", 60)
    row.compare("p50", "the bare thing", 2.0, "ms")
    row.series["ms"] = [value, value + 1]
    return row


def test_the_latest_run_of_each_row_counts_and_quick_ones_do_not(tmp_path: Path) -> None:
    about = {"cpu": "a <fast> one", "cores": 2, "ram_gib": 1, "kernel": "6", "python": "3", "packages": {"x": "1"},
             "load_at_start": [0.1]}  # fmt: skip
    first, second = ({"at": f"2000-01-0{day}T00:00:00Z", "commit": "c", "machine": about} for day in (1, 2))
    kept.write([_row("searchable", 50)], second, quick=False, folder=tmp_path)
    kept.write([_row("searchable", 70), _row("epoch", 20)], first, quick=False, folder=tmp_path)
    kept.write([_row("searchable", 10)], second, quick=True, folder=tmp_path)
    rows = page.latest(kept.read(tmp_path))
    assert rows["searchable"][1]["figures"][0]["value"] == 50
    assert rows["epoch"][1]["goals"][0] == {"figure": "p50", "limit": 60, "at_least": False, "met": True}
    made = page.render(rows)
    assert "| a row: p50 | 50 ms | ≤ 60 | met | 25 |" in made[Path("performance.md")]
    chart = made[Path("performance/latency.svg")]
    assert isinstance(chart, plot.Chart)
    assert chart.lines == {"searchable": [(50, 50.0), (51, 100.0)], "epoch": [(20, 50.0), (21, 100.0)]}


def test_a_chart_of_other_data_or_by_other_code_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = plot.lines("t", "ms", "%", {"a": [(0, 0), (1, 1)]})
    files = {Path("a.svg"): chart, Path("a.md"): "text"}
    assert plot.stale(tmp_path, files) == ["a.svg", "a.md"]
    (tmp_path / "a.svg").write_text(f"<svg><dc:identifier>{chart.digest}</dc:identifier></svg>")
    (tmp_path / "a.md").write_text("text")
    assert plot.stale(tmp_path, files) == []
    assert plot.stale(tmp_path, {Path("a.svg"): plot.lines("t", "ms", "%", {"a": [(0, 0), (1, 2)]})}) == ["a.svg"]
    other = tmp_path / "draw.py"
    other.write_text("")
    monkeypatch.setattr(plot, "DRAW", other)
    assert plot.stale(tmp_path, files) == ["a.svg"]


def test_the_page_of_what_is_right_is_what_the_command_makes_of_the_results() -> None:
    assert right.PAGE.read_text(encoding="utf-8") == right.render(kept.read(right.RESULTS)), (
        "run `make bench WHAT=pages`"
    )


def test_beside_what_was_measured_last_stands_what_was_measured_first(tmp_path: Path) -> None:
    about = {"cpu": "one", "cores": 2, "ram_gib": 1, "kernel": "6", "python": "3"}
    for day, value in ((1, 70), (2, 65), (3, 50)):
        begun = {"at": f"2000-01-0{day}T00:00:00Z", "commit": f"c{day}", "machine": about}
        kept.write([_row("door", value)], begun, quick=False, folder=tmp_path)
    told = right.render(kept.read(tmp_path))
    assert "| door | p50 | 70 ms | 50 ms | ≤ 60 | met |" in told
    assert "c3" in told and "c2" not in told
