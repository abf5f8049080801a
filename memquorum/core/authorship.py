"""Checks who wrote a memory by the agent's own signature, which intake sealed beside the content (DESIGN 5).

Intake checks signatures at the door. A member that has the memory's key checks them again, so it need not take intake's
word. The signed bytes lie in the accepted record as they were sent, behind the signature (64 bytes), and must say what
the record says. A member that reads into its voting context only what holds here is not led by a memory that the writer
of the accepted stream put into an agent's mouth.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import ids, intake, labelling, names, sealing
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.labelling import Labels
from memquorum.core.merging import Marks
from memquorum.core.records import EpisodeRecorded, TaskFinished

SIGNATURE_BYTES = 64


def fault(
    codec: Codec, genesis: Genesis, *, memory_id: str, namespace: str, agent: str, text: str, sealed: bytes | None,
    key: bytes, topic: str = topics.EPISODES,
) -> str | None:  # fmt: skip
    """Returns why a memory is not proven to be the agent's by its own signature; None if it is. Never raises for any
    bytes.

    `sealed`: the accepted record's `sealed_signed`; `key`: the memory's, 32 bytes; `text`: its content, opened;
    `topic`: where it was published: of a finished task that of these. The answer repeats nothing of the content.
    """
    if sealed is None:
        return "unsigned"
    try:
        opened = sealing.open_signed(key, sealed, memory_id)
    except sealing.SealError:
        return "what was signed cannot be opened with the memory's key"
    signature, value = opened[:SIGNATURE_BYTES], opened[SIGNATURE_BYTES:]
    # A publisher without a key may send any signature to a namespace that requires none: it proves nothing.
    wrong = signatures.fault(genesis, topic, namespace, agent, value=value, signature=signature)
    if wrong is not None or agent not in genesis.agent_keys:
        return f"not signed by {agent}"
    record = intake.recorded(codec, value, topic)
    if not isinstance(record, EpisodeRecorded | TaskFinished):
        return "what was signed is no episode"
    content = intake.task_content(record) if isinstance(record, TaskFinished) else record.content or ""
    said = (record.namespace or ids.DEFAULT_NAMESPACE, record.agent, content)
    if said != (namespace, agent, text):
        return "what was signed says something else"
    if memory_id not in {ids.memory_id(namespace, one) for one in intake.signed_ids(codec, value, topic)}:
        return "what was signed is another event"
    return None


def meant(
    codec: Codec, genesis: Genesis, *, memory_id: str, namespace: str, agent: str, text: str, sealed: bytes | None,
    key: bytes, marks: Marks, space: bytes | None,
) -> bool:  # fmt: skip
    """Whether the agent itself has signed which slot this fills and which memories it supersedes; also where it does
    neither, or nobody has to sign. `space`: the namespace's key (`core.labelling`); None if it has none. The other
    arguments are those of `fault`."""
    if (marks.slot is None and marks.supersedes is None) or namespace not in genesis.signed:
        return True
    wrong = fault(
        codec, genesis, memory_id=memory_id, namespace=namespace, agent=agent, text=text, sealed=sealed, key=key
    )
    if wrong is not None or sealed is None:
        return False
    said = intake.recorded(codec, sealing.open_signed(key, sealed, memory_id)[SIGNATURE_BYTES:])
    if not isinstance(said, EpisodeRecorded) or not said.explicit:
        return False
    named = ",".join(dict.fromkeys(str(names.uuid(one)) for one in said.supersedes)) or None
    filed = Labels(said.key, said.path)
    slot = None if space is None else labelling.slot(space, filed)
    # Without the namespace's key nobody can tell which slot that is.
    return (slot, named) == (marks.slot, marks.supersedes) and (filed.key is None) == (slot is None)
