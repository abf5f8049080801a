"""Moves shards between the sign-states of one member, of which each process has its own: a shard is in exactly one.

A member's folder holds the sign-state of a process with all shards, and a folder `shards-RANGE` with that of each
process with a range. A process takes what other sign-states have of its shards when it starts. First the other file
notes, on the disk, that the shard is leaving: from then on nothing is signed by it. Then what was signed comes into the
own file, and last the other one drops it. A crash between two steps leaves a shard that nobody signs for, and the next
start goes on from there.

A sign-state is open in one process only. So a process whose shards a running one has does not start; and that one
cannot start again with a shard that was taken from it, unless it can take it back.
"""

from __future__ import annotations

import fcntl
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from db.signstate import LeaseHeld, SignedIn, SqliteSignState, Stand
from memquorum.core import shard_ranges

SIGNED, VIEW = "signed.db", "view.db"
_BEGINNING = "shards-"
_LOCK = "moving.lock"
_LOG = logging.getLogger("memquorum.replica")


class TwoOwners(RuntimeError):
    """Two sign-states of a member say that a shard is theirs: one of them is a copy."""


def folder_of(member: Path, named: str) -> Path:
    """The folder of a process within its member's. `named`: its range; empty: it has all shards."""
    return member / f"{_BEGINNING}{named}" if named else member


@contextmanager
def opened(member: Path, named: str, shards: range, cluster: bytes, member_id: int) -> Iterator[SqliteSignState]:
    """Opens the sign-state of a process that has these shards, with all that was signed for them.

    Raises LeaseHeld if another process of the member runs that has one of them, TwoOwners and WrongIdentity.
    """
    own = folder_of(member, named)
    with SqliteSignState(own / SIGNED, cluster, member_id) as signed:
        others = dict(_others(member, own, shards))
        if named or others or signed.stands():
            with _alone(member), ExitStack() as files:
                _take(own, signed, shards, _open(others, shards, files, cluster, member_id))
        yield signed


def _others(member: Path, own: Path, shards: range) -> Iterator[tuple[Path, range | None]]:
    """The folders of other processes whose shards overlap these, with their shards; None: all."""
    if own != member and (member / SIGNED).exists():
        yield member, None
    for file in sorted(member.glob(f"{_BEGINNING}*/{SIGNED}")):
        theirs = shard_ranges.one(file.parent.name.removeprefix(_BEGINNING))
        if file.parent != own and set(theirs) & set(shards):
            yield file.parent, theirs


@contextmanager
def _alone(member: Path) -> Iterator[None]:
    """Keeps other processes of the member from moving shards meanwhile."""
    with (member / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _open(
    others: Mapping[Path, range | None], shards: range, files: ExitStack, cluster: bytes, member_id: int
) -> dict[Path, SqliteSignState]:
    found = {}
    for folder, theirs in others.items():
        try:
            found[folder] = files.enter_context(SqliteSignState(folder / SIGNED, cluster, member_id))
        except LeaseHeld:
            which = f"with the shards {shard_ranges.name(theirs)}" if theirs else "with all shards"
            raise LeaseHeld(
                f"a process of member {member_id} {which} runs, and this one is to have {shard_ranges.name(shards)}: "
                "a shard has one process of a member, so stop that one first"
            ) from None
    return found


def _take(own: Path, signed: SqliteSignState, shards: Iterable[int], others: Mapping[Path, SqliteSignState]) -> None:
    """Takes what others have of the shards into the own sign-state, and the view of the one that gives most."""
    gave: dict[Path, list[int]] = {}
    stands = {folder: other.stands() for folder, other in others.items()}
    here, root = signed.stands(), own.parent if own.name.startswith(_BEGINNING) else own
    for shard in shards:
        kept = {folder for folder in others if stands[folder].get(shard) == Stand.HERE}
        if len(kept) + (here.get(shard) == Stand.HERE) > 1:
            where = ", ".join(map(str, sorted(kept)))
            raise TwoOwners(
                f"shard {shard} is here and in {where}: one of these folders is a copy; remove the older one"
            )
        leaving = {folder for folder in others if stands[folder].get(shard) == Stand.LEAVING}
        if here.get(shard) == Stand.HERE:
            _drop(shard, (others[folder] for folder in leaving))
            continue
        # A file of all shards has no row of a shard that was never moved; a file that has a row for it owns it.
        whole = {root} & others.keys() if shard not in stands.get(root, {}) else set()
        if own == root and shard not in here and not kept | leaving:
            continue
        source = next(iter(kept or leaving or whole), None)
        _move(shard, signed, others[source] if source else None)
        _drop(shard, (others[folder] for folder in kept | leaving))
        if source:
            gave.setdefault(source, []).append(shard)
    for source, moved in gave.items():
        _LOG.warning("the shards %s were taken from %s", " ".join(map(str, moved)), source)
    if gave and not (own / VIEW).exists():
        _copy_view(max(gave, key=lambda folder: len(gave[folder])) / VIEW, own / VIEW)


def _move(shard: int, to: SqliteSignState, source: SqliteSignState | None) -> None:
    if source is None:
        to.stand(shard, Stand.HERE)
        return
    source.stand(shard, Stand.LEAVING)
    to.stand(shard, Stand.HERE, source.signed_in(shard))
    _drop(shard, [source])


def _drop(shard: int, sources: Iterable[SqliteSignState]) -> None:
    for source in sources:
        if source.stands().get(shard) != Stand.GONE:
            source.stand(shard, Stand.GONE, SignedIn([], []))


def _copy_view(source: Path, to: Path) -> None:
    """Copies a view file, so that the streams need not be read from their beginnings; nobody has it open."""
    if source.exists():
        draft = to.with_name(f"{to.name}.draft")
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(draft)) as new:
            old.backup(new)
        draft.rename(to)
