"""Draws docs/measured/scale.md and its plots from the last kept runs of `scale`, without and with silence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from bench import kept, plot
from tests.simulation.scale import RESULTS

DOCS = kept.ROOT / "docs" / "measured"
_FILES = {"messages": "messages.svg", "verifications": "verifications.svg", "cpu_s": "cpu.svg"}
_TITLES = {
    "messages": ("Records on the log for an epoch", "records"),
    "verifications": ("Signatures checked for an epoch, all members", "checks"),
    "cpu_s": ("Processor time of an epoch, all members", "s"),
}


def render(run: dict[str, Any], quiet: dict[str, Any]) -> dict[Path, str | plot.Chart]:
    """Returns the files: path below docs → text or chart. `quiet`: a run in which the first f members are silent."""
    costs, about = run["costs"], run["machine"]
    page = [
        "# What more members cost",
        "",
        "`make bench WHAT=scale KEEP=1` measures this, `make bench WHAT=pages` draws it. It is the real core",
        "with real Ed25519 in one process, on a log in memory. Kafka, disks, Postgres and what a member works out for",
        "its ballot are not in it. None of it was measured on Kafka.",
        "",
        f"Measured {run['at']} at commit `{run['commit']}`: {about['cpu']}, {about['cores']} cores, load at first",
        f"{about['load_at_start'][0]}. {costs[0]['epochs']} epochs of {costs[0]['proposals']} proposals for each N,",
        "after one that does not count. Other single-process work ran beside it: it touches times, not counts.",
        "",
        "| N | records | KB | signed | checked | CPU s, all members | CPU ms, one member |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    page += [
        f"| {c['n']} | {c['messages']:.0f} | {c['bytes'] / 1e3:.1f} | {c['signatures']:.0f} | {c['verifications']:.0f} "
        f"| {c['cpu_s']:.3f} | {c['cpu_s'] / c['n'] * 1e3:.1f} |"
        for c in costs
    ]
    first, last = costs[0], costs[-1]
    grown = {
        name: math.log(last[name] / first[name]) / math.log(last["n"] / first["n"])
        for name in ("messages", "verifications", "cpu_s")
    }
    page += [
        "",
        f"From N = {first['n']} to {last['n']} records grow as N to the power {grown['messages']:.2f}, checked",
        f"signatures {grown['verifications']:.2f}, processor time {grown['cpu_s']:.2f}. On a log that all read, a",
        "phase is N records, each read N times. The square comes from each member checking the records of the others.",
        "",
    ]
    page += [line for file in _FILES.values() for line in (f"![{file[:-4]}](scale/{file})", "")]
    page += _silence(quiet)
    files: dict[Path, str | plot.Chart] = {Path("scale.md"): "\n".join(page).rstrip() + "\n"}
    for name, file in _FILES.items():
        title, unit = _TITLES[name]
        curve = {"core alone": [(float(c["n"]), float(c[name])) for c in costs]}
        files[Path("scale") / file] = plot.lines(title, "members", unit, curve)
    return files


def _silence(run: dict[str, Any]) -> list[str]:
    costs, about = run["costs"], run["machine"]
    sizes = " ".join(str(c["n"]) for c in costs)
    return [
        "## With f members silent",
        "",
        f'`make bench WHAT=scale MEMBERS="{sizes}" SILENT=1 KEEP=1`: the first f members say and read nothing,',
        "and they are the primaries of the first f views: the worst that silence can do. Everybody who speaks decided",
        "every epoch. The first epoch has to leave f views. The last column says how long the timers run until then;",
        "nothing else takes time in this simulation. The other columns are of an epoch after it.",
        "",
        f"Measured {run['at']} at commit `{run['commit']}`: {about['cpu']}, {about['cores']} cores, load at first",
        f"{about['load_at_start'][0]}. {costs[0]['epochs']} epochs of {costs[0]['proposals']} proposals for each N.",
        "",
        "| N | silent | records | signed | checked | CPU s, all members | in view | first epoch, timers alone |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {c['n']} | {c['silent']} | {c['messages']:.0f} | {c['signatures']:.0f} | {c['verifications']:.0f} "
            f"| {c['cpu_s']:.3f} | {c['view']} | {c['first_s']:,.2f} s |"
            for c in costs
        ),
        "",
        "A member waits for each view twice as long as for the one before, 64 s at most: with limits that do not grow",
        "members on a slow network might never meet in one. So with many members it matters where the silent ones are:",
        "ten of them in a row cost four minutes, in every shard whose turn comes to them, each time that it does.",
        "Remove members that will not come back ([consensus.md](../understand/consensus.md#membership)).",
    ]


def draw() -> None:
    """Writes the files, and prints which."""
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob("*.json"))]
    loud, quiet = ([run for run in runs if any(c["silent"] for c in run["costs"]) == silent][-1] for silent in (0, 1))
    for file in plot.write(DOCS, render(loud, quiet)):
        print(file.relative_to(DOCS))
