"""A genuine Prometheus scrapes a running installation: every panel of the dashboards has data, and no alert fires."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import process_telemetry
from memquorum.client import Refused
from memquorum.telemetry import reading
from tests.support.sessions import NOTES, SIGNED, Plant
from tests.support.waiting import until
from tests.support.watched import DASHBOARDS, WITHOUT, Prometheus, panels, prometheus

pytestmark = pytest.mark.skipif(WITHOUT is not None, reason=WITHOUT or "")
NAMESPACE = "watched"

# Panels without data on a healthy line, and why.
EMPTY = {
    "Waits, by what for": "no stage waits",
    "Back-pressure, by whom": "nothing is slowed down",
    "Episodes waiting for a score": "set when a shard first waits",
    "Proven faults, by rule": "no member has contradicted itself",
    "Missing ballots": "set when a ballot is first missing",
    "Ballots left out by proposers": "set when a ballot is first left out",
    "View": "set when a primary is first replaced",
    "Changes of primaries": "set when a primary is first replaced",
    "Checkpoints": "a shard's first checkpoint comes after 64 decisions",
    "Messages passed over": "set when a message is first passed over",
    "Namespaces whose forgetting a cap has stopped": "set when a nomination looks at caps",
    "Stopped by a cap": "set when a nomination looks at caps",
    "Memories about which the scales disagree": "set when scales first disagree",
    "Experience": "no memory was tried",
    "Gain of using experience": "no experience was used",
    "Texts that need no encoding": "set when a text first comes again",
    "Rules that failed on a text": "no rule has failed",
    "Sentences of a model that were left out": "there is no model that sums up",
    "Refused for a limit": "no namespace of these tests is over its limit",
    "Requests refused": "no request came with a wrong key",
    "Tokens beyond budgets that may not go": "there are no budgets",
    "Spent of what draws may cost a subject": "there are no budgets",
    "Subjects that take part in no more draws": "there are no budgets",
}


@pytest.fixture(scope="module")
def watching(fleet: Plant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has watched an epoch, an erasure, a search and a refusal."""
    with prometheus(fleet.line, tmp_path_factory.mktemp("prometheus")) as found:
        names = set(process_telemetry.announced(fleet.line.run_dir))
        until(lambda: found.targets() == dict.fromkeys(names, "up"), lambda: str(found.targets()))
        with fleet.client(NAMESPACE) as memory:
            first, *_ = fleet.live(memory, "watched", NOTES)
            assert memory.search("Which valve?")
            fleet.later(lambda: memory.get(first).tier in ("sealed", "long-term"))
            memory.erase(memory_id=first, dry_run=False)
        with fleet.client(SIGNED) as unsigned, pytest.raises(Refused):
            unsigned.add("It leaks.", wait=True)
        voted = "count(sum by (instance) (memquorum_epochs_decided_total) > 0) == 4"
        until(lambda: found.series(voted), "not all members saw an epoch decided")
        alive = "SELECT sum(alive)::text FROM living"
        until(
            lambda: [(one["value"][1],) for one in found.series("sum(memquorum_memories)")] == fleet.rows(alive),
            "memories in use were counted wrong",
        )
        until(lambda: found.series('sum(memquorum_journal_entries_total{effect="erased"}) > 0'), "no erasure was seen")
        yield found


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_has_data(watching: Prometheus, dashboard: Path) -> None:
    def without() -> set[str]:
        return {
            f"{panel.title}: {query}"
            for panel in panels(dashboard)
            for query in panel.queries
            if panel.title not in EMPTY and not watching.series(query)
        }

    until(lambda: not without(), lambda: str(without()))  # a rate needs two scrapes


def test_what_is_said_to_be_empty_is_a_panel_and_its_query_is_sound(watching: Prometheus) -> None:
    known = {panel.title: panel for dashboard in DASHBOARDS for panel in panels(dashboard)}
    for title in EMPTY:
        for query in known[title].queries:
            watching.series(query)  # raises where it is no query


def test_rules_are_evaluated_and_none_fires(watching: Prometheus) -> None:
    def rules() -> dict[str, tuple[str, str]]:
        return {
            one["name"]: (one["health"], one["state"]) for group in watching.get("rules")["groups"]
            for one in group["rules"]
        }  # fmt: skip

    until(lambda: {health for health, _ in rules().values()} == {"ok"}, lambda: str(rules()))
    assert {name for name, (_, state) in rules().items() if state == "firing"} == set()


def test_a_latency_leads_to_a_trace(fleet: Plant, watching: Prometheus) -> None:
    def led() -> bool:
        found = watching.exemplars("memquorum_latency_seconds_bucket")
        return any(reading.find(process_telemetry.traces_dir(fleet.line.run_dir), one["trace_id"]) for one in found)

    until(led, "no exemplar of a latency names a trace that was kept")
