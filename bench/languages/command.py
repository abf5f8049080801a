"""Measures the rows that are asked for, or all: `make bench WHAT=languages ONLY="ROW …"`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from bench import rows
from bench.kept import Outcome, Row
from bench.languages import costing, finding, page
from bench.right import reading
from bench.right.frame import Material, Measure
from memquorum.encoders.multilingual import MultilingualEncoder
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.ports import Encoder

_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures, and keeps the figures; 1 where a row could not be measured."""
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)


def encoders() -> dict[str, Encoder]:
    """By the setting that names each, on one thread. Raises EncoderUnavailable."""
    return {"minilm": OnnxEncoder(threads=1), "multilingual": MultilingualEncoder(threads=1)}


def _cases(material: Material) -> Row:
    row = Row("cases", "the questions of the reading cases, by the language of case and question")
    for kind, encoder in encoders().items():
        finding.cases(row, encoder, kind, material.quick)
    row.note(
        f"{row.series['texts']:,} texts of all languages; the first of them by the cosine is of the question's case"
    )
    return row


def _translated(_: Material) -> Row:
    row = Row("translated", "the same facts and questions in 20 languages")
    for kind, encoder in encoders().items():
        finding.translated(row, encoder, kind)
    return row


def _cost(material: Material) -> Row:
    row = Row("cost", "what a text costs the encoders")
    costing.costs(row, encoders(), material.quick)
    return row


def _line(kind: str) -> Measure:
    def measure(material: Material) -> Row:
        row = Row(f"line-{kind}", f"the reading cases on the running line with `encoder = {kind}`")
        reading.lived(row, material, kind)
        return row

    return measure


ROWS: Mapping[str, Measure] = {
    "translated": _translated,
    "cases": _cases,
    "cost": _cost,
    "line-minilm": _line("minilm"),
    "line-multilingual": _line("multilingual"),
}
ONLY = tuple(ROWS)
