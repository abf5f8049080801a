"""Texts of any length that are made to be slow to read, or to make a reader raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count, cycle, islice

Text = Callable[[int], str]
"""Makes a text of so many characters."""

_RUNS = {
    "blanks": " ",
    "tabs": "\t",
    "line ends": "\n",
    "dots": ".",
    "commas": ",",
    "hyphens": "-",
    "underscores": "_",
    "slashes": "/",
    "colons": ":",
    "quotes": '"',
    "apostrophes": "'",
    "at signs": "@",
    "questions": "?",
    "exclamations": "!",
    "brackets": "[",
    "parentheses": "(",
    "pluses": "+",
    "equals": "=",
    "hashes": "#",
    "percents": "%",
    "stars": "*",
    "nuls": "\0",
    "ones": "1",
    "noughts": "0",
    "letters": "a",
    "capitals": "A",
    "wide stops": "。",
    "ellipses": "…",
    "half surrogates": "\ud800",
    "low surrogates": "\udfff",
    "combining marks": "\u0301",
    "joiners": "\u200d",
    "directions": "\u202e",
    "arabic digits": "٣",
    "superscripts": "²",
    "roman numerals": "Ⅷ",
    "fullwidth digits": "７",
    "thai": "ก",
    "han": "漢",
    "arabic": "ب",
    "dotted capitals": "İ",
    "sharp s": "ß",
    "emoji": "👍",
    "long dashes": "—",
    "kana middle dots": "・",
}
_REPEATED = {
    "digit pairs": "00 11 ",
    "single digits": "1 ",
    "digit groups": "123 456 7890 ",
    "grouped thousands": "1,234,",
    "dotted digits": "1.",
    "digits and letters": "1a",
    "letters and digits": "a1",
    "hyphened letters": "a-a-a-",
    "dotted letters": "a.",
    "slashed letters": "a/",
    "underscored letters": "a_",
    "titles": "Dr. Dr. ",
    "initials": "J. K. ",
    "sentences of a letter": "a. ",
    "sentences of a capital": "A. B ",
    "words": "word ",
    "capitalised words": "Word ",
    "small and capital": "aB",
    "dotted capitals": "A.B.",
    "ordinals": "1st 2nd 3rd ",
    "clocks": "12:34 ",
    "clocks in halves": "3 pm ",
    "dates": "12 March 2021, ",
    "iso dates": "2021-03-12 ",
    "months": "March ",
    "money": "$1,000.00 ",
    "percentages": "5% ",
    "numbers in words": "two hundred ",
    "magnitudes": "1 million ",
    "thousands": "thousand ",
    "and numbers": "two hundred and ",
    "one of": "one ",
    "negations": "not ",
    "never": "never ",
    "contractions": "don't ",
    "possessives": "Ada's ",
    "articles": "the ",
    "determined nouns": "the pump ",
    "numbered nouns": "pump 7 ",
    "questions of a word": "why? ",
    "quoted letters": '"a" ',
    "open quotes": '" a',
    "urls": "a://b/c ",
    "schemes": "a:",
    "paths": "/a/b",
    "options": "--a ",
    "addresses": "a@b.c ",
    "half an address": "a@",
    "hosts": "a.b.c ",
    "network addresses": "1.2.3.4 ",
    "hexadecimal groups": "ab:cd:",
    "keys": "sk-aaaa ",
    "tokens": "eyJaaaaa.eyJ",
    "key blocks": "-----BEGIN " + "PRIVATE KEY-----",
    "passwords": "password is ",
    "logins": "://a:b",
    "cards": "4111 1111 1111 1111 ",
    "accounts": "DE89 3704 0044 ",
    "telephones": "+49 30 1234567 ",
    "dashed telephones": "0-00-",
    "births": "born on ",
    "streets": "12 A A A A ",
    "german streets": "Aa-Aa Aa ",
    "towns": ", A, ",
    "transcript": "Ada: Hi! ",
    "corrections": "Correction: ",
    "no longer": "is no longer here, but ",
    "called": "Ada's name is Bo ",
    "roles": "Ada is the lead ",
    "changed from": "from 3 to 4 ",
    "instead": "instead of 3 ",
    "moved": "moved to Graz ",
    "i mean": "no, i mean ",
    "let us": "please read ",
    "conditions": "if a, b. ",
    "please then": ", then ",
    "old": "old a ",
    "in a year": "in 1999 ",
    "half past": "half past ",
    "end of": "end of ",
    "placeholders": "[name 2] ",
    "names": "Ada van Bo ",
    "titled names": "Dr. Ada ",
    "labels": "room 12 ",
    "bounds": "more than 5 ",
    "before and after": "before a after b ",
    "marks above and below": "\u0301\u0316",
    "joined family": "👨\u200d👩\u200d👧 ",
    "accented": "e\u0301",
    "thai and digits": "ก1",
    "half surrogate words": "\ud83d a ",
    "right to left": "\u202eabc\u202c ",
    "windows lines": "a\r\n",
    "list lines": "- a\n",
    "numbered lines": "1. a\n",
    "json": '{"a":[',
    "backslashes": "\\u0000",
    "markup": "<a>",
    "wide marks": "。」",
    "mixed stops": ".!?",
    "stop and quote": '." ',
    "signs": "== != -> ",
    "spelled teens": "twenty-one ",
    "german numbers": "zweihundert ",
    "morgen": "am morgen ",
    "quarters": "Q1 ",
    "weekdays": "next Monday ",
    "slots": "Clean the a ",
    "fillers": "ok thanks ",
    "greetings": "hello, ",
}


def _repeated(piece: str) -> Text:
    return lambda length: "".join(islice(cycle(piece), length))


def _framed(before: str, piece: str, behind: str) -> Text:
    """Makes a run between a beginning and an end that does not fit."""
    return lambda length: before + "".join(islice(cycle(piece), max(0, length - len(before) - len(behind)))) + behind


_FRAMED = {
    "a number before a magnitude": ("The hall has ", "9", " million seats."),
    "a number after a magnitude": ("It costs 5 million ", "9", "."),
    "a number before a unit": ("It is ", "7", " km long."),
    "a number of groups": ("The hall has ", "999,", "999 million seats."),
    "a number with a fraction": ("The hall has 1.", "9", " million seats."),
    "a number as a time": ("It is at ", "9", " pm."),
    "a number of a day": ("It is on March ", "1", ", 2021."),
    "a number of a pump": ("The pump ", "7", " was replaced."),
    "an identifier": ("The pump A", "1", "bb was replaced on Monday."),
    "an identifier in parts": ("The pump A-", "1-", "bb was replaced."),
    "a name of letters": ("The pump ", "A", " was replaced."),
    "a spelled number": ("It has ", "two hundred ", "seats."),
    "a spelled sum": ("It has ", "nine thousand million ", "seats."),
    "a long word": ("It is ", "z", "."),
    "a question": ("Is it ", "so ", "?"),
    "a meant number": ("No, I meant ", "9", "."),
    "a correction": ("Correction: it is ", "9", "."),
    "a negative number": ("It is -", "9", " degrees."),
    "digits of another script": ("It has ", "٣", " million seats."),
    "superscript digits": ("It has ", "²", " million seats."),
    "superscript hours": ("It is at ", "²", " pm."),
    "an end of blanks": ("The pump was replaced", " ", "x"),
    "a bracket that stays open": ("Ada (", "a", "x"),
    "a quote that stays open": ('Ada said "', "a ", "x"),
    "a clause after clause": ("Ada lives in Graz", ", and ", "x"),
    "one sentence": ("The ", "old pump ", "was replaced."),
}

TEXTS: Mapping[str, Text] = {
    **{f"{name}, alone": _repeated(piece) for name, piece in _RUNS.items()},
    **{name: _repeated(piece) for name, piece in _REPEATED.items()},
    **{f"{name}, framed": _framed(*parts) for name, parts in _FRAMED.items()},
}
"""The texts by name."""

ORDINARY: Text = _repeated(
    "Ada Lovelace moved the weekly sync of team Apollo from Monday at 9:30 to Tuesday, 12 March 2021, since room 12 is "
    "closed. The budget is 18,500 euros and not 17,000. Please read the log before a handover. Who has the spare key?\n"
)
"""A text of ordinary sentences: the reference for a rule's time."""


def _distinct(length: int) -> str:
    sentences = (f"Pump {at} of hall {at % 13} leaks at valve {at * 7 % 1_000}. " for at in count())
    return "".join(_enough(sentences, length))[:length]


def _enough(pieces: Iterator[str], length: int) -> Iterator[str]:
    """Joins as many pieces as make a text of a length."""
    left = length
    while left > 0:
        piece = next(pieces)
        left -= len(piece)
        yield piece


DISTINCT: Text = _distinct
"""A text of distinct sentences that are nearly alike: no cached answer serves two of them."""
