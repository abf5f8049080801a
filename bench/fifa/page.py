"""Makes docs/measured/fifa.md and its charts of the kept runs: of each row the latest counts. Words stand in
words.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import kept, plot, sections
from bench.fifa import weighting
from bench.fifa.living import REASONS
from bench.fifa.measures import METRICS
from bench.page import Latest, latest

DOCS = kept.ROOT / "docs" / "measured"
RESULTS = kept.RESULTS / "fifa"
_WORDS = Path(__file__).with_name("words.md")
_FOLDER = Path("fifa")
TABLES = ("policies", "quiet", "votes", "quiet-votes")
"""The rows that are tables of all policies."""
_DRAWN = {"budgets": "composite", "goals": "goals reached, weighted"}

PUBLISHED = {
    "random": (0.635, 0.667, 0.078, 1.000, 0.722, 0.935),
    "priority": (0.601, 0.604, 0.071, 0.990, 0.737, 0.825),
    "fifo": (0.602, 0.529, 0.061, 1.000, 0.752, 0.941),
    "lru": (0.590, 0.501, 0.058, 1.000, 0.780, 0.887),
    "hybrid": (0.589, 0.590, 0.069, 0.999, 0.768, 0.730),
}
"""MaRS, table 2, in the order of `METRICS`; the paper has no row of Reflection-Summary."""


def draw() -> None:
    """Writes the page and its charts, and says which files."""
    for file in plot.write(DOCS, render(kept.read(RESULTS))):
        print(file.relative_to(kept.ROOT))


def render(runs: Sequence[dict[str, Any]]) -> plot.Files:
    """The page and its charts."""
    rows = latest(runs)
    charts = dict(_charts(rows))
    page = [
        "# FiFA, measured",
        "",
        "`make fifa JSON=FILE` measures this page and draws it from `bench/results/fifa`;",
        "`make bench WHAT=pages` draws it without measuring. `SEEDS=N` runs fewer seeds and `QUICK=1` one agent, both",
        'kept apart; `ONLY="ROW …"` measures some rows. FILE is one flat object, name → `{value, unit, goal, met}`.',
        "",
        *sections.HEAD,
        *(line for name in rows for line in sections.goals(name, rows[name][1])),
        "",
        *_missing(rows),
        *(line for name in ("composite", "privacy") if name in rows for line in _row(name, rows[name][1])),
        *(line for name in TABLES if name in rows for line in _tables(name, rows[name][1], charts)),
        *_weighted(rows),
        *_directions(rows),
        *_published(rows),
        *sections.machines(rows, rows),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return {Path("fifa.md"): "\n".join(page) + "\n", **charts}


def _missing(rows: Latest) -> Iterator[str]:
    left = [name for name in ("composite", "privacy", *TABLES, "directions") if name not in rows]
    if left:
        yield from (f'Not measured: {", ".join(left)}; `make fifa ONLY="{" ".join(left)}"` measures that.', "")


def _row(name: str, row: dict[str, Any]) -> Iterator[str]:
    yield from sections.section(name, row)
    if "by budget" in row["series"]:
        yield from (
            "| budget | best of the three | difference, 95 % | Cliff's δ | p, Holm |",
            "|---:|---|---:|---:|---:|",
        )
        for budget, best, mean, low, high, delta, p in row["series"]["by budget"]:
            yield f"| {budget} | `{best}` | {mean:+.3f} ({low:+.3f} to {high:+.3f}) | {delta:+.2f} | {p:.2g} |"
        yield ""


def _tables(name: str, row: dict[str, Any], charts: Mapping[Path, object]) -> Iterator[str]:
    yield from sections.titled(name, row)
    told = [one["name"] for one in row["figures"] if not one["name"].startswith("composite")]
    if told:
        yield from sections.figures(row, told)
    table = row["series"]
    yield from _overall(table["policies"])
    yield from _excess(table["policies"])
    yield from _factors(table["factors"])
    yield from _composites(table["budgets"])
    yield from _pairs(table["pairs"])
    for file in charts:
        if file.stem in (f"{name}-{what}" for what in _DRAWN):
            yield from (f"![{file.stem}](fifa/{file.name})", "")


def _overall(policies: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """As the paper's table 2, with what it leaves out."""
    others = ("SRA, normalised", "PP, ungated", "contradicted", "leaked tokens a turn", "cost, tokens")
    yield f"| policy | {' | '.join((*METRICS, *others))} |"
    yield "|---|" + "---:|" * (len(METRICS) + len(others))
    for name in sorted(policies, key=lambda one: -policies[one]["composite"][0]):
        told = policies[name]
        means = " | ".join(_spread(told[metric]) for metric in METRICS)
        yield (
            f"| `{name}` | {means} | {told['normal_sra']:.3f} | {told['bare_pp']:.3f} | {told['contradicted']:.3f} | "
            f"{told['leakage']:.4f} | {told['cost']:,.0f} |"
        )
    yield ""


def _excess(policies: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The tokens beyond the budget by the reason that holds them, of runs where something is."""
    if not any(sum(told.get("over_by", {}).values()) for told in policies.values()):
        return
    yield f"| beyond the budget, % of held | {' | '.join(REASONS)} | together |"
    yield "|---|" + "---:|" * (len(REASONS) + 1)
    for name in sorted(policies, key=lambda one: policies[one]["over"]):
        told = policies[name]
        parts = " | ".join(f"{100 * told['over_by'][why]:.2f}" for why in REASONS)
        yield f"| `{name}` | {parts} | {100 * told['over']:.2f} |"
    yield ""


def _spread(told: Sequence[float]) -> str:
    """A mean, and half of its interval."""
    return f"{told[0]:.3f} ± {(told[2] - told[1]) / 2:.3f}"


def _factors(factors: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """As the paper's table 3."""
    yield from ("| what the policy makes of | F | p, by permutation | η² |", "|---|---:|---:|---:|")
    yield from (f"| {metric} | {f:,.1f} | {p:.2g} | {eta2:.3f} |" for metric, (f, p, eta2) in factors.items())
    yield ""


def _composites(budgets: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """As the paper's figure 4."""
    names = list(next(iter(budgets.values())))
    yield from ("| composite at | " + " | ".join(f"`{name}`" for name in names) + " |", "|---:|" + "---:|" * len(names))
    for budget, told in budgets.items():
        best = max(told.values())
        cells = (f"**{value:.3f}**" if value == best else f"{value:.3f}" for value in told.values())
        yield f"| {budget} | {' | '.join(cells)} |"
    yield ""


def _pairs(pairs: Sequence[Sequence[Any]]) -> Iterator[str]:
    """As the paper's table 4, of the composite."""
    yield from ("<details><summary>All pairs, composite</summary>", "")
    yield from ("| first | second | difference | Cliff's δ | p, Holm |", "|---|---|---:|---:|---:|")
    for first, second, metric, mean, p, delta in pairs:
        if metric == "composite":
            yield f"| `{first}` | `{second}` | {mean:+.3f} | {delta:+.2f} | {p:.2g} |"
    yield from ("", "</details>", "")


def _weighted(rows: Latest) -> Iterator[str]:
    tables = {name: rows[name][1]["series"]["policies"] for name in TABLES if name in rows}
    if tables:
        yield from weighting.lines(tables)


def _directions(rows: Latest) -> Iterator[str]:
    if "directions" not in rows:
        return
    row = rows["directions"][1]
    yield from sections.section("directions", row)
    yield from (
        "| expected | difference, 95 % | seeds in which it holds | Cliff's δ, 95 % | Hedges' g, 95 % | p, Holm |",
        "|---|---:|---:|---:|---:|---:|",
    )
    for says, mean, low, high, holds, delta, g, p in row["series"]["known"]:
        yield f"| {says} | {_span((mean, low, high), 4)} | {holds:.0%} | {_span(delta)} | {_span(g)} | {p:.2g} |"
    yield from ("", "| where a budget doubles, gains | NC, 95 % | GCR, 95 % |", "|---|---:|---:|")
    yield from (
        f"| `{name}` | {_span(nc, 3)} | {_span(gcr, 3)} |" for name, (nc, gcr) in row["series"]["slopes"].items()
    )
    yield from ("", "<details><summary>Sizes of effects of all pairs, composite</summary>", "")
    yield from ("| first | second | difference, 95 % | Cliff's δ, 95 % | Hedges' g, 95 % |", "|---|---|---:|---:|---:|")
    for first, second, gain, delta, g in row["series"]["pairs"]:
        yield f"| `{first}` | `{second}` | {_span(gain, 3)} | {_span(delta)} | {_span(g)} |"
    yield from ("", "</details>", "")


def _span(told: Sequence[float], digits: int = 2) -> str:
    """A value with its interval."""
    mean, low, high = (f"{value:+.{digits}f}" for value in told)
    return f"{mean} ({low} to {high})"


def _published(rows: Latest) -> Iterator[str]:
    if "policies" not in rows:
        return
    ours = rows["policies"][1]["series"]["policies"]
    yield from ("## Beside the published figures", "")
    yield from ("| policy | " + " | ".join(METRICS) + " |", "|---|" + "---:|" * len(METRICS))
    for name, published in PUBLISHED.items():
        yield f"| `{name}`, published | {' | '.join(f'{value:.3f}' for value in published)} |"
        yield f"| `{name}`, here | {' | '.join(f'{ours[name][metric][0]:.3f}' for metric in METRICS)} |"
    yield ""


def _charts(rows: Latest) -> Iterator[tuple[Path, plot.Chart]]:
    for name in (one for one in TABLES if one in rows):
        row = rows[name][1]
        table = row["series"]
        for what, says in _DRAWN.items():
            curves = {
                policy: [(float(budget.split()[0]), told[policy])
                         for budget, told in table[what].items() if budget.endswith("%")]
                for policy in table["policies"]
            }  # fmt: skip
            title = f"{says[0].upper()}{says[1:]}: {row['title']}"
            yield _FOLDER / f"{name}-{what}.svg", plot.lines(title, "% of what an agent is told", says, curves)
