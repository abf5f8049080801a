"""Rows of what is left: how many characters, what of the most important episodes, and what the vote says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set

import numpy as np

from bench.consolidation.frame import RULES, SHIPPED, Material
from bench.consolidation.made import AGREED, TOO_LITTLE, UNFAITHFUL, Consolidated
from bench.consolidation.sessions import SETS
from bench.kept import Row
from bench.right.frame import Measure
from bench.sets import there
from memquorum.core.consolidation.importance import importance_ppm
from memquorum.core.consolidation.sections import HEADINGS
from memquorum.core.consolidation.weighing import important
from memquorum.core.reading.content import content
from memquorum.core.reading.sentences import spans
from memquorum.ports import Source

_GOAL = 65.0


def sets(material: Material) -> list[str]:
    """Those that are there; all of them where none is, so that the first is named as absent."""
    return [name for name in SETS if there(material.data, name)] or list(SETS)


def _length(texts: list[str]) -> int:
    return sum(map(len, texts))


def characters(material: Material) -> Row:
    """Measures how much of the stored text is left, by set."""
    row = Row("characters", "characters that are left of what was stored, after every session is over")
    for name in sets(material):
        some = material.left(name)
        before = sum(_length(one.before) for one in some)
        row.figure(f"left, {name}", 100 * sum(_length(one.texts) for one in some) / before, "%")
        row.at_most(f"left, {name}", _GOAL)
        memories = sum(len(one.stored.memories) for one in some)
        row.figure(f"memories left, {name}", 100 * sum(len(one.texts) for one in some) / memories, "%")
        row.figure(f"raw, of those left, {name}", sum(len(one.raw) for one in some), "")
        row.figure(f"summaries, {name}", sum(len(one.agreed) for one in some), "")
        quotes = [quote for one in some for made in one.agreed for quote in made.quotes]
        for section in HEADINGS:
            under = sum(quote.section == section for quote in quotes)
            row.figure(f"sentences under {section}, {name}", 100 * under / max(1, len(quotes)), "%")
        took = np.array([second for one in some for second in one.seconds]) * 1_000
        row.figure(f"to sum up a session, p50, {name}", float(np.median(took)), "ms")
        row.figure(f"to sum up a session, p99, {name}", float(np.percentile(took, 99)), "ms")
    row.note(
        "characters of all that is served, summaries with their headings and what stays raw, of those of all memories "
        "before; a raw one was voted for with its part, is in dispute, or in a session of fewer than three"
    )
    return row


def votes(material: Material) -> Row:
    """Counts the outcomes of proposed summaries, and the episodes that they cover, by rule."""
    row = Row("votes", "members' votes on the summaries, by the rule that made them")
    for name in sets(material):
        for rule in RULES:
            made = [each for one in material.left(name, rule) for each in one.proposed]
            ended = Counter(each.ended for each in made)
            suffix = f"{name}" if rule == SHIPPED else f"{name}, {rule}"
            row.figure(f"proposed, {suffix}", len(made), "")
            for why in (AGREED, TOO_LITTLE, UNFAITHFUL):
                row.figure(f"{why}, {suffix}", 100 * ended[why] / max(1, len(made)), "%")
            covered = np.array([each.covered for each in made if each.ended != UNFAITHFUL]) / 10_000
            for part in (5, 50, 95):
                row.figure(f"worth covered, p{part}, {suffix}", float(np.percentile(covered, part)), "%")
        row.at_most(f"{UNFAITHFUL}, {name}", 0)
    row.note("members judge what the consolidator publishes; each rule may take the same share of the tokens")
    return row


def most_important(material: Material) -> Row:
    """Measures the lost part of the three most important episodes of each session."""
    row = Row("most-important", "the lost part of each session's three most important episodes")
    for rule in RULES:
        lost = words = stems = episodes = 0
        for name in sets(material):
            for one in material.left(name, rule):
                sessions = _ranked(one, material)
                served = [content(made.record.content).stems for made in one.agreed]
                said = frozenset[str]().union(*served) if served else frozenset[str]()
                texts = one.stored.talk.texts
                quoted = {texts[turn][start:end] for turn, kept in one.kept.items() for start, end in kept}
                for at in (at for three in sessions for at in three):
                    text = texts[at]
                    left = at in one.raw or _all_there(text, one.kept.get(at, ()), quoted)
                    episodes += 1
                    lost += not left
                    own = content(text).stems
                    stems += len(own)
                    words += 0 if left else sum(stem not in said for stem in own)
        suffix = "" if rule == SHIPPED else f", {rule}"
        row.figure(f"episodes of which something is lost{suffix}", lost, f"of {episodes}")
        row.figure(f"content words that are nowhere any more{suffix}", 100 * words / max(1, stems), "%")
    row.at_most("episodes of which something is lost", 0)
    row.note(
        "importance is SPEC C's: of a session nobody has used yet the latest weigh most; kept is an episode of which "
        "every character that is no blank is in a summary or in itself"
    )
    return row


def _ranked(one: Consolidated, material: Material) -> list[list[int]]:
    """Returns each session's turns, the most important first."""
    found = []
    for _, memories in one.stored.sessions():
        if not memories:
            continue
        closed = memories[-1].created + material.policy.consolidate.idle_ms
        sources = [
            Source(
                each.memory_id, each.text, each.created,
                importance_ppm(each.text, age_ms=closed - each.created, references=each.references, positive=False),
            )
            for each in memories
        ]  # fmt: skip
        found.append([one.place[memory_id] for memory_id in important(sources)])
    return found


def _all_there(text: str, kept: Iterable[tuple[int, int]], quoted: Set[str]) -> bool:
    """Whether summaries hold all of a turn but blanks: its own spans, and sentences that are quoted from another turn,
    since a summary says none twice."""
    flags = bytearray(len(text))
    for start, end in (*kept, *(span for span in spans(text) if text[slice(*span)] in quoted)):
        flags[start:end] = b"\x01" * (end - start)
    return all(flag or char.isspace() for flag, char in zip(flags, text, strict=True))


ROWS: Mapping[str, Measure] = {"characters": characters, "votes": votes, "most-important": most_important}
