"""What each field of a request is, in a sentence: the description of the API and every tool made of it say it so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SENTENCES: Mapping[str, str] = {
    # who and where
    "namespace": "The namespace; without it, `default`.",
    "agent": "The agent that speaks, reads, or is named.",
    # what may be read, and which memories are asked at all
    "sensitivity_max": "As sensitive as that at most, in [0, 1].",
    "purpose": "What is read for; without it, only what is for anything.",
    "jurisdictions": "Under no law but these, as in DE, US-CA, EU.",
    "redact": "What is found of persons and secrets is masked by kind, as in [phone] (default: false).",
    "peek": "True: what is given does not count as used. A use keeps a memory alive (default: false).",
    "use": "True: what is given counts as used by `agent`, once a minute (default: false).",
    "agents": "Recorded by one of these agents.",
    "sessions": "Of one of these sessions.",
    "subjects": "About one of these subjects.",
    "tiers": "In these tiers: short-term, long-term; a list also takes sealed and superseded, without text.",
    "types": "Of these types: episodic, semantic, social, task.",
    "since": "Said last at this time or later, in milliseconds since the epoch.",
    "until": "Said first before this time, in milliseconds since the epoch.",
    "keys": "Filed under one of these keys.",
    "where": 'What attributes are, all of them, as {"colour": "red", "size": {"$gte": 3}}: '
    "$eq, $ne, $gt, $gte, $lt, $lte, $in.",
    "experience": "True: only what was admitted to experience: it has shown in finished tasks that it helps "
    "(default: false).",
    "diffusion": "True: of experience alone, and with it general forms of other namespaces, whose publishers allow it "
    "(default: false).",
    "cursor": "What the page before gave as `next`.",
    "limit": "So many at most (default: 100).",
    # what is asked
    "query": "What to look for, in words.",
    "vector": "In place of a query: a vector that the service's own encoder made.",
    "k": "So many at most, nearest first (default: 10).",
    "exact": "True: all memories are compared, and not nearly all by an index (default: false).",
    "budget_tokens": "So many tokens at most (default: 2000).",
    "k_max": "So many memories at most (default: 20).",
    "hops": "In so many steps; 2 finds what the first hits name, where a question needs two memories (default: 1).",
    "memory_id": "A memory, by its id.",
    "memory_ids": "Memories, by their ids; 100 at most.",
    "goal": "The name of a goal.",
    "steps": "So many memories before and after in the session (default: 5).",
    "links": "Over so many links to what it was made of, and what was made of it (default: 2).",
    "within_ms": "And what else occurred within so many milliseconds (default: 0).",
    "anchors": "So many memories to start from, where no memory is named (default: 3; of a goal 20).",
    "session": "The session, which is a conversation or a task.",
    "buffer_share": "The share of the budget that goes to what the agent said last (default: 0.5).",
    # what an episode says
    "content": "What happened, as it is to be remembered: text of at most 64 KiB. One fact in a sentence of its own.",
    "event_id": "The same id twice is one episode; without it one is made.",
    "occurred_at": "When it happened, in milliseconds since the epoch; without it, now.",
    "ended_at": "When it ended, in milliseconds since the epoch; without it, now.",
    "role": "The role that the agent spoke in, as in user, assistant, tool.",
    "subject": "Whom it is about; an erasure can name it. Without it, the agent.",
    "source": "Where the content comes from: a document, a tool, a feed; an erasure can name it.",
    "derives_from": "Ids of memories that it was made of; it is erased with any of them.",
    "supersedes": "With `explicit`: ids of memories whose place it is to take; members vote on that.",
    "explicit": "True: remember this, whatever it seems to be worth (default: false).",
    "clears": "True, with `explicit` and `key`, and without content: nothing fills the slot any more; with "
    "`supersedes` in place of `key`: these memories of yours are taken back (default: false).",
    "key": "With `explicit`: the slot that it fills, as in ada/dietary; with `path`, the one there. "
    "What the same agent wrote there gives way.",
    "type": "episodic, semantic, social or task (default: episodic).",
    "reward": "How well it went, in [0, 1].",
    "confidence": "How sure the agent is, in [0, 1]; below 0.5 it becomes no memory, unless `explicit`.",
    "uncertainty": "How unsure the agent is, in [0, 1]; above 0.5 it becomes no memory, unless `explicit`.",
    "sensitivity": "How sensitive it is, in [0, 1]; without it, what its content suggests.",
    "purposes": "What it may be used for; without it, anything.",
    "jurisdiction": "Whose law it is under: DE, US-CA, EU.",
    "path": "Where it is filed below the namespace, as in users/ada/notes.",
    "attributes": 'A small object that searches and lists can ask for, as {"colour": "red"}.',
    "summary": "Of a summary, by the consolidator alone.",
    # what a finished task says
    "outcome": "How it ended: succeeded, failed, or unknown where nobody can tell.",
    "said_by": "Who says how it ended; without it the agent, where that is known.",
    "inputs": "What it was given: text of at most 64 KiB.",
    "outputs": "What it gave: text of at most 64 KiB.",
    "tools": "A summary of each call of a tool, in their order: 64 of 4 KiB at most.",
    "retrieved": "Ids of the memories that it was given, best first; it is erased with any of them.",
    "configuration": "SHA-256, in hexadecimal, of what it ran under.",
    "seed": "Of what was drawn in it (default: 0).",
    "finished_at": "When it ended, in milliseconds since the epoch; without it, now.",
    "task": "A finished task, by the id that it was given when it was published.",
    "helped": "Ids of memories that the task was given and that have helped.",
    "did_not_help": "Ids of memories that the task was given and that have not.",
    "given_at": "When that was said, in milliseconds since the epoch; without it, now.",
    # what members decided
    "kinds": "Votes of these kinds, as in forget, promote, restore.",
    "statuses": "Those that stand so: provisional, agreed, admitted, rejected, demoted, removed, resting, left.",
    "outcomes": "That ended so, as in forgotten, kept.",
    "policies": "By these policies of a budget.",
    # what is listed for people
    "goals": "These goals alone, by name.",
    "ordered_by": "Given by this one, as the order names it.",
    "effects": "Of which the journal says this: erased, withheld, protected, requested, declined.",
    "shard": "All of this shard, whatever namespace; in place of a namespace.",
    "seated": "True: who votes now; false: who did once, and does no more.",
    "roles": "In these roles, as in planning, review.",
    # orders
    "before": "What occurred before this time, in milliseconds since the epoch.",
    "everything": "True: everything in the namespace.",
    "dry_run": "True: tell what would happen, and change nothing. False: do it (default: true).",
    "to": "The older version of its weight that is to hold again; GET /experience/{memory_id} tells which there are.",
    "reference": "The name of the request or the reason elsewhere, as in ticket-12.",
    "listed": "So many of those that would go are told one by one (default: 100).",
}
_OF_AN_EPISODE = "What it is linked with, each as {kind: requires, to: ID} or {kind: isA, name: pump}."
_READING = ("ListRequest", "SearchRequest", "RetrieveRequest", "RecallRequest", "ContextRequest", "Filtered")
_STANDING = ("GoalsRequest", "ProtectorsRequest")
OTHERWISE: Mapping[tuple[str, str], str] = {
    ("EpisodeRecorded", "links"): _OF_AN_EPISODE,
    **{(one, "path"): "Filed there or below, by whole segments, as in users/ada." for one in _READING},
    ("TaskFinished", "goal"): "What was to be done, in words: text of at most 64 KiB.",
    ("TaskFinished", "event_id"): "The same id twice is one task, and what is said of it first stands; without it one "
    "is made.",
    ("FeedbackGiven", "event_id"): "The same id twice is said once; without it one is made.",
    ("EndRequest", "outcome"): "How it ended, which makes a finished task of it: succeeded, failed, or unknown.",
    ("EndRequest", "goal"): "With `outcome`: what was to be done; without it, what a user said first in the session.",
    ("EndRequest", "retrieved"): "With `outcome`: ids of the memories that it was given, best first.",
    ("TasksRequest", "outcomes"): "That ended so: succeeded, failed, unknown.",
    ("TasksRequest", "agents"): "That one of these agents worked on.",
    ("TasksRequest", "memory_id"): "That were given this memory.",
    ("TasksRequest", "since"): "Ended at this time or later, in milliseconds since the epoch.",
    ("TasksRequest", "until"): "Ended before this time, in milliseconds since the epoch.",
    ("DecisionsRequest", "memory_id"): "About this memory.",
    ("DecisionsRequest", "since"): "Voted on at this time of the shard or later, in milliseconds since the epoch.",
    ("DecisionsRequest", "until"): "Voted on before this time of the shard, in milliseconds since the epoch.",
    ("DecisionsRequest", "limit"): "So many at most (default: 20).",
    ("GoalsRequest", "memory_id"): "Goals that need this memory.",
    ("ProtectorsRequest", "memory_id"): "Of this memory.",
    **{(one, "since"): "Said at this time or later, in milliseconds since the epoch." for one in _STANDING},
    **{(one, "until"): "Said before this time, in milliseconds since the epoch." for one in _STANDING},
    ("OrdersRequest", "kinds"): "Orders of these kinds: erase; protect: pins, goals, holds and their ends; "
    "restore: what is asked to be forgotten, and to be rolled back, too.",
    ("OrdersRequest", "since"): "Answered at this time of the shard or later, in milliseconds since the epoch.",
    ("OrdersRequest", "until"): "Answered before this time of the shard, in milliseconds since the epoch.",
    ("EpochsRequest", "kinds"): "In which there were votes of these kinds, which alone are counted.",
    ("EpochsRequest", "since"): "As of this time of the shard or later, in milliseconds since the epoch.",
    ("EpochsRequest", "until"): "As of before this time of the shard, in milliseconds since the epoch.",
    ("ErasureRequest", "types"): "With `before`: of these types alone: episodic, semantic, social, task.",
    ("ErasureRequest", "subject"): "Everything about somebody.",
    ("ErasureRequest", "agent"): "Everything that this agent has written.",
    ("ErasureRequest", "source"): "Everything that came from there: a document, a tool, a feed.",
    ("ErasureRequest", "memory_id"): "One memory, with what says the same.",
}
"""By the request and the field, where it is not what it is elsewhere."""


def sentence(body: str, field: str) -> str:
    """What a field of a request is. Raises KeyError where nobody has said it."""
    return OTHERWISE.get((body, field)) or SENTENCES[field]


def described(body: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a request, with what its fields are."""
    told = {name: one | {"description": sentence(body, name)} for name, one in schema["properties"].items()}
    return schema | {"properties": told}
