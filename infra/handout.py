"""Copies to each process the keys and passwords that it needs, and no others, in a folder of its own.

For installations whose processes do not, or must not, share a file system: a container mounts only its folder, a
machine gets its copy. The installation's own folders, which hold everything, stay with the operator.
"""

from __future__ import annotations

import base64
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infra import genesis, kafkalogins, logins
from infra.kafkalogins import ADMIN
from infra.settings import Settings, SettingsError
from memquorum import wholefiles
from memquorum.core.identity.membership import Genesis
from memquorum.kafka import CA
from memquorum.wholefiles import write_secret

MASTER = "master.key"
ADMINISTRATOR = "admin.pgpass"
_SERVICE = ("stamps.key", "stamps-member-*.key")

# Patterns of files in the folder of keys: a key that replaces another has its name and a number.
KEYS: Mapping[str, tuple[str, ...]] = {
    "intake": _SERVICE,
    "streams": (*_SERVICE, "service-nomination.key", "service-nomination.*.key"),
    "replica": ("member-{member}.key", "member-{member}.*.key", "stamps-member-{member}.key"),
    "commit": (*_SERVICE, "service-journal.key", "service-journal.*.key"),
    "consolidator": ("stamps.key", "agent-consolidator.key"),
    "rehearsal": ("service-rehearsal.key", "service-rehearsal.*.key"),
    "verifier": ("service-verifier-*.key",),
    "retrieval": ("service-erasure.key", "service-erasure.*.key"),
    "events": ("stamps.key",),
    "topics": (),
    "migrate": (),
}
# The processes that open or make sealed content, through the vault.
OPENS = frozenset({"intake", "streams", "replica", "commit", "consolidator"})


def processes(made: Genesis) -> list[str]:
    """The names of all processes that get a folder; a replica for each member."""
    others = [name for name in KEYS if name != "replica"]
    return sorted([*others, *(f"replica-{member.id}" for member in made.members)])


def hand_out(settings: Settings, made: Genesis, to: Path) -> None:
    """Writes `to`/<process>/ for every process, laid out as a run folder; existing files are kept, or updated.

    Beside them `to`/postgres/password, the superuser's, for the server's first start, and where brokers ask for logins
    `to`/kafka with their certificate. Raises SettingsError, OSError.
    """
    logins.make(settings)
    _brokers(settings, to)
    password = _administrator(settings)
    for process in (*processes(made), *_added(settings, made)):
        folder = to / process
        for file, below in _files(settings, process):
            _copy(file, folder / below)
        _copy(settings.genesis_file, folder / "genesis.json")
    write_secret(to / "migrate" / ADMINISTRATOR, f"*:*:*:postgres:{password}\n")
    _for_another(to / "postgres" / "password", password)


def _added(settings: Settings, made: Genesis) -> Iterator[str]:
    """The replicas of members that are no part of the genesis file, whose keys were made here (`members add`)."""
    for member in range(made.n, genesis.identities(settings, made)):
        if (settings.keys_dir / f"member-{member}.key").exists():
            yield f"replica-{member}"


def manifests(handed: Path, prefix: str) -> dict[str, Any]:
    """The folders that were handed out as Secrets of Kubernetes, in one list: PREFIX-PROCESS each, of which the chart
    gives a pod its own. In a name of a file, which may hold no slash there, two low lines stand for one.

    Raises SettingsError if nothing was handed out there.
    """
    folders = sorted(file.parent for file in handed.glob("*/genesis.json"))
    if not folders:
        raise SettingsError(f"{handed}: no process has a folder there; `genesis make --hand-out` writes them")
    return {"apiVersion": "v1", "kind": "List", "items": [_manifest(folder, prefix) for folder in folders]}


def _manifest(folder: Path, prefix: str) -> dict[str, Any]:
    files = {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{prefix}-{folder.name}", "labels": {"app.kubernetes.io/part-of": "memquorum"}},
        "type": "Opaque",
        "data": {"__".join(name.parts): base64.b64encode(content).decode() for name, content in files.items()},
    }


def _files(settings: Settings, process: str) -> Iterator[tuple[Path, Path]]:
    kind, _, member = process.partition("-")
    for pattern in KEYS[kind]:
        for file in sorted(settings.keys_dir.glob(pattern.format(member=member))):
            yield file, Path("keys", file.name)
    if kind in OPENS:
        yield settings.master_key_file, Path(MASTER)
    if kind == "intake" and settings.registry_login_file.exists():
        yield settings.registry_login_file, Path("registry.login")
    if kind == "events" and settings.webhooks_file.exists():
        yield settings.webhooks_file, Path("webhooks.toml")
    if kind == "migrate":
        for name in logins.PROCESSES:
            yield logins.file_of(settings, name), Path("logins", f"{name}.pgpass")
    elif kind in logins.PROCESSES:
        yield logins.file_of(settings, kind), Path("logins", f"{kind}.pgpass")
    if settings.kafka_protocol != "PLAINTEXT" and kind != "migrate":
        identity = {"topics": ADMIN}.get(kind, kind)
        for name in ("ca.crt", *(f"{identity}.{kind_of}" for kind_of in ("password", "crt", "key"))):
            if (settings.kafka_dir / name).exists():
                yield settings.kafka_dir / name, Path("kafka-logins", name)


def _brokers(settings: Settings, to: Path) -> None:
    """Makes the logins to Kafka and the brokers' certificate, where nobody has brought others, and hands the brokers
    theirs."""
    authority = settings.kafka_dir.parent / kafkalogins.AUTHORITY
    if settings.kafka_protocol == "PLAINTEXT" or ((settings.kafka_dir / CA).exists() and not authority.exists()):
        return
    kafkalogins.make(settings, authority)
    for name in (CA, kafkalogins.BROKER):
        _for_another(to / "kafka" / name, (authority / name).read_bytes())


def _for_another(file: Path, content: str | bytes) -> None:
    """Writes a file that a server reads as another user, whatever the umask: the mount restricts who else can."""
    wholefiles.write(file, content)
    file.chmod(0o644)


def _administrator(settings: Settings) -> str:
    """The superuser's password of a Postgres that is not embedded, made once."""
    file = settings.logins_dir / ADMINISTRATOR
    if not file.exists():
        write_secret(file, secrets.token_urlsafe(32) + "\n")
    return file.read_text(encoding="utf-8").strip()


def _copy(file: Path, to: Path) -> None:
    if to.exists() and to.read_bytes() == file.read_bytes():
        return
    to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = to.with_name(f"{to.name}.draft")
    draft.unlink(missing_ok=True)
    shutil.copy2(file, draft)
    draft.rename(to)
