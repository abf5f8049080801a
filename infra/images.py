"""The operator's `images`: which container images docker-compose.yml and Dockerfile take, and their digests."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import wholefiles
from memquorum.commands import FAILED, OK, UNREACHABLE, flag, option

FILE = Path(__file__).resolve().parents[1] / ".env"
"""Names every image; `docker compose` reads it."""

_LINE = re.compile(r"(?m)^(?P<variable>[A-Z][A-Z0-9_]*_IMAGE)=(?P<reference>\S*)[ \t]*$")
_HOST = r"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|[A-Za-z0-9-]+(?=:)|\[[0-9a-f:]+\])(?::\d{1,5})?"
_REFERENCE = re.compile(
    rf"(?:(?P<host>{_HOST})/)?"
    r"(?P<name>[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_EXACT = re.compile(r"(?<![0-9.])\d+\.\d+\.\d+(?![0-9.])")
_OWN_MACHINE = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?")
_CHALLENGE = re.compile(r'(realm|service|scope)="([^"]*)"')
_MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_MOST = 4 << 20
"""The largest manifest, in bytes: the limit of registries."""
_PATIENCE_S = 10.0


class Unanswered(Exception):
    """A registry that does not answer, or does not give the digest."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image as the file names it: `host/name:tag@digest`, where host and digest may be missing."""

    variable: str
    host: str | None
    name: str
    tag: str
    digest: str | None

    @property
    def exact(self) -> bool:
        """Whether the tag names one version, down to its third number."""
        return _EXACT.search(self.tag) is not None

    @property
    def tagged(self) -> str:
        """Name and tag without the digest."""
        return f"{self.host}/{self.name}:{self.tag}" if self.host else f"{self.name}:{self.tag}"

    def __str__(self) -> str:
        return f"{self.tagged}@{self.digest}" if self.digest else self.tagged


def read(text: str) -> list[Image]:
    """The images that a file's variables `…_IMAGE` name. Raises SettingsError."""
    return [_image(line["variable"], line["reference"]) for line in _LINE.finditer(text)]


def _image(variable: str, reference: str) -> Image:
    found = _REFERENCE.fullmatch(reference)
    if found is None or found["tag"] is None:
        raise SettingsError(f"images: {variable}={reference}: write an image with its tag, as in name:1.2.3")
    return Image(variable, found["host"], found["name"], found["tag"], found["digest"])


@command(
    "images list",
    flag("--digests", "ask the registries for the digests and write them into the file: all of them, or none"),
    option("--registry", metavar="HOST", help="which registry to ask for names without a host; a mirror, for example"),
    option("--file", type=Path, default=FILE, metavar="FILE", help="which file names the images (default: .env)"),
    apart=True,
    example="images list --digests --registry HOST",
)
def _images(settings: Settings, parsed: Namespace) -> int:
    """Lists the container images, and pins them to digests.

    Returns 1 if a tag names no exact version or a registry has no such image, 3 if a registry does not answer. Raises
    SettingsError.
    """
    file: Path = parsed.file
    if parsed.registry is not None and not re.fullmatch(_HOST, parsed.registry):
        raise SettingsError(f"images: --registry {parsed.registry!r} is not the name of a host (host or host:port)")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"images: {file} cannot be read: {error}") from None
    images = read(text)
    if not images:
        raise SettingsError(f"images: {file} has no line like NAME_IMAGE=name:1.2.3")
    if parsed.digests:
        return _pin(file, text, images, parsed.registry)
    for image in images:
        print(f"{image.variable}  {image}" + ("" if image.exact else "  (not an exact version)"))
    return OK if all(image.exact for image in images) else FAILED


def _pin(file: Path, text: str, images: Sequence[Image], registry: str | None) -> int:
    """Writes the digests into the file once every registry has answered."""
    pinned, status = list[Image](), OK
    with httpx.Client(timeout=_PATIENCE_S, headers={"User-Agent": "memquorum"}) as client:
        for image in images:
            try:
                pinned.append(replace(image, digest=digest(client, image, registry)))
            except httpx.TransportError as error:
                status = UNREACHABLE
                print(f"{image.tagged}: {image.host or registry} does not answer: {error}", file=sys.stderr)
            except Unanswered as error:
                status = status or FAILED
                print(f"{image.tagged}: {error}", file=sys.stderr)
    if status:
        print(f"{file} is unchanged", file=sys.stderr)
        return status
    for image in pinned:
        text = re.sub(rf"(?m)^{image.variable}=.*$", f"{image.variable}={image}", text)
        print(f"{image.variable}  {image}")
    wholefiles.write(file, text)
    return OK


def digest(client: httpx.Client, image: Image, registry: str | None) -> str:
    """The digest that a registry gives for a tag, computed from the manifest that it sends.

    Raises httpx.TransportError and Unanswered.
    """
    host = image.host or registry
    if host is None:
        raise Unanswered("the name has no registry: give one with --registry HOST")
    # Names of one word belong to the default registry's own collection.
    name = image.name if image.host or "/" in image.name else f"library/{image.name}"
    scheme = "http" if _OWN_MACHINE.fullmatch(host) else "https"
    url = f"{scheme}://{host}/v2/{name}/manifests/{image.tag}"
    answer, body = _get(client, url, {"Accept": _MANIFESTS})
    if answer.status_code == 401:
        token = _token(client, scheme, answer.headers.get("WWW-Authenticate", ""))
        answer, body = _get(client, url, {"Accept": _MANIFESTS, "Authorization": f"Bearer {token}"})
    if answer.status_code != 200:
        raise Unanswered(f"{host} answers {answer.status_code}")
    found = f"sha256:{hashlib.sha256(body).hexdigest()}"
    if answer.headers.get("Docker-Content-Digest", found) != found:
        raise Unanswered(f"{host} sends a manifest that is not the one whose digest it names")
    return found


def _get(client: httpx.Client, url: httpx.URL | str, headers: dict[str, str]) -> tuple[httpx.Response, bytes]:
    body = bytearray()
    with client.stream("GET", url, headers=headers) as answer:
        for part in answer.iter_bytes():
            body += part
            if len(body) > _MOST:
                raise Unanswered(f"{answer.url.host} sends more than {_MOST:,} bytes")
    return answer, bytes(body)


def _token(client: httpx.Client, scheme: str, challenge: str) -> str:
    """The token that a registry gives to anonymous readers. Raises httpx.TransportError and Unanswered."""
    asked = dict(_CHALLENGE.findall(challenge))
    try:
        realm = httpx.URL(asked.pop("realm", ""))
    except httpx.InvalidURL:
        realm = httpx.URL()
    if not challenge.startswith("Bearer ") or realm.scheme not in {"https", scheme}:
        raise Unanswered("the registry requires a login, which is not supported")
    answer, body = _get(client, realm.copy_merge_params(asked), {})
    try:
        given: Any = json.loads(body)
        token = given.get("token") or given.get("access_token")
    except (ValueError, AttributeError):
        token = None
    if answer.status_code != 200 or not isinstance(token, str):
        raise Unanswered(f"{realm.host} gives no token (it answers {answer.status_code})")
    return token
