"""Where the brokers are and how a client logs in to them: one value, for confluent-kafka, aiokafka and Faust alike.

An `Address` is the text that clients call bootstrap servers, and carries with it how to log in. Where none is carried,
as with plain text, nothing is encrypted and nobody asked who he is: right on a machine of one's own alone.
"""

from __future__ import annotations

import ssl
import stat
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
PROTOCOLS: tuple[str, ...] = get_args(Protocol)
MECHANISM = "SCRAM-SHA-512"
CA = "ca.crt"
MISSING = "what reads or writes Kafka itself needs the extra `kafka`: pip install 'memquorum[kafka]'"
"""The message where the extra is not installed."""


class LoginError(ValueError):
    """A file of a login is missing, open to others or not what it should be; the message names it."""


@dataclass(frozen=True, slots=True)
class Security:
    """The login of a client.

    `ca`: the certificate that the brokers' are signed by. With SASL `username` and `password` say who one is
    (SCRAM-SHA-512), with SSL alone the certificate and key do.
    """

    protocol: Protocol
    username: str = ""
    password: str = field(default="", repr=False)
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class Address(str):
    """Host:port of one or more brokers, by commas, with how to log in to them."""

    security: Security

    def __new__(cls, servers: str, security: Security) -> Address:
        """`servers`: as plain text has it."""
        made = super().__new__(cls, servers)
        made.security = security
        return made

    def __getnewargs__(self) -> tuple[str, Security]:  # type: ignore[override]
        """Another process has it whole: through pipes alone, it holds the password."""
        return str(self), self.security


def login(servers: str, protocol: str, folder: Path, identity: str) -> str:
    """The address with an identity's login, as files of a folder hold it; as it is where the protocol is PLAINTEXT.

    The files: `ca.crt`; `<identity>.password`, one line `<user>:<password>`, for SASL; `<identity>.crt` and
    `<identity>.key` for SSL. Raises LoginError.
    """
    if protocol == "PLAINTEXT":
        return servers
    if protocol not in PROTOCOLS:
        raise LoginError(f"the protocol of Kafka is one of {', '.join(PROTOCOLS)}, not {protocol!r}")
    username = password = ""
    ca = certificate = key = None
    if protocol.startswith("SASL"):
        file = folder / f"{identity}.password"
        username, _, password = _secret(file).strip().partition(":")
        if not username or not password or "\n" in password:
            raise LoginError(f"{file} is not one line <user>:<password>")
    if protocol.endswith("SSL"):
        ca = _there(folder / CA)
    if protocol == "SSL":
        certificate, key = _there(folder / f"{identity}.crt"), folder / f"{identity}.key"
        _secret(key)
    known: Any = protocol
    return Address(servers, Security(known, username, password, ca, certificate, key))


@cache
def installed() -> bool:
    """Whether the packages of the extra `kafka` are installed."""
    return all(find_spec(name) is not None for name in ("aiokafka", "numpy", "fastavro", "cryptography"))


def librdkafka(bootstrap: str) -> dict[str, Any]:
    """Returns the settings of confluent-kafka's clients for an address."""
    told: dict[str, Any] = {"bootstrap.servers": str(bootstrap)}
    if not isinstance(bootstrap, Address):
        return told
    with_ = bootstrap.security
    told["security.protocol"] = with_.protocol
    if with_.username:
        told |= {"sasl.mechanism": MECHANISM, "sasl.username": with_.username, "sasl.password": with_.password}
    files = {"ssl.ca.location": with_.ca, "ssl.certificate.location": with_.certificate, "ssl.key.location": with_.key}
    return told | {name: str(file) for name, file in files.items() if file is not None}


def aiokafka(bootstrap: str) -> dict[str, Any]:
    """Returns the settings of aiokafka's clients for an address."""
    told: dict[str, Any] = {"bootstrap_servers": str(bootstrap)}
    if not isinstance(bootstrap, Address):
        return told
    with_ = bootstrap.security
    told |= {"security_protocol": with_.protocol, "ssl_context": context(with_)}
    if with_.username:
        told |= {
            "sasl_mechanism": MECHANISM,
            "sasl_plain_username": with_.username,
            "sasl_plain_password": with_.password,
        }
    return told


def context(security: Security) -> ssl.SSLContext | None:
    """The context for who speaks TLS by Python's own means: brokers are who the `ca` says and where it says. None
    without TLS."""
    if security.ca is None:
        return None
    made = ssl.create_default_context(cafile=str(security.ca))
    if security.certificate is not None and security.key is not None:
        made.load_cert_chain(security.certificate, security.key)
    return made


def _there(file: Path) -> Path:
    if not file.is_file():
        raise LoginError(f"there is no {file}, which a login to Kafka needs here")
    return file


def _secret(file: Path) -> str:
    try:
        mode, text = stat.S_IMODE(_there(file).stat().st_mode), file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoginError(f"{file} cannot be read: {error}") from None
    if mode & 0o077:
        raise LoginError(f"{file} may be read by others (mode {mode:04o}): chmod 600 it")
    return text


def place(record: Any) -> str | None:
    """Returns where a record stands, as TOPIC/PARTITION/OFFSET; None where the brokers had it already and do not say.
    `record`: its metadata, as aiokafka gives it."""
    return None if record.offset < 0 else f"{record.topic}/{record.partition}/{record.offset}"
