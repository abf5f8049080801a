"""Words that tell of what the law calls special or sensitive, in English and German.

They were taken from the law's own lists (GDPR articles 9 and 10, CCPA §1798.140(ae)) and from what people call those
things. A word that mostly means something else in the notes of agents is not among them: the "health" of a service, a
"race" condition, a "union" of tables, what was "diagnosed" in a log, a technical "debt".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from memquorum.core.privacy.formats import Found
from memquorum.core.privacy.kinds import (
    BELIEF,
    BIRTH,
    BODY,
    CORRESPONDENCE,
    CRIME,
    FINANCE,
    HEALTH,
    IDENTITY,
    INTIMACY,
    ORIGIN,
    WHEREABOUTS,
)

_WORDS: Mapping[str, str] = {
    HEALTH: "illness illnesses disease diseases medication medications medicine medicines medical patients "
    "therapist psychiatrist psychologist antidepressant antidepressants insulin cancer tumor tumour tumors hiv "
    "diabetes diabetic asthma epilepsy pregnant pregnancy miscarriage abortion allergy allergies allergic "
    "autism adhd disability disabilities suicidal suicide overdose alcoholic rehab chemotherapy dialysis "
    "surgery hospitalized hospitalised hepatitis anxiety burnout dementia migraine arthritis "
    "gesundheit gesundheitlich krank krankheit krankheiten krankschreibung krankgeschrieben krankenkasse "
    "krankenversicherung patientin patienten arzt ärztin ärzte medikament medikamente arznei krebs "
    "tumor diabetes asthma epilepsie schlaganfall schwanger schwangerschaft fehlgeburt abtreibung allergie allergien "
    "allergisch behinderung schwerbehindert suizid selbstmord operiert demenz "
    "migräne psychotherapie psychiater psychologin antidepressiva",
    INTIMACY: "sexual sexuality gay lesbian bisexual transgender homosexual divorce divorced fertility "
    "contraception contraceptive "
    "sexuell sexualität schwul lesbisch bisexuell homosexuell affäre scheidung geschieden verhütung",
    ORIGIN: "ethnicity ethnic racial nationality citizenship immigrant immigrants refugee refugees undocumented asylum "
    "visa-status "
    "ethnie ethnisch herkunft staatsangehörigkeit migrationshintergrund flüchtling flüchtlinge asyl aufenthaltstitel",
    BELIEF: "religion religions religious spiritual muslim muslims christians christianity catholic protestant jewish "
    "judaism islam hindu buddhist atheist political politics republican democrat "
    "religiös konfession katholisch evangelisch muslimisch jüdisch gewerkschaft gewerkschaftsmitglied politisch "
    "parteimitglied",
    CRIME: "convicted felony misdemeanor arrested arrest imprisoned prison parole probation "
    "verurteilt verurteilung vorbestraft vorstrafe vorstrafen straftat straftaten haft gefängnis bewährung "
    "festgenommen",
    BODY: "biometric biometrics genome dna biometrisch erbgut fingerabdruck fingerabdrücke",
    FINANCE: "salary salaries wage wages income bankruptcy bankrupt mortgage overdraft creditworthiness creditor "
    "creditors debts insolvent insolvency alimony foreclosure "
    "gehalt gehälter lohn einkommen insolvenz privatinsolvenz hypothek dispo dispokredit schulden überschuldet "
    "kontostand schufa pfändung unterhaltszahlung steuererklärung steuerbescheid kredit",
    WHEREABOUTS: "whereabouts geolocation aufenthaltsort",
    CORRESPONDENCE: "",
    BIRTH: "birthdate birthday birthplace geburtsdatum geburtstag geburtsort",
    IDENTITY: "ssn passport reisepass personalausweis personalausweisnummer sozialversicherungsnummer "
    "rentenversicherungsnummer steuernummer steuer-id",
}

_PHRASES: Mapping[str, str] = {
    HEALTH: "mental health, my health, your health, his health, her health, their health, our health, "
    "health condition, health conditions, health problem, health problems, health record, health records, health data, "
    "diagnosed with, "
    "bipolar disorder, medical history, had a stroke, the patient, "
    "blood pressure, blood test, blood type, sick leave, health insurance, panic attack, "
    "panic attacks, eating disorder, multiple sclerosis, heart attack, tested positive, on disability, "
    "psychische erkrankung, hoher blutdruck, herzinfarkt erlitten, positiv getestet",
    INTIMACY: "sexual orientation, sex life, one-night stand, gender identity, love affair, sexuelle orientierung, "
    "intimate relationship",
    ORIGIN: "skin color, skin colour, ethnic origin, racial origin, immigration status, ethnische herkunft",
    BELIEF: "trade union, labor union, labour union, union member, union membership, political party, "
    "political views, politische meinung, politische einstellung",
    CRIME: "in jail, criminal record, criminal history, police record, restraining order, background check, "
    "polizeiliches führungszeugnis, strafrechtlich verfolgt",
    BODY: "face scan, voice print, iris scan, genetic data, genetic test, genetische daten",
    FINANCE: "bank account, account balance, account number, credit card, debit card, credit score, credit rating, "
    "credit history, tax return, tax returns, net worth, in debt, student loan, student loans, child support, "
    "pay slip, payslip, bank statement, "
    "in schulden, konto überzogen, kreditkarte gesperrt",
    WHEREABOUTS: "physical location, exact location, current location, home address, location history, gps location, "
    "gps coordinates, location data, genauer standort, aktueller standort",
    CORRESPONDENCE: "phone conversation, phone conversations, private message, "
    "private messages, text message, text messages, email message, email messages, emails content, private chat, "
    "direct message, direct messages, private letter, private letters, private diary, browsing history, "
    "search history, private nachricht, private nachrichten, private gespräche, browserverlauf",
    BIRTH: "date of birth, birth date, year of birth, born on, geboren am",
    IDENTITY: "social security, social security number, passport number, driver's license, driver's licence, "
    "drivers license, driving licence, national id, tax id, id card number, identity card, user password, "
    "account password, login credentials",
}

# What a German word is put together of, and an English one begins with; at the beginning of a word.
_STEMS: Mapping[str, str] = {
    HEALTH: "krankenhaus krebserkrank depression depressiv schizo psychiatr onkolog chemother "
    "blutdruck blutwert herzinfarkt erkrankung epilept gynäkolog urolog",
    ORIGIN: "migrationsh staatsangehör",
    BELIEF: "religi gewerkschaftsm kirchensteuer glaubensgemein parteimitglied",
    CRIME: "vorstraf strafregister",
    BODY: "biometri fingerabdr",
    FINANCE: "gehaltsabrech lohnabrech kontoauszug kontoausz kreditwürdig privatinsolv überschuld steuererkl",
    IDENTITY: "sozialversicherungsn personalausw reisepass",
}

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*+")
_LONGEST = 3
_BY_WORDS = {tuple(one.split()): kind for kind, named in _WORDS.items() for one in named.split()} | {
    tuple(one.split()): kind for kind, named in _PHRASES.items() for one in named.split(", ") if one
}
_BY_STEM = {stem: kind for kind, named in _STEMS.items() for stem in named.split()}
_STEM_LENGTHS = sorted({len(stem) for stem in _BY_STEM}, reverse=True)


def found(text: str) -> Iterator[Found]:
    """Where words tell of such a thing, from left to right, the longest phrase that begins at a word."""
    words = [(one[0].lower().replace("’", "'"), one.start(), one.end()) for one in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        kind, count = _at([word for word, _, _ in words[at : at + _LONGEST]])
        if kind is not None:
            yield kind, words[at][1], words[at + count - 1][2]
        at += count


def _at(words: list[str]) -> tuple[str | None, int]:
    """The kind that the first words tell of, if any, and how many they are."""
    for count in range(len(words), 0, -1):
        kind = _BY_WORDS.get(tuple(words[:count]))
        if kind is not None:
            return kind, count
    first = words[0]
    for length in _STEM_LENGTHS:
        kind = _BY_STEM.get(first[:length])
        if kind is not None:
            return kind, 1
    return None, 1
