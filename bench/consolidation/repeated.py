"""The row of exact duplicates: the salience stage alone is told again what it knows, and looks first or does not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from bench.consolidation.frame import Material
from bench.kept import Row
from bench.texts import sentences
from memquorum.core.exact import CELLS
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.schema_files import load_codec
from memquorum.telemetry.bundle import Telemetry
from streams.stage import Arrival
from tests.builders.salience import Line

_BATCH = 128
_LEAST = 5.0


def duplicates(material: Material) -> Row:
    """Tells each sentence twice, in the second round as it was said in the first."""
    row = Row(
        "duplicates", "exact duplicates: episodes that say byte for byte what a memory says, by the salience stage"
    )
    texts = sentences(64 if material.quick else 1_024, seed=18)
    for name, cells in (("known", CELLS), ("encoded", 0)):
        shown = Telemetry().stage("salience")
        line = Line(load_codec(), encoder=OnnxEncoder(), exact_cells=cells, shown=shown)
        new, again = _taken(line, texts), _taken(line, texts)
        row.figure(f"duplicates a second, {name}", again, "1/s")
        row.figure(f"new texts a second, {name}", new, "1/s")
        if cells:
            found = {by: shown.meters.known_texts.labels(by)._value.get() for by in ("memory", "none")}
            row.figure("duplicates that were known", 100 * found["memory"] / len(texts), "%")
            row.figure("new texts that the filter let through", 100 * found["none"] / len(texts), "%")
    known, encoded = (row.value(f"duplicates a second, {name}") for name in ("known", "encoded"))
    row.figure("duplicates, known ÷ encoded", known / encoded, "times")
    row.at_least("duplicates, known ÷ encoded", _LEAST)
    row.at_least("duplicates that were known", 100)
    row.note(
        "by a second of the processor's time; what is left of a duplicate's time goes into opening, judging and "
        "sealing it; the outcome is the same either way (tests/unit/streams/test_known.py)"
    )
    return row


def _taken(line: Line, texts: Sequence[str]) -> float:
    """So many a second of the processor, which is the same beside other work."""
    arrivals = [line.episode(text) for text in texts]
    began = time.process_time()
    for batch in _batches(arrivals):
        line.process(*batch)
    return len(texts) / (time.process_time() - began)


def _batches(arrivals: Sequence[Arrival]) -> Iterator[Sequence[Arrival]]:
    for at in range(0, len(arrivals), _BATCH):
        yield arrivals[at : at + _BATCH]


ROWS = {"duplicates": duplicates}
