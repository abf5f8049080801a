"""The client's orders: erase, forget, restore, pin, keep memories for a goal, reclassify memories, and set the
profile of a subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from memquorum.client import wire
from memquorum.client.printed import Ordered
from memquorum.core.api.answers import Erasure, Forget, Needed, Pinned, Profile, Reclassified, Restore, Rollback

T = TypeVar("T")


class Ordering:
    """The client's orders. Each method returns once the order has taken effect, or after `timeout` seconds, 20 at most:
    then the order is pending, and `order` returns its outcome. All raise Invalid, NotAllowed and Unreachable."""

    @property
    def namespace(self) -> str:
        """The namespace of the memories."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def _order(self, answer: type[T], what: str, timeout: float, **said: Any) -> T:
        """Gives an order through the service and waits for its outcome. `what`: the endpoint's name."""
        asked = {"namespace": self.namespace} | {name: value for name, value in said.items() if value is not None}
        return await self._ask(answer, "POST", f"/orders/{what}", json=asked, params=wire.waiting(timeout))

    async def order(self, order_id: str, timeout: float = 0.0) -> Ordered:
        """Returns the outcome of an order of any kind, as soon as it is answered. Raises NotFound while it is
        pending."""
        return await self._ask(Ordered, "GET", f"/orders/{wire.path_id(order_id)}", params=wire.waiting(timeout))

    async def erase(
        self,
        *,
        memory_id: str | None = None,
        subject: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        types: Sequence[str] = (),
        before: int | None = None,
        everything: bool = False,
        dry_run: bool = True,
        reference: str | None = None,
        timeout: float = 10.0,
    ) -> Erasure:
        """Shows what an erasure takes, with all memories derived from it: of one memory, subject, agent or source, of
        all that occurred `before` a time (milliseconds since the epoch), or of everything here. `types` restricts
        `before` to these types. With `dry_run=False` the erasure is ordered and cannot be undone.
        """
        return await self._order(
            Erasure, "erase", timeout, memory_id=memory_id, subject=subject, agent=agent, source=source,
            types=wire.several("types", types) or None, before=before, everything=everything, dry_run=dry_run,
            reference=reference,
        )  # fmt: skip

    async def erasure_receipt(self, order_id: str) -> dict[str, Any]:
        """Returns the proof of an erasure (docs/use/erasing.md); `attested` is None until the members have decided.
        Raises NotFound."""
        return await self._ask(dict[str, Any], "GET", f"/orders/{wire.path_id(order_id)}/receipt")

    async def restore(self, *memory_ids: str, reference: str | None = None, timeout: float = 10.0) -> Restore:
        """Asks to restore memories that were forgotten and are sealed: the members vote on it. Reports a memory that is
        alive, destroyed or erased as such."""
        return await self._order(Restore, "restore", timeout, memory_ids=memory_ids, reference=reference)

    async def forget(
        self, *memory_ids: str, dry_run: bool = True, reference: str | None = None, timeout: float = 10.0
    ) -> Forget:
        """Shows the values that a vote to forget these memories would compare now. With `dry_run=False` they are
        nominated, and the members vote as always."""
        said = {"memory_ids": memory_ids, "dry_run": dry_run, "reference": reference}
        return await self._order(Forget, "forget", timeout, **said)

    async def rollback(
        self, memory_id: str, *, to: int, reference: str | None = None, timeout: float = 10.0
    ) -> Rollback:
        """Asks to reset the weight of a memory of experience to that of an older version, `to`: the members vote on it.
        `experience` lists the versions. Raises NotFound if this namespace has no such memory."""
        return await self._order(Rollback, "rollback", timeout, memory_id=memory_id, to=to, reference=reference)

    async def pin(self, memory_id: str, *, reference: str | None = None, timeout: float = 10.0) -> Pinned:
        """Keeps a memory from being forgotten until it is unpinned, whatever its decay and whatever members vote. An
        erasure overrides it. If it is pinned already, no second pin is made: `status` is "pinned already", and `detail`
        names its owner. Raises NotFound for a memory that is not alive."""
        return await self._order(Pinned, "pin", timeout, memory_id=memory_id, reference=reference)

    async def unpin(self, memory_id: str, *, reference: str | None = None, timeout: float = 10.0) -> Pinned:
        """Ends a pin, so that the memory may be forgotten again; "nothing to unpin" if there is no pin. Raises
        NotFound."""
        return await self._order(Pinned, "unpin", timeout, memory_id=memory_id, reference=reference)

    async def reclassify(
        self,
        *memory_ids: str,
        sensitivity: float | None = None,
        purposes: Sequence[str] | None = None,
        jurisdiction: str | None = None,
        reference: str | None = None,
        timeout: float = 10.0,
    ) -> Reclassified:
        """Changes how sensitive memories are, which purposes they may be used for, and whose law they are under; what
        is left out stays. `purposes=[]`: any; `jurisdiction=""`: none. All that was made of them inherits. A memory is
        never freer than what it was made of. Needs the right to forget, or a key whose grant names the subject of each.
        Raises NotFound for a memory that is not in this namespace."""
        return await self._order(
            Reclassified, "reclassify", timeout, memory_ids=memory_ids, sensitivity=sensitivity,
            purposes=None if purposes is None else wire.several("purposes", purposes), jurisdiction=jurisdiction,
            reference=reference,
        )  # fmt: skip

    async def profile(self, subject: str) -> Profile:
        """Returns the profile of a subject: what it wants stored and shown. `status` is "none" where it has none. Needs
        an API key whose grant names the subject."""
        return await self._ask(Profile, "GET", self._profile_of(subject), params={"namespace": self.namespace})

    async def set_profile(
        self,
        subject: str,
        *,
        stores: bool = True,
        never: Sequence[str] = (),
        private_until: int | None = None,
        retention: Mapping[str, int] | None = None,
        consents: Mapping[str, int] | None = None,
        template: str | None = None,
        reference: str | None = None,
        timeout: float = 10.0,
    ) -> Profile:
        """Sets the profile of a subject, whole: what is not said is as without a profile. `stores=False`: nothing about
        the subject is stored from now on. `never`: names and things that are never kept. `private_until`: until then,
        in milliseconds, nothing about it is stored or shown. `retention`: after how many days memories of a type are
        erased. `consents`: the purposes that memories may be read for, each until a time, 0 for no end. `template`: the
        name of one whose ages and purposes hold where these say nothing (docs/use/privacy.md). Needs an API key whose
        grant names the subject."""
        said = {
            "namespace": self.namespace, "stores": stores, "never": wire.several("never", never),
            "private_until": private_until,
            "retention": None if retention is None else wire.named("retention", retention),
            "consents": None if consents is None else wire.named("consents", consents), "template": template,
            "reference": reference,
        }  # fmt: skip
        asked = {name: value for name, value in said.items() if value is not None}
        path = self._profile_of(subject)
        return await self._ask(Profile, "POST", path, json=asked, params=wire.waiting(timeout))

    @staticmethod
    def _profile_of(subject: str) -> str:
        return f"/subjects/{wire.path_id(subject, 'subject')}/profile"

    async def begin_goal(self, goal: str, needs: Sequence[str], *, timeout: float = 10.0) -> Needed:
        """Keeps the memories that a goal needs, 100 at most per call, from being forgotten until it ends; an erasure
        overrides it. A further call adds to them. Raises NotFound for a memory that is not alive."""
        return await self._order(Needed, "begin_goal", timeout, goal=goal, memory_ids=wire.several("needs", needs))

    async def end_goal(self, goal: str, needs: Sequence[str] = (), *, timeout: float = 10.0) -> Needed:
        """Ends a goal, so that the memories only it needed may be forgotten again. `needs`: memories of a `begin_goal`
        whose status was still "ordered"."""
        return await self._order(Needed, "end_goal", timeout, goal=goal, memory_ids=wire.several("needs", needs))
