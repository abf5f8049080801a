"""An account of a memory for people who know no formula: what `explain` answers.

First the outcome, why, and what comes next (`fates`); then what can be done, what happened in order of time, and what
else there is to know. `telling` has the same with all numbers and proofs. It holds no content but what it is given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from memquorum.core import labelling, rehearsal
from memquorum.core.accounts import fates, plainly
from memquorum.core.accounts.explain import Account, Birth
from memquorum.core.accounts.holding import Holds
from memquorum.core.accounts.plainly import counted, minute, named, sentence
from memquorum.core.accounts.telling import ENDED, SECTIONS, denied, folded, times, voting
from memquorum.core.consolidation import rendering
from memquorum.core.experience import abstract
from memquorum.core.facets import DIFFUSION
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.slots import CLEARINGS
from memquorum.core.labelling import Labels
from memquorum.core.policy import PPM
from memquorum.core.records import Link, Summary
from memquorum.core.showing.plurals import many
from memquorum.core.tiers import ALIVE, GONE, SUPERSEDED
from memquorum.core.vote.kinds import CONTESTS, KINDS

_USES_SHOWN, _NAMED = 5, 3
_LOW, _HIGH = PPM // 3, 2 * PPM // 3


def lines(account: Account, genesis: Genesis, winner: str | None = None, text: str | None = None) -> list[str]:
    """The account, a sentence or two a line; lines of detail are indented. `genesis`: the configuration that it was
    made with. `winner`: the text of what took its place, `text`: of a summary itself, for whom may read it."""
    return list(_lines(account, genesis, winner, text))


def _lines(account: Account, genesis: Genesis, winner: str | None, text: str | None) -> Iterator[str]:
    yield from fates.lines(account, genesis)
    can = fates.doing(account)
    yield ""
    yield "What you can do"
    width = max(len(what) for what, _ in can) if can else 0
    for what, command in can:
        yield f"  {what:<{width}}  {command}" if command else f"  {what}"
    yield ""
    yield from _past(account, genesis, winner, text)
    yield ""
    yield f"This is memory {account.memory_id} in the namespace {account.namespace!r}."


def history(account: Account, genesis: Genesis) -> list[str]:
    """The account for the person that a memory concerns: its state and the reason, its scores, its past, and further
    facts, without the commands that change it."""
    return [*fates.lines(account, genesis), *_scored(account), "", *_past(account, genesis, None, None)]


def _scored(account: Account) -> Iterator[str]:
    born = account.born
    if born is None or not born.signals:
        return
    of = named([f"{one.name} {one.value_ppm / PPM:.2f}" for one in born.signals])
    yield f"Its importance was scored {born.salience_ppm / PPM:.2f} when it came in, of {of}, each between 0 and 1."


def _past(account: Account, genesis: Genesis, winner: str | None, text: str | None) -> Iterator[str]:
    yield "What happened"
    yield from (f"  {minute(at)}  {said}" for at, said in _history(account, genesis))
    yield from _unproven(account)
    if more := list(_more(account, winner, text)):
        yield ""
        yield "More about it"
        yield from (f"  {line}" for line in more)


# What happened --------------------------------------------------------------------------------------------------------


def _history(account: Account, genesis: Genesis) -> list[tuple[int, str]]:
    """Tells what happened to it, in order of time; its arrival is first."""
    told = [
        *_used(account), *_votes(account, genesis), *_gave_way(account), *_looked_at(account), *_ended(account),
    ]  # fmt: skip
    return [*_came(account), *sorted(told, key=lambda one: one[0])]


def _came(account: Account) -> Iterator[tuple[int, str]]:
    born = account.born
    if born is None:
        return
    about = f" about {born.subject}" if born.subject not in ("", born.agent) else ""
    where = "".join(f", {name} {value}" for name, value in (("session", born.session), ("role", born.role)) if value)
    if born.outcome in CLEARINGS:
        yield born.occurred_at, f"{born.agent} asked to clear something{where}."
    elif born.task is not None:
        by = f", says {born.task.said_by}" if born.task.said_by else ""
        yield born.occurred_at, f"{born.agent} finished a task{about}{where}, which {ENDED[born.task.outcome]}{by}."
    elif born.summary is not None:
        what = "the general form of a memory" if abstract.made(born.summary) else "a summary"
        own = born.summary.session and not abstract.made(born.summary)
        session = f" of session {born.summary.session}" if own else ""
        yield born.occurred_at, f"{what.capitalize()}{session} was made of {many(len(born.derives_from), 'memory')}."
    else:
        again = " once more, after it had failed," if born.retry else ""
        yield born.occurred_at, f"{born.agent} recorded it{again}{about}{where}: {many(born.characters, 'character')}."


def _used(account: Account) -> Iterator[tuple[int, str]]:
    for use in account.uses[-_USES_SHOWN:]:
        yield use.at, f"{use.agent} {'read it' if use.how == 'accessed' else 'said it again'}."


def _votes(account: Account, genesis: Genesis) -> Iterator[tuple[int, str]]:
    for vote, before in folded(account.votes):
        if vote.complaint is not None:
            continue
        done = plainly.passed(vote)
        told = plainly.agreed(vote) if done else plainly.stopped(vote)
        was = "" if done else ", and it was not done"
        because = plainly.reason(vote, genesis)
        why = f" {sentence(because)}" if because and vote is not fates.deciding(account) else ""
        again = f" So it had gone {times(len(before))} before." if before else ""
        yield vote.as_of, f"The members voted on {plainly.of(KINDS[vote.kind]).asked}{was}: {told}.{why}{again}"
        if others := [one for one in vote.memory_ids if one != account.memory_id]:
            with_it = named(others) if len(others) <= _NAMED else f"{counted(len(others))} other memories"
            yield vote.as_of, f"That vote was about {with_it} as well."


def _gave_way(account: Account) -> Iterator[tuple[int, str]]:
    for gave in account.superseded:
        if gave.epoch is None:
            how = "cleared it" if gave.cleared else "took its place, as it was saved under the same key"
            yield gave.at, f"{gave.by} {how}."
        if gave.back_at is not None and gave.epoch is None:
            yield gave.back_at, "It came back, by a vote of the members."


def _looked_at(account: Account) -> Iterator[tuple[int, str]]:
    for one in account.rehearsals:
        found = rehearsal.WHY[rehearsal.Verdict(one.verdict)] + (f", {one.witness}" if one.witness else "")
        change = "matters more" if one.after_ppm > one.before_ppm else "matters less"
        then = "" if one.after_ppm == one.before_ppm else f" It {change} from then on."
        yield one.at, f"A check of old memories found: {found}.{then}"
    for sent in account.sent:
        yield sent.at, f"Its text was sent to {sent.recipient} to be summed up."


def _ended(account: Account) -> Iterator[tuple[int, str]]:
    for by in account.protected:
        yield by.accepted_at, f"{by.ordered_by} asked for it to be kept."
    if account.erased is not None:
        yield account.erased.accepted_at, f"{account.erased.ordered_by} had it erased; its key was destroyed at once."
    elif account.tier == GONE and account.changed is not None:
        yield account.changed, "Its key was destroyed, so nobody can read it any more."


def _unproven(account: Account) -> Iterator[str]:
    for vote in account.votes:
        if vote.complaint is not None:
            yield f"  The record of a vote that ended as {vote.outcome} proves nothing: {vote.complaint}."


# More facts -----------------------------------------------------------------------------------------------------------


def _more(account: Account, winner: str | None, text: str | None) -> Iterator[str]:
    born = account.born
    if winner is not None:
        yield f"What took its place says: {winner}"
    if account.conflicts and account.tier in ALIVE:
        yield from _conflicts(account)
    if account.tier in (*ALIVE, SUPERSEDED) and not (account.uses or account.accesses or account.reinforced):
        yield "Nobody has read it or said it again so far."
    elif account.accesses or account.reinforced:
        counts = (("read", account.accesses), ("said again", account.reinforced))
        yield f"In all it was {named([f'{how} {times(count)}' for how, count in counts if count])}."
    if account.said_again_at is not None:
        yield f"Its agent said it again on {minute(account.said_again_at)}: in searches that counts as its time."
    if account.repetitions:
        yield f"It was published {times(account.repetitions)} more under the same event id, which changed nothing."
    if born is not None:
        yield from _filed(account, born)
        yield from _made(account, born, text)
    if account.holds is not None:
        yield from _limits(account.holds)
    for one in account.merged:
        who = {account.memory_id: "This"}.get(one.gone, one.gone)
        into = "this" if one.kept == account.memory_id else one.kept
        yield f"{who} was merged into {into}, which says the same{'' if one.rests else '; it came back since'}."


def _conflicts(account: Account) -> Iterator[str]:
    for one in account.conflicts[:_NAMED]:
        mine = one.newer == account.memory_id
        other, at = (one.older, one.older_at) if mine else (one.newer, one.newer_at)
        who = "the same agent or source" if one.own else "another agent"
        voted = [v for v in account.votes if v.kind in CONTESTS.values() and other in v.memory_ids]
        asked = "members will vote on which stays" if one.stated else "nothing is taken away for words alone"
        asked = "members voted, and keep both" if voted else asked
        first = "this one" if one.first == account.memory_id else "that one"
        why = "it is promoted" if one.first == one.older else "it is newer"
        what = denied(one, account.memory_id)
        if not one.alive:
            yield f"{other} said otherwise{what} ({who}, {minute(at)}) and was forgotten since. Its mark stays."
            continue
        marked = ("overtakes" if mine else "is overtaken by") if one.own else ("disputes" if mine else "is disputed by")
        yield f"It {marked} {other}, which says otherwise{what} ({who}, {minute(at)})."
        yield f"  Both are in use, since {asked}."
        yield f"  Searches show {first} first, because {why}."
    if (more := len(account.conflicts) - _NAMED) > 0:
        yield f"{counted(more).capitalize()} more {'says' if more == 1 else 'say'} otherwise; --numbers names them."
    yield "To settle that, publish what holds with --explicit and --supersedes."


def _filed(account: Account, born: Birth) -> Iterator[str]:
    if born.source is not None:
        yield f"It comes from {born.source}."
    if account.path is not None:
        yield f"It is filed under {account.path}."
    if account.attributes is not None:
        told = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in account.attributes.items())
        yield f"Its attributes: {', '.join(told)}."
    slot = labelling.full(Labels(account.key, account.path))
    if born.slot is not None and born.outcome not in CLEARINGS:
        took = f", where it took the place of {named(born.superseded)}" if born.superseded else ""
        by = f", which the API key {born.granted} may take from others" if born.granted is not None else ""
        yield f"It was saved under {'a key' if slot is None else f'the key {slot}'}{by}{took}."
    if account.links:
        yield f"Its publisher links it: {', '.join(map(_linked, account.links))}."
    if born.nowhere:
        yield f"It named {', '.join(map(_linked, born.nowhere))}: no such memory was in use here then."


def _linked(link: Link) -> str:
    return f"{link.kind} {link.to or link.name or 'a name'}"


def _made(account: Account, born: Birth, text: str | None) -> Iterator[str]:
    if born.repeats is not None:
        yield f"It says again what {born.repeats} says."
    if born.summary is not None and abstract.made(born.summary):
        yield f"It is the general form of {named(born.derives_from)}, and experience alone has it."
    elif born.summary is not None:
        yield from _sentences(born.summary, account, text)
    elif born.derives_from:
        yield f"It was {'given' if born.task else 'made of'} {', '.join(born.derives_from)}."
    if born.stays:
        yield f"It leaves {', '.join(born.stays)}, which goes only if members vote for that."
    if wanted := [one for one in born.names if one not in born.unknown and one not in born.superseded]:
        yield f"Its agent wants it to take the place of {', '.join(wanted)}: {voting(account, len(wanted))}."
    if born.unknown and born.outcome == "stored":
        yield f"It also named {', '.join(born.unknown)}: no such memory was in use here then."
    if born.outcome in CLEARINGS and born.superseded:
        yield f"It took away {', '.join(born.superseded)}, which members can bring back by a vote."


def _sentences(summary: Summary, account: Account, text: str | None) -> Iterator[str]:
    """Each sentence of a summary, where its text is there to be read, and whom it is from."""
    said, words = list(rendering.grouped(summary.quotes)), rendering.sentences(text or "")
    if summary.renews is not None:
        yield f"It was made in the place of {summary.renews}, which was erased, of what that erasure left."
    yield f"Its {many(len(said), 'sentence')} {'is' if len(said) == 1 else 'are'} from:"
    for place, sources in enumerate(said, 1):
        of, first = SECTIONS.get(sources[0].section, sources[0].section), sources[0]
        how = "" if first.sentence is None else f" in the words of {summary.by}"
        words_of = f": {words[place - 1]}" if len(words) == len(said) else ""
        yield f"  {place}. {of}{how}{words_of}"
        yield from (f"     from {quote.memory_id}, said on {minute(quote.at)}" for quote in sources)
    for one in account.sources_sent:
        yield f"  {one.memory_id} was sent to {one.recipient} on {minute(one.at)}, to be summed up."


def _limits(held: Holds) -> Iterator[str]:
    """Yields lines on the limits of its use, if there are any."""
    if held.sensitivity_ppm:
        how = "slightly" if held.sensitivity_ppm <= _LOW else "fairly" if held.sensitivity_ppm < _HIGH else "very"
        said = "an order said so" if held.reordered else "its publisher said so"
        if held.suggested is not None and not held.reordered:
            kinds = held.suggested.kinds
            said = f"its text holds {named(kinds)}" if kinds else "its text was found to hold something private"
        yield f"It counts as {how} sensitive: {said}."
    if held.purposes is not None:
        only = [one for one in held.purposes if one != DIFFUSION]
        if only or not held.purposes:
            yield f"It may be used {'for ' + named(only) if only else 'for no purpose'} only."
        if DIFFUSION in held.purposes:
            yield "Its general form may be given in other namespaces."
    if held.jurisdictions:
        yield f"It is under the law of {named(held.jurisdictions)}."
    if held.stricter:
        yield "Its limits are as strict as those of what it was made of."
    if held.reordered:
        yield "An order changed what it may be used for."
