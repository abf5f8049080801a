"""A model as summariser, against a real server on this machine: what it is sent, what comes of its answers."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.consolidation.faithful import faithful
from memquorum.core.consolidation.leaving import Gate
from memquorum.core.consolidation.losing import coverage_ppm
from memquorum.core.consolidation.rendering import written
from memquorum.core.consolidation.weighing import important
from memquorum.core.reading.tokens import tokens
from memquorum.ports import Source, SummariserUnavailable
from tests import examples
from tests.builders.notes import NOTES
from tests.support.scripted_model import Model as Scripted
from tests.support.scripted_model import scripted_model
from workers.consolidator.budget import Budget
from workers.consolidator.chat import Endpoint
from workers.consolidator.model import Model

KEY = "sk-secret-4711"
SHARE = 700_000


def sources(**facets: Any) -> list[Source]:
    made = [Source(f"m{at:02}", note, 1_000 + at, 600_000 - at, **facets) for at, note in enumerate(NOTES)]
    whole = important(made)
    return [replace(one, whole=one.memory_id in whole) for one in made]


class Rejected(Counter[str]):
    def __call__(self, reason: str, count: int) -> None:
        self[reason] += count


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with scripted_model(seed=1) as server:
        yield server


OPEN = Gate(0, "summarising")


def model(server: Scripted, folder: Path, *, most: int = 0, gate: Gate = OPEN, **more: Any) -> Model:
    endpoint = Endpoint(server.url, "scripted-1", "127.0.0.1", KEY, timeout_s=more.pop("timeout_s", 10.0), retries=1)
    budget = Budget(folder / "spent.json", most)
    return Model(endpoint, gate, budget, sleep=lambda _: None, **more)


def test_what_it_writes_is_a_summary_that_members_find_faithful(tmp_path: Path) -> None:
    invented, wrote = 0, 0
    for seed in range(12):
        with scripted_model(seed=seed) as server:
            rejected = Rejected()
            given = sources()
            text, quotes = model(server, tmp_path, refused=rejected).summarise(given, SHARE) or ("", ())
            texts, times = {one.memory_id: one.text for one in given}, {one.memory_id: one.at for one in given}
            sentences = written(text, quotes, texts)
            assert sentences is not None and faithful(quotes, texts, times, sentences)
            assert coverage_ppm(quotes, given, sentences, lost_rank_ppm=0)[0] > 250_000
            for one in server.invented:
                assert one.sentence not in text, one
            assert bool(rejected) >= bool(server.invented)
            assert tokens(text) <= sum(tokens(one.text) for one in given) * 0.75, "longer than its share"
            invented, wrote = invented + len(server.invented), wrote + len(sentences)
    assert invented > 5 and wrote > 12, "the model made nothing up, or nothing that may stand"


def test_nothing_but_the_numbered_texts_is_sent(scripted: Scripted, tmp_path: Path) -> None:
    given = sources(agent="anna", jurisdictions="")
    model(scripted, tmp_path).summarise(given, SHARE)
    (asked,) = scripted.requests
    assert scripted.keys == [f"Bearer {KEY}"]
    told = json.loads(asked["messages"][-1]["content"])
    assert [one["text"] for one in told["memories"]] == [one.text for one in given if not one.whole]
    assert set(told) == {"memories", "tokens"} and all(set(one) == {"n", "text"} for one in told["memories"])
    assert "anna" not in json.dumps(asked) and "m00" not in json.dumps(asked)


FACETS = st.fixed_dictionaries(
    {
        "sensitivity_ppm": st.sampled_from([0, 100_000, 100_001, 1_000_000]),
        "purposes": st.sampled_from([None, "", "summarising", "billing", "billing,summarising"]),
        "jurisdictions": st.sampled_from(["", "DE", "US-CA", "DE,US-CA"]),
    }
)


def alike(sensitivity_ppm: int, purposes: str | None, jurisdictions: str) -> list[dict[str, Any]]:
    facets = {"sensitivity_ppm": sensitivity_ppm, "purposes": purposes, "jurisdictions": jurisdictions}
    return [facets] * len(NOTES)


# A text that only one gate withholds is tried each time, and not only by chance.
@example(alike(100_001, None, ""), {"DE"})
@example(alike(0, "billing", ""), {"DE"})
@example(alike(0, None, "US-CA"), {"DE"})
@given(st.lists(FACETS, min_size=len(NOTES), max_size=len(NOTES)), st.sets(st.sampled_from(["DE", "US-CA"])))
@settings(deadline=None, max_examples=examples(60))
def test_what_is_kept_back_is_in_no_request(facets: list[dict[str, Any]], laws: set[str]) -> None:
    with scripted_model(invents=0) as server:
        asked = model(server, Path("/tmp"), gate=Gate(100_000, "summarising", frozenset(laws)))
        given = [replace(one, **facet) for one, facet in zip(sources(), facets, strict=True)]
        may = [
            one.sensitivity_ppm <= 100_000
            and one.purposes in (None, "summarising", "billing,summarising")
            and set(one.jurisdictions.split(",")) - {""} <= laws
            for one in given
        ]
        assert asked.takes(given, SHARE) == all(may)
        if all(may[at] for at, one in enumerate(given) if not one.whole):
            asked.summarise(given, SHARE)
        else:
            with pytest.raises(ValueError, match="may not leave"):
                asked.summarise(given, SHARE)
        sent = json.dumps(server.requests, ensure_ascii=False)
        assert not any(one.text in sent for one, lets in zip(given, may, strict=True) if not lets)


@pytest.mark.parametrize(
    "out, told",
    [
        (503, "status 503: out of order"),
        (401, "status 401: out of order"),
        ("nonsense", "no JSON of sections"),
        ("close", "RemoteProtocolError"),
        ("hang", "ReadTimeout"),
    ],
)
def test_a_failure_says_what_it_was_and_never_the_key(
    scripted: Scripted, tmp_path: Path, out: int | str, told: str
) -> None:
    scripted.out = out
    with pytest.raises(SummariserUnavailable, match=told) as raised:
        model(scripted, tmp_path, timeout_s=0.2).summarise(sources(), SHARE)
    assert KEY not in str(raised.value)
    assert len(scripted.requests) == (1 if out in (401, "nonsense") else 2), "what is no passing fault was tried again"
    assert KEY not in repr(Endpoint(scripted.url, "m", "h", KEY))


def test_an_endpoint_that_tells_the_key_is_not_repeated(scripted: Scripted, tmp_path: Path) -> None:
    scripted.out, scripted.error = 401, f"the key {KEY} is unknown"
    with pytest.raises(SummariserUnavailable, match="the key … is unknown"):
        model(scripted, tmp_path).summarise(sources(), SHARE)


def test_an_endpoint_that_is_down_is_not_asked_for_each_session(scripted: Scripted, tmp_path: Path) -> None:
    now, scripted.out = [0.0], 503
    asked = model(scripted, tmp_path, clock=lambda: now[0])
    for _ in range(3):
        with pytest.raises(SummariserUnavailable):
            asked.summarise(sources(), SHARE)
    assert len(scripted.requests) == 2 and asked.rests_s > 0
    scripted.out, now[0] = None, now[0] + asked.rests_s
    assert asked.summarise(sources(), SHARE) is not None and asked.rests_s == 0


def test_a_budget_ends_and_begins_anew_on_the_next_day(scripted: Scripted, tmp_path: Path) -> None:
    now = [0.0]
    budget = Budget(tmp_path / "spent.json", 4_000, lambda: now[0])
    endpoint = Endpoint(scripted.url, "scripted-1", "127.0.0.1")
    asked = Model(endpoint, Gate(0, "summarising"), budget)
    with pytest.raises(SummariserUnavailable, match="budget of 4,000 tokens a day is spent"):
        for _ in range(20):
            asked.summarise(sources(), SHARE)
    count = len(scripted.requests)
    assert 1 <= count < 20
    # A restart grants no more; the next day does.
    again = Budget(tmp_path / "spent.json", 4_000, lambda: now[0])
    assert again.spent == budget.spent > 0
    now[0] = 24 * 3600.0
    assert again.spent == 0
    again.take(4_000)
    with pytest.raises(SummariserUnavailable):
        again.take(1)


def test_what_leaves_no_room_is_not_asked_for(scripted: Scripted, tmp_path: Path) -> None:
    asked = model(scripted, tmp_path)
    given = sources()
    assert asked.takes(given, SHARE)
    assert not asked.takes(given[:3], SHARE), "all of three memories stand there anyway"
    tiny = [replace(one, text="Yes.") for one in given]
    assert not asked.takes(tiny, SHARE), "a call for less than 20 tokens"


def test_an_answer_without_end_is_cut_off(tmp_path: Path) -> None:
    """A server that sends more than anybody asked for."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Endless(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        endpoint = Endpoint(f"http://127.0.0.1:{server.server_address[1]}", "m", "h", retries=0)
        asked = Model(endpoint, Gate(0, "summarising"), Budget(tmp_path / "s", 0))
        with pytest.raises(SummariserUnavailable, match="more than 1,048,576 bytes"):
            asked.summarise(sources(), SHARE)
    finally:
        server.shutdown()
        server.server_close()
