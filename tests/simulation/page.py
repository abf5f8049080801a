"""Writes docs/measured/simulation.md, and the sentence in docs/understand/consensus.md, from the longest kept run of
`tests.simulation`.

python -m tests.simulation.page
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.faults.kept import write_between
from tests.simulation.behaviours import LIBRARY

RESULTS = Path(__file__).parent / "results"
PAGE, PROSE = ROOT / "docs" / "measured" / "simulation.md", ROOT / "docs" / "understand" / "consensus.md"
BEGIN, END = "<!-- simulation: begin -->", "<!-- simulation: end -->"
_COUNTS = ("seconds", "seeds", "rounds", "events", "decisions", "evidence", "view_changed", "honest", "failed")
_ENDS = {"done": "It ended when all were done.", "by failures": "It ended at its failures."}


def kept_runs() -> list[dict[str, Any]]:
    """Loads the kept runs that count the rules, the oldest first."""
    runs: list[dict[str, Any]] = [
        json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob("*.json"))
    ]
    return [run for run in runs if "rules" in run]


def longest() -> dict[str, Any]:
    """Returns the kept run with the most rounds; sittings of one run count as one."""
    return max(joined(kept_runs()), key=lambda run: run["rounds"])


def joined(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Joins runs with those that went on where another of the same code ended, in the same worlds."""
    whole: list[dict[str, Any]] = []
    for run in runs:
        first = next((one for one in whole if _goes_on(one, run)), None)
        if first is None:
            whole.append(run)
        else:
            whole[whole.index(first)] = _added(first, run)
    return whole


def _goes_on(run: dict[str, Any], later: dict[str, Any]) -> bool:
    worlds = ("epochs", "members", "cheap")
    alike = run["machine"] == later["machine"] and all(run["command"][k] == later["command"][k] for k in worlds)
    return alike and run["command"]["first"] + run["seeds"] == later["command"]["first"]


def _added(run: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    one = {**run, **{name: run[name] + later[name] for name in _COUNTS}, "ended": later["ended"]}
    for name in ("by_members", "behaviours", "faults", "rules"):
        one[name] = {key: count + later[name].get(key, 0) for key, count in run[name].items()}
    one["highest_view"] = max(run["highest_view"], later["highest_view"])
    return {**one, "sittings": [*run.get("sittings", [run]), later]}


def last() -> dict[str, Any]:
    """Returns the newest of them: the one of the latest code."""
    return kept_runs()[-1]


def command(run: dict[str, Any]) -> str:
    """Returns the command as it was typed."""
    asked = run["command"]
    words = [f"--{name} {asked[name]}" for name in ("rounds", "first", "minutes", "members", "jobs") if asked[name]]
    return " ".join(["python -m tests.simulation", *words, *["--cheap"] * asked["cheap"], "--keep"])


def sentence(run: dict[str, Any]) -> str:
    """Describes a run: what was asked for, what was done, and the result."""
    asked, machine = run["command"], run["machine"]
    wanted = f" of the {asked['rounds']:,} asked for" if asked["rounds"] else ""
    ended = _ENDS.get(run["ended"], f"It was ended {run['ended'].replace('by SIG', 'by a signal, SIG')}.")
    for before, later in pairwise(run.get("sittings", [])):
        ended += f" It was done in two sittings: after {before['rounds']:,} rounds it went on with `{command(later)}`."
    failed = [f"seed {one['seed']} ('{one['rule']}')" for one in run["failed"]]
    broken = f"Broken by {', '.join(failed)}" if failed else "No rule was broken"
    return (
        f"`{command(run)}` decided {run['rounds']:,} rounds{wanted}, in {run['seeds']:,} worlds and "
        f"{_lasted(run['seconds'])}. {ended} A round is an epoch that was decided. The cores were told "
        f"{run['events']:,} events; views were changed in {run['view_changed']:,} of the worlds, up to view "
        f"{run['highest_view']}; {run['evidence']:,} pieces of evidence were published. "
        f"{broken}. Commit `{machine['commit'][:12]}`, "
        f"{machine['processor']}, {machine['cores']} cores, other work beside it."
    )


def _lasted(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"


def table(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Writes a table of all kept runs, the oldest first: their worlds, their code, and failures."""
    lines = ["| commit | worlds, from seed | rounds | minutes | broken by |", "|---|---:|---:|---:|---|"]
    for run in runs:
        worlds = f"{run['seeds']:,} from {run['command']['first']:,}"
        failed = ", ".join(f"seed {one['seed']} ({one['rule']})" for one in run["failed"]) or "none"
        commit, minutes = run["machine"]["commit"][:12], run["seconds"] / 60
        lines.append(f"| `{commit}` | {worlds} | {run['rounds']:,} | {minutes:.0f} | {failed} |")
    return lines


def page(run: dict[str, Any], runs: Sequence[dict[str, Any]]) -> str:
    """Writes the page."""
    lines = [
        "# The long simulation",
        "",
        "`python -m tests.simulation.page` makes this page from the longest kept run",
        "",
    ]
    lines[2] += " (`tests/simulation/results`)."
    lines += [*_wrapped(sentence(run)), ""]
    total, broken = sum(each["rounds"] for each in runs), sum(len(each["failed"]) for each in runs)
    lines += [f"All that is kept: {total:,} rounds; {broken} worlds broke a rule.", ""]
    lines += [*table(runs), ""]
    again = (
        "Each showed a defect, the last of the simulation itself, which was mended before the next run; it runs again"
    )
    lines += [*_wrapped(f"{again} in every `make test` (`tests/simulation/test_seeds.py`)."), ""]
    lines += ["The rules are defined in `tests/simulation/invariants.py` and `recount.py`.", ""]
    lines += ["| rule | asked |", "|---|---:|"]
    lines += [f"| {rule} | {count:,} |" for rule, count in run["rules"].items()]
    lines += _newer(run, runs[-1])
    lines += [
        "",
        f"All members were honest in {run['honest']:,} of the worlds. In the others one lied in one to three ways:",
        "",
    ]
    lines += ["| lie | worlds |  |", "|---|---:|---|"]
    lines += [f"| {name} | {run['behaviours'].get(name, 0):,} | {_says(name)} |" for name in LIBRARY]
    lines += ["", "Faults that the plans of the worlds held:", "", "| fault | times |", "|---|---:|"]
    lines += [f"| {name} | {count:,} |" for name, count in run["faults"].items()]
    return "\n".join(lines) + "\n"


def _newer(run: dict[str, Any], newest: dict[str, Any]) -> list[str]:
    """Lists the rules that were asked only in the newest run, and the additions to its worlds."""
    rules = {rule: count for rule, count in newest["rules"].items() if rule not in run["rules"]}
    if not rules:
        return []
    told = f"Asked in the newest run (`{command(newest)}`, {newest['seeds']:,} worlds), whose worlds hold more:"
    lines = ["", *_wrapped(told), "", "| rule | asked |", "|---|---:|"]
    lines += [f"| {rule} | {count:,} |" for rule, count in rules.items()]
    ways = newest.get("rehearsals", {})
    told = "How memories were rehearsed before its epochs (`tests/simulation/rehearsing.py`):"
    table = ["| verdicts | epochs |", "|---|---:|", *(f"| {way} | {count:,} |" for way, count in ways.items())]
    return [*lines, "", *_wrapped(told), "", *table] if ways else lines


def _says(name: str) -> str:
    return " ".join((LIBRARY[name].__doc__ or "").split())


def _wrapped(text: str, width: int = 120) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def prose(run: dict[str, Any], newest: dict[str, Any]) -> str:
    """Writes the text of docs/understand/consensus.md."""
    told = sentence(run) + " The counts of rules, lies and faults: [simulation.md](../measured/simulation.md)."
    newer = (
        _wrapped(f"The newest, of later code: {sentence(newest)}") if newest not in run.get("sittings", [run]) else []
    )
    return "\n".join([*_wrapped(told), *[""] * bool(newer), *newer])


def main() -> None:
    """The command."""
    run = longest()
    PAGE.write_text(page(run, kept_runs()), encoding="utf-8")
    write_between(PROSE, BEGIN, END, prose(run, last()))


if __name__ == "__main__":
    main()
