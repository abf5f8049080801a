"""The kinds of personal or secret data, and the weight of each in a suggested sensitivity.

Data that opens a door or an account by itself weighs most (identity theft and fraud, GDPR recital 75); then data about
health, love, body, origin and crime (GDPR articles 9 and 10, CCPA §1798.140(ae)); then letters, money and places; then
data that identifies or reaches a person. Beliefs weigh least of the words, as people rate them themselves; a law that
protects them raises that (`sensitivity`).
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
"""The kinds with a format, whose spans are masked for a reader who asks for that."""
SPECIAL = (HEALTH, INTIMACY, ORIGIN, BELIEF, CRIME, BODY)
"""The kinds that GDPR articles 9 and 10 protect; words show them."""

WEIGHTS_PPM: Mapping[str, int] = {
    KEY: 950_000, CARD: 900_000, SSN: 900_000, IBAN: 800_000, IDENTITY: 800_000,
    HEALTH: 700_000, INTIMACY: 700_000, BODY: 700_000, CRIME: 700_000, ORIGIN: 600_000, BELIEF: 200_000,
    CORRESPONDENCE: 600_000, FINANCE: 500_000, WHEREABOUTS: 500_000, ADDRESS: 500_000,
    PHONE: 400_000, BIRTH: 400_000, EMAIL: 300_000, IP: 300_000,
}  # fmt: skip
"""The weight of each kind that is found by rules, in millionths."""
RECOGNISED_PPM: Mapping[str, int] = {NAME: 200_000, PLACE: 100_000}
"""The weights of the kinds that only the optional model of names finds."""
