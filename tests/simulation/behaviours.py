"""The library of lies. Each class is one; a liar has one to three of them at once."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from memquorum.core.avro import DecodeError
from memquorum.core.consensus.events import Message
from memquorum.core.identity.messages import digest
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare, Signed
from tests.simulation.liars import Behaviour, Said
from tests.simulation.mutations import mutate

_VOTES = (Message.PREPARE, Message.COMMIT)


class Silent(Behaviour):
    """Says nothing."""

    name = "silent"

    def says(self, said: Said) -> Iterable[Said]:
        return ()


class Fickle(Behaviour):
    """Says only half of what it should."""

    name = "fickle"

    def says(self, said: Said) -> Iterable[Said]:
        return (said,) if self.chance(500) else ()


class Withholds(Behaviour):
    """Keeps its ballot to itself."""

    name = "withholds-ballots"

    def says(self, said: Said) -> Iterable[Said]:
        return () if said.message == Message.BALLOT else (said,)


class Whispers(Behaviour):
    """Lets the broker show what it says to some only."""

    name = "whispers"

    def says(self, said: Said) -> Iterable[Said]:
        return (replace(said, hidden_from=self.some()),)


class OppositeVotes(Behaviour):
    """Prepares and commits what it should, and something else too, in either order."""

    name = "opposite-votes"

    def says(self, said: Said) -> Iterable[Said]:
        if said.message not in _VOTES:
            return (said,)
        body, part = self.body(said.data), self.some()
        other = replace(body, digest=digest(body.digest))
        both = [replace(said, hidden_from=part), Said(said.message, self.signed(other), self.others(part))]
        return both if self.chance(500) else reversed(both)


class ManyVotes(Behaviour):
    """Hides its true vote behind ten others."""

    name = "many-votes"

    def says(self, said: Said) -> Iterable[Said]:
        if said.message not in _VOTES:
            return (said,)
        body = self.body(said.data)
        others = [digest(body.digest + bytes([number])) for number in range(10)]
        return (*(Said(said.message, self.signed(replace(body, digest=other))) for other in others), said)


class TwoBallots(Behaviour):
    """Casts a ballot, and its opposite."""

    name = "two-ballots"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if not isinstance(body, BallotCast):
            return (said,)
        nomination = self.world.nominations.get(body.nomination)
        if nomination is None:
            return (said,)
        part = self.some()
        both = [
            replace(said, hidden_from=part),
            Said(said.message, self.signed(self.contrary(body, nomination)), self.others(part)),
        ]
        return both if self.chance(500) else reversed(both)


class TwoProposals(Behaviour):
    """As primary, proposes twice: with all ballots that it has, and with one of them left out."""

    name = "two-proposals"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if not isinstance(body, PrePrepare) or len(body.ballots) < 2:
            return (said,)
        gone = self.roll(len(body.ballots))
        ballots = body.ballots[:gone] + body.ballots[gone + 1 :]
        part = self.some()
        both = [
            replace(said, hidden_from=part),
            Said(said.message, self.signed(replace(body, ballots=ballots)), self.others(part)),
        ]
        return both if self.chance(500) else reversed(both)


class Disobeys(Behaviour):
    """As primary, proposes other ballots than it should: all that it has read, or one less."""

    name = "disobeys"

    def __init__(self, liar: object) -> None:
        super().__init__(liar)  # type: ignore[arg-type]
        self._ballots: dict[bytes, dict[int, bytes]] = {}

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        body = self.body(data)
        if isinstance(body, BallotCast):
            self._ballots.setdefault(body.nomination, {}).setdefault(body.member, data)
        return ()

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if not isinstance(body, PrePrepare):
            return (said,)
        try:
            nomination = digest(self.world.codec.decode_as(Signed, body.nomination).body)
        except DecodeError:  # another lie has changed it
            return (said,)
        known = tuple(data for _, data in sorted(self._ballots.get(nomination, {}).items()))
        other = known if known != body.ballots else known[1:]
        return (Said(said.message, self.signed(replace(body, ballots=other))),)


class Assents(Behaviour):
    """Prepares and commits everything that anybody proposes, prepares or commits, at once."""

    name = "assents"

    def __init__(self, liar: object) -> None:
        super().__init__(liar)  # type: ignore[arg-type]
        self._done: set[tuple[int, int, bytes]] = set()

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        body = self.body(data)
        if isinstance(body, PrePrepare):
            said = self.world.proposal_digest(body)
        elif isinstance(body, Prepare | Commit):
            said = body.digest
        else:
            return ()
        slot = (body.view, body.seq, said)
        if slot in self._done or body.cluster != self.world.genesis.cluster:
            return ()
        self._done.add(slot)
        place = (body.cluster, body.config, body.shard, body.view, body.seq, self.liar.me, said)
        return (Said(Message.PREPARE, self.signed(Prepare(*place))), Said(Message.COMMIT, self.signed(Commit(*place))))


class Forges(Behaviour):
    """Writes in the names of others, with a signature of its own: opposite votes, and ballots in what it proposes."""

    name = "forges"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if isinstance(body, PrePrepare):
            return (Said(said.message, self.signed(replace(body, ballots=tuple(map(self._forged, body.ballots))))),)
        if said.message not in _VOTES:
            return (said,)
        victim = (self.liar.me + 1 + self.roll(self.world.plan.n - 1)) % self.world.plan.n
        forged = replace(body, member=victim, digest=digest(body.digest))
        return (Said(said.message, self.world.forged(self.liar.me, forged)), said)

    def _forged(self, ballot: bytes) -> bytes:
        body = self.body(ballot)
        nomination = self.world.nominations.get(getattr(body, "nomination", b""))
        if nomination is None or body.member == self.liar.me:
            return ballot
        return self.world.forged(self.liar.me, self.contrary(body, nomination))


class OtherViews(Behaviour):
    """Says what it says for views behind and ahead as well."""

    name = "other-views"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if not hasattr(body, "view"):
            return (said,)
        views = {max(0, body.view + step) for step in (-1, 1, 1 + self.roll(6))} - {body.view}
        return (said, *(Said(said.message, self.signed(replace(body, view=view))) for view in sorted(views)))


class Garbage(Behaviour):
    """Writes bytes that are no message, or no longer one."""

    name = "garbage"

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        if not self.chance(150):
            return
        at = self.roll(len(data) or 1)
        spoilt = data[:at] + bytes(b ^ 1 << self.roll(8) for b in data[at : at + 1]) + data[at + 1 :]
        yield Said(message, (spoilt, data[:at], b"", b"\xc3\x01" + data[at:])[self.roll(4)])


class Replays(Behaviour):
    """Writes again what somebody wrote long ago, also into another log."""

    name = "replays"

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        if not self.chance(150):
            return
        logs = self.world.broker.logs
        used = [log for log in logs if logs[log]]
        log = logs[used[self.roll(len(used))]]
        target = message if self.chance(200) else next(m for m in used if logs[m] is log)
        yield Said(target, log[self.roll(len(log))])


class Mutates(Behaviour):
    """Changes one small thing of what it says, and says that instead, or too."""

    name = "mutates"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if body is None or isinstance(body, NominationProposed) or self.chance(500):
            return (said,)
        self._asked += 1
        changed, _ = mutate(body, self.dice, self.liar.reader, self._asked)
        lie = Said(said.message, self.signed(changed), self.some())
        return ((lie,), (said, lie), (lie, said))[self.roll(3)]


class Mimics(Behaviour):
    """Says in its own name what another member has said, with one small thing changed."""

    name = "mimics"

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        body = self.body(data)
        if not hasattr(body, "member") or body.member == self.liar.me or self.chance(700):
            return ()
        self._asked += 1
        changed, _ = mutate(body, self.dice, self.liar.reader, self._asked)
        return (Said(message, self.signed(replace(changed, member=self.liar.me))),)


class Twin(Behaviour):
    """Runs twice with one key, and neither knows of the other. (`world` starts the second process.)"""

    name = "twins"


class Delays(Behaviour):
    """Says everything one message late."""

    name = "delays"

    def __init__(self, liar: object) -> None:
        super().__init__(liar)  # type: ignore[arg-type]
        self._held: list[Said] = []

    def says(self, said: Said) -> Iterable[Said]:
        self._held.append(said)
        return (self._held.pop(0),) if len(self._held) > 1 else ()


LIBRARY = {
    kind.name: kind
    for kind in (
        Silent, Fickle, Withholds, Whispers, OppositeVotes, ManyVotes, TwoBallots, TwoProposals, Assents,
        OtherViews, Disobeys,
        Forges, Garbage, Replays, Mutates, Mimics, Twin, Delays,
    )
}  # fmt: skip
