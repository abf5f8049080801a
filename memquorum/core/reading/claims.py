"""Reads the claims of a text: its statements, each with its subject, its values and its other words (`conflict`).

English, by rules and word lists, without a parser: a statement's subject is what stands before its first verb. A
sentence that is not understood claims nothing.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.reading import claiming, wording
from memquorum.core.reading.agreement import DIGEST
from memquorum.core.reading.allowing import Allowing, allowing
from memquorum.core.reading.assertion import unreal
from memquorum.core.reading.lists import bag, either
from memquorum.core.reading.outline import LONGEST, Outline, halves, joined, outline
from memquorum.core.reading.parsing import Value, empty, light, named_month, parsed, past, stemmed, values_of, verb_of
from memquorum.core.reading.persons import resolved
from memquorum.core.reading.sentences import sentences
from memquorum.core.reading.talk import says_nothing

LONG = 4_000
"""Characters: of a longer text nothing is read."""
STATEMENTS = 24
_HALVES = LONGEST
"""Characters: of a longer sentence the halves are not told."""
_TOLD_OF_ONE = 3
"""So many sentences may be one correction: "I had the day wrong. It's the 4th."."""

# A run of blanks is tried once, where it begins.
_PARTS = re.compile(r";\s+|(?<!\s)\s+->->.*")
_CLAUSE = re.compile(
    r",\s+(?:and|but|so|which|because|while|although)\s+|,\s+(?=(?:can|could|do|how|what|is) |I\b|I')|(?<!\s)\s+but\s+"
)
_REASON = re.compile(
    r"(?<=\w),? (?:because|owing to|on account of|since (?:i|we|they|he|she|it)\b(?!'))\b[^?]*$", re.IGNORECASE
)
# "Please use tabs" tells to do what "Always use tabs" does; "use spaces, not tabs" says of which two.
_URGED = frozenset({"always", "please", "kindly", "just"})
_AND_NOT = re.compile(r",\s+not\s+(?P<gone>[a-z][a-z-]*)[\s.!]*$")
_LEAD = re.compile(
    rf"^(?:oh,? )?(?:{either('leads')}|(?:no,? )?wait|as of (?:today|now|\w+))\s*(?:[:,—-]|\.\.\.|…)+\s*|"
    r"^(?:from now on|(?:starting|beginning|effective|as of|from) (?:today|now|tomorrow|next \w+|\w+day))"
    r"\s*,?\s+(?!to\b|until\b|till\b|through\b|and\b|or\b|on\b)",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"(?:i|we) (?:was|were) (?:wrong|mistaken) about (.+?)\s*+[:,—-]++\s*+(?:it|he|she|they)\b(?:'s (?=\S))?(.+)",
    re.IGNORECASE,
)
_MAKE_THAT = re.compile(r"make (?:that|it) (.+?) for (.+?)\.?$", re.IGNORECASE)
_NO_LONGER = re.compile(
    r"(.+?) (is|are) (no longer|not(?! only\b| just\b| merely\b)) (.+?)(,? (?:any ?more|now))?,? "
    r"(?:(?:but|instead|(?:it|he|she|they) (?:is|are)|"
    r"(?:it|he|she)'s|they're) )+(.+)",
    re.IGNORECASE,
)
# "Boris says Ada lives in Linz, which is wrong"; "we moved to Postgres, except for billing".
_HELD_OFF = re.compile(
    r" (?:which|and that|but that) (?:is|was) (?:wrong|false|untrue|incorrect|not (?:true|right|correct))\b|\bexcept\b",
    re.IGNORECASE,
)
# "Carla is the new team lead": of a part that one has at a time its holder is the value.
_ROLE = re.compile(
    r"(?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?) (?:(?:is|will be) (?P<now>now )?(?P<the>the|our|my) |"
    r"(?P<became>became|has become|was made|took over as|takes over as) (?:(?:the|our|my) )?)(?P<new>new )?"
    rf"(?P<role>(?:[a-z-]+ ){{0,2}}(?:{either('roles')}|[Cc][Ee][Oo]|[Cc][Tt][Oo]|[Cc][Ff][Oo])"
    r"(?: (?:of|for|at|with|in) (?:the )?[\w -]{1,40}?)?)(?P<late> now)?[.!]?\Z"
)
# "My dog's name is Rex" says what "My dog is called Rex" does.
_CALLED = re.compile(r"(?P<whose>\w[\w '-]{1,60}?)'s name is (?P<now>now )?(?P<name>[A-Z][\w'-]+)(?=[.,;!]|\s*\Z)")
_STOPPED = re.compile(r"(.+?) no longer (.+?), (?:but|it|he|she|they) (?:now )?(.+)", re.IGNORECASE)
_LATER = re.compile(
    rf"^(?:{either('later')}|as of (?:today|now|this \w+|\w+day)|since \w+|"
    r"(?:from|starting|after) (?:\w+day|\w+ \d+|next \w+|\w+))[,:]?\s+(?=\w+ \w+ \w+)",
    re.IGNORECASE,
)
_MISTAKE = re.compile(rf"\b(?:{either('mistakes')})\b", re.I)


class Statement(Struct, frozen=True, dict=True, array_like=True):
    """One sentence or clause that says how something is."""

    subject: tuple[str, ...]
    """Stems of the words of the subject that mean something, in order; names as they are."""
    marks: frozenset[str]
    """Numbers, codes and names of the subject: with others it is about something else."""
    ways: frozenset[str]
    """Words of the subject such as "to" and "from": with others it is about something else."""
    verb: str
    copula: bool
    past: bool
    changes: bool
    """Whether the verb says that something was changed."""
    definite: bool
    understood: bool
    """Whether it has a verb."""
    first: bool
    """Whether "I" or "we" say it of themselves."""
    own: bool
    """Whether "I" or "we" occur at all."""
    values: tuple[Value, ...]
    rest: tuple[str, ...]
    """Stems of what else the predicate says, values left out."""
    negated: bool
    never: tuple[str, ...]
    """Stems of what it says never was, the verb first."""
    over: bool
    """Whether it says that something is off."""
    cue: bool
    dropped: frozenset[str]
    """Values that it says hold no more: "instead of 8080"."""
    led: bool
    """Whether words before it say that it corrects something: "Correction:"."""
    lasting: bool
    """Whether its verb says in the present, of one, what it does again and again: "melts"."""
    generic: bool
    """Whether it speaks of any such thing: "a ticket costs 12 euros"."""
    duty: bool
    """Whether it gives somebody, by name, a duty: "Alice approves releases"."""
    certain: bool
    """Whether its subject is one certain thing that does not come again and again: "the inspection", "Ada's lease"; and
    not "the shift", "inspections", or what it says is so every Tuesday."""
    adds: bool
    """Whether it says that it adds to what holds: "also"."""
    left: frozenset[str]
    """Stems of what it says that something was moved away from."""
    poles: frozenset[tuple[int, bool]]
    first_word: str
    frame: tuple[str, ...]
    """Its words without those that only say that something was otherwise, and without what holds no more."""
    topic: frozenset[str]


class Claims(Struct, frozen=True, array_like=True):
    """The claims of a text. `personal`: it says "I" or "we", which from another agent is somebody else. `cue`: it says
    that something no longer holds."""

    statements: tuple[Statement, ...]
    personal: bool
    cue: bool
    alone: bool = False
    """Whether it says "I", and not only "we": "we" of those who share a namespace are mostly the same."""
    outlines: tuple[Outline, ...] = ()
    """The outline of each sentence that is not long; for a short text of several, also that of the whole."""
    allows: tuple[Allowing, ...] = ()
    """The permissions and prohibitions of its sentences."""
    role: bool = False
    """Whether it says who has a part of which there is one: what it corrects is of somebody else, and so not near."""
    speaker: str = ""
    """The speaker, if it stands as in a transcript: "Caroline: I live in Graz." The rest is read without it."""


_SPOKEN = re.compile(
    r"(?P<who>[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:[ -][A-ZÀ-ÖØ-Þ][^\W\d_]+)?): (?P<said>[A-ZÀ-ÖØ-Þ\"“¡¿].*)", re.DOTALL
)
_SAID, _IS = re.compile(r"[\w']+"), re.compile(r"(?:is|are)\b")
_TALK = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ALONE = frozenset({"i", "i'm", "i've", "i'd", "i'll", "me", "my", "mine"})


def read(text: str) -> Claims:
    """Reads what a text claims, to be held against many others. A digest of a long text (`agreement.gist`) claims
    nothing."""
    if len(text) > LONG or text.startswith(DIGEST) or unreal(text):
        return Claims((), personal=False, cue=False)
    speaker, text = _spoken(text)
    found: list[Statement] = []
    allows: list[Allowing] = []
    whole = text.casefold().replace("’", "'")
    said = _SAID.findall(whole)
    personal, alone = not claiming.FIRST.isdisjoint(said), not _ALONE.isdisjoint(said)
    parts = resolved(_sentences(text))
    for sentence in parts:
        if len(found) >= STATEMENTS:
            break
        bare, led = _led(sentence)
        led = led or (len(bare) <= _HALVES and any(p.match(bare) for p in (_WRONG, _MAKE_THAT)))
        allowed = allowing(bare, led=led) if len(bare) <= _HALVES else None
        if allowed is not None:
            allows.append(allowed)
        # A question stands at the end of its sentence: "I never met Kelly, do you think that I should?"
        clauses = (_whole(bare) if "?" not in sentence else []) or _CLAUSE.split(bare)
        if "?" not in sentence:
            clauses = [half for clause in clauses for half in halves(clause or "") or (clause,)]
        opens = bare.partition(" ")[0].casefold()
        if "?" in sentence and (opens in claiming.COPULAS or opens in claiming.AUXILIARIES):
            continue
        for clause in clauses[:-1] if "?" in sentence else clauses:
            one = _statement(clause or "", led)
            if one is not None:
                found.append(one)
    cue, role = any(one.cue for one in found), any(_ROLE.match(one.strip()) for one in parts)
    return Claims(tuple(found), personal, cue, alone, _outlines(text, parts), tuple(allows), role, speaker)


def _spoken(text: str) -> tuple[str, str]:
    """Returns the speaker of a line of a transcript, and the words said: "Caroline: Wow, Mel!". No speaker if a value
    stands behind its subject, "Team Lead: Priya Sharma", or if the words before the colon lead a correction."""
    found = _SPOKEN.fullmatch(text.strip())
    if found is None or _led(text)[0] != text.strip():
        return "", text
    said = found["said"]
    talks = "!" in said or "?" in said or says_nothing(next(iter(_cut(said)), ""))
    if not talks and wording.FUNCTION.isdisjoint(word.casefold().replace("’", "'") for word in _TALK.findall(said)):
        return "", text
    return found["who"].casefold(), said


def _sentences(text: str) -> list[str]:
    """Its sentences, without those that hold what they say to be wrong, or say of what it does not hold."""
    return [_REASON.sub("", one) for one in _cut(text) if one and not _HELD_OFF.search(one)]


def _cut(text: str) -> list[str]:
    return [part for one in sentences(text) for part in _PARTS.split(one)]


def _outlines(text: str, parts: list[str]) -> tuple[Outline, ...]:
    said = [one for one in parts[:STATEMENTS] if one and len(one) <= _HALVES]
    found = [one for one in (outline(each, led=_led(each)[1]) for each in said) if one is not None]
    tails = [tail for sentence in said if (tail := _tail(sentence)) is not None]
    one = found and (found[0].wrong or found[0].gone or found[-1].words[0] in claiming.PRONOUNS)
    if one and 1 < len(found) == len(said) <= _TOLD_OF_ONE and len(text) <= _HALVES:
        found.append(joined(found))
    return (*found, *tails)


def _tail(sentence: str) -> Outline | None:
    """Returns the outline of the second half of a sentence of two halves; a later text may be about that alone."""
    parts = halves(sentence)
    whole = parts and outline(sentence)
    tail = whole and parts and outline(parts[1])
    if not tail or not whole:
        return None
    return replace(tail, cue=tail.cue or whole.amends, wrong=whole.wrong, amends=whole.amends)


def _led(sentence: str) -> tuple[str, bool]:
    """A sentence without words such as "Correction:" before it, and whether it had any that correct."""
    cue, bare = False, sentence.strip()
    while (lead := _LEAD.match(bare) or _LATER.match(bare)) is not None:
        cue = cue or not lead[0].casefold().startswith(
            ("note", "fyi", "reminder", "ok", "well", "so ", "so,", "also", "hi", "heads", "oh,", "oh.", "oh…")
        )
        bare = bare[lead.end() :]
    # "I misheard: the budget is 18,000": what stands before the colon says no more than that.
    before, colon, behind = bare.partition(": ")
    if not colon or len(behind.split()) <= 2 or len(bare) > _HALVES or _WRONG.match(bare):
        return bare, cue
    return (behind, True) if _MISTAKE.search(before) else (bare, cue)


def _whole(sentence: str) -> list[str]:
    """A sentence of two halves as statements that each name their subject: "the key is no longer here, it is there"."""
    plain = sentence.replace("’", "'")
    if len(plain) > _HALVES:
        return []  # The patterns take the square of the length.
    if (wrong := _WRONG.match(plain)) is not None:
        verb = "is " if not _IS.match(wrong[2].strip()) and "'s" in plain[wrong.end(1) :] else ""
        return [f"{wrong[1]} {verb}{wrong[2].strip()}"]
    if (made := _MAKE_THAT.match(plain)) is not None:
        return [f"{made[2]} is now {made[1]}"]
    if (gone := _NO_LONGER.match(plain)) is not None:
        return [f"{gone[1]} {gone[2]} {gone[3]} {gone[4]}{gone[5] or ''}", f"{gone[1]} {gone[2]} {gone[6]}"]
    if (named := _CALLED.match(plain)) is not None:
        return [sentence, f"{named['whose']} is called {named['name']}{' now' if named['now'] else ''}"]
    if (role := _ROLE.match(plain)) is not None:
        now = " now" if role["new"] or role["now"] or role["late"] or role["became"] else ""
        return [sentence, f"{role['the'] or 'the'} {role['role']} is {role['name']}{now}"]
    if (gone := _STOPPED.match(plain)) is not None:
        return [f"{gone[1]} no longer {gone[2]}", f"{gone[1]} {gone[3]}"]
    return []


def _statement(clause: str, led: bool) -> Statement | None:
    instead = _AND_NOT.search(clause)
    tokens, words, found, values = parsed(clause if instead is None else clause[: instead.start()])
    if len(words) > 1 and words[0] in _URGED and words[1] in claiming.IMPERATIVES:
        tokens, words = tokens[1:], words[1:]
        found, values = verb_of(tokens, words), values_of(tokens, words)
    # "May" is a month.
    unsure = (
        word
        for at, (word, token, after) in enumerate(zip(words, tokens, [*words[1:], ""], strict=True))
        if word in claiming.UNSURE and token != "May" and after not in ("like", "prefer") and not named_month(words, at)
    )
    if len(words) < 2 or any(unsure):
        return None
    flat = f" {' '.join(words)} "
    cue = led or any(f" {phrase} " in flat for phrase in claiming.CUES) or not claiming.CUE_WORDS.isdisjoint(words)
    # A sentence that is not understood is compared only with the same sentence with another value.
    verb = 0 if found is None else found
    first = words[0] in claiming.FIRST
    subject, start, changes, said = _parts(words, verb)
    owner = _owner(words, subject, verb)
    cue = cue or said
    places = {at for value in values for at in range(value.place, value.end)}
    told = [at for at in range(start, len(words)) if at not in subject]
    gone = _dropped(words, values) | ({f"~{stemmed(instead['gone'])}"} if instead is not None else set())
    kept = tuple(value for value in values if value.place in told and value.text not in gone)
    negated, never = _negation(words, verb)
    rest = tuple(
        stemmed(words[at])
        for at in told
        if at not in places and not light(words[at]) and words[at] not in claiming.CHANGES and not empty(words[at])
    )  # fmt: skip
    over = any(words[at] in claiming.OVER for at in told) or " called off" in flat
    stems = tuple(
        stemmed(words[at]) for at in [*owner, *subject] if at in owner or (at not in places and not empty(words[at]))
    )
    poles = frozenset(pole for at in told for pole in wording.POLES.get(words[at], ()))
    return Statement(
        subject=stems,
        marks=frozenset(value.text for value in values if value.place in subject),
        ways=claiming.WAYS.intersection(words[at] for at in subject),
        verb=stemmed(words[start]) if start < len(words) else "",
        copula=words[verb] in claiming.COPULAS or words[verb] == ":" or words[verb : verb + 2] == ["will", "be"],
        past=past(words[verb]) and not changes,
        changes=changes,
        definite=found is not None and bool(subject) and (bool(owner) or words[subject[0]] not in _VAGUE),
        understood=bool(found),
        first=first,
        own=not claiming.FIRST.isdisjoint(words),
        values=kept,
        rest=rest,
        negated=negated,
        never=never,
        over=over and not negated,
        cue=cue or over,
        dropped=gone,
        led=led,
        lasting=_lasts(words[verb]),
        generic=bool(subject) and words[subject[0]] in ("a", "an", "each", "every"),
        duty=_duty(tokens, words, subject),
        certain=_certain(clause, words, subject, verb) and _PLANNED.issuperset(rest),
        adds=not _ADDS.isdisjoint(words) or " as well" in flat,
        left=_left(words, start) if changes else frozenset(),
        poles=poles,
        first_word=words[0],
        frame=_frame(words),
        topic=frozenset(stemmed(w) for at, w in enumerate(words) if at not in places and not empty(w) and not light(w)),
    )


def _parts(words: list[str], verb: int) -> tuple[range, int, bool, bool]:
    """(the subject, where the predicate begins, whether it says that something was changed, whether that is a cue)."""
    renewed = verb > 2 and words[verb] in ("is", "are", ":") and _renewed(words[:verb])
    cue = renewed
    subject, start = range(2 if renewed else 0, verb), verb
    moved = next((at for at in range(verb, len(words)) if words[at] in claiming.CHANGES), None)
    changes = moved is not None and all(light(word) for word in words[verb:moved])
    if changes and moved is not None:
        start = moved
        passive = any(word in claiming.COPULAS or word in ("been", "got") for word in words[verb:moved])
        end = next(
            (at for at in range(moved + 1, len(words)) if words[at] in ("to", "from", "for", "by", "until")), None
        )
        if not passive and end is not None and end > moved + 1:
            subject, start, cue = range(moved + 1, end), end, True  # "we moved the sync to 4 pm"
        elif passive or end is not None:
            cue = cue or passive or end == moved + 1
    return subject, start, changes, cue


def _lasts(verb: str) -> bool:
    return verb.endswith("s") and not verb.endswith("ss") and verb not in _NEVER_LASTING


_NEVER_LASTING = claiming.COPULAS | claiming.AUXILIARIES | claiming.PAST | wording.FUNCTION


def _duty(tokens: list[str], words: list[str], subject: range) -> bool:
    """Whether a name of one or two words, and nothing else, has a duty to something certain."""
    if not 0 < len(subject) <= 2 or subject[0] != 0 or not all(tokens[at][0].isupper() for at in subject):
        return False
    verb, *behind = words[len(subject) :]
    return verb in claiming.DUTIES or (verb in claiming.TASKS and behind[:1] in (["the"], ["our"], ["my"], ["all"]))


def _certain(clause: str, words: list[str], subject: range, verb: int) -> bool:
    """True if it speaks of one certain thing, by its first words, and has no word for how often."""
    if not subject or subject.start != 0 or words[verb] not in _OF_ONE:
        return False
    owned = clause.split(maxsplit=1)[0].replace("’", "'").endswith("'s")
    if not owned and words[0] not in _CERTAIN:
        return False
    # The last noun before "for Acme" or "on the roof" is what it speaks of.
    end = next((at for at in subject if at > 0 and words[at] in claiming.BEFORE_NOUNS - _CERTAIN), len(subject))
    many = words[end - 1].endswith("s") and not words[end - 1].endswith(("ss", "us", "is"))
    again = (claiming.RHYTHMS.keys() | claiming.RHYTHMS.values() | _EACH).intersection(words)
    daily = any(word.endswith("days") and claiming.CLASSES.get(word) == "weekday" for word in words)
    return not (many or again or daily or not claiming.RECURRING.isdisjoint(words[:verb]))


_CERTAIN = frozenset({"the", "my", "our", "your", "his", "her", "their", "its", "this", "that"})
_OF_ONE = frozenset({"is", "will", "starts", "begins", "happens", "takes"})
_PLANNED = frozenset(map(stemmed, [*_OF_ONE, *["place", "scheduled", "planned", "due", "booked", "fixed", "arranged"]]))
"""The words that may stand beside the time: "is open on Tuesday" does not exclude Friday."""
_EACH = bag("each")
_ADDS = frozenset({"also", "too", "both", "additionally"})


def _left(words: list[str], moved: int) -> frozenset[str]:
    """The words between "from" and the last "to": "moved from the second floor to the basement"."""
    if "from" not in words[moved:] or "to" not in words[words.index("from", moved) :]:
        return frozenset()
    begin = words.index("from", moved)
    end = words.index("to", begin)
    return frozenset(stemmed(word) for word in words[begin + 1 : end] if not empty(word))


def _renewed(subject: list[str]) -> bool:
    """Whether it begins with "the new" and a noun of which there is one at a time: "the new port"."""
    if subject[0] not in ("the", "my", "our", "your", "his", "her", "their", "its") or subject[1] != "new":
        return False
    end = next((at for at, word in enumerate(subject) if word in ("of", "for", "in", "at", "on")), len(subject))
    return not _ONE_AT_A_TIME.isdisjoint((subject[end - 1], stemmed(subject[end - 1])))


_ONE_AT_A_TIME = claiming.NOUNS | claiming.RENEWED


def _owner(words: list[str], subject: range, verb: int) -> tuple[int, ...]:
    """The places of the owner that a pronoun refers to: "Olga changed her language" speaks of Olga's."""
    if not subject or subject.start < verb or words[subject.start] not in ("her", "his", "their", "its"):
        return ()
    return tuple(at for at in range(verb) if not empty(words[at]))


def _frame(words: list[str]) -> tuple[str, ...]:
    ends = [at for at in range(len(words) - 1) if words[at : at + 2] in (["instead", "of"], ["rather", "than"])]
    kept = words[: ends[0]] if ends else words
    return tuple(word for word in kept if not (word in claiming.CUE_WORDS or word in _FILLS))


_VAGUE = claiming.INDEFINITE | claiming.PRONOUNS
_FILLS = frozenset({"just", "again", "the", "a", "an", "also", "so", "then"})


def _dropped(words: list[str], values: list[Value]) -> frozenset[str]:
    """Values that are said to hold no more: "instead of 8080", "not 3 pm but 4 pm", "4, not 3", "from 3 to 4"."""
    gone = set()
    sorts = {value.place: value.sort for value in values}
    for value in values:
        near = words[max(0, value.place - 3) : value.place][-2:]
        back = " ".join(words[max(0, value.place - 4) : value.place])
        replaced = "instead of" in back or "rather than" in back
        denied = "not" in near and ("but" in words[value.place :] or words.index("not") > 2)
        left = "from" in near and words[value.end : value.end + 1] == ["to"] and sorts.get(value.end + 1) == value.sort
        if replaced or denied or left:
            gone.add(value.text)
    places = {at for value in values for at in range(value.place, value.end)}
    for at, word in enumerate(words):
        before = words[max(0, at - 2) : at]
        named = before in (["instead", "of"], ["rather", "than"])
        moved = before[-1:] == ["from"] and "to" in words[at : at + 4] and not claiming.CHANGES.isdisjoint(words[:at])
        if at not in places and not empty(word) and (named or moved):
            gone.add(f"~{stemmed(word)}")
    return frozenset(gone)


_NO = frozenset({"not", "never", "cannot", "no", "longer", "neither", "nobody", "nothing", "without"})


def _negation(words: list[str], verb: int) -> tuple[bool, tuple[str, ...]]:
    """Whether the predicate is negated; and of "never", what never was."""
    told = words[max(0, verb - 3) :]
    near = (one for at, one in enumerate(told[:8]) if told[at + 1 : at + 2] not in (["only"], ["just"], ["merely"]))
    negated = any(one in _NO or one.endswith("n't") for one in near) or " used to " in f" {' '.join(told[:6])} "
    if "never" not in told:
        return negated, ()
    behind = told[told.index("never") + 1 :][:10]
    return negated, tuple(stemmed(word) for word in behind if not empty(word) and not light(word))
