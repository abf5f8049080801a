"""Records that intake holds back, on a test's messages and with a test's scorer."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum import topics
from memquorum.core import intake
from memquorum.core.avro import Codec
from memquorum.core.fairness import LEAST
from memquorum.core.intake import EndIntent, Origin, Refusal
from tests.builders import erasures, genesis
from workers.intake import waiting_episodes
from workers.intake.arrivals import Judged
from workers.intake.offsets import Offsets
from workers.intake.waiting_episodes import Holding

NOW = 1_750_000_000_000
GENESIS = genesis.make(shards=4, services=erasures.entitled()["services"])


class Message:
    def __init__(self, topic: str, partition: int, offset: int) -> None:
        self._place = topic, partition, offset

    def topic(self) -> str:
        return self._place[0]

    def partition(self) -> int:
        return self._place[1]

    def offset(self) -> int:
        return self._place[2]


class Line:
    """Shard 0, all of whose records come from one partition."""

    def __init__(self, codec: Codec) -> None:
        self.codec, self.now, self.asked = codec, 0.0, 0
        self.scored: dict[int, int] | None = {0: 0}
        self.holding = Holding(codec, self._progress, lambda: self.now)
        self.read, self.let_in = 0, list[Judged]()

    def _progress(self, _: object) -> dict[int, int] | None:
        self.asked += 1
        return self.scored

    def judged(self, answer: Any, topic: str = topics.EPISODES, partition: int = 0, size: int = 100) -> Judged:
        self.read += 1
        message: Any = Message(topic, partition, self.read)
        return Judged(message, Origin(topic, partition, self.read), answer, size)

    def episode(self, namespace: str, agent: str = "a", partition: int = 0, size: int = 100) -> Judged:
        text = f'{{"agent": "{agent}", "content": "x", "namespace": "{namespace}"}}'
        origin = Origin(topics.EPISODES, partition, self.read)
        answer = intake.accept(self.codec, text.encode(), origin, NOW, False)
        assert not isinstance(answer, Refusal)
        return self.judged(answer, partition=partition, size=size)

    def erasure(self, selector: str, value: str, namespace: str = "flood") -> Judged:
        order = erasures.ordered(GENESIS, selector, value, namespace=namespace)
        data = erasures.signed(self.codec, GENESIS, order)
        return self.judged(erasures.accepted(order, data, NOW), topics.ERASURES)

    def come(self, *records: Judged) -> list[bool]:
        return [self.holding.takes(one) for one in records]

    def release(self) -> list[Judged]:
        """Releases the records whose turn it is; they are in the accepted stream at once."""
        found = []
        for one in self.holding.released():
            self.let_in.append(one)
            found.append(one)
            self.holding.placed(one, 0, len(self.let_in) - 1)
        return found

    def turn(self, scored: int | None = None) -> list[Judged]:
        """Time goes on, and so much more was scored."""
        self.now += 0.1
        if scored is not None:
            assert self.scored is not None
            self.scored[0] += scored
        return self.release()


def spaces(records: list[Judged]) -> list[str]:
    return [getattr(one.answer, "namespace", "") for one in records]


@pytest.fixture
def line(codec: Codec) -> Line:
    return Line(codec)


def test_what_is_scored_in_a_moment_goes_on_and_the_rest_waits_its_turn(line: Line) -> None:
    line.come(*(line.episode("flood") for _ in range(1_500)))
    assert len(line.release()) == LEAST and len(line.holding) == 1_500 - LEAST
    line.come(line.episode("quiet"))
    assert line.turn() == [] and line.holding.namespaces == 2
    assert "quiet" in spaces(line.turn(scored=4))
    while len(line.holding):
        line.turn(scored=LEAST)
    assert len(line.let_in) == 1_501


def test_where_nobody_scores_nothing_waits(line: Line) -> None:
    line.scored = {}
    line.come(*(line.episode("flood") for _ in range(1_500)))
    assert sum(len(line.turn()) for _ in range(200)) == 1_500


def test_where_the_broker_does_not_say_what_was_scored_it_goes_on_slowly(line: Line) -> None:
    line.scored = None
    line.come(*(line.episode("flood") for _ in range(1_500)))
    assert len(line.release()) == LEAST
    assert 0 < sum(len(line.turn()) for _ in range(110)) < 8 * LEAST


def test_an_end_and_feedback_wait_behind_what_waits_of_their_namespace_alone(line: Line) -> None:
    line.come(*(line.episode("flood") for _ in range(200)))
    end = EndIntent("x", "flood", "a", "s", NOW)
    other = EndIntent("y", "quiet", "a", "s", NOW)
    assert line.come(line.judged(end, topics.ENDS), line.judged(other, topics.ENDS)) == [True, False]
    while len(line.holding):
        line.turn(scored=LEAST)
    assert line.let_in[-1].answer is end


@pytest.mark.parametrize(
    ("selector", "value", "behind"),
    [
        ("agent", "ada", 2), ("subject", "ada", 2), ("agent", "eve", None), ("source", "mail", None),
        ("namespace", "", 3), ("age", '{"before": 1}', 3),
    ],
)  # fmt: skip
def test_an_erasure_waits_behind_what_it_names_alone(line: Line, selector: str, value: str, behind: int | None) -> None:
    line.come(*(line.episode("flood", "bob") for _ in range(LEAST)))
    line.release()
    line.come(*(line.episode("flood", agent) for agent in ("ada", "ada", "bob")))
    order = line.erasure(selector, value)
    assert line.come(order) == [behind is not None]
    assert line.come(line.erasure("agent", "ada", "quiet")) == [False]
    if behind is not None:
        line.turn(scored=10)
        assert line.let_in[LEAST:].index(order) == behind


def test_a_memory_is_known_by_its_id_and_a_name_by_either_spelling(line: Line) -> None:
    line.come(*(line.episode("flood", "bob") for _ in range(LEAST)))
    line.release()
    held = line.episode("flood", "Ren\u00e9")
    line.come(held)
    answer: Any = held.answer
    assert line.come(line.erasure("memory", answer.memory_id), line.erasure("agent", "Rene\u0301")) == [True, True]


def test_a_driven_tick_has_everything_go_before_it(line: Line) -> None:
    line.come(*(line.episode("flood") for _ in range(500)))
    line.holding.free = True
    assert len(line.release()) == 500


def test_a_partition_of_which_much_waits_is_not_read_on(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_episodes, "RECORDS_MOST", 100)
    monkeypatch.setattr(waiting_episodes, "BYTES_MOST", 50_000)
    line.come(*(line.episode("flood", partition=1) for _ in range(LEAST + 99)))
    line.come(*(line.episode("flood", partition=2, size=10_000) for _ in range(5)))
    assert line.holding.full == {(topics.EPISODES, 1), (topics.EPISODES, 2)}
    line.release()
    assert line.holding.full == {(topics.EPISODES, 2)}


def test_what_the_group_takes_away_waits_no_longer_and_is_not_counted(line: Line) -> None:
    line.come(*(line.episode("flood", partition=k % 2) for k in range(4 * LEAST)))
    line.release()
    gone = line.holding.lose([(topics.EPISODES, 1)])
    assert len(gone) + len(line.holding) == 3 * LEAST and {one.message.partition() for one in gone} == {1}
    while len(line.holding):
        line.turn(scored=LEAST)
    assert len(line.let_in) + len(gone) == 4 * LEAST


def test_what_is_given_up_is_on_nobodys_way(line: Line) -> None:
    line.come(*(line.episode("flood") for _ in range(3 * LEAST)))
    for one in line.holding.released():
        line.holding.give_up(one)
    assert len(line.holding) == 0


def test_while_little_is_on_its_way_nobody_is_asked(line: Line) -> None:
    line.come(*(line.episode("quiet") for _ in range(LEAST // 2 - 1)))
    assert len(line.release()) == LEAST // 2 - 1 and line.asked == 0


def test_a_partition_is_committed_before_the_first_record_that_waits() -> None:
    records: list[Any] = [Message(topics.EPISODES, 0, at) for at in (3, 4, 7, 8)]
    elsewhere: Any = Message(topics.TASKS, 0, 1)
    offsets = Offsets()
    offsets.read([*records, elsewhere])
    assert offsets.done(records[1:3]) == {}
    assert offsets.done([elsewhere]) == {(topics.TASKS, 0): 2}
    assert offsets.done(records[:1]) == {(topics.EPISODES, 0): 8}
    offsets.lose([(topics.EPISODES, 0)])
    assert offsets.done(records[3:]) == {}
