"""The records that cross a topic, as frozen values. They import nothing but each other.

Each class mirrors `schemas/avro/<name>.avsc` field for field; `tests/schema` holds the two equal. Times are
milliseconds since the epoch, scores are integers in millionths (`_ppm`), identifiers are strings. What the fields mean
stands in the schema's `doc`.

By subject: `episodes`, `intake` (uses and the clock), `queries`, `erasure`, `protection`, `restoring`, `orders`
(any of them on its way), `configuration`, `consolidation`, `rollups`, `experience`, `nomination`, `votes` (what members
sign), `journal`, `rewards` and `rehearsals`.
Everybody imports them from here.
"""

from memquorum.core.records.configuration import ConfigurationOrdered
from memquorum.core.records.consolidation import (
    Compared,
    Comparison,
    Disclosed,
    Quote,
    SessionClosed,
    SessionEnded,
    SourcesDisclosed,
    StatementsCompared,
    Summary,
)
from memquorum.core.records.episodes import (
    EpisodeAccepted,
    EpisodeRecorded,
    EpisodeScored,
    Link,
    MemoryReencoded,
    Reencoded,
    Stored,
)
from memquorum.core.records.erasure import Erased, ErasedEpisode, ErasureOrdered
from memquorum.core.records.experience import (
    Assessed,
    FeedbackAccepted,
    FeedbackGiven,
    Task,
    TaskFinished,
    TrialMade,
    Tried,
)
from memquorum.core.records.intake import AccessAccepted, AccessRecorded, ClockRequested, ClockTicked, IntakeRefused
from memquorum.core.records.journal import (
    Accessed,
    Decided,
    Destroyed,
    JournalAppended,
    JournalEntry,
    JournalHead,
    Result,
    Ticked,
)
from memquorum.core.records.nomination import (
    Crossing,
    DecayCrossed,
    Lot,
    NominationProposed,
    Proposal,
    Standing,
    Weighed,
)
from memquorum.core.records.orders import OrderAccepted, OrderFound
from memquorum.core.records.protection import Lapsed, Protected, ProtectionOrdered, Withheld
from memquorum.core.records.queries import QueryAsked, QueryRecorded
from memquorum.core.records.rehearsals import RehearsalMade, Rehearsed
from memquorum.core.records.restoring import Restored, RestoreOrdered, RestoreRequested
from memquorum.core.records.rewards import RewardGiven
from memquorum.core.records.rollups import Patch, Patched, RollupPatched
from memquorum.core.records.votes import (
    BallotCast,
    Checkpoint,
    Commit,
    Misbehaved,
    NewView,
    Prepare,
    Prepared,
    PrePrepare,
    Signed,
    ViewChange,
)

__all__ = [
    "AccessAccepted",
    "AccessRecorded",
    "Accessed",
    "Assessed",
    "BallotCast",
    "Checkpoint",
    "ClockRequested",
    "ClockTicked",
    "Commit",
    "Compared",
    "Comparison",
    "ConfigurationOrdered",
    "Crossing",
    "DecayCrossed",
    "Decided",
    "Destroyed",
    "Disclosed",
    "EpisodeAccepted",
    "EpisodeRecorded",
    "EpisodeScored",
    "Erased",
    "ErasedEpisode",
    "ErasureOrdered",
    "FeedbackAccepted",
    "FeedbackGiven",
    "IntakeRefused",
    "JournalAppended",
    "JournalEntry",
    "JournalHead",
    "Lapsed",
    "Link",
    "Lot",
    "MemoryReencoded",
    "Misbehaved",
    "NewView",
    "NominationProposed",
    "OrderAccepted",
    "OrderFound",
    "Patch",
    "Patched",
    "PrePrepare",
    "Prepare",
    "Prepared",
    "Proposal",
    "Protected",
    "ProtectionOrdered",
    "QueryAsked",
    "QueryRecorded",
    "Quote",
    "Reencoded",
    "RehearsalMade",
    "Rehearsed",
    "RestoreOrdered",
    "RestoreRequested",
    "Restored",
    "Result",
    "RewardGiven",
    "RollupPatched",
    "SessionClosed",
    "SessionEnded",
    "Signed",
    "SourcesDisclosed",
    "Standing",
    "StatementsCompared",
    "Stored",
    "Summary",
    "Task",
    "TaskFinished",
    "Ticked",
    "TrialMade",
    "Tried",
    "ViewChange",
    "Weighed",
    "Withheld",
]
