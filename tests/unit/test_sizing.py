"""The page on sizing: its figures are those of the kept results of the benchmarks, and its arithmetic holds."""

from __future__ import annotations

import json
import re
from functools import cache

from infra import topic_files
from tests import ROOT

PAGE = (ROOT / "docs/operate/sizing.md").read_text()
HEADROOM = 1.5


@cache
def kept() -> dict[tuple[str, str], float]:
    """The figures of the newest run of each row that was no quick one, by row and name."""
    found: dict[tuple[str, str], float] = {}
    for file in sorted((ROOT / "bench/results").glob("*.json")):
        told = json.loads(file.read_text())
        for row in [] if told["quick"] else told["rows"]:
            found = {key: value for key, value in found.items() if key[0] != row["name"]}
            found |= {(row["name"], name): value for name, value, _ in row["figures"]}
    return found


def table(title: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = PAGE.split(f"## {title}\n")[1]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[2 : len(re.match(r"(\|.*\n)+", section[section.index("|") :])[0].splitlines())]  # type: ignore[index]


def number(text: str) -> float:
    return float(text.replace(",", "").split()[0])


def cost() -> dict[str, float]:
    """Seconds of a core for an episode, a turn and a search."""
    return {
        "sentence": 2 / kept()["ingest", "sentences: stored"],
        "turn": 2 / kept()["ingest", "turns: stored"],
        "search": kept()["reading-scale", "100,000 of one tenant, over HTTP with the encoder: POST /search p50"] / 1000,
    }


def memory(when: str) -> float:
    """GiB of all processes and servers together."""
    return sum(value for (row, name), value in kept().items() if row == "resident" and name.endswith(when)) / 1024


def test_measured_figures_are_those_of_the_kept_results() -> None:
    rows = table("Measured")
    assert len(rows) >= 6
    for what, value, row, figure in rows:
        found = kept()[row.strip("`"), figure.strip("`")]
        assert number(value) == float(f"{found:.3g}"), what


def test_cores_follow_from_them() -> None:
    rows = table("Cores")
    assert [number(agents) for agents, *_ in rows] == [100, 1_000, 10_000]
    for agents, sentences, turns in rows:
        each, many = cost(), number(agents) / 60
        for kind, told in (("sentence", sentences), ("turn", turns)):
            assert number(told) == round(HEADROOM * many * (each[kind] + 4 * each["search"]), 1), (agents, kind)


def test_memory_and_partitions_follow() -> None:
    idle, grown = memory(": idle"), memory(": after 100,100")
    assert f"{idle:.1f} GiB idle and {grown:.1f} GiB after 100,100 episodes" in PAGE
    for shards, told in re.findall(r"^\| (\d+) \| ([\d,]+) \|$", PAGE, re.MULTILINE):
        assert number(told) == sum(topic.count(int(shards)) for topic in topic_files.declared())
