"""The settings of one installation: defaults, then the run folder's settings.json, then the environment.

A worker never reads these: `infra/roles.py` passes it what it needs as arguments.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, make_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import msgspec
import psycopg
from msgspec import Meta
from psycopg.conninfo import conninfo_to_dict

from memquorum import wholefiles
from memquorum.core import names, quota, shard_ranges
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.orders import envelope
from memquorum.core.privacy.sensitivity import BadWeights, Weights, read_weights
from memquorum.core.retrieval.bounds import Bounds, BoundsError
from memquorum.encoders import DEVICES

PREFIX = "MEMQUORUM_"
FILE = "settings.json"
DEFAULT_RUN_DIR = Path(__file__).resolve().parents[1] / ".memquorum"

# Environment variables MEMQUORUM_… that are no settings: of the SDK and the client's command line, and a key that is in
# no file of settings.
FOREIGN = frozenset(
    f"{PREFIX}{name}" for name in ("NAMESPACE", "AGENT", "URL", "API_KEY", "KAFKA_IDENTITY", "SUMMARISER_KEY")
)

DIVIDED = ("replica", "commit")
"""The roles whose shards several processes may share."""
_ORIGIN = re.compile(r"https?://[a-z0-9.\[\]:_-]+", re.IGNORECASE)
Count = Annotated[int, Meta(ge=0, description="a whole number ≥ 0")]
Cells = Annotated[int, Meta(ge=0, le=64, description="a whole number, 0 to 64")]
Device = Annotated[str, Meta(pattern=DEVICES, description="auto, cpu, cuda or cuda:N")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Percent = Annotated[int, Meta(ge=0, le=100, description="a whole number, 0 to 100")]
Port = Annotated[int, Meta(ge=0, le=65_535, description="a port, 0 to 65535")]
# Fewer members cannot tolerate a faulty one. More were not tried: their mutual checks grow as the square
# (docs/measured/scale.md).
Members = Annotated[int, Meta(ge=4, le=100, description="a whole number, 4 to 100")]
# Two or four brokers tolerate no more failures than one or three.
if TYPE_CHECKING:
    Brokers = int  # an existing installation names its own number, as any int
else:
    Brokers = Annotated[Literal[1, 3, 5], Meta(description="1, 3 or 5")]


class Mendable(Exception):
    """An error that an operator can correct: a command reports it in one line, without a traceback."""


class SettingsError(Mendable, ValueError):
    """A setting that is unknown, missing or invalid; the message names it and its source."""


if TYPE_CHECKING:

    class _Bounds:
        """Bounds of retrieval's load: each number of Bounds is a setting, `retrieval_` and its name."""
else:
    _Bounds = make_dataclass(
        "_Bounds",
        [(f"retrieval_{one.name}", Count, one.default) for one in fields(Bounds)],
        frozen=True,
        slots=True,
        kw_only=True,
    )


@dataclass(frozen=True, slots=True)
class Settings(_Bounds):
    """The settings of an installation. In the environment a field is MEMQUORUM_ and its name in capitals; in
    settings.json its name.

    The bounds of the retrieval service are in `memquorum.core.retrieval.bounds`, with their defaults.
    """

    # The folder of this installation: servers' data, logs, keys, sign-states.
    run_dir: Path = DEFAULT_RUN_DIR
    # host:port of one or more Kafka brokers, separated by commas.
    bootstrap: str = ""
    # The clients' login at the brokers; by the files of `kafka_dir`, unless PLAINTEXT. `up` starts brokers that require
    # it, and gives each process only its own topics (docs/operate/security.md).
    kafka_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    # Folder with ca.crt and, for each identity, a password file or a certificate and its key; a process needs its own.
    kafka_dir: Path = Path("kafka-logins")
    # libpq connection strings of the two databases.
    memory_dsn: str = ""
    vault_dsn: str = ""
    # The number of members in a new genesis file; f of 3f + 1 may be faulty. An existing file keeps its own.
    members: Members = 4
    # Membership and policy; with this file anybody can check every decision.
    genesis_file: Path = Path("genesis.json")
    # Folder with one <name>.key file for each member and service; a replica needs only its own.
    keys_dir: Path = Path("keys")
    # The key above all subjects' keys. Without it, the content of every memory is lost.
    master_key_file: Path = Path("master.key")
    # Folder with a <process>.pgpass file for each login of Postgres; a process needs only its own.
    logins_dir: Path = Path("logins")
    # Processes' files; above all the replicas' sign-states, never to be restored from an old copy.
    state_dir: Path = Path("state")
    # wall: ticks follow the machine's clock. driven: only ClockRequested records move time (tests, the demo).
    clock: Literal["wall", "driven"] = "wall"
    # The interval of a wall clock's ticks, which bounds how late an epoch opens. Each is a row of every shard's
    # journal.
    tick_ms: Count = 10_000
    # The lead of a tick over a process's own clock from which on the process waits to vote, or to destroy keys, by it.
    # Only with a wall clock.
    clock_tolerance_ms: Count = 60_000
    # The time that accepted records stay in outside topics that this installation provisioned, as agents sent them;
    # their files go a minute or two later. 0: until the topics' retention is over.
    outside_keep_ms: Count = 120_000
    # The episodes and bytes that a namespace may bring in within a minute, in each process of intake; the excess
    # becomes dead letters (over_quota). 0: no limit. Bytes are those of the records as published, 1,000,000 at least.
    ingest_episodes_per_minute: Count = 0
    ingest_bytes_per_minute: Count = 0
    # The number of memories that a namespace may have before nothing more of it is let in; 0: no limit. Unlike this
    # limit, the policy's capacity lets more memories in and nominates the excess to be forgotten.
    ingest_memories: Count = 0
    # Limits of single namespaces: NAMESPACE=EPISODES/BYTES/MEMORIES, separated by blanks; `team-*` is a beginning.
    ingest_limits: str = ""
    # Signers whose orders intake refuses, separated by blanks: service:erasure, or agent:NAME, once a key is
    # compromised and cannot be replaced (docs/operate/security.md).
    refused_signers: str = ""
    # If true, intake suggests the sensitivity of an episode without one, by its content (docs/use/privacy.md); the
    # weights of kinds that differ from the defaults, KIND=WEIGHT separated by blanks: `email=0 health=1`.
    suggest_sensitivity: bool = True
    sensitivity_weights: str = ""
    # The recognisers beside the rules, separated by blanks: `names`, by the model of the extra `ner`; `meaning`, by the
    # encoder.
    sensitivity_recognisers: str = ""
    # The base address of a schema registry, before `/schemas/ids/…`: for records in the framing of Confluent's
    # serializers. Empty: such records are refused. The file, if there is one, holds USER:PASSWORD for it.
    registry_url: str = ""
    registry_login_file: Path = Path("registry.login")
    # If true, the journal is also written to a topic for other tools, without content (docs/operate/events.md).
    journal_mirror: bool = False
    # The targets of webhooks, if there is such a file (docs/operate/events.md).
    webhooks_file: Path = Path("webhooks.toml")
    # The time after an erasure during which some of it may remain in files without a `sweep`; at least a day longer
    # than the outside topics keep records. It only dates receipts.
    residue_ms: Count = 2 * 24 * 3600 * 1000
    # The number of a namespace's sentences about a thing from which on it has a roll-up.
    rollup_least: Count = 3
    # The time after a memory was stored, by the stream's clock, until the roll-ups of its namespace are updated.
    rollup_every_ms: Count = 5 * 60_000
    # The time that logged queries can be opened, for learning from use; they are sealed, and their topic keeps them for
    # 31 days at most. 0: no queries are logged, and earlier ones cannot be opened any more.
    queries_keep_ms: Count = 30 * 24 * 3600 * 1000
    # The wait of commit and members for an episode's score that raises an alarm (log, /readyz, metrics), and goes on.
    score_alarm_ms: Count = 10_000
    # The interval of the commit worker's own sweeps, so that receipts do not depend on an operator; 0: never.
    sweep_hours: Count = 24
    # The number of memories of one encoder from which on a namespace is searched through indexes of its own instead of
    # being read whole; they are dropped when it has shrunk to half of that. 0: none are made or dropped.
    crowd_least: Count = 5_000
    # The grounds that count when members vote to promote (docs/use/forgetting.md): rules, or others, by which an
    # agent's repetitions of its own memory do not count. Each replica reads its own setting, so set the same for all.
    grounds: Literal["rules", "others"] = "rules"
    # A contradiction model for cases that the rules leave open: its folder, and the SHA-256 of its three files, without
    # which none is used. Salience uses it if it is there; members vote by it if the policy names it.
    contradiction_path: Path = Path("contradiction")
    contradiction_digest: str = ""
    # The ranges of shards, separated by blanks, that the processes of one member share, and those of commit: 0-1 2-3.
    # Each process is started with `--shards` and one of them. Empty: one process has all (docs/operate/machines.md).
    replica_shards: str = ""
    commit_shards: str = ""
    # The time that a primary waits for the ballots beyond N - f.
    ballot_grace_ms: Count = 250
    # A model that summarizes sessions: the base address of an endpoint compatible with OpenAI's chat completions,
    # before `/chat/completions`, and the model's name. Empty: no model, and no text leaves (docs/use/consolidation.md).
    summariser_url: str = ""
    summariser_model: str = ""
    # The file of its API key; MEMQUORUM_SUMMARISER_KEY in the environment takes precedence. Without both none is sent.
    summariser_key_file: Path = Path("summariser.key")
    # The time-out of one request, and the number of retries before the session has failed.
    summariser_timeout_ms: Count = 60_000
    summariser_retries: Count = 2
    # The tokens that the model may cost a day, by the wall clock in UTC; 0: no limit.
    summariser_tokens_per_day: Count = 1_000_000
    # It sees only memories up to this sensitivity, for this purpose and under these jurisdictions (DE EU), or none.
    summariser_sensitivity_max: Share = 0.1
    summariser_purpose: str = "summarising"
    summariser_jurisdictions: str = ""
    # The requests a minute by which it may compare memories, 0: none; and their tokens a day, beside the summaries.
    compare_per_minute: Count = 0
    compare_tokens_per_day: Count = 1_000_000
    # The hours of failures after which a session is summarized by rules; 0: never, it waits for the model.
    summariser_fallback_hours: Count = 0
    # minilm: the ONNX model that setup makes. hashing: words without meaning, for tests. torch: any Hugging Face
    # encoder in the folder `encoder_path`, if the extra `torch` is installed (make torch). multilingual: 16 languages,
    # if the extra `multilingual` is installed (make multilingual).
    encoder: Literal["minilm", "multilingual", "hashing", "torch"] = "minilm"
    encoder_path: Path = Path("encoder")
    # Only for torch. auto: a CUDA card if there is one. cuda:1: the second card.
    encoder_device: Device = "auto"
    # A text that repeats a memory word for word is recognized by its digest and not encoded. The cells, of 2 bytes, per
    # memory in the filter in front of the digests: with 10, 1 in 100 new texts is looked up. 0: every text is encoded.
    exact_cells: Cells = 10
    # Streams compares an episode with the memories of its namespace, which it holds in memory: 200,000 in all. Those of
    # namespaces least lately active rest in 2.3 KB each, up to so many MiB; beyond, they are read from the store again,
    # which takes 50 ms for a thousand.
    idle_namespaces_mb: Count = 256
    # While `reencode` works: the encoder of the memories not converted yet, by which they are found.
    encoder_before: Literal["none", "minilm", "multilingual", "hashing", "torch"] = "none"
    encoder_before_path: Path = Path("encoder-before")
    # The least interval between rehearsals, in seconds; 0: never. Only while the machine's processors are busy for less
    # than this share of every few seconds during `rehearsal_quiet_s` (100: always). It takes `rehearsal_budget_ms` at
    # most, and examines so many short-term memories, and old long-term ones, at most. The policy limits how often one
    # memory is rehearsed (`rehearse`).
    rehearsal_every_s: Count = 300
    rehearsal_busy_percent: Percent = 30
    rehearsal_quiet_s: Count = 60
    rehearsal_budget_ms: Count = 500
    rehearsal_recent: Count = 50
    rehearsal_old: Count = 20
    # The seconds between a verifier's looks for memories to try, 0: never; and the time of one, and one trial more.
    verifier_every_s: Count = 5
    verifier_budget_ms: Count = 500
    # The namespaces whose texts retrieval gives only masked, to every reader, separated by blanks: `team-*` is each
    # that begins so, `*` all. If true, names of persons and places are masked too, by the model of the extra `ner`.
    redact_namespaces: str = ""
    redact_names: bool = False
    # The namespaces whose answers are compared with what the limits of the read keep back, by names as above.
    check_namespaces: str = ""
    # The address of retrieval; port 0 takes a free one when the fleet starts.
    retrieval_host: str = "127.0.0.1"
    retrieval_port: Port = 0
    # The origins of web pages that may call retrieval, separated by blanks: https://board.example.org; others may not.
    retrieval_origins: str = ""
    # The number of a namespace's most used memories whose vectors are in retrieval's cache, 1.5 KB each of 384 numbers;
    # all namespaces together have room for five times as many. 0: no cache.
    cache_memories: Count = 10_000
    # The copies of every partition, and how many must have a record before it is acknowledged.
    replication: Count = 1
    min_isr: Count = 1
    # The number of Kafka brokers of a new installation. With three, one may fail at any time: two of three copies must
    # have a record. An existing installation keeps its own.
    brokers: Brokers = 1
    # The name of this process among several of one role: restarted, it resumes its place in the consumer group at once;
    # another process under the same name replaces it. Empty: an ordinary member.
    instance: str = ""
    # The embedded Postgres flushes nothing to disk: for tests and the demo.
    throwaway: bool = False
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    # Lines of JSON or plain ones; auto: plain on a terminal, JSON anywhere else.
    log_format: Literal["auto", "json", "text"] = "auto"
    # The address of every process's /metrics, /livez and /readyz; port 0 takes a free one, named in the folder `watch`.
    watch_host: str = "127.0.0.1"
    watch_port: Port = 0
    # The traces a second that each process may begin; 0 records none.
    trace_rate: Count = 20
    # A collector's address for OTLP over HTTP, http://host:4318; traces are kept in the folder `traces` too.
    otlp_endpoint: str = ""

    @property
    def bounds(self) -> Bounds:
        """The bounds of the service, from the settings that begin with `retrieval_`. Raises BoundsError."""
        return Bounds(**{one.name: getattr(self, f"retrieval_{one.name}") for one in fields(Bounds)})

    @property
    def ingest(self) -> quota.Plan:
        """The limits of namespaces, from the settings that begin with `ingest_`. Raises quota.LimitsError."""
        others = quota.Limits(self.ingest_episodes_per_minute, self.ingest_bytes_per_minute, self.ingest_memories)
        try:
            return quota.plan(self.ingest_limits, others)
        except quota.LimitsError as error:
            raise quota.LimitsError(f"limits: {error}") from None

    def ranges(self, role: str) -> list[range]:
        """The ranges of shards that the processes of a role share; none where one process has all. Raises
        SettingsError."""
        if role not in DIVIDED:
            return []
        try:
            return shard_ranges.read(getattr(self, f"{role}_shards"))
        except shard_ranges.RangesError as error:
            raise SettingsError(f"settings: {role}_shards: {error}") from None

    @property
    def redacted(self) -> tuple[str, ...]:
        """The namespaces whose texts are given only masked, as the setting names them. Raises SettingsError."""
        return self._namespaces("redact_namespaces")

    @property
    def checked(self) -> tuple[str, ...]:
        """The namespaces whose answers are compared with what is withheld. Raises SettingsError."""
        return self._namespaces("check_namespaces")

    def _namespaces(self, setting: str) -> tuple[str, ...]:
        named = tuple(str(getattr(self, setting)).split())
        for one in named:
            fault = None if one == "*" else names.namespace_fault(one.removesuffix("*"))
            if fault is not None:
                raise SettingsError(f"settings: {setting}: {one!r}: {fault.detail}")
        return named

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of web pages that may call retrieval. Raises SettingsError for an origin of a form that no
        browser sends."""
        found = tuple(self.retrieval_origins.split())
        for one in found:
            if not _ORIGIN.fullmatch(one):
                told = "is no origin: name scheme, host and port alone, as in https://board.example.org:8443"
                raise SettingsError(f"settings: retrieval_origins: {one!r} {told}")
        return found

    @property
    def refused(self) -> frozenset[str]:
        """The signers whose orders intake refuses. Raises SettingsError for a name that is no signer: its orders would
        be accepted."""
        names = frozenset(self.refused_signers.split())
        for name in names:
            if name not in (OPERATOR, envelope.SERVICE) and not name.startswith(envelope.AGENT):
                known = f"{envelope.SERVICE}, {envelope.AGENT}NAME or {OPERATOR}"
                raise SettingsError(f"settings: refused_signers: {name!r} signs no orders; {known} does")
        return names

    @property
    def file(self) -> Path:
        """The file that `save` writes."""
        return self.run_dir / FILE

    @property
    def logs_dir(self) -> Path:
        """The folder with one log per process."""
        return self.run_dir / "logs"

    @property
    def retrieval_url(self) -> str:
        """Base address of the retrieval service."""
        return f"http://{self.retrieval_host}:{self.retrieval_port}"

    def require(self, *names: str) -> None:
        """Raises SettingsError for the first of these settings that is empty."""
        for name in names:
            if not getattr(self, name):
                raise SettingsError(f"{PREFIX}{name.upper()} is not set, neither in the environment nor in {self.file}")

    def environment(self) -> dict[str, str]:
        """The settings as environment variables for a child process."""
        return {f"{PREFIX}{name.upper()}": str(value) for name, value in asdict(self).items()}

    def save(self) -> None:
        """Writes settings.json, whole or not at all; paths in the run folder are relative, so that it may be moved."""
        data = {name: _relative(value, self.run_dir) for name, value in asdict(self).items() if name != "run_dir"}
        wholefiles.write(self.file, json.dumps(data, indent=2) + "\n")


def _relative(value: Any, folder: Path) -> Any:
    if not isinstance(value, Path):
        return value
    return str(value.relative_to(folder.resolve()) if value.is_relative_to(folder.resolve()) else value)


def require_place(option: str, file: Path) -> None:
    """Raises SettingsError if a file's folder is missing, which is mostly a typing error, or if a folder has its name:
    before there is anything to write. -"""
    if file.is_dir():
        raise SettingsError(f"{option} {file}: that is a folder; name a file in it")
    if not file.parent.is_dir():
        raise SettingsError(f"{option} {file}: there is no folder {file.parent}; make it first")


def weights(settings: Settings) -> Weights:
    """The weight of each kind in a suggested sensitivity. Raises SettingsError."""
    try:
        return Weights(settings.suggest_sensitivity, read_weights(settings.sensitivity_weights))
    except BadWeights as error:
        raise SettingsError(f"settings: sensitivity_weights: {error}") from None


def console_url(settings: Settings) -> str:
    """Returns the address of the console, which the retrieval service serves."""
    return f"{settings.retrieval_url}/console/"


def load(environment: Mapping[str, str] = os.environ, run_dir: Path | None = None) -> Settings:
    """The settings in force. `run_dir` overrides the environment's. Relative paths count from the run folder.

    Raises SettingsError for an unknown name, a wrong value, or values that contradict each other.
    """
    given = {name: value for name, value in environment.items() if name.startswith(PREFIX) and name not in FOREIGN}
    folder = run_dir or Path(given.get(f"{PREFIX}RUN_DIR") or DEFAULT_RUN_DIR)
    folder = folder.resolve()
    settings = replace(Settings(run_dir=folder), **_from_file(folder / FILE))
    changes, nobodys = dict[str, Any](), Settings()
    for variable, text in given.items():
        name = variable.removeprefix(PREFIX).lower()
        # An empty value is valid for a text only: other settings take their default.
        unsaid = not text and _KINDS.get(name, str) is not str
        changes[name] = getattr(nobodys, name) if unsaid else _value(name, text, f"environment variable {variable}")
    settings = replace(settings, **{**changes, "run_dir": folder})
    try:
        _ = settings.bounds
    except BoundsError as error:
        raise SettingsError(f"settings: retrieval_{error}") from None
    try:
        _ = settings.ingest
    except quota.LimitsError as error:
        raise SettingsError(f"settings: ingest_{error}") from None
    _ = settings.origins
    _ = settings.refused
    _ = weights(settings)
    _ = settings.redacted
    _ = [settings.ranges(role) for role in DIVIDED]
    paths = {f.name: folder / getattr(settings, f.name) for f in fields(Settings) if _KINDS[f.name] is Path}
    return replace(settings, **{**paths, "run_dir": folder})


def _from_file(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise SettingsError(f"{file} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise SettingsError(f"{file} holds no JSON object")
    return {name: _value(name, value, str(file)) for name, value in data.items()}


_KINDS: dict[str, Any] = get_type_hints(Settings, include_extras=True)


def _value(name: str, value: Any, where: str) -> Any:
    """Converts a text or JSON value to the setting's type. Raises SettingsError."""
    kind = _KINDS.get(name)
    if kind is None:
        near = difflib.get_close_matches(name, _KINDS, 1)
        told = f"the nearest is {near[0]}" if near else f"known are {', '.join(sorted(_KINDS))}"
        raise SettingsError(f"{where}: there is no setting {name!r}; {told}")
    try:
        found = msgspec.convert(value, str if kind is Path else kind, strict=False)
    except msgspec.ValidationError:
        raise SettingsError(f"{where}: {name} = {value!r}, wanted is {_wanted(kind)}") from None
    if name.endswith("_dsn"):
        _check_dsn(name, found, where)
    return Path(found) if kind is Path else found


def _wanted(kind: Any) -> str:
    described = [one.description for one in getattr(kind, "__metadata__", ())]
    names = {bool: "true or false", Path: "text", str: "text"}
    return described[0] if described else names.get(kind) or " or ".join(get_args(kind))


def _check_dsn(name: str, value: str, where: str) -> None:
    try:
        conninfo_to_dict(value)
    except psycopg.ProgrammingError as error:
        # Neither the value nor all of libpq's message: both may hold a password.
        said = str(error).strip() if str(error).startswith("invalid connection option") else "see its documentation"
        raise SettingsError(f"{where}: {name} is no connection string of libpq: {said}") from None
