"""What a text claims: its statements, each with its subject, its values and what else it says (`text.conflict`).

English, by rules and word lists, without a parser: a statement's subject is what stands before its first verb. What is
not understood claims nothing.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.text import claiming, wording

LONG = 4_000
"""Characters: of a longer text nothing is read."""
STATEMENTS = 24
_HALVES = 300
"""Characters: of a longer sentence the halves are not told."""
CLOCK = "o'clock"

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;\s+|\s+->->.*")
_CLAUSE = re.compile(
    r",\s+(?:and|but|so|which|because|while|although)\s+|,\s+(?=(?:can|could|do|how|what|is) |I\b|I')|\s+but\s+"
)
_LEAD = re.compile(
    r"^(?:correction|update|updated|edit|note|fyi|reminder|actually|sorry|no|wait|ok|okay|well|so|also|hi all|heads up|"
    r"scratch that|strike that|my mistake|my bad|oops|i misspoke|from now on|as of (?:today|now|\w+))\s*[:,—-]+\s*|"
    r"^(?:from now on|(?:starting|beginning|effective|as of|from) (?:today|now|tomorrow|next \w+|\w+day))"
    r"\s*,?\s+(?!to\b|until\b|till\b|through\b|and\b|or\b|on\b)",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"(?:i|we) (?:was|were) (?:wrong|mistaken) about (.+?)\s*[:,—-]+\s*(?:it|he|she|they)\b(?:'s (?=\S))?(.+)",
    re.IGNORECASE,
)
_MAKE_THAT = re.compile(r"make (?:that|it) (.+?) for (.+?)\.?$", re.IGNORECASE)
_NO_LONGER = re.compile(
    r"(.+?) (is|are) (no longer|not(?! only\b| just\b| merely\b)) (.+?)(,? (?:any ?more|now))?,? "
    r"(?:(?:but|instead|(?:it|he|she|they) (?:is|are)|"
    r"(?:it|he|she)'s|they're) )+(.+)",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"(.+?) no longer (.+?), (?:but|it|he|she|they) (?:now )?(.+)", re.IGNORECASE)
_LATER = re.compile(
    r"^(?:actually|(?:it )?turns out|as of (?:today|now|this \w+|\w+day)|from now on|these days|since \w+|"
    r"(?:from|starting|after) (?:\w+day|\w+ \d+|next \w+|\w+)|measured again|for now|in fact|meanwhile)[,:]?\s+"
    r"(?=\w+ \w+ \w+)",
    re.IGNORECASE,
)
_MISTAKE = re.compile(
    r"\b(?:misheard|misread|mistyped|mistake|typo|wrong|sorry|correct|corrected|mixed up|error)\b", re.I
)
_TOKEN = re.compile(r"[$€£]?\d[\w.,:/%°-]*\w?[%°]?|\w[\w'’./_-]*\w|\w|:")
_NUMBER = re.compile(r"([$€£]?)(\d+(?:,\d{3})*(?:\.\d+)?)([a-z%°]{0,4})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})([ap]m)?|(\d{1,2})([ap]m)")
_CODE = re.compile(r"[\d_/\\@#.:]|[a-z][A-Z]")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")


class Value(Struct, frozen=True):
    """One value of a statement: its sort (number with its unit, time, weekday, name, code …), itself in one spelling,
    and what governs it: the preposition or noun before it."""

    sort: str
    text: str
    before: str
    place: int
    end: int
    near: frozenset[str]
    heads: frozenset[str]
    renewed: bool


class Statement(Struct, frozen=True):
    """One sentence or clause that says how something is."""

    subject: tuple[str, ...]
    """Stems of the words of the subject that mean something, in order; names as they are."""
    marks: frozenset[str]
    """Numbers, codes and names of the subject: with others it is about something else."""
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
    adds: bool
    """Whether it says that it adds to what holds: "also"."""
    left: frozenset[str]
    """Stems of what it says that something was moved away from."""
    poles: frozenset[tuple[int, bool]]
    first_word: str
    frame: tuple[str, ...]
    """Its words without those that only say that something was otherwise, and without what holds no more."""
    topic: frozenset[str]


class Claims(Struct, frozen=True):
    """What a text claims. `personal`: it says "I" or "we", which of another agent is somebody else. `cue`: it says that
    something holds no more."""

    statements: tuple[Statement, ...]
    personal: bool
    cue: bool


def read(text: str) -> Claims:
    """What a text claims, to be read once and held against many others."""
    if len(text) > LONG:
        return Claims((), personal=False, cue=False)
    found: list[Statement] = []
    whole = text.casefold().replace("’", "'")
    personal = not claiming.FIRST.isdisjoint(re.findall(r"[\w']+", whole))
    for sentence in _SENTENCE.split(text):
        if len(found) >= STATEMENTS:
            break
        bare, led = _led(sentence)
        led = led or (len(bare) <= _HALVES and any(p.match(bare) for p in (_WRONG, _MAKE_THAT)))
        # What asks is the end of its sentence: "I never met Kelly, do you think that I should?"
        clauses = (_whole(bare) if "?" not in sentence else []) or _CLAUSE.split(bare)
        opens = bare.partition(" ")[0].casefold()
        if "?" in sentence and opens in claiming.COPULAS | claiming.AUXILIARIES:
            continue
        for clause in clauses[:-1] if "?" in sentence else clauses:
            one = _statement(clause or "", led)
            if one is not None:
                found.append(one)
    return Claims(tuple(found), personal, any(one.cue for one in found))


def _led(sentence: str) -> tuple[str, bool]:
    """A sentence without words such as "Correction:" before it, and whether it had any that correct."""
    cue, bare = False, sentence.strip()
    while (lead := _LEAD.match(bare) or _LATER.match(bare)) is not None:
        cue = cue or not lead[0].casefold().startswith(
            ("note", "fyi", "reminder", "ok", "well", "so", "also", "hi", "heads")
        )
        bare = bare[lead.end() :]
    # "I misheard: the budget is 18,000": what stands before the colon says no more than that.
    before, colon, behind = bare.partition(": ")
    if (
        colon
        and len(behind.split()) > 2
        and len(bare) <= _HALVES
        and not _WRONG.match(bare)
        and _MISTAKE.search(before)
    ):
        return behind, True
    return bare, cue


def _whole(sentence: str) -> list[str]:
    """A sentence of two halves as statements that each name their subject: "the key is no longer here, it is there"."""
    plain = sentence.replace("’", "'")
    if len(plain) > _HALVES:
        return []  # The patterns take the square of the length.
    if (wrong := _WRONG.match(plain)) is not None:
        verb = "is " if re.match(r"(?!is\b|are\b)", wrong[2].strip()) and "'s" in plain[wrong.end(1) :] else ""
        return [f"{wrong[1]} {verb}{wrong[2].strip()}"]
    if (made := _MAKE_THAT.match(plain)) is not None:
        return [f"{made[2]} is now {made[1]}"]
    if (gone := _NO_LONGER.match(plain)) is not None:
        return [f"{gone[1]} {gone[2]} {gone[3]} {gone[4]}{gone[5] or ''}", f"{gone[1]} {gone[2]} {gone[6]}"]
    if (gone := _STOPPED.match(plain)) is not None:
        return [f"{gone[1]} no longer {gone[2]}", f"{gone[1]} {gone[3]}"]
    return []


def stemmed(word: str) -> str:
    """A word's stem, of an irregular form that of its verb."""
    return wording.stem(claiming.IRREGULAR.get(word, word))


def _statement(clause: str, led: bool) -> Statement | None:
    tokens = [token.strip(".,:'’/-") if token != ":" else ":" for token in _TOKEN.findall(clause.replace("’", "'"))]
    tokens = [re.sub(r"'s$", "", token) if not token.endswith("t's") else token for token in tokens if token]
    words = [token.casefold() for token in tokens]
    # "May" is a month.
    unsure = (
        word
        for word, token, after in zip(words, tokens, [*words[1:], ""], strict=True)
        if word in claiming.UNSURE and token != "May" and after not in ("like", "prefer")
    )
    if len(words) < 2 or any(unsure):
        return None
    flat = f" {' '.join(words)} "
    cue = led or any(f" {phrase} " in flat for phrase in claiming.CUES) or not claiming.CUE_WORDS.isdisjoint(words)
    found = _verb(tokens, words)
    # What is not understood is held against the like of it alone: the same sentence with another value.
    verb = 0 if found is None else found
    first = words[0] in claiming.FIRST
    values = _values(tokens, words)
    subject, start, changes, said = _parts(words, verb)
    owner = _owner(words, subject, verb)
    cue = cue or said
    places = {at for value in values for at in range(value.place, value.end)}
    told = [at for at in range(start, len(words)) if at not in subject]
    gone = _dropped(words, values)
    kept = tuple(value for value in values if value.place in told and value.text not in gone)
    negated, never = _negation(words, verb)
    rest = tuple(
        stemmed(words[at])
        for at in told
        if at not in places and not _light(words[at]) and words[at] not in claiming.CHANGES and not _empty(words[at])
    )  # fmt: skip
    over = any(words[at] in claiming.OVER for at in told) or " called off" in flat
    stems = tuple(
        stemmed(words[at]) for at in [*owner, *subject] if at in owner or (at not in places and not _empty(words[at]))
    )
    poles = frozenset(pole for at in told for pole in wording.POLES.get(words[at], ()))
    return Statement(
        subject=stems,
        marks=frozenset(value.text for value in values if value.place in subject),
        verb=stemmed(words[start]) if start < len(words) else "",
        copula=words[verb] in claiming.COPULAS or words[verb] == ":",
        past=_past(words[verb]) and not changes,
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
        adds=not _ADDS.isdisjoint(words),
        left=_left(words, start) if changes else frozenset(),
        poles=poles,
        first_word=words[0],
        frame=_frame(words),
        topic=frozenset(
            stemmed(w) for at, w in enumerate(words) if at not in places and not _empty(w) and not _light(w)
        ),
    )


def _parts(words: list[str], verb: int) -> tuple[range, int, bool, bool]:
    """(the subject, where the predicate begins, whether it says that something was changed, whether that is a cue)."""
    renewed = verb > 2 and words[verb] in ("is", "are", ":") and _renewed(words[:verb])
    cue = renewed
    subject, start = range(2 if renewed else 0, verb), verb
    moved = next((at for at in range(verb, len(words)) if words[at] in claiming.CHANGES), None)
    changes = moved is not None and all(_light(word) for word in words[verb:moved])
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
    return (
        verb.endswith("s")
        and not verb.endswith("ss")
        and verb not in claiming.COPULAS | claiming.AUXILIARIES | claiming.PAST | wording.FUNCTION
    )


def _duty(tokens: list[str], words: list[str], subject: range) -> bool:
    """Whether a name of one or two words, and nothing else, has a duty to something certain."""
    if not 0 < len(subject) <= 2 or subject[0] != 0 or not all(tokens[at][0].isupper() for at in subject):
        return False
    verb, *behind = words[len(subject) :]
    return verb in claiming.DUTIES or (verb in claiming.TASKS and behind[:1] in (["the"], ["our"], ["all"]))


_ADDS = frozenset({"also", "too", "both", "additionally"})


def _left(words: list[str], moved: int) -> frozenset[str]:
    """What stands between "from" and the last "to": "moved from the second floor to the basement"."""
    if "from" not in words[moved:] or "to" not in words[words.index("from", moved) :]:
        return frozenset()
    begin = words.index("from", moved)
    end = words.index("to", begin)
    return frozenset(stemmed(word) for word in words[begin + 1 : end] if not _empty(word))


def _renewed(subject: list[str]) -> bool:
    """Whether it begins with "the new" and a noun of which there is one at a time: "the new port"."""
    if subject[0] not in ("the", "my", "our", "your", "his", "her", "their", "its") or subject[1] != "new":
        return False
    end = next((at for at, word in enumerate(subject) if word in ("of", "for", "in", "at", "on")), len(subject))
    return not _ONE_AT_A_TIME.isdisjoint((subject[end - 1], stemmed(subject[end - 1])))


_ONE_AT_A_TIME = claiming.NOUNS | claiming.RENEWED


def _owner(words: list[str], subject: range, verb: int) -> tuple[int, ...]:
    """Whose it is: "Olga changed her language" speaks of Olga's."""
    if not subject or subject.start < verb or words[subject.start] not in ("her", "his", "their", "its"):
        return ()
    return tuple(at for at in range(verb) if not _empty(words[at]))


def _frame(words: list[str]) -> tuple[str, ...]:
    ends = [at for at in range(len(words) - 1) if words[at : at + 2] in (["instead", "of"], ["rather", "than"])]
    kept = words[: ends[0]] if ends else words
    return tuple(word for word in kept if not (word in claiming.CUE_WORDS or word in _FILLS))


_VAGUE = claiming.INDEFINITE | claiming.PRONOUNS
_FILLS = frozenset({"just", "again", "the", "a", "an", "also", "so", "then"})


def _past(verb: str) -> bool:
    return (
        verb in claiming.PAST
        or (verb in claiming.IRREGULAR and not verb.endswith(("s", "ing")))
        or (verb.endswith("ed") and verb != "need")
    )


def _empty(word: str) -> bool:
    return (
        word in wording.FUNCTION or word in wording.NEGATORS or word in claiming.CUE_WORDS or word == ":" or "'" in word
    )


def _light(word: str) -> bool:
    return word in claiming.COPULAS or word in claiming.AUXILIARIES or word in claiming.CUE_WORDS or word in (
        "just", "recently", "already", "not", "been", "since", "finally", "also", "officially"
    )  # fmt: skip


def _verb(tokens: list[str], words: list[str]) -> int | None:
    """Where the predicate begins: at the first verb behind a subject, or at one that tells somebody what to do."""
    if words[0] in claiming.IMPERATIVES:
        return 0
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        after = words[at + 1] if at + 1 < len(words) else ""
        if word == ":" or word in claiming.COPULAS or word in claiming.AUXILIARIES:
            return at
        if words[0] in ("i", "we") and at == next(
            (b for b in range(1, len(words)) if words[b] not in claiming.ADVERBS), 1
        ):
            return at
        if before in claiming.BEFORE_NOUNS:
            continue
        if word in claiming.FUNCTIONAL and word not in (
            "lead",
            "report",
            "point",
            "use",
            "need",
            "work",
            "end",
            "start",
        ):
            return at
        if word in claiming.FUNCTIONAL and words[at - 1] in claiming.FIRST | claiming.PRONOUNS:
            return at
        if word in claiming.CHANGES and word not in ("cut", "set"):
            return at
        if word.endswith("ed") and len(word) > 3 and word not in ("need", "shed", "red"):
            return at
        if word in claiming.IRREGULAR and word != "set":
            return at
        if _finite(tokens, words, at, after):
            return at
    return None


def _finite(tokens: list[str], words: list[str], at: int, after: str) -> bool:
    """Whether a word with an s is a verb: behind a name or a number, or before what only follows a verb."""
    word = words[at]
    if not word.endswith("s") or word.endswith("ss") or len(word) < 4 or not tokens[at].islower():
        return False
    if after in claiming.COPULAS or after in claiming.AUXILIARIES:
        return False
    behind = next((b for b in range(at - 1, -1, -1) if words[b] not in claiming.ADVERBS), 0)
    named = behind < at - 1 or tokens[behind][0].isupper() or tokens[behind][0].isdigit()
    follows = (
        after in ("the", "a", "an", "at", "on", "in", "to", "only", "up", "every", "no", "not") or after[:1].isdigit()
    )
    return named or follows


def _values(tokens: list[str], words: list[str]) -> list[Value]:
    found: list[Value] = []
    at = 0
    while at < len(words):
        sort, text, after = _value(tokens, words, at)
        if sort:
            before = next((words[b] for b in range(at - 1, -1, -1) if words[b] not in ("the", "a", "an", "about")), "")
            around = words[max(0, at - 6) : at] + words[after : after + 5]
            near = frozenset(stemmed(word) for word in around if not _empty(word) and not word[0].isdigit())
            head = words[max(0, at - 3) : at] + words[after : after + 2]
            heads = frozenset(stemmed(word) for word in head if not _empty(word) and not word[0].isdigit())
            renewed = not claiming.RENEWS.isdisjoint(words[max(0, at - 6) : at]) or "now" in words[after : after + 3]
            found.append(Value(sort, text, before, at, after, near, heads, renewed))
        at = max(after, at + 1)
    return _ranges(found, words)


def _ranges(found: list[Value], words: list[str]) -> list[Value]:
    """The values, with "9 to 5" made one, but for "from 9 to 5", which may say what was and what is."""
    joined: list[Value] = []
    for value in found:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.sort == value.sort
            and words[last.end : value.place] == ["to"]
            and last.before != "from"
        ):
            joined[-1] = replace(last, sort=f"{last.sort} range", text=f"{last.text} to {value.text}", end=value.end)
        else:
            joined.append(value)
    return joined


def _value(tokens: list[str], words: list[str], at: int) -> tuple[str, str, int]:
    """(sort, value, place after it); an empty sort where there is none."""
    word, token = words[at], tokens[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    clock = _CLOCK.fullmatch(word)
    if clock is not None:
        hour, minute, half = clock[1] or clock[4], clock[2] or "00", clock[3] or clock[5] or ""
        step = 1
        if not half and after.replace(".", "") in ("am", "pm"):
            half, step = after.replace(".", ""), 2
        return "time", f"{int(hour)}:{minute}{half}", at + step
    if _ORDINAL.fullmatch(word):
        month = words[at + 2] if after == "of" and at + 2 < len(words) else after
        if claiming.CLASSES.get(month) == "month":
            return "date", f"{month} {word[:-2]}", at + (3 if after == "of" else 2)
        return "ordinal", word[:-2], at + 1
    if word.isdigit() and claiming.CLASSES.get(after, "month" if after == "may" else "") == "month":
        return "date", f"{after} {word}", at + 2
    number = _NUMBER.fullmatch(word)
    if number is not None and (not number[3] or number[3] in wording.UNITS):
        return _counted(words, at, number)
    if word in wording.CARDINALS and word not in ("one", "zero"):
        return _counted(words, at, (str(wording.CARDINALS[word]),))
    if claiming.CLASSES.get(word, "month" if word == "may" else "") == "month" and token[0].isupper():
        return ("date", f"{word} {after}", at + 2) if after.isdigit() else ("month", word, at + 1)
    if word in claiming.CLASSES and claiming.CLASSES[word] != "month":
        return claiming.CLASSES[word], word.removesuffix("s") if word.endswith("days") else word, at + 1
    if any(c.isdigit() for c in word) and _CODE.search(token):
        return "code", word, at + 1
    if at > 0 and token[0].isupper() and not _empty(word) and word not in claiming.FIRST:
        return "name", word, at + 1
    return "", "", at + 1


def _counted(words: list[str], at: int, number: re.Match[str] | tuple[str]) -> tuple[str, str, int]:
    """A number and what it counts: a unit, else the word behind it."""
    after = words[at + 1] if at + 1 < len(words) else ""
    if isinstance(number, tuple):
        value, unit = number[0], ""
    else:
        value, unit = number[2].replace(",", ""), wording.UNITS.get(number[3], "") or number[1]
    half = after.replace(".", "")
    if half in ("am", "pm", CLOCK):
        return "time", f"{int(float(value))}:00{half if half != CLOCK else ''}", at + 2
    if not unit and after in wording.UNITS:
        return f"number {wording.UNITS[after]}", value, at + 2
    if not unit and after and after.isalpha() and not _empty(after) and after not in claiming.COPULAS:
        return f"number {stemmed(after)}", value, at + 2
    return f"number {unit}".strip(), value, at + 1


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
        if at not in places and not _empty(word) and (named or moved):
            gone.add(f"~{stemmed(word)}")
    return frozenset(gone)


def _negation(words: list[str], verb: int) -> tuple[bool, tuple[str, ...]]:
    """Whether the predicate is negated; and of "never", what never was."""
    told = words[max(0, verb - 3) :]
    negated = (
        any(
            word.endswith("n't")
            or word in ("not", "never", "cannot", "no", "longer", "neither", "nobody", "nothing", "without")
            for at, word in enumerate(told[:8])
            if told[at + 1 : at + 2] not in (["only"], ["just"], ["merely"])
        )
        or " used to " in f" {' '.join(told[:6])} "
    )
    if "never" not in told:
        return negated, ()
    behind = told[told.index("never") + 1 :][:10]
    return negated, tuple(stemmed(word) for word in behind if not _empty(word) and not _light(word))
