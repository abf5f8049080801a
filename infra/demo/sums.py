"""The sums that must hold between three witnesses: the published records, the journal, and Postgres."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from infra.demo.driver import Refused
from infra.demo.entry_counts import AGAIN, Ledger
from infra.demo.inputs import Tally
from memquorum.core.journal.decisions import VOIDED
from memquorum.core.tiers import GONE, SEALED
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.tally import KEPT


@dataclass(frozen=True, slots=True)
class Sum:
    """A whole and the parts that must add up to it."""

    whole: tuple[str, int]
    parts: tuple[tuple[str, int], ...]

    @property
    def holds(self) -> bool:
        """True if the parts add up to the whole."""
        return self.whole[1] == sum(n for _, n in self.parts)


@dataclass(frozen=True, slots=True)
class Stored:
    """Postgres's counts: events by outcome, memories by tier, proposals by outcome."""

    events: Mapping[str, int]
    tiers: Mapping[str, int]
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that must hold, and the values found."""

    name: str
    holds: bool
    found: str


def sums(tally: Tally, published: Counter[str], refused: Iterable[Refused], ledger: Ledger) -> list[Sum]:
    """All sums of a run, from the log to the last outcome."""
    effects, outcomes, tiers = ledger.effects, ledger.outcomes(), ledger.tiers()
    turned_away = Counter(letter.kind for letter in refused)
    further = sum(parts - 1 for _, parts in tally.split)
    log = [("messages", tally.messages), ("without text, skipped", -len(tally.empty)), ("further parts", further)]
    episodes = [
        ("stored", effects["stored"]),
        ("reinforced", effects["reinforced"]),
        *(("not kept: " + words(reason), n) for reason, n in sorted(ledger.reasons.items())),
        ("repeated", effects["repeated"]),
        ("refused", turned_away["episode"]),
    ]
    accesses = [
        ("noted", effects["accessed"]),
        ("asked for what was forgotten", effects["asked"]),
        ("repeated", effects[AGAIN]),
        ("refused", turned_away["access"]),
    ]
    done = dict.fromkeys(kind.outcome for kind in KINDS.values() if kind.about_memories)
    ends = [(end, outcomes[end]) for end in (*done, KEPT, VOIDED, "open")]
    back = [(kind.outcome, outcomes[kind.outcome]) for kind in KINDS.values() if kind.revives and not kind.seals]
    capped = {kind.outcome for kind in KINDS.values() if kind.capped}
    forgotten = [(SEALED, tiers[SEALED]), (GONE, tiers[GONE]), *back]
    return [
        Sum(("episodes to publish", tally.episodes), _shown(log)),
        Sum(("episodes published", published["episodes"]), _shown(episodes)),
        Sum(("accesses published", published["accesses"]), _shown(accesses)),
        Sum(("proposals nominated", ledger.nominations()), tuple(ends)),
        Sum(("memories stored", effects["stored"]), tuple(tiers.items())),
        Sum(("memories forgotten", sum(outcomes[one] for one in capped)), _shown(forgotten)),
    ]


def checks(tally: Tally, published: Counter[str], ledger: Ledger, stored: Stored) -> list[Check]:
    """Checks beyond the sums: everything was published, and Postgres agrees with the journal."""
    effects, tiers = ledger.effects, ledger.tiers()
    events = {
        "stored": effects["stored"],
        "reinforced": effects["reinforced"],
        "accessed": effects["accessed"] + effects["asked"],
        **ledger.reasons,
    }
    ends = {end: n for end, n in ledger.outcomes().items() if end != "open"}
    return [
        _same("the whole log was published", tally.episodes + tally.accesses, sum(published.values())),
        _same("Postgres holds the journal's events", _nonzero(events), _nonzero(stored.events)),
        _same("Postgres holds the journal's memories by tier", _nonzero(tiers), _nonzero(stored.tiers)),
        _same("Postgres holds the journal's outcomes", _nonzero(ends), _nonzero(stored.outcomes)),
    ]


def words(code: str) -> str:
    """A code as people write it."""
    return code.replace("_", " ")


def _shown(parts: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Leaves out the parts that are zero, except the first."""
    return tuple(part for index, part in enumerate(parts) if part[1] or index == 0)


def _same(name: str, expected: object, found: object) -> Check:
    return Check(name, expected == found, "equal" if expected == found else f"expected {expected}, found {found}")


def _nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: n for name, n in sorted(counts.items()) if n}
