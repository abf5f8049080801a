"""Shows roll-ups to a reader: their state at a time, as far as it is readable and no gate hides it; and finds those of
the things that a question names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from memquorum.core.api.answers import Hit, Rollup, RollupPatch, Rollups, RollupSentence, RollupTopic
from memquorum.core.consolidation.rollups import called, standing
from memquorum.core.contained import Failures
from memquorum.core.reading.parsing import placed, stemmed
from memquorum.core.reading.tokens import tokens
from memquorum.core.reading.topics import LONG, key
from memquorum.core.retrieval import overtaken
from memquorum.core.retrieval.conflicts import Contradiction, marks
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Scored
from memquorum.ports import Logged

LATEST = 3
"""So many sentences of a roll-up a search gives: as many as of a summary."""
GIVEN = 32
"""The most sentences of a roll-up that a retrieval or a context gives."""
NAMED = 3
"""The most roll-ups that one question finds."""


def searched(filters: Filters) -> bool:
    """Whether a read that is filtered so may be given roll-ups. They have gates and a time, and no other filter: a
    roll-up goes across sessions, paths, agents and tiers."""
    return filters == Filters(
        sensitivity_max=filters.sensitivity_max,
        purpose=filters.purpose,
        jurisdictions=filters.jurisdictions,
        as_of=filters.as_of,
    )


def asked_about(question: str, names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names that a question has, in its order. The longest of names inside one another counts: "valve 3"
    and not "valve"."""
    words = [stemmed(word.casefold()) for word, _, _ in placed(question[:LONG])]
    found = list[tuple[int, int, str]]()
    for name in set(names):
        parts = key(name).split()
        at = next((at for at in range(len(words)) if parts and words[at : at + len(parts)] == parts), None)
        if at is not None:
            found.append((at, at + len(parts), name))
    longest = [
        (start, end, name)
        for start, end, name in sorted(found)
        if not any(a <= start and end <= b and b - a > end - start for a, b, _ in found)
    ]
    return tuple(dict.fromkeys(name for _, _, name in longest))[:NAMED]


def found(
    namespace: str,
    question: str,
    log: Sequence[Logged],
    *,
    as_of: int | None = None,
    most: int,
    failures: Failures | None = None,
) -> tuple[Rollup, ...]:
    """The roll-ups of the things that a question names, each with its latest `most` sentences that can be read.
    `log`: of roll-ups that may be of them."""
    failures = failures or Failures()
    ids = dict.fromkeys(one.patch.memory_id for one in log)
    named = failures.answer("topics", list(ids), (), asked_about, question, called(log).values())
    once = {failures.answer("topics", (), None, key, name): name for name in reversed(named)}
    told = [
        shown(namespace, name, log, as_of=as_of, most=most, failures=failures)
        for name in named
        if name in once.values()
    ]
    return tuple(one for one in told if one is not None and one.sentences)


def marked(rollup: Rollup, contradictions: Iterable[Contradiction]) -> Rollup:
    """A roll-up whose sentences have the marks of the memories that they are read from."""
    beside = marks(contradictions)
    sentences = tuple(
        replace(
            one,
            overtaken=overtaken.placed(
                one.text, beside[one.read_from].against if one.read_from in beside else (), excerpt=True
            ),
        )
        for one in rollup.sentences
    )
    return replace(rollup, sentences=sentences)


def wanted(rolled: Sequence[Rollup], there: Iterable[Scored], cost: Callable[[RollupSentence], int]) -> int:
    """The tokens that roll-ups would take beside memories that may be given themselves."""
    ids = {one.candidate.hit.memory_id for one in there}
    return sum(
        cost(one) for rollup in rolled for one in rollup.sentences if ids.isdisjoint((one.memory_id, one.read_from))
    )


def packed(
    rolled: Sequence[Rollup],
    given: Iterable[Hit],
    left: int,
    cost: Callable[[RollupSentence], int] = lambda one: tokens(one.text),
    heading: int = 0,
) -> tuple[tuple[Rollup, ...], int]:
    """Roll-ups with the latest sentences that fit into the `left` tokens and are in no memory that is `given`; and the
    tokens that these cost, `heading` among them. A roll-up of which nothing is left is left out."""
    texts = {hit.memory_id: hit.text for hit in given}
    spent, kept = heading, list[Rollup]()
    for rollup in rolled:
        taken = list[RollupSentence]()
        for one in reversed(rollup.sentences):
            said = any(one.text in texts.get(name, "") for name in (one.memory_id, one.read_from))
            if not said and spent + cost(one) <= left:
                spent += cost(one)
                taken.append(one)
        if taken:
            rest = len(rollup.sentences) - len(taken)
            kept.append(replace(rollup, sentences=tuple(reversed(taken)), more=rollup.more + rest))
    return tuple(kept), spent if kept else 0


def listed(
    namespace: str,
    log: Sequence[Logged],
    *,
    as_of: int | None = None,
    persona: str | None = None,
    most: int,
    failures: Failures | None = None,
) -> Rollups:
    """The roll-ups of a namespace at a time, `most` of them at most; those that nobody can name any more are left out.

    `log`: in the order of the journal. `failures`: takes the names on which a rule fails, which are left out too.
    """
    names = called(log)
    keys = _keys(names, failures)
    of: defaultdict[str, list[Logged]] = defaultdict(list)
    said: dict[str, str] = {}
    for topic, there in standing(log, as_of).items():
        if topic in keys:
            # Two may bear one name, where nobody could name the first for a while.
            called_so = keys[topic]
            said[called_so] = names[topic]
            of[called_so] += _seen(there.values(), persona)
    found = [
        _in_short(said[one], there, as_of) for one, there in of.items() if any(each.text is not None for each in there)
    ]
    found.sort(key=lambda one: (-one.sentences, one.topic))
    spans = {one.span: one for there in of.values() for one in there if one.text is not None}
    whose = Counter(name for one in spans.values() for name in {one.agent, one.subject})
    personas = dict(sorted(whose.items(), key=lambda one: (-one[1], one[0]))[:most])
    return Rollups(namespace, tuple(found[:most]), personas, as_of, persona, more=len(found) > most)


def shown(
    namespace: str,
    topic: str,
    log: Sequence[Logged],
    *,
    as_of: int | None = None,
    persona: str | None = None,
    history: bool = False,
    most: int,
    failures: Failures | None = None,
) -> Rollup | None:
    """Returns the roll-up of one topic at a time with its latest `most` sentences, or None if no topic has that name.
    `failures`: takes the names on which a rule fails, by which nothing is called."""
    names = called(log)
    wanted = (failures or Failures()).answer("topics", (), None, key, topic)
    mine = {one for one, found in _keys(names, failures).items() if found == wanted}
    state = standing(log, as_of)
    there = [one for each in mine & state.keys() for one in _seen(state[each].values(), persona)]
    if not there:
        return None
    readable = sorted((one for one in there if one.text is not None), key=lambda one: (one.when(as_of), one.span))
    told = [one for one in log if one.patch.topic in mine and (as_of is None or one.as_of <= as_of)] if history else []
    return Rollup(
        namespace,
        names[max(mine & state.keys(), key=lambda one: (len(state[one]), one))],
        tuple(_sentence(one, as_of) for one in readable[-most:]),
        unreadable=len(there) - len(readable),
        as_of=as_of,
        persona=persona,
        history=tuple(map(_patch, _seen(told, persona))),
        more=max(0, len(readable) - most),
        summed_up=sum(one.text is None and one.summed_up for one in there),
    )


def _keys(names: Mapping[str, str], failures: Failures | None) -> dict[str, str]:
    """Returns the search keys of roll-ups, by their ids."""
    failures = failures or Failures()
    found = ((topic, failures.answer("topics", [topic], None, key, name)) for topic, name in names.items())
    return {topic: called_so for topic, called_so in found if called_so is not None}


def _seen(log: Iterable[Logged], persona: str | None) -> list[Logged]:
    """Returns the sentences that no gate hides, about a persona or by it."""
    return [one for one in log if not one.withheld and persona in (None, one.agent, one.subject)]


def _in_short(name: str, there: Sequence[Logged], as_of: int | None) -> RollupTopic:
    read = [one for one in there if one.text is not None]
    first, last = min(one.patch.at for one in read), max(one.when(as_of)[0] for one in read)
    return RollupTopic(name, len(read), len(there) - len(read), first, max(first, last))


def _sentence(one: Logged, as_of: int | None) -> RollupSentence:
    of = one.patch
    return RollupSentence(
        one.text or "", of.memory_id, of.start, of.end, of.section, one.when(as_of)[0], one.agent, one.subject,
        one.as_of, one.via or of.memory_id,
    )  # fmt: skip


def _patch(one: Logged) -> RollupPatch:
    of = one.patch
    return RollupPatch(one.seq, one.as_of, of.op, of.memory_id, of.start, of.end, one.text, of.replaces)
