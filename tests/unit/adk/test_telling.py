"""Messages as episodes: whose they are, and which are the same."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memquorum import topics
from memquorum.adk import telling
from memquorum.adk.telling import EventText, Whose
from memquorum.client import Invalid, wire
from memquorum.core.intake import NEWEST_MS

ADA = Whose("host", "ada")
NOW_MS = 1_750_000_000_000
"""Times from here to NEWEST_MS may be a day ahead of the clock, which is refused."""


@given(
    text=st.text(), author=st.none() | st.text(), event_id=st.none() | st.text(), session=st.none() | st.text(),
    at=st.none() | st.integers(max_value=NOW_MS) | st.integers(min_value=NEWEST_MS),
)  # fmt: skip
@example(text="\0", author=None, event_id=None, session=None, at=None)
@example(text="\0 \ufffd", author=None, event_id=None, session=None, at=None)
def test_what_is_published_is_taken(
    text: str, author: str | None, event_id: str | None, session: str | None, at: int | None
) -> None:
    told = list(telling.episodes(ADA, session, EventText(text, author, event_id, at), {"sensitivity": 0.5}))
    for one in told:
        wire.checked(topics.EPISODES, {name: value for name, value in one.items() if value is not None})
        assert (one["agent"], one["subject"], one["source"], one["sensitivity"]) == ("host", "ada", "host", 0.5)
    assert len(told) == bool(text.replace("\0", " ").replace("\ufffd", " ").strip())
    assert "\0" not in "".join(one["content"] for one in told)


@given(app=st.text(), user=st.text())
def test_apps_and_users_keep_apart_or_are_refused(app: str, user: str) -> None:
    try:
        of = telling.whose(app, user)
    except Invalid as refused:
        assert refused.field in {"app_name", "user_id"}
        return
    assert telling.whose(app, user) == of and telling.whose(f"{app}x", user) != of
    labels = {
        telling.session_of(Whose("host", one), session) for one, session in (("a/b", "c"), ("a", "b/c"), ("a", "c"))
    }
    assert len(labels) == 3


@pytest.mark.parametrize(("app", "user"), [("", "ada"), ("host", ""), ("host", "x" * 129), ("host", 7)])
def test_what_can_be_no_name_is_refused(app: str, user: str) -> None:
    with pytest.raises(Invalid):
        telling.whose(app, user)


def test_the_same_event_of_a_session_is_the_same_episode_and_no_other_is() -> None:
    def ids(of: Whose, session: str | None, told: EventText) -> list[str]:
        return [one["event_id"] for one in telling.episodes(of, session, told, {})]

    told = EventText("No meat.", "user", "e1", 1_750_000_000_000)
    assert ids(ADA, "1", told) == ids(ADA, "1", told._replace(text="No fish.", author="host"))
    others = [
        ids(ADA, "1", told), ids(ADA, "2", told), ids(ADA, None, told), ids(Whose("host", "bob"), "1", told),
        ids(Whose("other", "ada"), "1", told), ids(ADA, "1", told._replace(event_id="e2")),
        ids(ADA, "1", told._replace(event_id=None)), ids(ADA, "1", told._replace(event_id=None, at=None)),
        ids(ADA, "1", told._replace(text="x" * 40_000, event_id="e3")),
    ]  # fmt: skip
    found = [one for some in others for one in some]
    assert len(found) == len(set(found)) == 11


def test_what_says_whose_it_is_cannot_be_said_otherwise() -> None:
    (one,) = telling.episodes(ADA, "1", EventText("No meat.", "user"), {"agent": "x", "subject": "y", "session": "z"})
    assert (one["agent"], one["subject"], one["session"]) == ("host", "ada", "ada/1")


def test_a_session_with_a_long_name_has_a_name_too() -> None:
    long = telling.session_of(ADA, "x" * 200)
    assert long == telling.session_of(ADA, "x" * 200) != telling.session_of(ADA, "x" * 201)
    assert telling.session_of(ADA, "") is None is telling.session_of(ADA, None)


def test_times_that_intake_would_refuse_are_left_to_it() -> None:
    for at, kept in ((12_345_000, None), (1_750_000_000_000, 1_750_000_000_000), (10**18, None)):
        (one,) = telling.episodes(ADA, "1", EventText("No meat.", "user", "e1", at), {})
        assert one["occurred_at"] == kept
