"""A member's opinions in columns are those that it has of each memory's facts; what it knows too little of it keeps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from db.view import View
from db.view_rows import Known, Recent
from memquorum import topics
from memquorum.core import ids, labelling, sealing
from memquorum.core.consolidation.rendering import render
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.labelling import Labels
from memquorum.core.merging import Marks, packed
from memquorum.core.policy import PPM, ConsolidatePolicy, Policy
from memquorum.core.records import BallotCast, EpisodeRecorded, NominationProposed, Proposal, Quote, Summary
from memquorum.core.vote.columns import Places, places_of, read
from memquorum.core.vote.evidence import NAMED, RULES
from memquorum.core.vote.grounds import Grounds, MemoryFacts
from memquorum.core.vote.kinds import FORGET, KINDS, PROMOTE
from memquorum.core.vote.kinds.kind import Kind, Lookups, Opinion
from memquorum.schema_files import load_codec
from tests import examples
from tests.builders.genesis import make, public_key, seed_of
from tests.builders.protections import wanted
from tests.builders.worths import sealed_counts
from tests.support.poison import MARK, VOTES, poison
from workers.replica.judge import Judge

GENESIS: Genesis = make(shards=1, agents={"ann": 1, "bob": 2})
CODEC = load_codec()
NOW = 360_000_000
SPACES = ("here", "there")


class Keys(dict[str, bytes]):
    """The Vault port's keys, as far as a judge asks for them."""

    def open(self, memory_ids: Any) -> dict[str, bytes]:
        return {memory_id: self[memory_id] for memory_id in memory_ids if memory_id in self}


class Bench:
    """A view to be filled by hand, and who votes by it."""

    def __init__(self, genesis: Genesis = GENESIS, grounds: Grounds = RULES) -> None:
        self.view, self.keys = View(Path(":memory:"), genesis.cluster, 1), Keys()
        self.judge = Judge(CODEC, self.view, self.keys, genesis, grounds)  # type: ignore[arg-type]
        self.offset = 0

    def memory(
        self, memory_id: str, space: str, sealed: Any, *, encoder: str = "e", at: int = 0, mine: bool = False,
        signed: bytes | None = None, agent: str = "bob", repeats: bool = False, created: int = 0,
        marks: Marks | None = None, reinforced: int = 0, says: str | None = None,
    ) -> None:  # fmt: skip
        """Adds a memory.

        `says`: its text. `sealed`: the embedding's content, a vector or any bytes; None: there is none. `signed`: what
        its agent signed, the signature before it.
        """
        self.offset += 1
        key = self.keys.setdefault(memory_id, os.urandom(32))
        if sealed is not None and not isinstance(sealed, bytes):
            sealed = np.array(sealed, "<f2").tobytes()
        data = (
            None
            if sealed is None
            else sealing.seal(key, bytes(12), sealed, f"memquorum/embedding/1/{memory_id}".encode())
        )
        says = says or f"of {memory_id}"
        text = sealing.seal_text(key, os.urandom(12), says, memory_id)
        said = sealing.commitment(key, says)
        mark = None if signed is None else sealing.seal_signed(key, os.urandom(12), signed, memory_id)
        self.view.remember(
            Known(memory_id, space, agent, created, at, self.offset, 600_000, reinforced, None, None, None, said, text,
                  data, encoder, mark, sealed_counts=sealed_counts(key, says, memory_id),
                  like="episodic/agent", accepted=self.offset, said=created, said_offset=self.offset,
                  marks=marks or Marks(""))
        )  # fmt: skip
        if mine and data is not None:
            self.view.experienced(
                space, self.offset, Recent(memory_id, text, data, encoder, "ann", mark, repeats=repeats), keep=20
            )

    def asked(self, *proposed: tuple[str, str, str]) -> NominationProposed:
        proposals = tuple(Proposal((m,), space, kind, "decayed", 0, 0, 600_000) for m, space, kind in proposed)
        return NominationProposed(GENESIS.cluster, 0, 0, 1, NOW, self.offset + 1, "interval", proposals)

    def says(self, nomination: NominationProposed, policy: Policy = GENESIS.policy) -> tuple[Opinion, ...]:
        cast = BallotCast(GENESIS.cluster, 0, 0, 1, 1, b"", terms=self.judge.opinions(nomination, policy))
        return read(cast, nomination, places_of(nomination), policy).opinions


@pytest.fixture
def bench() -> Iterator[Bench]:
    found = Bench()
    yield found
    found.view.close()


def test_what_counts_when_it_votes_to_promote_is_what_it_is_told() -> None:
    for name, grounded in (("rules", 500_000), ("others", 0)):
        bench = Bench(grounds=NAMED[name])
        with bench.view.batch():
            bench.memory("valve", "here", [1.0, 0.0, 0.0], at=NOW, agent="ann", reinforced=1)
        (opinion,) = bench.says(bench.asked(("valve", "here", "promote")))
        assert dict(zip(PROMOTE.terms, opinion.terms, strict=True))["grounded"] == grounded
        bench.view.close()


def test_it_is_against_all_that_would_take_a_memory_of_a_namespace_that_keeps_them(bench: Bench) -> None:
    with bench.view.batch():
        for name, space in (("old", "here"), ("other", "there")):
            bench.memory(name, space, [1.0, 0.0, 0.0], at=0)
            bench.memory(
                f"{name} too", space, [0.0, 1.0, 0.0], at=0, mine=True, says="The rare zygote is quite unique."
            )
    asked = bench.asked(("old", "here", "forget"), ("other", "there", "forget"))
    free = bench.says(asked)
    assert [one.yes for one in free] == [True, True]
    kept = replace(GENESIS.policy, consolidate=ConsolidatePolicy(retained="here"))
    here, there = bench.says(asked, kept)
    assert here.terms == KINDS["forget"].abstain(NOW) and there == free[1]


numbers = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0, float("nan"), float("inf")]), min_size=1, max_size=3)
vectors = st.one_of(
    st.lists(st.floats(-1, 1, width=16), min_size=3, max_size=3), numbers, st.sampled_from([None, b"", b"odd"])
)
memories = st.tuples(
    st.sampled_from(SPACES), vectors, st.sampled_from("eef"), st.integers(0, NOW + 9), st.booleans(), st.booleans()
)
proposals = st.tuples(st.sampled_from(["forget", "forget", "promote"]), st.sampled_from([0, 0, 0, 1]))


class OneByOne:
    """A kind as if it could not be judged in columns."""

    reads = True

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        return {i: replace(one, rank_ppm=lookups.rank_ppm(i)) for i, one in facts.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)


def one_by_one(nomination: NominationProposed) -> Places:
    """As if no kind could be judged in columns."""
    return tuple((cast(Kind, OneByOne(kind)), where) for kind, where in places_of(nomination))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(memories, proposals), min_size=1, max_size=20))
def test_opinions_in_columns_are_those_of_facts_one_by_one(given: Any) -> None:
    bench = Bench()
    with bench.view.batch():
        for number, ((space, vector, encoder, at, mine, destroyed), _) in enumerate(given):
            bench.memory(f"m{number}", space, vector, encoder=encoder, at=at, mine=mine)
            if destroyed and number % 3 == 0:
                del bench.keys[f"m{number}"]
    asked = [
        (f"m{number}", SPACES[(SPACES.index(space) + elsewhere) % 2], kind)
        for number, ((space, *_), (kind, elsewhere)) in enumerate(given)
    ]
    nomination = bench.asked(*asked, ("unknown", "here", "forget"))
    assert bench.judge.opinions(nomination, GENESIS.policy) == bench.judge.opinions(
        nomination, GENESIS.policy, one_by_one(nomination)
    )
    bench.view.close()


@pytest.mark.parametrize("kind", ["forget", "promote"])
def test_a_vector_of_another_encoder_says_nothing_beside_its_own(bench: Bench, kind: str) -> None:
    bench.memory("m", "here", (1, 0), at=NOW - 1, encoder="another")  # one long ago would not be promoted anyway
    bench.memory("e", "here", (0, 1), mine=True)
    (opinion,) = bench.says(bench.asked(("m", "here", kind)))
    assert opinion.terms == KINDS[kind].abstain(NOW)


@pytest.mark.parametrize("kind", ["forget", "promote"])
def test_a_vector_of_another_length_says_nothing(bench: Bench, kind: str) -> None:
    bench.memory("m", "here", (1, 0, 0), at=NOW - 1)
    bench.memory("e", "here", (0, 1), mine=True)
    (opinion,) = bench.says(bench.asked(("m", "here", kind)))
    assert opinion.terms == KINDS[kind].abstain(NOW)


@pytest.mark.parametrize("kind", ["forget", "promote"])
def test_a_memory_that_was_read_into_another_namespace_is_kept(bench: Bench, kind: str) -> None:
    bench.memory("m", "here", (1, 0), at=NOW - 1)
    bench.memory("n", "there", (1, 0), at=NOW - 1)
    first, second = bench.says(bench.asked(("m", "there", kind), ("n", "there", kind)))
    assert first.terms == KINDS[kind].abstain(NOW)
    assert second.terms != first.terms


def test_what_cannot_be_opened_is_kept(bench: Bench) -> None:
    for memory_id, data in {"a": (1, 0), "b": None, "c": b"odd", "d": (1, float("nan")), "e": (1, 0)}.items():
        bench.memory(memory_id, "here", data)
    del bench.keys["a"]
    said = bench.says(bench.asked(*((memory_id, "here", "forget") for memory_id in "abcde")))
    assert [o.terms == FORGET.abstain(NOW) for o in said] == [True, True, True, True, False]
    assert said[4].yes


LATE = ((1, 0.1), (1, 0.11), (1, 0.12), (1, -0.1), (1, -0.11), (1, -0.12), (0, 1), (0, -1))


def busy(bench: Bench, **more: Any) -> None:
    """Adds recent memories of the member's own agents: mostly like (1, 0)."""
    for number, vector in enumerate(LATE):
        bench.memory(f"e{number}", "here", vector, mine=True, **more)


def test_a_memory_is_not_near_to_itself(bench: Bench) -> None:
    busy(bench)
    bench.memory("m", "here", (0.1, -1), mine=True)
    bench.memory("n", "here", (0.1, -1))
    itself, other = bench.says(bench.asked(("m", "here", "forget"), ("n", "here", "forget")))
    assert itself.terms[2] < other.terms[2]


def test_what_only_repeats_is_nothing_to_be_near_to(bench: Bench) -> None:
    busy(bench)
    bench.memory("m", "here", (0, -1))
    before = bench.says(bench.asked(("m", "here", "forget")))[0].terms[2]
    for number in range(3):
        bench.memory(f"again{number}", "here", (0, -1), mine=True, repeats=True)
    after = bench.says(bench.asked(("m", "here", "forget")))[0].terms[2]
    for number in range(3):
        bench.memory(f"anew{number}", "here", (0, -1), mine=True)
    assert bench.says(bench.asked(("m", "here", "forget")))[0].terms[2] > max(before, after)


def test_a_member_restores_what_it_knows_and_can_open(bench: Bench) -> None:
    """Asked for a second ago, it would not be nominated; asked for long ago, it has to mean something."""

    def asks(*ids: str, at: int, space: str = "here") -> NominationProposed:
        wanted = tuple(Proposal((i,), space, "restore", "requested", at, at, 0) for i in ids)
        return replace(bench.asked(), proposals=wanted, trigger="restore/x", order=b"")

    for number, late in enumerate([(0.1, 1), (-0.1, 1), (0, 0.9), (1, 0), (-1, 0.1), (1, 0.2)]):
        bench.memory(f"e{number}", "here", late, mine=True)
    for name, vector in (("near", (0, 1)), ("far", (-1, -1)), ("lost", (0, 1)), ("alive", (0, 1))):
        bench.memory(name, "here", vector)
    bench.view.decided(
        0, seq=1, epoch=1, commits=[], decisions=b"", forgotten=["near", "far", "lost"], until=2 * NOW,
        accepted_offset=bench.offset, read=bench.offset + 1,
    )  # fmt: skip
    del bench.keys["lost"]
    names = ("near", "far", "lost", "alive", "unknown")
    fresh = bench.says(asks(*names, at=NOW - 1_000))
    # The commit worker knows whether it rests: one that was used while it was forgotten, say.
    assert [opinion.yes for opinion in fresh] == [True, True, False, True, False]
    assert [opinion.terms[0] for opinion in fresh] == [PPM, PPM, 0, PPM, 0]
    assert fresh[0].terms[4] == NOW - 1_000
    assert [opinion.yes for opinion in bench.says(asks(*names, at=0))] == [True, False, False, True, False]
    assert not any(opinion.yes for opinion in bench.says(asks(*names, at=NOW, space="there")))


@pytest.mark.parametrize("renews", [None, "old"])
def test_of_what_rests_sealed_it_is_for_a_summary_in_the_place_of_an_erased_one_alone(
    bench: Bench, renews: str | None
) -> None:
    texts = {f"m{n}": f"Pump {n} in hall {n + 4} leaks {n + 7} litres." for n in range(3)}
    for memory_id, text in texts.items():
        bench.memory(memory_id, "here", (0, 1), says=text, created=5)
    committed = ids.sha256(*(bench.view.known([one])[one].commitment for one in texts))
    quotes = tuple(Quote(one, 0, len(text), "facts", 5) for one, text in texts.items())
    made = Summary("extractive/1", "s1", 600_000, committed, quotes, renews)
    bench.memory(
        "sum", "here", (0, 1), says=render(quotes, texts), created=5, agent="consolidator",
        marks=Marks("", summary=packed(made)),
    )  # fmt: skip
    asked = replace(
        bench.asked(), proposals=(Proposal(("sum", *texts), "here", "consolidate", "summed up", 5, 5, 0),)
    )  # fmt: skip
    assert bench.says(asked)[0].yes, "as long as they are alive it is for it in either case"
    for epoch in range(1, 5):
        bench.view.decided(
            0, seq=epoch, epoch=epoch, commits=[], decisions=b"", forgotten=list(texts) if epoch == 1 else [],
            until=2 * NOW, accepted_offset=bench.offset, read=bench.offset + 1,
        )  # fmt: skip
    assert bench.view.known(texts) == {}
    assert bench.says(asked)[0].yes == (renews is not None)
    del bench.keys["m1"]
    assert not bench.says(asked)[0].yes, "what was erased it cannot open"


def test_what_is_protected_is_kept_and_may_be_promoted(bench: Bench) -> None:
    bench.memory("m", "here", (1, 0))
    nomination, promotion = bench.asked(("m", "here", "forget")), bench.asked(("m", "here", "promote"))
    assert bench.says(nomination)[0].yes
    before = bench.says(promotion)
    for number, action in ((1, "pin"), (3, "hold"), (2, "unpin")):
        bench.view.protect(0, wanted(action, "m", number, namespace="here", cluster=b""), "operator")
    assert bench.says(nomination)[0].terms == FORGET.abstain(NOW)
    assert bench.says(promotion) == before
    bench.view.protect(0, wanted("release", "m", 4, namespace="here", cluster=b""), "operator")
    assert bench.says(nomination)[0].yes


SIGNERS = {agent: public_key(f"agent:{agent}") for agent in ("ann", "bob")}
SIGNING = make(shards=1, agents={"ann": 1, "bob": 2}, signed={"here"}, agent_keys=SIGNERS)


def signed_episode(
    event: str, agent: str = "ann", *, by: str | None = None, text: str = "", **more: Any
) -> tuple[str, bytes]:  # fmt: skip
    """A memory's id, and what its agent signed of it."""
    memory_id = ids.memory_id("here", event)
    value = CODEC.encode(EpisodeRecorded(agent, text or f"of {memory_id}", "here", event, **more))
    return memory_id, signatures.sign(SIGNING.cluster, topics.EPISODES, seed_of(f"agent:{by or agent}"), value) + value


def test_where_records_are_signed_the_context_is_of_those_whose_signature_holds() -> None:
    true, other = signed_episode("true"), signed_episode("other")
    lies = {
        "unsigned": (ids.memory_id("here", "u"), None),
        "of another agent": signed_episode("f", by="bob"),
        "altered": (signed_episode("x")[0], signed_episode("x")[1][:-1] + b"!"),
        "another event's": (
            ids.memory_id("here", "e"),
            signed_episode("another", text=f"of {ids.memory_id('here', 'e')}")[1],
        ),
        "another text": signed_episode("t", text="something else"),
        "short": (ids.memory_id("here", "s"), b"s"),
    }
    for why, (memory_id, forged) in lies.items():
        bench = Bench(SIGNING)
        bench.memory("m", "here", (1, 0))
        bench.memory(memory_id, "here", (0.6, 0.8), mine=True, signed=forged)
        (alone,) = bench.says(bench.asked(("m", "here", "forget")))
        bench.memory(true[0], "here", (0.6, 0.8), mine=True, signed=true[1])
        bench.memory(other[0], "here", (0.8, -0.6), mine=True, signed=other[1])
        (beside,) = bench.says(bench.asked(("m", "here", "forget")))
        bench.view.close()
        bench = Bench(SIGNING)
        bench.memory("m", "here", (1, 0))
        (nothing,) = bench.says(bench.asked(("m", "here", "forget")))
        bench.memory(true[0], "here", (0.6, 0.8), mine=True, signed=true[1])
        bench.memory(other[0], "here", (0.8, -0.6), mine=True, signed=other[1])
        (only,) = bench.says(bench.asked(("m", "here", "forget")))
        bench.view.close()
        assert (alone.terms, beside.terms) == (nothing.terms, only.terms), why
        assert nothing.terms != only.terms


def test_where_nobody_has_to_sign_the_context_is_of_all() -> None:
    bench = Bench(SIGNING)
    bench.memory("m", "there", (1, 0))
    bench.memory("e", "there", (0.6, 0.8), mine=True)
    bench.memory("f", "there", (0.8, -0.6), mine=True)
    (opinion,) = bench.says(bench.asked(("m", "there", "forget")))
    assert opinion.terms[2] != opinion.terms[1]
    bench.view.close()


def test_a_text_that_its_agent_did_not_sign_is_not_promoted() -> None:
    def votes(signed: bytes | None) -> Opinion:
        bench = Bench(SIGNING)
        bench.memory(signed_episode("own")[0], "here", (1, 0), mine=True, signed=signed_episode("own")[1])
        bench.memory(signed_episode("m")[0], "here", (1, 0.1), signed=signed, at=NOW)
        (opinion,) = bench.says(bench.asked((signed_episode("m")[0], "here", "promote")))
        bench.view.close()
        return opinion

    assert votes(None).terms == votes(signed_episode("m", "bob", by="ann")[1]).terms == KINDS["promote"].abstain(NOW)
    assert votes(signed_episode("m", "bob")[1]).terms != KINDS["promote"].abstain(NOW)


OLD = ids.memory_id("here", "old")
SPACE = b"s" * 32
DOOR = labelling.slot(SPACE, Labels("door"))


@pytest.mark.parametrize(
    ("marks", "signed", "meant"),
    [
        ({"slot": DOOR}, {"key": "door", "explicit": True}, True),
        ({"slot": DOOR}, {}, False),
        ({"slot": DOOR}, {"key": "gate", "explicit": True}, False),
        ({"slot": DOOR}, {"key": "door", "path": "hall", "explicit": True}, False),
        ({"slot": DOOR}, {"key": "door"}, False),
        ({"supersedes": OLD}, {"supersedes": (OLD.upper(),), "explicit": True}, True),
        ({"supersedes": OLD}, {}, False),
        ({"supersedes": OLD}, {"supersedes": (ids.memory_id("here", "b"),), "explicit": True}, False),
    ],
)
def test_a_place_is_taken_only_where_the_agent_itself_signed_that(
    marks: dict[str, str], signed: dict[str, Any], meant: bool
) -> None:
    bench = Bench(SIGNING)
    bench.keys[ids.space_key_id("here")] = SPACE
    old = signed_episode("old", key="door", explicit=True)
    new = signed_episode("new", **signed)
    bench.memory(old[0], "here", (1, 0), agent="ann", signed=old[1], marks=Marks("ann", slot=DOOR))
    bench.memory(new[0], "here", (1, 0), agent="ann", signed=new[1], created=1, marks=Marks("ann", **marks))
    nomination = bench.asked((new[0], "here", "supersede"))
    nomination = replace(nomination, proposals=(replace(nomination.proposals[0], memory_ids=(new[0], old[0])),))
    (opinion,) = bench.says(nomination)
    assert opinion.yes is meant
    bench.view.close()


@pytest.mark.parametrize("later", [True, False])
def test_of_two_of_one_moment_that_is_later_which_stands_behind_in_the_stream(later: bool) -> None:
    """Ids say nothing of it: of both orders one is against them."""
    names = OLD, ids.memory_id("here", "new")
    for first, second in (names, names[::-1]):
        bench = Bench()
        for memory_id in (first, second):
            bench.memory(memory_id, "here", (1, 0), agent="ann", marks=Marks("ann", slot="door"))
        claim = (second, first) if later else (first, second)
        nomination = bench.asked((claim[0], "here", "supersede"))
        nomination = replace(nomination, proposals=(replace(nomination.proposals[0], memory_ids=claim),))
        (opinion,) = bench.says(nomination)
        assert opinion.yes is later
        bench.view.close()


# Rules that fail on a text

_BAD = f"Valve 7 leaks {MARK} grease."
_SAID = "Valve 7 leaks grease."


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    poison(monkeypatch, VOTES)
    found = Bench()
    yield found
    found.view.close()


def _fill(bench: Bench, *, bad: bool = True) -> None:
    with bench.view.batch():
        bench.memory("good", "here", [1.0, 0.0, 0.0], at=NOW, agent="bob", says=_SAID)
        bench.memory("again", "here", [0.9, 0.1, 0.0], at=NOW, agent="ann", says="Grease leaks at valve 7.", mine=True)
        if bad:
            bench.memory("bad", "here", [1.0, 0.0, 0.0], at=NOW, agent="ann", says=_BAD, mine=True)


def _failed_on(poisoned: Bench) -> set[str]:
    return {memory_id for failed in poisoned.judge.failures.told() for memory_id in failed.memory_ids}


def test_a_neighbour_on_which_a_rule_fails_takes_nothing_from_a_memory(poisoned: Bench) -> None:
    _fill(poisoned)
    (beside,) = poisoned.says(poisoned.asked(("good", "here", "promote")))
    assert "bad" in _failed_on(poisoned)
    other = Bench()
    _fill(other, bad=False)
    (alone,) = other.says(other.asked(("good", "here", "promote")))
    other.view.close()
    assert beside == alone
    assert beside.yes


def _named(poisoned: Bench, *proposed: tuple[str, tuple[str, ...]]) -> NominationProposed:
    """A nomination of these kinds, of these memories each."""
    proposals = tuple(Proposal(names, "here", kind, "decayed", 0, 0, 600_000) for kind, names in proposed)
    return replace(poisoned.asked(("good", "here", "promote")), proposals=proposals)


@pytest.mark.parametrize(
    ("kind", "names"),
    [("promote", ("bad",)), ("demote", ("bad",)), ("supersede", ("bad", "good")), ("overrule", ("bad", "good"))],
)
def test_of_what_its_rules_fail_on_a_member_abstains_and_judges_the_others(
    poisoned: Bench, kind: str, names: tuple[str, ...]
) -> None:
    """Its policy votes on inferred contradictions: else no rule is asked before an act."""
    _fill(poisoned)
    inferring = replace(GENESIS.policy, supersede=replace(GENESIS.policy.supersede, inferred=True))
    bad, good = poisoned.says(_named(poisoned, (kind, names), ("promote", ("good",))), inferring)
    abstained = KINDS[kind].abstain(NOW)
    assert (bad.terms, bad.yes) == (abstained, False)
    assert good.yes
    assert "bad" in _failed_on(poisoned)


def test_all_members_abstain_alike(poisoned: Bench) -> None:
    """Each judges by the same rule, so its failure divides nobody: ballots are equal byte by byte."""
    other = Bench()
    nominations = []
    for one in (poisoned, other):
        _fill(one)
        nominations.append(_named(one, ("promote", ("bad",)), ("promote", ("good",))))
    first, second = (
        one.judge.opinions(nomination, GENESIS.policy)
        for one, nomination in zip((poisoned, other), nominations, strict=True)
    )
    other.view.close()
    assert first == second
