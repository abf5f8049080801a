"""The plan of one simulation, drawn from its seed: members, liars, faults, network, timers.

A plan is data: it can be printed, repeated, and made smaller by leaving parts out (`shrink`).
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from memquorum.core.consensus.events import Timings
from tests.simulation.dice import Dice
from tests.simulation.ordered import further
from tests.simulation.raising import drawn

SHARDS = 4
SIZES = (4,) * 44 + (5,) * 3 + (7,) * 2 + (10, 13)
EVERYBODY = -1
MS = 1_000  # the clock runs in microseconds

# The points where a crash can hit a turn of a replica, in the order of a turn.
POINTS = (
    "before its view is kept",
    "before it claims",
    "between claim and send",
    "between two sends",
    "after sending",
    "at once",
)

# The logs in which one member may be shown more than all others.
FAVOURED = ("commit", "commit", "prepare", "pre-prepare", "view-change")

# The logs in which the broker may keep a record from some members until it is well again; nothing else shows it to
# them.
WITHHELD = (
    "nomination", "nomination", "ballot", "pre-prepare", "prepare", "commit", "commit", "view-change"
)  # fmt: skip

# kind → how often it is drawn, among all
KINDS = {
    "crash": 8,
    "power": 5,
    "wipe": 2,
    "claim-fails": 3,
    "view-fails": 2,
    "stall": 4,
    "favour": 8,
    "mute": 3,
    "hide": 3,
    "truncate": 2,
    "lose": 4,
    "repeat": 3,
    "reread": 3,
    "clock": 2,
    "blackout": 1,
}


# The verdicts of rehearsals: true; each twice; late, after more has happened; with all earlier ones again; false; with
# one small change; of other places; signed by another; of forgotten memories too.
ACTS = ("honest", "honest", "twice", "late", "again", "false", "mutated", "elsewhere", "forged", "gone")


class Fault(Struct, frozen=True):
    r"""A fault that the world does to a member: `kind`, so many µs after the nomination of an epoch.

    The kind defines `number` and `lasts` (µs).
    """

    epoch: int
    after: int
    kind: str
    member: int
    number: int = 0
    lasts: int = 0

    def told(self) -> str:
        """Describes the fault in words."""
        who, ms = f"member {self.member}", self.lasts // MS
        shown = "; the next are never shown to the others" if self.number >> 4 & 1 else f", for {ms} ms"
        return {
            "crash": f"{who} crashes {POINTS[self.number % len(POINTS)]}, for {ms} ms",
            "power": f"{who} loses power {POINTS[self.number % len(POINTS)]}, for {ms} ms",
            "wipe": f"{who} crashes and its view file is deleted, for {ms} ms",
            "amnesia": f"{who} loses its sign-state{' and its view file' if self.number % 2 else ''}, for {ms} ms",
            "goes back": f"{who}'s sign-state goes back to before what the log holds of it, for {ms} ms",
            "claim-fails": f"{who}'s sign-state cannot be written ({'but was' if self.number % 2 else 'nor was'})",
            "view-fails": f"{who}'s view file cannot be written",
            "stall": f"{who} reads nothing new of {'every log' if self.number % 3 == 0 else 'one log'} for {ms} ms",
            "favour": f"only {who} reads new {FAVOURED[self.number % 5]}s{shown}",
            "mute": f"what {who} sends arrives {ms} ms late",
            "hide": f"the broker hides {1 + self.number % 3} records of a log from {who}",
            "truncate": f"a log loses up to {1 + self.number % 4} records at its end",
            "lose": f"the next record of {who} is lost, {'and it is told' if self.number % 2 else 'untold'}",
            "repeat": f"the next record of {who} is written three times",
            "reread": f"{who} reads part of a log again",
            "clock": f"{who}'s clock runs at {50 + self.number % 150} %",
            "renominate": "the nomination service nominates the epoch again, as of another tick",
            "withhold": f"some are not shown the last {WITHHELD[self.number % len(WITHHELD)]} until the faults end",
            "prune": "what a stable checkpoint covers is deleted from the logs",
            "blackout": f"everybody loses power for {ms} ms",
        }[self.kind]


class Network(Struct, frozen=True):
    """Delays from a record's append to each reader, in µs: at least `base`, up to `jitter` more, sometimes `slow`."""

    base: int = 1 * MS
    jitter: int = 2 * MS
    slow: int = 0
    slow_permille: int = 0
    repeat_permille: int = 0


CALM = Network()


class Plan(Struct, frozen=True):
    """A whole simulation. `liars`: (member, names of its behaviours), by member.

    `heal_by`: when the faults end at the latest (µs). `gap`: from a decision to the next nomination. `repent`: the
    liars are silent once the faults end. `forks`: the broker is the liars' friend and shows their records to some only.
    `yes_permille`: how often an honest member says yes. `orders`: (epoch, what is ordered in it). `rehearsals`: (epoch,
    how memories are rehearsed before it); without, what members vote on has names alone. `raising`: the members whose
    rules raise on `raising_permille` of the proposals.
    """

    seed: int
    n: int
    shard: int
    epochs: int
    heal_by: int
    gap: int
    liars: tuple[tuple[int, tuple[str, ...]], ...] = ()
    faults: tuple[Fault, ...] = ()
    network: Network = CALM
    timings: Timings = field(default_factory=Timings)
    repent: bool = False
    forks: bool = False
    refused_permille: int = 0
    yes_permille: int = 900
    orders: tuple[tuple[int, str], ...] = ()
    rehearsals: tuple[tuple[int, str], ...] = ()
    raising: tuple[int, ...] = ()
    raising_permille: int = 0

    @property
    def added(self) -> int:
        """Returns how many members may be added: they listen from the beginning."""
        return sum(action == "add" for _, action in self.orders)

    @property
    def honest(self) -> tuple[int, ...]:
        """Returns the members that do not lie."""
        liars = {member for member, _ in self.liars}
        return tuple(m for m in range(self.n) if m not in liars)

    def without_liar(self, member: int) -> Plan:
        """Returns the plan with an honest member in a liar's place."""
        return replace(self, liars=tuple(x for x in self.liars if x[0] != member))


def draw(seed: int, behaviours: tuple[str, ...], *, epochs: int | None = None, n: int | None = None) -> Plan:
    """Draws the plan of a seed; `epochs` and `n` override it."""
    dice = Dice(seed)
    size = n or dice.pick(SIZES, "size")
    count = epochs or 2 + dice.roll(3, "epochs")
    timings, network = _timings(dice), _network(dice)
    liars = _liars(dice, size, behaviours)
    faults = _faults(dice, size, count, network, timings)
    # Faults come at the latest in the first epoch in which a checkpoint can be stable.
    if count > 3 and dice.chance(400, "logs are pruned"):
        who, after = dice.roll(size, "who comes too late"), dice.roll(200, "pruned when") * MS
        pruned, late = Fault(3, after, "prune", EVERYBODY), Fault(3, after + MS, "wipe", who, lasts=10 * MS)
        faults = tuple(sorted((*faults, pruned, late), key=_by_time))
    # A member that forgot its sign-state is a fault among the f: it is silent for a while. Before the log holds a
    # message of the member nothing shows that it existed, so this comes in the second epoch at the earliest.
    if count > 2 and len(liars) < (size - 1) // 3 and dice.chance(250, "somebody forgets"):
        who = dice.pick([m for m in range(size) if m not in dict(liars)], "who")
        epoch, after = 2 + dice.roll(count - 2, "forgets in which epoch"), dice.roll(100, "forgets when") * MS
        late = Fault(epoch, 0, "mute", who, lasts=after + 100 * MS)  # and its last message is not in the log yet
        forgets = Fault(epoch, after, "amnesia", who, dice.roll(2, "how much"), 20 * MS)
        faults = tuple(sorted((*faults, late, forgets), key=_by_time))
    orders = _orders(dice, count)
    raising, raising_permille = drawn(dice, [m for m in range(size) if m not in dict(liars)])
    return Plan(
        seed=seed,
        n=size,
        shard=dice.roll(SHARDS, "shard"),
        epochs=count,
        # Long enough for a few timers to run out while the world is still bad.
        heal_by=(timings.request_ms * (1 + dice.roll(12, "heal")) + 100) * count * MS,
        gap=dice.pick((0, 0, 5, 50), "gap") * MS,
        liars=liars,
        faults=faults,
        network=network,
        timings=timings,
        repent=dice.chance(400, "repent"),
        forks=dice.chance(300, "forks"),
        refused_permille=dice.pick((0, 0, 0, 200), "refused"),
        yes_permille=dice.pick((1000, 900, 900, 600), "yes"),
        orders=orders,
        rehearsals=_rehearsals(dice, count, frozenset(action for _, action in orders)),
        raising=raising,
        raising_permille=raising_permille,
    )


def _orders(dice: Dice, epochs: int) -> tuple[tuple[int, str], ...]:
    """Draws orders: in some worlds the members change, now and then as the last decision; in some more is ordered."""
    found: tuple[tuple[int, str], ...] = ()
    if dice.chance(250, "orders"):
        wanted = ((epoch, dice.roll(10, "an order", epoch)) for epoch in range(1, epochs + 1))
        found = tuple((epoch, "remove" if roll < 2 else "weight") for epoch, roll in wanted if roll < 5)
    return (*found, *further(dice, epochs, frozenset(epoch for epoch, _ in found)))


def _rehearsals(dice: Dice, epochs: int, ordered: frozenset[str]) -> tuple[tuple[int, str], ...]:
    """Draws a way to rehearse for each epoch of some worlds.

    Worlds with orders to erase or restore have none: their memories are others.
    """
    if ordered & {"erase", "restore", "again"} or not dice.chance(100, "rehearsals"):
        return ()
    return tuple((epoch, dice.pick(ACTS, "a rehearsal", epoch)) for epoch in range(1, epochs + 1))


def _timings(dice: Dice) -> Timings:
    """Draws timings: the default, faster ones, and some too fast for the network, which cause needless view changes."""
    grace, request = dice.pick(((250, 2_000), (50, 400), (20, 150), (10, 40)), "timings")
    return Timings(ballot_grace_ms=grace, request_ms=request, view_change_ms=request)


def _network(dice: Dice) -> Network:
    return Network(
        base=MS,
        jitter=dice.pick((2, 10, 40, 150), "jitter") * MS,
        slow=500 * MS,
        slow_permille=dice.pick((0, 0, 10, 60), "slow"),
        repeat_permille=dice.pick((0, 0, 20, 200), "repeat"),
    )


def _liars(dice: Dice, n: int, behaviours: tuple[str, ...]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Draws up to f liars, each with one to three behaviours."""
    most = (n - 1) // 3
    lying = 0 if dice.chance(150, "honest world") else 1 + dice.roll(most, "liars")
    order = sorted(range(n), key=lambda m: dice.roll(1 << 30, "order", m))
    found = []
    for member in sorted(order[:lying]):
        count = 1 + dice.roll(3, "how many behaviours", member)
        names = [dice.pick(behaviours, "behaviour", member, i) for i in range(count)]
        found.append((member, tuple(dict.fromkeys(names))))
    return tuple(found)


def _faults(dice: Dice, n: int, epochs: int, network: Network, timings: Timings) -> tuple[Fault, ...]:
    """Draws faults: mostly while an epoch is voted on; now and then while timers run out.

    The last epoch is for the healed world.
    """
    kinds = [kind for kind, weight in KINDS.items() for _ in range(weight)]
    busy = 4 * (network.base + network.jitter) + timings.ballot_grace_ms * MS // 4
    found = []
    for i in range(dice.pick((0, 2, 4, 8), "faults") * max(1, epochs // 4)):
        kind = dice.pick(kinds, "kind", i)
        within = busy if dice.chance(800, "while it is voted on", i) else 4 * timings.request_ms * MS
        fault = Fault(
            epoch=1 + dice.roll(epochs - 1, "in which epoch", i),
            after=dice.roll(within, "when", i),
            kind=kind,
            member=EVERYBODY if kind in ("truncate", "blackout") else dice.roll(n, "whom", i),
            number=dice.roll(1 << 20, "number", i),
            lasts=dice.pick((1, 10, 100, timings.request_ms, 3 * timings.request_ms), "lasts", i) * MS,
        )
        found.append(fault)
    if dice.chance(300, "one decides alone"):
        found += _alone(dice, n, epochs, network, timings)
    if dice.chance(300, "nominated again"):
        found += _again(dice, epochs, network, timings)
    return tuple(sorted(found, key=_by_time))


def _again(dice: Dice, epochs: int, network: Network, timings: Timings) -> list[Fault]:
    """Draws an epoch that is nominated more than once, each time in other bytes, with some records hidden from some
    members.
    """
    epoch, within = 1 + dice.roll(epochs - 1, "again in which epoch"), 2 * timings.request_ms * MS
    found = [
        Fault(epoch, 0, "withhold", EVERYBODY, dice.roll(1 << 20, "withheld", i) * len(WITHHELD))
        for i in range(dice.roll(2, "withheld at once"))
    ]
    for i in range(1 + dice.roll(3, "again how often")):
        after = dice.roll((network.jitter * 4, within)[i % 2], "again when", i)
        found.append(Fault(epoch, after, "renominate", EVERYBODY))
        if dice.chance(600, "withheld too", i):
            found.append(Fault(epoch, after + 1, "withhold", EVERYBODY, dice.roll(1 << 20, "withheld again", i)))
    return found


def _by_time(fault: Fault) -> tuple[int, int, str, int]:
    return fault.epoch, fault.after, fault.kind, fault.member


def _alone(dice: Dice, n: int, epochs: int, network: Network, timings: Timings) -> tuple[Fault, ...]:
    """Draws the hardest moment of a view change: one member has decided what the next primary would not propose by
    itself. Its ballot comes too late for the first proposal, it alone reads the votes on that, and then it is gone for
    a while.
    """
    epoch, alone = 1 + dice.roll(epochs - 1, "alone in which epoch"), dice.roll(n, "alone")
    grace, request = timings.ballot_grace_ms * MS, timings.request_ms * MS
    lasts = grace + request * (1 + dice.roll(4, "alone how long"))
    gone = 20 * MS + grace + dice.roll(4 * network.jitter + request // 4, "gone from")
    return (
        Fault(epoch, 0, "mute", alone, lasts=grace + request // 2),
        Fault(epoch, dice.roll(grace, "alone from"), "favour", alone, dice.roll(32, "alone with"), lasts),
        Fault(epoch, gone, "crash", alone, POINTS.index("at once"), lasts=lasts),
    )
