"""An account of a memory in words: what `explain`, the retrieval service and the demo's report print."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec import Struct

from memquorum.core import labelling, moments, rehearsal, triage
from memquorum.core.accounts import holding
from memquorum.core.accounts.explain import Account, Anew, Birth, Erasing, Merged, SourceSent, Superseded
from memquorum.core.accounts.votes import Vote
from memquorum.core.budgets.items import in_words
from memquorum.core.budgets.rules import WEIGHS
from memquorum.core.consolidation import rendering
from memquorum.core.consolidation.importance import EPISODE_HALF_LIFE_MS, SUMMARY_HALF_LIFE_MS
from memquorum.core.decay import Profile, of_tier
from memquorum.core.experience import abstract, texts
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.anew import WORDS
from memquorum.core.journal.decisions import CAP
from memquorum.core.journal.resting import waits_for_use
from memquorum.core.journal.slots import CLEARINGS, EMPTY
from memquorum.core.labelling import Labels
from memquorum.core.orders import uses
from memquorum.core.orders.protect import GOAL, HOLD, PIN
from memquorum.core.orders.restore import ROLLBACK
from memquorum.core.policy import PPM, Policy, number, share
from memquorum.core.records import Link, Lot, Summary, Weighed
from memquorum.core.retrieval.conflicts import Pair
from memquorum.core.salience import FAILED, UNREADABLE
from memquorum.core.showing.plurals import many
from memquorum.core.tiers import ALIVE, DRAFT, FINISHED, GONE, SEALED, SUPERSEDED
from memquorum.core.vote.kinds import CONTESTS, KINDS, LETS_GO, MAKES_ROOM, RAISES
from memquorum.core.vote.kinds.kind import RETAINED, UNKNOWN, Kind, opinion_in_words

_USES_SHOWN = 5

SECTIONS = {"facts": "key fact", "decisions": "decision", "open": "open issue", "follow-ups": "follow-up"}
"""The word for one sentence of each section of a summary."""
_TRIGGER = {
    "interactions": "opened after enough interactions",
    "interval": "opened after the interval",
    "pressure": "opened under memory pressure",
    "triage": "opened for what had expired",
    "budget": "opened because a namespace held more tokens than its budget",
    "contradiction": "opened because a memory said otherwise than another",
    "anew": "opened for a summary that was made in the place of an erased one",
}
WHY = {
    "quorum": "enough members were for it",
    "too_few_votes": "too few members were for it",
    "too_little_weight": "enough members were for it, but their votes count for too little",
    "contradicted": "members whose votes count for half or more found it contradicted",
    CAP: "its namespace had lost as much as may go by then",
    RETAINED: "its namespace keeps what it has against every vote",
    UNKNOWN: "its shard does not know it",
} | {code: told for kind in reversed(list(KINDS.values())) for code, told in kind.words.why.items()}
"""The reasons for a proposal's outcome in words, by their codes, for any kind."""


ENDED = {texts.SUCCEEDED: "succeeded", texts.FAILED: "failed", texts.UNKNOWN: "ended"}
"""The word for each outcome of a task."""


def why(kind: Kind, code: str) -> str:
    """Returns in words why a proposal of this kind had its outcome."""
    return kind.words.why.get(code) or WHY.get(code, code)


class Opens(Struct, frozen=True):
    """The next epoch's time, by the shard's time `as_of`: at `at` at the latest, or so many interactions after it."""

    as_of: int
    at: int
    interactions: int


def lines(account: Account, genesis: Genesis, winner: str | None = None, text: str | None = None) -> list[str]:
    """The account, a sentence or two a line; lines of detail are indented by two or four blanks. `genesis`: the
    configuration that the account was made with. `winner`: the text of what took its place, `text`: of a summary
    itself, for whom may read it."""
    return list(_lines(account, genesis, winner, text))


def _lines(account: Account, genesis: Genesis, winner: str | None, text: str | None) -> Iterator[str]:
    yield f"Memory {account.memory_id} in {account.namespace!r}: {_headline(account)}"
    if account.born is not None:
        yield ""
        yield "Where it came from"
        yield from _born(account.born, account.shard, genesis.policy)
        slot = labelling.full(Labels(account.key, account.path))
        yield from _made(account, account.born, slot, text)
        yield from _filed(account)
        if account.links:
            yield f"  Its publisher links it: {', '.join(map(_linked, account.links))}."
        if account.born.nowhere:
            named = ", ".join(map(_linked, account.born.nowhere))
            yield f"  It named links that lead nowhere, {named}: no such memory was alive in this namespace then."
        if account.holds is not None:
            yield from holding.lines(account.holds, account.tier)
        for encoding in account.encodings:
            yield f"  Encoded anew by {encoding.encoder}: entry {encoding.journal_seq} of the journal."
    if account.tier != "never stored":
        yield ""
        yield "Its use"
        yield from _uses(account)
        yield from _rehearsals(account)
    if account.conflicts and account.tier in ALIVE:
        yield ""
        yield "What contradicts it"
        yield from _conflicts(account)
    for vote, before in folded(account.votes):
        yield ""
        yield from voted(vote, account.memory_id, genesis, before)
    yield ""
    yield f"Now, {moment(account.as_of)} by the clock of shard {account.shard}, which its ticks move"
    if account.policy_version:
        yield f"  The members judge by policy {account.policy_version}, which they agreed on: `… admin policy show`."
    yield from _now(account, genesis.policy, winner)


def _linked(link: Link) -> str:
    """Describes a link; for a link to a name that the reader may not see, only that it exists."""
    return f"{link.kind} {link.to or link.name or 'a name'}"


def _headline(account: Account) -> str:
    outcome = account.born.outcome if account.born else ""
    if account.erased is not None:
        return "erased, its key destroyed: what is sealed stays sealed"
    if account.tier == SEALED and (by := _stands_for(account)) is not None:
        if by.tier == GONE:
            return (
                f"sealed, since {by.memory_id} said what was to be kept of it, which was erased; its key still exists"
            )
        return f"sealed, since {by.memory_id} says what is to be kept of it; its key still exists"
    return {
        "short-term": "alive, in short-term memory",
        "long-term": "alive, promoted to long-term memory",
        "draft": "made of others, and waits for its vote; never served, and its key exists until its grace time ends",
        "finished": "a finished task: no search finds it, and trials of what helps in tasks read it",
        "sealed": "forgotten and sealed; its key still exists",
        "superseded": f"superseded: {_took(account)}, and its key is kept",
        "gone": "forgotten, its key destroyed: what is sealed stays sealed",
    }.get(account.tier, f"never stored ({outcome.replace('_', ' ')})")


def _took(account: Account) -> str:
    cleared = bool(account.superseded) and account.superseded[-1].cleared
    if cleared:
        return "its slot was cleared, or it was taken back; never served"
    return "another memory took its place; only reads of the past may show it"


def _stands_for(account: Account) -> Anew | None:
    """The summary that says what is to be kept of a memory, or the one that this became one with since."""
    stands, into = account.told_by, {one.gone: one for one in account.merged if one.rests}
    while stands is not None and stands.memory_id in into:
        one = into.pop(stands.memory_id)
        stands = Anew(one.kept, one.tier)
    return stands


def _born(born: Birth, shard: int, policy: Policy) -> Iterator[str]:
    about = "" if born.subject in ("", born.agent) else f", about {born.subject}"
    told = "".join(f", {name} {value}" for name, value in (("session", born.session), ("role", born.role)) if value)
    yield f"  {born.agent} recorded it at {moment(born.occurred_at)}{told}{about}: {born.characters} characters."
    yield (
        f"  Event {born.event_id}; entry {born.journal_seq} of the journal of shard {shard}, "
        f"offset {born.accepted_offset} of its accepted stream."
    )
    if born.retry:
        yield "  It had failed before, and was published again."
    if born.outcome == FAILED:
        yield (
            f"  It failed: it could not be encoded or judged ({born.encoder}), so nothing is said of its worth. "
            "Its dead letter and its key are kept; `memquorum admin dlq replay --reason failed --go` tries it again."
        )
        return
    if born.outcome == UNREADABLE:
        yield "  It could not be opened any more: its key was destroyed, or what was sealed has been altered."
        return
    if abstract.made(born.summary):
        yield f"  It is the general form of {', '.join(born.derives_from)}, by {born.summary.by}."
        yield "  Experience alone has it."
        yield f"  Encoded by {born.encoder}."
        return
    if born.summary is not None:
        session = f"session {born.summary.session}" if born.summary.session else "memories beyond a budget"
        yield f"  It is a summary of {session}, made by {born.summary.by}."
        yield f"  Importance {share(born.salience_ppm)}: how late the session was, how often it was used, how it ended."
        yield f"  Encoded by {born.encoder}."
        return
    if born.task is not None:
        by = f", says {born.task.said_by}" if born.task.said_by else ", as nobody says how"
        yield f"  It is a finished task, which {ENDED[born.task.outcome]}{by}. Encoded by {born.encoder}."
        return
    if born.outcome in CLEARINGS:
        yield from _cleared(born)
        return
    limit = policy.salience.encode_threshold
    outcome = "reinforced" if born.outcome == "stored" and born.repeats is not None else born.outcome
    verdict = {
        "stored": "counts for nothing here: its agent wanted it remembered, so it was stored"
        if born.explicit
        else f"reached {number(limit)}, so it was stored",
        "reinforced": "said what another memory said, which was gone or has other limits, subject or source: stored",
        "below_threshold": "counts for nothing: it asked not to be remembered, so it was not stored"
        if all(signal.name != "novelty" for signal in born.signals)
        else f"did not open the gates or reach {number(limit)}, so it was dropped",
    }.get(outcome, f"could not be stored: {born.outcome}")
    early = ", and salient enough to be proposed early for promotion" if born.early and born.outcome == "stored" else ""
    yield f"  Salience {share(born.salience_ppm)}{_sum(born)} {verdict}{early}."
    if born.worth_ppm is not None and born.rank_ppm is not None:
        kind, _, author = born.like.partition("/")
        by = "an agent" if author == "agent" else f"a {author}"
        yield (
            f"  How rare its words are adds up to a worth of {share(born.worth_ppm)}. About "
            f"{born.rank_ppm * 100 // PPM} of 100 texts accepted before as {kind} from {by}, ordinary ones among them, "
            f"were worth less: its rank is {share(born.rank_ppm)}."
        )
    if born.learned_by is not None:
        yield (
            f"  How likely it was to be used stands for that rank, as what was used before had taught: coefficients "
            f"{born.learned_by[:12]}, which the members had decided on."
        )
    if born.uncertainty_ppm is not None:
        yield f"  Its publisher's uncertainty was {share(born.uncertainty_ppm)}."
    yield f"  Encoded by {born.encoder}."


def _cleared(born: Birth) -> Iterator[str]:
    """Tells what a write of nothing did to its slot."""
    yield f"  It is a write of nothing, which {'clears a slot' if born.slot else 'takes back what it names'}."
    if born.superseded:
        yield f"  It took away {', '.join(born.superseded)}: not served any more, and a vote can restore it."
    if born.stays:
        yield f"  It leaves {', '.join(born.stays)}, which goes only as members vote."
    if born.outcome == EMPTY:
        yield "  Nothing was there."


def _filed(account: Account) -> Iterator[str]:
    """Tells where it is filed, while its content is there."""
    if account.path is not None:
        yield f"  It is filed under {account.path}."
    if account.attributes is not None:
        told = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in account.attributes.items())
        yield f"  Its attributes: {', '.join(told)}."


def voting(account: Account, names: int) -> str:
    """Says whether members vote, or voted, on the memories that a memory names as replaced. A vote about its own end
    is told of beside what took its place."""
    votes = sum(one.kind in CONTESTS.values() for one in account.votes) - len(account.superseded)
    return "members voted on that" if votes >= names else "members vote on that"


def _made(account: Account, born: Birth, slot: str | None, text: str | None) -> Iterator[str]:
    if born.source is not None:
        yield f"  It comes from {born.source}."
    if born.repeats is not None:
        yield f"  It says again what {born.repeats} says."
    if born.summary is not None and not abstract.made(born.summary):
        yield from _sentences(born.summary, account.sources_sent, text)
        if born.summary.renews is not None:
            yield f"  It was made in the place of {born.summary.renews}, which was erased, of what that erasure left."
        yield "  See `memquorum trace` and `memquorum explain` of a source for its way and its votes."
    elif born.derives_from:
        yield f"  It was {'given' if born.task else 'made of'} {', '.join(born.derives_from)}."
    if born.outcome in CLEARINGS:
        return
    if born.slot is not None:
        took = f", where it took the place of {', '.join(born.superseded)}" if born.superseded else ""
        by = f", which the API key {born.granted} may take from others" if born.granted is not None else ""
        named = "a slot" if slot is None else f"the slot {slot}"
        yield f"  It fills {named}{by}{took}."
    if voted := [i for i in born.names if i not in born.unknown and i not in born.superseded]:
        yield f"  Its agent wants it to take the place of {', '.join(voted)}: {voting(account, len(voted))}."
    if born.unknown and born.outcome == "stored":
        yield f"  It also named {', '.join(born.unknown)}: no such memory was alive in this namespace then."


def _sentences(summary: Summary, sent: Sequence[SourceSent], text: str | None) -> Iterator[str]:
    """Tells of each sentence of a summary what it says, where its text is there to be read, what it is from, and to
    whom that was sent."""
    said, words = list(rendering.grouped(summary.quotes)), rendering.sentences(text or "")
    yield f"  Its {many(len(said), 'sentence')} {'is' if len(said) == 1 else 'are'} from:"
    for place, sources in enumerate(said, 1):
        of, first = SECTIONS.get(sources[0].section, sources[0].section), sources[0]
        how = "" if first.sentence is None else f" in the words of {summary.by}"
        head = f"    {place}. {of}{how}: "
        if len(words) == len(said):
            yield f"{head}{words[place - 1]}"
            head = "       "
        for quote in sources:
            where = f"characters {quote.start} to {quote.end} of {quote.memory_id}, said at {moment(quote.at)}"
            to = ", ".join(f"{one.recipient} at {moment(one.at)}" for one in sent if one.memory_id == quote.memory_id)
            lead = head if quote is first else "       and "
            yield f"{lead}{where}{f', sent to {to}' if to else ''}"
    quoted = {quote.memory_id for quote in summary.quotes}
    for one in sent:
        if one.memory_id not in quoted:
            yield f"  Of {one.memory_id} it says nothing; that was sent to {one.recipient} at {moment(one.at)}."


def _sum(born: Birth) -> str:
    if not born.signals:
        return ""
    parts = " + ".join(f"{number(s.weight)}·{s.name} {share(s.value_ppm)}" for s in born.signals)
    whole = sum(s.weight for s in born.signals)
    # Absent signals are left out and the remaining weights renormalised.
    return f" = {parts}" if abs(whole - 1) < 1e-9 else f" = ({parts}) / {number(whole)}"


def _uses(account: Account) -> Iterator[str]:
    if not account.uses and not account.accesses and not account.reinforced:
        yield "  Never read, never said again."
        return
    read = f"Read {times(account.accesses)}" if account.accesses else "Never read"
    yield f"  {read}, {'said again ' + times(account.reinforced) if account.reinforced else 'never said again'}."
    if account.said_again_at is not None:
        yield f"  Its agent said it again at {moment(account.said_again_at)}: that is its time in reads."
    shown = account.uses[-_USES_SHOWN:]
    if len(shown) < len(account.uses):
        yield f"  The latest {len(shown)}:"
    for use in shown:
        yield f"    {moment(use.at)}  {'read' if use.how == 'accessed' else 'said again'} by {use.agent}"
    if account.repetitions:
        yield f"  Its event came {times(account.repetitions)} more and changed nothing."


def _rehearsals(account: Account) -> Iterator[str]:
    """Tells what rehearsals found of it, of the latest each with what followed."""
    if not account.rehearsals and account.rehearsed_at is None:
        return
    held = f"Rehearsals found {times(account.replays)} that it holds and is used"
    doubted = f", and {times(account.doubts)} in a row since that it does not hold" if account.doubts else ""
    if account.replays or account.doubts:
        yield f"  {held if account.replays else 'No rehearsal found that it holds and is used'}{doubted}."
    for one in account.rehearsals:
        why = rehearsal.WHY[rehearsal.Verdict(one.verdict)] + (f": {one.witness}" if one.witness else "")
        yield f"    {moment(one.at)}  {why}; salience {share(one.before_ppm)} became {share(one.after_ppm)}"


_COMPARED = "a model found it so, which marks it and takes neither away; who means it names the other in supersedes"
_INFERRED = (
    "that follows from the words alone, which by default takes neither away; who means it names the other in supersedes"
)


def _conflicts(account: Account) -> Iterator[str]:
    """Tells what else says otherwise, on purpose or as was inferred from the words, and which statements it denies."""
    for one in account.conflicts:
        mine, other = one.newer == account.memory_id, one.older if one.newer == account.memory_id else one.newer
        when = f"{'before' if mine else 'since'}, at {moment(one.older_at if mine else one.newer_at)}"
        who = "the same agent or source" if one.own else "another agent"
        what = denied(one, account.memory_id)
        if not one.alive:
            yield f"  {other} said otherwise{what}: {who} said it {when}."
            yield "    It was forgotten, and is served no more; its mark stays."
            continue
        yield f"  {other} says otherwise{what}: {who} said it {when}."
        first = "this one" if one.first == account.memory_id else "that one"
        why = "is promoted" if one.first == one.older else "is newer"
        voted = [v.epoch for v in account.votes if v.kind in CONTESTS.values() and other in v.memory_ids]
        found = _COMPARED if one.compared else _INFERRED
        asked = "members vote on it soon" if one.stated else found
        asked = f"members voted on it in epoch {voted[-1]}, and keep both" if voted else asked
        if not mine and account.born is not None and account.born.summary is not None:
            asked = "a summary is not superseded, or all else that it says would go"
        meanwhile = "Meanwhile " if one.stated else ""
        told = f"{meanwhile}{first} is served first, for it {why}."
        yield f"    Both are alive: {asked}. {told[:1].upper()}{told[1:]}"


def denied(one: Pair, memory_id: str) -> str:
    """Names the statements of the older of two memories that the newer one denies, as the end of "says otherwise"."""
    if not one.numbers:
        return ""
    numbers = ", ".join(map(str, one.numbers))
    whose = "this" if one.older == memory_id else "that"
    return f" than {'statements' if len(one.numbers) > 1 else 'statement'} {numbers} of {whose}"


def folded(votes: Sequence[Vote]) -> Iterator[tuple[Vote, list[int]]]:
    """The votes in their order, of those that ended alike the last one alone, with the epochs of the others."""
    alike: dict[object, list[Vote]] = {}
    for vote in votes:
        # A certificate that proves nothing is told for itself.
        same = (vote.kind, vote.memory_ids, vote.proposed_because, vote.outcome, vote.reason, vote.tallied_because)
        alike.setdefault(vote.epoch if vote.complaint is not None else same, []).append(vote)
    last = sorted(alike.values(), key=lambda some: some[-1].journal_seq)
    return ((some[-1], [one.epoch for one in some[:-1]]) for some in last)


def voted(vote: Vote, memory_id: str, genesis: Genesis, before: Sequence[int] = ()) -> Iterator[str]:
    """A vote as it went for one of its memories; the first line says when and how it ended. `genesis`: as of `lines`.
    `before`: the epochs that ended alike."""
    where = f"Epoch {vote.epoch} of shard {vote.shard}"
    if vote.complaint is not None:
        yield f"{where}: {vote.outcome}, but the certificate proves nothing: {vote.complaint}"
        return
    kind = KINDS[vote.kind]
    ended = kind.ended(vote.outcome, vote.memory_ids, memory_id)
    yield f"{where}, {moment(vote.as_of)}: vote to {kind.words.aim}. Outcome: {ended}"
    yield f"  Proposed {proposed(vote)}; the epoch was {_trigger(vote.trigger)}."
    if vote.weighed is not None:
        yield from _weighed(vote.weighed)
    if before:
        yield f"  Proposed so in {_epochs(before)} too, with the same outcome for the same reason."
    if kind.words.question is not None:
        first, *others = vote.memory_ids
        yield f"  {kind.words.question.format(first=first, others=', '.join(others))}."
    by = genesis.of(vote.config) or genesis
    if by.policy_version:
        yield f"  Judged by policy {by.policy_version}."
    yield from _opinions(vote, kind, by.policy)
    yield (
        f"  {vote.yes} of {vote.members} members are for it, {vote.quorum} are needed; their weight is "
        f"{share(vote.weight_ppm)} of {share(vote.total_ppm)}, {share(vote.needed_ppm)} is needed."
    )
    yield f"  {vote.tallied.capitalize()}: {why(kind, vote.tallied_because)}."
    if vote.outcome != vote.tallied:
        yield f"  {vote.outcome.capitalize()}: {why(kind, vote.reason)}."
    if vote.confidence_ppm is not None and vote.outcome == kind.outcome:
        yield (
            f"  Its confidence from then on: {share(vote.confidence_ppm)}, the {_nth(vote.quorum)} best score of those "
            "who were for it."
        )
    proof = vote.certificate
    if proof is not None:
        yield (
            f"  Certificate: proposed by member {proof.primary} (view {proof.view}, sequence {proof.seq}) with the "
            f"ballots of {_members(proof.ballots)}; committed by {_members(proof.commits)}. All signatures hold."
        )
        yield f"  Proposal {proof.digest[:16]}…; entry {vote.journal_seq} of the journal."


def proposed(vote: Vote) -> str:
    """Returns the reason for the proposal in words: 'because it had decayed'."""
    told = KINDS[vote.kind].words.proposed.get(vote.proposed_because, vote.proposed_because)
    return told.replace("somebody", vote.asked_by) if vote.asked_by else told


def _weighed(told: Weighed) -> Iterator[str]:
    """Tells how a budget's policy weighed it, which is the nominator's word."""
    by = f"policy {told.version}" if told.version else "the genesis file's policy"
    yield (
        f"  Its namespace held {told.held:,} tokens of {told.budget:,}; by {told.policy} of {by} it was the next "
        f"to go, with its {told.tokens:,} tokens: {told.why}."
    )
    if told.lot is not None:
        yield from _lot(told.lot)
    if told.policy not in WEIGHS:
        return
    if told.net_ppm is None or told.score is None or told.sensitivity_ppm is None:
        yield "  Its features and its score are withheld: this policy draws among near-ties, of which they would tell."
        return
    features, scored = in_words(told.features, told.net_ppm, told.score)
    yield f"  The nominator weighed {features}; sensitivity {share(told.sensitivity_ppm)}; score {scored}."


def _lot(lot: Lot) -> Iterator[str]:
    """Tells how a near-tie was drawn, or why it was not."""
    if lot.charged:
        subjects = len(lot.charged)
        who = "subject pays" if subjects == 1 else "subjects pay"
        yield f"  It was drawn among {lot.among} memories that score alike; {subjects} {who} for that."
    if lot.refused:
        be = "is" if lot.refused == 1 else "are"
        yield (
            f"  {lot.refused} of what scores alike {be} drawn no more: draws have cost their subjects what they may"
            + ("." if lot.charged else ". So nothing was drawn, and it was the next in order.")
        )


def _trigger(trigger: str) -> str:
    what, _, name = trigger.partition("/")
    if what not in ("restore", "forget"):
        return _TRIGGER.get(trigger, trigger)
    return "opened by a use that came after the forgetting" if uses.is_one(name) else f"opened by request {name}"


def _opinions(vote: Vote, kind: Kind, policy: Policy) -> Iterator[str]:
    profiles = {o.profile for o in vote.opinions}
    alike = next(iter(profiles)) if len(profiles) == 1 else None
    if alike is not None:
        yield f"  Decay: {_decay(alike, kind.scaled(policy))}."
    by_words: dict[str, list[str]] = {}
    for opinion in vote.opinions:
        own = ""
        if opinion.profile is not None and alike is None:
            own = f"decay {share(opinion.profile.decay_ppm)} after {span(opinion.profile.age_ms)}"
            own += f"{_disagreement(opinion.profile)}; "
        said = opinion_in_words(kind, opinion.terms, (opinion.yes, opinion.score_ppm), policy)
        by_words.setdefault(f"{own}{said}", []).append(f"{opinion.name} (weight {share(opinion.voice_ppm)})")
    for words, members in by_words.items():
        yield f"    {', '.join(members)}: {words}"


def _decay(profile: Profile, policy: Policy) -> str:
    """D = Σ γ·exp(-t / S) with its numbers, and what that says."""
    parts = " + ".join(
        f"{number(weight)}·{share(part)} ({span(round(scale * 1000))})"
        for weight, scale, part in zip(policy.decay.weights, policy.decay.scales_s, profile.scales_ppm, strict=True)
    )
    faded = profile.decay_ppm < policy.decay.delta * PPM
    return (
        f"{span(profile.age_ms)} after its last use D = {parts} = {share(profile.decay_ppm)} {'<' if faded else '≥'} "
        f"δ {number(policy.decay.delta)}: it has {'decayed' if faded else 'not decayed'}{_disagreement(profile)}"
    )


def _triage(account: Account, policy: Policy) -> Iterator[str]:
    """DecayScore = salience·e^(−λ·h)·(1 + log₁₀(1 + replays)) with its numbers, beside θ_expire."""
    score, salience, profile = account.decay_score_ppm, account.salience_ppm, account.profile
    if score is None or salience is None or profile is None:
        return
    rate, least = share(triage.rate_ppm(salience, policy)), policy.triage.expire_ppm
    rehearsed = f"·(1 + log₁₀ {1 + account.replays})" if account.replays else ""
    yield (
        f"  Its decay score is {share(salience)}·e^(−{rate}·{number(profile.age_ms / triage.HOUR_MS)} h){rehearsed} = "
        f"{share(score)} {'<' if score < least else '≥'} θ {share(least)}: it has "
        f"{'expired' if score < least else 'not expired'}."
    )


def _disagreement(profile: Profile) -> str:
    """Tells where short scales call a memory old that long ones call young."""
    told = f", though the scales disagree about that (σ² {share(profile.variance_ppm)})"
    return told if profile.ambiguous else ""


def _importance(account: Account) -> Iterator[str]:
    """Yields a line on a memory's current importance."""
    born, found, left = account.born, account.importance_ppm, account.weight_ppm
    if born is not None and found is not None and left is not None:
        of, half_life = ("a summary", SUMMARY_HALF_LIFE_MS) if born.summary else ("an episode", EPISODE_HALF_LIFE_MS)
        of = "a general form" if abstract.made(born.summary) else of
        yield f"  Its importance {share(found)} counts {share(left)} by now: {of}'s halves in {span(half_life)}."


def _anew(account: Account, fate: str | None) -> Iterator[str]:
    """Yields lines on the statements of others in a summary that was erased."""
    if fate is not None:
        yield f"  It was {WORDS.get(fate, fate)}."
    for one in account.renewed:
        now = {DRAFT: "which waits for its vote", GONE: "which is gone too"}.get(one.tier, f"which is {one.tier}")
        yield f"  In its place {one.memory_id} was made of what was left, {now}."


def _erased(account: Account, order: Erasing) -> Iterator[str]:
    """The order that took it, why it was given, and what remains."""
    what = f"of {order.selector} {order.value!r}" if order.value else "of everything"
    why = f" ({order.reference})" if order.reference else ""
    yield f"  Erased by order {order.order_id}, {what}, which {order.ordered_by}"
    yield f"  gave{why}: at {moment(order.accepted_at)}, entry {order.journal_seq} of the journal. Its key went"
    yield f"  at once; remains may lie in files until {moment(order.residue_until)}."
    if order.rule is not None:
        yield f"  It carries out the rule of configuration {order.rule}: nobody was asked."
    yield from _anew(account, order.summary)


def _now(account: Account, policy: Policy, winner: str | None) -> Iterator[str]:
    for by in account.protected:
        why = f" ({by.reference})" if by.reference and not by.kind.startswith(GOAL) else ""
        how = {PIN: "Pinned", HOLD: "Held"}.get(by.kind, f"Needed by the goal {by.reference!r}, as ordered")
        yield f"  {how} by {by.ordered_by}{why}, order {by.order_id}, since"
        yield f"  {moment(by.accepted_at)}: {_kept(account, by.kind)} while that stands."
    yield from (
        f"  Its text was sent to {one.recipient}, to a model there, at {moment(one.at)}." for one in account.sent
    )
    yield from _places(account)
    if account.erased is not None:
        yield from _erased(account, account.erased)
    elif account.tier == "gone":
        yield f"  Its key was destroyed at {moment(account.changed or 0)}: no sealed copy can be opened any more."
    elif account.tier == "sealed":
        yield from _sealed(account)
    elif account.tier == SUPERSEDED:
        yield f"  Superseded since {moment(account.changed or 0)}: kept for audit, and a vote can restore it:"
        yield f"  memquorum restore -n {account.namespace} {account.memory_id}"
        if winner is not None:
            yield f"  What took its place says: {winner}"
    elif account.tier in (DRAFT, FINISHED):
        yield from _unserved(account)
    elif account.profile is None or account.due_at is None:
        yield "  There is nothing to forget; the key of its sealed copy is destroyed, as of what is forgotten, after"
        yield f"  {span(policy.forget.grace_ms)}."
    else:
        yield f"  {_decay(account.profile, of_tier(policy, account.tier))}."
        yield from _triage(account, policy)
        yield from _by_rule(account)
        if not account.protected:
            yield from _due(account, account.due_at)
            yield from _rests(account)
        yield from _importance(account)
        yield from _not_raised(account)
        if account.confidence_ppm is not None:
            yield f"  The confidence with which members promoted it is {share(account.confidence_ppm)}."
    for asked in account.waiting:
        why = f" ({asked.reference})" if asked.reference else ""
        what = "let it count in experience as it did before" if asked.action == ROLLBACK else f"{asked.action} it"
        yield f"  {asked.ordered_by} asked at {moment(asked.accepted_at)} to {what}{why}, request"
        yield f"  {asked.order_id}: nobody has voted on that yet."


def _unserved(account: Account) -> Iterator[str]:
    """Tells when members vote on a summary, and until when it waits for that; and what ends a finished task."""
    if account.tier == FINISHED:
        yield "  Nobody votes on it: only an erasure takes it, also one of what it was given."
        return
    again = " again" if account.votes else ""
    yield "  It waits for its vote, and is in no search until then. Members may vote on it"
    yield f"  {again.strip() + ' ' if again else ''}in epoch {opening(account.last_epoch + 1, _opens(account))}."
    yield f"  If they do not, it goes for good at {moment(account.sealed_until or 0)}."


def _opens(account: Account) -> Opens:
    return Opens(account.as_of, account.next_epoch_at, account.epoch_interactions)


def opening(epoch: int, opens: Opens) -> str:
    """An epoch, and when it opens if nothing opens it before."""
    if opens.at <= opens.as_of:
        return f"{epoch}, as soon as the shard's clock moves on"
    after = many(opens.interactions, "interaction")
    return (
        f"{epoch}, at {moment(opens.at)} at the latest, or {after} after the last one (episodes and uses in the shard)"
    )


def _places(account: Account) -> Iterator[str]:
    """Tells of what took its place, and of summaries that became one."""
    for gave in account.superseded:
        yield from _gave_way(gave)
    for one in account.merged:
        yield from _became_one(one, account)


def _gave_way(gave: Superseded) -> Iterator[str]:
    how = f"by the vote of epoch {gave.epoch}" if gave.epoch is not None else "when that filled its slot"
    back = (
        ""
        if gave.back_at is None
        else f"; it came back at {moment(gave.back_at)}, by the vote of epoch {gave.back_epoch}"
    )
    if gave.cleared:
        yield f"  A write of nothing, {gave.by}, took it away at {moment(gave.at)}{back}."
        return
    yield f"  {gave.by} took its place at {moment(gave.at)}, {how}{back}."


def _became_one(one: Merged, account: Account) -> Iterator[str]:
    """Tells of a merging on both sides, and for what the summary that went was made of."""
    back = "" if one.rests else "; it came back since"
    who = {account.memory_id: "This"}.get(one.gone, one.gone)
    into = "this" if one.kept == account.memory_id else one.kept
    yield f"  {who} was merged into {into}, which says the same: entry {one.journal_seq} of the journal{back}."


def _kept(account: Account, kind: str) -> str:
    return "its key is kept" if kind == HOLD and account.tier == "sealed" else "it is not forgotten"


def _sealed(account: Account) -> Iterator[str]:
    yield f"  Sealed since {moment(account.changed or 0)} and never served. `memquorum restore` asks members to bring"
    yield "  it back, as long as its key is there; that is destroyed from"
    held = any(by.kind == HOLD for by in account.protected)
    yield f"  {moment(account.sealed_until or 0)} on{', once nothing holds it' if held else ''}."


def _due(account: Account, due_at: int) -> Iterator[str]:
    kind = KINDS[LETS_GO[account.tier]]
    stopped = account.stopped_until if kind.capped else None
    if stopped is not None:
        yield "  Its namespace has lost as much as may be forgotten in a day: nothing more goes there before"
        yield f"  {moment(stopped)}."
    if account.erases_at is not None and account.erases_at <= max(due_at, account.as_of):
        return  # the rule comes first
    if due_at == account.aged_at:
        yield from _old(account, due_at, stopped is not None)
    elif due_at > account.as_of:
        why = ", by its decay score" if due_at == account.expires_at else ""
        yield f"  If nobody uses it, it may be proposed to be {kind.outcome} in {span(due_at - account.as_of)},"
        yield f"  from {moment(due_at)} on{why}."
    elif (rest := account.rest.get(kind.name, 0)) > account.last_epoch + 1:
        yield f"  It was kept lately, and is proposed again in epoch {rest} at the earliest; {_next(account)}."
    elif stopped is None:
        yield f"  It may be proposed to be {kind.outcome} in the next epoch; {_next(account)}."


def _old(account: Account, due_at: int, stopped: bool) -> Iterator[str]:
    """Yields lines on when the memory may be proposed to be forgotten for its age."""
    if due_at > account.as_of:
        yield f"  It may be proposed to be forgotten in {span(due_at - account.as_of)}, from {moment(due_at)} on,"
        yield "  used or not: then it is older than its type may become (budget.ttl_ms)."
    elif not stopped:
        yield "  It may be proposed to be forgotten in the next epoch, as it is older than its type may become"
        yield f"  (budget.ttl_ms); {_next(account)}."


def _by_rule(account: Account) -> Iterator[str]:
    """Tells when the rule of retention takes it."""
    at = account.erases_at
    if at is None:
        return
    when = (
        f"in {span(at - account.as_of)}, at {moment(at)}"
        if at > account.as_of
        else f"and that is due since {moment(at)}"
    )
    held = any(by.kind == HOLD for by in account.protected)
    yield f"  By the rule of retention (erase.after) it is erased, without a vote, {when}"
    yield f"  {'once nothing holds it' if held else 'whatever it is worth'}."


def _rests(account: Account) -> Iterator[str]:
    """Tells of a memory that members kept, or brought back, how long it does not have to go for want of room."""
    until = account.rest.get(MAKES_ROOM.get(account.tier, ""), 0)
    if until > account.last_epoch + 1:
        yield f"  For want of room it does not have to go before epoch {until}: members kept it, or brought it back."


def _next(account: Account) -> str:
    """When the shard votes again, where nothing makes it vote before."""
    at = account.next_epoch_at
    when = f"at {moment(at)} at the latest" if at > account.as_of else "as soon as its clock moves on"
    return f"the next is epoch {account.last_epoch + 1}, {when}"


def _not_raised(account: Account) -> Iterator[str]:
    """Tells of a memory that votes did not promote when it may be proposed again."""
    until = account.rest.get(RAISES.get(account.tier, ""), 0)
    if waits_for_use(until):
        yield "  Members found it contradicted too often to be promoted: it is not proposed again before it is used."
    elif until > account.last_epoch + 1:
        yield f"  It was not promoted lately: it may be proposed again in epoch {until}; {_next(account)}."


def moment(ms: int) -> str:
    """Milliseconds since the epoch as a date and time in UTC."""
    return moments.moment(ms)[:-5].replace("T", " ") + " UTC"


_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))


def span(ms: int) -> str:
    """A duration in its two largest units: '2 h 5 min'."""
    for at, (size, name) in enumerate(_UNITS[:-1]):
        if ms >= size:
            small, small_name = _UNITS[at + 1]
            rest = ms % size // small
            return f"{ms // size} {name}" + (f" {rest} {small_name}" if rest and small_name != "ms" else "")
    return f"{ms} ms"


def times(count: int) -> str:
    """'once', 'twice', '3 times'."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _epochs(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"epochs {', '.join(first)} and {last}" if first else f"epoch {last}"


def _members(numbers: tuple[int, ...]) -> str:
    return f"member{'s' if len(numbers) != 1 else ''} {', '.join(map(str, numbers))}"


def _nth(count: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(count, f"{count}th")
