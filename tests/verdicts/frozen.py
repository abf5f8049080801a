"""The frozen verdicts: `texts.jsonl`, a line for each text, and `said.jsonl`, a line for what was said in this order.

The files are the corpus as well. A line `{"text": …}`, or `{"said": […], "order": {"a question": ""}}`, that is added
by hand has its verdicts after `python -m tests.verdicts --keep`. Each text of `said.jsonl` is judged alone, too; it has
a line in `texts.jsonl` where there is something to say.

Most come from the cases of the benchmarks and of the unit tests: of each list of which developers may see half, that
half alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memquorum.core.reading.sameness import fingerprint
from tests.verdicts.rules import of_said, of_text

FOLDER = Path(__file__).parent
TEXTS, SAID = "texts.jsonl", "said.jsonl"

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frozen:
    """The lines of both files."""

    texts: tuple[Line, ...]
    said: tuple[Line, ...]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A changed verdict; `no` where there is none. `about`: the texts that it is about."""

    kind: str
    old: str
    new: str
    about: tuple[str, ...]


def read(folder: Path = FOLDER) -> Frozen:
    """What is frozen."""
    return Frozen(*(tuple(map(json.loads, _lines(folder / name))) for name in (TEXTS, SAID)))


def write(frozen: Frozen, folder: Path = FOLDER) -> None:
    """Freezes the verdicts."""
    for name, lines in ((TEXTS, frozen.texts), (SAID, frozen.said)):
        told = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines]
        (folder / name).write_text("".join(f"{line}\n" for line in told), encoding="utf-8")


def judged(frozen: Frozen) -> Frozen:
    """The same corpus with the verdicts of today, sorted."""
    said = {tuple(line["said"]): {} for line in frozen.said}
    for line in frozen.said:
        said[tuple(line["said"])] |= line.get("order", {})
    together = {text for texts, order in said.items() for text in (*texts, *order)}
    texts = sorted(together | {line["text"] for line in frozen.texts})
    alike = _alike(texts)
    verdicts = {text: of_text(text) | alike.get(text, {}) for text in texts}
    return Frozen(
        tuple({"text": text, **found} for text, found in verdicts.items() if found or text not in together),
        tuple({"said": list(texts), **of_said(texts, sorted(said[texts]))} for texts in sorted(said)),
    )


def changes(old: Frozen, new: Frozen) -> list[Change]:
    """Returns the verdicts that differ, by kind."""
    before, after = dict(_verdicts(old)), dict(_verdicts(new))
    found = []
    for kind, about in before.keys() | after.keys():
        was, is_now = (_told(verdicts.get((kind, about))) for verdicts in (before, after))
        if was != is_now:
            found.append(Change(kind, was, is_now, about))
    return sorted(found)


def _lines(file: Path) -> list[str]:
    # Not `splitlines`: texts have other characters that end lines for that.
    return [line for line in file.read_text(encoding="utf-8").split("\n") if line]


def _alike(texts: Iterable[str]) -> dict[str, Line]:
    """Returns, for each text with the fingerprint of an earlier one, the first of those."""
    first = dict[bytes, str]()
    found = dict[str, Line]()
    for text in texts:
        other = first.setdefault(fingerprint(text), text)
        if other != text:
            found[text] = {"fingerprint": other}
    return found


def _verdicts(frozen: Frozen) -> Iterator[tuple[tuple[str, tuple[str, ...]], object]]:
    """Each verdict, by its kind and the texts that it is of."""
    for line in frozen.texts:
        yield from (((kind, (line["text"],)), verdict) for kind, verdict in line.items() if kind != "text")
    for line in frozen.said:
        for kind in line.keys() - {"said"}:
            yield from (((kind, _about(kind, which, line["said"])), verdict) for which, verdict in line[kind].items())


def _about(kind: str, which: str, said: list[str]) -> tuple[str, ...]:
    if kind == "order":
        return (which, *said)
    newer, older = (said[int(number) - 1] for number in which.split(" to "))
    return older, newer


def _told(verdict: object) -> str:
    return {None: "no", True: "yes"}.get(verdict, str(verdict))  # type: ignore[call-overload]
