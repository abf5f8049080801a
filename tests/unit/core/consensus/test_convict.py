"""Evidence convicts liars, and never an honest member."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus import events as t
from memquorum.core.consensus import evidence
from memquorum.core.consensus.events import Message, Note
from memquorum.core.consensus.evidence import BadEvidence, Rule, UnknownRelease, Verdict, charge, convict, describe
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Misbehaved, Prepare, Signed
from tests import examples
from tests.builders.accusations import GUILTY, INNOCENT, LATER, OBLIGED, charged, of_view
from tests.builders.core import (
    BALLOTS,
    CODEC,
    COMMITS,
    GENESIS,
    NOMINATION,
    OTHER,
    SAID,
    Core,
    ballot,
    commit,
    nomination,
    of,
    prepare,
    signed,
    view_change,
)
from tests.builders.genesis import make


def judged(record: Misbehaved, genesis: Genesis = GENESIS, codec: Codec = CODEC) -> Verdict:
    return convict(codec, genesis, record)


# What convicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", GUILTY)
def test_the_originals_alone_convict(what: str) -> None:
    record, slot, detail = GUILTY[what]
    verdict = judged(record)
    assert (verdict.accused, verdict.shard, verdict.rule, verdict.slot) == (record.accused, 0, record.rule, slot)
    assert detail in verdict.detail
    # Any member may report it: a liar's report of another liar proves as much.
    assert judged(replace(record, member=3)) == verdict


def test_every_rule_has_a_guilty_one() -> None:
    assert {record.rule for record, _, _ in GUILTY.values()} == set(Rule)


# No conviction --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", INNOCENT)
def test_what_proves_nothing_convicts_nobody(what: str) -> None:
    record, why = INNOCENT[what]
    with pytest.raises(BadEvidence, match=why):
        judged(record)


def test_another_genesis_knows_nobody_of_it() -> None:
    with pytest.raises(BadEvidence, match="not of this cluster and configuration"):
        judged(GUILTY["two commits"][0], make(shards=3))


def test_a_liar_cannot_exhaust_the_judge_by_depth() -> None:
    for deep in (20, 3_000):
        data = LATER
        for _ in range(deep):
            data = CODEC.encode(Signed("member:2", b"", data))
        with pytest.raises(BadEvidence) as found:
            judged(charged("equivocation", 2, data, commit(2, OTHER)))
        # It has not looked so far down that it found what a later release would have written.
        assert not isinstance(found.value, UnknownRelease)


# An honest member, whatever is made of its words ----------------------------------------------------------------------


def honest() -> list[bytes]:
    """Returns what member 1 signs while it keeps to the rules: one message for a slot, and each is valid."""
    second = nomination(2)
    found = [BALLOTS[1], ballot(1, second, 2), of_view(1), OBLIGED]
    found += [view_change(1, view=2), view_change(1, view=3, seq=2, commits=COMMITS)]
    for view, said in ((0, SAID), (1, OTHER), (2, SAID)):
        found += [prepare(1, said, view=view), commit(1, said, view=view), commit(1, OTHER, seq=2, view=view)]
    return [*found, signed("member:1", Prepare(GENESIS.cluster, 0, 1, 0, 1, 1, OTHER))]


HONEST = honest()
LIES = [record.originals for record, _, _ in GUILTY.values() if record.accused != 1]
OTHERS = [NOMINATION, *(data for originals in LIES for data in originals)]


def convicted(record: Misbehaved) -> bool:
    try:
        judged(record)
    except BadEvidence:
        return False
    return True


def test_no_pair_of_an_honest_members_messages_convicts_it() -> None:
    singles = [(data,) for data in HONEST]
    pairs = list(product([*HONEST, NOMINATION], HONEST))
    for rule, originals in product(Rule, singles + pairs):
        for shard in (0, 1):
            assert not convicted(charged(rule, 1, *originals, shard=shard)), (rule, originals)


Change = Callable[[Signed, bytes], Signed]
CHANGES: list[Change] = [
    lambda said, other: replace(said, signer="member:1"),
    lambda said, other: replace(said, signer="member:01"),
    lambda said, other: replace(said, signature=said.signature[::-1]),
    lambda said, other: replace(said, body=CODEC.decode_as(Signed, other).body),
    lambda said, other: replace(said, signature=CODEC.decode_as(Signed, other).signature),
    lambda said, other: replace(said, body=said.body[:-1] + bytes([said.body[-1] ^ 1])),
]
written = st.sampled_from([*HONEST, *HONEST, *OTHERS])
tampered = st.builds(
    lambda change, data, other: CODEC.encode(change(CODEC.decode_as(Signed, data), other)),
    st.sampled_from(CHANGES), written, written,
)  # fmt: skip


@settings(max_examples=examples(300))
@given(
    rule=st.sampled_from([*Rule]),
    originals=st.lists(st.one_of(written, tampered), min_size=1, max_size=2),
    shard=st.integers(0, 1),
)
def test_nothing_that_liars_make_of_its_words_convicts_an_honest_member(
    rule: Rule, originals: list[bytes], shard: int
) -> None:
    assert not convicted(charged(rule, 1, *originals, shard=shard))


# From what a core notes to a charge -----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", GUILTY)
def test_what_a_core_notes_is_charged_by_its_rule(what: str) -> None:
    record, slot, _ = GUILTY[what]
    message = next(m for m in Message if slot.endswith(f"/{m}"))
    note = Note.CONFLICT if record.rule == Rule.EQUIVOCATION else Note.INVALID
    noted = t.Noted(note, message, record.accused, "", record.originals)
    assert charge(GENESIS, noted, shard=0, reporter=2) == record


@pytest.mark.parametrize(
    "noted",
    [
        t.Noted(Note.LATE, Message.PRE_PREPARE, 0, "late"),
        t.Noted(Note.REFUSED, Message.NOMINATION, -1, "no such tick"),
        t.Noted(Note.INVALID, Message.PRE_PREPARE, 0, "epoch 2, 1 is next"),
    ],
)
def test_what_is_no_fault_or_cannot_be_proven_is_not_charged(noted: t.Noted) -> None:
    assert charge(GENESIS, noted, shard=0, reporter=2) is None


def test_a_claim_is_told_in_words_and_a_liars_words_are_not_printed() -> None:
    record, _, _ = GUILTY["two commits"]
    assert describe(CODEC, record) == "equivocation: commit, sequence 1 in view 0 of shard 0"
    assert describe(CODEC, GUILTY["a ballot that lies"][0]) == (
        "bad-ballot: a NominationProposed / ballot, epoch 1 of shard 0"
    )
    assert describe(CODEC, replace(record, rule="\x1b[2J", originals=(b"\x1b",))) == r"'\x1b[2J': something unreadable"


def test_a_core_that_meets_each_fault_notes_what_convicts() -> None:
    core = Core()
    lies = [t for t in GUILTY.values() if t[0].rule == Rule.EQUIVOCATION and "new-view" not in t[1]]
    for record, slot, _ in lies:
        message = next(m for m in Message if slot.endswith(f"/{m}"))
        (noted,) = of(core.read(message, *record.originals), t.Noted)
        found = charge(GENESIS, noted, shard=0, reporter=1)
        assert found is not None
        assert evidence.convict(CODEC, GENESIS, found).slot == slot
