"""The salience stage without Kafka: one outcome per episode, in order; outages wait, bad records do not stop it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids, intake, learning, letters, sealing
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import Texts
from memquorum.core.policy import PPM, LearnedPolicy, Policy
from memquorum.core.reading.passages import passages
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    EpisodeAccepted,
    EpisodeScored,
    OrderAccepted,
    Task,
)
from memquorum.core.worth import ln_ppm
from memquorum.encoders.contradiction import OnnxContradiction
from memquorum.ports import (
    EncoderUnavailable,
    JournalChange,
    Neighbour,
    StoreUnavailable,
    StreamUnavailable,
    VaultBehind,
    VaultUnavailable,
)
from streams.assignments import Displaced
from streams.opened import DESTROYED
from streams.stage import Arrival
from tests.builders import contradicting
from tests.builders.salience import ANN, NOW, SHARD, Line, Stream
from tests.inmemory.store import InMemoryVault


@pytest.fixture
def line(codec: Codec) -> Line:
    return Line(codec)


def mid(event: str, namespace: str = "n") -> str:
    return ids.memory_id(namespace, event)


def test_an_episode_is_stored_with_its_signals_and_sealed_vector(line: Line) -> None:
    arrival = line.episode("The pump leaks.", "e", reward_ppm=700_000, confidence_ppm=800_000, uncertainty_ppm=100_000)
    (output,) = line.stage.process([arrival])
    assert (output.topic, output.partition, output.key) == (topics.SCORED, SHARD, b"n")
    assert (output.kind, output.event_id, output.traceparent) == ("EpisodeScored", "scored/1/10", "00-trace")
    (scored,) = line.read([output])
    assert scored.sealed_embedding is not None
    # Its two words were never said: of the 256 ordinary texts those are worth less that have but one.
    assert scored.worth_ppm == 2 * ln_ppm(258) and scored.like == "episodic/agent"
    assert scored.rank_ppm is not None and 500_000 < scored.rank_ppm < 700_000
    # (0.30 · 1 + 0.35 · 0.7 + 0.10 · 0.8 + 0.20 · rank) / 0.95, rounded half up
    salience = (
        2 * (300_000 * 10**6 + 350_000 * 700_000 + 100_000 * 800_000 + 200_000 * scored.rank_ppm) + 950_000
    ) // (2 * 950_000)
    assert scored == EpisodeScored(
        event_id="e", memory_id=mid("e"), namespace="n", agent="ann", accepted_offset=10, occurred_at=NOW,
        outcome="stored", salience_ppm=salience, early=True, encoder="hashing-384/1", reinforces=None,
        novelty_ppm=1_000_000, sealed_embedding=scored.sealed_embedding, worth_ppm=scored.worth_ppm,
        rank_ppm=scored.rank_ppm, sealed_counts=scored.sealed_counts, like=scored.like,
    )  # fmt: skip
    (key,) = line.vault.open([mid("e")]).values()
    vector = sealing.open_vector(key, scored.sealed_embedding, mid("e"))
    assert np.allclose(vector, line.encoder.encode(["The pump leaks."])[0], atol=1e-3)


def test_the_passages_of_a_long_text_travel_with_its_vector_and_those_of_a_short_one_do_not_exist(line: Line) -> None:
    text = " ".join(f"Berth {number} is swept on the {number}th of the month." for number in range(60))
    short, long = line.process(line.episode("The pump leaks.", "s"), line.episode(text, "l"))
    assert short.sealed_sentences is None and long.sealed_embedding is not None
    (key,) = line.vault.open([mid("l")]).values()
    rows = sealing.open_rows(key, long.sealed_embedding, long.sealed_sentences, mid("l"))
    wanted = line.encoder.encode([text, *(text[start:end] for start, end in passages(text))])
    assert len(rows) > 4 and np.allclose(rows, wanted, atol=1e-3)
    again, _ = line.process(line.episode(text, "again"), line.episode("poison. " * 200, "p"))
    assert (again.outcome, again.reinforces) == ("reinforced", mid("l"))


def test_a_text_of_which_no_passages_can_be_told_is_encoded_as_a_whole(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading it is no matter of its key: it was called unreadable, and its key destroyed."""

    def fails(*_: object, **__: object) -> None:
        raise ValueError("a rule")

    monkeypatch.setattr("streams.opened.embedded_texts", fails)
    (scored,) = line.process(line.episode("The pump leaks.", "e"))
    assert scored.outcome == "stored" and scored.sealed_embedding is not None and scored.sealed_sentences is None


def test_a_passage_that_cannot_be_encoded_fails_its_text_alone(line: Line) -> None:
    good, bad = line.process(line.episode("The pump leaks.", "s"), line.episode("The tap drips. " * 99 + "poison", "p"))
    assert (good.outcome, bad.outcome) == ("stored", "failed")


def test_what_was_learned_stands_for_the_rank_where_it_is_in_force_and_the_score_says_so(codec: Codec) -> None:
    taught = LearnedPolicy(reward_ppm=4_000_000, rewarded_ppm=-1_000_000)
    asked: list[int] = []

    def learned(shard: int) -> LearnedPolicy:
        asked.append(shard)
        return taught

    line = Line(codec, learned=learned)
    good, bad = line.episode("The pump leaks.", reward_ppm=900_000), line.episode("A valve sticks.", reward_ppm=0)
    high, low = line.process(good, bad)
    assert asked == [SHARD], "once a batch"
    assert (high.learned_ppm, low.learned_ppm) == (930_862, 268_941)  # 1 / (1 + exp(−2.6)), 1 / (1 + exp(1))
    assert high.learned_by == low.learned_by == learning.digest(taught)
    assert high.rank_ppm is not None and high.worth_ppm is not None, "members vote by the rank as before"
    # (0.30 · 1 + 0.35 · reward + 0.20 · learned) / 0.85, rounded half up
    for scored, reward in ((high, 900_000), (low, 0)):
        weighted = 300_000 * 10**6 + 350_000 * reward + 200_000 * (scored.learned_ppm or 0)
        assert scored.salience_ppm == (2 * weighted + 850_000) // (2 * 850_000)
    shipped = Line(codec)
    (plain,) = shipped.process(shipped.episode("The pump leaks.", reward_ppm=900_000))
    assert (plain.learned_ppm, plain.learned_by) == (None, None)


def test_who_cannot_ask_what_is_in_force_waits(codec: Codec) -> None:
    def learned(_: int) -> LearnedPolicy:
        raise StoreUnavailable("away")

    line = Line(codec, learned=learned)
    with pytest.raises(StoreUnavailable):
        line.process(line.episode("The pump leaks."))


def test_outcomes_stand_in_the_order_of_the_episodes_and_only_of_them(line: Line) -> None:
    access = line.arrival(AccessAccepted("x", (mid("e"),), "n", "ann", NOW))
    tick = line.arrival(ClockTicked("t", NOW))
    episodes = [line.episode(f"Message number {n} of quite another kind {n * 7919}") for n in range(5)]
    scored = line.process(tick, *episodes[:2], access, *episodes[2:])
    assert [s.accepted_offset for s in scored] == [e.offset for e in episodes]


def test_an_episode_sees_those_before_it_in_its_batch(line: Line) -> None:
    first, second = line.episode("The valve is stuck again.", "a"), line.episode("the valve is stuck again", "b")
    one, two = line.process(first, second)
    assert (one.outcome, two.outcome, two.reinforces) == ("stored", "reinforced", one.memory_id)
    assert two.sealed_embedding is not None
    assert two.novelty_ppm == 0


def test_a_later_batch_sees_what_an_earlier_stored(line: Line) -> None:
    line.process(line.episode("The valve is stuck again.", "a"))
    (scored,) = line.process(line.episode("the valve is stuck again", "b"))
    assert (scored.outcome, scored.reinforces) == ("reinforced", mid("a"))


def test_what_says_nothing_is_below_the_threshold_and_has_no_vector(line: Line) -> None:
    (scored,) = line.process(line.episode("ok thanks!", "b"))
    assert (scored.outcome, scored.sealed_embedding) == ("below_threshold", None)
    assert (scored.novelty_ppm, scored.encoder) == (0, "hashing-384/1")


def test_another_number_is_new_however_near(line: Line) -> None:
    line.process(line.episode("The pump leaks at valve 3.", "a"))
    (scored,) = line.process(line.episode("The pump leaks at valve 4.", "b"))
    assert (scored.outcome, scored.novelty_ppm) == ("stored", 1_000_000)


def test_the_journal_brings_memories_and_takes_them_away(line: Line) -> None:
    vector = line.encoder.encode(["The valve is stuck again."])[0].astype(np.float16).astype(np.float32)
    line.journal.answers = [
        JournalChange(7, (Neighbour("old", "bob", vector, "The valve is stuck again.", "hashing-384/1", ANN),), ()),
        JournalChange(9, (), ("old",)),
    ]
    (scored,) = line.process(line.episode("the valve is stuck again", agent="ann"))
    assert (scored.outcome, scored.reinforces) == ("reinforced", "old")
    (scored,) = line.process(line.episode("the valve is stuck again", agent="cat"))
    assert (scored.outcome, scored.novelty_ppm) == ("stored", 1_000_000)
    line.process(line.episode("Something else altogether."))
    assert line.journal.asked == [(SHARD, "n", None), (SHARD, "n", 7), (SHARD, "n", 9)]


def test_what_an_agent_wants_remembered_is_stored_and_keeps_to_its_slot(line: Line) -> None:
    said = [
        line.episode("ok", confidence_ppm=0, explicit=True),
        line.episode("Ada eats no meat.", explicit=True),
        line.episode("Ada eats no meat.", explicit=True, slot="ada/dietary"),
        line.episode("Ada eats no meat.", explicit=True, slot="ada/dietary"),
        line.episode("Ada eats no meat.", explicit=True, slot="ada/allergies"),
    ]
    scored = line.process(*said)
    assert [one.outcome for one in scored] == ["stored", "stored", "stored", "reinforced", "stored"]
    assert scored[3].reinforces == scored[2].memory_id


def test_a_write_of_nothing_is_not_judged_and_surrounds_nobody(line: Line) -> None:
    clearing = line.episode("", "nothing", explicit=True, slot="ada/dietary", clears=True)
    line.vault.destroy([mid("nothing")])  # nothing is to be read
    (scored,) = line.process(clearing)
    assert (scored.outcome, scored.encoder, scored.sealed_embedding) == ("cleared", "none: no text", None)
    assert (scored.worth_ppm, scored.novelty_ppm, scored.salience_ppm) == (None, None, 0)
    outputs = line.stage.poisoned(clearing, RuntimeError())
    assert (line.read(outputs)[0].outcome, line.letters(outputs)) == ("cleared", [])
    line.process(line.episode("Ada eats no meat.", explicit=True))
    assert "" not in line.encoder.tried


def test_a_finished_task_is_kept_whatever_it_says_and_surrounds_nobody(line: Line) -> None:
    said = {"task": Task("failed", "ann", b"h" * 32, 0), "type": "task"}
    asked = Texts("Open valve 3.", "4 bar")
    first, again = line.episode(asked.content, "t", **said), line.episode(asked.content, "u", **said)
    ok = line.episode(Texts("ok").content, "ok", **said)
    for scored in line.process(first, again, ok):
        assert (scored.outcome, scored.reinforces, scored.salience_ppm) == ("stored", None, 0)
        assert (scored.novelty_ppm, scored.worth_ppm, scored.rank_ppm, scored.sealed_counts) == (None, None, None, None)
    sealed = line.process(first)[0].sealed_embedding
    assert sealed is not None
    vector = sealing.open_vector(line.vault.open([mid("t")])[mid("t")], sealed, mid("t"))
    assert np.allclose(vector, line.encoder.encode(["Open valve 3.\n4 bar"])[0], atol=1e-3)
    (episode,) = line.process(line.episode("Open valve 3.\n4 bar", "e"))
    assert (episode.outcome, episode.reinforces, episode.novelty_ppm) == ("stored", None, 1_000_000)


def test_a_task_without_texts_is_unreadable(line: Line) -> None:
    (scored,) = line.process(line.episode("no texts", "t", task=Task("failed", "ann", b"h" * 32, 0)))
    assert (scored.outcome, scored.sealed_embedding) == ("unreadable", None)


def test_namespaces_do_not_see_each_other(line: Line) -> None:
    here, there = line.process(
        line.episode("The valve is stuck again.", namespace="n"),
        line.episode("The valve is stuck again.", namespace="m"),
    )
    assert (here.outcome, there.outcome) == ("stored", "stored")
    assert there.novelty_ppm == 1_000_000
    assert {(ns, seq) for _, ns, seq in line.journal.asked} == {("n", None), ("m", None)}


def test_a_second_delivery_is_not_its_own_neighbour(line: Line) -> None:
    arrival = line.episode("The valve is stuck again.", "a")
    first, again = line.process(arrival)[0], line.process(arrival)[0]
    first, again = (replace(one, sealed_embedding=None, sealed_counts=None) for one in (first, again))
    assert first == again


def test_assignment_forgets_the_shard(line: Line) -> None:
    line.process(line.episode("The valve is stuck again.", "a"))
    line.stage.assigned(frozenset({0}))
    line.process(line.episode("Something else altogether."))
    line.stage.assigned(frozenset({SHARD}))
    (scored,) = line.process(line.episode("the valve is stuck again", "b"))
    assert scored.outcome == "stored"
    assert [seq for _, _, seq in line.journal.asked] == [None, 0, None]


def test_an_order_to_erase_forgets_what_is_in_memory_of_its_namespace_alone(line: Line) -> None:
    line.process(line.episode("The valve is stuck again.", "a"))
    line.process(line.episode("The valve is stuck again.", "x", namespace="other"))
    order = OrderAccepted(ids.memory_id("orders", "1"), "erase", "n", (), b"signed", NOW, topics.ERASURES, 0, 0)
    # Memories of the same batch are not kept in memory either.
    line.process(line.arrival(order), line.episode("The valve is stuck once more.", "b"))
    before = len(line.journal.asked)
    (scored,) = line.process(line.episode("the valve is stuck again", "c"))
    assert (scored.outcome, scored.novelty_ppm) == ("stored", 1_000_000)
    (scored,) = line.process(line.episode("the valve is stuck again", "y", namespace="other"))
    assert scored.outcome == "reinforced"
    assert [seq for _, _, seq in line.journal.asked[before:]] == [None, 0]


def test_a_destroyed_key_is_unreadable_and_says_so(line: Line) -> None:
    erased, sound = line.episode("Erase me.", "a"), line.episode("Keep me.", "b")
    line.vault.destroy([mid("a")])
    gone, kept = line.process(erased, sound)
    assert (gone.outcome, gone.encoder, gone.salience_ppm) == ("unreadable", DESTROYED, 0)
    assert (gone.novelty_ppm, gone.sealed_embedding) == (None, None)
    assert kept.outcome == "stored"


def test_content_sealed_with_another_key_is_unreadable(line: Line) -> None:
    bad = line.episode("text", "a", sealed_content=b"0" * 40)
    found, sound = line.process(bad, line.episode("Keep me."))
    assert (found.outcome, found.encoder) == ("unreadable", "none: SealError")
    assert sound.outcome == "stored"


def test_a_text_that_cannot_be_encoded_takes_no_other_with_it(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    texts = ["Tank 1 leaks.", "A poison pill, secret.", "Tank 2 is shut."]
    scored = line.process(*[line.episode(text) for text in texts])
    assert [(s.outcome, s.encoder) for s in scored] == [
        ("stored", "hashing-384/1"),
        ("failed", "none: RuntimeError"),
        ("stored", "hashing-384/1"),
    ]
    assert line.encoder.tried["A poison pill, secret."] == 1 + 3  # with the others, and then alone
    assert "offset 11 cannot be scored" in caplog.text


def test_what_failed_has_a_dead_letter_that_says_it_again(line: Line) -> None:
    arrival = line.episode("A poison pill.", "p", reward_ppm=700_000, session="s", derives_from=(mid("a"),))
    letter, score = line.stage.process([arrival, line.episode("Sound.")])[:2]
    assert [output.topic for output in (letter, score)] == [topics.REFUSED, topics.SCORED]
    (found,) = line.letters([letter])
    assert (found.reason, found.key_id, found.signature) == ("failed", mid("p"), None)
    assert "poison" not in found.detail and "RuntimeError" in found.detail
    (key,) = line.vault.open([mid("p")]).values()
    payload = letters.open_payload(found.key_id, key, found.sealed_payload)
    intent = intake.accept(line.codec, payload, intake.Origin(topics.EPISODES, 0, 9, NOW), NOW, False)
    assert isinstance(intent, intake.EpisodeIntent)
    accepted = line.codec.decode_as(EpisodeAccepted, arrival.value)
    for name in ("event_id", "memory_id", "namespace", "agent", "subject", "occurred_at", "session", "reward_ppm",
                 "derives_from", "type", "purposes"):  # fmt: skip
        assert getattr(intent, name) == getattr(accepted, name)
    assert intent.content == "A poison pill."


def test_what_an_agent_signed_is_in_its_letter_as_it_was_signed(line: Line) -> None:
    signed = b"s" * 64 + b'{"agent": "ann", "content": "A poison pill."}'
    (key,) = line.vault.create([(mid("p"), "n", "ann")]).values()
    arrival = line.episode("A poison pill.", "p", sealed_signed=sealing.seal_signed(key, bytes(12), signed, mid("p")))
    (found,) = line.letters(line.stage.process([arrival]))
    assert found.signature == b"s" * 64
    assert letters.open_payload(found.key_id, key, found.sealed_payload) == signed[64:]


def test_a_batch_that_is_read_ahead_is_encoded_before_its_turn_and_scored_as_any_other(line: Line) -> None:
    batches = [[line.episode(f"Valve {at} is stuck."), line.episode("poison"), line.episode("ok")] for at in range(3)]
    for batch in batches[:2]:
        line.stage.ahead(batch)
    line.stage._known._encoding.vectors([])  # comes after what was begun before
    assert line.encoder.tried["Valve 0 is stuck."] == line.encoder.tried["Valve 1 is stuck."] > 0
    tried = line.encoder.tried.copy()
    scored = [line.read(line.stage.process(batch)) for batch in batches]
    assert [line.encoder.tried[f"Valve {at} is stuck."] - tried[f"Valve {at} is stuck."] for at in range(2)] == [0, 0]
    assert [[one.outcome for one in some] for some in scored] == 3 * [["stored", "failed", "below_threshold"]]


def test_what_is_away_when_a_batch_is_read_ahead_is_asked_for_again_in_its_turn(line: Line) -> None:
    batch = [line.episode("The valve is stuck.")]
    line.encoder.broken = True
    line.stage.ahead(batch)
    with pytest.raises(EncoderUnavailable):
        line.stage.process(batch)
    line.encoder.broken = False
    assert [one.outcome for one in line.read(line.stage.process(batch))] == ["stored"]


def test_what_was_read_ahead_goes_with_its_shard(line: Line) -> None:
    batch = [line.episode("The valve is stuck.")]
    line.stage.ahead(batch)
    line.stage.assigned(frozenset({SHARD}))
    assert not line.stage._opening._ahead
    assert [one.outcome for one in line.read(line.stage.process(batch))] == ["stored"]


def test_an_encoder_that_takes_no_text_is_waited_for(line: Line) -> None:
    line.encoder.broken = True
    arrival = line.episode("Sound.")
    with pytest.raises(EncoderUnavailable):
        line.stage.process([arrival])
    line.encoder.broken = False
    assert [s.outcome for s in line.process(arrival)] == ["stored"]


def test_an_episode_that_cannot_be_judged_has_failed(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(line.stage, "_judge", judge)
    outputs = line.stage.process([line.episode("text", "a")])
    assert [s.outcome for s in line.read(outputs)] == ["failed"]
    assert len(line.letters(outputs)) == 1


def test_scores_bear_an_assignment_that_is_later_than_all_before(codec: Codec) -> None:
    line = Line(codec)
    stream = Stream(())
    first = Line(codec, vault=line.vault, past=stream, clock=lambda: 1_000)
    first.stage.assigned(frozenset({SHARD}))
    (said,) = outputs = first.stage.process([line.episode("one")])
    assert first.read(outputs)[0].writer_epoch == 1_000
    stream.written.append(said.value)
    first.stage.wrote([(topics.SCORED, SHARD, 0)])
    # Its own clock is behind, and it is later all the same.
    second = Line(codec, vault=line.vault, past=stream, clock=lambda: 900)
    second.stage.assigned(frozenset({SHARD}))
    (other,) = outputs = second.stage.process([line.episode("two")])
    assert second.read(outputs)[0].writer_epoch == 1_001
    # The first wakes: what it writes counts for nobody any more, and it finds that out before it acknowledges.
    (late,) = first.stage.process([line.episode("three")])
    stream.written += [other.value, late.value]
    with pytest.raises(Displaced):
        first.stage.wrote([(topics.SCORED, SHARD, 2)])
    # An earlier assignment's writes in between displace nothing.
    stream.written.append(other.value)
    second.stage.wrote([(topics.SCORED, SHARD, 1)])
    second.stage.wrote([(topics.SCORED, SHARD, 3)])


def test_logs_hold_no_content(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    """Not even in the words of an error that quotes what it choked on."""
    with caplog.at_level(logging.DEBUG):
        line.process(line.episode("A poison pill, secret."), line.episode("Another, secret."))
        line.stage.poisoned(line.episode("text"), ValueError("secret"))
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_what_is_no_record_is_left_out(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    junk = Arrival(SHARD, 3, b"\xc3\x01nonsense")
    assert [s.outcome for s in line.process(junk, line.episode("Sound."))] == ["stored"]
    assert line.stage.poisoned(junk, RuntimeError()) == []
    assert "offset 3 left out" in caplog.text


def test_poisoned_writes_an_outcome(line: Line) -> None:
    outputs = line.stage.poisoned(line.episode("text", "a"), KeyError("k"))
    (scored,) = line.read(outputs)
    assert [letter.reason for letter in line.letters(outputs)] == ["failed"]
    assert (scored.memory_id, scored.outcome, scored.encoder) == (mid("a"), "failed", "none: KeyError")


class Away:
    """A vault that cannot be reached, for a while."""

    def __init__(self, vault: InMemoryVault, error: Exception) -> None:
        self.vault, self.error, self.away = vault, error, True

    def open(self, memory_ids: Sequence[str]) -> dict[str, bytes]:
        if self.away:
            raise self.error
        return self.vault.open(memory_ids)


@pytest.mark.parametrize("error", [VaultUnavailable("away"), VaultBehind("put back"), RuntimeError("whatever")])
def test_an_outage_of_the_vault_is_no_episodes_fault(codec: Codec, error: Exception) -> None:
    vault = InMemoryVault()
    away = Away(vault, error)
    line = Line(codec, vault=away)
    line.vault = vault
    arrivals = [line.episode("The valve is stuck again.", "a"), line.episode("the valve is stuck again", "b")]
    with pytest.raises(VaultUnavailable) as raised:
        line.process(*arrivals)
    assert isinstance(raised.value, VaultBehind) == isinstance(error, VaultBehind), "so /readyz says what it is"
    away.away = False
    assert [s.outcome for s in line.process(*arrivals)] == ["stored", "reinforced"]


@pytest.mark.parametrize("error", [StoreUnavailable("away"), RuntimeError("whatever")])
def test_an_outage_of_the_store_is_no_episodes_fault(line: Line, error: Exception) -> None:
    line.journal.answers = [error]
    arrivals = [line.episode("The valve is stuck again.", "a"), line.episode("the valve is stuck again", "b")]
    with pytest.raises(StoreUnavailable):
        line.process(*arrivals)
    assert [s.outcome for s in line.process(*arrivals)] == ["stored", "reinforced"]


def test_a_memory_of_another_encoder_is_no_neighbour_until_it_is_encoded_anew(line: Line) -> None:
    text = "The valve is stuck again."
    vector = line.encoder.encode([text])[0].astype(np.float16).astype(np.float32)
    old = Neighbour("old", "bob", vector, text, "minilm/1", ANN)
    line.journal.answers = [
        JournalChange(3, (old,), ()),
        JournalChange(4, (replace(old, encoder="hashing-384/1"),), ()),
    ]
    (scored,) = line.process(line.episode(text, agent="ann"))
    assert (scored.outcome, scored.novelty_ppm) == ("stored", 1_000_000)
    line.process(line.episode("Something else altogether.", agent="ann"))
    assert "old" in line.stage._pictures.of(SHARD, "n").memories


def test_a_vector_that_is_none_of_its_encoders_is_no_neighbour(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    foreign = Neighbour("old", "bob", np.ones(8, np.float32), "The valve is stuck again.", "hashing-384/1", ANN)
    line.journal.answers = [JournalChange(3, (foreign,), ())]
    (scored,) = line.process(line.episode("The valve is stuck again."))
    assert (scored.outcome, scored.novelty_ppm) == ("stored", 1_000_000)
    assert "old is no neighbour: a vector of 8 dimensions among vectors of 384" in caplog.text


def test_too_many_vectors_drop_the_namespace_least_lately_active(codec: Codec) -> None:
    line = Line(codec, vectors_max=4)  # every episode is in its buffer and in short-term memory
    for namespace in ("a", "b", "a"):
        line.process(line.episode(f"Something {namespace} {next(line.offsets)}", namespace=namespace))
    assert [ns for _, ns in line.stage._pictures] == ["a"]
    line.process(line.episode("Something", namespace="b"))
    assert line.journal.asked[-1] == (SHARD, "b", None)


# Taken over in the middle ---------------------------------------------------------------------------------------------


HARD = replace(Policy(), salience=replace(Policy().salience, encode_threshold=1.0, early_threshold=1.0))
"""Stores nothing without a reward, so that only the buffers know of it."""


def chatter(line: Line, count: int) -> list[Arrival]:
    """Two agents who say little that is new, each in turn."""
    words = ("ok", "thanks", "valve 3 is tight", "yes, go on", "tank 2 is full", "I see", "the pump leaks", "ok then")
    return [line.episode(f"{words[n % 8]} {n % 3}", agent=("ann", "bo")[n % 2], reward_ppm=0) for n in range(count)]


@pytest.mark.parametrize("at", [1, 7, 40, 99])
def test_who_takes_over_judges_as_if_it_had_been_there_all_the_time(codec: Codec, at: int) -> None:
    line = Line(codec, HARD)
    arrivals = [*chatter(line, 100), line.arrival(ClockTicked("t", NOW))]
    undisturbed = [(s.outcome, s.novelty_ppm) for s in line.process(*arrivals)]
    assert {outcome for outcome, _ in undisturbed[at:]} == {"below_threshold"}
    assert {novelty for _, novelty in undisturbed} == {0, PPM}
    successor = Line(codec, HARD, vault=line.vault, past=Stream(arrivals))
    successor.stage.assigned(frozenset({SHARD}))
    assert [(s.outcome, s.novelty_ppm) for s in successor.process(*arrivals[at:])] == undisturbed[at:]


def test_a_shard_is_recalled_once_and_only_where_it_begins(codec: Codec) -> None:
    line = Line(codec)
    arrivals = chatter(line, 12)
    stream = Stream(arrivals)
    successor = Line(codec, vault=line.vault, past=stream)
    successor.stage.assigned(frozenset({SHARD, SHARD + 1}))
    for arrival in arrivals[6:]:
        successor.process(arrival)
    assert stream.asked == 1


def test_a_stream_that_is_away_is_waited_for(codec: Codec) -> None:
    line = Line(codec)
    arrivals = chatter(line, 12)
    stream = Stream(arrivals)
    stream.away = True
    successor = Line(codec, vault=line.vault, past=stream)
    successor.stage.assigned(frozenset({SHARD}))
    with pytest.raises(StreamUnavailable, match="no broker"):
        successor.process(*arrivals[6:])
    stream.away = False
    assert [s.novelty_ppm for s in successor.process(*arrivals[6:])] == [
        s.novelty_ppm for s in line.process(*arrivals)[6:]
    ]


def test_what_was_stored_is_recalled_with_the_vector_of_its_score(codec: Codec) -> None:
    line = Line(codec)
    arrivals = [line.episode(f"Pump {n} leaks at {n * 7} bar.", reward_ppm=PPM) for n in range(6)]
    stream = Stream(arrivals)
    stream.written = [output.value for output in line.stage.process(arrivals) if output.topic == topics.SCORED]
    stored = [codec.decode_as(EpisodeScored, value) for value in stream.written]
    assert all(one.sealed_embedding for one in stored)
    # The last one was scored by another encoder, and of the one before nothing was scored yet.
    stream.written[4:] = [codec.encode(replace(stored[5], encoder="another"))]
    successor = Line(codec, vault=line.vault, past=stream)
    successor.stage.assigned(frozenset({SHARD}))
    again = line.episode("Pump 0 leaks at 0 bar.")
    expected = line.process(again)
    assert [s.novelty_ppm for s in successor.process(again)] == [s.novelty_ppm for s in expected]
    encoded = {"Pump 4 leaks at 28 bar.", "Pump 5 leaks at 35 bar.", "Pump 0 leaks at 0 bar."}
    assert set(successor.encoder.tried) == encoded


def test_what_cannot_be_recalled_is_left_out(codec: Codec) -> None:
    line = Line(codec)
    gone, poison, later = (
        line.episode("It leaks.", "gone"),
        line.episode("poison", "p"),
        line.episode("It leaks.", "later"),
    )
    line.vault.destroy([mid("gone")])
    rubbish = line.arrival(ClockTicked("t", NOW))
    stream = Stream([gone, poison, replace(rubbish, value=b"rubbish", offset=12)])
    successor = Line(codec, vault=line.vault, past=stream)
    successor.stage.assigned(frozenset({SHARD}))
    (scored,) = successor.process(replace(later, offset=20))
    assert scored.novelty_ppm == 1_000_000


def test_ticks_between_the_episodes_hide_none_of_them(codec: Codec) -> None:
    line = Line(codec)
    first = line.episode("the pump leaks", agent="ann")
    arrivals = [first, *chatter(line, 10)] + [line.arrival(ClockTicked(f"t{n}", NOW)) for n in range(3_000)]
    last = line.episode("the pump leaks", agent="ann")
    expected = [s.novelty_ppm for s in line.process(*arrivals, last)][-1]
    successor = Line(codec, vault=line.vault, past=Stream(arrivals))
    successor.stage.assigned(frozenset({SHARD}))
    assert [s.novelty_ppm for s in successor.process(last)] == [expected]
    assert expected == 0


def test_the_operators_model_is_asked_what_the_rules_leave_open(codec: Codec, tmp_path: Path) -> None:
    model = OnnxContradiction(tmp_path, contradicting.written(tmp_path))
    said = ("Valve 3 leaks at 4 bar.", "Some think that valve 3 not leaks at 4 bar at all.")
    for asked, expected in ((None, ()), (model, (mid("a"),))):
        line = Line(codec, contradiction=asked)
        older, newer = (line.episode(text, event, reward_ppm=PPM) for event, text in zip("ab", said, strict=True))
        assert [one.contradicts for one in line.process(older, newer)] == [(), expected]
