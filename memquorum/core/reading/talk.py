"""Recognizes small talk, texts without content of their own, in ten languages (SPEC B, novelty).

A text is small talk where listed words and phrases of one language are all that is in it: "ok thanks!", "Guten Morgen,
Anna", "お疲れ様です". All of a text or nothing: a number, a name, a code, a sign or an emoji that is not listed, or any
word that is not, makes it a text that says something: "ok, the door code is 4821". The addressee of a greeting,
thanks or praise is no content; a statement about a person is ("Roger is back").

If light words are listed, a sentence of them alone is talk as well: "Could you have another look at this?". In
five languages, so are an entry that is the whole text, and a wish, thanks or a question to the listener that goes on
with everyday words. Abbreviations such as "thx" are read in full, and one word of a text may be mistyped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from memquorum.core.reading import lists
from memquorum.core.reading.lists import CJK, LANGUAGES, SPACED, SPACELESS, Long, Phrases, Words, either
from memquorum.core.reading.memo import WORD, memo
from memquorum.core.reading.normal import normalised
from memquorum.core.reading.orders import asks_to_forget
from memquorum.core.reading.words import folded, words

VERSION = 17
"""Raise it with every change of a rule or a list: stages of two versions judge texts otherwise."""

# A longer text says something, and so does a longer sentence of light words.
_LONG, _LIGHT_MOST = 200, 10
# Entries that are said whole stand beside each other where each has so many words.
_WHOLE_LEAST = 3
# An opening of small talk goes on for so many words at most.
_OPEN_MOST = 16
# A phrase of so many words is one though it begins with what may be a name, or with "he".
_WHOLE = 4
# More words that mean nothing without others say something: "they would have been there".
_BESIDE_MOST = 3
_CALLED_MOST, _CALLED_LONG = 2, 8
_SIGNS = frozenset("".join(lists.sections("any")["signs"]))
_WORDS = re.compile(r"[^\W_]+")
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_SENTENCE = re.compile(r"[.!?…;:。！？；：～]+|\n")
_PIECES = re.compile(r"[^\w]+|_")
_COMMA = re.compile(r"[,，、]")
_LATIN = re.compile(r"[a-z]+")
_PARTICLES = "をにがのは"
_DRAWN = re.compile(r"([^\W\d_])\1{2,}")
_ROLED = re.compile(r"\s*(?:user|assistant|human|ai|agent|customer|bot)\s*:\s+", re.IGNORECASE)
_ALWAYS_CAPITAL = frozenset({"i", "ok", "okay", "god", "lol"})
# A speaker's own name is content: "Hi, I'm Lea."
_INTRODUCES = re.compile(
    r"(?:\bI['’]m|\bI am|\b[Ii]t['’]s me,?|\b[Ii]ch bin|\b[Ii]ch hei(?:ß|ss)e|\b[Jj]e suis|\b[Ss]oy|\b[Ss]ono|\b[Ss]ou|"
    r"\b[Ii]k ben|\b[Jj]estem)\s+[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]"
)
# "hahahaha", "jajaja", "kkkk", "rsrsrs", "zzz".
_LAUGHS = re.compile(
    r"(?:[abm]|mu|mw|bw)?(?:(?:h[aei]){2,}h?|(?:j[aei]){2,}j?|(?:[aei]h){2,}[aei]?|(?:rs){2,}|(?:hue){2,}|(?:kk)+k|(?:ks){2,})|"
    r"x[dp]+|lo+l+|mdr+|ptdr+|a{4,}|h+m+|z{3,}|w{3,}"
)
# Keys beside each other: "asdfgh".
_ROWS = ("qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "qsdfghjklm", "zxcvbnm", "yxcvbnm", "wxcvbn")
_KEYS_LEAST = 4
# Small letters that an apostrophe leaves. Others are names: "x", "b".
_ELIDED = frozenset("acdeijklmnostuy")
# An inability is content, except in phrases of courtesy.
_UNABLE = re.compile(rf"\b(?:can['’]t|cannot|can not)\b(?!\s+(?:{either('courtesy')})\b)", re.IGNORECASE)
# "Thanks @mara!": a mention calls somebody.
_MENTIONS = re.compile(r"(?<!\S)@(?P<who>[^\W_][\w-]{0,31})(?![\w@.])")
_AND = frozenset({"and", "und", "et", "y", "e", "en", "i", "&"})
# Names that are written for how they sound, or 小 and the like before one.
_BARE = re.compile(
    r"[ァ-ヺー]{2,8}|[小老阿][\u4e00-\u9fff]{1,2}|[阿艾埃奥巴贝本比伯布查达戴丹德迪蒂多杜尔法菲费弗芙格戈哈海汉赫霍吉加贾杰卡凯康科克拉莱兰"
    r"劳勒雷丽莉利琳卢鲁路伦罗洛玛马麦曼梅米密娜妮尼内努诺帕佩皮普琪乔琼萨塞莎沙珊史斯丝苏塔泰汤特汀托瓦威维温文沃西希夏谢辛雅亚伊因尤约泽詹珍娅可姆森顿]{2,5}"
)
# The dot of a title ends no sentence, and signs that are a face say nothing: "Thanks, Dr. Li :D".
_TITLED = re.compile(
    r"\b(Mrs?|M[sx]|Dr|Prof|Hr|Fr|Dra|Sra?|Srta|Sig|Dott|Avv|Ing|Mme|Mlle|St|M|Dhr|Mw|Mevr|Profa)\.(?=\s*[A-Z]|r?a\b|ssa\b)"
)
_FACES = re.compile(r"(?<!\S)(?:[:;=][-'o^]?[)(DPpOo/\\|*\]\[]+|<3+|\^_*\^|\\?o/|:3|[xX]D+|\(y\))(?!\w)")
_NODS = re.compile(r"\s*\+1[.!\s]*\Z")


def load() -> None:
    """Reads the lists of all languages, which the first text would wait for."""
    for language in LANGUAGES:
        (_unspaced if language in SPACELESS else _spaced)(language)


def says_nothing(text: str) -> bool:
    """Whether a text holds nothing but small talk of one language, or only asks to forget or erase something."""
    if (role := _ROLED.match(text)) is not None:
        text = text[role.end() :]
    text = _MENTIONS.sub(_mentioned, text) if "@" in text else text
    if len(text) > _LONG:
        return False
    text = _TITLED.sub(r"\1", _FACES.sub("", text))
    if _NODS.match(text) or asks_to_forget(text):
        return True
    signs = any(not (one.isalnum() or one.isspace() or one in _SIGNS) for one in text)
    if signs or _INTRODUCES.search(text) or _UNABLE.search(text):
        return False
    plain = normalised("NFKC", text)
    sentences = [one for one in _SENTENCE.split(plain) if any(map(str.isalnum, one))]
    if CJK.search(plain):
        return any(all(map(_unspaced(language).talks, sentences)) for language in SPACELESS)
    # A word that no list of a language has may be a name or mistyped, so few languages are left of most texts.
    said = words(text)
    known = [_known(folded(word)) for word in said if not word.istitle()]
    for at, language in enumerate(SPACED):
        strange = sum(not one >> at & 1 for one in known)
        if strange == 0 and all(map(_spaced(language).talks, sentences)):
            return True
        if strange <= 1 and (meant := _mistyped(at, said, sentences)) and all(map(_spaced(language).talks, meant)):
            return True
    return False


def _mistyped(at: int, said: list[str], sentences: list[str]) -> list[str]:
    """The sentences with a word that is mistyped as a language has it; none where more words than it are unknown."""
    unknown = {word for word in said if not _known(folded(word)) >> at & 1}
    for word in sorted(unknown) if len(unknown) <= _CALLED_MOST else ():
        if (not word.istitle() or word == said[0]) and (meant := _spaced(SPACED[at]).meant(folded(word))):
            return [_replaced(one, word, meant) for one in sentences]
    return []


def _replaced(sentence: str, word: str, meant: str) -> str:
    return _WORDS.sub(lambda found: meant if found[0] == word else found[0], sentence)


def _mentioned(mention: re.Match[str]) -> str:
    """The text that replaces a mention: empty, unless it is a word, "see you @noon"."""
    return mention[0] if _known(folded(mention["who"])) or folded(mention["who"]) in _calendar() else ""


@memo(16_384)
def _is_noise(word: str) -> bool:
    """Whether a folded word is laughter, or what fingers hit."""
    return _LAUGHS.fullmatch(word) is not None or (len(word) >= _KEYS_LEAST and any(word in row for row in _ROWS))


def talk_of(text: str) -> frozenset[str]:
    """The words of a text that talk is made of, in small letters: those of one language, of which it has the most."""
    said = {word.casefold() for word in words(text) if len(word) <= WORD}
    light = {word: _light(word) for word in said}
    most = max(range(len(_WITH_LIGHT)), key=lambda at: sum(each[at] for each in light.values()))
    return frozenset(word for word in said if light[word][most])


_WITH_LIGHT = ("en", "de", "fr", "es", "it")


@memo(16_384)
def _known(word: str) -> int:
    """The languages that have a word in a list, a bit each: of most texts no language knows most words."""
    return sum(_spaced(language).knows(word) << at for at, language in enumerate(SPACED))


def known_in(words_: Iterable[str]) -> tuple[int, ...]:
    """How many folded words each language with spaces has in its lists, in the order of `SPACED`. The language of a
    text is most likely the one that has the most."""
    bits = [_known(word) for word in words_]
    return tuple(sum(one >> at & 1 for one in bits) for at in range(len(SPACED)))


@memo(16_384)
def _light(word: str) -> tuple[bool, ...]:
    return tuple(_spaced(language).worthless(word) for language in _WITH_LIGHT)


class _Spaced:
    """A language that is written with spaces."""

    def __init__(self, language: str) -> None:
        self._nouns_capital = language == "de"
        self._single = lists.single("any", "alone") | lists.single(language, "alone")
        self._said = Phrases(language, "alone", "phrases", "greets")
        self._greets = Phrases(language, "greets")
        self._beside = lists.single(language, "beside") - self._single
        self._titles = lists.single(language, "honorifics")
        self._is, self._pronouns = frozenset(lists.sections(language).get("is", ())), lists.single(language, "pronouns")
        self._words = Words(lists.strings(language, "light"))
        self._people = lists.single("any", "people")
        self._not, self._deniable = (
            Words(lists.strings("any", name) | lists.strings(language, name)) for name in ("light-not", "deniable")
        )
        self._letters = _ELIDED | {word for word in self._beside if len(word) == 1}
        self._worthless = Words(lists.strings(language, "worthless"))
        self._you = lists.single(language, "you")
        self._opens, self._rest = Phrases(language, "opens"), Words(lists.strings(language, "rest"))
        self._third = lists.single(language, "third")
        self._stops = lists.single(language, "stops")
        self._joining = lists.single(language, "and", "but")
        self._called, self._whole = Phrases(language, "called"), Phrases(language, "whole")
        self._long = Long(one for one in self._said.vocabulary | self._whole.vocabulary if one not in self._people)
        self._written_out = {
            folded(short.strip()): out.strip()
            for short, _, out in (one.partition("=") for one in lists.sections(language).get("short", ()))
        }
        if self._nouns_capital:
            dotted = (one for one in self._said.vocabulary if not one.isascii())
            self._written_out |= {word.translate(_SPELLED): word for word in sorted(dotted)}

    def talks(self, sentence: str) -> bool:
        """Whether a sentence is small talk, as it is written or with what is short for something written out."""
        out = _WORDS.sub(self._out, sentence) if len(sentence.strip()) > 1 else sentence
        return any(self._talks(one) or self._all_whole(one) for one in dict.fromkeys((sentence, out)))

    def _out(self, word: re.Match[str]) -> str:
        out = self._written_out.get(folded(word[0]))
        return word[0] if out is None else out.capitalize() if word[0].istitle() else out

    def meant(self, word: str) -> str:
        """The listed word that a folded word misspells; empty if it misspells none."""
        return self._long.meant(word)

    def _talks(self, sentence: str) -> bool:
        said = words(sentence)
        read = [self._said.spelled(folded(word)) for word in said]
        if self._states(said, read):
            return len(read) >= _WHOLE and len(read) in self._said.lengths(read, 0)
        capital = self._capitals(said)
        beside_most = 0 if len(said) > 1 and all(word.istitle() for word in said) else _BESIDE_MOST
        return self._covers(read, capital, beside_most) or self._calls(sentence, said, read) or (
            beside_most > 0 and not capital and self._all_light(read)
        )  # fmt: skip

    def knows(self, word: str) -> bool:
        """Whether a folded word is in any of its lists, as it is spelled there."""
        word = self._said.spelled(word)
        if word in self._rest:
            return True
        phrases = (self._said, self._opens, self._whole, self._called)
        listed = word in self._written_out or any(word in one.vocabulary for one in phrases)
        return listed or self._is_light(word) or word in self._people or _is_noise(word)

    def worthless(self, word: str) -> bool:
        """Whether talk is made of such a word, so that it adds nothing to what a text is worth."""
        read = folded(word)
        return read in self._worthless or read in self._not

    def _is_light(self, read: str) -> bool:
        listed = read in self._single or read in self._beside or read in self._words or read in self._not
        return listed or read in _ELIDED or read in self._titles

    def _states(self, said: list[str], read: list[str]) -> bool:
        """Whether it begins with somebody and what they are or do: "he", or a name, though it may be small talk
        elsewhere; or has a single letter that is a name."""
        if any(len(word) == 1 and word.islower() and word not in self._letters for word in read if word.isascii()):
            return True
        if len(read) > 1 and read[0] in self._third:
            return True
        return len(read) > 1 and said[1].casefold() in self._is and read[0] not in self._pronouns and said[0].istitle()

    def _capitals(self, said: list[str]) -> frozenset[int]:
        """The places inside a sentence of words with a capital letter, which are names unless a phrase has them."""
        if self._nouns_capital or all(word.isupper() for word in said) or all(word[0].isupper() for word in said):
            return frozenset()
        return frozenset(
            at for at, word in enumerate(said) if at and word[0].isupper() and word.casefold() not in _ALWAYS_CAPITAL
        )

    def _all_whole(self, sentence: str) -> bool:
        """Whether each piece between commas is an entry that is said whole, small talk, or whom it speaks to."""
        if self._is_whole(words(sentence)):
            return True
        found, called = 0, 0
        for at, piece in enumerate(one for one in _COMMA.split(sentence) if any(map(str.isalnum, one))):
            said = words(piece)
            joined = at > 0 and folded(said[0]) in self._joining
            if self._are_names(said) and (at or all(folded(word) in self._people for word in said)):
                called += 1
            elif self._is_whole(said[joined:]) or self._is_open(said[joined:]) or self._talks(piece):
                found += len(said)
            else:
                return False
        # One word before a comma may be the answer: "Yes, Alice."
        return found > 1 or (found == 1 and not called)

    def _is_whole(self, said: list[str]) -> bool:
        """Whether the words are one entry that is said whole, or several long ones; beside them words that stand alone
        and, at its end, a name of the list."""
        read = [self._whole.spelled(self._said.spelled(folded(word))) for word in said]
        if self._states(said, read):
            return len(read) >= _WHOLE and len(read) in self._whole.lengths(read, 0)
        reached, capital = {0: False}, self._capitals(said)
        for at, word in enumerate(read):
            if at not in reached:
                continue
            before = all(map(self._is_single, read[:at]))
            for many in self._whole.lengths(read, at):
                alone = before and all(map(self._is_single, read[at + many :]))
                if alone or many >= _WHOLE_LEAST:
                    reached[at + many] = True
            if at not in capital and (self._is_single(word) or (at > 0 and word in self._joining)):
                reached[at + 1] = reached.get(at + 1, False) or reached[at]
        return reached.get(len(read), False)

    def _is_open(self, said: list[str]) -> bool:
        """Whether a wish, thanks or a question to who listens goes on with everyday words alone."""
        read = [self._said.spelled(folded(word)) for word in said]
        if len(read) > _OPEN_MOST:
            return False
        at = 0
        while at < len(read) - 1 and self._is_single(read[at]) and not self._opens.lengths(read, at):
            at += 1
        if at >= len(read) or not (many := max(self._opens.lengths(read, at), default=0)):
            return False
        rest = range(at + many, len(read))
        capital = self._capitals(said)
        # "Happy birthday is sung at noon" is no wish.
        if not self._stops.isdisjoint(read[at + many :]) or (rest and read[rest[0]] in self._is):
            return False
        return all(self._is_everyday(read[one]) and (one not in capital or read[one] in _calendar()) for one in rest)

    def _is_everyday(self, word: str) -> bool:
        return word in self._rest or (self.knows(word) and word not in self._people and word not in self._titles)

    def _is_single(self, word: str) -> bool:
        return word in self._single or _is_noise(word)

    def _covers(self, read: list[str], capital: frozenset[int], beside_most: int) -> bool:
        """Whether the words are those of entries, but for so many function words. A name has to be in a phrase."""
        least: list[int | None] = [0, *[None] * len(read)]
        for at, word in enumerate(read):
            before = least[at]
            if before is None:
                continue
            ends = {at + many: before for many in self._said.lengths(read, at)}
            if word in self._single or (beside_most and word in _ELIDED) or _is_noise(word):
                ends.setdefault(at + 1, before)
            elif word in self._beside:
                ends.setdefault(at + 1, before + (word not in read[:at]))
            if at in capital:
                ends.pop(at + 1, None)
            for end, count in ends.items():
                known = least[end]
                least[end] = count if known is None else min(known, count)
        return least[-1] is not None and least[-1] <= beside_most and least[-1] < len(read)

    def _calls(self, sentence: str, said: list[str], read: list[str]) -> bool:
        """Whether it is small talk but for the names of whom it speaks to: behind a greeting, at the end behind a
        comma, or a name of the list between commas."""
        places = _parted(sentence)
        greeted = {
            at + many
            for at in range(len(read))
            if at in places or all(word in self._single for word in read[:at])
            for many in self._greets.lengths(read, at)
        }
        for many in range(1, _CALLED_MOST + 3):
            for at in range(len(said) - many + 1):
                rest = read[:at] + read[at + many :]
                if not rest or not self._are_names(said[at : at + many]):
                    continue
                last = at + many == len(said)
                ends = last or at + many in places
                known = all(word in self._people or word in _AND for word in read[at : at + many])
                # One word before a comma may be the answer: "Yes, Alice."
                parted = (
                    (len(rest) > 1 or greeted) and (at in places or (at == 0 and known)) and (last or (known and ends))
                )
                # "Thanks, Tom is here" speaks of Tom, "Hi Tom how are you" to him.
                goes_on = ends or (
                    bool(self._opens.lengths(read, at + many)) and said[at + many].casefold() not in self._is
                )
                beside = at in greeted and goes_on and (ends or known or not self._nouns_capital)
                if (beside or parted) and (
                    self._covers(rest, frozenset(), 1 if beside else _BESIDE_MOST) or (parted and self._all_light(rest))
                ):
                    return True
        return False

    def _are_names(self, called: list[str]) -> bool:
        """Whether one or two are named: "Ada Quill", "Ada and Tom", "Prof. Dr. Ada Quill", "my dear friend"."""
        if len(called) in self._called.lengths([folded(word) for word in called], 0):
            return True
        while len(called) > _CALLED_MOST and folded(called[0]) in self._titles:
            called = called[1:]
        if len(called) > _CALLED_MOST + 1:
            return False
        if len(called) > _CALLED_MOST:
            return folded(called[1]) in _AND and self._names(called[0]) and self._names(called[2])
        return all(map(self._names, called))

    def _names(self, word: str) -> bool:
        read = folded(word)
        if not word.isalpha():
            return False
        return read in self._people or (read not in _calendar() and (word.istitle() or read in self._titles))

    def _all_light(self, read: list[str]) -> bool:
        """Whether every word is light, and denied is at most what talk denies."""
        if not 1 < len(read) <= _LIGHT_MOST or self._beside.issuperset(read):
            return False
        at, alone = 0, list[str]()
        while at < len(read):
            many = max((one for one in self._said.lengths(read, at) if one > 1), default=0)
            if not many:
                alone.append(read[at])
            at += many or 1
        if any(not (word in self._single or word in self._words or word in self._not or word in _ELIDED)
               for word in alone):  # fmt: skip
            return False
        denied = any(word in self._not for word in alone)
        return not denied or (read[0] not in self._you and any(word in self._deniable for word in read))


@cache
def _calendar() -> frozenset[str]:
    return lists.single("any", "calendar")


def _parted(sentence: str) -> set[int]:
    """The places of words before which a comma stands."""
    found, at = set[int](), 0
    for piece in _COMMA.split(sentence)[:-1]:
        at += len(words(piece))
        found.add(at)
    return found


class _Unspaced:
    """A language that is written without spaces."""

    def __init__(self, language: str) -> None:
        self._single = lists.single("any", "alone") | lists.single("en", "alone")
        self._said = lists.strings(language, "alone", "phrases", "greets")
        self._whole = lists.strings(language, "whole")
        """Entries that say something with others: "不", "同意"."""
        self._beside = lists.strings(language, "beside") - self._whole
        self._greets = lists.strings(language, "greets")
        self._titles = lists.strings(language, "honorifics")
        self._names, self._surnames, self._words = (
            lists.strings(language, name) for name in ("names", "surnames", "no-names")
        )
        pairs = (entry.partition("/") for entry in lists.sections(language)["given"])
        self._given = tuple((frozenset(first), frozenset(last)) for first, _, last in pairs)
        self._simple = lists.variants(language)
        self._title, self._greeting = tuple(self._titles), tuple(self._greets)
        self._most = max(map(len, self._said), default=0)

    def talks(self, sentence: str) -> bool:
        """Whether a sentence is small talk: each of its pieces between signs is, or one is whom it speaks to."""
        plain = sentence.translate(self._simple)
        pieces = [_DRAWN.sub(r"\1", folded(one)) for one in _PIECES.split(plain) if one]
        rest = [one for one in pieces if not self._called(one)]
        if any(piece.startswith(self._greeting) or piece.endswith(self._greeting) for piece in rest):
            rest = [one for one in rest if one in self._said or not self._is_name(one)]
        read = [self._covers(one) for one in rest]
        return None not in read and any(read)

    def _called(self, piece: str) -> bool:
        named = len(piece) <= _CALLED_LONG and piece.endswith(self._title) and piece not in self._titles
        return named and not any(one in piece[1:] for one in _PARTICLES)

    def _covers(self, piece: str) -> bool | None:
        """Whether an entry is in a piece; None where something else is in it."""
        reached, said, greeted = {0}, {0: False}, set[int]()
        for at in range(len(piece)):
            if at not in reached:
                continue
            latin = _LATIN.match(piece, at)
            if latin and (latin[0] in self._single or _is_noise(latin[0]) or set(latin[0]) == {"w"}):
                reached.add(latin.end())
                said[latin.end()] = True
            if at in greeted and self._calls(piece[at:]):
                return said[at]
            for end in range(at + 1, min(len(piece), at + self._most) + 1):
                part = piece[at:end]
                greets = part in self._greets
                listed = (
                    greets
                    or (part in self._said and (part == piece or part not in self._whole))
                    or (
                        (piece[end:] in self._greets or (at == 0 and piece.startswith(self._greeting, end)))
                        and self._calls(part)
                    )
                )
                if listed or part in self._beside:
                    reached.add(end)
                    said[end] = said.get(end, False) or said[at] or listed
                if greets:
                    greeted.add(end)
        return said.get(len(piece))

    def _calls(self, part: str) -> bool:
        return self._called(part) or self._is_name(part)

    def _is_name(self, part: str) -> bool:
        """Whether it can only be a name beside a greeting: it is written for how it sounds, or listed."""
        if part in self._words:
            return False
        if _BARE.fullmatch(part) or (len(part) > 1 and part in self._surnames):
            return True
        return any(self._is_given(part[many:]) and (not many or part[:many] in self._surnames) for many in range(4))

    def _is_given(self, part: str) -> bool:
        pair = len(part) == 2
        return part in self._names or (
            pair and any(part[0] in first and part[1] in last for first, last in self._given)
        )


_spaced, _unspaced = cache(_Spaced), cache(_Unspaced)
