"""What strangers write to the topics of a whole fleet: every good record arrives, every bad one is told why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra.settings import Settings
from tests.faults import badrecords, flood
from tests.faults.publications import EITHER, KEPT, REFUSED, TURNED_AWAY

RECORDS = 5_000
# What a flood may add to a process at its worst: buffers, and some records of the largest size. Kafka has its heap.
GROWTH_KIB = 64 * 1024
KAFKA_KIB = 768 * 1024


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with flood.installation(tmp_path_factory.mktemp("line")) as running:
        yield running


def test_bad_records_in_good_traffic(line: Settings) -> None:
    report = flood.flood(line, seed=1, count=RECORDS)
    assert report.problems == []
    ends = {end: sum(one.publication.end == end for one in report.sent) for end in (KEPT, REFUSED, TURNED_AWAY, EITHER)}
    assert ends[KEPT] > 2_000
    assert ends[REFUSED] > 2_000
    assert {one.publication.kind for one in report.sent} == set(badrecords.KINDS)
    grown = {name: most - before for name, (before, most, _) in report.memory.items() if name != "kafka"}
    assert max(grown.values()) < GROWTH_KIB, report.memory
    assert report.memory["kafka"][1] < KAFKA_KIB, report.memory
