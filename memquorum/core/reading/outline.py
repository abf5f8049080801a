"""Reads roughly what a sentence is about and which values it gives, for corrections that fit no pattern of `claims`.

Nothing is parsed. A sentence is cut into clauses at commas and the like. For each word it is found whether it means
something, stands before its clause's verb, is part of a value, or is said to hold no more ("not a fox", "instead of 5",
"Ms Weil left").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.reading import claiming
from memquorum.core.reading.parsing import Value, empty, light, parsed, past, stemmed, tokens_of, values_of, verb_of

LONGEST = 300
"""Characters: of a longer sentence there is no outline."""

_CLAUSE = re.compile(r"[,;:]\s+|\s+[—–-]+\s+|\s+(?=but\b|so\b)|\s*[()]\s*")
_FROM_WHEN = re.compile(r"(?<=\w)\s+(?:as of|since|starting|effective)\s+\w+(?: \w+){0,2}[.!]?$", re.IGNORECASE)
_AMENDS = re.compile(
    r"^\W*(?:correction|scratch that|strike that|(?:(?:i|we) )?(?:just )?(?:"
    r"(?:re-?|double-?)(?:counted|checked|measured|weighed|read)|(?:counted|checked|measured|weighed|looked) again))\b",
    re.IGNORECASE,
)
_HALVES = re.compile(r"\s*([^:,;()]{6,70})(?::|,)\s+(\w.*)", re.DOTALL)


def _says(phrases: Sequence[str]) -> Callable[[str], bool]:
    """Whether a text has one of these patterns, in small letters or not."""
    pattern = rf"\b(?:{'|'.join(phrases)})\b"
    folded, any_case = re.compile(pattern), re.compile(pattern, re.IGNORECASE)
    # Without a question of case it takes a fifth of the time.
    return lambda text: (folded.search(text.lower()) if text.isascii() else any_case.search(text)) is not None


_corrects, _wrong = _says(claiming.CORRECTS), _says(claiming.WRONG)
may_correct = _says(claiming.MAY_CORRECT)
"""True if a text may say that it corrects something, so that little of what it corrects has to be alike."""
_CUE_WORDS = claiming.CUE_WORDS | claiming.OVER
_GOES_ON = claiming.CHANGES | claiming.PASSING


class Outline(Struct, frozen=True, dict=True, array_like=True):
    """A sentence, or several, as words in order. Places are indices of `words`."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    """The stem of each word that means something; empty for the others, and for values that are no names."""
    values: tuple[Value, ...]
    heads: frozenset[int]
    """Places before the verb of their clause."""
    verbs: frozenset[str]
    """Stems of the clauses' verbs."""
    gone: frozenset[int]
    """Places of what it says holds no more."""
    denied: frozenset[int]
    """Those of them that a negation governs."""
    cue: bool
    past: bool
    first: bool
    """Whether "I" or "we" begin it."""
    wrong: bool = False
    """Whether it says that what was said never was so."""
    amends: bool = False
    """Whether it says that it corrects a mistake, so that even what was is another thing."""
    several: bool = False
    """Whether it is of several sentences."""


def outline(sentence: str, *, led: bool = False) -> Outline | None:
    """The outline of a sentence that says how something is; None of a question, and of what is only supposed. `led`:
    words before it say that it corrects something, such as "No,"."""
    found: Outline | None = None
    if "?" in sentence or len(sentence) > LONGEST:
        return None
    for clause in _CLAUSE.split(_FROM_WHEN.sub("", sentence.replace("’", "'"))):
        one = _clause(clause or "", opens=found is None)
        if one is not None:
            found = one if found is None else joined((found, one), several=False)
    if found is None or any(word in claiming.UNSURE and not _sure(found, at) for at, word in enumerate(found.words)):
        return None
    amends = found.wrong or _AMENDS.search(sentence) is not None
    return replace(found, cue=found.cue or led or amends or _corrects(sentence), amends=amends)


def halves(sentence: str) -> tuple[str, str] | None:
    """Two clauses that each say something by themselves: "The lab called, the results are in"."""
    match = _HALVES.match(sentence) if ":" in sentence or "," in sentence else None
    if match is None:
        return None
    (_, front), (_, behind) = tokens_of(match[1]), tokens_of(match[2])
    if not front or len(behind) < _LEAST or front[0] in claiming.LEADS_ON or behind[0] in _JOINED:
        return None
    verbs = claiming.COPULAS | claiming.AUXILIARIES
    said = verb_of(*tokens_of(match[2].partition(",")[0])) if behind[0].isalpha() else None
    stated = any(word in verbs or past(word) for word in front)
    leads = claiming.LEADS_ON - claiming.PLACED - {"of", "for", "with", "from"}  # "the lift in block C"
    return (match[1], match[2]) if stated and said and leads.isdisjoint(behind[:said]) else None


_LEAST = 3
_JOINED = claiming.PRONOUNS | claiming.LEADS_ON


def _sure(found: Outline, at: int) -> bool:
    """Whether a word that may leave open how it is leaves nothing open here: May, "should be", "would like"."""
    word, after = found.words[at], found.words[at + 1 : at + 2]
    return (
        word == "should"
        or after in (("like",), ("prefer",), ("rather",))
        or any(value.place <= at < value.end for value in found.values)
    )


def joined(parts: Sequence[Outline], *, several: bool = True) -> Outline:
    """Several sentences as one, or several clauses."""
    words: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()
    values: list[Value] = []
    places: dict[str, set[int]] = {"heads": set(), "gone": set(), "denied": set()}
    for part in parts:
        by = len(words)
        values += [replace(value, place=value.place + by, end=value.end + by) for value in part.values]
        for name, found in places.items():
            found.update(at + by for at in getattr(part, name))
        words, stems = words + part.words, stems + part.stems
    return Outline(
        words,
        stems,
        tuple(values),
        verbs=frozenset().union(*(part.verbs for part in parts)),
        cue=any(part.cue for part in parts),
        past=all(part.past for part in parts),
        first=parts[0].first,
        wrong=any(part.wrong for part in parts),
        amends=any(part.amends for part in parts),
        several=several,
        **{name: frozenset(found) for name, found in places.items()},
    )


def _clause(text: str, *, opens: bool) -> Outline | None:
    tokens, words, found, values = parsed(text)
    if words and words[0] in ("and", "so", "but", "because"):
        tokens, words = tokens[1:], words[1:]
        found, values = verb_of(tokens, words) if words else None, values_of(tokens, words)
    if not words:
        return None
    values = [_label(value, found) for value in _merged(_begun(tokens, words, values, opens))]
    taken = {at for value in values if value.sort != "name" for at in range(value.place, value.end)}
    verb = -1 if found is None else found
    if words[0] in claiming.SINCE:
        taken |= {1, 2} if words[1:2] in (["the"], ["last"], ["this"], ["next"]) else {1}
    stems = tuple("" if at in taken or empty(word) or light(word) else stemmed(word) for at, word in enumerate(words))
    heads = frozenset(range(verb)) if verb > 0 else frozenset()
    denied = _denied(words)
    gone = denied | _from(words)
    wrong = _wrong(text)
    if wrong:
        gone |= {at for value in values for at in range(value.place, value.end) if value.sort != "name"}
    instead = bool(denied) and (words[min(denied) - 1] in ("of", "than"))
    if (denied and not instead) or not claiming.LEAVES.isdisjoint(words[max(verb, 0) : verb + 4]):
        gone |= heads
    return Outline(
        words=tuple(words),
        stems=stems,
        values=tuple(values),
        heads=heads,
        verbs=_verbs(words, found),
        gone=frozenset(gone),
        denied=frozenset(denied),
        cue=wrong
        or any(words[at - 1] != "no" for at in gone - heads if at - 1 not in gone)
        or (bool(gone & heads) and not denied)
        or not _CUE_WORDS.isdisjoint(words),
        past=found is not None and past(words[verb]) and _GOES_ON.isdisjoint(words[verb:]),
        first=words[0] in ("i", "we", "i'm", "we're", "i've", "we've"),
        wrong=wrong,
    )


def _verbs(words: Sequence[str], found: int | None) -> frozenset[str]:
    if "rather" in words and "than" in words:
        return frozenset({stemmed("prefer")})
    return frozenset() if found is None else frozenset({stemmed(words[found])})


def _begun(tokens: Sequence[str], words: Sequence[str], values: list[Value], opens: bool) -> list[Value]:
    """The values, and the name that begins the clause: a word that opens a sentence is one where a name follows it."""
    if (values[:1] and values[0].place == 0) or not tokens[0][0].isupper() or empty(words[0]):
        return values
    named = words[0] in claiming.TITLES or (bool(values) and values[0].place == 1 and values[0].sort == "name")
    if opens and not named:
        return values
    return [Value("name", words[0], "", 0, 1), *values]


def _merged(values: Sequence[Value]) -> list[Value]:
    """The values, with names that stand side by side as one: "Ms Weil"."""
    found: list[Value] = []
    for value in values:
        last = found[-1] if found else None
        if last is not None and last.sort == value.sort == "name" and last.end == value.place:
            found[-1] = replace(last, text=f"{last.text} {value.text}", end=value.end)
        else:
            found.append(value)
    return found


def _label(value: Value, verb: int | None) -> Value:
    """A number before the verb counts nothing: "valve 3 opens"."""
    if verb is not None and value.sort.startswith("number ") and value.place + 1 == verb < value.end:
        return replace(value, sort="number", end=verb)
    return value


def _denied(words: Sequence[str]) -> set[int]:
    """Places behind a word that denies, or of what another takes the place of."""
    for at, word in enumerate(words):
        pair = tuple(words[at : at + 2])
        only = pair[1:] in (("only",), ("just",), ("merely",))
        if only:
            continue
        ends = word in claiming.ENDS and (set(words[at + 1 : at + 2]) - {"to", "from", "by", "below", "off"})
        if word in claiming.DENIES or ends or word.endswith("n't"):
            return set(range(at + 1, len(words)))
        if pair in claiming.DENIES_TWO or (word == "than" and "rather" in words[:at]):
            return set(range(at + (1 if word == "than" else 2), len(words)))
    return set()


def _from(words: Sequence[str]) -> set[int]:
    """Places of what something was changed from: "from 4 to 5", "swapped his bike for a car"."""
    for at, word in enumerate(words[:-2]):
        ends = ("to",) if word == "from" else claiming.FOR if word in claiming.SWAPPED else ()
        end = next((b for b in range(at + 2, min(at + 6, len(words))) if words[b] in ends), 0)
        if end:
            return set(range(at + 1, end))
    return set()
