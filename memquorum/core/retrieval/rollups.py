"""Shows roll-ups to a reader: their state at a time, as far as it is readable and no gate hides it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from memquorum.core.api.answers import Rollup, RollupPatch, Rollups, RollupSentence, RollupTopic
from memquorum.core.consolidation.rollups import called, standing
from memquorum.core.contained import Failures
from memquorum.core.reading.topics import key
from memquorum.ports import Logged


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
