"""One record of every kind, with every field set: what the golden bytes hold."""

from __future__ import annotations

import json
from typing import Any

from memquorum.core import records as r
from tests import ROOT

MEMORY = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
OTHER = "7f0f3f3e-1111-5c3a-9d2f-0d5c0f6f1a11"
CLUSTER = bytes(range(32))
CARRIED: dict[str, Any] = {
    "session": "s1", "role": "planning", "source": "handbook.pdf", "explicit": True
}  # fmt: skip
SUMMARY = r.Summary("extractive/1", "s1", 600_000, b"c" * 32, (r.Quote(OTHER, 0, 23, "facts", 1_749_000_000_000),))
PATCH = r.Patch(OTHER, "supersede", MEMORY, 0, 23, 0, 7, "facts", 1_749_000_000_000, OTHER, 5, 23)
SAID: dict[str, Any] = CARRIED | {
    "agent": "planner", "subject": "planner", "occurred_at": 1_750_000_000_000, "reward_ppm": 500_000,
    "confidence_ppm": 900_000, "uncertainty_ppm": 100_000, "derives_from": (OTHER,), "supersedes": (MEMORY,),
    "links": (r.Link("requires", OTHER), r.Link("isA")), "slot": "5f" * 16, "label": "6e" * 16,
    "type": "semantic", "sensitivity_ppm": 700_000, "purposes": ("billing", "support"), "jurisdiction": "DE",
    "granted": "9fd12932bb0c", "suggested": "patterns-1", "summary": SUMMARY, "clears": True,
    "accepted_at": 1_750_000_000_500,
    "task": r.Task("failed", "reviewer", b"h" * 32, 7),
}  # fmt: skip
RECORDS = (
    r.EpisodeRecorded("planner", "Valve 3 opens at 4 bar.", "greenhouse", "e1", 1_750_000_000_000, "planner", 0.5, 0.9,
                      0.1, (OTHER,), (MEMORY,), (r.Link("friendOf", name="marta"),),
                      "semantic", 0.7, ("billing", "support"), "DE", "valves/3", "plant/valves", "{}",
                      SUMMARY, True, **CARRIED),
    r.SessionEnded("s1", "planner", "greenhouse", "x1", 1_750_000_000_000),
    r.TaskFinished("planner", "Open valve 3.", "failed", "greenhouse", "t1", 1_750_000_000_000, "reviewer", "4 bar",
                   "shut", ("valve: jammed",), (MEMORY,), "68" * 32, 7, "planner", 0.7, ("support",), "DE"),
    r.FeedbackGiven("planner", OTHER, (MEMORY,), (OTHER,), "greenhouse", "f1", 1_750_000_000_000),
    r.SessionClosed("x1", 1, "greenhouse", "planner", "s1", 1_750_000_000_000, "ended", 12),
    r.AccessRecorded("planner", (MEMORY,), "greenhouse", "a1", 1_750_000_000_000),
    r.QueryRecorded("planner", "When does valve 3 open?", "greenhouse", "q1", 1_750_000_000_000, (MEMORY,), "minilm",
                    (0.5, -0.5)),
    r.QueryAsked("q1", "greenhouse", "planner", 1_750_000_000_000, OTHER, b"sealed", (MEMORY,), "minilm", b"sealed"),
    r.ClockRequested(1_750_000_000_000, "c1"),
    r.EpisodeAccepted(**SAID, event_id="e1", memory_id=MEMORY, namespace="greenhouse", sealed_content=b"sealed",
                      commitment=b"c" * 32, characters=23, origin_topic="memory.episode.recorded.v1",
                      origin_partition=2, origin_offset=17, sealed_signed=b"sealed", sealed_labels=b"sealed"),
    r.AccessAccepted("a1", (MEMORY,), "greenhouse", "planner", 1_750_000_000_000),
    r.FeedbackAccepted("f1", OTHER, "greenhouse", "planner", (MEMORY,), (OTHER,), 1_750_000_000_000),
    r.ClockTicked("c1", 1_750_000_000_000),
    r.Ticked(1_750_000_000_000, r.Standing(6, 1_749_000_000_000, 41, 900, 2, 1_748_000_000_000, 1_747_000_000_000)),
    r.IntakeRefused("memory.episode.recorded.v1", 2, 17, "missing_field", "content is missing", 1_750_000_000_000,
                    OTHER, b"sealed", "content", b"s" * 64, b"e" * 32, b"p" * 32),
    r.EpisodeScored("e1", MEMORY, "greenhouse", "planner", 9, 1_750_000_000_000, "reinforced", 739_000, True,
                    "minilm", OTHER, 810_000, b"sealed", (MEMORY,), 1_750_000_000_001, 15_965_730, 734_375, b"sealed",
                    "episodic/agent", 640_000, "5f" * 32, denies=(r.Comparison(MEMORY, (1, 3)),), again=(OTHER,)),
    r.MemoryReencoded(MEMORY, "greenhouse", "minilm", "bert", b"sealed", 7),
    r.DecayCrossed(
        1,
        1_750_000_000_000,
        12,
        30,
        (r.Crossing(MEMORY, 1_749_000_000_000, 299_999),),
        r.Standing(6, 1_749_000_000_000, 41, 900, 2, 1_748_000_000_000, 1_747_000_000_000),
    ),
    r.NominationProposed(CLUSTER, 0, 1, 4, 1_750_000_000_000, 12, "interval",
                         (r.Proposal((MEMORY,), "greenhouse", "forget", "decayed", 1_749_000_000_000, 1_748_000_000_000,
                                     600_000),
                          r.Proposal((OTHER,), "greenhouse", "evict", "budget", 1_749_000_000_000, 1_748_000_000_000,
                                     600_000, r.Weighed("worth", 0, 64, 90, 30, "episodic", None, (), None, None,
                                                        "drawn among those that score alike",
                                                        r.Lot(3, (MEMORY, OTHER), 1)))), b"order"),
    r.BallotCast(CLUSTER, 0, 1, 4, 2, b"n" * 32, b"terms"),
    r.PrePrepare(CLUSTER, 0, 1, 0, 4, 1, 4, b"nomination", (b"ballot", b"ballot")),
    r.Prepare(CLUSTER, 0, 1, 0, 4, 2, b"d" * 32),
    r.Prepared(b"pre-prepare", (b"prepare", b"prepare")),
    r.ViewChange(CLUSTER, 0, 1, 3, 4, 2, (b"commit", b"commit", b"commit"), b"prepared"),
    r.NewView(CLUSTER, 0, 1, 3, 0, (b"view change", b"view change", b"view change")),
    r.ConfigurationOrdered(CLUSTER, 0, 1, b"b" * 32, "add", 4, "auditor", "review", b"k" * 32, 1000, (1000, 990), 256,
                           "{}"),
    r.Misbehaved(CLUSTER, 0, 1, 2, 3, "equivocation", (b"prepare", b"another")),
    r.Checkpoint(CLUSTER, 0, 1, 64, 70, 912, 2, b"d" * 32, b"r" * 32),
    r.Commit(CLUSTER, 0, 1, 0, 4, 2, b"d" * 32),
    r.Signed("member:2", b"s" * 64, b"body"),
    r.JournalEntry(1, 30, 1_750_000_000_000, "stored", "e1", "memory.intake.accepted.v1", 1, 9, b"detail",
                   "greenhouse", MEMORY),
    r.RollupPatched(CLUSTER, OTHER, "greenhouse", "consolidator", 1_750_000_000_000, (PATCH,), "weekly"),
    r.Patched(b"signed", 1_750_000_000_000, (0,)),
    r.RewardGiven(1, 31, "greenhouse", "planner", MEMORY, "repeated", -200_000, 1_750_000_000_000),
    r.JournalAppended(b"entry", b"p" * 32, b"h" * 32),
    r.JournalHead(CLUSTER, 2, 1, 30, b"h" * 32, 1_750_000_000_000),
    r.Stored(**SAID, commitment=b"c" * 32, characters=23, outcome="reinforced", salience_ppm=739_000, early=True,
             accepted_offset=9, scored_offset=8, encoder="minilm", reinforces=OTHER, novelty_ppm=810_000,
             contradicts=(MEMORY,), superseded=(MEMORY,), worth_ppm=15_965_730, rank_ppm=734_375,
             learned_ppm=640_000, learned_by="5f" * 32, denies=(r.Comparison(MEMORY, (1, 3)),), again=(OTHER,)),
    r.Accessed("planner", 1_750_000_000_000, (r.MemoryUsed(MEMORY, r.APPLIED),)),
    r.Assessed("planner", (MEMORY,), (OTHER,), 1_750_000_000_000, "none of what it retrieved"),
    r.Decided(4, 0, 4, b"pre-prepare", (b"commit",), (r.Result((MEMORY,), "forget", "forgotten", "quorum"),),
              (r.Restored(MEMORY, 739_000, 3, 2, 9, 8, 5, 4),)),
    r.Destroyed((MEMORY,)),
    r.Reencoded("minilm", "bert"),
    r.RehearsalMade(CLUSTER, 0, 1, MEMORY, "greenhouse", "contested", OTHER, 7, 1_749_000_000_000,
                    1_750_000_000_000, 12),
    r.Rehearsed(b"signed", 600_000, 510_000),
    r.TrialMade(CLUSTER, 0, 1, MEMORY, "greenhouse", "verifier-2", b"statistics"),
    r.Tried(b"signed", "agreed", 210_000),
    r.RestoreOrdered(CLUSTER, OTHER, "greenhouse", (MEMORY,), "key 9fd1", 1_750_000_000_000, "ticket-8", "rollback", 3),
    r.OrderAccepted(OTHER, "restore", "greenhouse", (MEMORY,), b"signed", 1_750_000_000_000,
                    "memory.restore.ordered.v1", 2, 17, b"sealed"),
    r.OrderFound(b"signed", 1_750_000_000_000, 41),
    r.RestoreRequested(b"signed", 1_750_000_000_000, "not in experience"),
    r.SourcesDisclosed(CLUSTER, OTHER, "greenhouse", (MEMORY,), "llm.example.org", "consolidator", 1_750_000_000_000,
                       "ticket-9"),
    r.StatementsCompared(CLUSTER, OTHER, "greenhouse", OTHER, (r.Comparison(MEMORY, (1, 3)),),
                         "openai/m@llm.example.org", "consolidator", 1_750_000_000_000, "ticket-9"),
    r.Compared(b"signed", 1_750_000_000_000, (0,)),
    r.Disclosed(b"signed", 1_750_000_000_000, "llm.example.org", (MEMORY,)),
    r.ErasureOrdered(CLUSTER, OTHER, "greenhouse", "subject", "planner", "operator", 1_750_000_000_000, "ticket-7"),
    r.ProtectionOrdered(CLUSTER, OTHER, "greenhouse", MEMORY, "pin", "operator", 1_750_000_000_000, "case-3"),
    r.ProfileOrdered(CLUSTER, OTHER, "greenhouse", "ada", False, "operator", 1_750_000_000_000, 1_750_000_600_000,
                     ("episodic=30",), True, ("care=0",), b"c" * 32, "case-3"),
    r.Profiled(b"signed", 1_750_000_000_000, b"sealed"),
    r.Protected(b"signed", 1_750_000_000_000, True),
    r.Lapsed("goal:sow", 1_750_000_000_000, (MEMORY,)),
    r.Withheld(b"signed", 1_750_000_000_000, (MEMORY,)),
    r.Erased(b"signed", 1_750_000_000_000, 0, 1, 1_750_700_000_000,
             (r.ErasedEpisode(MEMORY, "short-term", b"c" * 32, None, ("llm.example.org",)),)),
)  # fmt: skip
SCHEMAS = ROOT / "schemas"
CURRENT = {p.stem: json.loads(p.read_text()) for p in sorted((SCHEMAS / "avro").glob("*.avsc"))}
