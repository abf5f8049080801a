"""The check of an answer before it leaves: whether it says nearly what the limits of the same read keep back.

It compares stored vectors and encodes nothing. It looks only at what the request's own filters keep back, which the
same caller could read by other filters, and never at what a subject's profile hides: else a caller could publish
guesses, and see by what is withheld which of them are true (infra/decisions/0230).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memquorum.core.access import Sight
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.redaction import Redactor
from workers.retrieval.service import Service


async def checked(  # noqa: PLR0917
    service: Service, sight: Sight, namespace: str, filters: Filters, given: Sequence[str], mask: Redactor
) -> Redactor:
    """Returns what masks an answer, with the withheld texts near the memories that are to be given."""
    if not mask.checked:
        return mask
    near = await service.reads.withheld_near(sight, namespace, service.encoder.name, given, filters)
    return replace(mask, near=near)
