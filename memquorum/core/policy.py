"""Every number that decides a memory's fate, with its default and its source.

The genesis file names the first policy, and a shard's members decide on another by an order of the operator
(`core.orders.configuration`); so all members and every auditor judge by the same numbers. Scores are integers in
millionths (`ppm`), times are milliseconds; only the decay's scales and weights are real numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, fields

from memquorum.core.rules import hold

PPM = 1_000_000


def share(ppm: int) -> str:
    """Millionths as people read them: a decimal with up to four digits."""
    return number(ppm / PPM)


def number(value: float) -> str:
    """A number with up to four decimals and no idle zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


UNCAPPED: Mapping[str, str] = MappingProxyType({"epoch_share": "1", "day_share": "1"})
"""The section `caps` of a policy that caps nothing, as JSON has it."""

# A decay that takes longer than a thousand years to cross δ is refused: nothing would ever be nominated.
MAX_SPAN_MS = 1000 * 365 * 24 * 3600 * 1000
DAY_MS_MOST = 366 * 24 * 3600 * 1000
"""The longest time that a forgotten memory can count against a cap (`caps.day_ms`), and so the time that an audit
remembers it."""


class PolicyError(ValueError):
    """A policy that contradicts itself; the message names the setting."""


class DecayPolicy(Struct, frozen=True):
    """Multi-scale decay (SPEC A, Alg. 2)."""

    # An hour, a day and two weeks: what nobody used for a week is nominated. PAPER_SCALES_S are for a simulation.
    scales_s: tuple[float, ...] = (3_600.0, 86_400.0, 1_209_600.0)
    weights: tuple[float, ...] = (0.2, 0.3, 0.5)
    delta: float = 0.3
    variance_warning: float = 0.1
    # The scales of long-term memory are so many times longer (SPEC B).
    long_term: float = 10.0


class SaliencePolicy(Struct, frozen=True):
    """Encoding and salience (SPEC B, Alg. 10 and section 4.2); `worth` weighs the rank of `core.worth`."""

    novelty: float = 0.30
    reward: float = 0.35
    confidence: float = 0.10
    worth: float = 0.20
    encode_threshold: float = 0.35
    early_threshold: float = 0.70
    confidence_threshold: float = 0.5
    uncertainty_threshold: float = 0.5
    duplicate_threshold: float = 0.92
    buffer_size: int = 64


class LearnedPolicy(Struct, frozen=True):
    """Coefficients of `core.learning`, in millionths; all 0: none are in force, and salience weighs the rank of worth.

    `middle_ppm` is what the middle one of those that were learned from comes to. `rewarded` and `sure` say whether an
    episode carries a reward and a confidence; episodic and agent are what the other types and authors are held against.
    """

    middle_ppm: int = 0
    rank_ppm: int = 0
    novelty_ppm: int = 0
    reward_ppm: int = 0
    rewarded_ppm: int = 0
    confidence_ppm: int = 0
    sure_ppm: int = 0
    semantic_ppm: int = 0
    social_ppm: int = 0
    task_ppm: int = 0
    person_ppm: int = 0
    tool_ppm: int = 0
    length_ppm: int = 0


class ForgetPolicy(Struct, frozen=True):
    """The vote to forget (SPEC A, Alg. 3 and the weighted quorum)."""

    omega_decay_ppm: int = 400_000
    omega_relevance_ppm: int = 600_000
    theta_ppm: int = 400_000
    alpha: Fraction = Fraction(2, 3)
    grace_ms: int = 7 * 24 * 3600 * 1000
    # Namespaces by blanks, each with types and how long their memories may be unused: `team-*=social:30d`. The first
    # that fits counts; a type that is not named fades as all others.
    unused: str = ""


class PromotePolicy(Struct, frozen=True):
    """The vote to promote (SPEC B, CDCP, Alg. 12 to 14)."""

    salience_ppm: int = 550_000
    age_ms: int = 60_000
    bfs_ppm: int = 400_000
    grounded_ppm: int = 350_000
    consistency_ppm: int = 150_000
    certainty_ppm: int = 100_000
    yes_ppm: int = 600_000
    tau: Fraction = Fraction(67, 100)
    # Namespaces, by blanks, in which so much more of the weight has to be for it; `team-*` is each that begins so.
    high_stakes: str = ""
    high_tau: Fraction = Fraction(4, 5)
    validity_ppm: int = 600_000
    # A memory that half of all weight found contradicted more often than this is not proposed again before it is used.
    retries_max: int = 3
    # If `supersede.inferred` is off: a memory that a later text contradicts, by the rules, waits until it is so old,
    # and then is judged as if nothing contradicted it.
    disputed_ms: int = 24 * 3600 * 1000


class SupersedePolicy(Struct, frozen=True):
    """The vote on whether a newer memory takes the place of another (SPEC B, 8.3)."""

    # True if a contradiction that was inferred from words is voted on. If off, only an explicit write with the same key
    # or with `supersedes` takes a memory's place; an inferred contradiction is marked, and ordered when it is read.
    inferred: bool = False
    # So many times the incumbent's share the challenger of a promoted one has to have: κ/(1+κ) of all weight.
    kappa: Fraction = Fraction(6, 5)
    # The SHA-256 of the model that members may ask where the rules leave open whether two texts contradict each other,
    # and from where on it says so; none: the rules alone (infra/decisions/0078).
    model: str = ""
    model_ppm: int = 900_000


class ConsolidatePolicy(Struct, frozen=True):
    """The consolidation of a session that is over (SPEC C): its summary, and the vote on it."""

    # A session without activity for so long is over.
    idle_ms: int = 15 * 60 * 1000
    # A summary has at most this share of the tokens that it was made of.
    share_ppm: int = 500_000
    # A member is for it where the summary covers at least this share of the worth of what it replaces.
    covered_ppm: int = 250_000
    # A source whose worth ranks lower may be lost by it: a vote would forget it in any case, once it has decayed, as
    # theta/omega_relevance is 2/3. Any other source it covers twice that share, or leaves it alone.
    lost_rank_ppm: int = 667_000
    alpha: Fraction = Fraction(2, 3)
    # A summary that was not voted for is dropped after so long.
    wait_ms: int = 7 * 24 * 3600 * 1000
    # So often, by the stream's clock, summaries that say the same are put to the vote to be one: each pair at least so
    # near to each other.
    merge_every_ms: int = 24 * 3600 * 1000
    merge_alike_ppm: int = 970_000
    # Namespaces, by blanks, in which a summary lies over its sources and nothing is sealed; `team-*` as elsewhere.
    strict: str = ""
    # Namespaces in which no vote takes a memory: none is forgotten, evicted, replaced, merged or sealed for a summary.
    # An erasure still destroys what it names.
    retained: str = ""
    # Namespaces in which sessions are not summed up, and summaries are not merged.
    off: str = ""


class TriagePolicy(Struct, frozen=True):
    """Triage of short-term memory by its decay score (SPEC B, section 8.1 and Alg. 17; `core.triage`)."""

    # If memories have expired, a shard votes on them at most so long after its last epoch.
    every_ms: int = 30 * 60 * 1000
    # λ an hour, and that of what is at least so salient.
    rate_ppm: int = 100_000
    slow_rate_ppm: int = 10_000
    slow_ppm: int = 700_000
    # θ_expire: below it a memory is nominated to be forgotten; 0: no memory is, by this score.
    expire_ppm: int = 50_000


class RehearsePolicy(Struct, frozen=True):
    """The limits of a rehearsal, for what it may change (SPEC B, Alg. 15; `core.rehearsal`). The worker decides when
    one is made."""

    # A memory is rehearsed at most once in so long, by its shard's time; 0: never.
    every_ms: int = 3600 * 1000
    # θ_decay: what the last rehearsal found not to hold is nominated to be forgotten once its decay score is below.
    expire_ppm: int = 100_000


class EpochPolicy(Struct, frozen=True):
    """When a shard votes, and on how much (SPEC A, Alg. 4; DESIGN 19)."""

    interactions: int = 100
    interval_ms: int = 3_600_000
    capacity: int = 10_000
    proposals_max: int = 256
    retry_ms: int = 10_000
    # A kept memory is nominated again after this many epochs, doubling each time up to the cap (SPEC A, decision 0).
    rest_epochs: int = 1
    rest_epochs_max: int = 64


class CapsPolicy(Struct, frozen=True):
    """The caps on how much of a namespace is forgotten, whatever was voted (core/caps; SPEC A: 10 to 15 % an epoch
    early).

    `epoch_share`, `day_share`: shares of its living memories, in one epoch and within `day_ms` of the shard's time; a
    share of 1 caps nothing. `floor`: so many may go in any case.
    """

    epoch_share: Fraction = Fraction(1, 10)
    day_share: Fraction = Fraction(1, 4)
    floor: int = 3
    day_ms: int = 24 * 3600 * 1000


class ProtectionPolicy(Struct, frozen=True):
    """The limits on how much of a namespace others than the operator may protect from being forgotten.

    `pins_max`: pins that stand; `needs_max`: memories that goals need, counted for each goal.
    `lapse_ms`: a goal that nobody ended lapses so long after it was last said to need anything, by the stream's clock.
    """

    pins_max: int = 1_000
    needs_max: int = 10_000
    lapse_ms: int = 90 * 24 * 3600 * 1000


FORGETTING = ("fifo", "lru", "priority", "reflection", "random", "hybrid", "worth")
"""The policies that say what goes where a namespace is over its budget (SPEC D; `core.budgets`)."""
FEATURES = ("recency", "accesses", "goals", "centrality", "worth", "novelty", "urgency")
"""The features ψ of a memory, in the order of every θ (`core.budgets.items.features`)."""
_FLOOR = re.compile(r"[1-9][0-9]{0,9}")
TOKENS_LEAST = 64
"""The smallest budget: fewer tokens hold no memory of a few sentences."""
_EQUAL = (PPM // len(FEATURES),) * len(FEATURES)
_BUDGET = re.compile(
    r"(?P<pattern>[A-Za-z0-9][A-Za-z0-9._:@+-]*\*?|\*)=(?P<tokens>-?\d+)(/(?P<policy>[^/:]*))?"
    r"(/(?P<floors>[^/]*:[^/]*))?"
)


class BudgetPolicy(Struct, frozen=True):
    """The token budgets of namespaces, and the order in which memories of one over its budget are forgotten (SPEC D;
    `core.budgets`)."""

    # Namespaces by blanks, each with its tokens and, behind slashes, with a policy of its own and with floors, the
    # tokens that each type keeps: `team-*=50000 support=8000/hybrid/task:2000,social:500`. The first that fits counts;
    # without one a namespace has no budget.
    tokens: str = ""
    # The policy of those that name none.
    policy: str = "worth"
    # Soft shares of episodic, semantic, social and task memories, together 1,000,000; none: no type has one.
    shares_ppm: tuple[int, ...] = ()
    # λ_priv, and θ of each type in the order of `FEATURES`.
    lambda_priv_ppm: int = 500_000
    theta_episodic_ppm: tuple[int, ...] = _EQUAL
    theta_semantic_ppm: tuple[int, ...] = _EQUAL
    theta_social_ppm: tuple[int, ...] = _EQUAL
    theta_task_ppm: tuple[int, ...] = _EQUAL
    # The half-life of recency, without a use.
    half_life_ms: int = 7 * 24 * 3600 * 1000
    # Priority: α, β and γ of type, recency and accesses; and what each type counts, in the order of the shares.
    priority_ppm: tuple[int, ...] = (333_334, 333_333, 333_333)
    types_ppm: tuple[int, ...] = (250_000, 750_000, 500_000, 1_000_000)
    # Scores within this part of each other count as equal.
    band_ppm: int = 10_000
    # Hybrid: what has less recency than this is clearly stale.
    stale_ppm: int = 50_000
    # Reflection: the most distortion of a summary, and how much less sensitive it has to be than its sources.
    distortion_ppm: int = 500_000
    relief_ppm: int = 100_000
    # The largest age of episodic, semantic, social and task memories of short-term memory, 0: unlimited; none: all of
    # them unlimited.
    ttl_ms: tuple[int, ...] = ()
    # Members' own orders differ: what is least of a budget that is smaller by this part of it may go, too.
    margin_ppm: int = 100_000
    # A shard looks this long after its last epoch whether a namespace is over its budget, if nothing else calls one.
    every_ms: int = 60 * 1000
    # ε of a draw among what scores within the band of the lowest (`core.budgets.lots`); 0: nothing is drawn.
    epsilon_ppm: int = 0
    # Bounds of a memory's part of it: more tokens than `w_max` weigh as `w_max`, and each is worth at most
    # `lipschitz_ppm`.
    w_max: int = 256
    lipschitz_ppm: int = 30_000
    # So much all draws together may cost a subject in a namespace; then its memories take part in no more of them.
    subject_epsilon_ppm: int = 10_000_000


class ExperiencePolicy(Struct, frozen=True):
    """The evidence that a memory needs before experience serves it, and how its weight moves (SPEC E, SEDM;
    `core.experience`). Unless a comment says otherwise, the values are those of the source and of decision 125."""

    # A candidate is admitted from this S on: S = ΔR − λ_L·ΔL − λ_T·ΔT.
    eta_ppm: int = 50_000
    lambda_t_ppm: int = 100_000
    lambda_l_ppm: int = 0
    # The contexts that judge: the nearest others, at least and at most so many, none of them farther away than this.
    contexts_least: int = 3
    contexts_most: int = 5
    near_ppm: int = 250_000
    # The number of times that each of them is asked, together with other parts of experience.
    runs: int = 3
    # A memory farther than this from a question is not given to it: no task that judged it was farther away. It cuts 1
    # % of the memories that questions of Fool Me Twice need and 8 % of those that MuSiQue's need: none, and 3 %, of
    # those they were given.
    given_ppm: int = 250_000
    # The memories that a question is given: at most so many, in so many tokens.
    memories_most: int = 5
    budget_tokens: int = 500
    # A memory is admitted with this weight; 0: with its S, as the source has it (decision 126).
    first_ppm: int = 1_000_000
    # s = sim · w after so many square roots: 0 is the source's sim · w, and the more, the less a weight counts.
    weight_roots: int = 2
    # w ← w + α·U − β for each use without gain; w stays between these two.
    alpha_ppm: int = 100_000
    beta_ppm: int = 50_000
    weight_least_ppm: int = 50_000
    weight_most_ppm: int = 2_000_000
    # Below this weight a memory is demoted: it is kept, and not given.
    floor_ppm: int = 100_000
    # A memory of this weight that gained in so many contexts is promoted, and a general form of it is made.
    promote_ppm: int = 500_000
    promote_contexts: int = 3
    # A general form begins with this part of the weight of what it was made of.
    general_ppm: int = 500_000
    # Memories this near that say the same are merged.
    merge_ppm: int = 920_000
    # A lesson unused for so long counts in reads with half of its weight; 0: with all of it. It was not measured:
    # half a year is far beyond what an episode lives without a use, so this orders lessons that are kept on purpose.
    idle_half_ms: int = 180 * 24 * 3600 * 1000

    @property
    def digest(self) -> bytes:
        """SHA-256 of all these numbers, which statistics name."""
        told = json.dumps(_said("experience", asdict(self)), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(told.encode()).digest()


class Budget(Struct, frozen=True):
    """A namespace's budget: so many tokens, held by a policy.

    `floors`: the tokens that each type keeps, in the order of `TYPES`; none where no type has a floor.
    """

    pattern: str
    tokens: int
    policy: str
    floors: tuple[int, ...] = ()


def budgets(policy: BudgetPolicy) -> tuple[Budget, ...]:
    """The budgets of `budget.tokens` in their order. Raises PolicyError that names an invalid one."""
    found = list[Budget]()
    for told in policy.tokens.split():
        read = _BUDGET.fullmatch(told)
        if read is None:
            raise _error(
                f"budget.tokens: {told!r} is not NAMESPACE=TOKENS, with /POLICY and /TYPE:FLOOR,TYPE:FLOOR behind it"
            )
        name, tokens = read["policy"] if read["policy"] is not None else policy.policy, int(read["tokens"])
        if tokens < TOKENS_LEAST:
            raise _error(f"budget.tokens: {told!r} is too small a budget: {TOKENS_LEAST} tokens are the least")
        if tokens > _COUNT[1]:
            raise _error(f"budget.tokens: {told!r} is beyond {_COUNT[1]} tokens")
        if name not in FORGETTING:
            raise _error(f"budget.tokens: {told!r} names an unknown policy; known: {', '.join(FORGETTING)}")
        found.append(Budget(read["pattern"], tokens, name, _floors(told, read["floors"], tokens)))
    return tuple(found)


def _floors(told: str, text: str | None, tokens: int) -> tuple[int, ...]:
    """The floors of a budget, in the order of `TYPES`. Raises PolicyError."""
    floors = dict.fromkeys(TYPES, 0)
    named = [one.partition(":") for one in (text or "").split(",")] if text else []
    for type_, _, floor in named:
        if type_ not in floors:
            raise _error(f"budget.tokens: {told!r} sets a floor of {type_!r}; the types are {', '.join(TYPES)}")
        if floors[type_]:
            raise _error(f"budget.tokens: {told!r} sets the floor of {type_} twice")
        if not _FLOOR.fullmatch(floor):
            raise _error(f"budget.tokens: {told!r}: the floor of {type_} is a number of tokens of at least 1")
        floors[type_] = int(floor)
    if sum(floors.values()) > tokens:
        raise _error(f"budget.tokens: {told!r} has floors of {sum(floors.values())} tokens, more than its budget")
    return tuple(floors.values()) if named else ()


PAPER_SCALES_S = (10.0, 60.0, 3600.0)
"""The decay's scales of SPEC A, whose simulation lives through an epoch in minutes."""

NO_CAPS = CapsPolicy(Fraction(1), Fraction(1))


TYPES = ("episodic", "semantic", "social", "task")
"""The types of memories (`core.facets`)."""
AGE_LEAST_MS = 60 * 1000
"""The youngest that a rule may erase: a shorter life than a minute is no memory."""
_UNITS: Mapping[str, int] = MappingProxyType({"m": 60_000, "h": 3_600_000, "d": 86_400_000})
_RULE = re.compile(r"(?P<pattern>[A-Za-z0-9][A-Za-z0-9._:@+-]*\*?|\*)=(?P<ages>[^=]+)")
_DIGEST = re.compile(r"([0-9a-f]{64})?")
_AGE = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[mhd])")


class ErasePolicy(Struct, frozen=True):
    """The retention of memories by law, whatever they are worth (`core.orders.aged`)."""

    # Namespaces by blanks, each with types and the age at which those are erased: `team-*=episodic:90d,social:30d
    # support=task:365d`. The first that fits counts; a type that is not named is kept, and so is all else.
    after: str = ""
    # By the stream's clock: it is erased at most so long after it came of age.
    every_ms: int = 24 * 3600 * 1000


class Retention(Struct, frozen=True):
    """The rule of a namespace: by type, the age in milliseconds at which it is erased, or may be unused."""

    pattern: str
    ages: Mapping[str, int]


def retention(policy: ErasePolicy) -> tuple[Retention, ...]:
    """The rules of `erase.after` in their order. Raises PolicyError that names an invalid one."""
    return tuple(_rule("erase.after", told) for told in policy.after.split())


def unused(policy: ForgetPolicy) -> tuple[Retention, ...]:
    """The rules of `forget.unused` in their order. Raises PolicyError that names an invalid one."""
    return tuple(_rule("forget.unused", told) for told in policy.unused.split())


def age_ms(text: str) -> int:
    """An age as people write it, in milliseconds: minutes, hours or days, as in 30m, 12h, 90d. Raises ValueError."""
    read = _AGE.fullmatch(text)
    if read is None:
        raise ValueError(f"{text[:40]!r} is no age: say minutes, hours or days, as in 30m, 12h or 90d")
    return int(read["count"]) * _UNITS[read["unit"]]


def _rule(setting: str, told: str) -> Retention:
    read = _RULE.fullmatch(told)
    if read is None:
        raise _error(f"{setting}: {told!r} is not NAMESPACE=TYPE:AGE,TYPE:AGE; as in team-*=episodic:90d")
    ages = dict[str, int]()
    for each in read["ages"].split(","):
        name, _, age = each.partition(":")
        if name not in TYPES:
            raise _error(f"{setting}: {told!r} names no type with {name!r}; known: {', '.join(TYPES)}")
        if name in ages:
            raise _error(f"{setting}: {told!r} names {name} twice")
        try:
            ages[name] = age_ms(age)
        except ValueError as error:
            raise _error(f"{setting}: {told!r}: {error}") from None
        if not AGE_LEAST_MS <= ages[name] <= MAX_SPAN_MS:
            raise _error(f"{setting}: {told!r}: an age lies between one minute and a thousand years")
    return Retention(read["pattern"], ages)


class Policy(Struct, frozen=True):
    """All of it."""

    decay: DecayPolicy = field(default_factory=DecayPolicy)
    salience: SaliencePolicy = field(default_factory=SaliencePolicy)
    learned: LearnedPolicy = field(default_factory=LearnedPolicy)
    forget: ForgetPolicy = field(default_factory=ForgetPolicy)
    promote: PromotePolicy = field(default_factory=PromotePolicy)
    supersede: SupersedePolicy = field(default_factory=SupersedePolicy)
    consolidate: ConsolidatePolicy = field(default_factory=ConsolidatePolicy)
    triage: TriagePolicy = field(default_factory=TriagePolicy)
    rehearse: RehearsePolicy = field(default_factory=RehearsePolicy)
    epoch: EpochPolicy = field(default_factory=EpochPolicy)
    caps: CapsPolicy = field(default_factory=CapsPolicy)
    protection: ProtectionPolicy = field(default_factory=ProtectionPolicy)
    budget: BudgetPolicy = field(default_factory=BudgetPolicy)
    experience: ExperiencePolicy = field(default_factory=ExperiencePolicy)
    erase: ErasePolicy = field(default_factory=ErasePolicy)

    def __post_init__(self) -> None:
        _check(self)


def to_json(policy: Policy) -> dict[str, Any]:
    """The policy as plain JSON values; fractions become 'n/d' strings."""

    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return f"{value.numerator}/{value.denominator}"
        return list(value) if isinstance(value, tuple) else value

    return {name: {k: plain(v) for k, v in asdict(section).items()} for name, section in asdict(policy).items()}


def from_json(data: dict[str, Any]) -> Policy:
    """A policy from what `to_json` gave, or from a part of it: what is absent has its default.

    Raises PolicyError for an unknown or contradictory setting and names it.
    """
    parts: dict[str, Any] = {}
    known = {f.name: f.default_factory for f in fields(Policy)}
    for name, values in data.items():
        if name not in known:
            raise PolicyError(f"policy: unknown section {name!r}; known: {', '.join(known)}")
        parts[name] = _section(name, known[name], values)
    return Policy(**parts)


ADDED: frozenset[str] = frozenset(
    {"consolidate.off", "consolidate.retained", "experience.idle_half_ms", "forget.unused"}
)
"""The settings, as `section.setting`, that came after format 1 (`schemas/golden/1/settings.json`). Orders and digests
hold one only where it is not at its default: so what was signed before it was there is read as it was meant. Its
default is never another one, and finds no fault with what was decided before; how members vote from now on it may
change."""


def _said(section: str, values: dict[str, Any]) -> dict[str, Any]:
    """The settings of a section, as `to_json` gives them, that an order and a digest hold."""
    added = {key for key in values if f"{section}.{key}" in ADDED}
    if not added:
        return values
    default = to_json(Policy())[section]
    return {key: value for key, value in values.items() if key not in added or value != default[key]}


def written(policy: Policy) -> str:
    """The one text of a policy, with every setting of format 1 and of those `ADDED` since what is not at its default:
    what an order holds, and the digest of a configuration covers."""
    return json.dumps(_told(policy), ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _told(policy: Policy) -> dict[str, Any]:
    return {name: _said(name, values) for name, values in to_json(policy).items()}


def read(text: str) -> Policy:
    """The policy of a text that `written` gave. Raises PolicyError for any other: two readers of one text must not come
    to two policies, nor one that was made later, and has another default, to another one than this."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise PolicyError(f"policy: no JSON: {error}") from None
    if not isinstance(data, dict):
        raise PolicyError(f"policy: {type(data).__name__} is no object with sections")
    policy = from_json(data)
    if written(policy) != text:
        told = _told(policy)
        missing = [f"{name}.{key}" for name, keys in told.items() for key in keys if key not in data.get(name, {})]
        if missing:
            raise PolicyError(f"policy: it leaves out {', '.join(missing)}")
        raise PolicyError("policy: not written as `memquorum admin policy` writes it")
    return policy


def differences(before: Policy, after: Policy) -> dict[str, tuple[Any, Any]]:
    """The settings that differ, as `section.setting` → (before, after), both as plain JSON values."""
    old, new = to_json(before), to_json(after)
    return {
        f"{section}.{key}": (old[section][key], value)
        for section, values in new.items()
        for key, value in values.items()
        if old[section][key] != value
    }


def _section(name: str, kind: Any, values: Any) -> Any:
    default = kind()
    if not isinstance(values, Mapping):
        raise PolicyError(f"policy: section {name} is {values!r}, and not an object with settings")
    known, changed = default.__struct_fields__, {}
    for key, value in values.items():
        if key not in known:
            raise PolicyError(f"policy: unknown setting {name}.{key}")
        changed[key] = _like(getattr(default, key), value, f"{name}.{key}")
    return kind(**changed)


def _like(default: Any, value: Any, where: str) -> Any:
    try:
        if isinstance(default, Fraction):
            return Fraction(value)
        if isinstance(default, tuple):
            return tuple(map(_whole if where.endswith(("_ppm", "_ms")) else float, value))
        if isinstance(default, bool):
            if not isinstance(value, bool):
                raise TypeError
            return value
        if isinstance(default, int):
            return _whole(value)
        if isinstance(default, str):
            if not isinstance(value, str):
                raise TypeError
            return value
        return float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        raise PolicyError(f"policy: {where} = {value!r} is not {_called(default, where)}") from None


def _called(default: Any, where: str) -> str:
    """Returns the type that a setting must have, in words."""
    if not isinstance(default, tuple):
        return f"a {type(default).__name__}"
    counts = {3: " of three", 4: " of four", len(FEATURES): f" of {len(FEATURES)}"}
    # A decay may have any number of scales; a list that is empty by default has an item per type.
    return "a list" + ("" if where.startswith("decay.") else counts[len(default or TYPES)])


def _whole(value: Any) -> int:
    if isinstance(value, bool) or int(value) != value:
        raise ValueError
    return int(value)


_SPAN = (0, MAX_SPAN_MS)
_SHARE = (0, PPM)
_COUNT = (0, 2**31 - 1)
# An hour's; the fastest halves a score in less than a second.
_RATE = (0, 3_600 * PPM)
_COEFFICIENT = (-100 * PPM, 100 * PPM)
# The range of each setting, both ends included: otherwise a time could be one that no database has, or a share more
# than the whole.
_RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "decay.variance_warning": (0, 1),
        "salience.encode_threshold": (0, 1),
        "salience.buffer_size": (1, _COUNT[1]),
        **{f"learned.{name}": _COEFFICIENT for name in LearnedPolicy.__struct_fields__},
        "forget.omega_decay_ppm": _SHARE,
        "forget.omega_relevance_ppm": _SHARE,
        "forget.theta_ppm": _SHARE,
        "forget.grace_ms": _SPAN,
        "promote.salience_ppm": _SHARE,
        "promote.age_ms": _SPAN,
        "promote.bfs_ppm": _SHARE,
        "promote.grounded_ppm": _SHARE,
        "promote.consistency_ppm": _SHARE,
        "promote.certainty_ppm": _SHARE,
        "promote.yes_ppm": _SHARE,
        "promote.validity_ppm": _SHARE,
        "supersede.model_ppm": _SHARE,
        "promote.retries_max": _COUNT,
        "promote.disputed_ms": _SPAN,
        "consolidate.idle_ms": (1, MAX_SPAN_MS),
        "consolidate.wait_ms": _SPAN,
        "consolidate.share_ppm": (1, PPM),
        "consolidate.covered_ppm": _SHARE,
        "consolidate.merge_every_ms": (1, MAX_SPAN_MS),
        "consolidate.merge_alike_ppm": _SHARE,
        "consolidate.lost_rank_ppm": (0, PPM + 1),
        "triage.every_ms": (1, MAX_SPAN_MS),
        "triage.rate_ppm": _RATE,
        "triage.slow_rate_ppm": _RATE,
        "triage.slow_ppm": _SHARE,
        "triage.expire_ppm": _SHARE,
        "rehearse.every_ms": _SPAN,
        "rehearse.expire_ppm": _SHARE,
        "epoch.interactions": _COUNT,
        "epoch.interval_ms": _SPAN,
        "epoch.capacity": _COUNT,
        "epoch.proposals_max": (1, 65_536),
        "epoch.retry_ms": (0, 24 * 3600 * 1000),
        "epoch.rest_epochs": (1, _COUNT[1]),
        "epoch.rest_epochs_max": (1, _COUNT[1]),
        # At least one, or a small namespace forgets nothing.
        "caps.floor": (1, _COUNT[1]),
        "caps.day_ms": (1, DAY_MS_MOST),
        "protection.pins_max": _COUNT,
        "protection.needs_max": _COUNT,
        "protection.lapse_ms": (1, MAX_SPAN_MS),
        "budget.lambda_priv_ppm": (0, 100 * PPM),
        "budget.half_life_ms": (1, MAX_SPAN_MS),
        "budget.band_ppm": _SHARE,
        "budget.stale_ppm": _SHARE,
        "budget.distortion_ppm": (0, 2 * PPM),
        "budget.relief_ppm": _SHARE,
        "budget.margin_ppm": _SHARE,
        "budget.every_ms": (1, MAX_SPAN_MS),
        "budget.epsilon_ppm": (0, 10 * PPM),
        "budget.w_max": (1, 1_000_000),
        "budget.lipschitz_ppm": (1, 100 * PPM),
        "budget.subject_epsilon_ppm": (0, 10_000 * PPM),
        "experience.eta_ppm": (1, PPM),
        "experience.lambda_t_ppm": (0, PPM),
        "experience.lambda_l_ppm": (0, PPM),
        "experience.contexts_least": (1, 100),
        "experience.contexts_most": (1, 100),
        "experience.near_ppm": _SHARE,
        "experience.runs": (1, 100),
        "experience.memories_most": (1, 100),
        "experience.budget_tokens": (1, 1_000_000),
        "experience.first_ppm": (0, 100 * PPM),
        "experience.weight_roots": (0, 20),
        "experience.alpha_ppm": _SHARE,
        "experience.beta_ppm": _SHARE,
        "experience.weight_least_ppm": (1, 100 * PPM),
        "experience.weight_most_ppm": (1, 100 * PPM),
        "experience.floor_ppm": (1, 100 * PPM),
        "experience.promote_ppm": (1, 100 * PPM),
        "experience.promote_contexts": (1, 1_000),
        "experience.general_ppm": (1, PPM),
        "experience.merge_ppm": _SHARE,
        "experience.idle_half_ms": _SPAN,
        "experience.given_ppm": _SHARE,
        # Each time is an order, and an epoch that attests it.
        "erase.every_ms": (AGE_LEAST_MS, MAX_SPAN_MS),
    }
)


def _check(policy: Policy) -> None:
    decay, forget, promote, triage = policy.decay, policy.forget, policy.promote, policy.triage
    for name, (least, most) in _RANGES.items():
        section, _, key = name.partition(".")
        if not least <= getattr(getattr(policy, section), key) <= most:
            raise _error(f"{name} must lie in [{least}, {most}]")
    rules = (
        (len(decay.scales_s) == len(decay.weights) > 0, "decay.scales_s and decay.weights differ in length"),
        (all(s > 0 for s in decay.scales_s), "decay.scales_s must be positive"),
        (all(w >= 0 for w in decay.weights), "decay.weights must not be negative"),
        (abs(sum(decay.weights) - 1) < 1e-9, "decay.weights must sum to 1"),
        (0 < decay.delta < 1, "decay.delta must lie between 0 and 1"),
        (decay.long_term >= 1, "decay.long_term must be at least 1"),
        (forget.omega_decay_ppm + forget.omega_relevance_ppm == PPM, "forget.omega_* must sum to 1,000,000"),
        (Fraction(1, 2) < forget.alpha <= 1, "forget.alpha must lie in (1/2, 1]"),
        (
            promote.bfs_ppm + promote.grounded_ppm + promote.consistency_ppm + promote.certainty_ppm == PPM,
            "promote.*_ppm weights must sum to 1,000,000",
        ),
        (Fraction(1, 2) < promote.tau <= 1, "promote.tau must lie in (1/2, 1]"),
        (promote.tau <= promote.high_tau <= 1, "promote.high_tau must lie in [promote.tau, 1]"),
        # Below one the incumbent would be easier to overrule than to keep; beyond nine no yes of 0.9 would do.
        (
            _DIGEST.fullmatch(policy.supersede.model) is not None,
            "supersede.model must be a SHA-256 in hexadecimal, or empty",
        ),
        (1 <= policy.supersede.kappa <= 9, "supersede.kappa must lie in [1, 9]"),
        (Fraction(1, 2) < policy.consolidate.alpha <= 1, "consolidate.alpha must lie in (1/2, 1]"),
        (triage.slow_rate_ppm <= triage.rate_ppm, "triage.slow_rate_ppm must not be above triage.rate_ppm"),
        # The schedule knows a salience by whole hundredths.
        (triage.slow_ppm % 10_000 == 0, "triage.slow_ppm must be whole hundredths: a multiple of 10,000"),
        (0 < policy.caps.epoch_share <= 1, "caps.epoch_share must lie in (0, 1]"),
        (0 < policy.caps.day_share <= 1, "caps.day_share must lie in (0, 1]"),
        (policy.epoch.rest_epochs <= policy.epoch.rest_epochs_max, "epoch.rest_epochs must not be above its cap"),
        (
            policy.experience.contexts_least <= policy.experience.contexts_most,
            "experience.contexts_least must not be above experience.contexts_most",
        ),
        (
            policy.experience.weight_least_ppm <= policy.experience.floor_ppm <= policy.experience.weight_most_ppm,
            "experience.floor_ppm must lie between experience.weight_least_ppm and experience.weight_most_ppm",
        ),
    )
    hold(rules, _error)
    _check_budget(policy.budget)
    retention(policy.erase)
    unused(policy.forget)
    slowest = zip([scale * decay.long_term for scale in decay.scales_s], decay.weights, strict=True)
    left = sum(weight * math.exp(-MAX_SPAN_MS / 1000 / scale) for scale, weight in slowest)
    if left >= decay.delta:
        raise _error(
            f"decay.delta = {decay.delta} is never crossed: after a thousand years D still is {left:.3f} in "
            "long-term memory; shorten decay.scales_s, or raise decay.delta"
        )


def _check_budget(budget: BudgetPolicy) -> None:
    if budget.policy not in FORGETTING:
        raise _error(f"budget.policy {budget.policy!r} is unknown; known: {', '.join(FORGETTING)}")
    budgets(budget)
    if budget.epsilon_ppm > budget.subject_epsilon_ppm:
        raise _error(
            f"budget.subject_epsilon_ppm = {budget.subject_epsilon_ppm} does not pay for one draw, which costs "
            f"budget.epsilon_ppm = {budget.epsilon_ppm}"
        )
    if budget.shares_ppm and (len(budget.shares_ppm) != 4 or min(budget.shares_ppm) < 0):
        raise _error("budget.shares_ppm must be four shares, none negative: episodic, semantic, social, task; or none")
    if budget.shares_ppm and sum(budget.shares_ppm) != PPM:
        raise _error(f"budget.shares_ppm must sum to {PPM:,}; they sum to {sum(budget.shares_ppm):,}")
    if budget.ttl_ms and (len(budget.ttl_ms) != 4 or not all(0 <= one <= MAX_SPAN_MS for one in budget.ttl_ms)):
        raise _error(
            f"budget.ttl_ms must be four ages in [0, {MAX_SPAN_MS}], of episodic, semantic, social, task; or none"
        )
    for name, count, most in (
        *((f"theta_{one}_ppm", len(FEATURES), 100 * PPM) for one in ("episodic", "semantic", "social", "task")),
        ("priority_ppm", 3, PPM),
        ("types_ppm", 4, PPM),
    ):
        told = getattr(budget, name)
        if len(told) != count or not all(0 <= one <= most for one in told):
            raise _error(f"budget.{name} must be {count} numbers in [0, {most}]")
    if sum(budget.priority_ppm) != PPM:
        raise _error(f"budget.priority_ppm must sum to {PPM:,}; they sum to {sum(budget.priority_ppm):,}")


def _error(complaint: str) -> PolicyError:
    return PolicyError(f"policy: {complaint}")
