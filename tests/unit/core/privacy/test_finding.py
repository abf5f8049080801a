"""The patterns' findings in a text, and the texts that they leave alone.

All numbers are made up for it, by their own checksums.
"""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.privacy import checks, masking, words
from memquorum.core.privacy.finding import Span, kinds, spans
from memquorum.core.privacy.kinds import FORMATS, WEIGHTS_PPM

# In two parts, as nothing in the repository may look like a key.
_AWS, _BEGIN = "AKIA", "-----BEGIN"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Paid with 4111 1111 1111 1111 today.", "Paid with [card] today."),
        ("5500-0000-0000-0004, exp 12/27", "[card], exp 12/27"),
        ("amex 3782 822463 10005.", "amex [card]."),
        ("card 4222222222222", "card [card]"),
        ("IBAN: DE89 3704 0044 0532 0130 00 please", "IBAN: [iban] please"),
        ("to gb82west12345698765432.", "to [iban]."),
        ("mail ada.byron+x@mail.example.org, now", "mail [email], now"),
        ("his SSN is 123-45-6789", "his SSN is [ssn]"),
        ("social security 123456789", "social security [ssn]"),
        ("call +49 (0)30 1234-567 or 0171/2345678", "call [phone] or [phone]"),
        ("(212) 555-0134 x12", "[phone]"),
        ("001-518-640-0854", "[phone]"),
        ("Phone: 451 5986", "Phone: [phone]"),
        ("reach her at 61 51 81", "reach her at [phone]"),
        ("781 1704 office", "[phone] office"),
        ("from 203.0.113.7, or 2001:db8:85a3::8a2e:370:7334", "from [ip], or [ip]"),
        (f"{_AWS}IOSFODNN7EXAMPLE is gone", "[key] is gone"),
        ("ghp_" + "a1" * 18, "[key]"),
        ("xoxb-123456789012-abcdef", "[key]"),
        ("use sk-proj-abcdefghijklmnop1234", "use [key]"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ", "[key]"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer [key]"),
        ("curl -H 'authorization: bearer Zm9vYmFyMTIz.xy-z_9~+/=' -d x", "curl -H 'authorization: bearer [key]' -d x"),
        ("Proxy-Authorization: Basic YWRhOnMzY3JldA==", "Proxy-Authorization: Basic [key]"),
        ("then sent Bearer 7f3k9Qm2Lx8Rt5Vw1Zp0 along", "then sent Bearer [key] along"),
        ("Bearer eyJhbGciOiJI", "Bearer [key]"),
        ('{"Authorization": "Bearer abcdefgh1234"}', '{"Authorization": "Bearer [key]"}'),
        ("X-Api-Key: 4f3c2b1a", "X-Api-Key: [key]"),
        ("gsk_" + "a1B2" * 8 + ", mq_" + "Ab3-" * 6, "[key], [key]"),
        ("dop_v1_" + "0f" * 32 + " and hvs." + "Ab3_" * 8, "[key] and [key]"),
        ("123456789:" + "AAbbCCd" * 5, "[key]"),
        ("call about the order: 030-1234567", "call about the order: [phone]"),
        ("part no. +49 30 1234567", "part no. [phone]"),
        (f"{_BEGIN} RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nrest", "[key]\nrest"),
        (f"{_BEGIN} PRIVATE KEY-----\nMIIB", "[key]"),
        ("the password is hunter2.", "the password is [key]."),
        ("postgres://ada:s3cret@db.local/x", "postgres://[key]@db.local/x"),
        ("He lives at 221B Baker Street, London NW1 6XE.", "He lives at [address]."),
        ("12 Elm St, Springfield, IL 62704", "[address]"),
        ("Zur Hauptstraße 5, 10115 Berlin bitte", "[address] bitte"),
        ("P.O. Box 4711", "[address]"),
        ("Ada was born on 12 March 1985, hired on 1 April 2010", "Ada was born on [birth], hired on 1 April 2010"),
        ("DOB: 1985-03-12, since 2020-01-02", "DOB: [birth], since 2020-01-02"),
        ("her date of birth (12/03/85)", "her date of birth ([birth])"),
        ("born in Berlin in 1985", "born in Berlin in [birth]"),
        ("12 March is Anna's birthday.", "[birth] is Anna's birthday."),
        ("geboren am 12.03.1985, Geburtsdatum 12. März 1985", "geboren am [birth], Geburtsdatum [birth]"),
        ("née le 3 mai 1990; nació el 3 de mayo de 1990", "née le [birth]; nació el [birth]"),
    ],
)
def test_what_has_a_form_is_found_whole(text: str, told: str) -> None:
    assert masking.masked(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "Valve 3 opens at 6:30, at 2.1 bar, since 2026-11-25.",
        "from 01-02-2024 to 05/06/2023, 25 12 2024",
        "order 4111 1111 1111 1112 shipped",  # the check digit is wrong
        "article 4222222222222 shipped",  # a card's, and no word of a card beside it
        "at 1700000000000, then at 1700000000000000",
        "DE89 3704 0044 0532 0130 01",
        "commit 6223651e96ce026d, uuid 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
        "Part no. 030-1234567 and part number: 030 1234567 fit.",
        "Order 030-1234567 shipped; invoice #0171-2345678; serial 212-555-0134.",
        "Teilenummer 030-1234567, Bestellnr. 0301 234567, Artikel-Nr.: 212.555.0134",
        "uuid 00112233-4455-6677-8899-001122334455, commit 0012345678, sha 00234567890",
        "version 212.555.0134, build 0012345678, on 2026-11-28, tracking 212-555-0134, ISBN 0171 2345678",
        "the bearer of responsibility, a bearer token, basic information",
        "version 10.0.0.1 on 127.0.0.1 and ::1",
        "std::vector<a::b> at 12:30:45",
        "the password is required, the token is new",
        "ISBN 978-3-16-148410-0, room 12 345 678, ticket 555-1234",
        "@ada said a@b, and x@y.z1",
        "666-12-3456 and 900-12-3456",
        "The idea was new. On 12 March 2020 we began, the newborn unit opened on 3 May 2024.",
        "native builds since 2024-01-02, birth rate 2010",
    ],
)
def test_what_only_looks_so_is_left_alone(text: str) -> None:
    assert masking.masked(text) == text
    assert not set(kinds(text)) & set(FORMATS)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("She was diagnosed with epilepsy.", "health"), ("Er ist seit Montag krankgeschrieben.", "health"),
        ("His Gehaltsabrechnung is late.", "finance"), ("Her credit score fell.", "finance"),
        ("Their sexual orientation is nobody's business.", "intimacy"), ("Sie ist Gewerkschaftsmitglied.", "belief"),
        ("He has a criminal record.", "crime"), ("the content of private messages", "correspondence"),
        ("What is your date of birth?", "birth"), ("your passport number", "identity"),
    ],
)  # fmt: skip
def test_words_tell_of_what_they_are_about(text: str, kind: str) -> None:
    assert kind in kinds(text)
    assert masking.masked(text) == text, "words stay"


@pytest.mark.parametrize(
    "text",
    [
        "The health check of the service fails.", "a race condition in the union of two tables", "be patient",
        "I diagnosed the leak in valve 3.", "technical debt", "a genetic algorithm", "std::disabled",
        "Er sucht den Fehler.", "The members voted for it.",
    ],
)  # fmt: skip
def test_what_means_something_else_here_tells_of_nothing(text: str) -> None:
    assert kinds(text) == ()


def test_where_two_overlap_the_graver_one_counts() -> None:
    text = "card 4111-1111-1111-1111"
    assert spans(text) == (Span(5, len(text), "card"),)


def test_every_kind_that_is_found_has_a_weight() -> None:
    named = {kind for kind, *_ in (found for text in words._BY_WORDS for found in words.find_words(" ".join(text)))}
    assert set(FORMATS) | named == set(WEIGHTS_PPM)


@given(st.text(string.digits, min_size=11, max_size=18))
def test_a_check_digit_is_right_for_one_of_ten(digits: str) -> None:
    assert sum(checks.luhn(digits + last) for last in string.digits) == 1


@given(st.sampled_from(sorted(checks.IBAN_LENGTHS)), st.data())
def test_an_account_has_one_checksum(country: str, data: st.DataObject) -> None:
    length = checks.IBAN_LENGTHS[country] - 4
    rest = data.draw(st.text(string.digits + string.ascii_uppercase, min_size=length, max_size=length))
    held = [two for n in range(2, 99) if checks.iban(f"{country}{(two := f'{n:02}')}{rest}")]
    assert len(held) == 1
    assert masking.masked(f"to {country}{held[0]}{rest} now") == "to [iban] now"
    assert not checks.iban(f"{country}{held[0]}{rest}0")
