"""Names whom "she", "his" and the like speak of, sentence by sentence, where only one person can be meant.

"Ada lives in Graz. Her phone is 555-0100." says of Ada's phone what a later "Ada's phone is 555-0199 now." says
otherwise. A pronoun at the beginning of a sentence stands for the name at the beginning of an earlier one, where no
other person is named in between. Any other pronoun, and one in doubt, stays as it is. English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memquorum.core.reading import claiming, wording
from memquorum.core.reading.lists import bag

_OPENS = re.compile(r"(?P<word>[Ss]he|[Hh]e|[Hh]er|[Hh]is)(?P<is>['’](?:s|ll|d))?\b")
_NAME = re.compile(r"(?P<name>[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?: [A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+)?)(?:['’]s)? +[a-zß-öø-ÿ]")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_PLACES = bag("before-places")
_NO_NAMES = bag("no-names") | wording.FUNCTION | claiming.FIRST | claiming.PRONOUNS | claiming.INDEFINITE
_POSSESSIVE = frozenset({"her", "his"})
LONGEST = 400
"""A longer sentence names nobody, and no pronoun in it is resolved."""


def resolved(sentences: Sequence[str]) -> list[str]:
    """The sentences, as many, with a pronoun at the beginning replaced by the one name that it can stand for."""
    found, name = list[str](), None
    for sentence in sentences:
        pronoun = _OPENS.match(sentence) if name is not None and len(sentence) <= LONGEST else None
        if pronoun is None or name is None:
            found.append(sentence)
        else:
            ending = "'s" if pronoun["word"].casefold() in _POSSESSIVE else pronoun["is"] or ""
            found.append(f"{name}{ending}{sentence[pronoun.end() :]}")
        name = _person(sentence, name if pronoun is not None else None)
    return found


def _person(sentence: str, known: str | None) -> str | None:
    """The one person whom a sentence names, or the known one whom its pronoun stands for; None in doubt."""
    if len(sentence) > LONGEST:
        return None
    opens = _NAME.match(sentence)
    if opens is not None and opens["name"].split()[0].casefold() not in _NO_NAMES:
        name, rest = opens["name"], sentence[opens.end("name") :]
    elif known is not None:
        name, rest = known, sentence.partition(" ")[2]
    else:
        return None
    before = "in"  # what continues a name is part of it
    for word in _WORD.findall(rest):
        if word[0].isupper() and before not in _PLACES and not before[0].isupper() and word != "I":
            return None
        before = word if word[0].isupper() else word.casefold()
    return name
