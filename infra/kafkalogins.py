"""Keeps an installation's Kafka logins, and the ACLs that say which identity may write and read which topic.

`schemas/topics/*.yaml` lists who needs which topic (`producers`, `consumers`); here these names map to identities, of
which a process has one. Files are those of `memquorum.kafka.login`, in the folder that the setting `kafka_dir` names.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from infra import fleet
from infra.embedded.certificates import Authority
from infra.settings import Settings, SettingsError
from infra.topic_files import Topic, TopicsError, declared
from memquorum import kafka
from memquorum.kafka import CA, LoginError, librdkafka
from memquorum.topics import OUTSIDE
from memquorum.wholefiles import write_secret

ADMIN = "admin"
"""Makes topics and ACLs, and deletes records: brokers allow it everything (`super.users`)."""

AUTHORITY = "kafka-authority"
"""The folder of who signs the certificates, and of the brokers' own."""
BROKER = "broker.pem"
OPERATOR = "operator"
AGENT = "agent"
IDENTITIES = (*fleet.KINDS, OPERATOR, AGENT, ADMIN)

# Names in schemas/topics that are not those of identities.
_ACTS_AS = {
    **dict.fromkeys(("salience", "decay", "rewards", "nomination", "sessions"), "streams"),
    **dict.fromkeys(("verify", "rebuild", "whatif", "reencode", "operators", "tests", "demo"), OPERATOR),
    "agents": AGENT,
}
# A consumer that only uses `assign` names a group nevertheless, and librdkafka looks for its coordinator.
_UNASSIGNED = "memquorum-unassigned"
# A name with a `*` at its end is the beginning of names.
GROUPS = (
    ("intake", "intake"), ("streams", "memquorum-streams"), ("consolidator", "memquorum-consolidator"),
    ("consolidator", "memquorum-rollups"), ("consolidator", "memquorum-comparisons"), ("events", "memquorum-mirror"),
    ("events", "memquorum-webhook-*"),
)  # fmt: skip
"""Identities with their consumer groups."""
_TIMEOUT_S = 30


def identity(name: str) -> str:
    """The identity that a producer or consumer of schemas/topics logs in as. Raises TopicsError for an unknown name."""
    found = _ACTS_AS.get(name, name)
    if found not in IDENTITIES:
        raise TopicsError(f"schemas/topics: {name!r} is none of {', '.join(sorted({*IDENTITIES, *_ACTS_AS}))}")
    return found


def of(settings: Settings, name: str) -> Settings:
    """The settings with an identity's login in the brokers' address. Raises SettingsError."""
    if not settings.bootstrap:
        return settings
    try:
        address = kafka.login(str(settings.bootstrap), settings.kafka_protocol, settings.kafka_dir, name)
    except LoginError as error:
        raise SettingsError(f"kafka_protocol = {settings.kafka_protocol}: {error}") from None
    return replace(settings, bootstrap=address)


def make(settings: Settings, authority_dir: Path | None = None) -> Path:
    """Makes the missing passwords and certificates; returns the authority's folder, by default one of the run folder.

    The brokers' certificate is valid on this machine, and on the hosts that the setting `bootstrap` names."""
    folder, authority_dir = settings.kafka_dir, authority_dir or settings.run_dir / AUTHORITY
    authority = Authority.of(authority_dir)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(authority_dir / "ca.crt", folder / CA)
    for name in IDENTITIES:
        if not (folder / f"{name}.password").exists():
            write_secret(folder / f"{name}.password", f"{name}:{secrets.token_urlsafe(32)}\n")
        if not (folder / f"{name}.key").exists():
            certificate, key = authority.issue(name)
            write_secret(folder / f"{name}.crt", certificate)
            write_secret(folder / f"{name}.key", key)
    broker = authority_dir / BROKER
    if not broker.exists():
        hosts = [address.rpartition(":")[0] for address in str(settings.bootstrap).split(",") if address]
        certificate, key = authority.issue("broker", server=True, hosts=hosts)
        write_secret(authority_dir / "broker.crt", certificate)
        write_secret(authority_dir / "broker.key", key)
        write_secret(broker, key + certificate)
    return authority_dir


def tell_passwords(address: str, folder: Path) -> None:
    """Sends every identity's password, salted, from the files of a folder to the brokers. Raises TopicsError."""
    admin = AdminClient({**librdkafka(address), "log_level": 3})
    told: list[UserScramCredentialAlteration] = []
    for name in IDENTITIES:
        user, _, password = (folder / f"{name}.password").read_text(encoding="utf-8").strip().partition(":")
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        told.append(UserScramCredentialUpsertion(user, how, password.encode()))
    _all_done(admin.alter_user_scram_credentials(told, request_timeout=_TIMEOUT_S), "a password")


def wanted(topics: Iterable[Topic] | None = None) -> set[tuple[str, ResourceType, str, AclOperation]]:
    """All rights: identity, kind of resource, its name, operation. No identity has one on a transactional id."""
    rights: set[tuple[str, ResourceType, str, AclOperation]] = set()
    for topic in declared() if topics is None else topics:
        for names, operation in ((topic.producers, AclOperation.WRITE), (topic.consumers, AclOperation.READ)):
            rights |= {(identity(name), ResourceType.TOPIC, topic.name, operation) for name in names}
    # Intake deletes the records that it has let in, if its installation provisioned the topic
    # (`workers.intake.clearing`).
    clears = (AclOperation.DELETE, AclOperation.WRITE, AclOperation.DESCRIBE_CONFIGS)
    rights |= {("intake", ResourceType.TOPIC, name, operation) for name in OUTSIDE for operation in clears}
    # Rights to write or read include describing; these describe topics without them, and read the offsets of others.
    rights |= {(OPERATOR, ResourceType.TOPIC, topic.name, AclOperation.DESCRIBE) for topic in declared()}
    rights |= {(name, ResourceType.GROUP, group, AclOperation.READ) for name, group in GROUPS}
    rights |= {(OPERATOR, ResourceType.GROUP, group, AclOperation.DESCRIBE) for _, group in GROUPS}
    # Both look how far the accepted stream is scored (`workers.kafka.scored_offsets`): one lets in as much as can be
    # scored within a moment, the other waits while much has no score.
    look = ("intake", "consolidator")
    rights |= {(name, ResourceType.GROUP, "memquorum-streams", AclOperation.DESCRIBE) for name in look}
    asking = set(IDENTITIES) - {ADMIN, AGENT}
    rights |= {(name, ResourceType.GROUP, _UNASSIGNED, AclOperation.DESCRIBE) for name in asking}
    return rights


def ensure_acls(address: str) -> tuple[int, int]:
    """Grants the missing rights and revokes our identities' excess ones; returns the counts of both.

    Raises TopicsError.
    """
    admin = AdminClient({**librdkafka(address), "log_level": 3})
    try:
        users = {f"User:{name}" for name in IDENTITIES}
        found = admin.describe_acls(_every(), request_timeout=_TIMEOUT_S).result()
        have = {acl for acl in found if acl.principal in users}
        want = {_binding(*right) for right in wanted()}
        missing, beyond = list(want - have), list(have - want)
        if missing:
            _all_done(admin.create_acls(missing, request_timeout=_TIMEOUT_S), "an ACL")
        if beyond:
            filters = [
                AclBindingFilter(
                    a.restype, a.name, a.resource_pattern_type, a.principal, a.host, a.operation, a.permission_type
                )
                for a in beyond
            ]
            _all_done(admin.delete_acls(filters, request_timeout=_TIMEOUT_S), "an ACL")
    except KafkaException as error:
        raise TopicsError(f"the cluster at {address} refused: {error.args[0].str()}") from error
    return len(missing), len(beyond)


def _every() -> AclBindingFilter:
    any_one: Any = None  # what the stubs do not know: without a name, all
    return AclBindingFilter(
        ResourceType.ANY, any_one, ResourcePatternType.ANY, any_one, any_one, AclOperation.ANY, AclPermissionType.ANY
    )


def _binding(name: str, kind: ResourceType, resource: str, operation: AclOperation) -> AclBinding:
    pattern = ResourcePatternType.PREFIXED if resource.endswith("*") else ResourcePatternType.LITERAL
    allow = AclPermissionType.ALLOW
    return AclBinding(kind, resource.removesuffix("*"), pattern, f"User:{name}", "*", operation, allow)


def _all_done(answers: Mapping[Any, Future[Any]], what: str) -> None:
    for asked, answer in answers.items():
        try:
            answer.result()
        except KafkaException as error:
            raise TopicsError(f"{what} was rejected ({asked}): {error.args[0].str()}") from error
