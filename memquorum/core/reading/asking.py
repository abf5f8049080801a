"""Recognizes a bare question, which states nothing and so answers nothing: "Who has the spare projector?"

A question may carry a statement: "Since the raise I put $260 a month into the fund, can you project it?" is not bare,
for it does not begin as a question does, and a long one seldom only asks.
"""

from __future__ import annotations

import re

from memquorum.core.reading.sentences import sentences

_LONGEST = 16
"""Words."""

_BEGINS = re.compile(
    r"[\W_]*+(?:(?:and|but|so|also|ok|okay|hey|hi|hello|und|aber|et|mais|y|pero|e|ma)[\s,]++)*"
    r"(?:who|whom|whose|where|which|what|when|why|how|is|are|was|were|am|do|does|did|has|have|had|can|could|may|might|must|"
    r"should|shall|will|would|isn|aren|don|doesn|didn|won|any|anyone|anybody|"
    r"wer|wem|wen|wessen|wo|wohin|woher|wann|warum|wieso|weshalb|wie|was|welche[rsnm]?|ist|sind|hat|haben|habt|kann|können|"
    r"könnt|könnte|könnten|darf|dürfen|muss|müssen|soll|sollen|sollte|wird|werden|gibt|weiß|"
    r"qui|où|quand|pourquoi|comment|combien|que|quoi|quel|quelle|quels|quelles|est|sont|a|as|avez|peut|peux|pouvez|"
    r"quién|quiénes|dónde|cuándo|qué|cómo|cuál|cuáles|cuánto|cuánta|cuántos|cuántas|por qué|está|están|hay|puede|"
    r"puedes|alguien|chi|dove|quando|perché|come|cosa|quale|quali|quanto|quanta|quanti|quante|c|è|ci|può|puoi|qualcuno)\b",
    re.IGNORECASE,
)  # fmt: skip
# Questions that state something.
_TELLS = re.compile(
    r"\bdid you know\b|\b(?:right|correct|isn['’]t it|aren['’]t they|oder|nicht wahr|n['’]est-ce pas|verdad|vero)\s?\?$"
)


def bare_question(text: str) -> bool:
    """Whether each of its sentences asks, and does nothing else."""
    flat = text.strip().casefold()
    if not flat.endswith(("?", "？", "؟")) or len(flat.split()) > _LONGEST or _TELLS.search(flat):
        return False
    return all(one.rstrip().endswith(("?", "？", "؟")) and _BEGINS.match(one) for one in sentences(flat))
