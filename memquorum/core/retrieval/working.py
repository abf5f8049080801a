"""Builds working memory: the memories for the prompt of one inference (SPEC B, tier 0), within a budget of tokens.

It is built for each inference and stored nowhere. The agent's episodic buffer comes first, up to its share of the
budget: all of it, or its most salient traces. Then come the memories of the namespace that answer the query best, of
which short-term and long-term memory have a quota each, and roll-ups of what the query names. The others get what a
part leaves of its quota (`quotas`), and the rest of the buffer comes last. No memory is taken twice, and one that says
the same as another is folded into it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.api import answers
from memquorum.core.api.answers import Hit, Rollup, RollupSentence
from memquorum.core.contained import Failures
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval import quotas, rollups
from memquorum.core.retrieval.buffer import PLACES, Trace, as_it_happened, by_salience
from memquorum.core.retrieval.packing import Item, Packed, pack
from memquorum.core.retrieval.quotas import Quotas
from memquorum.core.retrieval.ranking import Scored
from memquorum.core.showing import quoting
from memquorum.core.showing.quoting import HEADING

BUFFER, RELEVANT = "buffer", "relevant"
# The headings of the parts of the text.
SESSION, LATELY, REMEMBERED = "This session:\n", "Lately:\n", "Remembered:\n"
ASKED = "Of what is asked about:\n"
_CONTRADICTED = ", contradicted by another memory"
_FRAME = tokens(HEADING)


class Placed(Struct, frozen=True):
    """A memory that was taken. `why`: it is in the agent's buffer, or it answers the query. `place`: its place in the
    buffer, if it is there, 1 for the newest trace."""

    item: Item
    why: str
    place: int | None


class Working(Struct, frozen=True):
    """The memories taken, in the order of the `text`: the buffer as it happened, then the others, best first. `packed`:
    the same with the tokens of the whole text, and what was left out, by reason."""

    placed: tuple[Placed, ...]
    packed: Packed
    text: str
    named: frozenset[str] = frozenset()
    """The memories of which the text tells who else said the same."""
    rolled: tuple[Rollup, ...] = ()
    """The roll-ups of what is asked about, with the sentences that the text has."""
    took: dict[str, int] = {}
    """The tokens that each part took (`quotas.PARTS`)."""


class Frame(Struct, frozen=True):
    """The limits of a working memory: `budget` tokens, of which the buffer takes `share` first, and at most `k_max`
    memories besides those. `session`: whether the buffer is that of one session. `signed`: of a namespace whose agents
    sign what they say; elsewhere a role is a claim, and stands in no prompt. `quotas`: of the other parts."""

    budget: int
    share: float
    k_max: int
    session: bool
    signed: bool = False
    quotas: Quotas = Quotas()


def line(hit: Hit, signed: bool = False, *, also: bool = False) -> str:
    """A memory in the text: when, who, what, and whether another that is alive says otherwise. `signed`: as of
    `Frame`. `also`: with the other agents who said the same."""
    # A general form is of another namespace, and a summary's maker is no agent: nobody signed a role of theirs.
    vouched = signed and not hit.diffused and hit.made_by is None
    known = {*hit.overtakes, *(one.by for one in hit.overtaken)}
    mark = answers.mark(hit.text, hit.overtaken) or ("" if known.issuperset(hit.conflicts_with) else _CONTRADICTED)
    mark += quoting.also_said(hit.also_by) if also else ""
    return quoting.line(hit.text, hit.agent, hit.occurred_at, role=hit.role if vouched else None, mark=mark)


def assemble(
    traces: Sequence[Trace],
    ranked: Sequence[Scored],
    frame: Frame,
    question: str | None = None,
    *,
    failures: Failures | None = None,
    rolled: Sequence[Rollup] = (),
) -> Working:
    """The working memory, of the agent's ring and of what answers the question, best first. `failures`: see `pack`.
    `rolled`: the roll-ups of what is asked about."""
    heading = SESSION if frame.session else LATELY

    def cost(hit: Hit) -> int:
        # In tokens. A whole text never costs more than the sum of its lines.
        return tokens(line(hit, frame.signed))

    budget = frame.budget - (tokens(heading) if traces else 0) - (tokens(REMEMBERED) if ranked else 0) - _FRAME
    salient = [_scored(trace) for trace in by_salience(traces)]
    first = pack(
        salient, max(0, min(budget, int((frame.budget - _FRAME) * frame.share))), PLACES, cost, failures=failures
    ).items
    taken = {_id(item.scored) for item in first}
    found = [one for one in ranked if _id(one) not in taken]
    relevant = {_id(one) for one in found}
    # Behind every sentence of a summary that was found.
    rest = [replace(one, score=0.0) for one in salient if _id(one) not in taken | relevant]
    every = [*(item.scored for item in first), *found, *rest]
    left = budget - sum(item.tokens for item in first)
    apart = rollups.wanted(rolled, [*salient, *ranked[: frame.k_max]], rolled_cost)
    apart = max(0, min(apart and apart + tokens(ASKED), int(frame.budget * frame.quotas.rollups), left))
    asking = {part: [cost(one.candidate.hit) for one in found if quotas.part_of(one) == part] for part in quotas.PARTS}
    packed = pack(
        every, budget - apart, len(first) + frame.k_max, cost, question, failures=failures,
        kept=quotas.kept(frame.quotas, frame.budget, frame.k_max, asking, left - apart),
        parts=[BUFFER] * len(first) + [quotas.part_of(one) for one in found] + [BUFFER] * len(rest),
    )  # fmt: skip
    given = [item.scored.candidate.hit for item in packed.items]
    told, more = rollups.packed(rolled, given, budget - packed.tokens, rolled_cost, tokens(ASKED))
    items, named = _named(packed, budget - more, frame.signed)
    lately = [
        Placed(items[_of(trace)], RELEVANT if _of(trace) in relevant else BUFFER, trace.place)
        for trace in as_it_happened(traces)
        if _of(trace) in items
    ]
    there = {_of(trace) for trace in traces}
    remembered = [Placed(item, RELEVANT, None) for name, item in items.items() if name not in there]
    titles = [title for title, part in ((heading, lately), (REMEMBERED, remembered)) if part]
    text = rendered(_hits(lately), _hits(remembered), frame, named, told)
    spent = sum(item.tokens for item in items.values()) + sum(map(tokens, titles)) + (_FRAME if text else 0) + more
    placed = (*lately, *remembered)
    all_of = Packed(tuple(one.item for one in placed), spent, packed.left)
    return Working(placed, all_of, text, named, told, _took(lately, remembered, more))


def rendered(
    lately: Sequence[Hit],
    remembered: Sequence[Hit],
    frame: Frame,
    named: frozenset[str],
    rolled: Sequence[Rollup] = (),
) -> str:
    """The text of a working memory. `lately`: what is in the agent's buffer; `named`: those of which it tells who else
    said the same; `rolled`: the sentences of roll-ups."""
    parts = ((SESSION if frame.session else LATELY, lately), (REMEMBERED, remembered))
    texts = [
        title + "".join(line(hit, frame.signed, also=hit.memory_id in named) for hit in part)
        for title, part in parts
        if part
    ]
    said = "".join(answers.rolled_line(one) for rollup in rolled for one in rollup.sentences)
    return quoting.framed([*texts, *([ASKED + said] if said else [])])


def rolled_cost(one: RollupSentence) -> int:
    """The tokens of a sentence of a roll-up in the text."""
    return tokens(answers.rolled_line(one))


def _took(lately: Sequence[Placed], remembered: Sequence[Placed], rolled: int) -> dict[str, int]:
    """The tokens that each part took, in the order of the parts; none that took nothing."""
    took = dict.fromkeys(quotas.PARTS, 0)
    took[quotas.BUFFER] = sum(one.item.tokens for one in lately)
    took[quotas.ROLLUPS] = rolled
    for one in remembered:
        part = quotas.part_of(one.item.scored)
        took[part or quotas.SHORT] += one.item.tokens
    return {part: count for part, count in took.items() if count}


def _named(packed: Packed, budget: int, signed: bool) -> tuple[dict[str, Item], frozenset[str]]:
    """The items by id, and those of which the text tells who else said the same: it has what memories leave of the
    budget."""
    items, named, left = dict[str, Item](), set[str](), budget - packed.tokens
    for item in packed.items:
        hit = item.scored.candidate.hit
        more = tokens(line(hit, signed, also=True)) - tokens(line(hit, signed)) if hit.also_by else 0
        if hit.also_by and more <= left:
            left -= more
            named.add(hit.memory_id)
        items[hit.memory_id] = replace(item, tokens=item.tokens + (more if hit.memory_id in named else 0))
    return items, frozenset(named)


def _hits(placed: Sequence[Placed]) -> list[Hit]:
    return [one.item.scored.candidate.hit for one in placed]


def _scored(trace: Trace) -> Scored:
    salience = trace.candidate.hit.salience
    return Scored(trace.candidate, 0.0, 1.0, salience)


def _of(trace: Trace) -> str:
    return trace.candidate.hit.memory_id


def _id(scored: Scored) -> str:
    return scored.candidate.hit.memory_id
