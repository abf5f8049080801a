"""Wrong promotions of the fleet: VM-8 by an external knowledge base, P39 and P40 by claims that are made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb, exp, lgamma, log
from pathlib import Path

import numpy as np

from bench.kept import Row
from bench.right.frame import Material, Measure
from bench.sets import records
from bench.vm.fleet import AGENTS, GENESIS, NOW, SAID, Said, vote

FEVER, FM2 = "fever_symmetric", "fool_me_twice"
_CHUNK = 25
_WRONG, _PAIRS = 3_000, 1_000
_LIKELY = 0.1
"""The probability that another agent errs in the same way: ten times SPEC B's p, so that errors are seen."""
_P, _RHO = 0.01, 0.5
_STATES = (
    "Pump {} runs at {} bar.", "Tank {} holds {} litres.", "Cold store {} is kept at {} degrees.",
    "Server {} has {} GB of memory.", "The order {} has {} pallets.",
)  # fmt: skip
_RATES = (
    "Line {} makes {} bottles an hour.",
    "Engine {} burns {} litres a day.",
    "Gate {} lets {} cars through a minute.",
)
"""Two numbers of these contradict each other, and the rules do not see it: the verb may be true of many."""
_OTHERWISE = ", in words whose contradiction no rule sees"


def upper(found: int, among: int, level: float = 0.95) -> float:
    """The upper bound of a share of which `found` were seen `among` so many: one-sided, exact (Clopper and Pearson)."""
    if found >= among:
        return 1.0
    low, high = found / among, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(found, among, middle) > 1 - level else (low, middle)
    return high


def _at_most(found: int, among: int, p: float) -> float:
    ways = (lgamma(among + 1) - lgamma(i + 1) - lgamma(among - i + 1) for i in range(found + 1))
    return sum(exp(way + i * log(p) + (among - i) * log(1 - p)) for i, way in enumerate(ways))


def chosen(data: Path) -> Iterator[tuple[str, str, bool]]:
    """Claims of both sets, what the knowledge base says of each, and whether it bears the claim out."""
    for one in records(data, FEVER, "claim", "evidence", "label"):
        yield one["claim"], one["evidence"], one["label"] == "SUPPORTS"
    for one in records(data, FM2, "text", "gold_evidence", "label"):
        yield one["text"], " ".join(each["text"] for each in one["gold_evidence"]), one["label"] == "SUPPORTS"


def knowledge(material: Material) -> Row:
    """VM-8: claims of which the other agents have read what Wikipedia says."""
    row = Row("VM-8", "promoted claims that an external knowledge base contradicts")
    cases = material.some(list(chosen(material.data)), 100)
    for what, repeated in (("", False), (", said by a second agent too", True)):
        promoted, wrong = 0, 0
        for begin in range(0, len(cases), _CHUNK):
            part = list(enumerate(cases[begin : begin + _CHUNK]))
            claims = [Said(f"c{at}", AGENTS[0], claim, 1) for at, (claim, _, _) in part]
            others = [Said(f"e{at}/{who}", who, told) for at, (_, told, _) in part for who in AGENTS[1:]]
            others += [Said(f"r{at}", AGENTS[1], claim, 2) for at, (claim, _, _) in part if repeated]
            ended = vote(material.vectors.of, claims, others).promoted
            promoted += int(ended.sum())
            wrong += sum(bool(one) and not true for one, (_, (_, _, true)) in zip(ended, part, strict=True))
        row.figure(f"promoted{what}", promoted, "claims")
        row.figure(f"contradicted{what}", wrong, "claims")
        share = 100 * upper(wrong, promoted) if promoted else 100.0
        row.figure(f"contradicted, upper 95 % bound{what}", share, "%")
    row.at_most("contradicted, upper 95 % bound", 0.05)
    row.at_most("contradicted, upper 95 % bound, said by a second agent too", 0.05)
    false = sum(not true for *_, true in cases)
    row.note(
        f"{len(cases)} claims of FEVER-Symmetric and FoolMeTwice, {false} of them refuted by Wikipedia: one agent says "
        "the claim, each of the other three has read the passage; four members vote by the shipped rules with the "
        "shipped encoder. With none wrong the bound would need 5,990 promoted claims to come under 0.05 %"
    )
    return row


def _fact(at: int, value: int, things: Sequence[str] = _STATES) -> str:
    return things[at % len(things)].format(100 + at, value)


def _some(
    material: Material, wrong: Sequence[tuple[bool, ...]], *, others_know: bool = True, things: Sequence[str] = _STATES
) -> tuple[int, int, int]:
    """Counts the wrong claims that are promoted; those of them for which fewer than q - 1 others err; and those for
    which q - 1 others err. `wrong`: which of the others err. The others state the truth, or nothing.
    """
    promoted = unearned = shared = 0
    for begin in range(0, len(wrong), _CHUNK):
        part = list(enumerate(wrong[begin : begin + _CHUNK], begin))
        claims = [Said(f"c{at}", AGENTS[0], _fact(at, 40 + at % 50, things), 1) for at, _ in part]
        others = [
            Said(f"{who}{at}", who, _fact(at, 40 + at % 50 if errs else 41 + at % 50, things), 2)
            for at, each in part
            for who, errs in zip(AGENTS[1:], each, strict=True)
            if errs or others_know
        ]
        ended = vote(material.vectors.of, claims, others).promoted
        enough = np.array([sum(each) >= GENESIS.quorum - 1 for _, each in part])
        promoted, unearned = promoted + int(ended.sum()), unearned + int((ended & ~enough).sum())
        shared += int(enough.sum())
    return promoted, unearned, shared


def wrong(material: Material) -> Row:
    """P39: wrong claims, of which other agents saw what is so, or err in the same way."""
    row = Row("P39", "wrong claims that are promoted")
    count = 200 if material.quick else _WRONG
    dice = np.random.default_rng(39)
    apart = [tuple(bool(one) for one in each) for each in dice.random((count, 3)) < _LIKELY]
    promoted, unearned, shared = _some(material, apart)
    row.figure("wrong claims", count, "")
    row.figure(f"in which two or more others err too, at {_LIKELY:.0%} each", shared, "claims")
    row.figure("promoted", promoted, "claims")
    row.figure("promoted though fewer than two others err", unearned, "claims")
    row.at_most("promoted though fewer than two others err", 0)
    unseen = _some(material, apart[: count // 5], things=_RATES)[1]
    row.figure(f"the same of {count // 5}{_OTHERWISE}", unseen, "claims")
    tail = sum(comb(3, k) * _P**k * (1 - _P) ** (3 - k) for k in (2, 3))
    row.figure(f"bound that follows, others err apart at {_P:.0%}", 100 * tail, "%")
    row.figure(f"SPEC B's bound, n = 3, ρ = 0, {_P:.0%}", 100 * _P**3, "%")
    row.figure(f"SPEC B's bound, n = 3, ρ = {_RHO}, {_P:.0%}", 100 * _P ** (3 - _RHO * 2), "%")
    alone = [(True, False, False)] * (count // 10)
    row.figure("promoted where one other repeats it and the rest know nothing", 100 * _some(
        material, alone, others_know=False)[0] / len(alone), "%")  # fmt: skip
    row.note(
        "an agent says something wrong of a thing; each of three others has seen the thing, and says what is so or, in "
        "so many of a hundred cases, the same wrong thing. A promotion needs three of four members, of whom one speaks "
        "for the claim's own agent: so two others have to err, and the bound that follows is that of two or more of "
        "three. SPEC B's formula counts the claim's own member among those that err apart, and one choice of three of "
        "four, so it is lower than what can be had with n = 3"
    )
    row.note(
        "if no other agent has seen the thing, one other agent that repeats it is ground enough for members that know "
        "nothing: then the bound is p, not p²"
    )
    return row


def split(material: Material) -> Row:
    """P40: two claims that contradict each other, both nominated in one epoch, one of four members lying."""
    row = Row("P40", "two contradictory claims, promoted in one epoch")
    count = 100 if material.quick else _PAIRS
    for things, told in ((_STATES, ""), (_RATES, _OTHERWISE)):
        for liars, lies in (((), ""), ((3,), ", one member for both")):
            both, one = _pairs(material, count, things, liars)
            row.figure(f"pairs of which both are promoted{told}{lies}", both, f"of {count}")
            row.figure(f"pairs of which one is promoted{told}{lies}", one, f"of {count}")
            row.at_most(f"pairs of which both are promoted{told}{lies}", 0)
    late = SAID + GENESIS.policy.promote.disputed_ms + 3
    both, _ = _pairs(material, count, _STATES, (), late)
    row.figure("pairs of which both are promoted, a day later", both, f"of {count}")
    row.note(
        "a contradiction that follows from the words alone delays a promotion by a day (`promote.disputed_ms`), so the "
        "goal is one of the first day: a day later both of a pair may be promoted, and both are served and marked"
    )
    row.note(
        "two agents say two numbers of one thing, and for one or both of them a second agent says the same; both "
        "claims stand in one nomination. An honest member says yes to one of two that contradict, and two quorums have "
        "an honest member in common: that holds as far as the rules see that they contradict. They read English, and "
        "take two numbers behind a verb in the present for a contradiction only where it says what a thing is, has or "
        "holds"
    )
    return row


def _pairs(
    material: Material, count: int, things: Sequence[str], liars: Sequence[int], now: int = NOW
) -> tuple[int, int]:
    """Counts the pairs of which both are promoted, and of which one or both are."""
    both = one = 0
    for begin in range(0, count, _CHUNK // 2):
        claims, others = [], []
        for at in range(begin, min(count, begin + _CHUNK // 2)):
            for side, value in enumerate((40, 50)):
                text = _fact(at, value, things)
                claims.append(Said(f"{at}/{side}", AGENTS[side], text, 1 + side))
                if at % 3 != side:  # of two in three pairs one side has nobody else
                    others.append(Said(f"{at}/{side}/too", AGENTS[2 + side], text, 1 + side))
        ended = vote(material.vectors.of, claims, others, liars=liars, now=now).promoted.reshape(-1, 2)
        both, one = both + int(ended.all(axis=1).sum()), one + int(ended.any(axis=1).sum())
    return both, one


ROWS: Mapping[str, Measure] = {"VM-8": knowledge, "P39": wrong, "P40": split}
