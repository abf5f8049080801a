"""Every metric that a process exposes, each with its sentence; `memquorum admin fleet metrics` prints the list.

Names follow OpenTelemetry's semantic conventions if these define one, in Prometheus's spelling; our own begin with
`memquorum_`. Labels hold names of stages, topics, reasons and numbers: never an agent, a namespace or content.

`stage` is a processor, not a process: the one process `streams` runs salience, decay and nomination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

# The process's start tells when a counter was made; series of their own would double the page.
disable_created_metrics()  # type: ignore[no-untyped-call]

# 1 ms to 60 s: a hop takes milliseconds, a backlog minutes.
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric: its name, its meaning in one sentence, and its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    sentence: str


CONSUMED = Definition(
    "messaging_client_consumed_messages_total", "counter", ("stage", "topic"),
    "Records that a stage took from a topic.",
)  # fmt: skip
SENT = Definition(
    "messaging_client_sent_messages_total", "counter", ("stage", "topic"),
    "Records that a stage wrote to a topic and the broker confirmed.",
)  # fmt: skip
WORKED = Definition(
    "messaging_process_duration_seconds", "histogram", ("stage",),
    "How long a stage worked on a batch, until the broker or the store had all that came of it.",
)  # fmt: skip
LATENCY = Definition(
    "memquorum_latency_seconds", "histogram", ("stage",),
    "From a record's time in its topic until the stage had done with it: its time in the queue and the work; of a "
    "replica, from the nomination's time until it saw the epoch decided.",
)  # fmt: skip
LAG = Definition(
    "memquorum_lag_records", "gauge", ("stage", "topic", "partition"),
    "Records that a stage has not done with: the partition's end less its place, asked of the broker at each scrape.",
)  # fmt: skip
REFUSED = Definition(
    "memquorum_refused_total", "counter", ("stage", "reason"),
    "Records of outside that intake refused, by reason code; in later stages, records that could not be used.",
)  # fmt: skip
OVER_QUOTA = Definition(
    "memquorum_over_quota_namespaces", "gauge", ("stage",),
    "Namespaces that intake refused an episode within the last minute, for being over their limit.",
)  # fmt: skip
FULL = Definition(
    "memquorum_full_namespaces", "gauge", ("stage",),
    "Namespaces that stand at their limit of memories in all, as far as intake watches them.",
)  # fmt: skip
REJECTED = Definition(
    "memquorum_rejected_sentences_total", "counter", ("stage", "reason"),
    "Sentences of a model's summary that say what none of their sources does, or leave out when: no summary has them.",
)  # fmt: skip
FAILED_RULES = Definition(
    "memquorum_failed_rules_total", "counter", ("stage", "rule"),
    "Times that a rule over texts raised. It spoiled its own answer alone; the log names the memory.",
)  # fmt: skip
FAILED = Definition(
    "memquorum_failed_sessions", "gauge", ("stage",),
    "Sessions of which the summariser made nothing: their memories are as they were, and they are tried again.",
)  # fmt: skip
IGNORED = Definition(
    "memquorum_ignored_total", "counter", ("stage", "reason"),
    "Consensus messages that a member passed over: forged, foreign, old, duplicate, not needed.",
)  # fmt: skip
STILL = Definition(
    "memquorum_loop_still_seconds", "gauge", ("stage",),
    "How long ago the process's loop turned last: well under a second, unless a call to the store or the vault hangs.",
)  # fmt: skip
WAITING = Definition(
    "memquorum_waiting", "gauge", ("stage", "for"),
    "1 while the stage cannot go on for want of something: the vault, the store, its partitions, a score.",
)  # fmt: skip
ALARM = Definition(
    "memquorum_alarm", "gauge", ("stage", "about"),
    "1 while a process works, but somebody should look: `fleet status` and its `/readyz` say why.",
)  # fmt: skip
SCORE_WAIT = Definition(
    "memquorum_score_wait_seconds", "gauge", ("stage", "shard"),
    "How long a shard has stood still at an episode whose score has not come; 0 when it does not.",
)  # fmt: skip
SLOWED = Definition(
    "memquorum_slowed", "gauge", ("stage", "by"),
    "1 while back-pressure keeps the stage from reading on: what it has read waits for the stage named.",
)  # fmt: skip
JOURNALLED = Definition(
    "memquorum_journal_entries_total", "counter", ("effect",),
    "Entries that the commit worker appended to the journal, by effect.",
)  # fmt: skip
EPISODES = Definition(
    "memquorum_episodes_total", "counter", ("outcome",),
    "Episodes that the commit worker applied, by outcome; what failed has a dead letter, and may be tried again.",
)  # fmt: skip
KNOWN_TEXTS = Definition(
    "memquorum_known_texts_total", "counter", ("by",),
    "Episodes that were not encoded, since a memory (memory) or another one of the batch (batch) says the very same; "
    "none: what the filter in front let through for nothing.",
)  # fmt: skip
DECISIONS = Definition(
    "memquorum_decisions_total", "counter", ("kind", "outcome"),
    "Proposals that were decided and applied, by kind and by how they ended.",
)  # fmt: skip
STOPPED = Definition(
    "memquorum_forgetting_stopped", "gauge", ("shard",),
    "Namespaces that have lost as much within a day as may go, and of which nothing is nominated to be forgotten.",
)  # fmt: skip
BEYOND = Definition(
    "memquorum_beyond_budget_tokens", "gauge", ("shard", "reason"),
    "Tokens that namespaces over their budgets hold and that may not go, by the reason.",
)  # fmt: skip
ACCOUNTS_SPENT = Definition(
    "memquorum_draws_spent_ratio", "gauge", ("shard",),
    "Of what draws among near-ties may cost a subject (budget.subject_epsilon_ppm), the largest share that is spent.",
)  # fmt: skip
ACCOUNTS_CLOSED = Definition(
    "memquorum_draws_refused_subjects", "gauge", ("shard",),
    "Subjects whose memories take part in no more draws among near-ties, since these have cost them what they may.",
)  # fmt: skip
HELD_BACK = Definition(
    "memquorum_forgetting_held_back_total", "counter", ("shard",),
    "Memories that the votes let go and a cap kept. If it keeps growing, whoever nominates does not keep to the caps.",
)  # fmt: skip
AMBIGUOUS = Definition(
    "memquorum_ambiguous_proposals_total", "counter", ("shard",),
    "Memories proposed to be forgotten about which the scales of decay disagree (σ² above decay.variance_warning).",
)  # fmt: skip
OPEN = Definition(
    "memquorum_open_proposals", "gauge", ("shard",),
    "Proposals of the epoch that a member is voting on; 0 between epochs.",
)  # fmt: skip
EPOCHS = Definition(
    "memquorum_epochs_decided_total", "counter", ("stage",),
    "Epochs that a member saw decided.",
)  # fmt: skip
LATE = Definition(
    "memquorum_ballots_late_total", "counter", ("member",),
    "Decided epochs whose certificate lacks the member's ballot: it came after the grace, or not at all.",
)  # fmt: skip
LEFT_OUT = Definition(
    "memquorum_ballots_left_out_total", "counter", ("proposer",),
    "Ballots that lack in a decided proposal although this member had read them before it. Some are late at its "
    "proposer; of one that leaves out what it dislikes they grow faster than of the others.",
)  # fmt: skip
VIEW = Definition(
    "memquorum_view", "gauge", ("shard",),
    "The view that a member is in: how often the shard has changed its primary.",
)  # fmt: skip
CHECKPOINT = Definition(
    "memquorum_checkpoint_sequence", "gauge", ("shard",),
    "The sequence of the last checkpoint that a quorum has signed alike, as this member has read it.",
)  # fmt: skip
MISBEHAVIOUR = Definition(
    "memquorum_misbehaviour_total", "counter", ("member", "rule"),
    "Faults that a member's own signatures prove, by rule, each once: what this replica has published as evidence.",
)  # fmt: skip
REQUESTS = Definition(
    "http_server_request_duration_seconds", "histogram", ("http_route", "http_response_status_code"),
    "How long retrieval took to answer a request, by route and status.",
)  # fmt: skip
CACHE_SEARCHES = Definition(
    "memquorum_cache_searches_total", "counter", ("served_from", "why"),
    "Searches by where their answer is from: of the cache, whether all memories were compared or the most used; of the "
    "store, why not of the cache.",
)  # fmt: skip
REHEARSALS = Definition(
    "memquorum_rehearsals_total", "counter", ("outcome",),
    "Rehearsals: made; or not, since the machine was busy for a whole interval, or the store did not answer in time.",
)  # fmt: skip
REHEARSED = Definition(
    "memquorum_rehearsed_memories_total", "counter", ("verdict",),
    "Memories that rehearsals looked at, by what was found.",
)  # fmt: skip
TRIALS = Definition(
    "memquorum_trials_total", "counter", ("outcome",),
    "Looks of a verifier at a candidate: tried; or not, since few tasks are near, it waits for a decision, or others "
    "are asked.",
)  # fmt: skip
TRYING = Definition(
    "memquorum_trials_processor_seconds_total", "counter", (),
    "What looking at candidates and trying them has taken of a processor.",
)  # fmt: skip
ADMISSIONS = Definition(
    "memquorum_admissions_total", "counter", ("status",),
    "Candidates that came to stand so on their way into experience: provisional, agreed, admitted, rejected, left.",
)  # fmt: skip
EXPERIENCE = Definition(
    "memquorum_experience_memories", "gauge", ("status",),
    "Memories that were tried and stand so, as of some seconds ago: admitted, demoted, removed, rejected and others.",
)  # fmt: skip
GAIN = Definition(
    "memquorum_experience_gain", "gauge", ("shard",),
    "What using experience came to, in [-1, 1]: the mean over all uses that the last decision counted that had any.",
)  # fmt: skip
MEMORIES = Definition(
    "memquorum_memories", "gauge", ("stage",),
    "Memories in use in the store, of all namespaces, as of some seconds ago.",
)  # fmt: skip
NAMESPACES = Definition(
    "memquorum_namespaces", "gauge", ("stage",),
    "Namespaces that have memories in use, as of some seconds ago.",
)  # fmt: skip
WEBHOOKS = Definition(
    "memquorum_webhook_attempts_total", "counter", ("target", "outcome"),
    "Attempts to post an event to a target: delivered or failed; and events that became dead letters: undelivered.",
)  # fmt: skip
CACHED = Definition(
    "memquorum_cache_memories", "gauge", (),
    "Memories whose vectors the retrieval caches hold, of all namespaces.",
)  # fmt: skip
CACHES = Definition(
    "memquorum_cache_namespaces", "gauge", (),
    "Namespaces that have a retrieval cache.",
)  # fmt: skip

ALL = (
    CONSUMED, SENT, WORKED, LATENCY, LAG, REFUSED, IGNORED, STILL, WAITING, ALARM, SCORE_WAIT, SLOWED, JOURNALLED,
    EPISODES, DECISIONS, STOPPED, BEYOND, ACCOUNTS_SPENT, ACCOUNTS_CLOSED, HELD_BACK, AMBIGUOUS, OPEN, EPOCHS, LATE,
    LEFT_OUT, VIEW, CHECKPOINT, MISBEHAVIOUR, REQUESTS, CACHE_SEARCHES, CACHED, CACHES, OVER_QUOTA,
    FULL, KNOWN_TEXTS, REJECTED, FAILED_RULES, FAILED, REHEARSALS, REHEARSED, TRIALS, TRYING, ADMISSIONS,
    EXPERIENCE, GAIN, MEMORIES, NAMESPACES, WEBHOOKS,
)  # fmt: skip

Read = Callable[[], Mapping[tuple[str, ...], float]]
"""Reads a metric's values at a scrape, by its labels' values."""


class Meters:
    """The metrics of one process in a registry of its own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.consumed = self._counter(CONSUMED)
        self.sent = self._counter(SENT)
        self.worked = self._histogram(WORKED)
        self.latency = self._histogram(LATENCY)
        self.refused = self._counter(REFUSED)
        self.over_quota = Gauge(OVER_QUOTA.name, OVER_QUOTA.sentence, OVER_QUOTA.labels, registry=self.registry)
        self.full = Gauge(FULL.name, FULL.sentence, FULL.labels, registry=self.registry)
        self.rejected = self._counter(REJECTED)
        self.failed_rules = self._counter(FAILED_RULES)
        self.failed = Gauge(FAILED.name, FAILED.sentence, FAILED.labels, registry=self.registry)
        self.journalled = self._counter(JOURNALLED)
        self.episodes = self._counter(EPISODES)
        self.known_texts = self._counter(KNOWN_TEXTS)
        self.decisions = self._counter(DECISIONS)
        self.stopped = Gauge(STOPPED.name, STOPPED.sentence, STOPPED.labels, registry=self.registry)
        self.beyond = Gauge(BEYOND.name, BEYOND.sentence, BEYOND.labels, registry=self.registry)
        self.accounts_spent = Gauge(
            ACCOUNTS_SPENT.name, ACCOUNTS_SPENT.sentence, ACCOUNTS_SPENT.labels, registry=self.registry
        )
        self.accounts_closed = Gauge(
            ACCOUNTS_CLOSED.name, ACCOUNTS_CLOSED.sentence, ACCOUNTS_CLOSED.labels, registry=self.registry
        )
        self.held_back = self._counter(HELD_BACK)
        self.ambiguous = self._counter(AMBIGUOUS)
        self.score_wait = Gauge(SCORE_WAIT.name, SCORE_WAIT.sentence, SCORE_WAIT.labels, registry=self.registry)
        self.open = Gauge(OPEN.name, OPEN.sentence, OPEN.labels, registry=self.registry)
        self.epochs = self._counter(EPOCHS)
        self.late = self._counter(LATE)
        self.left_out = self._counter(LEFT_OUT)
        self.view = Gauge(VIEW.name, VIEW.sentence, VIEW.labels, registry=self.registry)
        self.checkpoint = Gauge(CHECKPOINT.name, CHECKPOINT.sentence, CHECKPOINT.labels, registry=self.registry)
        self.misbehaviour = self._counter(MISBEHAVIOUR)
        self.requests = self._histogram(REQUESTS)
        self.cache_searches = self._counter(CACHE_SEARCHES)
        self.rehearsals = self._counter(REHEARSALS)
        self.rehearsed = self._counter(REHEARSED)
        self.tried = self._counter(TRIALS)
        self.trying = self._counter(TRYING)
        self.admissions = self._counter(ADMISSIONS)
        self.experience = Gauge(EXPERIENCE.name, EXPERIENCE.sentence, EXPERIENCE.labels, registry=self.registry)
        self.memories = Gauge(MEMORIES.name, MEMORIES.sentence, MEMORIES.labels, registry=self.registry)
        self.namespaces = Gauge(NAMESPACES.name, NAMESPACES.sentence, NAMESPACES.labels, registry=self.registry)
        self.gain = Gauge(GAIN.name, GAIN.sentence, GAIN.labels, registry=self.registry)
        self.webhooks = self._counter(WEBHOOKS)
        self._read: list[tuple[Definition, Read]] = []
        self.registry.register(self)

    def follow(self, definition: Definition, read: Read) -> None:
        """Exposes values kept elsewhere, read at each scrape and in the scrape's thread."""
        self._read.append((definition, read))

    def collect(self) -> Iterator[Metric]:
        """Yields the followed metrics, for the registry."""
        families: dict[str, Any] = {}
        for definition, read in self._read:
            family = families.setdefault(definition.name, _family(definition))
            for labels, value in read().items():
                family.add_metric(labels, value)
        yield from families.values()

    def describe(self) -> Iterable[Metric]:
        """Returns an empty list before the first scrape: reading may need a broker."""
        return ()

    def _counter(self, of: Definition) -> Counter:
        return Counter(of.name, of.sentence, of.labels, registry=self.registry)

    def _histogram(self, of: Definition) -> Histogram:
        return Histogram(of.name, of.sentence, of.labels, buckets=_SECONDS, registry=self.registry)


def _family(of: Definition) -> Any:
    kind = CounterMetricFamily if of.kind == "counter" else GaugeMetricFamily
    return kind(of.name, of.sentence, labels=of.labels)
