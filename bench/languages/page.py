"""Makes docs/measured/languages.md of the kept runs: of each row what was measured last.

`make bench WHAT=languages` draws it after measuring, `make bench WHAT=pages` without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import kept
from bench.languages.finding import AMONG, CASE, OTHERS, OWN, SAID
from memquorum.encoders.multilingual import LANGUAGES
from tests import ROOT

PAGE = ROOT / "docs" / "measured" / "languages.md"
RESULTS = kept.RESULTS / "languages"
KINDS = ("minilm", "multilingual")
_NAMES = {
    "ar": "Arabic", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French", "hi": "Hindi",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese",
    "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese, simplified",
    "zh-TW": "Chinese, traditional",
}  # fmt: skip
_PARTS = (", English", ", other languages", ", across")

Rows = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]
"""Row → its run and the row."""


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    rows = {row["name"]: (run, row) for run in runs for row in run["rows"]}
    page = [
        "# Languages",
        "",
        "This page shows which languages the [encoders](../operate/encoders.md) know. `make bench WHAT=languages`",
        "measures it and draws it from `bench/results/languages`; `make bench WHAT=pages` draws it without",
        "measuring.",
        "",
    ]
    for name, told in (("translated", _translated), ("cases", _cases), ("cost", _cost)):
        if name in rows:
            page += told(rows[name][1])
    if all(f"line-{kind}" in rows for kind in KINDS):
        page += _lines(*(rows[f"line-{kind}"][1] for kind in KINDS))
    return "\n".join([*page, *_machines(rows)]).rstrip() + "\n"


def _translated(row: dict[str, Any]) -> Iterator[str]:
    yield "## By language"
    yield ""
    yield (
        "Twelve facts and a question about each, the same in 20 languages; three each are about things, a person, "
        "journeys and machines. The table shows how often the fact comes first, by the cosine alone, in per cent (8 by "
        "chance)."
    )
    yield ""
    columns = {
        OWN: "question and facts in the language",
        OTHERS: "the question in it, all facts in another",
        AMONG: "the question in it, its fact in another, the others in the question's language",
        SAID: "the other way round: its fact in the language, question and other facts in another",
    }
    for column, told in columns.items():
        yield f"- *{column}*: {told};"
    yield "- *another* language is each of the others that `multilingual` was made for, on average."
    yield ""
    yield "| | " + " | ".join(f"{column}: {kind}" for column in columns for kind in KINDS) + " |"
    yield "|---|" + "---:|" * (len(columns) * len(KINDS))
    for made, names in ((True, LANGUAGES), (False, [name for name in _NAMES if name not in LANGUAGES])):
        for name in sorted(names, key=_NAMES.__getitem__):
            cells = [f"{_value(row, f'{kind}, {name}: {column}'):.0f}" for column in columns for kind in KINDS]
            told = _NAMES[name] if made else f"{_NAMES[name]} (made for by neither)"
            yield f"| {told} | " + " | ".join(cells) + " |"
    yield ""


def _cases(row: dict[str, Any]) -> Iterator[str]:
    yield "## The reading cases"
    yield ""
    yield (
        f"The questions of the [reading cases](right.md), among all {row['series']['texts']:,} texts that the cases of "
        "all languages say: how often the first by the cosine is of the question's case, in per cent."
    )
    yield ""
    yield "| | questions | " + " | ".join(KINDS) + " |"
    yield "|---|---:|" + "---:|" * len(KINDS)
    for name in sorted((name for name in _NAMES if name in row["series"]), key=_NAMES.__getitem__):
        cells = [f"{_value(row, f'{kind}, {name}: {CASE}'):.0f}" for kind in KINDS]
        yield f"| {_NAMES[name]} | {row['series'][name]} | " + " | ".join(cells) + " |"
    yield ""


def _cost(row: dict[str, Any]) -> Iterator[str]:
    yield "## What a text costs"
    yield ""
    yield "Milliseconds of processor time a text. " + " ".join(f"{note[0].upper()}{note[1:]}." for note in row["notes"])
    yield ""
    yield "| | " + " | ".join(KINDS) + " | ratio |"
    yield "|---|" + "---:|" * (len(KINDS) + 1)
    for told in dict.fromkeys(figure["name"].split(": ")[0] for figure in row["figures"]):
        cells = [f"{_value(row, f'{told}: {kind}'):.2f}" for kind in KINDS]
        ratio = _value(row, f"{told}: {KINDS[1]} ÷ {KINDS[0]}")
        yield f"| {told} | " + " | ".join(cells) + f" | {ratio:.2f} |"
    yield ""


def _lines(*rows: dict[str, Any]) -> Iterator[str]:
    yield "## The running line"
    yield ""
    yield (
        "The [reading cases](right.md) on an installation with each encoder, in per cent: each case in a namespace of "
        "its own. *Across*: the overtaken statement has another language than the newer one and the question; an "
        "encoder that knows only the question's language puts the newer first by itself. The fixed numbers that the "
        "line compares with were set by the vectors of `minilm`."
    )
    yield ""
    yield "| | " + " | ".join(KINDS) + " |"
    yield "|---|" + "---:|" * len(KINDS)
    shared = [figure["name"] for figure in rows[0]["figures"] if figure["name"].endswith(_PARTS)]
    for name in shared:
        yield f"| {name} | " + " | ".join(f"{_value(row, name):.1f}" for row in rows) + " |"
    yield (
        "| answerable, search (AUC) | " + " | ".join(f"{_value(row, 'answerable, search'):.2f}" for row in rows) + " |"
    )
    yield ""


def _value(row: dict[str, Any], figure: str) -> float:
    return next(float(one["value"]) for one in row["figures"] if one["name"] == figure)


def _machines(rows: Rows) -> Iterator[str]:
    for at in sorted({run["at"] for run, _ in rows.values()}):
        run = next(run for run, _ in rows.values() if run["at"] == at)
        about, names = run["machine"], [name for name, (of, _) in rows.items() if of["at"] == at]
        yield (
            f"Measured {at} at commit `{run['commit']}`, {', '.join(names)}: {about['cpu']}, {about['cores']} cores, "
            f"{about['ram_gib']} GiB, Linux {about['kernel']}, Python {about['python']}."
        )
        yield ""
