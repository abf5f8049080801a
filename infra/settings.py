"""The settings of one installation: defaults, then the run folder's settings.json, then the environment.

A worker never reads these: `infra/roles.py` hands it what it needs as arguments.
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

from infra import wholefiles
from memquorum.core import names, quota
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.orders import envelope
from memquorum.core.privacy.sensitivity import BadWeights, Weights, read_weights
from memquorum.core.retrieval.bounds import Bounds, BoundsError
from memquorum.encoders import DEVICES

PREFIX = "MEMQUORUM_"
FILE = "settings.json"
DEFAULT_RUN_DIR = Path(__file__).resolve().parents[1] / ".memquorum"

# Named MEMQUORUM_… too, but read by others: the SDK and the command line of a client; and a key that is in no file of
# settings.
FOREIGN = frozenset(
    f"{PREFIX}{name}" for name in ("NAMESPACE", "AGENT", "URL", "API_KEY", "KAFKA_IDENTITY", "SUMMARISER_KEY")
)


_ORIGIN = re.compile(r"https?://[a-z0-9.\[\]:_-]+", re.IGNORECASE)
Count = Annotated[int, Meta(ge=0, description="a whole number ≥ 0")]
Cells = Annotated[int, Meta(ge=0, le=64, description="a whole number, 0 to 64")]
Device = Annotated[str, Meta(pattern=DEVICES, description="auto, cpu, cuda or cuda:N")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Percent = Annotated[int, Meta(ge=0, le=100, description="a whole number, 0 to 100")]
Port = Annotated[int, Meta(ge=0, le=65_535, description="a port, 0 to 65535")]
# Fewer members cannot bear a liar. More were not tried: what they check of each other grows as the square
# (docs/scale.md).
Members = Annotated[int, Meta(ge=4, le=100, description="a whole number, 4 to 100")]
# Two or four brokers bear no more than one or three.
if TYPE_CHECKING:
    Brokers = int  # an installation that is there says its own number, as any int
else:
    Brokers = Annotated[Literal[1, 3, 5], Meta(description="1, 3 or 5")]


class Mendable(Exception):
    """What an operator can mend: a command says it in one line, without a traceback."""


class SettingsError(Mendable, ValueError):
    """A setting that is unknown, missing or no such value; the message names it and where it came from."""


if TYPE_CHECKING:

    class _Bounds:
        """How much retrieval takes on: each number of Bounds is a setting, `retrieval_` and its name."""
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
    """All of them. In the environment a field is MEMQUORUM_ and its name in capitals; in settings.json its name.

    Those that bound the retrieval service stand in `memquorum.core.retrieval.bounds`, with their defaults.
    """

    # The folder of this installation: servers' data, logs, keys, sign-states.
    run_dir: Path = DEFAULT_RUN_DIR
    # host:port of one or more Kafka brokers, by commas.
    bootstrap: str = ""
    # How clients log in to the brokers; by the files of `kafka_dir`, where it is not PLAINTEXT. `up` starts brokers
    # that demand it, and then gives each process its own topics alone (docs/security.md).
    kafka_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    # Folder with ca.crt and, for each identity, a password file or a certificate and its key; a process needs its own.
    kafka_dir: Path = Path("kafka-logins")
    # libpq connection strings of the two databases.
    memory_dsn: str = ""
    vault_dsn: str = ""
    # How many members a new genesis file names; f of 3f + 1 may lie. A genesis file that is there keeps its own number.
    members: Members = 4
    # Membership and policy; who holds the file can check every decision.
    genesis_file: Path = Path("genesis.json")
    # Folder with one <name>.key file for each member and service; a replica needs its own alone.
    keys_dir: Path = Path("keys")
    # The key above all subjects' keys. Lost, every memory's content is.
    master_key_file: Path = Path("master.key")
    # Folder with a <process>.pgpass file for each login of Postgres; a process needs its own alone.
    logins_dir: Path = Path("logins")
    # What processes keep on disk; above all the replicas' sign-states, never to be restored from an old copy.
    state_dir: Path = Path("state")
    # wall: ticks follow the machine's clock. driven: only ClockRequested records move time (tests, the demo).
    clock: Literal["wall", "driven"] = "wall"
    # How often a wall clock ticks: how late an epoch may open. Every tick is a row of every shard's journal.
    tick_ms: Count = 10_000
    # How far a tick may be ahead of a process's own clock before that waits to vote, or to destroy keys, by it. Only
    # where time follows the wall clock; a driven one is whoever's who drives it.
    clock_tolerance_ms: Count = 60_000
    # How long what intake has let in still lies in the outside topics, as agents sent it, where this installation
    # provisioned them; their files go a minute or two later. 0: nothing is deleted before their retention is over.
    outside_keep_ms: Count = 120_000
    # What a namespace may bring in within a minute, in each process of intake; what is over it lies in the dead letters
    # (over_quota). 0: as much as it likes. Bytes are those of the records as published, 1,000,000 at least.
    ingest_episodes_per_minute: Count = 0
    ingest_bytes_per_minute: Count = 0
    # How many memories a namespace may have in all before nothing more of it comes in; 0: as many as it likes. What is
    # beyond the policy's capacity comes in and is nominated to be forgotten; this is the door.
    ingest_memories: Count = 0
    # Limits of their own: NAMESPACE=EPISODES/BYTES/MEMORIES, by blanks; `team-*` is each namespace that begins so.
    ingest_limits: str = ""
    # Whose orders intake refuses, by blanks: service:erasure, or agent:NAME, once a key is in other hands and cannot be
    # replaced (docs/security.md).
    refused_signers: str = ""
    # Whether intake suggests the sensitivity of an episode whose publisher says none, by what its content holds
    # (docs/privacy.md); and what kinds weigh in it in place of what they do, KIND=WEIGHT by blanks: `email=0 health=1`.
    suggest_sensitivity: bool = True
    sensitivity_weights: str = ""
    # The base address of a schema registry, before `/schemas/ids/…`: by its schemas intake reads what comes framed as
    # Confluent's serializers do. Empty: none is asked, and such records stay outside. The file, if there is one, holds
    # USER:PASSWORD for it.
    registry_url: str = ""
    registry_login_file: Path = Path("registry.login")
    # How long after an erasure something of it may lie in files, for want of a `sweep`; at least a day longer than
    # what was sent lies in the outside topics. It only dates receipts.
    residue_ms: Count = 2 * 24 * 3600 * 1000
    # Of a thing that fewer sentences of a namespace speak of there is no roll-up.
    rollup_least: Count = 3
    # So long after something was stored, by the stream's clock, the roll-ups of its namespace are brought up to date.
    rollup_every_ms: Count = 5 * 60_000
    # How long what agents asked can be opened, for what learns from use; it lies sealed, and its topic keeps it for 31
    # days at most. 0: nothing is logged, and what was cannot be opened any more.
    queries_keep_ms: Count = 30 * 24 * 3600 * 1000
    # How long commit and members wait for an episode's score before that is an alarm (log, /readyz, metrics); they wait
    # on all the same.
    score_alarm_ms: Count = 10_000
    # How often the commit worker's process sweeps by itself, so that receipts need not rest on who runs it; 0: never.
    sweep_hours: Count = 24
    # From so many memories of one encoder on a namespace is asked through indexes of its own, and no longer read whole;
    # they go where it has shrunk to half of that. 0: none are made or dropped.
    crowd_least: Count = 5_000
    # What counts when members vote to promote (docs/forgetting.md): rules, or others, by which what a memory's own
    # agent says again counts for nothing. Each replica reads its own, so give all the same.
    grounds: Literal["rules", "others"] = "rules"
    # A model of contradictions for what the rules leave open: its folder, and the SHA-256 of its three files, without
    # which none is asked. At the door it is asked where it is; members vote by it where the policy names it.
    contradiction_path: Path = Path("contradiction")
    contradiction_digest: str = ""
    # How long a primary waits for the ballots beyond N - f.
    ballot_grace_ms: Count = 250
    # A model that sums sessions up: the base address of an endpoint that speaks as OpenAI's chat completions do, before
    # `/chat/completions`, and the model's name. Empty: none is asked, and nothing leaves (docs/consolidation.md).
    summariser_url: str = ""
    summariser_model: str = ""
    # The file of its API key; MEMQUORUM_SUMMARISER_KEY in the environment counts before it. Without both none is sent.
    summariser_key_file: Path = Path("summariser.key")
    # Of one request; and how often it is sent again before the session has failed.
    summariser_timeout_ms: Count = 60_000
    summariser_retries: Count = 2
    # How many tokens a day the model may cost, by the wall clock in UTC; 0: as many as it takes.
    summariser_tokens_per_day: Count = 1_000_000
    # It sees memories up to this sensitivity, for this purpose and under these laws alone (DE EU), or that say nothing.
    summariser_sensitivity_max: Share = 0.1
    summariser_purpose: str = "summarising"
    summariser_jurisdictions: str = ""
    # Requests a minute by which it may compare memories, 0: none; and what that may cost a day beside the summaries.
    compare_per_minute: Count = 0
    compare_tokens_per_day: Count = 1_000_000
    # From so many hours of failing on a session is summed up by rules; 0: never, it waits for the model.
    summariser_fallback_hours: Count = 0
    # minilm: the ONNX model of the lock file. hashing: words without meaning, for tests. torch: any Hugging Face
    # encoder out of the folder `encoder_path`, where the extra `torch` is installed (make torch). multilingual: of 16
    # languages, where the extra `multilingual` is installed (make multilingual).
    encoder: Literal["minilm", "multilingual", "hashing", "torch"] = "minilm"
    encoder_path: Path = Path("encoder")
    # Of torch alone. auto: a CUDA card if there is one. cuda:1: the second card.
    encoder_device: Device = "auto"
    # What a memory says word for word is known again by its digest and not encoded. So many cells, of 2 bytes, has the
    # filter in front of the digests for each memory: 10 let 1 in 100 new texts through to be looked up. 0: all is
    # encoded.
    exact_cells: Cells = 10
    # While `reencode` works: the encoder of the memories that wait for their turn, which are found through it.
    encoder_before: Literal["none", "minilm", "multilingual", "hashing", "torch"] = "none"
    encoder_before_path: Path = Path("encoder-before")
    # How often memories are rehearsed at most, in seconds; 0: never. That is only while the machine's processors worked
    # for less than this share of every few seconds for so long (100: whatever they do). It takes that long at most, and
    # looks at so many memories: short-term ones, and old long-term ones, which are two in seven where there are any.
    # How often one memory is rehearsed, and what that changes, the policy says (`rehearse`).
    rehearsal_every_s: Count = 300
    rehearsal_busy_percent: Percent = 30
    rehearsal_quiet_s: Count = 60
    rehearsal_budget_ms: Count = 500
    rehearsal_recent: Count = 50
    rehearsal_old: Count = 20
    # How often a verifier looks whether there is anything to try, in seconds; 0: never. It takes that long at a time,
    # and one trial more.
    verifier_every_s: Count = 5
    verifier_budget_ms: Count = 500
    # The namespaces whose texts retrieval gives masked alone, whoever reads, by blanks: `team-*` is each that begins
    # so, `*` all. And whether names of persons and places are masked too, by the model of the extra `ner`.
    redact_namespaces: str = ""
    redact_names: bool = False
    # Where retrieval listens; port 0 takes a free one when the fleet starts.
    retrieval_host: str = "127.0.0.1"
    retrieval_port: Port = 0
    # The origins of web pages that may ask retrieval, by blanks: https://board.example.org. Other pages are refused.
    retrieval_origins: str = ""
    # So many memories of a namespace, its most used, have their vectors in retrieval's cache, 1.5 KB each of 384
    # numbers; all namespaces together have room for five times as many. 0: no cache.
    cache_memories: Count = 10_000
    # Copies of every partition, and how many must have a record before it counts.
    replication: Count = 1
    min_isr: Count = 1
    # How many Kafka brokers a new installation runs. With three, one may be gone at any time: of every partition there
    # are three copies then, of which two must have a record. An installation that is there keeps its own number.
    brokers: Brokers = 1
    # Which of several processes of one role this is: one that is started again under its name takes up its place in
    # the consumer group at once, and another under the same name drives it out. Empty: one among others.
    instance: str = ""
    # The embedded Postgres flushes nothing to disk: for tests and the demo.
    throwaway: bool = False
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    # Lines of JSON or plain ones; auto: plain on a terminal, JSON anywhere else.
    log_format: Literal["auto", "json", "text"] = "auto"
    # Where every process answers /metrics, /livez and /readyz; port 0 takes a free one, told in the folder `watch`.
    watch_host: str = "127.0.0.1"
    watch_port: Port = 0
    # So many traces a second may begin in each process that begins them; 0 records none.
    trace_rate: Count = 20
    # A collector's address for OTLP over HTTP, http://host:4318; without one traces are kept in the folder `traces`.
    otlp_endpoint: str = ""

    @property
    def bounds(self) -> Bounds:
        """What begins with `retrieval_` and bounds the service. Raises BoundsError."""
        return Bounds(**{one.name: getattr(self, f"retrieval_{one.name}") for one in fields(Bounds)})

    @property
    def ingest(self) -> quota.Plan:
        """What begins with `ingest_`. Raises quota.LimitsError."""
        others = quota.Limits(self.ingest_episodes_per_minute, self.ingest_bytes_per_minute, self.ingest_memories)
        try:
            return quota.plan(self.ingest_limits, others)
        except quota.LimitsError as error:
            raise quota.LimitsError(f"limits: {error}") from None

    @property
    def weights(self) -> Weights:
        """How much each kind weighs in a sensitivity that is suggested. Raises SettingsError."""
        try:
            return Weights(self.suggest_sensitivity, read_weights(self.sensitivity_weights))
        except BadWeights as error:
            raise SettingsError(f"settings: sensitivity_weights: {error}") from None

    @property
    def redacted(self) -> tuple[str, ...]:
        """The namespaces that are read masked alone, as they are named. Raises SettingsError."""
        named = tuple(self.redact_namespaces.split())
        for one in named:
            fault = None if one == "*" else names.namespace_fault(one.removesuffix("*"))
            if fault is not None:
                raise SettingsError(f"settings: redact_namespaces: {one!r}: {fault.detail}")
        return named

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of web pages that may ask retrieval. Raises SettingsError for what no browser sends as one."""
        found = tuple(self.retrieval_origins.split())
        for one in found:
            if not _ORIGIN.fullmatch(one):
                told = "is no origin: name scheme, host and port alone, as in https://board.example.org:8443"
                raise SettingsError(f"settings: retrieval_origins: {one!r} {told}")
        return found

    @property
    def refused(self) -> frozenset[str]:
        """Whose orders intake refuses. Raises SettingsError for what can be no signer: its orders would come in."""
        names = frozenset(self.refused_signers.split())
        for name in names:
            if name not in (OPERATOR, envelope.SERVICE) and not name.startswith(envelope.AGENT):
                known = f"{envelope.SERVICE}, {envelope.AGENT}NAME or {OPERATOR}"
                raise SettingsError(f"settings: refused_signers: {name!r} signs no orders; {known} does")
        return names

    @property
    def file(self) -> Path:
        """Where `save` writes."""
        return self.run_dir / FILE

    @property
    def logs_dir(self) -> Path:
        """One log per process."""
        return self.run_dir / "logs"

    @property
    def retrieval_url(self) -> str:
        """Base address of the retrieval service."""
        return f"http://{self.retrieval_host}:{self.retrieval_port}"

    def require(self, *names: str) -> None:
        """Raises SettingsError for the first of the settings that is empty."""
        for name in names:
            if not getattr(self, name):
                raise SettingsError(f"{PREFIX}{name.upper()} is not set, and {self.file} does not say it either")

    def environment(self) -> dict[str, str]:
        """The settings as environment variables: what a child process is given."""
        return {f"{PREFIX}{name.upper()}": str(value) for name, value in asdict(self).items()}

    def save(self) -> None:
        """Writes settings.json, whole or not at all."""
        data = {name: str(v) if isinstance(v, Path) else v for name, v in asdict(self).items() if name != "run_dir"}
        wholefiles.write(self.file, json.dumps(data, indent=2) + "\n")


def require_place(option: str, file: Path) -> None:
    """Refuses a file that a person named where its folder is missing, which is mostly a slip, or where a folder has its
    name: before there is anything to write. Raises SettingsError."""
    if file.is_dir():
        raise SettingsError(f"{option} {file}: that is a folder; name a file in it")
    if not file.parent.is_dir():
        raise SettingsError(f"{option} {file}: there is no folder {file.parent}; make it first")


def load(environment: Mapping[str, str] = os.environ, run_dir: Path | None = None) -> Settings:
    """The settings in force. `run_dir` overrides the environment's. Relative paths count from the run folder.

    Raises SettingsError for an unknown name, a wrong value, or values that do not go together.
    """
    given = {name: value for name, value in environment.items() if name.startswith(PREFIX) and name not in FOREIGN}
    folder = run_dir or Path(given.get(f"{PREFIX}RUN_DIR") or DEFAULT_RUN_DIR)
    folder = folder.resolve()
    settings = replace(Settings(run_dir=folder), **_from_file(folder / FILE))
    changes, nobodys = dict[str, Any](), Settings()
    for variable, text in given.items():
        name = variable.removeprefix(PREFIX).lower()
        # Nothing is a text, and no number: what is set to nothing is what it is where nobody says it.
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
    _ = settings.weights
    _ = settings.redacted
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
    """A text or JSON value as the setting's type. Raises SettingsError."""
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
        # Neither the value nor all of what libpq says of it: both may hold a password.
        said = str(error).strip() if str(error).startswith("invalid connection option") else "see its documentation"
        raise SettingsError(f"{where}: {name} is no connection string of libpq: {said}") from None
