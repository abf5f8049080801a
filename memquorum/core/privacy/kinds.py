"""The kinds of what may be personal or secret, and how much each of them weighs in a suggested sensitivity.

What opens a door or an account by itself weighs most (identity theft and fraud, GDPR recital 75); then what tells of
health, love, body, origin and crime (GDPR articles 9 and 10, CCPA §1798.140(ae)); then letters, money and places; then
what tells one person from another, or reaches him. What people believe weighs least of the words, as people themselves
rate it; a law that protects it raises it (`sensitivity`).
"""

from __future__ import annotations

from collections.abc import Mapping

KEY, CARD, SSN, IBAN = "key", "card", "ssn", "iban"
ADDRESS, PHONE, EMAIL, IP = "address", "phone", "email", "ip"
HEALTH, INTIMACY, ORIGIN, BELIEF, CRIME, BODY = "health", "intimacy", "origin", "belief", "crime", "body"
FINANCE, WHEREABOUTS, CORRESPONDENCE, BIRTH, IDENTITY = "finance", "whereabouts", "correspondence", "birth", "identity"
NAME, PLACE = "name", "place"
WITHHELD = "withheld"
"""A whole text that cannot be masked (`masking`)."""

FORMATS = (KEY, CARD, SSN, IBAN, ADDRESS, PHONE, EMAIL, IP, BIRTH)
"""What has a form by which a span of text is known, and is masked for a reader who asks for that."""
SPECIAL = (HEALTH, INTIMACY, ORIGIN, BELIEF, CRIME, BODY)
"""What GDPR articles 9 and 10 protect: words tell of it."""

WEIGHTS_PPM: Mapping[str, int] = {
    KEY: 950_000, CARD: 900_000, SSN: 900_000, IBAN: 800_000, IDENTITY: 800_000,
    HEALTH: 700_000, INTIMACY: 700_000, BODY: 700_000, CRIME: 700_000, ORIGIN: 600_000, BELIEF: 200_000,
    CORRESPONDENCE: 600_000, FINANCE: 500_000, WHEREABOUTS: 500_000, ADDRESS: 500_000,
    PHONE: 400_000, BIRTH: 400_000, EMAIL: 300_000, IP: 300_000,
}  # fmt: skip
"""Of each kind that is found by rules, in millionths. `NAME` and `PLACE` are found by the optional extra alone, and
only masked."""
