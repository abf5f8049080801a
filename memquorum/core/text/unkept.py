"""Whether a text asks not to be remembered: "Don't remember this: …", "Off the record: …", in twelve languages.

What is asked has to stand before a colon, a dash or another end, so that "Don't store this drum near heat" is a rule
like any other. One pattern a language, each without a repetition inside a repetition.
"""

from __future__ import annotations

import re

from memquorum.core.text.normal import normalised

VERSION = 1
"""Raise it with every change: stages of two versions judge texts otherwise."""

_BEGINS = r"(?:\A|[.!?…。！？\n]\s{0,3})\W{0,3}"
_ENDS = r"\s{0,3}(?:[:;.!…。！：—–-]|\n|\Z)"
_PLEASE = r"(?:(?:please|pls|kindly|ok|okay|hey|and|but|so|can you|could you|would you|i'd rather you)[\s,]{1,3}){0,3}"
_MEMORY = r"(?: (?:in|to|into) (?:your |the |its )?(?:memory|memories|record|records|notes))?"
_THIS = r"(?:this|that|any of this|any of that|the following|this one|this part|what follows)"
_KEEP = r"(?:save|store|record|keep|log|note|write down|retain|persist|memori[sz]e|remember)"
_PATTERNS = (
    # English: before what is not to be kept, behind it, and "off the record".
    rf"{_BEGINS}{_PLEASE}(?:don't|do not|dont|never|not) {_KEEP} {_THIS}(?: please| anywhere)?{_MEMORY}{_ENDS}",
    rf"{_BEGINS}{_PLEASE}(?:don't|do not|dont) (?:remember|memori[sz]e) {_THIS}(?: please)?,",
    r"[\s,;.(—–-](?:please )?(?:don't|do not|dont) (?:remember|memori[sz]e) (?:this|that|it)(?:,? please)?"
    r"[\s.!)]{0,5}\Z",
    r"[\s,;.(—–-](?:please )?(?:don't|do not|dont) (?:save|store|record|keep|log) (?:this|that|it) "
    r"(?:anywhere|(?:in|to) (?:your |the )?(?:memory|notes))[\s.!)]{0,5}\Z",
    rf"{_BEGINS}(?:this is |strictly |just )?off the record\s{{0,3}}[:,;.!—–-]",
    r"[\[(]\s{0,3}(?:this is )?(?:off the record|not for the record|do not (?:save|store|record)|"
    r"don't (?:save|store|record))(?: this| that| it)?\s{0,3}[\])]",
    r"\b(?:this|that|it)(?:'s| is) (?:strictly )?off the record[\s.!)]{0,5}\Z",
    r"\bkeep (?:this|that|it) off the record[\s.!)]{0,5}\Z",
    # German
    rf"{_BEGINS}(?:bitte )?(?:merke?|speicher[en]?|notiere?|behalte?)(?: (?:dir|euch|sie sich))? "
    rf"(?:das|dies|folgendes|das folgende)(?: bitte)? nicht{_ENDS}",
    rf"{_BEGINS}(?:bitte )?(?:(?:das|dies|folgendes) )?nicht (?:merken|speichern|notieren|aufzeichnen){_ENDS}",
    # French
    rf"{_BEGINS}(?:s'il te plaît |s'il vous plaît )?(?:ne |n')(?:retien[sz]|retenez|mémorisez?|enregistrez?|"
    rf"sauvegardez?|notez?) pas (?:ça|ceci|cela|ce qui suit){_ENDS}",
    # Spanish
    rf"{_BEGINS}(?:por favor,? )?no (?:recuerdes?|guardes?|memorices?|anotes?|registres?) (?:esto|lo siguiente){_ENDS}",
    # Italian
    rf"{_BEGINS}(?:per favore,? )?non (?:ricordare|salvare|memorizzare|registrare|annotare) (?:questo|ciò|quanto segue)"
    rf"{_ENDS}",
    # Portuguese
    rf"{_BEGINS}(?:por favor,? )?não (?:lembres?|guardes?|salves?|memorizes?|graves?|anotes?|guarde|salve|grave) "
    rf"(?:isto|isso|o seguinte){_ENDS}",
    # Dutch
    rf"{_BEGINS}(?:alsjeblieft )?(?:onthoud|bewaar|noteer|sla) (?:dit|dat) (?:alsjeblieft )?niet(?: op)?{_ENDS}",
    # Polish
    rf"{_BEGINS}(?:proszę )?nie (?:zapamiętuj|zapisuj|zachowuj) tego{_ENDS}",
    # Russian
    rf"{_BEGINS}(?:пожалуйста,? )?не (?:запоминай|сохраняй|записывай)(?:те)? (?:это|этого){_ENDS}",
    # Turkish
    rf"{_BEGINS}(?:lütfen )?bunu (?:hatırlama|kaydetme|saklama){_ENDS}",
    # Chinese, Japanese
    r"(?:\A|[。！？\n])\s{0,3}(?:请)?(?:不要|别)(?:记住|保存|记录|存储)(?:这个|这件事|这些|以下内容|下面的话)?[：:，,。]",
    r"(?:\A|[。！？\n])\s{0,3}(?:これ|以下)は(?:覚え|記憶し|保存し|記録し)ないで(?:ください)?[：:、。]",
)
_ASKS = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS)


def asks_not_to_be_kept(text: str) -> bool:
    """Whether a text asks that it be not remembered."""
    plain = normalised("NFC", text).replace("’", "'")
    return any(pattern.search(plain) for pattern in _ASKS)
