"""Times as people and other programs write them: ISO 8601 and RFC 3339, from and to milliseconds since the epoch.

The calendar's own module reaches for a clock, and numpy is more than a client should wait for.
"""

from __future__ import annotations

import re

LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_DAY_MS = 24 * 3600 * 1000
_MOMENT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
_RFC_3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def moment(ms: int) -> str:
    """Milliseconds since the epoch in ISO 8601, in UTC."""
    days, rest = divmod(ms, _DAY_MS)
    seconds, millis = divmod(rest, 1000)
    # Counted from 1 March of the year 0, so that a leap day is the last of its year.
    era, day = divmod(days + 719_468, 146_097)
    years = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    of_year = day - (365 * years + years // 4 - years // 100)
    month = (5 * of_year + 2) // 153
    date = f"{era * 400 + years + (month >= 10):04}-{(month + 2) % 12 + 1:02}-{of_year - (153 * month + 2) // 5 + 1:02}"
    return f"{date}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}Z"


def read(told: str) -> int | None:
    """The milliseconds of what `moment` gave; None for what it gives of none."""
    said = _MOMENT.fullmatch(told)
    if said is None:
        return None
    year, month, day, hour, minute, second, millis = map(int, said.groups())
    year -= month <= 2
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = year // 400 * 146_097 + year % 400 * 365 + year % 400 // 4 - year % 400 // 100 + of_year - 719_468
    ms = days * _DAY_MS + (hour * 3600 + minute * 60 + second) * 1000 + millis
    return ms if 0 <= ms <= LATEST and moment(ms) == told else None


def read_rfc_3339(told: str) -> int | None:
    """Returns the milliseconds of an RFC 3339 time with its zone, cut to whole milliseconds; None for any other text.

    A leap second is refused, as in POSIX.
    """
    said = _RFC_3339.fullmatch(told)
    if said is None:
        return None
    date, clock, fraction, sign, hours, minutes = said.groups()
    ms = read(f"{date}T{clock}.{(fraction or '').ljust(3, '0')[:3]}Z")
    away = int(hours or 0) * 60 + int(minutes or 0)
    if ms is None or away >= 24 * 60 or int(minutes or 0) > 59:
        return None
    return ms - away * 60_000 * (-1 if sign == "-" else 1)
