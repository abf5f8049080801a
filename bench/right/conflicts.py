r"""Rows of corrections: pairs of texts that the rules find contradictory, and a member's votes for the later one.

No parameter is fitted on a set with a goal: the rules were looked at on one half of each set, by a hash of its texts,
of its chat or of its case; figures without a suffix are of the other half. A pair counts as superseded where a member
that knows the two texts alone, both in short-term memory, is for the later one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench import sets
from bench.kept import Row
from bench.right import cases
from bench.right.door import unseen
from bench.right.frame import Material, Measure
from memquorum.core.api.answers import Hit
from memquorum.core.policy import Policy, from_json
from memquorum.core.reading.conflict import Claims, between, read
from memquorum.core.records import Proposal
from memquorum.core.retrieval.rereading import best_first
from memquorum.core.retrieval.scoring import nearest_first
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds import SUPERSEDE

_POLICY = from_json({"supersede": {"inferred": True}})
"""Lets members vote on what was inferred from words, as the rows were measured first."""
_DEFAULT = Policy()
_NOTE = (
    "Figures without *by default* are those of a policy that lets members vote on what was inferred from words "
    "(`supersede.inferred`), and of another agent's memory somebody else has said the same as the later one, which is "
    "asked for since; by default words alone supersede nothing, and what contradicts is marked and ordered."
)
_NEAREST = 10


def superseded(
    older: tuple[str, str], newer: tuple[str, str], policy: Policy = _POLICY, *, alone: bool = False
) -> bool:
    """Whether a member is for the later of two: (agent, text) of each. `alone`: nobody else has said the same, which
    another agent's memory asks for."""
    vector = np.ones(2, np.float32)
    facts = tuple(
        MemoryFacts(name, "n", agent, at, at, 600_000, vector, text=text, witnessed=int(not alone))
        for name, at, (agent, text) in (("b", 2, newer), ("a", 1, older))
    )
    asked = Proposal(("b", "a"), "n", SUPERSEDE.name, "", 0, 0, 0)
    (terms,) = judged(SUPERSEDE, [(asked, facts)], MemberContext("n"), as_of=3, policy=policy)
    return bool(SUPERSEDE.yes(SUPERSEDE.score(terms, policy), policy))


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return 100 * sum(found) / len(found) if found else 0.0


def interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's, of 95 %, in per cent."""
    if not whole:
        return 0.0, 100.0
    z, p = 1.96, part / whole
    mid, width = p + z * z / (2 * whole), z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    return 100 * (mid - width) / (1 + z * z / whole), 100 * (mid + width) / (1 + z * z / whole)


def own(_: Material) -> Row:
    """Measures own corrections: each step of a case, by any agent."""
    row = Row("conflict-own", "own corrections: the later one takes the place of the earlier one")
    found = cases.read("corrections")
    for half, some in (
        ("", [c for c in found if not c.developers]),
        (", developers' half", [c for c in found if c.developers]),
    ):
        steps = [superseded(a, b) for case in some for a, b in itertools.pairwise(case.say)]
        row.figure(f"superseded{half}", _share(steps), "%")
        pairs = [pair for case in some for pair in itertools.pairwise(case.say)]
        alone = _share(superseded(a, b, alone=True) for a, b in pairs)
        row.figure(f"superseded where nobody else says so{half}", alone, "%")
        row.figure(f"superseded by default{half}", _share(superseded(a, b, _DEFAULT) for a, b in pairs), "%")
        facts = [c for c in cases.read("facts") if c.developers == bool(half)]
        apart = [superseded(a, b) for case in facts for a, b in itertools.combinations(case.say, 2)]
        row.figure(f"distinct facts superseded{half}", _share(apart), "%")
    row.at_least("superseded", 90)
    row.at_most("superseded by default", 0)
    row.note(_NOTE)
    return row


def neutral(material: Material) -> Row:
    """Pairs that do not contradict: SICK's neutral ones, STS-B from 2 to 4, and turns of LoCoMo's conversations."""
    row = Row("conflict-none", "pairs that do not contradict, and are superseded")
    of = {
        "SICK neutral": [p for p in sets.sick(material.data) if p.label == sets.NEUTRAL],
        "STS-B 2 to 4": [p for p in sets.stsb(material.data) if 2 <= p.score <= 4],
    }
    every: list[bool] = []
    for name, pairs in of.items():
        other = [p for p in material.some(pairs) if unseen(p.first, p.second)]
        found = [superseded(("ann", p.first), ("ann", p.second)) for p in other]
        row.figure(f"superseded, {name}", _share(found), "%")
        every += found
    talks = [said for name, said in _conversations(material) if unseen(name)]
    turns = [hit for said in talks for hit in _turns(material, said)]
    row.figure("superseded, LoCoMo turns", _share(turns), "%")
    row.figure("superseded", _share(every + turns), "%")
    default = [superseded(("ann", p.first), ("ann", p.second), _DEFAULT) for pairs in of.values() for p in pairs]
    row.figure("superseded by default", _share(default), "%")
    row.at_most("superseded by default", 0)
    # As who imports a transcript has them: one agent, and who speaks stands before what they say.
    transcripts = ([("importer", f"{who}: {text}") for who, text in said] for said in talks)
    lines = [hit for said in transcripts for hit in _turns(material, said)]
    row.figure("superseded, lines of LoCoMo's transcripts", _share(lines), "%")
    row.at_most("superseded", 0.5)
    row.at_most("superseded, lines of LoCoMo's transcripts", 0.5)
    row.note(_NOTE)
    row.note("A turn counts where it would supersede any earlier one of its conversation.")
    return row


def _conversations(material: Material) -> list[tuple[str, list[tuple[str, str]]]]:
    found = []
    for at, sample in enumerate(sets.records(material.data, sets.LOCOMO, "conversation", "qa")):
        talk, said = sample["conversation"], []
        for number in itertools.count(1):
            if f"session_{number}" not in talk:
                break
            said += [(turn["speaker"], turn["text"]) for turn in talk[f"session_{number}"]]
        found.append((str(sample.get("sample_id", at)), said))
    return found


def _turns(material: Material, said: Sequence[tuple[str, str]]) -> list[bool]:
    earlier: list[tuple[str, Claims]] = []
    hits = []
    for agent, text in material.some(list(said), 100):
        claims = read(text)
        hits.append(any(between(c, claims, same_agent=agent == a) is not None for a, c in earlier))
        earlier.append((agent, claims))
    return hits


def beam(material: Material) -> Row:
    """BEAM: updates and contradictions in long chats; alarms on other messages that questions are about, and on all."""
    row = Row("conflict-beam", "BEAM: what is updated or contradicted in long chats")
    chats = list(sets.beam(material.data))
    for half, some in (
        ("", [c for c in chats if unseen(c.name)]),
        (", looked at", [c for c in chats if not unseen(c.name)]),
    ):
        flagged = pairs = alarms = everywhere = updates = first = 0
        for chat in some:
            claims = {m.id: read(m.text) for m in chat.messages if m.role == "user"}
            gold = {p: {(a, b) for a in p.older for b in p.newer if a in claims and b in claims} for p in chat.probes}
            asked = {i for probe in chat.probes for i in (*probe.older, *probe.newer)} & claims.keys()
            known = set().union(*gold.values()) if gold else set()
            hits = {
                (a, b) for a, b in itertools.combinations(sorted(claims), 2)
                if between(claims[a], claims[b], same_agent=True) is not None
            }  # fmt: skip
            told = {probe: any((min(p), max(p)) in hits for p in gold[probe]) for probe in chat.probes}
            pairs, flagged = pairs + len(told), flagged + sum(told.values())
            wrong = hits - {(min(p), max(p)) for p in known}
            everywhere += len(wrong)
            alarms += sum(a in asked and b in asked for a, b in wrong)
            mine = [probe for probe in chat.probes if probe.kind == sets.UPDATE and gold[probe]]
            first += sum(_newest_first(material, chat, probe, told[probe]) for probe in mine)
            updates += len(mine)
        low, high = interval(flagged, flagged + alarms)
        row.figure(f"precision{half}", _share([True] * flagged + [False] * alarms), "%")
        row.figure(f"precision, from{half}", low, "%")
        row.figure(f"precision, to{half}", high, "%")
        low, high = interval(flagged, pairs)
        row.figure(f"recall{half}", 100 * flagged / max(1, pairs), "%")
        row.figure(f"recall, from{half}", low, "%")
        row.figure(f"recall, to{half}", high, "%")
        row.figure(f"other pairs of the chats flagged{half}", everywhere, "pairs")
        row.figure(f"newest over old{half}", 100 * first / max(1, updates), "%")
    row.at_least("precision", 80)
    row.at_least("recall", 30)
    row.at_least("newest over old", 85)
    row.note(
        "Alarms are pairs of messages that some question about an update or a contradiction is about; from, to: 95 %."
    )
    return row


def _newest_first(material: Material, chat: sets.Chat, probe: sets.Probe, told: bool) -> bool:
    """Whether the newer message stands before the older one for the question: by a contradiction, else as a search
    has them."""
    if told:
        return True
    texts = {m.id: m.text for m in chat.messages}
    ids = [i for i in (*probe.older, *probe.newer) if i in texts]
    (asked,) = material.vectors.of([probe.text])
    cosines = material.vectors.of([texts[i] for i in ids]) @ asked
    hits = [
        Hit(str(i), texts[i], SHORT_TERM, "user", i, i, 0, 0.5, score=float(cosine))
        for cosine, i in sorted(zip(cosines, ids, strict=True), key=lambda one: -one[0])
    ]
    near = nearest_first(probe.text, hits, material.vectors.name)
    return int(best_first(probe.text, near, asker="user")[0].memory_id) in probe.newer


ROWS: Mapping[str, Measure] = {"conflict-own": own, "conflict-none": neutral, "conflict-beam": beam}
