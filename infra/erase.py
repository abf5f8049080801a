"""The operator's `erase`: shows everything that an erasure would take, and with --yes orders it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from db import erasure_rows
from db.connection import Link
from db.store import protections
from infra import copies
from infra.command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.ordering import desk
from infra.settings import Mendable, Settings, SettingsError
from memquorum.commands import BEFORE, OF_TYPE, OLDER_THAN, REFERENCE, before, flag, one_of, option
from memquorum.core import names
from memquorum.core.audit.receipts import recipients
from memquorum.core.journal.anew import ANEW, WORDS
from memquorum.core.journal.rows import Protection
from memquorum.core.orders import aged
from memquorum.core.orders.erase import AGE, AGENT, ERASURE, MEMORY, SOURCE, SUBJECT
from memquorum.core.orders.erase import NAMESPACE as EVERYTHING
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import ErasureOrdered
from memquorum.core.retrieval.erasing import otherwise
from memquorum.core.retrieval.ordered import counted, sent, stays, summed_up
from memquorum.core.retrieval.telling import moment
from memquorum.core.text.plurals import many

_LISTED = 100


class Held(Mendable):
    """What an erasure names is held, so that nothing of it is erased."""


@command(
    "erase",
    NAMESPACE,
    one_of(
        option(f"--{MEMORY}", metavar="ID", help="one memory, with its echoes"),
        option(f"--{SUBJECT}", metavar="NAME", help="everything about somebody"),
        option(f"--{AGENT}", metavar="NAME", help="everything that an agent has written"),
        option(f"--{SOURCE}", metavar="NAME", help="everything that came from a document, a tool, a feed"),
        OLDER_THAN,
        BEFORE,
        flag("--everything", "the whole namespace"),
        required=True,
    ),
    OF_TYPE,
    flag("--yes", "order it: there is no way back"),
    ORDERED_BY,
    REFERENCE.but(help="the request's name elsewhere, for the receipt"),
    WAIT,
    kafka="operator",
    failed="the store cannot be asked, or no order be given",
    example="erase -n greenhouse --subject ada --yes --reference request-12",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Shows what an erasure takes; with --yes, orders it with the operator's key.

    Raises SettingsError for what cannot be ordered, Held, KeyFileError, and what says that a server does not answer.
    """
    said = {selector: getattr(parsed, selector) for selector in (MEMORY, SUBJECT, AGENT, SOURCE)}
    said[AGE] = _age(before(parsed), parsed.types)
    selector, value = next(((name, text) for name, text in said.items() if text is not None), (EVERYTHING, ""))
    with desk(settings, parsed) as at:
        if selector in (SUBJECT, SOURCE):
            value = names.normal(value)
        value = value.lower() if selector == MEMORY else value
        order = at.named(
            ERASURE, ErasureOrdered(b"", "", parsed.namespace, selector, value, "", 0, parsed.reference)
        )  # fmt: skip
        # What an earlier release stored under another spelling of the name takes an order of its own.
        orders, (shown, held, _) = [order], _found(at.link, order)
        for other in otherwise(order):
            more, stands, some = _found(at.link, other)
            if some:
                orders.append(at.named(ERASURE, other))
                shown, held = [*shown, "under another spelling:", *more], [*held, *stands]
        if held:
            named = (f"{one.memory_id} ({one.reference or 'no reference'}, by {one.ordered_by})" for one in held[:5])
            told = ", ".join(named) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
            raise Held(f"nothing of it is erased: a legal hold keeps {told}; `infra hold --release`")
        print("\n".join(shown))
        for one in copies.told(settings):
            print(one)
        if not parsed.yes:
            print("nothing was ordered: give --yes")
            return 0
        return at.give(ERASURE, orders)


def _age(moment: int | None, types: Sequence[str]) -> str | None:
    """The value of an order by age, where one is named. Raises SettingsError."""
    if moment is None:
        if types:
            raise SettingsError("erase: --type goes by age: give --older-than or --before with it")
        return None
    try:
        return aged.written(types, moment)
    except aged.BadAge as wrong:
        raise SettingsError(f"erase: {wrong}") from None


def _found(link: Link, order: ErasureOrdered) -> tuple[list[str], list[Protection], bool]:
    """What would go, in words, and the holds that stand against it; and whether there is anything."""
    with link.use() as connection, connection.transaction():
        found = erasure_rows.found(connection, order.namespace, order.selector, order.value)
        ids = [one.episode.memory_id for one in found]
        staying = erasure_rows.staying(connection, order.namespace, order.selector, order.value, ids)
        standing = protections(connection, ids)
    memories = sum(one.episode.commitment is not None for one in found)
    if not found:
        told = [f"nothing was found for {_named(order)}: {many(0, 'memory')}"]
    else:
        summaries = [one.episode.summary for one in found if one.episode.summary is not None]
        told = [f"would erase {counted(memories, len(found))}, of {order.namespace!r}"]
        told += [f"  {line}" for line in summed_up(len(summaries), summaries.count(ANEW))]
        told += [f"  {line}" for line in sent(recipients([one.episode for one in found]))]
    for one in found[:_LISTED]:
        because = f", because of {one.because}" if one.because else ""
        by = "" if one.agent is None or one.created is None else f", by {one.agent}, {moment(one.created)}"
        summary = "" if one.episode.summary is None else f"; {WORDS[one.episode.summary]}"
        to = f"; sent to {', '.join(one.episode.recipients)}" if one.episode.recipients else ""
        told.append(f"  {one.episode.memory_id}  {one.episode.was}{by}{because}{summary}{to}")
    if len(found) > _LISTED:
        told.append(f"  and {len(found) - _LISTED:,} more")
    if staying:
        told.append(stays(order.selector))
    told += [f"  {left.memory_id}  by {left.agent}, {moment(left.created)}: {left.why}" for left in staying[:_LISTED]]
    if len(staying) > _LISTED:
        told.append(f"  and {len(staying) - _LISTED:,} more")
    return told, [one for one in standing.values() if one.kind == HOLD], bool(found)


def _named(order: ErasureOrdered) -> str:
    return f"{order.selector} {order.value!r} in {order.namespace!r}" if order.value else f"{order.namespace!r}"
