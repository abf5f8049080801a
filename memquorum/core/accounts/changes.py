"""Tells what became otherwise in a namespace between two times: learned, promoted, overtaken, forgotten, erased.

The journal and the votes tell that something happened, which no later right takes back; a text is shown only if the
reader may read the memory today and it is still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, structs

from memquorum.core.api.answers import Conflict, Decision, JournalLine

LEARNED, OVERTAKEN, ERASED, CLEARED = "learned", "overtaken", "erased", "cleared"
FROM_JOURNAL: Mapping[str, str] = {"stored": LEARNED, "erased": ERASED, "cleared": CLEARED}
"""The effects of the journal that change what is known, each with its word here."""
ORDER = (LEARNED, "admitted", "promoted", "generalised", "consolidated", "united", "merged", OVERTAKEN, "superseded",
         "demoted", "restored", "rolled back", CLEARED, "forgotten", ERASED)  # fmt: skip
"""The changes of a memory, in the order in which they are told."""


class Change(Struct, frozen=True):
    """A change of what is known. `at`: the shard's time in milliseconds, of an overtaken memory the time at which the
    newer one was said. `what`: one of `ORDER`. `memories`: those that changed; `by`: of an overtaken one the newer
    memory. `words`: the reason, or who did it. `text`: of the first memory, None where it cannot be read today."""

    at: int
    what: str
    memories: tuple[str, ...]
    words: str
    by: str | None = None
    text: str | None = None


class Changes(Struct, frozen=True):
    """The changes of a namespace with `since` ≤ time < `until`, the earliest first."""

    namespace: str
    since: int
    until: int
    changes: tuple[Change, ...]

    def of(self, what: str) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(one for one in self.changes if one.what == what)


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sorts changes by time; of one moment what `ORDER` has first comes first, and else what was given first."""
    return tuple(sorted(changes, key=lambda one: (one.at, ORDER.index(one.what))))


def of_journal(lines: Iterable[JournalLine]) -> Iterator[Change]:
    """Yields the changes that journal entries tell."""
    for line in lines:
        what = FROM_JOURNAL.get(line.effect)
        if what is not None and what != CLEARED:
            yield Change(line.at, what, line.memory_ids, line.words)
        if line.replaced:
            took = CLEARED if line.effect == "cleared" else "superseded"
            by = line.memory_ids[0] if took != CLEARED and line.memory_ids else None
            yield Change(line.at, took, line.replaced, line.words, by)


def of_votes(decisions: Iterable[Decision]) -> Iterator[Change]:
    """Yields the changes that were voted; a vote that kept a memory as it was changes nothing."""
    for one in decisions:
        if one.outcome in ORDER and one.memories:
            yield Change(one.as_of, one.outcome, tuple(subject.memory_id for subject in one.memories), one.why)


def of_conflicts(conflicts: Iterable[Conflict]) -> Iterator[Change]:
    """Yields the memories that a newer one overtook or disputes."""
    for one in conflicts:
        words = f"{one.agent} disputes it" if one.disputed else f"{one.agent} said something newer"
        yield Change(one.newer_at, OVERTAKEN, (one.older,), words, one.newer, one.older_text)


def unread(changes: Iterable[Change]) -> tuple[str, ...]:
    """The memories whose text is still to be asked for: the first of each change, each once."""
    wanted = (one.memories[0] for one in changes if one.memories and one.text is None and one.what != ERASED)
    return tuple(dict.fromkeys(wanted))


def with_texts(changes: Iterable[Change], texts: Mapping[str, str | None]) -> tuple[Change, ...]:
    """Gives each change the text of its first memory, where it can be read."""
    return tuple(
        structs.replace(one, text=texts.get(one.memories[0])) if one.memories and one.text is None else one
        for one in changes
    )
