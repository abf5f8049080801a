"""The audit computes worths again from the texts that were accepted, as long as there are keys."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.records import ClockTicked, EpisodeScored
from memquorum.ports import VaultUnavailable
from memquorum.schema_files import load_codec
from tests.builders.salience import NOW, Line
from workers.audit import worth_checks

CODEC = load_codec()


class Away:
    """A vault that does not answer."""

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        raise VaultUnavailable("away")


def test_it_names_worths_that_do_not_follow_and_counts_what_it_cannot_open() -> None:
    line = Line(CODEC)
    said = ("The pump leaks.", "The pump works.", "Is the valve open?", "Thanks!", "The valve of the pump is stuck.")
    episodes = [line.episode(text) for text in said]
    scores = line.process(*episodes)
    tick = (14, CODEC.encode(ClockTicked("t", NOW)))
    accepted = sorted([(one.offset, one.value) for one in episodes] + [(99, tick[1]), (100, b"?")])

    def findings_of(*scored: EpisodeScored) -> tuple[list[tuple[Kind, str, str]], int, int]:
        written = zip(itertools.count(), [*map(CODEC.encode, scored), b"?"], strict=False)
        told = worth_checks.check(CODEC, 1, accepted, written, line.vault)
        return [(f.kind, f.expected, f.found) for f in told.kept], told.counts.worths, told.counts.worths_unread

    assert findings_of(*scores, scores[0]) == ([], 5, 0)
    line.vault.destroy([scores[2].memory_id])
    lie = replace(scores[1], worth_ppm=1)
    other = replace(scores[4], sealed_counts=scores[3].sealed_counts)
    assert findings_of(scores[0], lie, scores[2], replace(scores[3], worth_ppm=None), other) == (
        [
            (Kind.WORTH_ALTERED, str(scores[1].worth_ppm), "1"),
            (Kind.WORTH_ALTERED, "counts of its words", "cannot be opened: another key, another purpose, or altered"),
        ],
        3,
        1,
    )
    assert worth_checks.check(CODEC, 1, accepted, [(0, CODEC.encode(lie))], Away()).kept == []  # type: ignore[arg-type]
