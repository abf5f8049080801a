"""The operator's `erase`: shows what an erasure would take, and with --yes orders it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import psycopg

from db import erasure_rows
from db.connection import Link
from db.store import protections
from infra import copies
from infra.operator_command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.operator_orders import desk
from infra.settings import Mendable, Settings, SettingsError
from memquorum.commands import BEFORE, OF_TYPE, OLDER_THAN, REFERENCE, before, flag, one_of, option
from memquorum.core import names
from memquorum.core.accounts import order_words
from memquorum.core.accounts.erasing import otherwise
from memquorum.core.accounts.order_words import counted, sent, stays, summed_up
from memquorum.core.accounts.telling import moment
from memquorum.core.audit.receipts import recipients
from memquorum.core.journal.anew import ANEW, WORDS
from memquorum.core.journal.rows import Protection
from memquorum.core.orders import aged
from memquorum.core.orders.erase import AGE, AGENT, ERASURE, MEMORY, SOURCE, SUBJECT
from memquorum.core.orders.erase import NAMESPACE as EVERYTHING
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import ErasureOrdered

_LISTED = 100


class Held(Mendable):
    """A legal hold keeps a memory that an erasure names, so that nothing of it is erased."""


@command(
    "memories erase",
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
    example="memories erase -n greenhouse --subject ada --yes --reference request-12",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Shows what an erasure takes; with --yes, orders it with the operator's key.

    Raises SettingsError for an invalid order, Held, KeyFileError, and an error of OUT_OF_REACH if a server does not
    answer.
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
        # Memories that an earlier release stored under another spelling of the name need an order of their own.
        orders, (shown, held, _) = [order], _found(at.link, order)
        for other in otherwise(order):
            more, stands, some = _found(at.link, other)
            if some:
                orders.append(at.named(ERASURE, other))
                shown, held = [*shown, "under another spelling:", *more], [*held, *stands]
        if held:
            named = (f"{one.memory_id} ({one.reference or 'no reference'}, by {one.ordered_by})" for one in held[:5])
            told = ", ".join(named) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
            raise Held(f"nothing of it is erased: a legal hold keeps {told}; `memquorum admin memories hold --release`")
        print("\n".join(shown))
        for one in copies.rebuild_lines(settings):
            print(one)
        if not parsed.yes:
            print("nothing was ordered: give --yes")
            return 0
        return at.give(ERASURE, orders)


def _age(moment: int | None, types: Sequence[str]) -> str | None:
    """The value of an order by age, or None."""
    if moment is None:
        if types:
            raise SettingsError("erase: --type restricts an erasure by age: give --older-than or --before with it")
        return None
    try:
        return aged.written(types, moment)
    except aged.BadAge as wrong:
        raise SettingsError(f"erase: {wrong}") from None


def _found(link: Link, order: ErasureOrdered) -> tuple[list[str], list[Protection], bool]:
    """Returns the effect of an erasure in words, the holds against it, and whether there is anything to erase."""
    with link.use() as connection, connection.transaction():
        found = erasure_rows.taken(connection, order.namespace, order.selector, order.value)
        ids = [one.episode.memory_id for one in found]
        staying = erasure_rows.staying(connection, order.namespace, order.selector, order.value, ids)
        but = [*ids, *(one.memory_id for one in staying)]
        naming = _naming(connection, order, but)
        standing = protections(connection, ids)
    memories = sum(one.episode.commitment is not None for one in found)
    if not found:
        told = [order_words.nothing(_named(order), order.value)]
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
    if naming:
        told.append(order_words.naming(len(naming)))
    told += [f"  {left.memory_id}  by {left.agent}, {moment(left.created)}" for left in naming[:_LISTED]]
    if len(naming) > _LISTED:
        told.append(f"  and {len(naming) - _LISTED:,} more")
    return told, [one for one in standing.values() if one.kind == HOLD], bool(found)


def _naming(connection: psycopg.Connection, order: ErasureOrdered, but: Sequence[str]) -> list[erasure_rows.Naming]:
    """Returns what stays and has the name of the erased person in its words."""
    if order.selector not in (SUBJECT, AGENT):
        return []
    found = erasure_rows.mentions(connection, order.namespace, order.value, but)
    return [one for one in found if names.said_in(one.told, order.value)]


def _named(order: ErasureOrdered) -> str:
    return f"{order.selector} {order.value!r} in {order.namespace!r}" if order.value else f"{order.namespace!r}"
