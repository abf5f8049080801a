"""The suggested sensitivity, the signs that raise and lower it, and that it never overrules an explicit one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import intake
from memquorum.core.accounts import explain, telling
from memquorum.core.avro import Codec
from memquorum.core.intake import EpisodeIntent, Origin
from memquorum.core.policy import PPM
from memquorum.core.privacy.kinds import SPECIAL, WEIGHTS_PPM
from memquorum.core.privacy.sensitivity import SHIPPED, Weights, combined_ppm, read_weights, suggested_ppm
from memquorum.core.records import Summary
from tests.builders import genesis, votes
from tests.builders.facts import facts
from tests.builders.shard import Shard, memory_id

NOW = 1_760_000_000_000
MAIL, SICK, PLAIN = "mail ada@example.org", "Ada has epilepsy.", "Valve 3 opens at 4 bar."
KINDS = st.sets(st.sampled_from(sorted(WEIGHTS_PPM)))
LAWS = st.sampled_from((None, "DE", "US", "US-CA", "CH"))


def let_in(codec: Codec, content: str, weights: Weights = SHIPPED, **said: object) -> EpisodeIntent:
    data = json.dumps({"agent": "planner", "content": content, **said}).encode()
    answer = intake.accept(codec, data, Origin(topics.EPISODES, 0, 0, NOW), NOW, False)
    answer = intake.suggesting(answer, weights)
    assert isinstance(answer, EpisodeIntent)
    return answer


def test_the_formula() -> None:
    assert suggested_ppm(PLAIN) is None
    assert suggested_ppm(MAIL) == 300_000
    assert suggested_ppm("mail ada@example.org and bob@example.org") == 300_000, "a kind counts once"
    assert suggested_ppm(f"{MAIL}, {SICK}") == 790_000  # 1 - 0.7 · 0.3
    assert suggested_ppm(SICK, jurisdiction="DE") == 800_000
    assert suggested_ppm(SICK, jurisdiction="US-CA") == suggested_ppm(SICK) == 700_000
    assert suggested_ppm(MAIL, jurisdiction="DE") == 300_000, "the law makes no special category of it"
    assert suggested_ppm(MAIL, ("billing",)) == 480_000  # 1 - 0.7 · 0.75, up to a hundredth
    assert suggested_ppm(PLAIN, ("billing",), "DE") is None, "where nothing is found nothing is raised"


@given(KINDS, KINDS, LAWS, st.booleans())
def test_more_that_is_found_is_never_less(some: set[str], more: set[str], law: str | None, consented: bool) -> None:
    purposes = ("billing",) if consented else ()
    one, both = (combined_ppm(found, purposes, law, WEIGHTS_PPM) or 0 for found in (some, some | more))
    assert max((WEIGHTS_PPM[kind] for kind in some), default=0) <= one <= both <= PPM
    assert one >= (combined_ppm(some, (), None, WEIGHTS_PPM) or 0)
    assert one % 10_000 == 0, "in hundredths"


def test_the_operators_own_weights_raise_and_lower() -> None:
    weights = Weights(ppm=read_weights("email=0 belief=0.9"))
    assert suggested_ppm(MAIL, weights=weights) is None
    assert suggested_ppm("She is catholic.", weights=weights) == 900_000
    assert suggested_ppm(SICK, jurisdiction="DE", weights=Weights(ppm=read_weights("health=0"))) is None
    assert all(kind in WEIGHTS_PPM for kind in SPECIAL)


def test_what_its_publisher_says_holds_and_else_it_is_suggested(codec: Codec) -> None:
    found = let_in(codec, SICK)
    assert (found.sensitivity_ppm, found.suggested) == (700_000, "patterns-2")
    for said in (0, 0.2, 1):
        one = let_in(codec, SICK, sensitivity=said)
        assert (one.sensitivity_ppm, one.suggested) == (round(said * PPM), None)
    plain = let_in(codec, PLAIN)
    assert (plain.sensitivity_ppm, plain.suggested) == (None, None)
    off = let_in(codec, SICK, Weights(on=False))
    assert (off.sensitivity_ppm, off.suggested) == (None, None)
    bound = let_in(codec, SICK, jurisdiction="DE", purposes=["care"])
    assert bound.sensitivity_ppm == 850_000


def test_a_summary_is_as_sensitive_as_its_sources_and_no_more(codec: Codec) -> None:
    intent = replace(let_in(codec, SICK, sensitivity=0), sensitivity_ppm=None)
    assert intake.suggesting(intent, SHIPPED) == replace(intent, sensitivity_ppm=700_000, suggested="patterns-2")
    summary = replace(intent, summary=Summary("extractive/1", "s1", 600_000, b"c" * 32, ()))
    assert intake.suggesting(summary, SHIPPED) == summary


def test_what_an_account_says_of_it(codec: Codec) -> None:
    shard = Shard(codec, genesis.make())
    shard.episode("a", sensitivity_ppm=790_000, suggested="patterns-2")
    known = facts(shard, memory_id("a"), codec)

    def account_lines(kinds: tuple[str, ...] | None) -> str:
        found = explain.explain(codec, shard.rules.genesis, replace(known, kinds=kinds))
        return "\n".join(telling.lines(found, shard.rules.genesis))

    said = "Its publisher said no sensitivity; 0.79 was suggested by patterns-2"
    assert f"{said}, for it holds email, health." in account_lines(("email", "health"))
    assert f"{said}, by content that is not there any more." in account_lines(None)
    assert f"{said}, and by the rules of today it would not be." in account_lines(())
    shard.decide([votes.proposal(memory_id("a"), "forget")])
    known = facts(shard, memory_id("a"), codec)
    assert f"{said}, by content that rests sealed." in account_lines(None)
    assert "`memquorum restore` asks members to bring" in account_lines(None)
    shard.episode("b", sensitivity_ppm=790_000)
    assert "suggested" not in "\n".join(
        telling.lines(
            explain.explain(codec, shard.rules.genesis, facts(shard, memory_id("b"), codec)), shard.rules.genesis
        )
    )


@pytest.mark.parametrize("kind", sorted(WEIGHTS_PPM))
def test_what_is_found_is_kept_from_a_model_that_sums_up(kind: str) -> None:
    weight = combined_ppm((kind,), (), None, WEIGHTS_PPM)
    assert weight is not None and weight > 100_000, "the default of summariser_sensitivity_max"
