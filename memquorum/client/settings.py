"""Finds the installation: by arguments first, then the environment, then the run folder of an installation nearby."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memquorum.client.errors import NotConfigured, NotInstalled
from memquorum.core.jsontext import is_text
from memquorum.kafka import MISSING, Address, LoginError, installed, login

RUN_DIR = ".memquorum"
FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class Place:
    """Addresses and names; an unknown one is empty."""

    kafka: str
    url: str
    namespace: str
    agent: str
    run_dir: Path | None
    # `local`: the addresses are those of the run folder's installation, whose tracing the next two describe.
    local: bool = False
    trace_rate: int = 0
    otlp_endpoint: str = ""
    # True if records drive the installation's clock in place of the wall clock, as in tests and the demo.
    driven: bool = False
    # True if the namespace was given, and is not merely the default.
    named: bool = False
    # The retrieval service's API key, if it requires one.
    api_key: str = field(default="", repr=False)

    def need_kafka(self) -> str:
        """The brokers' address. Raises NotConfigured, NotInstalled."""
        self._need_installation()
        if not installed():
            raise NotInstalled(MISSING)
        return _need(self.kafka, "Kafka's address", "kafka", "MEMQUORUM_BOOTSTRAP")

    def need_url(self) -> str:
        """The retrieval service's address. Raises NotConfigured if it is unknown, or no URL."""
        self._need_installation()
        url = _need(self.url, "the retrieval service's address", "url", "MEMQUORUM_URL")
        if not _is_url(url):
            raise NotConfigured(f"{url!r} is no URL of a retrieval service, which is as http://127.0.0.1:8080")
        return url

    def need_genesis(self, given: Path | None = None) -> Path:
        """The cluster's genesis file: the one given, or the installation's. Raises NotConfigured."""
        if given is None and self.run_dir is None:
            raise NotConfigured(
                "which cluster? Give genesis= in Python or --genesis FILE to a command, or work beside its installation"
            )
        return given or (self.run_dir or Path()) / "genesis.json"

    def _need_installation(self) -> None:
        """Raises NotConfigured where no address is known: it is the cause, whatever else is missing."""
        if self.kafka or self.url:
            return
        if self.run_dir is not None and not self.run_dir.is_dir():
            raise NotConfigured(f"MEMQUORUM_RUN_DIR names {self.run_dir}, and there is no such folder")
        raise NotConfigured(
            "no installation is known: set MEMQUORUM_URL or MEMQUORUM_RUN_DIR, and to reach Kafka itself "
            "MEMQUORUM_BOOTSTRAP; give url= or kafka= in Python, --url or --kafka to a command; or work in the folder "
            "of an installation that runs (`make up`)"
        )

    def need_agent(self) -> str:
        """The agent's name. Raises NotConfigured."""
        if not self.agent:
            raise NotConfigured("who are you? Set MEMQUORUM_AGENT, or give agent= in Python or --agent to a command")
        return self.agent


def find(
    kafka: str | None = None,
    url: str | None = None,
    namespace: str | None = None,
    agent: str | None = None,
    *,
    api_key: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Place:
    """The place that arguments, environment and the nearest run folder name. Raises NotConfigured if the run folder's
    file is broken."""
    run_dir = _run_dir(environment)
    saved = _saved(run_dir)
    port = saved.get("retrieval_port")
    served = f"http://{saved.get('retrieval_host', '127.0.0.1')}:{port}" if port else ""
    address = (url or environment.get("MEMQUORUM_URL") or served).rstrip("/")
    # Another service belongs to another installation, whose Kafka is not the one nearby. Without Kafka's library what
    # is published goes through the service.
    nearby = str(saved.get("bootstrap", "")) if address == served and installed() else ""
    brokers = kafka or environment.get("MEMQUORUM_BOOTSTRAP") or nearby
    if brokers and not isinstance(brokers, Address):
        brokers = _logged_in(brokers, saved, environment)
    local = bool(brokers) and brokers == saved.get("bootstrap")
    said = namespace or environment.get("MEMQUORUM_NAMESPACE")
    return Place(
        kafka=brokers,
        url=address,
        namespace=said or "default",
        named=bool(said),
        agent=agent or environment.get("MEMQUORUM_AGENT", ""),
        run_dir=run_dir,
        local=local,
        driven=local and saved.get("clock") == "driven",
        trace_rate=int(saved.get("trace_rate", 0)),
        otlp_endpoint=str(saved.get("otlp_endpoint", "")),
        api_key=api_key or environment.get("MEMQUORUM_API_KEY", ""),
    )


def _logged_in(brokers: str, saved: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The address with the login that the environment names, or the run folder's settings."""
    protocol = environment.get("MEMQUORUM_KAFKA_PROTOCOL") or str(saved.get("kafka_protocol", "PLAINTEXT"))
    folder = environment.get("MEMQUORUM_KAFKA_DIR") or str(saved.get("kafka_dir", "kafka-logins"))
    try:
        return login(brokers, protocol, Path(folder), environment.get("MEMQUORUM_KAFKA_IDENTITY") or "agent")
    except LoginError as error:
        raise NotConfigured(
            f"{error}: set MEMQUORUM_KAFKA_DIR and MEMQUORUM_KAFKA_IDENTITY (docs/operate/security.md)"
        ) from None


def _run_dir(environment: Mapping[str, str]) -> Path | None:
    given = environment.get("MEMQUORUM_RUN_DIR")
    if given:
        return Path(given)
    return next((folder for folder in _nearby() if (folder / FILE).is_file()), None)


def _nearby() -> Iterator[Path]:
    here = Path.cwd()
    for folder in (here, *here.parents):
        yield folder / RUN_DIR
    yield Path(__file__).resolve().parents[2] / RUN_DIR  # of a checkout


def _saved(run_dir: Path | None) -> dict[str, Any]:
    if run_dir is None:
        return {}
    file = run_dir / FILE
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{file} cannot be read: {error}") from None
    return found if isinstance(found, dict) else {}


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        return False


def _need(value: str, what: str, argument: str, variable: str) -> str:
    if not value:
        raise NotConfigured(
            f"{what} is not known: set {variable}, give {argument}= in Python or --{argument} to a command, or work in "
            "the folder of an installation that runs (`make up`)"
        )
    if not is_text(value):
        raise NotConfigured(f"{what} must be a text that UTF-8 can encode, not {value!r:.80}")
    return value
