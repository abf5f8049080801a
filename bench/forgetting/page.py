r"""Makes docs/measured/forgetting-quality.md and its plot from the kept runs: `make bench WHAT=pages`.

The latest run of each part counts. The limits of the figures are described in bounds.md beside this; the results give
all else. A test compares the page in the repository with what this makes of the results in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import kept, plot
from bench.forgetting import sweep
from bench.forgetting.footprint import AT, EARLY, EVERY, LATE, PACES_S, PAPER

PAGE = kept.ROOT / "docs" / "measured" / "forgetting-quality.md"
_PLOT = Path("forgetting") / "footprint.svg"
_BESIDE = Path(__file__).parent

Latest = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]
"""Part → its run, and the part with its rows."""


SCHEMA = 2


def table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """The names of the values of some rows, and each row's values in their order; None where a row has none."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return columns, [[row.get(name) for name in columns] for row in rows]


def load(file: Path) -> dict[str, Any]:
    """The run of a file, with the names of its rows' values. Raises ValueError for another schema."""
    run: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if run["schema"] != SCHEMA:
        raise ValueError(f"a result of schema {run['schema']}, wanted is {SCHEMA}")
    for name, kept_rows in run["rows"].items():
        named = (zip(kept_rows["columns"], values, strict=True) for values in kept_rows["rows"])
        run["rows"][name] = [{column: value for column, value in row if value is not None} for row in named]
    return run


def kept_runs(folder: Path) -> list[dict[str, Any]]:
    """The kept runs, oldest first."""
    return [load(file) for file in sorted(folder.glob("*.json"))]


def latest(runs: Sequence[dict[str, Any]]) -> Latest:
    """The last that was measured of each part."""
    return {name: (run, part | {"rows": run["rows"][name]}) for run in runs for name, part in run["parts"].items()}


def render(parts: Latest) -> dict[Path, str | plot.Chart]:
    """The files: path below docs → text or chart."""
    lines = [(_BESIDE / "intro.md").read_text(encoding="utf-8").rstrip(), ""]
    lines += _machines(parts)
    files: dict[Path, str | plot.Chart] = {}
    for name, write in PARTS.items():
        if name in parts:
            lines += [*write(parts[name][1]), ""]
        if name in parts and name == "footprint":
            files[_PLOT] = _drawn(parts[name][1])
            lines += [f"![footprint]({_PLOT})", ""]
    lines.append((_BESIDE / "bounds.md").read_text(encoding="utf-8").rstrip())
    return {Path(PAGE.name): "\n".join(lines) + "\n", **files}


def draw(parts: Latest) -> Iterator[Path]:
    """Writes the page and its plot."""
    yield from plot.write(PAGE.parent, render(parts))


def _machines(parts: Latest) -> Iterator[str]:
    for at in dict.fromkeys(run["at"] for run, _ in parts.values()):
        run = next(run for run, _ in parts.values() if run["at"] == at)
        about, names = run["machine"], [f"{n} ({p['seconds']:.0f} s)" for n, (r, p) in parts.items() if r["at"] == at]
        yield (
            f"Measured {at} at commit `{run['commit']}` with the encoder {run['encoder']}; processor time of "
            f"{', '.join(names)}: {about['cpu']}, one of {about['cores']} cores, {about['ram_gib']} GiB, "
            f"Linux {about['kernel']}, Python {about['python']}, numpy {about['packages']['numpy']}."
        )
        yield ""


def _items(part: Mapping[str, Any]) -> list[str]:
    lines = [
        f"## {part['items']} acts that people kept or not",
        "",
        f"AMI, dev side: 100 kept and 100 not, out of {part['meetings']} meetings.",
        "",
        "| | accuracy = balanced accuracy | 95 % | kept |",
        "|---|---:|---:|---:|",
    ]
    for name, found in part["systems"].items():
        low, high = found["interval"]
        lines.append(f"| {name} | {found['accuracy']:.1%} | {low:.1%} to {high:.1%} | {found['kept']:.0%} |")
    lines += ["", "| what tells them apart, alone | area under the curve | 95 % |", "|---|---:|---:|"]
    for name, (area, low, high) in part["areas"].items():
        lines.append(f"| {name} | {area:.3f} | {low:.3f} to {high:.3f} |")
    return lines


def _whole(part: Mapping[str, Any]) -> list[str]:
    lines = [
        "## Whole meetings",
        "",
        f"{part['meetings']} meetings, {part['acts']:,} acts, of which people kept {part['wanted']:.1%}; "
        f"{part['sentences']} decisions and actions with acts behind them.",
        "",
        "| | kept | F1 | balanced accuracy | decisions and actions left |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, found in part["systems"].items():
        left = part["survives"].get(name)
        lines.append(
            f"| {name} | {found['kept']:.1%} | {_between(found['f1'], found['f1 interval'])} | "
            f"{_between(found['balanced'], found['balanced interval'])} | "
            f"{_between(left['survive'], left['interval']) if left else ''} |"
        )
    names = list(next(iter(part["lengths"].values())))
    lines += ["", f"| acts of | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for length, shares_of in part["lengths"].items():
        lines.append(f"| {length} | {' | '.join(f'{shares_of[name]:.1%}' for name in names)} |")
    shares = list(part["budgets"])
    lines += [
        "",
        "To a budget: the share of decisions and actions of which an act is left, where so much of a meeting is kept.",
        "",
        "| what goes first is lowest in | area under the curve | " + " | ".join(f"{s} kept" for s in shares) + " |",
        "|---|---:|" + "---:|" * len(shares),
    ]
    for name in part["budgets"][shares[0]]:
        area = f"{part['areas'][name]:.3f}" if name in part["areas"] else ""
        cells = [_between(part["budgets"][s][name]["survive"], part["budgets"][s][name]["interval"]) for s in shares]
        lines.append(f"| {name} | {area} | {' | '.join(cells)} |")
    return lines


def _locomo(part: Mapping[str, Any]) -> list[str]:
    lines = [
        "## Conversations: is what will be asked for still there",
        "",
        f"LoCoMo, dev side: {part['conversations']} conversations, {part['turns']:,} turns, of which {part['wanted']} "
        f"answer one of {part['questions']} questions. The share of those turns that is left; last, of the questions "
        "those of which every turn is.",
    ]
    for share, systems in part["budgets"].items():
        lines += ["", *_survival(f"{share} kept", part["names"], systems)]
    lines += ["", *_survival("no budget: the line as it goes", part["names"], part["line"])]
    return lines


def _survival(title: str, names: Sequence[str], systems: Mapping[str, Any]) -> Iterator[str]:
    memories = any("memories" in found for found in systems.values())
    yield f"| {title} | {' | '.join(names)} | mean, 95 % | questions |" + (" turns kept |" if memories else "")
    yield "|---|" + "---:|" * (len(names) + 2 + memories)
    for name, found in systems.items():
        each = " | ".join(f"{value:.2f}" for value in found["each"])
        own = f" {found['memories']:.1%} |" if memories else ""
        yield f"| {name} | {each} | {_between(found['mean'], found['interval'])} | {found['questions']:.2f} |{own}"


def _footprint(part: Mapping[str, Any]) -> list[str]:
    lines = [
        "## Footprint on the paper's set-up",
        "",
        f"{part['epochs']} epochs, {part['seeds']} seeds. Zipf's exponent {part['skew']}: a cache of the last 100 hits "
        f"{sum(part['cache']) / len(part['cache']):.0%} (paper: 82 %). Means over the seeds, lowest and highest.",
        "",
        "| rule, time of an interaction | " + " | ".join(f"after {at}" for at in AT)
        + f" | deleted an epoch, first {EARLY} | last {LATE} | alive at last | reads that found it | last {LATE} "
        f"| of what was read for in the last {LATE}, alive |",
        "|---|" + "---:|" * (len(AT) + 6),
    ]  # fmt: skip
    paper = " | ".join(f"−{PAPER[at]:.0%}" for at in AT)
    lines.append(f"| the paper | {paper} | 10–15 % | 5–8 % | | | | |")
    for name, found in part["systems"].items():
        cells = [_range(found[f"smaller after {at}"], "−{:.0%}") for at in AT if f"smaller after {at}" in found]
        cells += [_range(found[key], "{:.1%}") for key in ("deleted early", "deleted late")]
        cells += [_range(found["alive at last"], "{:,.0f}")]
        cells += [_range(found[key], "{:.1%}") for key in ("reads found", "reads found late", "asked for and alive")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


PARTS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "items": _items,
    "meetings": _whole,
    "locomo": _locomo,
    "footprint": _footprint,
    "sweep": sweep.lines,
}
"""Each part as Markdown."""


def _drawn(part: Mapping[str, Any]) -> plot.Chart:
    """Memories over epochs, means over the seeds."""

    def mean(courses: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
        return [(EVERY * at, sum(some) / len(some)) for at, some in enumerate(zip(*courses, strict=True), 1)]

    made = mean(part["made"])
    curves: dict[str, list[tuple[float, float]]] = {"nothing forgotten": made}
    whole = dict(made)
    curves["the paper"] = [(at, (1 - PAPER[at]) * whole[at]) for at in AT if at in whole]
    shown = [f"as it is, {pace} s" for pace in PACES_S]
    for name in (*shown, f"before, {PACES_S[0]} s", f"as it is, {PACES_S[0]} s, with caps"):
        curves[name] = mean([row["alive"] for row in part["rows"] if row["system"] == name])
    return plot.lines("Memories alive", "epochs", "memories", curves)


def _between(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} ({interval[0]:.3f} to {interval[1]:.3f})"


def _range(found: Sequence[float], shape: str) -> str:
    mean, low, high = (shape.format(value) for value in found)
    return mean if low == high else f"{mean} ({low} to {high})"
