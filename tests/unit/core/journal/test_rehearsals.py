"""A rehearsal moves a salience by the rule alone, once in its time, and only what is as it was read."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.accounts.tail import Tail
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.identity import messages
from memquorum.core.journal.recall import recall
from memquorum.core.journal.rehearsals import NotBorneOut, NotRehearsed, check
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Strength
from memquorum.core.policy import Policy, RehearsePolicy
from memquorum.core.records import JournalEntry, RehearsalMade, Rehearsed, Signed
from tests.builders import genesis, rehearsals, votes
from tests.builders.genesis import seed_of
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.rehearsals import denied, doubt, groundless, rehearsal_record, rehearse
from tests.builders.shard import NAMESPACE, Shard, memory_id

HOUR = 3_600_000
NOW = 1_000_000_000
GENESIS = genesis.make(policy=POLICY, **rehearsals.entitled())
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A shard where A was read, B and C were not; each has a salience of 0.6, no contradictions, and no sources."""
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name, NOW - 5_000)
    made.access(A, NOW - 1_000)
    made.tick(NOW)
    return made


def strength(shard: Shard, memory: str = A) -> tuple[int, int, int, int]:
    one = shard.rows.strengths[memory]
    return one.salience_ppm, one.replays, one.doubts, one.rehearsed


def test_what_holds_and_was_used_is_raised_by_a_tenth_and_counted(shard: Shard, codec: Codec) -> None:
    change = rehearse(shard, A, offset=4)
    assert change is not None and strength(shard) == (660_000, 1, 0, NOW)
    entry = change.entry
    assert (entry.effect, entry.source_topic, entry.source_offset) == ("rehearsed", topics.REHEARSED, 4)
    assert (entry.event_id, entry.memory_id) == (f"rehearsed/{A}/{NOW}", A)
    assert change.cursors == ((topics.REHEARSED, 5),)
    detail = codec.decode_as(Rehearsed, entry.detail)
    assert (detail.before_ppm, detail.after_ppm) == (600_000, 660_000)
    # No other field of the memory changes, and it does not count as an interaction.
    assert change.of(Strength) == (shard.rows.strengths[A],) == change.rows
    assert shard.rows.state.interactions == 4


def test_a_salience_goes_no_higher_than_one(codec: Codec) -> None:
    made = Shard(codec, GENESIS)
    made.episode("a", NOW - 10, salience=950_000)
    made.access(A, NOW)
    made.tick(NOW)
    rehearse(made, A)
    assert strength(made)[:2] == (1_000_000, 1)


def test_what_is_denied_is_lowered_and_doubted_until_nothing_alive_denies_it(shard: Shard) -> None:
    witness = denied(shard, A)
    rehearse(shard, A, "contested", witness=witness)
    shard.tick(NOW + HOUR)
    rehearse(shard, A, "contested", witness=witness)
    assert strength(shard) == (433_500, 0, 2, NOW + HOUR)
    shard.decide([votes.proposal(witness, "forget")])
    shard.tick(NOW + 2 * HOUR)
    assert rehearse(shard, A, "contested", witness=witness) is None
    assert rehearse(shard, A, "unused") is not None
    assert strength(shard) == (433_500, 0, 0, NOW + 2 * HOUR)


def test_what_has_no_ground_any_more_is_lowered(shard: Shard) -> None:
    lost = groundless(shard, "lost")
    assert rehearse(shard, lost, "unused") is None
    assert rehearse(shard, lost, "groundless") is not None
    assert strength(shard, lost) == (510_000, 0, 1, NOW)


def test_a_finished_task_is_ground_for_what_was_learned_of_it(shard: Shard) -> None:
    shard.task("t1", [A])
    shard.episode("lesson", NOW, derives_from=(memory_id("t1"),))
    assert rehearse(shard, memory_id("lesson"), "groundless") is None


def test_there_is_ground_while_one_source_is_alive_or_said_by_a_summary(shard: Shard) -> None:
    shard.episode("made", derives_from=(A, B, C))
    shard.decide([votes.proposal(C, "forget")])
    assert rehearse(shard, memory_id("made"), "groundless") is None
    shard.summary("sum", [A, B], NOW)
    shard.consolidate(memory_id("sum"), [A, B])
    assert shard.rows.strengths.keys() == {memory_id("made"), memory_id("sum")}
    for one in ("made", "sum"):
        assert rehearse(shard, memory_id(one), "groundless") is None, "a summary says what it was made of"
    shard.decide([votes.proposal(memory_id("sum"), "forget")])
    assert rehearse(shard, memory_id("made"), "groundless") is not None


def test_who_denies_has_to_be_served_before(shard: Shard) -> None:
    """In long-term memory what is older is served first, if another said it."""
    shard.decide([votes.proposal(A, "promote")])
    shard.episode("denial", NOW, agent="another", explicit=True, supersedes=(A, B))
    denial = memory_id("denial")
    assert rehearse(shard, A, "contested", witness=denial) is None
    assert rehearse(shard, denial, "contested", witness=B) is None
    assert rehearse(shard, B, "contested", witness=denial) is not None
    assert rehearse(shard, denial, "contested", witness=A) is not None


def test_what_was_inferred_to_say_otherwise_is_no_doubt(shard: Shard, codec: Codec) -> None:
    shard.episode("seems", NOW, contradicts=(A, B))
    seems = memory_id("seems")
    assert rehearse(shard, B, "contested", witness=seems) is None
    assert rehearse(shard, A) is not None and strength(shard) == (660_000, 1, 0, NOW)
    inferring = replace(GENESIS, policy=replace(POLICY, supersede=replace(POLICY.supersede, inferred=True)))
    shard.rules = replace(shard.rules, genesis=inferring)
    assert rehearse(shard, B, "contested", witness=seems) is not None and strength(shard, B)[2] == 1


def test_a_journal_that_has_a_doubt_of_before_is_sound(shard: Shard, codec: Codec) -> None:
    """Without the setting, what was inferred was a doubt: what the journal has already stays true."""
    shard.episode("seems", contradicts=(B,))
    made = rehearsal_record(shard, B, "contested", witness=memory_id("seems"))
    with pytest.raises(NotBorneOut):
        check(shard.rows, made, GENESIS.policy)
    assert check(shard.rows, made, GENESIS.policy, entered=True) == shard.rows.strengths[B]


def test_a_summary_is_in_doubt_for_one_sentence(shard: Shard) -> None:
    shard.summary("sum", [A, B], NOW)
    shard.consolidate(memory_id("sum"), [A, B])
    shard.access(memory_id("sum"), NOW)
    denial = denied(shard, memory_id("sum"))
    assert rehearse(shard, memory_id("sum")) is None, "it is not raised by its uses"
    assert rehearse(shard, memory_id("sum"), "contested", witness=denial) is not None
    assert rehearse(shard, denial, "contested", witness=memory_id("sum")) is None


def test_what_does_not_hold_was_not_found_to_hold(shard: Shard) -> None:
    denied(shard, A)
    lost = groundless(shard, "lost")
    shard.access(lost, NOW)
    before = shard.rows.strengths
    for memory in (A, lost):
        assert rehearse(shard, memory) is None
    assert shard.rows.strengths == before


def test_why_a_verdict_is_refused_is_told(shard: Shard, codec: Codec) -> None:
    place = applying.RecordPosition(topics.REHEARSED, 0, 0)
    data = votes.signed(codec, GENESIS, rehearsals.SIGNER, rehearsal_record(shard, A, "groundless"))
    why = applying.apply_rehearsed(shard.rules, shard.rows, place, data)
    assert isinstance(why, NotBorneOut) and str(why) == "there is ground for the memory"
    stale = votes.signed(codec, GENESIS, rehearsals.SIGNER, rehearsal_record(shard, A, previous=7))
    why = applying.apply_rehearsed(shard.rules, shard.rows, place, stale)
    assert isinstance(why, NotRehearsed) and not isinstance(why, NotBorneOut)


@pytest.mark.parametrize(
    "changed",
    [
        {"memory_seq": 0},
        {"previous": 7},
        {"as_of": NOW + 1},
        {"as_of": 0},
        {"as_of": NOW - HOUR - 1},
        {"namespace": "elsewhere"},
        {"memory_id": memory_id("nobody")},
        {"memory_id": "no uuid"},
        {"memory_id": B},
        {"verdict": "splendid"},
        {"verdict": "unused"},
        {"verdict": "contested"},
        {"verdict": "contested", "witness": A},
        {"verdict": "contested", "witness": B},
        {"verdict": "groundless"},
        {"verdict": "contested", "witness": memory_id("nobody")},
        {"shard": 1},
        {"config": 1},
        {"cluster": bytes(32)},
    ],
)
def test_what_is_stale_or_not_borne_out_changes_nothing(shard: Shard, changed: dict[str, Any]) -> None:
    before = shard.rows
    assert rehearse(shard, A, **changed) is None
    assert shard.rows == before


@pytest.mark.parametrize("signer", ["service:nomination", "service:journal", "operator", "member:0"])
def test_nobody_but_the_service_rehearses(shard: Shard, signer: str) -> None:
    assert rehearse(shard, A, signer=signer) is None
    data = votes.signed(shard.rules.codec, GENESIS, rehearsals.SIGNER, rehearsal_record(shard, A))
    forged = data[:-1] + bytes([data[-1] ^ 1])
    place = applying.RecordPosition(topics.REHEARSED, 0, 0)
    assert isinstance(applying.apply_rehearsed(shard.rules, shard.rows, place, forged), messages.BadMessage)


def test_a_cluster_without_the_service_takes_no_rehearsal(codec: Codec) -> None:
    nobody = genesis.make(policy=POLICY)
    made = Shard(codec, nobody)
    made.episode("a", NOW)
    made.access(A, NOW)
    made.tick(NOW)
    said = messages.sign(
        nobody.cluster, rehearsals.SIGNER, seed_of(rehearsals.SIGNER), codec.encode(rehearsal_record(made, A))
    )
    place = applying.RecordPosition(topics.REHEARSED, 0, 0)
    refused = applying.apply_rehearsed(made.rules, made.rows, place, codec.encode(said))
    assert isinstance(refused, messages.BadMessage)


def test_what_comes_again_changes_nothing(shard: Shard) -> None:
    again = rehearsal_record(shard, A)
    assert rehearse(shard, A) is not None
    data = votes.signed(shard.rules.codec, GENESIS, rehearsals.SIGNER, again)
    place = applying.RecordPosition(topics.REHEARSED, 0, 1)
    assert isinstance(applying.apply_rehearsed(shard.rules, shard.rows, place, data), NotRehearsed)


def test_a_memory_is_rehearsed_once_in_its_time_and_raised_once_for_a_use(shard: Shard) -> None:
    assert rehearse(shard, A) is not None
    shard.access(A, NOW + 1)
    shard.tick(NOW + HOUR - 1)
    assert rehearse(shard, A) is None, "too soon"
    shard.tick(NOW + HOUR)
    assert rehearse(shard, A) is not None
    shard.tick(NOW + 3 * HOUR)
    assert rehearse(shard, A) is None, "nobody used it since"
    assert strength(shard)[:2] == (726_000, 2)


def test_rehearsals_can_be_switched_off_by_the_policy(codec: Codec) -> None:
    off = genesis.make(policy=Policy(rehearse=RehearsePolicy(every_ms=0)), **rehearsals.entitled())
    made = Shard(codec, off)
    made.episode("a", NOW)
    made.access(A, NOW)
    made.tick(NOW)
    assert rehearse(made, A) is None


def test_what_is_forgotten_and_comes_back_has_the_salience_that_rehearsals_gave_it(shard: Shard, codec: Codec) -> None:
    rehearse(shard, A)
    shard.tick(NOW + HOUR)
    doubt(shard, A)
    entries = [codec.decode_as(JournalEntry, change.appended.entry) for change in shard.changes]
    past = recall(codec, [entry for entry in entries if entry.memory_id == A])
    assert past is not None
    assert (past.restored.salience_ppm, past.restored.replays) == (561_000, 1) == strength(shard)[:2]


def test_a_replay_reaches_the_same_rows(shard: Shard, codec: Codec) -> None:
    rehearse(shard, A)
    doubt(shard, B, offset=1)
    rehearse(shard, groundless(shard, "lost"), "groundless", offset=2)
    reads = [(replay := Replay(shard.rules, 0)).read(codec.encode(change.appended)) for change in shard.changes]
    assert {one.memory_id: one for one in replay.take(reads).net.of(Strength)} == shard.rows.strengths
    # However it is cut into batches.
    replay, strengths = Replay(shard.rules, 0), dict[str, Strength]()
    for read in reads:
        net = replay.take([read]).net
        strengths |= {one.memory_id: one for one in net.of(Strength)}
        strengths = {i: one for i, one in strengths.items() if i not in net.gone[Strength]}
    assert strengths == shard.rows.strengths


def test_the_journal_tells_it(shard: Shard, codec: Codec) -> None:
    change = rehearse(shard, A)
    assert change is not None
    (line,) = Tail(codec).lines(change.entry)
    assert line.endswith(f"rehearsed   {A}  in {NAMESPACE}: salience 0.6 becomes 0.66")


# The audit ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def public(shard: Shard) -> Published:
    """The last entry is a rehearsal of A."""
    doubt(shard, B)
    rehearse(shard, groundless(shard, "lost"), "groundless", offset=1)
    rehearse(shard, A, offset=2)
    return publish(shard)


def test_sound_rehearsals_are_found_sound(public: Published) -> None:
    assert kinds(public.audit(store=True, accepted=True, words=True)) == []


def forge(public: Published, **changed: Any) -> None:
    detail: Rehearsed = public.detail(-1)
    public.forge(-1, replace(detail, **changed))


def resigned(public: Published, signer: str = rehearsals.SIGNER, **changed: Any) -> None:
    """Another record in the place of the last one, signed as it has to be."""
    codec = public.rules.codec
    data = public.detail(-1).made
    made = codec.decode_as(RehearsalMade, codec.decode_as(Signed, data).body)
    forge(public, made=votes.signed(codec, GENESIS, signer, replace(made, **changed)))


@pytest.mark.parametrize(
    "tamper",
    [
        lambda p: forge(p, after_ppm=900_000),
        lambda p: forge(p, before_ppm=500_000),
        lambda p: forge(p, made=b""),
        lambda p: resigned(p, signer="service:nomination"),
        lambda p: resigned(p, memory_id=C),
        lambda p: resigned(p, verdict="groundless"),
        lambda p: resigned(p, verdict="splendid"),
        lambda p: resigned(p, verdict="contested", witness=C),
        lambda p: resigned(p, previous=1),
        lambda p: resigned(p, as_of=NOW + 1),
        lambda p: resigned(p, memory_seq=0),
        lambda p: p.rewrite(-1, memory_id=B),
    ],
)
def test_a_rehearsal_that_was_none_is_found(public: Published, tamper: Any) -> None:
    tamper(public)
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


def test_rehearsals_stand_in_the_order_of_their_topic(public: Published) -> None:
    public.rewrite(-1, source_offset=0)
    assert Kind.SOURCE_DISORDERED in kinds(public.audit())


@pytest.mark.parametrize("column", ["replays", "doubts", "rehearsed", "salience_ppm"])
def test_altered_rows_are_found(public: Published, column: str) -> None:
    public.tables["strength"][0][column] += 1
    assert Kind.ROW_ALTERED in kinds(public.audit(store=True))
