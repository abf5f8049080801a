"""A turn takes its time and no more, and finds what a trial by the rules alone finds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, cast

import pytest

from memquorum.core.avro import Codec
from memquorum.core.contained import Failed
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.trial import Case, tried
from memquorum.core.experience.view import Experience, Held
from memquorum.core.journal.rows import RowKeys
from memquorum.ports import StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from tests.builders import genesis, votes
from tests.builders import tried as builders
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.tried import clear
from tests.inmemory.store import InMemoryStore
from tests.inmemory.trials import InMemoryTrialLook, InMemoryTrials
from tests.support.turns import Turns
from workers.verifier import worker
from workers.verifier.verifier_turn import FEW, TRIED, Made, Trying
from workers.verifier.worker import Publisher, Verifying

GENESIS = genesis.make(**builders.entitled())
SAYS = "The gateway uses port 8443."
MANY = 12


@pytest.fixture
def memory(codec: Codec) -> InMemoryTrials:
    """A dozen memories, five tasks that they answer, and a decision."""
    shard, store = Shard(codec, GENESIS), InMemoryStore()
    store.start(GENESIS.cluster, GENESIS.shards)
    texts = {}
    for at in range(MANY):
        shard.episode(f"m{at}", 1_000 + at)
        texts[memory_id(f"m{at}")] = clear(f"{SAYS} Said {at} times.", 0.6 + at / 100, 0.8)
    for at in range(5):
        shard.task(f"t{at}", ())
        texts[memory_id(f"t{at}")] = clear(SAYS, 0.6, 0.8 - at / 100, goal="Which port?")
    shard.tick(9_000)
    shard.decide([votes.proposal(memory_id("m0"), "forget")], votes.nobody)
    net = shard.work.net()
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], texts, {})
    return InMemoryTrials(store)


def trying(codec: Codec, *times: float, budget_ms: int = 500) -> Trying:
    """`times`: what the clock says; the last one from then on."""
    left, told = iter(times or (0.0,)), [0.0]

    def clock() -> float:
        told[0] = next(left, told[0])
        return told[0]

    return Trying(codec, GENESIS, builders.VERIFIERS, budget_ms=budget_ms, clock=clock)


def test_it_finds_what_the_rules_find_over_all_tasks(codec: Codec, memory: InMemoryTrials) -> None:
    made = trying(codec).turn(memory).made
    assert len(made) == 2 * MANY
    with memory.look(0) as look:
        contexts = look.contexts([one.id for one in look.places(NAMESPACE)])
        (first, *_) = look.untried(NAMESPACE, None, 1)
        said = look.texts([first.memory_id])[first.memory_id]
    held = Held(first.memory_id, said, first.encoder, first.vector)
    expected = tried(Case(held, contexts, Experience(first.encoder, 2), 1), Reach(), GENESIS.policy.experience)
    assert {one.statistics for one in made if one.statistics.candidate == first.memory_id} == {expected}


def test_a_turn_that_is_cut_short_goes_on_where_it_was(codec: Codec, memory: InMemoryTrials) -> None:
    # The clock is asked at the beginning, once before the page, and after each candidate.
    worker = trying(codec, 0.0, 0.0, 0.1, 0.2, 0.6)
    first = worker.turn(memory)
    assert (first.looked, first.more) == ({TRIED: 3}, True)
    second = trying_on(worker).turn(memory)
    assert (second.looked, second.more) == ({TRIED: MANY - 3}, False)
    candidates = [one.statistics.candidate for one in (*first.made, *second.made)][::2]
    assert candidates == [memory_id(f"m{at}") for at in range(MANY)], "the oldest first, and each once"


def trying_on(before: Trying) -> Trying:
    """The same, with time again."""
    before._clock = lambda: 0.0
    return before


def test_a_store_that_breaks_within_a_turn_costs_the_turn_alone(
    codec: Codec, memory: InMemoryTrials, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, answers = trying(codec), [2]
    texts = InMemoryTrialLook.texts

    def breaks(look: InMemoryTrialLook, ids: Collection[str]) -> dict[str, str]:
        answers[0] -= 1
        if answers[0] < 0:
            raise StoreUnavailable("gone")
        return texts(look, ids)

    with monkeypatch.context() as broken:
        broken.setattr(InMemoryTrialLook, "texts", breaks)
        first = worker.turn(memory)
        assert (first.looked, first.more) == ({TRIED: 2}, True), "what was found until then is told"
        with pytest.raises(StoreUnavailable):
            worker.turn(memory)
    second = worker.turn(memory)
    assert (len(first.made), len(second.made), second.looked[TRIED]) == (4, 2 * MANY - 4, MANY - 2)


def test_where_no_namespace_has_tasks_a_turn_is_one_question(codec: Codec) -> None:
    asked = list[str]()

    class Counted(InMemoryTrials):
        def look(self, patience_ms: int) -> Any:
            asked.append("look")
            return super().look(patience_ms)

    store = InMemoryStore()
    store.start(GENESIS.cluster, GENESIS.shards)
    turned = trying(codec).turn(Counted(store))
    assert (turned.made, turned.looked, turned.more, asked) == ((), {}, False, ["look"])


class Published:
    """Keeps what it is handed."""

    def __init__(self) -> None:
        self.made = list[Made]()

    def publish(self, made: tuple[Made, ...]) -> int:
        self.made += made
        return len(made)

    def flush(self, _: float) -> bool:
        return True

    def close(self) -> None:
        pass


class Away(InMemoryTrials):
    """A store that answers from the second question on."""

    away = 1

    def look(self, patience_ms: int) -> Any:
        if self.away:
            self.away -= 1
            raise StoreUnavailable("away")
        return super().look(patience_ms)


def test_a_store_that_does_not_answer_is_asked_again(
    codec: Codec, memory: InMemoryTrials, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: Iterator[float] = iter(range(100, 10_000, 6))
    monkeypatch.setattr(worker.os, "nice", lambda _: 0)
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(times))
    shown, published = Telemetry(), Published()
    stop = Turns(shown, 3, "trials")
    Verifying(
        trying(codec, budget_ms=9_999), memory=Away(memory._store), publisher=cast(Publisher, published), stop=stop,
        every_s=5, telemetry=shown,
    ).run()  # fmt: skip
    assert stop.told[0] == "no candidate was looked at since this process began"
    assert stop.told[-1].startswith("the last look at candidates ended at 20")
    assert stop.told[-1].endswith(f": {MANY} candidates tried")
    assert worker.report({"few": 1, "waits": 0}) == "1 candidate without enough finished tasks about the same"
    assert worker.report({}) == "no candidate was new"
    assert len(published.made) == 2 * MANY
    assert shown.meters.tried.labels(TRIED)._value.get() == MANY and shown.meters.trying._value.get() > 0
    assert shown.meters.tried.labels(FEW)._value.get() == 0


def test_a_task_on_whose_text_a_rule_raises_judges_nothing_and_ends_nothing(
    codec: Codec, memory: InMemoryTrials, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = Reach.asks, memory_id("t0")

    def asks(self: Reach, context: Any) -> bool:
        if context.id == broken:
            raise ValueError("beyond the rule")
        return whole(self, context)

    monkeypatch.setattr(Reach, "asks", asks)
    turned = trying(codec).turn(memory)
    assert list(turned.failures) == [Failed("reward", (broken,), "ValueError")]
