"""Messages as publications, queries, and what is cut from a prompt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memquorum import topics
from memquorum.client import wire
from memquorum.core.showing.quoting import HEADING, framed, quoted
from memquorum.llama_index import talk
from memquorum.llama_index.talk import ChatText


@given(texts=st.lists(st.text(), max_size=4), session=st.none() | st.text())
def test_what_is_published_of_messages_is_taken(texts: list[str], session: str | None) -> None:
    said = [ChatText("user", text) for text in texts]
    told = list(talk.episodes(said, session, {"subject": "ada"}))
    for one in told:
        wire.checked(topics.EPISODES, {**one, "namespace": "n", "agent": "a", "event_id": "e"})
        assert (one["role"], one["subject"]) == ("user", "ada")
    assert len(told) == sum(bool(text.strip()) for text in texts)
    assert "\0" not in talk.query_of(said) and talk.query_of(said).encode() is not None


def test_a_long_message_is_several_episodes_and_what_says_nothing_is_none() -> None:
    long = "\U0001f600" * 40_000
    told = list(talk.episodes([ChatText("user", long), ChatText("assistant", " \n")], "s/1", {}))
    assert "".join(one["content"] for one in told) == long and len(told) == 3
    assert {one["session"] for one in told} == {"s%2F1"}


def test_asked_is_what_was_said_last() -> None:
    said = [ChatText("user", str(at)) for at in range(9)] + [ChatText("assistant", "")]
    assert talk.query_of(said) == "5\n6\n7\n8"


def test_what_answers_worst_is_cut_first() -> None:
    told = "- the best answer\n- a worse one\n- the worst"
    assert talk.shortened(told, 1) == "- the best answer\n- a worse one"
    assert talk.shortened(told, 4) == "- the best answer"
    assert talk.shortened(told, 100) is None


def test_a_heading_without_a_memory_is_nothing() -> None:
    told = framed([f"- {quoted('Ada eats no meat.')}\n", f"- {quoted('a worse one')}\n"]).rstrip("\n")
    assert talk.shortened(told, 1) == HEADING + '- "Ada eats no meat."'
    assert talk.shortened(told, 8) is None
