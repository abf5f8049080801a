"""An episode's permitted uses, and those of a memory made of others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core import facets
from memquorum.core.accounts import explain, telling
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.facets import BadFacet, Facets
from memquorum.core.journal.rows import Memory
from memquorum.core.records import Summary
from tests.builders import genesis, votes
from tests.builders.facts import facts
from tests.builders.published import kinds, publish
from tests.builders.replayed import replayed
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id

SAYS = accepted("e", 1)
NAMES = st.sets(st.sampled_from(("billing", "support", "research")), max_size=3)
KEPT = st.builds(
    lambda s, p, j: Facets("episodic", s, None if p is None else ",".join(sorted(p)), ",".join(sorted(j))),
    st.integers(0, 1_000_000), st.none() | NAMES, st.sets(st.sampled_from(("DE", "EU", "US-CA"))),
)  # fmt: skip


def says(**said: object) -> Facets:
    return facets.facets(replace(SAYS, **said))  # type: ignore[arg-type]


def test_what_says_nothing_is_for_anything() -> None:
    assert says() == Facets("episodic", 0, None, "")
    assert says(type="task") == Facets("task", 0, None, "")
    full = says(sensitivity_ppm=7, purposes=("b", "a"), jurisdiction="DE")
    assert full == Facets("episodic", 7, "a,b", "DE")
    assert (facets.names(full.purposes or ""), facets.names("")) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("said", "made_of", "kept"),
    [
        (("diffusion",), [], "diffusion"),
        (("diffusion", "billing"), [], "billing,diffusion"),
        (("diffusion",), ["diffusion", "billing,diffusion"], "billing,diffusion"),
        (("diffusion",), [None], None),
        ((), ["diffusion"], None),
        (("diffusion",), ["billing"], "billing"),
        (("diffusion", "billing"), ["diffusion,support"], ""),
    ],
)
def test_diffusion_binds_nothing_and_is_of_what_all_say_it_of(
    said: tuple[str, ...], made_of: list[str | None], kept: str | None
) -> None:
    sources = [Facets("episodic", 0, one, "") for one in made_of]
    assert facets.facets(replace(SAYS, purposes=said), sources).purposes == kept
    assert facets.diffuses(kept) == (kept is not None and "diffusion" in kept)


def test_what_the_service_makes_crosses_where_all_that_it_was_made_of_does() -> None:
    made = replace(SAYS, summary=Summary("abstract/1", "experience", 0, b"c" * 32, ()))
    free, bound = Facets("episodic", 0, "diffusion", ""), Facets("episodic", 0, "billing,diffusion", "")
    assert facets.facets(made, [free]).purposes == "diffusion"
    assert facets.facets(made, [free, bound]).purposes == "billing,diffusion"
    assert facets.facets(made, [free, Facets()]).purposes is None


def test_what_names_diffusion_alone_is_for_anything_where_it_is_read() -> None:
    assert facets.bound_to("diffusion") is None and facets.bound_to(None) is None
    assert facets.bound_to("billing,diffusion") == ("billing",) and facets.bound_to("") == ()


@given(KEPT, st.lists(KEPT, max_size=4))
def test_what_was_made_of_others_is_no_freer_than_they(own: Facets, sources: list[Facets]) -> None:
    laws = facets.names(own.jurisdictions)[:1]
    said = replace(
        SAYS, sensitivity_ppm=own.sensitivity_ppm, purposes=facets.names(own.purposes or ""),
        jurisdiction=laws[0] if laws else None,
    )  # fmt: skip
    held = facets.facets(said, sources)
    for source in (facets.facets(said), *sources):
        assert held.sensitivity_ppm >= source.sensitivity_ppm
        assert set(facets.names(held.jurisdictions)) >= set(facets.names(source.jurisdictions))
        if source.purposes is not None:
            assert held.purposes is not None
            assert set(facets.names(held.purposes)) <= set(facets.names(source.purposes))
    # And not stricter than it must be; in whatever order they come, and however often.
    assert held.sensitivity_ppm in {own.sensitivity_ppm, *(s.sensitivity_ppm for s in sources)}
    assert held == facets.facets(said, [*reversed(sources), *sources])
    if all(s.purposes is None for s in sources) and not said.purposes:
        assert held.purposes is None


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"type": "dream"}, "type"), ({"sensitivity_ppm": 1_000_001}, "sensitivity"),
        ({"sensitivity_ppm": -1}, "sensitivity"), ({"purposes": ("a,b",)}, "purposes"),
        ({"purposes": ("",)}, "purposes"), ({"purposes": ("a\n",)}, "purposes"),
        ({"jurisdiction": "DE\n"}, "jurisdiction"),
        ({"purposes": tuple(f"p{n}" for n in range(17))}, "purposes"), ({"jurisdiction": "de"}, "jurisdiction"),
    ],
)  # fmt: skip
def test_what_may_not_be_said_is_named(codec: Codec, said: dict[str, object], field: str) -> None:
    facets.check(SAYS)
    wrong = replace(SAYS, **said)  # type: ignore[arg-type]
    with pytest.raises(BadFacet) as caught:
        facets.check(wrong)
    assert caught.value.field == field


def stored_facets(shard: Shard, event_id: str, namespace: str = NAMESPACE) -> Facets:
    row: Memory = shard.rows.memories[memory_id(event_id, namespace)]
    return Facets(row.type, row.sensitivity_ppm, row.purposes, row.jurisdictions)


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, genesis.make())


def test_a_memory_keeps_what_holds_for_it(shard: Shard) -> None:
    shard.episode("a", type="semantic", sensitivity_ppm=700_000, purposes=("billing", "support"), jurisdiction="DE")
    shard.episode("b", purposes=("research", "support"), jurisdiction="EU")
    assert stored_facets(shard, "a") == Facets("semantic", 700_000, "billing,support", "DE")
    both = (memory_id("a"), memory_id("b"))
    shard.episode("c", sensitivity_ppm=1, derives_from=both)
    assert stored_facets(shard, "c") == Facets("episodic", 700_000, "support", "DE,EU")
    shard.episode("d", purposes=("billing",), derives_from=(memory_id("c"),), type="task")
    assert stored_facets(shard, "d") == Facets("task", 700_000, "", "DE,EU")
    shard.episode("e", derives_from=(memory_id("never"),))
    assert stored_facets(shard, "e") == Facets()


def test_what_is_forgotten_still_holds_for_what_is_made_of_it(shard: Shard) -> None:
    shard.episode("a", sensitivity_ppm=700_000, purposes=("billing",))
    shard.tick(1_000_000)
    shard.decide([votes.proposal(memory_id("a"), "forget")])
    assert shard.rows.memories[memory_id("a")].tier == "sealed"
    shard.episode("b", derives_from=(memory_id("a"),))
    assert stored_facets(shard, "b") == Facets("episodic", 700_000, "billing", "")


def test_another_namespaces_memory_says_nothing_here(shard: Shard) -> None:
    shard.episode("a", sensitivity_ppm=700_000, purposes=("billing",), namespace="elsewhere")
    shard.episode("b", derives_from=(memory_id("a", "elsewhere"),))
    assert stored_facets(shard, "b") == Facets()


def test_what_repeats_a_memory_changes_nothing_of_its_use(shard: Shard) -> None:
    shard.episode("a", sensitivity_ppm=1, purposes=("billing",))
    shard.episode("b", outcome="reinforced", reinforces=memory_id("a"), sensitivity_ppm=900_000, type="task")
    assert stored_facets(shard, "a") == Facets("episodic", 1, "billing", "")


def test_what_nobody_checked_is_not_stored() -> None:
    assert applying.storable(accepted("e", 1, purposes=("a", "b"))) is None
    assert "purposes" in (applying.storable(accepted("e", 1, purposes=("a,b",))) or "")
    assert "type" in (applying.storable(accepted("e", 1, type="dream")) or "")


def shard_with_facets(codec: Codec) -> Shard:
    shard = Shard(codec, genesis.make())
    shard.episode("a", type="semantic", sensitivity_ppm=700_000, purposes=("billing",), jurisdiction="DE")
    shard.episode("b", derives_from=(memory_id("a"),))
    return shard


def test_the_journal_makes_the_same_rows_again(codec: Codec) -> None:
    shard = shard_with_facets(codec)
    public = publish(shard)
    made, _ = replayed(public, [1])
    assert made.memories == dict(shard.rows.memories)
    assert made.memories[memory_id("b")].sensitivity_ppm == 700_000
    assert kinds(public.audit(store=True, accepted=True)) == []


@pytest.mark.parametrize(
    "said", [{"type": "task"}, {"sensitivity_ppm": 1}, {"purposes": ("billing", "support")}, {"jurisdiction": None}]
)
def test_a_journal_that_says_something_else_than_was_accepted_is_found(codec: Codec, said: dict[str, Any]) -> None:
    public = publish(shard_with_facets(codec))
    public.forge(0, replace(public.detail(0), **said))
    assert Kind.RECORD_CONTRADICTED in kinds(public.audit(accepted=True))


@pytest.mark.parametrize("row", [{"type": "task"}, {"sensitivity_ppm": 0}, {"purposes": None}, {"jurisdictions": ""}])
def test_a_store_that_is_freer_than_its_journal_is_found(codec: Codec, row: dict[str, Any]) -> None:
    public = publish(shard_with_facets(codec))
    for one in public.tables["memory"]:
        one.update(row)
    assert Kind.ROW_ALTERED in kinds(public.audit(store=True))


def test_an_account_says_what_a_memory_may_be_used_for(codec: Codec) -> None:
    shard = shard_with_facets(codec)
    shard.episode("c")
    lines = {name: "\n".join(account(shard, memory_id(name), codec)) for name in "abc"}
    assert "Its use: semantic; sensitivity 0.7; for billing only; under the law of DE." in lines["a"]
    assert f"It was made of {memory_id('a')}." in lines["b"]
    assert "sensitivity 0.7; for billing only; under the law of DE, as strict as what it was made of." in lines["b"]
    assert "Its use:" not in lines["c"]


def account(shard: Shard, wanted: str, codec: Codec) -> list[str]:
    found = explain.explain(codec, shard.rules.genesis, facts(shard, wanted, codec))
    assert explain.plain(found)["holds"]["purposes"] == (None if wanted == memory_id("c") else ["billing"])
    return telling.lines(found, shard.rules.genesis)
