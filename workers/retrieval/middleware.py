"""What every request passes through."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memquorum.telemetry.metrics import Meters


class Measured:
    """Notes how long each answer took, by route."""

    def __init__(self, app: ASGIApp, meters: Meters, paths: Mapping[str, str]) -> None:
        """`paths`: of each endpoint's name."""
        self._app, self._requests, self._paths = app, meters.requests, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, and notes it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            # Unknown paths share one name: they are for strangers to choose.
            route = self._paths.get(getattr(scope.get("endpoint"), "__name__", ""), "unknown")
            self._requests.labels(route, str(status)).observe(time.monotonic() - began)
