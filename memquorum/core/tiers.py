"""The tiers of a memory, as the store, the journal and the votes name them (SPEC B)."""

SHORT_TERM = "short-term"
LONG_TERM = "long-term"
SEALED = "sealed"
"""It was forgotten: its content is sealed, and its key exists until its grace time is over."""
SUPERSEDED = "superseded"
"""Another memory took its place, by a vote or as its agent filled its slot anew, or its slot was cleared: what was
replaced reads of the past alone show, what was cleared none, and its key is kept."""
DRAFT = "draft"
"""A summary that members have not voted on: it is not served, and its key exists until its grace time is over."""
FINISHED = "finished"
"""The record of a finished task: a trial reads it and no search, no vote is about it, and only an erasure ends it."""
GONE = "gone"
"""Its key is destroyed."""

ALIVE = (SHORT_TERM, LONG_TERM)
RESTING = (SEALED, DRAFT)
"""The tiers that keep their key until a time in their row."""
