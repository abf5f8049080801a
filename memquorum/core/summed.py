"""The summaries of a namespace, sentence by sentence, as salience compares an episode with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import islice

from memquorum.core.reading.agreement import ComparedText, gist, personal
from memquorum.core.reading.conflict import Claims, read
from memquorum.core.reading.content import content
from memquorum.core.reading.sameness import fingerprint
from memquorum.core.reading.sentences import sentences

SENTENCES_MOST = 100
"""So many sentences of a text are held against summaries; the rest denies none of theirs."""
# The number of nearest lines that are asked whether they contradict.
_NEAR_MOST = 16


class SummaryLine:
    """A line of a summary, a sentence or more. `agent`: who said all of the summary; empty where several did."""

    def __init__(self, memory_id: str, agent: str, text: str) -> None:
        self.memory_id, self.agent, self.text = memory_id, agent, gist(text)
        self.words = _words(text)

    @cached_property
    def claims(self) -> Claims:
        """The claims of the text, read once."""
        return read(self.text)


class Summed:
    """The contents of summaries, sentence by sentence. The vector of a summary is of all its sentences, and near to
    none of them. So a repeated sentence is recognized by its fingerprint (`core.reading.sameness`), and a denied one by
    its content words and then by its claims (`core.reading.conflict`)."""

    def __init__(self) -> None:
        self._sentences: dict[str, list[bytes]] = {}
        self._by_sentence: dict[bytes, set[str]] = {}
        self._lines: dict[str, list[SummaryLine]] = {}
        self._by_word: dict[str, dict[SummaryLine, None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._sentences.values()))

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._sentences

    def add(self, memory_id: str, text: str, agent: str = "") -> None:
        """Takes the sentences of a summary in, unless it is there. `agent`: who said all of them, if one did."""
        if memory_id in self._sentences:
            return
        self._lines[memory_id] = [SummaryLine(memory_id, agent, line) for line in text.split("\n")]
        for each in self._lines[memory_id]:
            for word in each.words:
                self._by_word.setdefault(word, {})[each] = None
        self._sentences[memory_id] = [fingerprint(one) for one in sentences(text)]
        for one in self._sentences[memory_id]:
            self._by_sentence.setdefault(one, set()).add(memory_id)

    def remove(self, memory_id: str) -> None:
        """Lets a summary go; nothing happens if it is not there."""
        for each in self._lines.pop(memory_id, ()):
            for word in each.words:
                del self._by_word[word][each]
                if not self._by_word[word]:
                    del self._by_word[word]
        for one in self._sentences.pop(memory_id, ()):
            having = self._by_sentence.get(one, set())
            having.discard(memory_id)
            if not having:
                self._by_sentence.pop(one, None)

    def saying(self, text: str, agent: str) -> list[str]:
        """The summaries that have each sentence of what an agent says, in its order, by id; where that says "I" or
        "you", of what it said itself."""
        asked = [fingerprint(one) for one in sentences(text)]
        if not asked:
            return []
        own = personal(text)
        return sorted(
            one
            for one in self._by_sentence.get(asked[0], ())
            if (not own or self._lines[one][0].agent == agent) and _in_order(asked, self._sentences[one])
        )

    def has(self, text: str) -> bool:
        """Whether each sentence of a text is one of a summary's."""
        asked = [fingerprint(one) for one in sentences(text)]
        return bool(asked) and all(one in self._by_sentence for one in asked)

    def near(self, said: ComparedText) -> list[tuple[float, SummaryLine]]:
        """The lines that share the most content words with a sentence of a text, best first: of all words that either
        has, which share both have."""
        found: dict[SummaryLine, float] = {}
        asked = dict.fromkeys(filter(None, map(_words, said.sentences)))
        for words in islice(asked, SENTENCES_MOST):
            both = Counter(line for word in words for line in self._by_word.get(word, ()))
            for line, count in both.items():
                share = count / (len(words) + len(line.words) - count)
                found[line] = max(share, found.get(line, 0.0))
        best = nsmallest(_NEAR_MOST, found.items(), key=lambda one: (-one[1], one[0].memory_id, one[0].text))
        return [(share, line) for line, share in best]


def _in_order(some: Sequence[bytes], of: Iterable[bytes]) -> bool:
    """Whether all of some stand in another sequence, in their order."""
    rest = iter(of)
    return all(one in rest for one in some)


def _words(sentence: str) -> frozenset[str]:
    return frozenset(content(sentence).stems)
