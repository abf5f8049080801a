"""Data known by its own format: keys and tokens, cards, accounts, e-mail, network and street addresses, and dates
beside a word for birth.

The formats of keys are those that their issuers have published. Repetitions are bounded, and a pattern matches a text
in only one way, so a search takes linear time.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

from memquorum.core.privacy import checks
from memquorum.core.privacy.kinds import ADDRESS, BIRTH, CARD, EMAIL, IBAN, IP, KEY
from memquorum.core.reading.lists import either

Found = tuple[str, int, int]
"""A kind, and the characters of the text, as [from, to)."""

_KEYS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{36,255}+|github_pat_[A-Za-z0-9_]{22,255}+"  # GitHub
    r"|gl(?:pat|ptt|rt)-[A-Za-z0-9_-]{20,255}+"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,255}+|xapp-[A-Za-z0-9-]{10,255}+"  # Slack
    r"|eyJ[A-Za-z0-9_-]{5,2000}+\.eyJ[A-Za-z0-9_-]{5,4000}+(?:\.[A-Za-z0-9_-]{0,2000}+)?"  # JSON Web Token
    r"|sk-[A-Za-z0-9_-]{20,255}+"  # OpenAI and issuers with the same format
    r"|[srp]k_(?:live|test)_[A-Za-z0-9]{16,255}+|whsec_[A-Za-z0-9]{24,255}+"  # Stripe
    r"|AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|ya29\.[A-Za-z0-9_-]{20,500}+"  # Google
    r"|SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,64}+"  # SendGrid
    r"|npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])|pypi-[A-Za-z0-9_-]{50,500}+|hf_[A-Za-z0-9]{30,255}+"  # registries
    r"|AGE-SECRET-KEY-1[A-Z0-9]{58}"  # age
    r"|(?:dop_v1|shp(?:at|ca|pa|ss)|lin_api|ntn|gsk|gls?a|glc|r8|dckr_pat|pscale_(?:tkn|oauth)|nvapi|xai|pplx|mq)"
    r"[_-][A-Za-z0-9_-]{20,255}+"  # DigitalOcean, Shopify, Linear, Notion, Groq, Grafana, Replicate, … and ours
    r"|hv[bs]\.[A-Za-z0-9_-]{24,255}+|dapi[a-f0-9]{32}(?![A-Za-z0-9])|key-[a-f0-9]{32}(?![A-Za-z0-9])"  # Vault, …
    r"|\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"  # Telegram's bots
    r")"
)
_HOOK = re.compile(r"hooks\.slack\.com/services/[A-Za-z0-9_]{1,20}+/[A-Za-z0-9_]{1,20}+/[A-Za-z0-9_]{8,64}+")
# The user and the password in front of a host.
_LOGIN = re.compile(r"(?<=://)[^\s/:@]{1,64}+:[^\s/:@]{1,128}+(?=@)")
_BLOCK = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
# The value behind the name of a scheme: after the word "authorization" any value; elsewhere only one with a digit, so
# that "the bearer of responsibility" has none, or one that begins as a JSON Web Token.
_SCHEME = re.compile(
    r"(?<![^\W_])(?:authorization[\"']? {0,2}[:=] {0,2}[\"']?(?:bearer|basic|token|apikey|digest) {1,2}"
    r"(?P<value>[A-Za-z0-9._~+/=-]{3,4000}+)"
    r"|bearer {1,2}(?P<bare>eyJ[A-Za-z0-9._~+/=-]{3,4000}+|(?=[A-Za-z._~+/=-]{0,64}\d)[A-Za-z0-9._~+/=-]{16,4000}+))",
    re.IGNORECASE,
)
# A password or a secret beside its name: only with a digit, so that "the password is needed" has none.
_GIVEN = re.compile(
    r"(?<![^\W_])(?:pass(?:word|wd|phrase)|pwd|passwort|kennwort|secret|api[_ -]?key|api[_ -]?schlüssel|token|pin"
    r"|cvv|cvc|access[_ -]?key|secret[_ -]?access[_ -]?key|client[_ -]?secret)(?![^\W_])"
    r"[\"']?(?: {0,2}[:=] {0,2}|(?: code)? (?:is|ist|lautet):? )[\"']?(?P<value>[^\s\"',;]{3,255}+)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")

_MONTH = rf"(?:{either('months-written')})\.?"
_DATE = (
    r"(?P<date>\d{1,2}[./-] ?\d{1,2}[./-] ?(?:\d{4}|\d{2})|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of |de )?{_MONTH}(?:,? (?:de )?\d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|(?:18|19|20)\d\d)(?![\w-])"
)
# Masked data begins with a bracket: a date behind it is another one.
_BORN = re.compile(
    rf"(?<![^\W_])(?<!\[)(?:{either('born')}|birth(?! (?:rate|control))|d\.?o\.?b\.?|geb\.)(?![^\W_])"
    rf"[^\n\d.!?;\[]{{0,30}}?(?<![\w-]){_DATE}",
    re.IGNORECASE,
)
_BIRTHDAY_WORD = re.compile(r"birthda(?:y|te)|geburtstag", re.IGNORECASE)
_BIRTHDAY = re.compile(
    rf"(?<![\w./-]){_DATE}(?: (?:is|was|ist|war))?(?: [^\W\d_]+(?:['’]s)?){{0,2}} (?:birthday|birthdate|geburtstag)"
    r"(?![^\W_])",
    re.IGNORECASE,
)

_CARD = re.compile(
    r"(?<![\w.,-])(?:\d{12,19}+"
    r"|\d{4}(?P<by>[ \xa0.-])\d{4}(?P=by)\d{4}(?P=by)\d{1,4}+(?:(?P=by)\d{1,3}+)?"
    r"|\d{4}(?P<of>[ \xa0.-])\d{6}(?P=of)\d{4,5}+)(?!\w|[.,-]\d)"
)
_CARD_WORD = re.compile(rf"(?<![^\W_])(?<!\[)(?:{either('cards')})(?![^\W_])", re.IGNORECASE)
_NEAR = 60

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ \xa0-]?[A-Za-z0-9])")
_JOINTS = str.maketrans("", "", " \xa0-")

_EMAIL = re.compile(
    r"(?<![\w.!#$%&'*+/?^`{|}~=-])[\w.!#$%&'*+/?^`{|}~=-]{1,64}+@"
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w-])"
)
_IPV4 = re.compile(
    r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?!\w|\.\d)"
)
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4})?(?![\w:])")
_GROUP, _GROUPS_LEAST = re.compile(r"[0-9A-Fa-f]+"), 3
_VERSION = re.compile(r"(?:\bv(?:ersion)?|\brelease|\bbuild)[ .:=]{0,2}\Z", re.IGNORECASE)

_STREET = re.compile(
    r"(?<![\w.,-])(?:"
    r"\d{1,5}[A-Za-z]? (?:[^\W\d_a-zà-þ][\w'.-]{0,30} ){1,4}?(?:Street|Avenue|Road|Lane|Boulevard|Drive|Court|Square"
    r"|Place|Terrace|Crescent|Highway|Parkway|Close|Gardens|Way|Row|Hill|(?:St|Ave|Rd|Ln|Blvd|Dr|Ct|Sq|Pl|Hwy|Pkwy)\b\.?)"
    r"(?!\w)"
    r"|[A-ZÄÖÜ][a-zäöüß]{0,30}(?:[- ][A-ZÄÖÜ][a-zäöüß]{0,30}){0,3}?[ -]?"
    r"(?:[Ss]traße|[Ss]trasse|[Ss]tr\.|[Ww]eg|[Gg]asse|[Aa]llee|[Pp]latz|[Dd]amm|[Uu]fer) \d{1,4}[a-z]?(?![\w.,]?\d)"
    r"|P\.? ?O\.? ?Box \d{1,6}+|Postfach \d[\d ]{0,8}\d"
    r")"
)
_TOWN = re.compile(
    r",? (?:[A-Z][\w'.-]{0,30},? ){0,3}?(?:[A-Z]{2} \d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?!\w)"
    r"|,? (?:D-|DE-)?\d{5} [A-ZÄÖÜ][\wäöüß-]{1,40}"
)


def find_formats(text: str) -> Iterator[Found]:
    """Yields data with a format of its own, in no order; spans of different kinds may overlap."""
    for look in _LOOKS:
        yield from look(text)


def _keys(text: str) -> Iterator[Found]:
    for pattern in (_KEYS, _HOOK, _LOGIN):
        yield from ((KEY, one.start(), one.end()) for one in pattern.finditer(text))
    at = 0
    while (begin := _BLOCK.search(text, at)) is not None:
        end = _BLOCK_END.search(text, begin.end())
        # A key without its end counts as well.
        at = end.end() if end else len(text)
        yield KEY, begin.start(), at
    for one in _SCHEME.finditer(text):
        name = "value" if one["value"] else "bare"
        yield KEY, one.start(name), one.start(name) + len(one[name].rstrip("."))
    for one in _GIVEN.finditer(text):
        if _DIGIT.search(one["value"]):
            yield KEY, one.start("value"), one.start("value") + len(one["value"].rstrip(".!?)"))


def _cards(text: str) -> Iterator[Found]:
    for one in _CARD.finditer(text):
        digits = "".join(filter(str.isdigit, one[0]))
        near = text[max(0, one.start() - _NEAR) : one.end() + _NEAR]
        if digits.isascii() and checks.card(digits) and (len(digits) >= checks.PLAIN_LEAST or _CARD_WORD.search(near)):
            yield CARD, one.start(), one.end()


def _ibans(text: str) -> Iterator[Found]:
    for one in _IBAN.finditer(text):
        end = _taken(text, one.end(), checks.IBAN_LENGTHS.get(one[0][:2].upper(), 0) - 4)
        written = text[one.start() : end].translate(_JOINTS) if end else ""
        if end and not text[end : end + 1].isalnum() and checks.iban(written):
            yield IBAN, one.start(), end


def _taken(text: str, at: int, count: int) -> int:
    """Returns the end of so many letters and digits from a position on, with at most one blank or hyphen between two; 0
    where there are fewer."""
    if count <= 0:
        return 0
    while count:
        at += text[at : at + 1] in (" ", "\xa0", "-")
        if not (at < len(text) and text[at].isascii() and text[at].isalnum()):
            return 0
        at, count = at + 1, count - 1
    return at


def _emails(text: str) -> Iterator[Found]:
    return ((EMAIL, one.start(), one.end()) for one in _EMAIL.finditer(text))


def _networks(text: str) -> Iterator[Found]:
    for pattern in (_IPV4, _IPV6):
        for one in pattern.finditer(text):
            try:
                address = ipaddress.ip_address(one[0])
            except ValueError:
                continue
            # An address that every machine has identifies none; "1.2.3.4" behind "version" is no address, nor is "a::b"
            # of a program.
            common = address.is_loopback or address.is_unspecified or address.is_multicast
            common = common or len(_GROUP.findall(one[0])) < _GROUPS_LEAST
            if not common and not _VERSION.search(text[max(0, one.start() - 10) : one.start()]):
                yield IP, one.start(), one.end()


def _houses(text: str) -> Iterator[Found]:
    for one in _STREET.finditer(text):
        town = _TOWN.match(text, one.end())
        yield ADDRESS, one.start(), town.end() if town else one.end()


def _births(text: str) -> Iterator[Found]:
    for one in _BORN.finditer(text):
        yield BIRTH, one.start("date"), one.end("date")
    # This pattern tries every character, so it runs only where the word for it stands.
    for one in _BIRTHDAY.finditer(text) if _BIRTHDAY_WORD.search(text) else ():
        yield BIRTH, one.start("date"), one.end("date")


_LOOKS: tuple[Callable[[str], Iterator[Found]], ...] = (
    _keys, _cards, _ibans, _emails, _networks, _houses, _births,
)  # fmt: skip
