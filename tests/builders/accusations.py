"""Reports of misbehaviour: those that convict, and those that convict nobody."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from memquorum.core.records import Commit, Misbehaved, Signed
from tests.builders.core import (
    ASKING,
    BALLOT_SLOT,
    BALLOTS,
    CODEC,
    GENESIS,
    LIES,
    NOMINATION,
    NOT_THE_PRIMARYS,
    OTHER,
    OTHER_PRE_PREPARE,
    PRE_PREPARE,
    SAID,
    ballot,
    certificate,
    commit,
    forged,
    new_view,
    nomination,
    pre_prepare,
    prepare,
    signed,
    view_change,
)


def charged(rule: str, accused: int, *originals: bytes, **changes: Any) -> Misbehaved:
    return replace(Misbehaved(GENESIS.cluster, 0, 0, 2, accused, rule, originals), **changes)


def of_view(view: int, data: bytes = PRE_PREPARE) -> bytes:
    body = CODEC.decode(CODEC.decode_as(Signed, data).body)
    return signed(f"member:{view % 4}", replace(body, view=view, member=view % 4))


LYING_BALLOT = ballot(3, NOMINATION, terms=LIES)
# The view that members 0, 1 and 3 asked for has to begin with PRE_PREPARE's proposal.
OBLIGED = new_view([view_change(0), view_change(1), view_change(3, prepared=certificate())])
NEW_VIEW, OTHER_NEW_VIEW = new_view(ASKING), new_view([view_change(m) for m in (0, 1, 3)])
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


def respelt(data: bytes) -> bytes:
    """Replaces the envelope of the same body, as somebody without the key would: one bit of the signature differs."""
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
    "a ballot that holds": (charged("bad-ballot", 3, NOMINATION, BALLOTS[3]), "check passes"),
    "a ballot on another": (charged("bad-ballot", 3, nomination(2), LYING_BALLOT), "on another nomination"),
    "a ballot on nothing": (charged("bad-ballot", 3, forged(NOMINATION), LYING_BALLOT), "the nomination is not valid"),
    "a pre-prepare that holds": (charged("bad-pre-prepare", 0, PRE_PREPARE), "check passes"),
    # Only a reader of the log knows whether an epoch or a sequence is the next one.
    "an epoch not awaited": (
        charged("bad-pre-prepare", 0, pre_prepare(nomination(9), [ballot(m, nomination(9), 9) for m in range(4)], 9)),
        "check passes"),
    "a sequence not awaited": (
        charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, BALLOTS, 7, epoch=1)), "check passes"),
    "a forged pre-prepare": (charged("bad-pre-prepare", 0, forged(pre_prepare(NOMINATION, []))), "signature"),
    "a later release's ballots": (charged("bad-pre-prepare", 0, pre_prepare(NOMINATION, [LATER] * 4)), "later release"),
    "what the view begins with": (charged("contradicts-new-view", 1, of_view(1), OBLIGED), "allows"),
    "a view without obligation": (
        charged("contradicts-new-view", 1, of_view(1, OTHER_PRE_PREPARE), NEW_VIEW), "allows"),
    "the new view of another": (
        charged("contradicts-new-view", 1, of_view(5, OTHER_PRE_PREPARE), OBLIGED), "a new view for 1"),
    "an obligation that is none": (
        charged("contradicts-new-view", 1, of_view(1, OTHER_PRE_PREPARE), new_view(ASKING[:2])), "not valid"),
    "a view change that holds": (charged("bad-view-change", 3, view_change(3, seq=2)), "check passes"),
    "a later release's proof": (charged("bad-view-change", 3, view_change(3, prepared=LATER)), "later release"),
    "a new view that holds": (charged("bad-new-view", 1, NEW_VIEW), "check passes"),
}  # fmt: skip
