"""Finds what is wrong with a client and the installation beside it, and says what to do."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from memquorum import admin
from memquorum.client import settings
from memquorum.client.command import command
from memquorum.client.errors import NotConfigured
from memquorum.client.settings import Place
from memquorum.commands import FAILED, OK
from memquorum.core.access import covers
from memquorum.core.api.answers import Access, Ready
from memquorum.kafka import aiokafka, installed

if TYPE_CHECKING:
    import httpx

Level = Literal["ok", "warn", "fail"]
_PATIENCE_S = 10.0
# The first is unusual; beyond the second, members wait with their votes (clock_tolerance_ms).
_SKEW_S, _SKEW_MOST_S = 5.0, 60.0
_LOGINS = "set MEMQUORUM_KAFKA_PROTOCOL, MEMQUORUM_KAFKA_DIR and MEMQUORUM_KAFKA_IDENTITY (docs/operate/security.md)"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: `what` was looked at, what `told` says of it, and the `remedy` unless it is ok."""

    what: str
    level: Level
    told: str
    remedy: str = ""


@command("doctor", example="memquorum doctor --json")
def _doctor(parsed: argparse.Namespace) -> int:
    """Says what is wrong with this client and the installation beside it, and what to do. Exits with 1 if a check
    fails."""
    return report([*of_client(parsed), *_of_installation(parsed)], parsed.json)


def report(checks: Iterable[Check], as_json: bool) -> int:
    """Prints the checks. Returns the exit status: 1 if one fails."""
    failed = False
    for one in checks:
        failed |= one.level == "fail"
        if as_json:
            print(json.dumps(asdict(one)))
            continue
        print(f"{one.level:5} {one.what}: {one.told}")
        if one.level != "ok" and one.remedy:
            print(f"      → {one.remedy}")
    return FAILED if failed else OK


def of_client(parsed: argparse.Namespace) -> Iterator[Check]:
    """The checks of a client: its addresses, its key, its clock, the service and Kafka."""
    try:
        place = settings.find(kafka=parsed.kafka, url=parsed.url, namespace=parsed.namespace)
    except NotConfigured as error:
        yield Check("settings", "fail", str(error), "correct the setting that it names")
        return
    yield from of_service(place)
    yield from asyncio.run(of_kafka(place))


def of_service(place: Place) -> list[Check]:
    """The checks of the retrieval service and of the key for it."""
    import httpx  # not at the top: commands start sooner without it

    try:
        url = place.need_url()
    except NotConfigured as error:
        return [Check("service", "fail", "its address is not known", str(error))]
    headers = {"authorization": f"Bearer {place.api_key}"} if place.api_key else {}
    try:
        with httpx.Client(base_url=url, timeout=_PATIENCE_S, headers=headers) as http:
            ready, access = http.get("/readyz"), http.get("/access")
    except httpx.HTTPError as error:
        told = f"{url} does not answer ({error or type(error).__name__})"
        return [Check("service", "fail", told, "start it (`make up`), or correct MEMQUORUM_URL or --url")]
    return [*_readiness(url, ready), _key(place, access), _clock(ready)]


def _readiness(url: str, answer: httpx.Response) -> list[Check]:
    try:
        ready = msgspec.json.decode(answer.content, type=Ready)
    except msgspec.MsgspecError:
        told = f"{url} answers with {answer.status_code}, and not as a retrieval service"
        return [Check("service", "fail", told, "correct MEMQUORUM_URL or --url")]
    parts = {"store": ready.store, "journal": ready.journal, "Kafka": ready.kafka, "keys": ready.keys}
    wrong = "; ".join(f"{name}: {why}" for name, why in parts.items() if why)
    told = wrong or ("is ready" if ready.ready else "is not ready")
    level: Level = "ok" if ready.ready and not wrong else "fail"
    remedy = "its operator sees more with `memquorum admin fleet status`"
    encoder = Check("encoder", "ok", ready.encoder)
    if not ready.encoder:
        encoder = Check("encoder", "fail", "the service has none", "install it there (docs/operate/encoders.md)")
    return [Check("service", level, f"{url} {told}", remedy), encoder]


def _key(place: Place, answer: httpx.Response) -> Check:
    if answer.status_code in (401, 403):
        told = "the service does not accept it" if place.api_key else "the service wants one, and none is set"
        return Check("key", "fail", told, "set MEMQUORUM_API_KEY to a key from `memquorum admin keys add`")
    try:
        access = msgspec.json.decode(answer.content, type=Access)
    except msgspec.MsgspecError:
        return Check("key", "warn", f"the service answers with {answer.status_code}", "ask its operator")
    if not covers(access.namespaces, place.namespace):
        told = f"it is not for the namespace {place.namespace}, but for {', '.join(access.namespaces)}"
        return Check("key", "fail", told, "name another namespace (-n), or ask for a key to this one")
    told = f"may {', '.join(access.rights)} in {', '.join(access.namespaces)}"
    return Check("key", "ok", told if place.api_key else f"none is needed: everybody {told}")


def _clock(answer: httpx.Response) -> Check:
    try:
        skew_s = time.time() - parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return Check("clock", "warn", "the service does not say its time", "compare the clocks by hand")
    told = f"{abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} the service"
    if abs(skew_s) <= _SKEW_S:
        return Check("clock", "ok", "agrees with the service's")
    return Check("clock", "fail" if abs(skew_s) > _SKEW_MOST_S else "warn", told, "set this machine's clock (NTP)")


async def of_kafka(place: Place) -> list[Check]:
    """The check of the brokers; where none are set, publishing goes through the service."""
    if not place.kafka:
        return [Check("Kafka", "ok", "no brokers are set: what you publish goes through the service")]
    if not installed():
        told = f"{place.kafka} is set, but the packages for it are not installed"
        return [Check("Kafka", "fail", told, "pip install 'memquorum[kafka]', or unset MEMQUORUM_BOOTSTRAP")]
    from memquorum.client.broker_access import AIOKafkaClient, KafkaError  # not at the top: it needs the extra `kafka`

    client = AIOKafkaClient(**aiokafka(place.kafka), request_timeout_ms=int(_PATIENCE_S * 1000))
    try:
        await asyncio.wait_for(client.bootstrap(), _PATIENCE_S)
    except (KafkaError, OSError, TimeoutError) as error:
        told = f"{place.kafka} cannot be reached ({error or type(error).__name__})"
        return [Check("Kafka", "fail", told, f"start it (`make up`), correct MEMQUORUM_BOOTSTRAP, or {_LOGINS}")]
    finally:
        await client.close()
    return [Check("Kafka", "ok", f"{place.kafka} answers")]


def _of_installation(parsed: argparse.Namespace) -> Iterator[Check]:
    """The checks of the installation nearby, by the operator's program; none without one."""
    try:
        run_dir = settings.find().run_dir
    except NotConfigured:
        return
    if run_dir is None or not admin.has_server() or parsed.url:
        return
    words = ["fleet", "doctor", "--json", "--run-dir", str(run_dir.resolve())]
    done = subprocess.run(admin.command(words), env=admin.environment(), capture_output=True, text=True, check=False)
    try:
        yield from (Check(**json.loads(line)) for line in done.stdout.splitlines())
    except (ValueError, TypeError):
        print(done.stdout, file=sys.stderr)
    if not done.stdout:
        told = (done.stderr.strip().splitlines() or ["its checks did not run"])[-1]
        yield Check("installation", "fail", told, "correct what it names, then `memquorum admin fleet doctor`")
