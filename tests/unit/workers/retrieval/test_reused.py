"""Which texts are told from the first one under their event id, and how few can be tried out."""

from __future__ import annotations

from memquorum.client import wire
from workers.retrieval.reused import COMPARED_MOST, Compared, digests

EVENT, FIRST = ("n", "e"), "The code of the shed is 4711."


def test_the_first_text_is_known_by_its_own_digest_and_by_what_the_client_says() -> None:
    compared = Compared()
    assert not any(compared.differs(EVENT, one, digests(FIRST)) for one in digests(FIRST))
    assert not compared.differs(EVENT, wire.digest(FIRST.rstrip(".")), digests(FIRST))
    assert compared.differs(EVENT, wire.digest("The code of the shed is 4712."), digests(FIRST))


def test_beyond_a_few_texts_each_one_is_taken_for_another() -> None:
    compared = Compared()
    for code in range(COMPARED_MOST):
        assert compared.differs(EVENT, wire.digest(f"The code of the shed is {code}."), digests(FIRST))
    assert compared.differs(EVENT, wire.digest(FIRST), digests(FIRST))
    assert not compared.differs(("n", "other"), wire.digest(FIRST), digests(FIRST))


def test_what_was_found_equal_before_stays_so() -> None:
    compared = Compared()
    assert not compared.differs(EVENT, wire.digest(FIRST), digests(FIRST))
    for code in range(2 * COMPARED_MOST):
        compared.differs(EVENT, wire.digest(str(code)), digests(FIRST))
    assert not compared.differs(EVENT, wire.digest(FIRST), digests(FIRST))


def test_the_events_that_are_remembered_are_bounded() -> None:
    compared = Compared(most=2)
    for number in range(5):
        compared.differs(("n", str(number)), wire.digest("x"), digests(FIRST))
    assert [event for _, event in compared._known] == ["3", "4"]
