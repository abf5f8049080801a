"""Makes a cluster: its genesis file, the key pair of every member and service, and the vault's master key.

Keys are files of 64 hexadecimal digits, readable by their owner alone. A replica needs only its own key file; keeping
all keys on one machine, as the embedded stack does, gives up the tolerance of a lying member.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacl.signing import SigningKey

from infra.settings import Mendable, Settings, SettingsError
from memquorum import wholefiles
from memquorum.core import policy as policies
from memquorum.core.experience.admission import most_asked
from memquorum.core.identity.membership import (
    CONSOLIDATOR,
    OPERATOR,
    OPTIONAL_SERVICES,
    SERVICES,
    VERIFIERS,
    Genesis,
    Member,
    dump,
    load,
)
from memquorum.core.identity.stamps import Reader, Writer, for_member, for_services, member_key

log = logging.getLogger(__name__)

_KEY_BYTES = 32
_STAMPS = "stamps"  # of the services; each member has a file of its own


class KeyFileError(Mendable, RuntimeError):
    """A key file that is missing, open to others, or no key; the message names the file."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A future member: name, role, and the weight of its vote in thousandths."""

    name: str
    role: str
    weight_milli: int
    reliability_milli: int = 1000


# SPEC A, decision 0: with (1.5, 1, 1, 1) the heaviest member alone would hold a third.
SEATS = (
    Seat("planning", "planning", 1500),
    Seat("review", "review", 1500),
    Seat("perception", "perception", 1000),
    Seat("execution", "execution", 1000),
)


def seats_for(members: int) -> tuple[Seat, ...]:
    """The seats of a cluster of `members` members. Beyond four the four roles repeat, and all have the same weight.

    With two of weight 1.5 the f heaviest would hold a third of the weight at N = 7, 8, and from 10 on.
    """
    if members == len(SEATS):
        return SEATS
    rounds = (divmod(id, len(SEATS)) for id in range(members))
    return tuple(
        Seat(SEATS[place].name + (f"-{turn + 1}" if turn else ""), SEATS[place].role, 1000) for turn, place in rounds
    )


class _Drafts:
    """The keys of a cluster in the making: existing ones, and in memory those to be written.

    Writes nothing before the cluster is known to be valid; then everything, or nothing.
    """

    def __init__(self, settings: Settings) -> None:
        """Reads and writes nothing yet."""
        self._settings = settings
        self._new: dict[Path, tuple[bytes, int]] = {}
        self._keys: dict[Path, bytes] = {}

    def key(self, file: Path, key: bytes | None = None) -> bytes:
        """Returns the key of the file; if it does not exist, `key` or a random one. Raises KeyFileError."""
        if file not in self._keys:
            there = file.exists()
            self._keys[file] = secret(file) if there else key or os.urandom(_KEY_BYTES)
            if not there:
                self._new[file] = _key_text(self._keys[file]), 0o600
        return self._keys[file]

    def public(self, name: str) -> bytes:
        """The public half of a key by its name."""
        return bytes(SigningKey(self.key(_key_file(self._settings, name))).verify_key)

    def write(self, file: Path, content: bytes) -> None:
        """Writes the new keys, and after them the file that names them. On OSError removes the new files and raises."""
        written = []
        try:
            for new, (text, mode) in {**self._new, file: (content, 0o644)}.items():
                written.append(new)
                wholefiles.write(new, text, mode, lasting=True)
        except BaseException:
            for new in written:
                new.unlink(missing_ok=True)
            raise


def create(
    settings: Settings,
    shards: int = 4,
    seats: Sequence[Seat] | None = None,
    agents: Mapping[str, int] | None = None,
    policy: Mapping[str, Any] | None = None,
    *,
    agent_keys: Mapping[str, bytes] | None = None,
    signed: Iterable[str] = (),
) -> Genesis:
    """Makes the missing ones of genesis file, keys and master key, and returns the genesis.

    Keeps an existing genesis file, whatever the other arguments and the setting `members` say: a changed one would be
    another cluster. `seats`: None: as many as the setting `members`. `agents`: agent → member id, overriding the hash.
    `policy`: the settings that differ from `Policy()`. `agent_keys`: agent → Ed25519 public key, of agents that sign
    their records. `signed`: the namespaces that accept only signed records. Raises GenesisError or PolicyError for an
    invalid cluster, KeyFileError if a key of the cluster is missing; nothing is written then.
    """
    if settings.genesis_file.exists():
        made = read(settings)
        if seats is None and made.n != settings.members:
            log.warning(
                "%s names %d members and is not changed: the setting members = %d holds only for a new genesis file",
                settings.genesis_file,
                made.n,
                settings.members,
            )
        # Never replaced: data sealed or stamped with the earlier key would be lost silently.
        for file in (settings.master_key_file, _key_file(settings, _STAMPS)):
            secret(file)
        return made
    drafts = _Drafts(settings)
    drafts.key(settings.master_key_file)
    stamps_key = drafts.key(_key_file(settings, _STAMPS))
    members = tuple(
        Member(id, seat.name, seat.role, drafts.public(f"member-{id}"), seat.weight_milli, seat.reliability_milli)
        for id, seat in enumerate(seats_for(settings.members) if seats is None else seats)
    )
    for member in members:
        drafts.key(_key_file(settings, _member_stamps(member.id)), member_key(stamps_key, member.id))
    consolidator = {CONSOLIDATOR: drafts.public(f"agent-{CONSOLIDATOR}")}
    verifiers = VERIFIERS[: most_asked((len(members) - 1) // 3)]
    services = {name: drafts.public(f"service-{name}") for name in (*SERVICES, *OPTIONAL_SERVICES, *verifiers)}
    content = dump(
        shards, members, services, dict(agents or {}), policies.from_json(dict(policy or {})),
        agent_keys={**consolidator, **(agent_keys or {})}, signed=signed, operator=drafts.public(OPERATOR),
    )  # fmt: skip
    made = load(content)
    drafts.write(settings.genesis_file, content)
    return made


def read(settings: Settings) -> Genesis:
    """The genesis of an installation. Raises SettingsError if there is no such file, GenesisError for a bad one."""
    try:
        return load(settings.genesis_file.read_bytes())
    except OSError as error:
        raise SettingsError(f"no genesis file ({error}): `memquorum admin genesis make` makes one") from None


def stamps(settings: Settings, members: int) -> Writer:
    """The writer of stamps for a service in a cluster of `members` members. Raises KeyFileError."""
    return Writer(secret(_key_file(settings, _STAMPS)), members)


def service_stamps(settings: Settings) -> Reader:
    """The reader that checks stamps for a service. Raises KeyFileError."""
    return for_services(secret(_key_file(settings, _STAMPS)))


def stamps_at_hand(settings: Settings) -> Reader | None:
    """The reader that checks stamps for a service, or None on a machine without keys. Raises KeyFileError for a bad
    key."""
    return service_stamps(settings) if _key_file(settings, _STAMPS).exists() else None


def member_stamps(settings: Settings, made: Genesis, member: int) -> Reader:
    """The reader that checks stamps for a member: its own key makes only its own tags. Raises KeyFileError."""
    return for_member(secret(_key_file(settings, _member_stamps(member))), member, added=made.member(member) is None)


def identities(settings: Settings, made: Genesis) -> int:
    """Returns the number of ids given here: to members of the genesis file, and to those prepared to be added."""
    added = (int(file.stem.rpartition("-")[2]) for file in settings.keys_dir.glob(f"{_STAMPS}-member-*.key"))
    return 1 + max([made.n - 1, *added])


def add_member(settings: Settings, member: int, *, key: bool) -> bytes:
    """Makes the keys of a member to be added: the key that checks stamps, and with `key` its own.

    Returns the public half of its own, or nothing. Raises KeyFileError.
    """
    _ensure_key(_key_file(settings, _member_stamps(member)), member_key(secret(_key_file(settings, _STAMPS)), member))
    return _public(settings, f"member-{member}") if key else b""


def signing_seed(settings: Settings, name: str, public_key: bytes) -> bytes:
    """The secret seed of 'member-N' or 'service-NAME', checked against its public key. Raises KeyFileError."""
    file = _key_file(settings, name)
    seed = secret(file)
    if bytes(SigningKey(seed).verify_key) != public_key:
        raise KeyFileError(f"{file} is not the key that {settings.genesis_file} names for {name}")
    return seed


def erasure_seed(settings: Settings, made: Genesis) -> bytes | None:
    """The seed of service:erasure; None if the genesis file names none, or its key is not on this machine: then only
    the operator orders erasures. Raises KeyFileError for a wrong key."""
    if "erasure" not in made.services or not _key_file(settings, "service-erasure").exists():
        return None
    return signing_seed(settings, "service-erasure", made.services["erasure"])


def consolidator_seed(settings: Settings, made: Genesis) -> bytes:
    """The seed of the agent that publishes summaries. Raises KeyFileError, also if the genesis file names none."""
    if CONSOLIDATOR not in made.agent_keys:
        raise KeyFileError(
            f"{settings.genesis_file} names no key of the agent {CONSOLIDATOR}: no summaries can be published"
        )
    return signing_seed(settings, f"agent-{CONSOLIDATOR}", made.agent_keys[CONSOLIDATOR])


def service_seed(settings: Settings, made: Genesis, service: str) -> bytes:
    """The secret seed of a service's first key, or, if that was replaced and is not kept, of the last one.

    Raises KeyFileError."""
    name = f"service-{service}"
    if not _key_file(settings, name).exists() and (further := further_seeds(settings, name)):
        return further[-1]
    return signing_seed(settings, name, made.services[service])


def verifier_seeds(settings: Settings, made: Genesis) -> dict[str, bytes]:
    """The seeds of the verifiers whose keys are on this machine, by their names. Raises KeyFileError for a wrong
    key."""
    here = (
        name
        for name in made.verifiers
        if _key_file(settings, f"service-{name}").exists() or further_seeds(settings, f"service-{name}")
    )
    return {name: service_seed(settings, made, name) for name in here}


def further_seeds(settings: Settings, name: str) -> list[bytes]:
    """The seeds of the keys that replace the first one of 'member-N' or 'service-NAME', or will. Raises
    KeyFileError."""
    return [secret(file) for _, file in _further(settings, name)]


def secret_of(settings: Settings, name: str) -> bytes:
    """The seed of 'member-N', 'operator' or 'service-NAME', wherever its public half is named. Raises KeyFileError."""
    return secret(_key_file(settings, name))


def new_key(settings: Settings, name: str) -> bytes:
    """Makes another key for 'member-N' or 'service-NAME', beside its present ones; returns its public half. Raises
    KeyFileError."""
    last = max((number for number, _ in _further(settings, name)), default=0)
    return _public(settings, f"{name}.{last + 1}")


def _further(settings: Settings, name: str) -> list[tuple[int, Path]]:
    """The files of further keys by their number, ascending. Earlier ones may be missing."""
    files = ((file.name.removeprefix(f"{name}.").removesuffix(".key"), file)
             for file in settings.keys_dir.glob(f"{name}.*.key"))  # fmt: skip
    return sorted((int(number), file) for number, file in files if number.isdecimal())


def secret(file: Path) -> bytes:
    """The 32 bytes of a key file. Raises KeyFileError."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        text = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"key file {file} cannot be read: {error}") from None
    if mode & 0o077:
        raise KeyFileError(f"key file {file} may be read by others (mode {mode:04o}): chmod 600 it")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise KeyFileError(f"key file {file} does not hold {2 * _KEY_BYTES} hexadecimal digits")
    return key


def _key_file(settings: Settings, name: str) -> Path:
    return settings.keys_dir / f"{name}.key"


def _public(settings: Settings, name: str) -> bytes:
    return bytes(SigningKey(_ensure_key(_key_file(settings, name))).verify_key)


def _member_stamps(member: int) -> str:
    return f"{_STAMPS}-member-{member}"


def _ensure_key(file: Path, key: bytes | None = None) -> bytes:
    """Returns the key of the file; if it does not exist, writes `key` or a random one."""
    if not file.exists():
        wholefiles.write_secret(file, _key_text(key or os.urandom(_KEY_BYTES)))
    return secret(file)


def _key_text(key: bytes) -> bytes:
    return f"{key.hex()}\n".encode()
