"""The topics by name. `schemas/topics/<name>.yaml` says what each holds; a test keeps the two equal."""

from __future__ import annotations

EPISODES = "memory.episode.recorded.v1"
ACCESSES = "memory.access.recorded.v1"
QUERIES = "memory.query.recorded.v1"
ENDS = "memory.session.ended.v1"
TASKS = "memory.task.finished.v1"
FEEDBACK = "memory.feedback.given.v1"
ERASURES = "memory.erasure.ordered.v1"
PROTECTIONS = "memory.protection.ordered.v1"
PROFILES = "memory.profile.ordered.v1"
RECLASSIFICATIONS = "memory.reclassification.ordered.v1"
RESTORES = "memory.restore.ordered.v1"
PATCHES = "memory.rollup.patched.v1"
DISCLOSURES = "memory.source.disclosed.v1"
COMPARISONS = "memory.statement.compared.v1"
CLOCK = "memory.clock.requested.v1"
ACCEPTED = "memory.intake.accepted.v1"
REFUSED = "memory.intake.refused.v1"
ASKED = "memory.query.asked.v1"
CLOSED = "memory.session.closed.v1"
SCORED = "memory.salience.scored.v1"
REENCODED = "memory.encoder.reencoded.v1"
REHEARSED = "memory.rehearsal.made.v1"
TRIALS = "memory.trial.made.v1"
CROSSED = "memory.decay.crossed.v1"
REWARDS = "memory.reward.given.v1"
ORDERS = "memory.configuration.ordered.v1"
NOMINATIONS = "memory.nomination.proposed.v1"
BALLOTS = "memory.ballot.cast.v1"
PRE_PREPARES = "memory.consensus.pre-prepare.v1"
PREPARES = "memory.consensus.prepare.v1"
COMMITS = "memory.consensus.commit.v1"
VIEW_CHANGES = "memory.consensus.view-change.v1"
CHECKPOINTS = "memory.consensus.checkpoint.v1"
EVIDENCE = "memory.consensus.evidence.v1"
JOURNAL = "memory.journal.appended.v1"
HEADS = "memory.journal.head.v1"
MIRROR = "memory.journal.mirrored.v1"
UNDELIVERED = "memory.webhook.undelivered.v1"

# Their records bear the line's stamp (core/identity/stamps.py). All but the heads are signed by nobody.
STAMPED = frozenset({ACCEPTED, REFUSED, ASKED, CLOSED, SCORED, REENCODED, CROSSED, REWARDS, JOURNAL, HEADS})
# These are read, no matter which process drives the clock.
FROM_AGENTS = (
    EPISODES,
    ACCESSES,
    QUERIES,
    ENDS,
    TASKS,
    FEEDBACK,
    ERASURES,
    PROTECTIONS,
    PROFILES,
    RECLASSIFICATIONS,
    RESTORES,
    PATCHES,
    DISCLOSURES,
    COMPARISONS,
)
OUTSIDE = (*FROM_AGENTS, CLOCK)
ALL = (
    *OUTSIDE,
    ACCEPTED,
    REFUSED,
    ASKED,
    CLOSED,
    SCORED,
    REENCODED,
    REHEARSED,
    TRIALS,
    CROSSED,
    REWARDS,
    ORDERS,
    NOMINATIONS,
    BALLOTS,
    PRE_PREPARES,
    PREPARES,
    COMMITS,
    VIEW_CHANGES,
    CHECKPOINTS,
    EVIDENCE,
    JOURNAL,
    HEADS,
    MIRROR,
    UNDELIVERED,
)
