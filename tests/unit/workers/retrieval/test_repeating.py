"""A kept answer is given again to a request that asks the same with the same sight, once the store has confirmed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import asdict, replace

from memquorum.core.access import Sight
from memquorum.core.api.answers import Answering, Hit, Retrieved
from memquorum.core.avro import Codec
from memquorum.core.retrieval import filing
from memquorum.core.retrieval.cache import Cache, Rows
from memquorum.core.retrieval.query import ALL
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, rank
from memquorum.core.retrieval.repeated import Standing, chosen
from memquorum.core.retrieval.requests import Reader, Retrieve
from tests.builders.served import HERS, Served, make
from workers.retrieval.caching import Held
from workers.retrieval.door import Door
from workers.retrieval.knowing import Known
from workers.retrieval.repeating import Repeating

NAMESPACE, NOW = "greenhouse", 100_000_000
SIGHT = Sight((NAMESPACE,))
HIT = Hit(HERS, "Valve 3 opens at 4 bar.", "short-term", "ann", 0, NOW, 1, 0.5, 0.9)
ASKED = Retrieve(Reader(NAMESPACE, "ann", peek=True), "valve 3", 200, 20, ALL)
Found = tuple[dict[str, Hit], Standing] | None


class Kept:
    """A service that has kept the answer to `ASKED`, and a store that tells `now` of its memories."""

    def __init__(self, service: Served) -> None:
        self.service, self.policy = service, service.configurations.policy(NAMESPACE)
        self.held = Held(Cache(7, Rows([HERS], np.ones((1, 4), np.float32), [0]), whole=True, capacity=10))
        service.caching._running = True
        service.caching._held[NAMESPACE] = self.held
        self.chosen = chosen(
            rank([Candidate(HIT, "e", np.ones(2, np.float32), True, None, ())], {"e": 1}, NOW, self.policy),
            NOW, self.policy, DEFAULTS,
        )  # fmt: skip
        self.now: Found = ({HERS: HIT}, self.chosen.standing)
        self.asked: list[int] = []

        async def answer_again(_: Sight, __: str, ___: int, after: int, **____: Any) -> Found:
            self.asked.append(after)
            return self.now

        store: Any = service.reads
        store.answer_again = answer_again
        self.keep(self.read())

    def read(self, wanted: Retrieve = ASKED, sight: Sight = SIGHT, *, masked: bool = False) -> Repeating[Retrieved]:
        wanted = replace(wanted, reader=replace(wanted.reader, redact=masked))
        return Repeating(self.service, sight, wanted.reader, wanted, wanted.filters)

    def keep(self, read: Repeating[Retrieved], lists: Sequence[tuple[str, list[str]]] = ()) -> None:
        known = Known(self.service.reads, SIGHT)
        known.chosen = self.chosen
        hit = {name: one for name, one in asdict(HIT).items() if name in Answering.__struct_fields__}
        item = Answering(**hit | {"relevance": 1.0, "strength": 1.0, "cosine": 0.9, "tokens": 9})
        mask = self.service.masking(NAMESPACE, lists, asked=False)
        read.keep(known, mask, Retrieved(NAMESPACE, (item,), 9, 200, {}, 1, answerable=True))

    async def given(self, wanted: Retrieve = ASKED, sight: Sight = SIGHT, *, masked: bool = False) -> bool:
        return await self.read(wanted, sight, masked=masked).again(Retrieved) is not None


@pytest.fixture
def kept(codec: Codec) -> Kept:
    return Kept(make(codec, Door(None)))


async def test_the_same_is_given_again_with_the_content_of_now(kept: Kept) -> None:
    (bare,) = kept.held.answers.values()
    assert HIT.text not in repr(bare)
    found = await kept.read().again(Retrieved)
    assert found is not None and [one.text for one in found.answer.items] == [HIT.text]
    # A read that counts as a use and a peek share the kept answer.
    assert await kept.given(replace(ASKED, reader=replace(ASKED.reader, peek=False)))
    assert kept.asked == [7, 7], "the store is asked about all since the journal's place at which it was kept"


async def test_a_question_for_an_integer_of_more_than_64_bits_is_told_from_another(kept: Kept) -> None:
    wanted = [replace(ASKED, filters=replace(ALL, where=filing.read({"n": 2**64 + more}))) for more in (0, 1)]
    kept.keep(kept.read(wanted[0]))
    assert [await kept.given(one) for one in wanted] == [True, False]


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, query="valve 4"),
        replace(ASKED, k_max=1),
        replace(ASKED, reader=replace(ASKED.reader, agent="ben")),
        replace(ASKED, filters=replace(ALL, purpose="billing")),
        replace(ASKED, filters=replace(ALL, sensitivity_max=0.1)),
        replace(ASKED, filters=replace(ALL, jurisdictions=("DE",))),
    ],
)
async def test_another_request_is_not_given_it(kept: Kept, other: Retrieve) -> None:
    assert not await kept.given(other)
    assert kept.asked == [], "the store is not even asked"


@pytest.mark.parametrize("namespaces", [("*",), (NAMESPACE, "mill"), ("green*",)])
async def test_a_key_that_sees_something_else_is_not_given_it(kept: Kept, namespaces: tuple[str, ...]) -> None:
    assert not await kept.given(sight=Sight(namespaces))
    kept.keep(kept.read(sight=Sight(namespaces)))
    assert await kept.given() and await kept.given(sight=Sight(namespaces))
    assert len(kept.held.answers) == 2


async def test_a_masked_read_is_neither_kept_nor_given_what_was_kept(kept: Kept) -> None:
    assert not await kept.given(masked=True)
    kept.held.answers.clear()
    kept.keep(kept.read(masked=True))
    assert not kept.held.answers


async def test_what_a_list_of_a_profile_masks_is_not_kept(kept: Kept) -> None:
    kept.held.answers.clear()
    kept.keep(kept.read(), [("ada", ["Bob"])])
    assert not kept.held.answers
    kept.keep(kept.read())
    assert kept.held.answers


async def test_it_is_not_given_where_the_store_does_not_confirm_it(kept: Kept) -> None:
    kept.now = None
    assert not await kept.given()


async def test_it_is_not_given_where_the_order_is_no_longer_known_to_be_the_same(kept: Kept) -> None:
    kept.now = ({HERS: HIT}, Standing((None,), (None,), NOW))
    assert not await kept.given()


async def test_it_is_not_given_under_another_policy(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept.service.configurations, "policy", lambda _: replace(kept.policy))
    assert not await kept.given()


async def test_an_answer_during_which_something_was_forgotten_is_not_kept(kept: Kept) -> None:
    read = kept.read()
    kept.held.forget()
    kept.keep(read)
    assert not kept.held.answers
