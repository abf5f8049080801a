"""Tells of one deletion and one promotion in words: the account that `explain` gives, and the data left of the
memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import psycopg
from rich.console import Console

from db.explain_rows import load
from db.queries import QUERIES
from infra.demo.demo_report import line
from infra.demo.inputs import Record
from memquorum.core import ids
from memquorum.core.accounts import account_words
from memquorum.core.accounts.explain import Account, explain
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import EpisodeRecorded
from memquorum.core.tiers import ALIVE
from memquorum.core.vote.kinds import FORGET, PROMOTE
from memquorum.ports import Vault

_QUOTED = 300
EXAMPLES = {
    FORGET.outcome: ("One deletion", "example_forgotten"),
    PROMOTE.outcome: ("One promotion", "example_promoted"),
}
"""By outcome: the title of the story, and the query that finds an example."""


@dataclass(frozen=True, slots=True)
class Story:
    """A memory to tell of: its account, and whether Postgres still has its content and the vault its key."""

    account: Account
    content: bool
    key: bool


def find(connection: psycopg.Connection, codec: Codec, genesis: Genesis, vault: Vault, outcome: str) -> Story | None:
    """Finds a memory with this outcome, one of `EXAMPLES`; None if no memory has it."""
    row = connection.execute(QUERIES[EXAMPLES[outcome][1]]).fetchone()
    facts = load(connection, codec, row[0]) if row else None
    if row is None or facts is None:
        return None
    held = connection.execute(QUERIES["content_held"], {"id": row[0]}).fetchone()
    return Story(explain(codec, genesis, facts), bool(held and held[0]), bool(vault.open([row[0]])))


def tell(console: Console, story: Story, genesis: Genesis, log: Iterable[Record]) -> None:
    """Prints the story. `log`: the source of a forgotten memory's text, which only its publisher still has."""
    account = story.account
    text = episode_text(log, account.memory_id)
    if text is not None:
        line(console, f'"{text}"', style="italic")
    for told in account_words.lines(account, genesis):
        line(console, told) if told else console.print()
    whence = (
        "the log that the demo read still has it, and the outside topic until it expires"
        if account.tier == "gone"
        else "any agent of its namespace may read it"
    )
    content, key = ("its" if there else "no" for there in (story.content, story.key))
    line(console, f"Postgres has {content} content, the vault {key} key: {whence}.")


def episode_text(log: Iterable[Record], memory: str) -> str | None:
    """Returns the text of an episode of the log, cut to a few lines; None if the log does not hold it."""
    for record in log:
        if isinstance(record, EpisodeRecorded) and record.event_id is not None:
            found = ids.memory_id(record.namespace or ids.DEFAULT_NAMESPACE, record.event_id)
            if found == memory:
                flat = " ".join((record.content or "").split())
                return flat if len(flat) <= _QUOTED else f"{flat[:_QUOTED]}..."
    return None


def proves(story: Story) -> bool:
    """True if the data left suit the tier: a memory that is gone has neither content nor key, one alive has both."""
    alive = story.account.tier in ALIVE
    return story.content == story.key == alive
