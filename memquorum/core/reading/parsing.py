"""Reads a clause word by word: its words, where its verb is, and its values (`claims`, `outline`).

English, by rules and word lists, without a parser.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.reading import claiming, digits, wording
from memquorum.core.reading.lists import bag
from memquorum.core.reading.memo import memo

CLOCK = "o'clock"

_AROUND = ".,:'’/-"
_SHORT = frozenset({"it's", "that's", "what's", "let's"})
_TOKEN = re.compile(r"(?:(?<![^\s(:])[-−](?=\d))?[$€£]?\d[\w.,:/%°-]*\w?[%°]?(?:'s\b)?|\w[\w'’./_@-]*\w|\w|:")
_NUMBER = re.compile(r"([$€£]?)(-?\d+(?:,\d{3})*(?:\.\d+)?)([a-z%°]{0,4})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})([ap]m)?|(\d{1,2})([ap]m)")
_CODE = re.compile(r"[\d_/\\@#.:]|[a-z][A-Z]")
_SECRETS = bag("secrets")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")


class Value(Struct, frozen=True, array_like=True):
    """One value of a statement: its sort (number with its unit, time, weekday, name, code …), itself in one spelling,
    and what governs it: the preposition or noun before it."""

    sort: str
    text: str
    before: str
    place: int
    end: int


def tokens_of(clause: str) -> tuple[list[str], list[str]]:
    """The words of a clause as they are written, and in small letters."""
    tokens = [token for token, _, _ in placed(clause)]
    return tokens, [token.casefold() for token in tokens]


def placed(clause: str) -> list[tuple[str, int, int]]:
    """The words of a clause as `tokens_of` writes them, each with its first character and the one behind its last."""
    found: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(clause.replace("’", "'").replace("−", "-")):
        written = match[0]
        token = written if written == ":" else written.strip(_AROUND)
        below = written[0] == "-" and token[:1].isdigit()
        if "'" in token and token.casefold() not in _SHORT:
            token = token.removesuffix("'s")
        if token:
            start = match.start() + (0 if written == ":" else len(written) - len(written.lstrip(_AROUND)))
            found.append((f"-{token}" if below else token, start - below, start + len(token)))
    return found


@memo(8_192)
def stemmed(word: str) -> str:
    """A word's stem, of an irregular form that of its verb."""
    return wording.stem(claiming.IRREGULAR.get(word, word))


LATELY = frozenset(stemmed(word) for word in ["last", "month", "week", "year", "ago", "recently", "today", "yesterday"])
"""Stems of words that say that it was not long ago."""


def past(verb: str) -> bool:
    """Whether a verb tells of what was."""
    return (
        verb in claiming.PAST
        or (verb in claiming.IRREGULAR and not verb.endswith(("s", "ing")))
        or (verb.endswith("ed") and (not verb.endswith("eed") or verb in ("agreed", "disagreed", "freed")))
    )


_EMPTY = wording.FUNCTION | wording.NEGATORS | claiming.CUE_WORDS | {":"}


def empty(word: str) -> bool:
    """True if a word has no meaning by itself."""
    return word in _EMPTY or "'" in word


_LIGHT = frozenset({*claiming.COPULAS, *claiming.AUXILIARIES, *claiming.CUE_WORDS, *bag("helping")})


def light(word: str) -> bool:
    """Whether a word only helps a verb."""
    return word in _LIGHT


_NOUNS_AS_WELL = frozenset({"lead", "report", "point", "use", "need", "work", "end", "start"})


def verb_of(tokens: list[str], words: list[str]) -> int | None:
    """The place where the predicate begins: the first verb behind a subject, or an imperative."""
    if words[0] in claiming.IMPERATIVES:
        return 0
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        after = words[at + 1] if at + 1 < len(words) else ""
        if word == ":" or word in claiming.COPULAS or (word in claiming.AUXILIARIES and not named_month(words, at)):
            return at
        if words[0] in ("i", "we") and at == next(
            (b for b in range(1, len(words)) if words[b] not in claiming.ADVERBS), 1
        ):
            return at
        if before in claiming.BEFORE_NOUNS and not (at > 1 and tokens[at - 1] == "A"):
            continue
        if _of_many(words, at):
            return at
        if _of_many(words, at + 1):
            continue
        noun = word in _NOUNS_AS_WELL and before not in claiming.FIRST | claiming.PRONOUNS
        if word in claiming.FUNCTIONAL and after not in claiming.COPULAS and not noun:
            return at
        if word in claiming.CHANGES and word not in ("cut", "set"):
            return at
        if word.endswith("ed") and not word.endswith("eed") and len(word) > 3 and word not in ("shed", "red"):
            return at
        if word in claiming.IRREGULAR and word != "set":
            return at
        if _finite(tokens, words, at, after):
            return at
    return None


def _of_many(words: list[str], at: int) -> bool:
    """Whether a word is the verb of a noun in the plural before it: "lessons start at four"."""
    if not 0 < at < len(words) - 1 or words[at] not in claiming.PLURAL_VERBS:
        return False
    noun, after = words[at - 1], words[at + 1]
    many = noun.endswith("s") and not noun.endswith("ss") and len(noun) > 3 and noun not in claiming.PRONOUNS
    return many and (after in claiming.BEHIND_VERBS or after in wording.CARDINALS or after[0].isdigit())


def _finite(tokens: list[str], words: list[str], at: int, after: str) -> bool:
    """Whether a word with an s is a verb: behind a name or a number, or before what only follows a verb."""
    word = words[at]
    if not word.endswith("s") or word.endswith(("ss", "ths", "ics")) or len(word) < 4 or not tokens[at].islower():
        return False
    if word in wording.UNITS or after in claiming.COPULAS or after in claiming.AUXILIARIES:
        return False
    behind = next((b for b in range(at - 1, -1, -1) if words[b] not in claiming.ADVERBS), 0)
    named = behind < at - 1 or tokens[behind][0].isupper() or tokens[behind][0].isdigit()
    follows = (
        after in ("the", "a", "an", "at", "on", "in", "to", "only", "up", "every", "no", "not")
        or after[:1].isdigit()
        or (word[:-1] in claiming.PLURAL_VERBS and bool(after) and tokens[at + 1][0].isupper())
    )
    return named or follows


def values_of(tokens: list[str], words: list[str]) -> list[Value]:
    """The values among the words, in order."""
    found: list[Value] = []
    at = 0
    while at < len(words):
        if not _may_be_value(words[at], tokens[at]):
            at += 1
            continue
        sort, text, after = _value(tokens, words, at)
        if sort:
            before = next((words[b] for b in range(at - 1, -1, -1) if words[b] not in ("the", "a", "an", "about")), "")
            found.append(Value(sort, text, before, at, after))
        at = max(after, at + 1)
    return _ranges(found, words)


@memo(512, longest=300)  # the outline of a sentence reads the clauses of its statements again
def parsed(clause: str) -> tuple[list[str], list[str], int | None, list[Value]]:
    """The words of a clause, in small letters as well, where its verb is, and its values: to be read, not changed."""
    tokens, words = tokens_of(clause)
    return tokens, words, verb_of(tokens, words) if words else None, values_of(tokens, words)


def _may_be_value(word: str, token: str) -> bool:
    """Whether a value may begin with a word: most have neither digit nor capital, and are in no list."""
    return word in _VALUED or not word.isalpha() or not token.islower()


_VALUED = {"every", "may", "march", *wording.ADVERBS, *wording.ORDINALS, *wording.CARDINALS, *claiming.CLASSES}


def _ranges(found: list[Value], words: list[str]) -> list[Value]:
    """The values, with "9 to 5" made one, but for "from 9 to 5", which may say what was and what is."""
    joined: list[Value] = []
    for value in found:
        last = joined[-1] if joined else None
        if last and last.sort == value.sort and last.before != "from" and words[last.end : value.place] == ["to"]:
            joined[-1] = replace(last, sort=f"{last.sort} range", text=f"{last.text} to {value.text}", end=value.end)
        else:
            joined.append(value)
    return joined


def _value(tokens: list[str], words: list[str], at: int) -> tuple[str, str, int]:
    """Returns (sort, value, place after it); an empty sort if there is no value."""
    word, token = words[at], tokens[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    whole = _spoken(tokens, words, at)
    if whole is not None:
        return whole
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
    if word.isdigit() and _month(after):
        return "date", f"{after} {word}", at + 2
    number = _NUMBER.fullmatch(word)
    if number is not None and (not number[3] or number[3] in wording.UNITS):
        return _counted(words, at, number)
    if word in wording.CARDINALS and (word not in ("one", "zero") or _counts(words, at)):
        return _counted(words, at, (str(wording.CARDINALS[word]),))
    if (_month(word) and token[0].isupper()) or named_month(words, at):
        return ("date", f"{word} {after}", at + 2) if after.isdigit() else ("month", word, at + 1)
    if word in claiming.CLASSES and claiming.CLASSES[word] != "month":
        return claiming.CLASSES[word], word.removesuffix("s") if word.endswith("days") else word, at + 1
    if "@" in word or (any(c.isdigit() for c in word) and _CODE.search(token)):
        kept = token not in (word, word.upper(), word.capitalize()) or not _SECRETS.isdisjoint(words)
        return ("address", word, at + 1) if "@" in word else ("code", token if kept else word, at + 1)
    letter = len(token) == 1 and word not in claiming.FIRST  # "building A"
    if at > 0 and any(c.isupper() for c in token) and (letter or not empty(word)) and word not in claiming.FIRST:
        return "name", word, at + 1
    return "", "", at + 1


def _counts(words: list[str], at: int) -> bool:
    """Whether "one" counts something: "needs one approval"."""
    after = words[at + 1] if at + 1 < len(words) else ""
    counted = after.isalpha() and not empty(after) and not light(after)
    return words[at] == "one" and counted and words[at - 1] in ("only", "just", "need", "needs", "requires", "has")


def named_month(words: list[str], at: int) -> bool:
    """Whether a word is a month however it is written, by what stands beside it: "in may", "june 2027"."""
    if not _month(words[at]):
        return False
    year = at + 1 < len(words) and words[at + 1].isdigit() and len(words[at + 1]) == _YEAR
    return year or words[at - 1 if at else at] in ("in", "since", "until", "till", "by", "from", "mid", "early", "late")


_YEAR = 4


def _month(word: str) -> bool:
    return claiming.CLASSES.get(word) == "month" or word in ("may", "march")


def _spoken(tokens: list[str], words: list[str], at: int) -> tuple[str, str, int] | None:
    """A value of several words: an address, the number of a telephone, "every day", "at two"."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word == "every" and after in claiming.RHYTHMS:
        return "rhythm", claiming.RHYTHMS[after], at + 2
    unit = words[at + 2] if at + 2 < len(words) else ""
    if word == "every" and (after in wording.CARDINALS or after in ("other", "second")) and unit:
        return "rhythm", f"every {wording.CARDINALS.get(after, 2)} {stemmed(unit)}", at + 3
    if word in wording.ADVERBS and (word != "once" or after in ("a", "an", "per", "every")):
        return "number x", str(wording.ADVERBS[word]), at + 1
    if word in wording.ORDINALS and words[at - 1 : at] == ["the"] and (not after or empty(after)):
        return "ordinal", str(wording.ORDINALS[word]), at + 1
    if not word[0].isdigit():
        hour = wording.CARDINALS.get(word, 0)
        bare = words[at - 1 : at] == ["at"] and 0 < hour <= 12 and (not after or empty(after))
        return ("time", f"{hour}:00", at + 1) if bare else None
    end = at
    while end < len(words) and words[end].isdigit():
        end += 1
    if end > at + 1 and sum(map(len, words[at:end])) >= 6:
        return "telephone", "".join(words[at:end]), end
    hour_said = digits.plain(word) if word.isdecimal() and words[at - 1 : at] == ["at"] else ""
    if 0 < len(hour_said) <= 2 and int(hour_said) <= 24 and (not after or empty(after)):
        return "time", f"{hour_said}:00", at + 1
    for end in range(at + 2, min(at + 5, len(words) + 1)):
        if not tokens[end - 1][0].isupper():
            break
        if words[end - 1] in claiming.STREETS:
            return "address", " ".join(words[at:end]), end
    return None


def _counted(words: list[str], at: int, number: re.Match[str] | tuple[str]) -> tuple[str, str, int]:
    """A number and what it counts: a unit, else the word behind it."""
    after = words[at + 1] if at + 1 < len(words) else ""
    if isinstance(number, tuple):
        value, unit = number[0], ""
    else:
        value, unit = number[2].replace(",", ""), wording.UNITS.get(number[3], "") or number[1]
    half = after.replace(".", "")
    if half in ("am", "pm", CLOCK):
        return "time", f"{digits.plain(value.partition('.')[0])}:00{half if half != CLOCK else ''}", at + 2
    if not unit and after in wording.UNITS:
        return f"number {wording.UNITS[after]}", value, at + 2
    if not unit and after and after.isalpha() and not empty(after) and after not in claiming.COPULAS:
        return f"number {stemmed(after)}", value, at + 2
    return f"number {unit}".strip(), value, at + 1
