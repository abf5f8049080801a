"""A session as a finished task: which one it is, what it was to do, and what it was given."""

from __future__ import annotations

from memquorum.core.experience import ended
from memquorum.core.intake import FOUND_MAX


def test_one_session_is_one_task_and_each_part_its_own() -> None:
    ids = {
        ended.event_id("p", namespace, agent, session)
        for namespace, agent, session in (
            ("n", "a", "s"), ("n", None, "s"), ("m", "a", "s"), ("n", "as", ""), ("n", "a", "ss"), ("n", "b", "s"),
        )
    }  # fmt: skip
    assert len(ids) == 6 and ended.event_id("q", "n", "a", "s") not in ids and ended.event_id("p", "n", "a", "s") in ids


def test_the_goal_is_what_a_user_said_first_or_else_what_anybody_did() -> None:
    said = [("m1", "Hello.", "assistant"), ("m2", None, "user"), ("m3", " ", "user"), ("m4", "Open it.", "user")]
    assert ended.first_ask([*said, ("m5", "Close it.", "user")]) == ("m4", "Open it.")
    assert ended.first_ask(said[:3]) == ("m1", "Hello.")
    assert ended.first_ask(said[1:3]) is None and ended.first_ask([]) is None


def test_what_its_goal_is_the_text_of_is_among_what_it_was_given_and_what_is_named_is_never_cut() -> None:
    assert ended.given_memories(["b", "a", "b"], ["c", "a"], "d", FOUND_MAX) == ("b", "a", "c", "d")
    assert ended.given_memories(["b"], ["d", "c"], "d", FOUND_MAX) == ("b", "c", "d")
    assert ended.given_memories(["d", "b"], [], "d", FOUND_MAX) == ("d", "b")
    assert ended.given_memories([], ["c"], None, FOUND_MAX) == ("c",)
    many = [str(at) for at in range(FOUND_MAX + 5)]
    assert ended.given_memories([], many, "d", FOUND_MAX) == (*many[: FOUND_MAX - 1], "d")
    assert ended.given_memories(many, ["c"], None, FOUND_MAX) == tuple(many), "intake refuses that, and says why"
