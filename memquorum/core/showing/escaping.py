"""Escapes characters that a terminal would obey, or that would reorder the shown text, as `\\u001b`.

Agents write what they like, and a reader's terminal must not run it. An escape sequence sets the title and the
clipboard, clears the screen or forges lines of it, and a bidirectional override shows a text in another order. The form
is JSON's own, so that a line of JSON that is escaped is still the same value.
"""

from __future__ import annotations

import re

# Unicode's categories Cc (C0, DEL, C1), Zl and Zp, Cs, and Cf without the two joiners U+200C and U+200D, which scripts
# and emoji are spelled with. Cf holds the bidirectional controls and the invisible tag characters; between those stand
# the variation selectors, which ideographs are spelled with.
_OBEYED = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff"
    "\\xad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e"
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\U000110bd\\U000110cd\\U00013430-\\U0001343f\\U0001bca0-\\U0001bca3"
    "\\U0001d173-\\U0001d17a\\U000e0000-\\U000e00ff\\U000e01f0-\\U000e0fff]"
)


def escaped(text: str, *, keep: str = "\n\t") -> str:
    """The text with everything that a terminal would obey as `\\uXXXX`; what is beyond U+FFFF as two surrogates.

    `keep`: control characters that stay as they are; none for what must stay one line.
    """
    return _OBEYED.sub(lambda found: found[0] if found[0] in keep else _written(found[0]), text)


def _written(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i]:02x}{data[i + 1]:02x}" for i in range(0, len(data), 2))
