"""What convicts a member, and that nothing ever convicts an honest one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

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
from memquorum.core.records import Commit, Misbehaved, Prepare, Signed
from tests.builders.genesis import make
from tests.unit.core.consensus import test_replica_core as normal
from tests.unit.core.consensus.test_replica_core import (
    BALLOT_SLOT,
    BALLOTS,
    CODEC,
    GENESIS,
    NOMINATION,
    NOT_THE_PRIMARYS,
    OTHER,
    OTHER_PRE_PREPARE,
    PRE_PREPARE,
    SAID,
    ballot,
    commit,
    nomination,
    opinions,
    pre_prepare,
    prepare,
    signed,
)
from tests.unit.core.consensus.test_viewchange import ASKING, COMMITS, certificate, forged, new_view, view_change


def charged(rule: str, accused: int, *originals: bytes, **changes: Any) -> Misbehaved:
    return replace(Misbehaved(GENESIS.cluster, 0, 0, 2, accused, rule, originals), **changes)


def judged(record: Misbehaved, genesis: Genesis = GENESIS, codec: Codec = CODEC) -> Verdict:
    return convict(codec, genesis, record)


def of_view(view: int, data: bytes = PRE_PREPARE) -> bytes:
    body = CODEC.decode(CODEC.decode_as(Signed, data).body)
    return signed(f"member:{view % 4}", replace(body, view=view, member=view % 4))


LYING = tuple(replace(o, yes=False) for o in opinions())
LYING_BALLOT = ballot(3, NOMINATION, opinions=LYING)
# The view that members 0, 1 and 3 asked for has to begin with PRE_PREPARE's proposal.
OBLIGED = new_view([view_change(0), view_change(1), view_change(3, prepared=certificate())])
NEW_VIEW, OTHER_NEW_VIEW = new_view(ASKING), new_view([view_change(m) for m in (0, 1, 3)])

# What convicts --------------------------------------------------------------------------------------------------------

GUILTY: dict[str, tuple[Misbehaved, str, str]] = {
    "two ballots": (charged("equivocation", 2, BALLOTS[2], ballot(2, NOMINATION, yes=False)), BALLOT_SLOT,
                    "two different messages: ballot, epoch 1 of shard 0"),
    "two pre-prepares": (charged("equivocation", 0, PRE_PREPARE, OTHER_PRE_PREPARE), "0/0/0/1/pre-prepare",
                         "pre-prepare, sequence 1 in view 0 of shard 0"),
    "two prepares": (charged("equivocation", 2, prepare(2, SAID), prepare(2, OTHER)), "0/0/0/1/prepare", "prepare"),
    "two commits": (charged("equivocation", 2, commit(2, SAID), commit(2, OTHER)), "0/0/0/1/commit", "commit"),
    "two view changes": (charged("equivocation", 3, view_change(3), view_change(3, prepared=certificate())),
                         "0/0/1/view-change", "view-change, view 1 of shard 0"),
    "two new views": (charged("equivocation", 1, NEW_VIEW, OTHER_NEW_VIEW), "0/0/1/new-view", "new-view"),
    "a ballot that lies": (charged("bad-ballot", 3, NOMINATION, LYING_BALLOT), BALLOT_SLOT, "opinion 0"),
    "too few ballots": (charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, BALLOTS[:2])), "0/0/0/1/pre-prepare",
                        "2 ballots"),
    "a lying ballot in it": (charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, [*BALLOTS[:3], LYING_BALLOT])),
                             "0/0/0/1/pre-prepare", "ballot of member 3"),
    "a forged ballot in it": (
        charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, [forged(BALLOTS[0]), *BALLOTS[1:]])),
        "0/0/0/1/pre-prepare", "signature"),
    "no primary": (charged("bad-pre-prepare", 1, NOT_THE_PRIMARYS), "0/0/0/1/pre-prepare", "not the primary"),
    "another proposal": (charged("contradicts-new-view", 1, of_view(1, OTHER_PRE_PREPARE), OBLIGED),
                         "0/0/1/1/pre-prepare", "another proposal"),
    "far ahead": (charged("bad-view-change", 3, view_change(3, view=2, seq=9, commits=())), "0/0/2/view-change",
                  "sequence 8"),
    "a view nobody asked for": (charged("bad-new-view", 1, new_view(ASKING[:2])), "0/0/1/new-view", "2 view changes"),
}  # fmt: skip


@pytest.mark.parametrize("what", GUILTY)
def test_the_originals_alone_convict(what: str) -> None:
    record, slot, detail = GUILTY[what]
    verdict = judged(record)
    assert (verdict.accused, verdict.shard, verdict.rule, verdict.slot) == (record.accused, 0, record.rule, slot)
    assert detail in verdict.detail
    # Whoever reports it: a liar's report of another liar proves as much.
    assert judged(replace(record, member=3)) == verdict


def test_every_rule_has_a_guilty_one() -> None:
    assert {record.rule for record, _, _ in GUILTY.values()} == set(Rule)


# What convicts nobody -------------------------------------------------------------------------------------------------


def respelt(data: bytes) -> bytes:
    """The same body in another envelope: somebody without the key turned a bit of the signature."""
    said = CODEC.decode_as(Signed, data)
    return CODEC.encode(replace(said, signature=said.signature[:-1] + bytes([said.signature[-1] ^ 1])))


def elsewhere(config: int = 0, cluster: bytes = GENESIS.cluster, shard: int = 0) -> bytes:
    return signed("member:2", Commit(cluster, config, shard, 0, 1, 2, OTHER))


LATER = b"\xc3\x01" + b"newer..." + b"fields"

INNOCENT: dict[str, tuple[Misbehaved, str]] = {
    "the same twice": (charged("equivocation", 2, commit(2, SAID), commit(2, SAID)), "the same"),
    "the same ballot twice": (charged("equivocation", 2, BALLOTS[2], BALLOTS[2]), "the same"),
    "one in two envelopes": (charged("equivocation", 2, commit(2, SAID), respelt(commit(2, SAID))), "signature"),
    "a forged second": (charged("equivocation", 2, commit(2, SAID), forged(commit(2, OTHER))), "signature"),
    "two views": (charged("equivocation", 2, commit(2, SAID), commit(2, OTHER, view=1)), "no contradiction"),
    "two sequences": (charged("equivocation", 2, commit(2, SAID), commit(2, OTHER, seq=2)), "no contradiction"),
    "ballots on two nominations": (
        charged("equivocation", 2, BALLOTS[2], ballot(2, nomination(accepted_offset=8), yes=False)), "no contradiction",
    ),
    "two epochs": (charged("equivocation", 2, BALLOTS[2], ballot(2, nomination(2), 2)), "no contradiction"),
    "two views asked for": (charged("equivocation", 3, view_change(3), view_change(3, view=2)), "no contradiction"),
    "two kinds": (charged("equivocation", 2, prepare(2, SAID), commit(2, OTHER)), "not two of a kind"),
    "two members": (charged("equivocation", 2, commit(2, SAID), commit(3, OTHER)), "member 3 signed it"),
    "another one accused": (charged("equivocation", 1, commit(2, SAID), commit(2, OTHER)), "member 2 signed it"),
    "a member that is none": (charged("equivocation", -1, commit(2, SAID), commit(2, OTHER)), "member 2 signed it"),
    "two nominations": (charged("equivocation", 2, NOMINATION, nomination(2)), "not two of a kind"),
    "of two configurations": (charged("equivocation", 2, commit(2, SAID), elsewhere(config=1)), "configuration 1"),
    "of two clusters": (charged("equivocation", 2, commit(2, SAID), elsewhere(cluster=b"x" * 32)), "another cluster"),
    "of two shards": (charged("equivocation", 2, commit(2, SAID), elsewhere(shard=1)), "of shard 1"),
    "of another configuration": (charged("equivocation", 2, commit(2, SAID), commit(2, OTHER), config=1), "config"),
    "of another cluster": (charged("equivocation", 2, commit(2, SAID), commit(2, OTHER), cluster=b"x" * 32), "cluster"),
    "of another shard": (charged("equivocation", 2, commit(2, SAID), commit(2, OTHER), shard=1), "of shard 0"),
    "no such rule": (charged("rudeness", 2, commit(2, SAID), commit(2, OTHER)), "no rule 'rudeness'"),
    "one original": (charged("equivocation", 2, commit(2, SAID)), "1 originals, 2 are needed"),
    "nothing": (charged("bad-view-change", 2), "0 originals"),
    "rubbish": (charged("equivocation", 2, b"rubbish", commit(2, OTHER)), "no single-object Avro"),
    "a ballot that holds": (charged("bad-ballot", 3, NOMINATION, BALLOTS[3]), "it holds"),
    "a ballot on another": (charged("bad-ballot", 3, nomination(2), LYING_BALLOT), "on another nomination"),
    "a ballot on nothing": (charged("bad-ballot", 3, forged(NOMINATION), LYING_BALLOT), "nobody votes on that"),
    "a pre-prepare that holds": (charged("bad-pre-prepare", 0, PRE_PREPARE), "it holds"),
    # Whether an epoch or a sequence is the next one, only who follows the log knows.
    "an epoch not awaited": (
        charged("bad-pre-prepare", 0, pre_prepare(nomination(9), [ballot(m, nomination(9), 9) for m in range(4)], 9)),
        "it holds"),
    "a sequence not awaited": (charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, BALLOTS, 7, epoch=1)), "it holds"),
    "a forged pre-prepare": (charged("bad-pre-prepare", 0, forged(pre_prepare(NOMINATION, []))), "signature"),
    "a later release's ballots": (charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, [LATER] * 4)), "later release"),
    "what the view begins with": (charged("contradicts-new-view", 1, of_view(1), OBLIGED), "allows"),
    "a view without obligation": (
        charged("contradicts-new-view", 1, of_view(1, OTHER_PRE_PREPARE), NEW_VIEW), "allows"),
    "the new view of another": (
        charged("contradicts-new-view", 1, of_view(5, OTHER_PRE_PREPARE), OBLIGED), "a new view for 1"),
    "an obligation that is none": (
        charged("contradicts-new-view", 1, of_view(1, OTHER_PRE_PREPARE), new_view(ASKING[:2])), "obliges to nothing"),
    "a view change that holds": (charged("bad-view-change", 3, view_change(3, seq=2)), "it holds"),
    "a later release's proof": (charged("bad-view-change", 3, view_change(3, prepared=LATER)), "later release"),
    "a new view that holds": (charged("bad-new-view", 1, NEW_VIEW), "it holds"),
}  # fmt: skip


@pytest.mark.parametrize("what", INNOCENT)
def test_what_proves_nothing_convicts_nobody(what: str) -> None:
    record, why = INNOCENT[what]
    with pytest.raises(BadEvidence, match=why):
        judged(record)


def test_another_genesis_knows_nobody_of_it() -> None:
    with pytest.raises(BadEvidence, match="of configuration 0 of cluster"):
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
    """What member 1 signs while it keeps to the rules: one message for a slot, and each holds."""
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


@settings(max_examples=300)
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
    core = normal.Core()
    lies = [t for t in GUILTY.values() if t[0].rule == Rule.EQUIVOCATION and "new-view" not in t[1]]
    for record, slot, _ in lies:
        message = next(m for m in Message if slot.endswith(f"/{m}"))
        (noted,) = normal.of(core.read(message, *record.originals), t.Noted)
        found = charge(GENESIS, noted, shard=0, reporter=1)
        assert found is not None
        assert evidence.convict(CODEC, GENESIS, found).slot == slot
